#include "verdict/question.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/escape.h"
#include "base/slice.h"
#include "wire/build.h"

/* An address in text; a scope ("%eth0") is not part of one. */
static bool
is_address(const char *text, bool v6)
{
	uint8_t bytes[16];

	return inet_pton(v6 ? AF_INET6 : AF_INET, text, bytes) == 1;
}

/* The address stands before the last colon, without its brackets. */
static bool
cut_address(const char *value, char *address, size_t size, bool *v6)
{
	const char *colon = strrchr(value, ':');
	size_t len = colon == NULL ? 0 : (size_t)(colon - value);

	*v6 = len >= 2 && value[0] == '[' && value[len - 1] == ']';
	if (*v6) {
		value++;
		len -= 2;
	}
	if (len == 0 || len >= size)
		return false;
	memcpy(address, value, len);
	address[len] = '\0';
	return true;
}

enum wd_status
wd_connection_parse(const char *flag, const char *value,
    Weightd__V1__Connection **connection, struct wd_error *err)
{
	struct wd_build b = wd_build_init();
	char address[INET6_ADDRSTRLEN], shown[80];
	uint64_t port = 0;
	bool v6;

	if (!cut_address(value, address, sizeof(address), &v6) ||
	    !is_address(address, v6) ||
	    !wd_slice_number(
		wd_slice_text(strrchr(value, ':') + 1), 10, &port) ||
	    port == 0 || port > 65535)
		return wd_fail(err, WD_INVALID,
		    "%s \"%s\" is no end of a connection; give the caller's "
		    "own address and port, 127.0.0.1:40000 or [::1]:40000",
		    flag,
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(value)));
	*connection = wd_build_new(&b, &weightd__v1__connection__descriptor);
	if (*connection != NULL)
		wd_build_text(&b, &(*connection)->address, address);
	if (b.status != WD_OK) {
		wd_message_free(*connection);
		*connection = NULL;
		return wd_fail(err, b.status, "%s: out of memory", flag);
	}
	(*connection)->port = (uint32_t)port;
	return WD_OK;
}
