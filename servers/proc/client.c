/* SPDX-License-Identifier: MIT
 *
 * Client of the process servers: see client.h.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/str.h>
#include <servers/proc/client.h>

#define TEXT_MAX (PROCESS_MESSAGE - (uint32_t)sizeof(struct process_request))

/* Wait until the server has read what this cluster has sent to it. 0 or what mailbox_wait says. */
static long
server_await(const struct service_kind *kind)
{
	long out = kmailbox_open(kind->cluster, kind->port), wrong;

	if (out < 0)
		return out;
	wrong = kmailbox_wait((int)out, ANY_SOURCE_CLUSTER, FOREVER);
	khandle_close((int)out);
	return wrong;
}

/*
 * A channel ends at once where nobody has the server's port: its cluster may have begun later than
 * this one. The message that names the channel waits there, so that the server is known to be there
 * when it has read it.
 */
int
process_open(struct channel *ch, int cluster, int bit)
{
	const struct service_kind kind = {.magic = PROCESS_MAGIC, .message = PROCESS_MESSAGE,
		.cluster = cluster, .port = PROCESS_PORT, .pages = PROCESS_PAGES};
	int result = service_open(ch, &kind, bit);

	if (result == -E_PIPE && server_await(&kind) >= 0)
		result = service_open(ch, &kind, bit);
	return result;
}

/* What comes and is no answer (PROCESS_TOLD) is left out. Bytes of the second part, or an error. */
static int
answer_receive(struct channel *ch, struct process_reply *r, struct service_part more)
{
	const struct service_part answer[2] = {{r, sizeof(*r)}, more};
	int result;

	do
		result = service_receive(ch, answer);
	while (result >= 0 && (r->signal & PROCESS_TOLD) != 0);
	return result;
}

static int
request_send(struct channel *ch, const struct process_request *q)
{
	const struct service_part request[2] = {{(void *)(uintptr_t)q, sizeof(*q)}, {NULL, 0}};

	return service_send(ch, request);
}

/* The result, and the bytes behind the answer; 0 of them unless `name` has room for them. */
static int
process_ask(struct channel *ch, const struct process_request *q, struct process_reply *r,
	char *name)
{
	int result = request_send(ch, q);

	if (result == 0)
		result = answer_receive(ch, r, (struct service_part){name,
			name != NULL ? PROCESS_NAME_MAX : 0});
	return result < 0 ? result : r->error < 0 ? r->error : r->pid;
}

/* --- a request that is written where it is sent --- */

struct writer {
	unsigned char *at;
	uint32_t used;
	bool is_full;
};

static void
text_put(struct writer *w, const void *bytes, size_t len)
{
	if (w->is_full || len > TEXT_MAX - w->used) {
		w->is_full = true;
		return;
	}
	memcpy(w->at + w->used, bytes, len);
	w->used += (uint32_t)len;
}

static uint32_t
text_put_list(struct writer *w, char *const *list)
{
	uint32_t n = 0;

	for (; list != NULL && list[n] != NULL; n++)
		text_put(w, list[n], str_len(list[n]) + 1);
	return n;
}

/* Write a request for a program where it is sent, and `more` behind it. 0; -E_AGAIN; -E_2BIG. */
static int
send_program(struct channel *ch, uint32_t op, const struct process_spawn *what,
	struct service_part more)
{
	struct process_request q = {.op = op, .flags = what->flags,
		.inherit_bytes = what->inherit_bytes, .told = what->told, .status = what->core,
		.group = what->group, .most = what->most};
	unsigned char *place = channel_place(ch);
	struct writer w = {.at = place + sizeof(q)};

	if (place == NULL)
		return -E_AGAIN;
	text_put(&w, what->path, str_len(what->path) + 1);
	q.args = text_put_list(&w, what->args);
	q.envs = text_put_list(&w, what->envs);
	q.text_bytes = w.used;
	text_put(&w, what->inherit, what->inherit_bytes);
	text_put(&w, more.at, more.bytes);
	if (w.is_full)
		return -E_2BIG;
	memcpy(place, &q, sizeof(q));
	channel_put(ch, (uint32_t)sizeof(q) + w.used);
	return 0;
}

/*
 * The pid, or an error, of an answer that takes longer than to look for it for a while would be
 * worth.
 */
