/*
 * listeners.h - the sockets that the service answers on: handed over by
 * systemd (sd_listen_fds(3)), else bound here.
 */
#ifndef WD_ROLE_LISTENERS_H
#define WD_ROLE_LISTENERS_H

#include "role/config.h"

struct wd_sockets {
	int fds[WD_MAX_CONFIG_LISTEN];
	unsigned count;
	bool are_given; /* by the service manager */
};

/* Takes LISTEN_FDS out of the environment, or binds what the configuration
 * says. Errors: WD_BUSY naming who has the port; WD_INVALID for descriptors
 * that are no listening TCP sockets, or too many; those of wd_server_bind. */
enum wd_status wd_sockets_open(const struct wd_config *config,
    struct wd_sockets *sockets, struct wd_error *err) WD_MUST_CHECK;

void wd_sockets_close(struct wd_sockets *sockets);

/* "127.0.0.1:7433" for a log line, of a bound socket. */
#define WD_SOCKET_TEXT 64
const char *wd_socket_text(int fd, char text[WD_SOCKET_TEXT]);

/* Who listens on the port, ready to be shown: "nginx (process 812)"; "another
 * process" when it cannot be seen. */
const char *wd_port_holder(uint16_t port, char *text, size_t size);

#endif
