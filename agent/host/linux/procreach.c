#include "host/linux/procreach.h"

#include <arpa/inet.h>
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
parse_text(struct wd_slice word, int family, uint8_t address[16])
{
	char text[INET6_ADDRSTRLEN];

	if (word.len == 0 || word.len >= sizeof(text))
		return false;
	memcpy(text, word.data, word.len);
	text[word.len] = '\0';
	return inet_pton(family, text, address) == 1;
}

/* ---- addresses ----------------------------------------------------------- */

/* "  |-- 172.17.0.2" and then "     /32 host LOCAL". */
bool
wd_fib_line(struct wd_fib_reader *reader, struct wd_slice line)
{
	struct wd_slice rest = line, first, second, third;

	if (!next_word(&rest, &first) || !next_word(&rest, &second))
		return false;
	if (wd_slice_equal(first, wd_slice_text("|--"))) {
		reader->has_address =
		    parse_text(second, AF_INET, reader->address);
		return false;
	}
	return reader->has_address &&
	    wd_slice_equal(first, wd_slice_text("/32")) &&
	    wd_slice_equal(second, wd_slice_text("host")) &&
	    next_word(&rest, &third) &&
	    wd_slice_equal(third, wd_slice_text("LOCAL"));
}

enum wd_status
wd_parse_inet6_line(struct wd_slice line, uint8_t address[16])
{
	struct wd_slice word, digits;
	uint64_t byte;
	size_t i;

	if (!next_word(&line, &word) || word.len != 32)
		return WD_MALFORMED;
	for (i = 0; i < 16; i++) {
		digits = (struct wd_slice){ word.data + 2 * i, 2 };
		if (!wd_slice_number(digits, 16, &byte))
			return WD_MALFORMED;
		address[i] = (uint8_t)byte;
	}
	return WD_OK;
}

/* ---- nf_conntrack -------------------------------------------------------- */

/* One direction: source and destination. */
struct tuple {
	uint8_t from[16], to[16];
	uint16_t from_port, to_port;
	unsigned fields; /* met: a bit each */
};
#define ALL_FIELDS 15U

static bool
take_port(struct wd_slice value, uint16_t *port)
{
	uint64_t number;

	if (!wd_slice_number(value, 10, &number) || number > UINT16_MAX)
		return false;
	*port = (uint16_t)number;
	return true;
}

static bool
take_value(
    struct tuple *tuple, struct wd_slice key, struct wd_slice value, int family)
{
	if (wd_slice_equal(key, wd_slice_text("src"))) {
		tuple->fields |= 1;
		return parse_text(value, family, tuple->from);
	}
	if (wd_slice_equal(key, wd_slice_text("dst"))) {
		tuple->fields |= 2;
		return parse_text(value, family, tuple->to);
	}
	if (wd_slice_equal(key, wd_slice_text("sport"))) {
		tuple->fields |= 4;
		return take_port(value, &tuple->from_port);
	}
	if (wd_slice_equal(key, wd_slice_text("dport"))) {
		tuple->fields |= 8;
		return take_port(value, &tuple->to_port);
	}
	return true; /* packets, bytes, mark, use */
}

/* The four fields come twice: as the first packet had them, and as the answer
 * has them. */
static bool
take_tuples(struct wd_slice rest, int family, struct tuple both[2])
{
	struct wd_slice word, key;
	size_t at = 0;

	memset(both, 0, 2 * sizeof(*both));
	while (at < 2 && next_word(&rest, &word)) {
		if (!wd_slice_cut(&word, '=', &key) || word.data == NULL)
			continue;
		if (!take_value(&both[at], key, word, family))
			return false;
		at += both[at].fields == ALL_FIELDS;
	}
	return at == 2;
}

static bool
is_mirrored(const struct tuple *out, const struct tuple *back)
{
	return out->from_port == back->to_port &&
	    out->to_port == back->from_port &&
	    memcmp(out->from, back->to, 16) == 0 &&
	    memcmp(out->to, back->from, 16) == 0;
}

/* "ipv4 2 tcp 6 431999 ESTABLISHED src=... src=... [ASSURED] mark=0 use=2" */
enum wd_status
wd_parse_conntrack(
    struct wd_slice line, struct wd_translation *translation, bool *translated)
{
	struct wd_slice words[6];
	struct tuple both[2];
	bool v6;
	size_t i;

	*translated = false;
	for (i = 0; i < 6; i++)
		if (!next_word(&line, &words[i]))
			return WD_MALFORMED;
	v6 = wd_slice_equal(words[0], wd_slice_text("ipv6"));
	if ((!v6 && !wd_slice_equal(words[0], wd_slice_text("ipv4"))) ||
	    !wd_slice_equal(words[2], wd_slice_text("tcp")) ||
	    !wd_slice_equal(words[5], wd_slice_text("ESTABLISHED")))
		return WD_OK;
	if (!take_tuples(line, v6 ? AF_INET6 : AF_INET, both))
		return WD_MALFORMED;
	*translated = !is_mirrored(&both[0], &both[1]);
	if (!*translated)
		return WD_OK;
	memset(translation, 0, sizeof(*translation));
	translation->family = v6 ? WD_INET6 : WD_INET4;
	memcpy(translation->client, both[0].from, 16);
	memcpy(translation->asked, both[0].to, 16);
	memcpy(translation->server, both[1].from, 16);
	memcpy(translation->seen, both[1].to, 16);
	translation->client_port = both[0].from_port;
	translation->asked_port = both[0].to_port;
	translation->server_port = both[1].from_port;
	translation->seen_port = both[1].to_port;
	return WD_OK;
}