static int
process_receive(struct channel *ch, struct process_reply *r)
{
	unsigned looks = ch->looks;
	int result;

	ch->looks = 0;
	result = answer_receive(ch, r, (struct service_part){NULL, 0});
	ch->looks = looks;
	return result < 0 ? result : r->error < 0 ? r->error : r->pid;
}

int
process_spawn(struct channel *ch, const struct process_spawn *what)
{
	int result = send_program(ch, PROCESS_SPAWN, what, (struct service_part){NULL, 0});
	struct process_reply r;

	return result < 0 ? result : process_receive(ch, &r);
}

int
process_bring(struct channel *ch, uint32_t pages)
{
	const struct process_request q = {.op = PROCESS_BRING, .args = pages};
	struct process_reply r;
	int result = process_ask(ch, &q, &r, NULL);

	return result < 0 ? result : r.handle;
}

int
process_memory(struct channel *ch, const struct process_memory *what, struct process_reply *r)
{
	struct process_request q = {.op = PROCESS_MEMORY, .flags = what->op, .told = what->key,
		.args = what->args, .envs = what->envs, .status = (int32_t)what->badge};
	const struct service_part request[2] = {{&q, sizeof(q)}, {(void *)(uintptr_t)what->from,
		what->op == PROCESS_MEMORY_WRITE ? what->envs : 0}};
	uint32_t room = what->op == PROCESS_MEMORY_READ ? what->envs : 0;
	int result = service_send(ch, request);

	if (result == 0)
		result = answer_receive(ch, r, (struct service_part){what->to, room});
	if (result < 0 || r->error < 0)
		return result < 0 ? result : r->error;
	return (uint32_t)result == room ? 0 : -E_IO;
}

int
process_core(struct channel *ch, uint32_t core, int role, struct core_told *told)
{
	const struct process_request q = {.op = PROCESS_CORE, .args = core,
		.flags = role >= 0 ? PROCESS_CORE_ROLE : 0, .status = role};
	struct process_reply r;
	int result = request_send(ch, &q);

	if (result == 0)
		result = answer_receive(ch, &r, (struct service_part){told, sizeof(*told)});
	if (result < 0 || r.error < 0)
		return result < 0 ? result : r.error;
	return (uint32_t)result == sizeof(*told) ? 0 : -E_IO;
}

int
process_provision(struct channel *ch, bool on)
{
	const struct process_request q = {.op = PROCESS_CORE, .flags = PROCESS_CORE_PROVISION,
		.status = on};
	struct process_reply r;

	return process_ask(ch, &q, &r, NULL);
}

int
process_move(struct channel *ch, int pid, int core, uint64_t who)
{
	const struct process_request q = {.op = PROCESS_MOVE, .pid = pid, .status = core,
		.told = who};
	struct process_reply r;

	return process_ask(ch, &q, &r, NULL);
}

int
process_wait(struct channel *ch, int pid, uint32_t flags, struct proc_status *status)
{
	const struct process_request q = {.op = PROCESS_WAIT, .pid = pid, .flags = flags};
	struct process_reply r;
	int result = request_send(ch, &q);

	if (result == 0)
		result = process_receive(ch, &r);
	if (result > 0)
		*status = r.status;
	return result;
}

int
process_kill(struct channel *ch, int pid, int sig, uint32_t flags)
{
	const struct process_request q = {.op = PROCESS_KILL, .pid = pid, .status = sig,
		.flags = flags};
	struct process_reply r;

	return process_ask(ch, &q, &r, NULL);
}

int
process_queue(struct channel *ch, int pid, int sig, uint64_t value)
{
	const struct process_request q = {.op = PROCESS_KILL, .pid = pid, .status = sig,
		.flags = PROCESS_QUEUED, .told = value};
	struct process_reply r;

	return process_ask(ch, &q, &r, NULL);
}

int
process_group(struct channel *ch, enum process_group_op op, int pid, int value)
{
	const struct process_request q = {.op = PROCESS_GROUP, .flags = op, .pid = pid,
		.status = value};
	struct process_reply r;

	return process_ask(ch, &q, &r, NULL);
}

int
process_stopped(struct channel *ch, int sig)
{
	const struct process_request q = {.op = PROCESS_STOPPED, .status = sig};
	struct process_reply r;

	return process_ask(ch, &q, &r, NULL);
}

int
process_catch(struct channel *ch, uint64_t told)
{
	const struct process_request q = {.op = PROCESS_CATCH, .told = told};

	return request_send(ch, &q);
}

