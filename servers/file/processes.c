/* SPDX-License-Identifier: MIT
 *
 * What the process servers of all clusters do for this one: they say what /proc and /dev/cores
 * show, give cores their roles, and have the memory that processes share. They wait for nobody,
 * so this server may wait for their answers.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <base/str.h>
#include <servers/file/cores.h>
#include <servers/file/proc.h>
#include <servers/name/protocol.h>

#define BIT 1				/* of this thread: one that a service leaves free */

/* To the process server of a cluster. */
static struct line {
	struct channel ch;
	bool is_open;
} *line;

static struct cluster_info here;

static struct {
	const struct tree *tree;
	uint64_t *homes;
} lasting;

static bool
know_machine(void)
{
	uint64_t addr;

	if (line != NULL)
		return true;
	kcluster_info(&here);
	if (kmem_alloc(SELF, here.clusters * sizeof(*line), PAGE_READ | PAGE_WRITE, &addr) < 0)
		return false;
	line = (struct line *)(uintptr_t)addr;
	return true;
}

/* Who is not up is not waited for. */
static bool
is_up(uint32_t c)
{
	struct cluster_state s;

	return c == here.cluster || (kcluster_state((int)c, &s) == 0 && s.state == CLUSTER_UP);
}

/* What files have is claimed, and cleared behind their ends; all else is not needed any more. */
static void
claim_memory(uint32_t c)
{
	const struct tree *t = lasting.tree;
	struct process_memory what;
	struct process_reply r;

	for (uint32_t i = 1; t != NULL && i < t->nodes; i++) {
		const struct node *n = node_of(t, i);
		uint64_t bytes = (uint64_t)n->memory.pages * SHARED_PAGE;

		if (!n->is_shared || n->memory.home != c)
			continue;
		what = (struct process_memory){.op = PROCESS_MEMORY_CLAIM, .key = n->memory.key};
		if (process_memory(&line[c].ch, &what, &r) != 0 || n->size >= bytes)
			continue;
		what.op = PROCESS_MEMORY_CLEAR;
		what.args = (uint32_t)n->size;
		what.envs = (uint32_t)(bytes - n->size);
		process_memory(&line[c].ch, &what, &r);
	}
	what = (struct process_memory){.op = PROCESS_MEMORY_CLAIM};
	process_memory(&line[c].ch, &what, &r);
}

/*
 * The channel to a cluster; NULL: it is not up, or there is no room for one now. The own one's
 * server runs when this one sleeps.
 */
static struct channel *
line_to(uint32_t c)
{
	if (!line[c].is_open && is_up(c) && process_open(&line[c].ch, (int)c, BIT) == 0) {
		line[c].is_open = true;
		claim_memory(c);
	}
	if (c == here.cluster)
		line[c].ch.looks = 0;
	return line[c].is_open ? &line[c].ch : NULL;
}

/* A cluster that has died may be started again. */
static void
look_at_error(uint32_t c, int error)
{
	if (error != -E_HOSTDOWN && error != -E_PIPE)
		return;
	channel_end(&line[c].ch);
	line[c].is_open = false;
}

/* --- memory that processes share --- */

static int
ask_lent(const struct shared_memory *m, struct process_memory what, int32_t *handle)
{
	struct channel *ch = know_machine() && m->home < here.clusters ? line_to(m->home) : NULL;
	struct process_reply r = {0};
	int result;

	what.key = m->key;
	if (ch == NULL)
		return -E_IO;
	result = process_memory(ch, &what, &r);
	*handle = r.handle;
	look_at_error(m->home, result);
	return result == -E_NOENT || result == -E_PIPE || result == -E_HOSTDOWN ? -E_IO : result;
}

static int
ask_memory(const struct shared_memory *m, struct process_memory what)
{
	int32_t handle;

	return ask_lent(m, what, &handle);
}

int
memory_lend(const struct shared_memory *m, uint32_t badge, int32_t *handle)
{
	return ask_lent(m, (struct process_memory){.op = PROCESS_MEMORY_LEND, .badge = badge},
		handle);
}

int
memory_revoke(const struct shared_memory *m, int32_t *is_short)
{
	int32_t none;

	return ask_lent(m, (struct process_memory){.op = PROCESS_MEMORY_REVOKE,
		.envs = is_short != NULL}, is_short != NULL ? is_short : &none);
}

void
memories_begin(struct tree *t, uint64_t *homes)
{
	uint64_t still = *homes;

	lasting.tree = t;
	lasting.homes = homes;
	for (uint32_t c = 0; c < CLUSTERS_MAX && *homes != 0; c++)
		if ((*homes >> c & 1) != 0 && know_machine() && c < here.clusters &&
			line_to(c) != NULL)
			still &= ~((uint64_t)1 << c);
	for (uint32_t i = 1; i < t->nodes; i++)
		if (node_of(t, i)->is_shared)
			still |= (uint64_t)1 << node_of(t, i)->memory.home;
	*homes = still;
}

int
memory_make(const struct shared_memory *m, uint32_t badge)
{
	*lasting.homes |= (uint64_t)1 << m->home;
	stored();
	return ask_memory(m, (struct process_memory){.op = PROCESS_MEMORY_MAKE, .args = m->pages,
		.badge = badge});
}

int
memory_read(const struct shared_memory *m, uint64_t offset, void *to, size_t len)
{
	return ask_memory(m, (struct process_memory){.op = PROCESS_MEMORY_READ,
		.args = (uint32_t)offset, .envs = (uint32_t)len, .to = to});
}

