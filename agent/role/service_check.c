#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "role/material.h"
#include "role/service.h"
#include "role/users.h"

#define EXIT_WRONG 2

static struct wd_tls_pem
pem_of(const struct wd_config *config, const struct wd_material *material,
    unsigned which)
{
	return (struct wd_tls_pem){ wd_material_path(config, which),
		wd_buf_slice(&material->texts[which]) };
}

/* As the front will; here it is the operator's own shell that parses. */
static enum wd_status
check_material(const struct wd_config *config, struct wd_error *err)
{
	WD_CLEANUP(wd_material_release)
	struct wd_material read = { .key_is_open = false };
	WD_CLEANUP(wd_tls_free) struct wd_tls *tls = NULL;
	struct wd_tls_material material;
	enum wd_status st = wd_material_read(config, &read, err);

	if (st != WD_OK)
		return st;
	material.certificate = pem_of(config, &read, WD_CERTIFICATE);
	material.key = pem_of(config, &read, WD_KEY);
	material.ca = pem_of(config, &read, WD_CA);
	material.crl = pem_of(config, &read, WD_CRL);
	return wd_tls_new(
	    WD_TLS_SERVER, &material, &wd_clock_system, &tls, err);
}

int
wd_service_check(const char *config_path)
{
	WD_CLEANUP(wd_config_free) struct wd_config *config = NULL;
	struct wd_users users;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_config_load(config_path, &config, &err);
	if (st == WD_OK)
		st = wd_users_find(config, &users, &err);
	if (st == WD_OK)
		st = check_material(config, &err);
	if (st == WD_OK)
		return printf("%s: ok\n", config_path) < 0 ? EXIT_WRONG : 0;
	wd_log(WD_LOG_ERROR, "%s", err.message);
	return EXIT_WRONG;
}
