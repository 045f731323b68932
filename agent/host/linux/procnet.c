#include "host/linux/procnet.h"

#include <string.h>

/* The next word, any number of blanks before it. */
static bool
next_word(struct wd_slice *rest, struct wd_slice *word)
{
	do {
		if (!wd_slice_cut(rest, ' ', word))
			return false;
	} while (word->len == 0);
	return true;
}

static bool
skip_words(struct wd_slice *rest, int count)
{
	struct wd_slice word;

	while (count-- > 0)
		if (!next_word(rest, &word))
			return false;
	return true;
}

/* Eight digits for each 32-bit word in host order: its bytes in memory are
 * the address in network order. */
static bool
parse_address(struct wd_slice digits, uint8_t address[16])
{
	size_t i;

	for (i = 0; i < digits.len / 8; i++) {
		struct wd_slice part = { digits.data + 8 * i, 8 };
		uint64_t number;
		uint32_t word;

		if (!wd_slice_number(part, 16, &number))
			return false;
		word = (uint32_t)number;
		memcpy(address + 4 * i, &word, sizeof(word));
	}
	return true;
}

/* "ADDRESS:PORT"; the length of the address tells
 * the family. */
static bool
parse_end(
    struct wd_slice word, bool *v6, uint8_t address[16], uint16_t *port_number)
{
	struct wd_slice digits;
	uint64_t port;

	if (!wd_slice_cut(&word, ':', &digits) ||
	    (digits.len != 8 && digits.len != 32) ||
	    !parse_address(digits, address) ||
	    !wd_slice_number(word, 16, &port) || port > UINT16_MAX)
		return false;
	*v6 = digits.len == 32;
	*port_number = (uint16_t)port;
	return true;
}

static bool
parse_local(struct wd_slice word, struct wd_net_row *row)
{
	return parse_end(word, &row->v6, row->local, &row->local_port);
}

/* Both ends are of one family. */
static bool
parse_remote(struct wd_slice word, struct wd_net_row *row)
{
	bool v6;

	return parse_end(word, &v6, row->remote, &row->remote_port) &&
	    v6 == row->v6;
}

/* "sl local remote st tx:rx tr:when retrnsmt uid timeout inode ..." */
enum wd_status
wd_parse_net_row(struct wd_slice line, struct wd_net_row *row)
{
	struct wd_net_row parsed = { 0 };
	struct wd_slice word;
	uint64_t state, uid;

	if (line.len > 0 && line.data[line.len - 1] == '\n')
		line.len--;
	if (!next_word(&line, &word) || word.data[word.len - 1] != ':' ||
	    !next_word(&line, &word) || !parse_local(word, &parsed) ||
	    !next_word(&line, &word) || !parse_remote(word, &parsed) ||
	    !next_word(&line, &word) || !wd_slice_number(word, 16, &state) ||
	    state > UINT8_MAX || !skip_words(&line, 3) ||
	    !next_word(&line, &word) || !wd_slice_number(word, 10, &uid) ||
	    uid > UINT32_MAX || !skip_words(&line, 1) ||
	    !next_word(&line, &word) ||
	    !wd_slice_number(word, 10, &parsed.inode))
		return WD_MALFORMED;
	parsed.state = (uint8_t)state;
	parsed.uid = (uint32_t)uid;
	*row = parsed;
	return WD_OK;
}

static bool
v6_is_mapped(const uint8_t address[16])
{
	static const uint8_t prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
		0xff };

	return memcmp(address, prefix, sizeof(prefix)) == 0;
}

static bool
v6_is_any(const uint8_t address[16])
{
	static const uint8_t any[16];

	return memcmp(address, any, sizeof(any)) == 0;
}

enum wd_tristate
wd_v6only_settle(const uint8_t address[16], enum wd_tristate option)
{
	if (v6_is_mapped(address))
		return WD_NO;
	return v6_is_any(address) ? option : WD_YES;
}
