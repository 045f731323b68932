#include "host/linux/nettable.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define PIECE_BYTES 65536

struct lines {
	enum wd_status (*take)(void *ctx, struct wd_slice line);
	void *ctx;
};

struct rows {
	enum wd_status (*take)(void *ctx, const struct wd_net_row *row);
	void *ctx;
};

/* Takes the whole lines of `text` and leaves the rest in front. */
static enum wd_status
take_lines(struct wd_buf *text, const struct lines *lines)
{
	struct wd_slice rest = wd_buf_slice(text), line;
	const uint8_t *last = memrchr(rest.data, '\n', rest.len);
	enum wd_status st = WD_OK;
	size_t whole;

	if (last == NULL)
		return WD_OK;
	whole = (size_t)(last - rest.data) + 1;
	rest.len = whole;
	while (st == WD_OK && wd_slice_cut(&rest, '\n', &line))
		st = lines->take(lines->ctx, line);
	memmove(text->data, text->data + whole, text->len - whole);
	text->len -= whole;
	return st;
}

enum wd_status
wd_line_table(int fd, const struct wd_deadline *deadline,
    enum wd_status (*take)(void *ctx, struct wd_slice line), void *ctx)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	const struct lines lines = { take, ctx };
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
		st = take_lines(&text, &lines);
	}
	return st;
}

static enum wd_status
take_row_line(void *ctx, struct wd_slice line)
{
	const struct rows *rows = ctx;
	struct wd_net_row row;

	if (wd_parse_net_row(line, &row) != WD_OK)
		return WD_OK;
	return rows->take(rows->ctx, &row);
}

enum wd_status
wd_net_table(int fd, const struct wd_deadline *deadline,
    enum wd_status (*take)(void *ctx, const struct wd_net_row *row), void *ctx)
{
	struct rows rows = { take, ctx };

	return wd_line_table(fd, deadline, take_row_line, &rows);
}
