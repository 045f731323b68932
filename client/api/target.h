/*
 * target.h - a host and a port, as users write them: "mac-3.lab:8080",
 * "10.0.0.3:8080", "[::1]:8080".
 */
#ifndef WD_API_TARGET_H
#define WD_API_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define WD_API_HOST_BYTES 256

/* Where agents listen. */
#define WD_API_AGENT_PORT 7433

struct wd_target {
	char host[WD_API_HOST_BYTES]; /* without brackets */
	uint16_t port;                /* 0: none was given */
};

/* Reads HOST:PORT. Errors: WD_INVALID with the right form. */
enum wd_status wd_target_parse(const char *text, struct wd_target *target,
    struct wd_error *err) WD_MUST_CHECK;

/* Reads HOST or [HOST], without a port; an IPv6 address also bare. Errors:
 * WD_INVALID, also when a port stands there. */
enum wd_status wd_target_parse_host(const char *text, struct wd_target *target,
    struct wd_error *err) WD_MUST_CHECK;

/* Whether the text can only be HOST:PORT and no path: it holds no slash, and
 * ends with a colon and digits. */
bool wd_target_looks_like(const char *text);

/* Reads a port from 1 to 65535. Errors: WD_INVALID with the flag. */
enum wd_status wd_target_port(const char *flag, const char *value,
    uint16_t *port, struct wd_error *err) WD_MUST_CHECK;

/* Writes "HOST:PORT", with brackets where the host holds a colon. */
#define WD_TARGET_TEXT_BYTES (WD_API_HOST_BYTES + 10)
const char *wd_target_text(
    const struct wd_target *target, char text[WD_TARGET_TEXT_BYTES]);

#endif
