#include "cmd/servers_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"

#define MOST_IN_CELL 80

enum { HOST, LISTENER, GRADE, MODEL, PARAMETERS, NOTES, COLUMNS };

/* A line of cells that is printed when its widths are known: the table is made
 * twice, once to measure and once to write. */
struct table {
	struct wd_buf *out; /* NULL: only measured */
	size_t widths[COLUMNS];
};

typedef char cells[COLUMNS][MOST_IN_CELL + 4];

static void
add_line(struct table *table, cells line)
{
	size_t i, last = 0;

	for (i = 0; i < COLUMNS; i++) {
		if (strlen(line[i]) > table->widths[i])
			table->widths[i] = strlen(line[i]);
		if (line[i][0] != '\0')
			last = i;
	}
	if (table->out == NULL)
		return;
	for (i = 0; i < last; i++)
		(void)wd_buf_printf(
		    table->out, "%-*s  ", (int)table->widths[i], line[i]);
	(void)wd_buf_printf(table->out, "%s\n", line[last]);
}

static void
put(char *cell, const char *text)
{
	wd_escape_short(cell, MOST_IN_CELL, wd_slice_text(text));
}

static void
put_enum(char *cell, const ProtobufCEnumDescriptor *type, int value,
    const char *prefix)
{
	const ProtobufCEnumValue *named =
	    protobuf_c_enum_descriptor_get_value(type, value);

	if (named == NULL)
		(void)snprintf(cell, MOST_IN_CELL, "%d", value);
	else
		put(cell, named->name + strlen(prefix));
}

static void
put_listener(char *cell, const Weightd__V1__Server *server)
{
	bool is_ipv6 = server->family == WEIGHTD__V1__FAMILY__FAMILY_INET6;
	char address[64];

	wd_escape_short(
	    address, sizeof(address), wd_slice_text(server->address));
	(void)snprintf(cell, MOST_IN_CELL, "%s%s%s:%" PRIu32,
	    is_ipv6 ? "[" : "", address, is_ipv6 ? "]" : "", server->port);
}

static void
put_notes(char *cell, const Weightd__V1__Flag *flags, size_t count)
{
	size_t i, len;
	char flag[MOST_IN_CELL];

	for (i = 0; i < count; i++) {
		put_enum(flag, &weightd__v1__flag__descriptor, (int)flags[i],
		    "FLAG_");
		len = strlen(cell);
		if (len + strlen(flag) + 2 < MOST_IN_CELL)
			(void)snprintf(cell + len, MOST_IN_CELL - len, "%s%s",
			    len == 0 ? "" : " ", flag);
	}
}

static const char *
name_of(const Weightd__V1__ServedModel *model)
{
	if (model->inner_name[0] != '\0')
		return model->inner_name;
	if (model->repository[0] != '\0')
		return model->repository;
	return model->file_name;
}

static void
add_model(
    struct table *table, cells line, const Weightd__V1__ServedModel *model)
{
	put(line[MODEL], name_of(model));
	put_enum(line[GRADE], &weightd__v1__grade__descriptor,
	    (int)model->grade, "GRADE_");
	(void)snprintf(line[PARAMETERS], MOST_IN_CELL, "%s%" PRIu64,
	    model->parameters_known ? "" : ">=", model->parameter_count);
	put_notes(line[NOTES], model->flags, model->n_flags);
	add_line(table, line);
}

static void
add_server(
    struct table *table, const char *host, const Weightd__V1__Server *server)
{
	size_t i;

	for (i = 0; i == 0 || i < server->n_models; i++) {
		cells line = { "" };

		put(line[HOST], host);
		put_listener(line[LISTENER], server);
		put_notes(line[NOTES], server->flags, server->n_flags);
		if (server->n_models > 0) {
			add_model(table, line, server->models[i]);
			continue;
		}
		put_enum(line[GRADE], &weightd__v1__grade__descriptor,
		    (int)server->grade, "GRADE_");
		put(line[MODEL], "-");
		add_line(table, line);
	}
}

static void
add_rows(struct table *table, const struct wd_servers_row *rows, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		const Weightd__V1__ListServersResponse *answer = rows[i].answer;

		for (k = 0; answer != NULL && k < answer->n_servers; k++)
			add_server(table, rows[i].host, answer->servers[k]);
	}
}

/* What is no row of the table: nobody there, nothing there, not all seen. */
static void
add_remark(const struct wd_servers_row *row, struct wd_buf *out)
{
	const Weightd__V1__ListServersResponse *answer = row->answer;
	char host[MOST_IN_CELL], what[160], reason[400];
	size_t i;

	put(host, row->host);
	if (answer == NULL) {
		(void)wd_buf_printf(out, "%s: UNREACHABLE: %s: %s\n", host,
		    wd_api_trouble_name(row->fault.trouble),
		    row->fault.message);
		return;
	}
	if (answer->n_servers == 0 && answer->listeners_complete &&
	    answer->servers_complete)
		(void)wd_buf_printf(out, "%s: no server of weights\n", host);
	if (!answer->listeners_complete || !answer->servers_complete)
		(void)wd_buf_printf(out,
		    "%s: NOT ALL WAS SEEN: a server may be missing here\n",
		    host);
	for (i = 0; i < answer->n_blind_spots && i < 16; i++) {
		wd_escape_short(what, sizeof(what),
		    wd_slice_text(answer->blind_spots[i]->what));
		wd_escape_short(reason, sizeof(reason),
		    wd_slice_text(answer->blind_spots[i]->reason));
		(void)wd_buf_printf(
		    out, "%s: not seen: %s: %s\n", host, what, reason);
	}
}

enum wd_status
wd_servers_text(
    const struct wd_servers_row *rows, size_t count, struct wd_buf *out)
{
	struct table table = { .out = NULL };
	cells head = { "HOST", "LISTENER", "GRADE", "MODEL", "PARAMETERS",
		"NOTES" };
	size_t i;

	add_line(&table, head);
	add_rows(&table, rows, count);
	table.out = out;
	add_line(&table, head);
	add_rows(&table, rows, count);
	for (i = 0; i < count; i++)
		add_remark(&rows[i], out);
	return out->status;
}
