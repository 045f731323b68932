#include "seam/observer.h"

#include <stddef.h>

enum wd_status
wd_observer_ask(struct wd_observer *observer, enum wd_call call,
    struct wd_slice question, const struct wd_deadline *deadline,
    wd_observer_done *done, void *ctx, wd_ticket *ticket, struct wd_error *err)
{
	return observer->ops->ask(
	    observer, call, question, deadline, done, ctx, ticket, err);
}

void
wd_observer_cancel(struct wd_observer *observer, wd_ticket ticket)
{
	if (ticket != 0)
		observer->ops->cancel(observer, ticket);
}

bool
wd_observer_is_ready(const struct wd_observer *observer)
{
	return observer->ops->is_ready(observer);
}

void
wd_observer_free(struct wd_observer **observer)
{
	if (*observer != NULL)
		(*observer)->ops->free(*observer);
	*observer = NULL;
}
