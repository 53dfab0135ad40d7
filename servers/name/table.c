/* SPDX-License-Identifier: MIT
 *
 * The table of names: a plain array, searched from its start. Names are few and looked up once.
 */
#include <stddef.h>
#include <abi/errors.h>
#include <base/str.h>
#include <servers/name/table.h>

static struct name_entry *
find(struct name_table *t, const char *name)
{
	for (int i = 0; i < NAMES_MAX; i++)
		if (str_is_equal(t->entry[i].name, name))
			return &t->entry[i];
	return NULL;
}

static int
do_register(struct name_table *t, uint32_t source, const struct name_request *request)
{
	struct name_entry *e = find(t, request->name);

	if (request->port >= PORTS_MAX)
		return -E_INVAL;
	if (e != NULL)
		return e->cluster == source && e->port == request->port ? 0 : -E_EXIST;
	e = find(t, "");
	if (e == NULL)
		return -E_NOSPC;
	e->cluster = source;
	e->port = request->port;
	str_copy(e->name, sizeof(e->name), request->name);
	return 0;
}

static int
do_lookup(struct name_table *t, const struct name_request *request, struct name_reply *reply)
{
	const struct name_entry *e = find(t, request->name);

	if (e == NULL)
		return -E_NOENT;
	reply->cluster = e->cluster;
	reply->port = e->port;
	return 0;
}

static int
do_unregister(struct name_table *t, uint32_t source, const struct name_request *request)
{
	struct name_entry *e = find(t, request->name);

	if (e == NULL)
		return -E_NOENT;
	if (e->cluster != source)
		return -E_ACCES;
	e->name[0] = '\0';
	return 0;
}

void
name_serve(struct name_table *t, uint32_t source, const struct name_request *request, struct name_reply *reply)
{
	size_t len = str_len_max(request->name, sizeof(request->name));

	*reply = (struct name_reply){.magic = NAME_MAGIC, .op = request->op, .id = request->id, .error = -E_INVAL};
	if (request->magic != NAME_MAGIC || len == 0 || len == sizeof(request->name))
		return;
	if (request->op == NAME_REGISTER)
		reply->error = do_register(t, source, request);
	else if (request->op == NAME_LOOKUP)
		reply->error = do_lookup(t, request, reply);
	else if (request->op == NAME_UNREGISTER)
		reply->error = do_unregister(t, source, request);
}
