/* SPDX-License-Identifier: MIT
 *
 * The table of names: a plain array, searched from its start. Names are few and looked up once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <abi/errors.h>
#include <base/str.h>
#include <servers/name/table.h>

static struct name_entry *
table_find(struct name_table *t, const char *name)
{
	for (int i = 0; i < NAMES_MAX; i++)
		if (str_is_equal(t->entry[i].name, name))
			return &t->entry[i];
	return NULL;
}

static void
drop(struct name_table *t, struct name_entry *e)
{
	e->name[0] = '\0';
	t->names--;
}

static bool
is_owner(const struct name_entry *e, const struct mail_sender *from)
{
	return e->owner.cluster == from->cluster && e->owner.badge == from->badge;
}

static int
do_register(struct name_table *t, const struct mail_sender *from,
	const struct name_request *request)
{
	struct name_entry *e = table_find(t, request->name);

	if (request->port >= PORTS_MAX)
		return -E_INVAL;
	if (e != NULL)
		return is_owner(e, from) && e->port == request->port ? 0 : -E_EXIST;
	e = table_find(t, "");
	if (e == NULL)
		return -E_NOSPC;
	e->owner = *from;
	e->port = request->port;
	str_copy(e->name, sizeof(e->name), request->name);
	t->names++;
	return 0;
}

static int
do_lookup(struct name_table *t, const struct name_request *request, struct name_reply *reply)
{
	const struct name_entry *e = table_find(t, request->name);

	if (e == NULL)
		return -E_NOENT;
	reply->cluster = e->owner.cluster;
	reply->port = e->port;
	return 0;
}

static int
do_unregister(struct name_table *t, const struct mail_sender *from,
	const struct name_request *request)
{
	struct name_entry *e = table_find(t, request->name);

	if (e == NULL)
		return -E_NOENT;
	if (!is_owner(e, from))
		return -E_ACCES;
	drop(t, e);
	return 0;
}

static int
do_forget(struct name_table *t, const struct mail_sender *from, const struct name_request *request)
{
	if (from->badge != BADGE_INIT ||
		(from->cluster != request->cluster && from->cluster != NAME_CLUSTER))
		return -E_ACCES;
	for (int i = 0; i < NAMES_MAX; i++) {
		struct name_entry *e = &t->entry[i];

		if (e->name[0] != '\0' && e->owner.cluster == request->cluster &&
			(request->badge == 0 || e->owner.badge == request->badge))
			drop(t, e);
	}
	return 0;
}

static int
serve_name(struct name_table *t, const struct mail_sender *from, const struct name_request *request,
	struct name_reply *reply)
{
	size_t len = str_len_max(request->name, sizeof(request->name));

	if (len == 0 || len == sizeof(request->name))
		return -E_INVAL;
	if (request->op == NAME_REGISTER)
		return do_register(t, from, request);
	if (request->op == NAME_LOOKUP)
		return do_lookup(t, request, reply);
	return do_unregister(t, from, request);
}

void
name_serve(struct name_table *t, const struct mail_sender *from, const struct name_request *request,
	struct name_reply *reply)
{
	*reply = (struct name_reply){.magic = NAME_MAGIC, .op = request->op, .id = request->id,
		.error = -E_INVAL};
	if (request->magic == NAME_MAGIC && request->op >= NAME_REGISTER &&
		request->op <= NAME_UNREGISTER)
		reply->error = serve_name(t, from, request, reply);
	else if (request->magic == NAME_MAGIC && request->op == NAME_FORGET)
		reply->error = do_forget(t, from, request);
	else if (request->magic == NAME_MAGIC && request->op == NAME_COUNT)
		reply->error = 0;
	reply->names = t->names;
}
