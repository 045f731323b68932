/*
 * service.h - weightd --config: the observer process, which starts, feeds and
 * replaces the others (README.md).
 */
#ifndef WD_ROLE_SERVICE_H
#define WD_ROLE_SERVICE_H

#define WD_CONFIG_PATH "/etc/weightd/weightd.yaml"

/* Runs until it is told to end. Returns the exit code: 0; 1 it could not
 * start; 2 the configuration is wrong. */
int wd_service_run(const char *config_path);

/* weightd --check-config: whether the service would start with that file and
 * with what it names. Returns 0, or 2 with one line on standard error. */
int wd_service_check(const char *config_path);

#endif
