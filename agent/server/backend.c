#include "server/backend.h"

#include <stddef.h>

enum wd_status
wd_backend_ask(struct wd_backend *backend, enum wd_call call,
    struct wd_slice question, const struct wd_deadline *deadline,
    wd_backend_done *done, void *ctx, wd_ticket *ticket, struct wd_error *err)
{
	return backend->ops->ask(
	    backend, call, question, deadline, done, ctx, ticket, err);
}

void
wd_backend_cancel(struct wd_backend *backend, wd_ticket ticket)
{
	if (ticket != 0)
		backend->ops->cancel(backend, ticket);
}

bool
wd_backend_is_ready(const struct wd_backend *backend)
{
	return backend->ops->is_ready(backend);
}

void
wd_backend_free(struct wd_backend **backend)
{
	if (*backend != NULL)
		(*backend)->ops->free(*backend);
	*backend = NULL;
}