int
memory_write(const struct shared_memory *m, uint64_t offset, const void *from, size_t len)
{
	return ask_memory(m, (struct process_memory){.op = from != NULL ? PROCESS_MEMORY_WRITE :
		PROCESS_MEMORY_CLEAR, .args = (uint32_t)offset, .envs = (uint32_t)len,
		.from = from});
}

void
memory_end(const struct shared_memory *m)
{
	ask_memory(m, (struct process_memory){.op = PROCESS_MEMORY_END});
}

/* A pid is one of its cluster's, every n-th. */
void
process_signal(int32_t pid, int32_t signal)
{
	struct channel *ch = know_machine() && pid >= PROCESS_FIRST ?
		line_to((uint32_t)(pid - PROCESS_FIRST) % here.clusters) : NULL;

	if (ch != NULL)
		process_kill(ch, pid, signal, 0);
}

/* --- what /proc shows --- */

/* The next process of a cluster. */
static bool
next_of(uint32_t c, int32_t after, struct proc_process *p)
{
	struct channel *ch = line_to(c);
	struct process_reply r = {0};
	int pid = ch != NULL ? process_list(ch, after, 0, &r, &p->listed) : 0;

	look_at_error(c, pid);
	p->pid = pid;
	p->parent = r.parent;
	p->cluster = c;
	p->has_ended = r.has_ended != 0;
	p->ranks = r.ranks;
	p->since = r.since;
	p->core = r.core;
	p->page_bytes = here.page_bytes;
	return pid > 0;
}

int
proc_move(int32_t pid, int32_t core, struct mail_sender who)
{
	uint32_t c = know_machine() ? (uint32_t)(pid - PROCESS_FIRST) % here.clusters : 0;
	struct channel *ch = line != NULL ? line_to(c) : NULL;
	int result;

	if (ch == NULL)
		return -E_HOSTDOWN;
	result = process_move(ch, pid, core, (uint64_t)who.cluster << 32 | who.badge);
	look_at_error(c, result);
	return result;
}

bool
proc_next(int32_t after, struct proc_process *found)
{
	struct proc_process p = {0};

	found->pid = 0;
	if (!know_machine())
		return false;
	for (uint32_t c = 0; c < here.clusters; c++)
		if (next_of(c, after, &p) && (found->pid == 0 || p.pid < found->pid))
			*found = p;
	return found->pid > 0;
}

int32_t
proc_number(struct mail_sender who)
{
	struct channel *ch = know_machine() && who.cluster < here.clusters ?
		line_to(who.cluster) : NULL;
	struct process_listed listed;
	struct process_reply r = {0};
	int pid = ch != NULL ? process_list(ch, 0, who.badge, &r, &listed) : 0;

	look_at_error(who.cluster, pid);
	return pid > 0 ? pid : 0;
}

/* The line to a cluster that a client has named. 0; -E_NOENT: there is none; -E_HOSTDOWN. */
static int
line_named(uint32_t cluster, struct channel **ch)
{
	if (!know_machine() || cluster >= here.clusters)
		return -E_NOENT;
	*ch = line_to(cluster);
	return *ch != NULL ? 0 : -E_HOSTDOWN;
}

int
core_ask(uint32_t cluster, uint32_t core, int role, struct core_told *told)
{
	struct channel *ch;
	int result = line_named(cluster, &ch);

	if (result != 0)
		return result;
	result = process_core(ch, core, role, told);
	look_at_error(cluster, result);
	return result;
}

int
domain_ask(uint32_t cluster, uint32_t domain, uint32_t word[DOMAIN_WORDS])
{
	struct channel *ch;
	int result = line_named(cluster, &ch);

	if (result != 0)
		return result;
	result = process_domain(ch, domain, word);
	look_at_error(cluster, result);
	return result;
}

int
core_provision(uint32_t cluster, bool on)
{
	struct channel *ch;
	int result = line_named(cluster, &ch);

	if (result != 0)
		return result;
	result = process_provision(ch, on);
	look_at_error(cluster, result);
	return result;
}

bool
proc_next_name(uint32_t *at, struct proc_name *n)
{
	struct channel *ch = know_machine() ? line_to(0) : NULL;
	struct process_request q = {.op = PROCESS_NAME};
	struct name_message m = {.op = NAME_NEXT, .names = *at};
	const struct service_part request[2] = {{&q, sizeof(q)}, {&m, sizeof(m)}};
	const struct service_part answer[2] = {{&m, sizeof(m)}, {NULL, 0}};
	int result = ch != NULL ? service_call(ch, request, answer) : -E_NOENT;

	look_at_error(0, result);
	if (result < 0 || m.error != 0)
		return false;
	*at = m.names;
	memcpy(n->name, m.name, sizeof(n->name));
	n->place = (struct name_place){m.cluster, m.port};
	return true;
}

void
proc_look(struct proc_machine *m)
{
	kclock(&m->now);
	if (!know_machine())
		return;
	for (uint32_t c = 0; c < here.clusters; c++) {
		struct channel *ch = line_to(c);
		struct process_room room = {0};

		if (ch != NULL)
			look_at_error(c, process_room(ch, &room));
		m->bytes += room.bytes;
		m->free_bytes += room.free_bytes;
		m->cores += room.cores;
	}
}
