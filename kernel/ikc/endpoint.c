/* SPDX-License-Identifier: MIT
 *
 * Endpoints of mailboxes, portals and sync points, which processes name by handles. One lives as
 * long as something names it; the memory for it is charged to the account of the process that
 * opened it.
 */
#include <kernel/ikc/state.h>

static size_t
bytes_of(unsigned kind)
{
	return kind & (SYNC_IN | SYNC_OUT) ? sizeof(struct sync) : sizeof(struct endpoint);
}

static unsigned
way_of(unsigned kind)
{
	if (kind == SYNC_OUT)
		return RIGHT_SIGNAL;
	return kind & (MAIL_IN | PORTAL_IN | SYNC_IN) ? RIGHT_READ : RIGHT_WRITE;
}

long
endpoint_name(struct thread *caller, struct endpoint *ep)
{
	return handle_new(&caller->proc->handles, &ep->object,
		way_of(ep->kind) | RIGHT_WAIT | RIGHT_GRANT | RIGHT_REVOKE);
}

long
endpoint_new(struct thread *caller, struct endpoint what, struct endpoint **at)
{
	struct cluster *c = caller->cluster;
	struct quota *q = caller->proc->quota;
	struct endpoint *ep = quota_alloc(q, &c->slab, bytes_of(what.kind));
	long handle;

	if (ep == NULL)
		return -E_NOMEM;
	what.owner = caller->proc->id;
	what.quota = q;
	if (at != NULL)
		what.next = *at;
	*ep = what;
	object_init(&ep->object, OBJECT_PORT);
	handle = endpoint_name(caller, ep);
	if (handle < 0) {
		quota_free(q, &c->slab, ep, bytes_of(what.kind));
		return handle;
	}
	quota_get(q);
	if (ep->kind & (MAIL_IN | PORTAL_IN | SYNC_IN))
		class_of(c, ep->kind)->creates++;
	else
		class_of(c, ep->kind)->opens++;
	if (at != NULL)
		*at = ep;
	return handle;
}

long
endpoint_find(struct thread *caller, int handle, unsigned kinds, unsigned right,
	struct endpoint **ep)
{
	const struct handles *handles = &caller->proc->handles;
	struct object *able = handle_get(handles, handle, OBJECT_PORT, right), *o = able;

	if (o == NULL)
		o = handle_get_far(handles, handle, OBJECT_PORT);
	*ep = o != NULL ? list_entry(o, struct endpoint, object) : NULL;
	if (o == NULL || !((*ep)->kind & kinds))
		return -E_BADF;
	return able != NULL ? 0 : -E_ACCES;
}

/* Does a core move a block for the endpoint? */
static bool
moves(const struct thread *t, const struct endpoint *ep)
{
	return ep->kind == PORTAL_IN ? t->cluster->ikc.portal[ep->port].state == PORTAL_MOVING :
		ep->state == PORTAL_MOVING || ep->state == PORTAL_ABORTED;
}

/*
 * The wait of a thread that moves data, also if it was woken, or the write that it has started,
 * ends if its handle names the endpoint no more. Its core finds it out itself while it moves a
 * block.
 */
static void
wait_ends(struct thread *t, const struct endpoint *ep)
{
	bool is_parked = portal_is_parked(t);
	int handle = is_parked || ep->started == 0 ? t->wait.handle : ep->started;

	if (handle_get_far(&t->proc->handles, handle, OBJECT_PORT) == &ep->object)
		return;
	if (is_parked) {
		portal_leave(t);
		thread_ready(t, -E_BADF);
	} else if (!moves(t, ep)) {
		portal_leave(t);
	}
}

void
ikc_handle_gone(struct cluster *c, struct object *o)
{
	struct endpoint *ep = list_entry(o, struct endpoint, object);
	struct binding *event = &ep->event;	/* of an output mailbox: of nobody */

	if (ep->kind == MAIL_OUT)
		mail_out_look(c, ep->slot);
	else if (ep->kind == MAIL_IN)
		mail_in_look(c, ep->port);
	else if (ep->kind & (SYNC_IN | SYNC_OUT))
		sync_handle_gone(ep);
	else if (ep->thread != NULL)
		wait_ends(ep->thread, ep);
	if (ep->kind == MAIL_IN)
		event = &c->ikc.in[ep->port].event;
	else if (ep->kind == PORTAL_IN)
		event = &c->ikc.portal[ep->port].event;
	binding_handle_gone(c, event, o);
}

void
ikc_unreferenced(struct cluster *c, struct object *o)
{
	struct endpoint *ep = list_entry(o, struct endpoint, object);
	struct quota *q = ep->quota;

	class_of(c, ep->kind)->closes++;
	if (ep->kind == MAIL_IN)
		mail_in_close(c, ep);
	else if (ep->kind == MAIL_OUT)
		mail_out_close(c, ep);
	else if (ep->kind == PORTAL_IN)
		portal_close_in(c, ep);
	else if (ep->kind & (SYNC_IN | SYNC_OUT))
		sync_close(c, ep);
	else
		portal_close_out(c, ep);
	quota_free(q, &c->slab, ep, bytes_of(ep->kind));
	quota_put(&c->slab, q);
}