int
process_ready(void)
{
	const struct process_ready message = {.magic = PROCESS_READY};
	struct cluster_info here;
	long out;
	int result;

	kcluster_info(&here);
	out = kmailbox_open((int)here.cluster, PROCESS_PORT);
	if (out < 0)
		return (int)out;
	result = mailbox_send((int)out, &message);
	khandle_close((int)out);
	return result;
}

int
process_fork_ask(struct channel *ch, const struct process_spawn *what)
{
	return request_send(ch, &(struct process_request){.op = PROCESS_FORK, .told = what->told,
		.most = what->most, .status = what->core});
}

int
process_fork_take(struct channel *ch, int *handle)
{
	struct process_reply r;
	int result = process_receive(ch, &r);

	if (result > 0)
		*handle = r.handle;
	return result;
}

int
process_start_ask(struct channel *ch, int pid, uint32_t flags, const struct process_entry *entry)
{
	const struct process_request q = {.op = PROCESS_START, .pid = pid, .flags = flags};
	const struct service_part request[2] = {{(void *)(uintptr_t)&q, sizeof(q)},
		{(void *)(uintptr_t)entry, sizeof(*entry)}};

	return service_send(ch, request);
}

int
process_start_take(struct channel *ch)
{
	struct process_reply r;
	int result = process_receive(ch, &r);

	return result < 0 ? result : 0;
}

int
process_room(struct channel *ch, struct process_room *room)
{
	const struct process_request q = {.op = PROCESS_ROOM};
	struct process_reply r;
	char name[PROCESS_NAME_MAX] = "";
	int result = process_ask(ch, &q, &r, name);

	memcpy(room, name, sizeof(*room));
	return result;
}

int
process_domain(struct channel *ch, uint32_t domain, uint32_t word[DOMAIN_WORDS])
{
	const struct process_request q = {.op = PROCESS_ROOM, .flags = PROCESS_ROOM_DOMAIN,
		.args = domain};
	struct process_reply r;
	char name[PROCESS_NAME_MAX] = "";
	int result = process_ask(ch, &q, &r, name);

	memcpy(word, name, DOMAIN_WORDS * sizeof(*word));
	return result;
}

int
process_server(struct channel *ch, int server, int sig)
{
	const struct process_request q = {.op = PROCESS_SERVER, .pid = server, .status = sig};
	struct process_reply r;
	char name[PROCESS_NAME_MAX];
	int result = process_ask(ch, &q, &r, name);

	return result < 0 ? result : r.pid;
}

int
process_part_ask(struct channel *ch, const struct process_spawn *what,
	const struct process_job *job, uint32_t clusters)
{
	uint32_t bytes = (uint32_t)(sizeof(*job) - sizeof(job->cluster) +
		clusters * sizeof(job->cluster[0]));

	return send_program(ch, PROCESS_PART, what,
		(struct service_part){(void *)(uintptr_t)job, bytes});
}

int
process_part_take(struct channel *ch, struct job_part *part)
{
	struct process_reply r = {0};
	int result = process_receive(ch, &r);

	*part = r.part;
	return result;
}

int
process_part_start(struct channel *ch, int pid, uint32_t flags,
	const struct process_parts *parts)
{
	const struct process_request q = {.op = PROCESS_START, .pid = pid, .flags = flags};
	const struct service_part request[2] = {{(void *)(uintptr_t)&q, sizeof(q)},
		{(void *)(uintptr_t)parts->part,
			(uint32_t)(parts->clusters * sizeof(*parts->part))}};
	struct process_reply r;
	int result = service_send(ch, request);

	return result < 0 ? result : process_receive(ch, &r);
}

int
process_wait_ask(struct channel *ch, int pid)
{
	const struct process_request q = {.op = PROCESS_WAIT, .pid = pid};

	return request_send(ch, &q);
}

int
process_wait_take(struct channel *ch, struct proc_status *status, uint32_t *missing)
{
	struct process_reply r = {0};
	int result = process_receive(ch, &r);

	*status = r.status;
	*missing = r.missing;
	return result;
}

int
process_list(struct channel *ch, int after, uint32_t badge, struct process_reply *r,
	struct process_listed *what)
{
	const struct process_request q = {.op = PROCESS_LIST, .pid = after, .told = badge};
	int result = request_send(ch, &q);

	if (result == 0)
		result = answer_receive(ch, r, (struct service_part){what, sizeof(*what)});
	return result < 0 ? result : r->error < 0 ? r->error : r->pid;
}
