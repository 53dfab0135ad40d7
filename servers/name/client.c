/* SPDX-License-Identifier: MIT
 *
 * Client of the name daemon: see client.h.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include <base/str.h>
#include <servers/name/cache.h>
#include <servers/name/protocol.h>
#include <servers/proc/client.h>

/* One request to the daemon: its answer is `m` again. 0 or -E_NAME. */
static int
name_ask(struct name_client *c, struct name_message *m)
{
	struct process_request q = {.op = PROCESS_NAME};
	const struct service_part request[2] = {{&q, sizeof(q)}, {m, sizeof(*m)}};
	const struct service_part answer[2] = {{m, sizeof(*m)}, {NULL, 0}};
	int result = service_call(&c->ch, request, answer);

	return result < 0 ? result : m->error;
}

/* The same about a name, which is refused here if it is none. */
static int
name_ask_about(struct name_client *c, struct name_message *m, const char *name)
{
	size_t len = str_len_max(name, NAME_LENGTH_MAX + 1);

	if (len == 0 || len > NAME_LENGTH_MAX)
		return -E_INVAL;
	memcpy(m->name, name, len);
	return name_ask(c, m);
}

/* Map the table of the cluster; without it all goes by messages. */
static void
map_cache(struct name_client *c)
{
	struct name_message m = {.op = NAME_TABLE};
	struct cluster_info here;
	uint64_t addr = 0;
	int handle, pages;

	if (name_ask(c, &m) != 0)
		return;
	handle = (int)m.port;
	pages = (int)m.names;
	kcluster_info(&here);
	if (kmem_alloc(SELF, (unsigned long)pages * here.page_bytes, 0, &addr) == 0) {
		if (kpage_map(SELF, (uintptr_t)addr, handle, 0, pages, PAGE_READ) == 0) {
			c->cache = (const struct name_cache *)(uintptr_t)addr;
			c->pages = pages;
		} else {
			kpage_unmap(SELF, (uintptr_t)addr, pages);
		}
	}
	khandle_close(handle);
}

int
name_open(struct name_client *c, int bit)
{
	struct cluster_info here;
	int result;

	*c = (struct name_client){0};
	kcluster_info(&here);
	result = process_open(&c->ch, (int)here.cluster, bit);
	if (result == 0)
		map_cache(c);
	return result;
}

void
name_close(struct name_client *c)
{
	if (c->cache != NULL)
		kpage_unmap(SELF, (uintptr_t)c->cache, c->pages);
	channel_end(&c->ch);
}

int
name_link(struct name_client *c, const char *name, uint32_t port, uint32_t period)
{
	struct name_message m = {.op = NAME_LINK, .port = port, .period = period};

	return name_ask_about(c, &m, name);
}

int
name_unlink(struct name_client *c, const char *name)
{
	struct name_message m = {.op = NAME_UNLINK};

	return name_ask_about(c, &m, name);
}

int
name_heartbeat(struct name_client *c)
{
	struct name_message m = {.op = NAME_HEARTBEAT};
	int result = name_ask(c, &m);

	return result < 0 ? result : (int)m.names;
}

bool
name_is_known(const struct name_client *c, const char *name, struct name_place *place)
{
	struct name_key key;

	return name_key_make(&key, name) && name_is_known_by(c, &key, place);
}

bool
name_is_known_by(const struct name_client *c, const struct name_key *k, struct name_place *place)
{
	return c->cache != NULL && name_cache_find(c->cache, k, place);
}

__attribute__((noinline)) static int
lookup_by_message(struct name_client *c, const char *name, uint32_t flags,
	struct name_place *place)
{
	struct name_message m = {.op = NAME_LOOKUP, .flags = flags};
	int result = name_ask_about(c, &m, name);

	if (result == 0)
		*place = (struct name_place){m.cluster, m.port};
	return result;
}

int
name_lookup(struct name_client *c, const char *name, uint32_t flags, struct name_place *place)
{
	if ((flags & ~(uint32_t)NAME_WAIT) == 0 && name_is_known(c, name, place))
		return 0;
	return lookup_by_message(c, name, flags, place);
}

int
name_count(struct name_client *c)
{
	struct name_message m = {.op = NAME_COUNT};
	int result = name_ask(c, &m);

	return result < 0 ? result : (int)m.names;
}

int
name_next(struct name_client *c, uint32_t *at, char *name, struct name_place *place)
{
	struct name_message m = {.op = NAME_NEXT, .names = *at};
	int result = name_ask(c, &m);

	if (result != 0)
		return result;
	memcpy(name, m.name, sizeof(m.name));
	*place = (struct name_place){m.cluster, m.port};
	*at = m.names;
	return 0;
}
