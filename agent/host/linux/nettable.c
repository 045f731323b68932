#include "host/linux/nettable.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define PIECE_BYTES 65536

struct rows {
	enum wd_status (*take)(void *ctx, const struct wd_net_row *row);
	void *ctx;
};

/* Takes the whole lines of `text` and leaves the rest in front. */
static enum wd_status
take_lines(struct wd_buf *text, const struct rows *rows)
{
	struct wd_slice rest = wd_buf_slice(text), line;
	const uint8_t *last = memrchr(rest.data, '\n', rest.len);
	enum wd_status st = WD_OK;
	struct wd_net_row row;
	size_t whole;

	if (last == NULL)
		return WD_OK;
	whole = (size_t)(last - rest.data) + 1;
	rest.len = whole;
	while (st == WD_OK && wd_slice_cut(&rest, '\n', &line))
		if (wd_parse_net_row(line, &row) == WD_OK)
			st = rows->take(rows->ctx, &row);
	memmove(text->data, text->data + whole, text->len - whole);
	text->len -= whole;
	return st;
}

enum wd_status
wd_net_table(int fd, const struct wd_deadline *deadline,
    enum wd_status (*take)(void *ctx, const struct wd_net_row *row), void *ctx)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	const struct rows rows = { take, ctx };
	enum wd_status st = WD_OK;
	uint8_t *space;
	ssize_t got;

	wd_buf_init(&text, 4 * PIECE_BYTES);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return wd_status_from_errno(errno);
	while (st == WD_OK) {
		if (wd_deadline_passed(deadline))
			return WD_TIMEDOUT;
		if (wd_buf_reserve(&text, PIECE_BYTES, &space) != WD_OK)
			return text.status;
		got = read(fd, space, PIECE_BYTES);
		if (got < 0)
			return wd_status_from_errno(errno);
		if (got == 0)
			return WD_OK;
		wd_buf_advance(&text, (size_t)got);
		st = take_lines(&text, &rows);
	}
	return st;
}
