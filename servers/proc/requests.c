/* SPDX-License-Identifier: MIT
 *
 * Requests for processes: who asks is known by cluster and badge, which the kernels say. What comes
 * is copied before it is looked at, for the client can change it at any time.
 */
#include <context.h>
#include <atoll/counts.h>
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/cores.h>
#include <servers/proc/groups.h>
#include <servers/proc/limits.h>
#include <servers/proc/listing.h>
#include <servers/proc/names.h>
#include <servers/proc/names_local.h>
#include <servers/proc/provide.h>
#include <servers/proc/ranks.h>
#include <servers/proc/requests.h>
#include <servers/proc/shared.h>
#include <servers/proc/signals.h>

/* such a cluster has fewer processes than others may have */
#define SMALL_CLUSTER (4 * 1024 * 1024)
#define MEMBERS_SMALL 24
#define CLIENTS_OWN_SMALL 12
#define CLIENTS_FAR_SMALL 2
#define CLIENTS_OWN 96			/* of the own cluster: some have two */
#define CLIENTS_FAR 32			/* of each other one, or an equal share of: */
#define CLIENTS_FAR_MOST 512

/* A request, copied, and what its texts say. */
struct asked {
	const struct mail_sender *from;
	uint32_t client;
	struct member *member;		/* who asks, if it is one of this cluster; else NULL */
	struct process_request q;
	union {
		char text[PROCESS_MESSAGE - sizeof(struct process_request)];
		uint64_t align;
	} body;
	uint32_t bytes;			/* of the body */
	struct text words[PROCESS_WORDS_MAX];
	struct spawn spawn;
};

static struct service service;
/* of each client, the pid that it waits for, -pid: that has started; 0: none */
static int32_t *starting;
static struct brought *brought;		/* of each client */
static struct agent *agent;
static struct asked *asked;

/* --- parsing --- */

/* Cut a text with its zero byte off. False: there is none. */
static bool
text_cut(const char **at, size_t *left, struct text *t)
{
	size_t len = str_len_max(*at, *left);

	if (len == *left)
		return false;
	*t = (struct text){*at, len};
	*at += len + 1;
	*left -= len + 1;
	return true;
}

/* The path, arguments and environment; the child's own name is its first argument. */
static int
read_texts(struct asked *s)
{
	const char *at = s->body.text;
	size_t left = s->q.text_bytes;
	struct text path;
	uint32_t words = s->q.args + s->q.envs;

	if (s->q.text_bytes > s->bytes || s->q.inherit_bytes > s->bytes - s->q.text_bytes ||
		s->q.inherit_bytes > PROCESS_INHERIT_MAX)
		return -E_INVAL;
	if (s->q.args > PROCESS_WORDS_MAX || words > PROCESS_WORDS_MAX)
		return -E_2BIG;
	if (words < s->q.args || !text_cut(&at, &left, &path))
		return -E_INVAL;
	for (uint32_t i = 0; i < words; i++)
		if (!text_cut(&at, &left, &s->words[i]))
			return -E_INVAL;
	if (path.len == 0 || path.len > IMAGE_NAME_MAX)
		return -E_NOENT;
	str_copy(s->spawn.path, sizeof(s->spawn.path), path.at);
	s->spawn.words = (struct words){.program = s->q.args > 0 ? s->words[0] : path,
		.arg = s->words + 1, .args = s->q.args > 0 ? s->q.args - 1 : 0,
		.env = s->words + s->q.args, .envs = s->q.envs};
	s->spawn.inherit = s->body.text + s->q.text_bytes;
	s->spawn.inherit_bytes = s->q.inherit_bytes;
	return 0;
}

/* --- what is asked for --- */

static uint32_t
job_of(const struct asked *s)
{
	return s->member != NULL ? s->member->job : agent->part.job;
}

/*
 * May the job have one more process in this cluster, by its own limit and what who asks says? Its
 * part is one.
 */
static bool
has_room(const struct asked *s, uint32_t job)
{
	uint32_t n = family_count(&agent->family, job) + 1;

	return (s->q.most == 0 || n < s->q.most) &&
		(agent->part.job == 0 || n < agent->plan.job.limit.processes);
}

/* A process has started, or ended before: who waits for that goes on, or ends. */
static void
end_start(struct member *m)
{
	m->is_starting = false;
	/* nothing else names it: it ends */
	if (m->replaced != 0) {
		khandle_close(m->replaced);
		m->replaced = 0;
		limits_divide(0);
	}
	for (uint32_t i = 0; i < service.used; i++)
		if (starting[i] == m->pid) {
			starting[i] = -m->pid;
			service_again(&service, i);
		}
}

/* What has been started is to say first that it is ready: -E_AGAIN. Else 0. */
static int
await_start(const struct asked *s, struct member *m)
{
	if ((s->q.flags & PROCESS_AWAIT) == 0) {
		end_start(m);
		return 0;
	}
	m->is_starting = true;
	starting[s->client] = m->pid;
	return -E_AGAIN;
}

/*
 * Take the place of a member: the new process has its pid, its parent, and its children. Several
 * ranks are one process, of which one alone cannot become another program.
 */
static int
replace(struct asked *s, struct process_reply *r)
{
	const struct member *parent = NULL;
	struct member *m = s->member;
	struct thread_counts counts;
	int old, result, core;
	uint32_t since;
	uint16_t before;

	if (m == NULL || m->is_starting || (m->is_part && agent->part.ranks > 1))
		return -E_NOSYS;
	old = m->is_part ? agent->part.proc : m->proc;
	if (m->parent.cluster == agent->here.cluster)
		parent = family_by_badge(&agent->family, m->parent.badge);
	s->spawn.parent = parent != NULL ? parent->pid : 0;
	before = m->core;
	since = m->since;
	core = s->q.status == PROCESS_CORE_ANY ? before :
		cores_choose(agent, m, s->q.status);
	if (core < 0)
		return core;
	m->core = (uint16_t)core;
	result = child_start(agent, m, &s->spawn);
	m->since = since;
	if (result != 0) {
		m->core = before;
		return result;
	}
	if (process_counts(old, &counts) < 0)
		counts.run_ns = 0;
	child_end_bound(agent, m);
	signals_replace(m, s->q.told);
	r->pid = m->pid;
	if (m->is_part)
		agent_replace(agent, m->proc);
	m->replaced = old;
	m->before_ns += counts.run_ns;
	return await_start(s, m);
}

/* The request of a client whose child was starting is looked at again. */
static int
serve_started(const struct asked *s, struct process_reply *r)
{
	if (starting[s->client] > 0)
		return -E_AGAIN;
	r->pid = -starting[s->client];
	starting[s->client] = 0;
	return 0;
}

/* A process more, for who asks, that is to run where that says. 0 and *made, or an error. */
static int
make_member(const struct asked *s, struct member **made)
{
	int core = cores_choose(agent, NULL, s->q.status);

	if (core < 0)
		return core;
	*made = has_room(s, job_of(s)) ? family_add(&agent->family, s->from, job_of(s)) : NULL;
	if (*made == NULL)
		return -E_AGAIN;
	(*made)->core = (uint16_t)core;
	return 0;
}

static int
serve_spawn(struct asked *s, struct process_reply *r)
{
	struct member *m;
	int result;

	if (starting[s->client] != 0)
		return serve_started(s, r);
	result = read_texts(s);
	if (result != 0)
		return result;
	s->spawn.parent = s->member != NULL ? s->member->pid : 0;
	s->spawn.is_prepaged = (s->q.flags & PROCESS_PREPAGED) != 0;
	s->spawn.brought = s->q.flags & PROCESS_BROUGHT ? &brought[s->client] : NULL;
	if (s->spawn.brought != NULL && s->spawn.brought->pages == 0)
		return -E_INVAL;
	if (s->q.flags & PROCESS_REPLACE)
		return replace(s, r);
	result = make_member(s, &m);
	if (result != 0)
		return result;
	signals_catch(m, s->q.told, -1);
	group_begin(m, s->q.group, s->q.flags & PROCESS_FRONT);
	result = child_start(agent, m, &s->spawn);
	if (result != 0)
		family_drop(&agent->family, m);
	r->pid = m->pid;
	return result != 0 ? result : await_start(s, m);
}

/* Its program is in memory, or could not be had: what was brought is not needed any more. */
static int
serve_spawn_once(struct asked *s, struct process_reply *r)
{
	int result = serve_spawn(s, r);

	brought_drop(&brought[s->client]);
	return result;
}

static int
serve_bring(const struct asked *s, struct process_reply *r)
{
	const struct member *m = s->member;
	int result;

	if (m == NULL)
		return -E_NOSYS;
	result = brought_lend(&brought[s->client], m->is_part ? agent->part.proc : m->proc,
		s->q.args);
	r->handle = result;
	return result < 0 ? result : 0;
}

/* A process that has nothing yet, and a handle of it. Several ranks are one process: none of it. */
static int
serve_fork(const struct asked *s, struct process_reply *r)
{
	const struct member *parent = s->member;
	struct member *m;
	int result;

	if (parent == NULL || (parent->is_part && agent->part.ranks > 1))
		return -E_NOSYS;
	result = make_member(s, &m);
	if (result != 0)
		return result;
	result = child_form(agent, m, parent->is_part ? agent->part.proc : parent->proc);
	if (result < 0) {
		family_drop(&agent->family, m);
		return result;
	}
	m->is_bound = true;
	signals_catch(m, s->q.told, -1);
	memcpy(m->name, parent->name, sizeof(m->name));
	r->pid = m->pid;
	r->handle = result;
	return 0;
}

/* The child's first thread begins where its parent says. */
static int
start_formed(const struct asked *s, struct member *m)
{
	struct process_entry entry;
	struct context ctx;
	long result;

	if (s->bytes < sizeof(entry))
		return -E_INVAL;
	memcpy(&entry, s->body.text, sizeof(entry));
	context_init(&ctx, (uintptr_t)entry.pc, (uintptr_t)entry.sp, (uintptr_t)entry.arg, 0);
	result = kproc_start(m->proc, &ctx, ANY_CORE);
	if (result >= 0)
		m->is_bound = false;
	return result < 0 ? (int)result : 0;
}

static int
serve_start(const struct asked *s, struct process_reply *r)
{
	struct member *m = family_by_pid(&agent->family, s->q.pid);
	int result;

	if (starting[s->client] != 0)
		return serve_started(s, r);
	if (m == NULL || m != family_bound(&agent->family, m, s->from))
		return -E_SRCH;
	if (m->part == NULL)
		result = start_formed(s, m);
	else if (s->bytes < agent->here.clusters * sizeof(struct job_part))
		result = -E_INVAL;
	else
		result = ranks_start(agent, m, (const struct job_part *)(void *)s->body.text);
	if (result != 0)
		return result;
	r->pid = m->pid;
	return await_start(s, m);
}

/* What is behind the texts of a request for a part. */
static int
read_job(const struct asked *s, struct process_job *job)
{
	uint32_t at = s->q.text_bytes + s->q.inherit_bytes;
	uint32_t bytes = (uint32_t)(sizeof(*job) - sizeof(job->cluster)) +
		agent->here.clusters * (uint32_t)sizeof(job->cluster[0]);

	if (s->bytes - at < bytes)
		return -E_INVAL;
	memcpy(job, s->body.text + at, bytes);
	return 0;
}

/* A member of this cluster, or a process of another one, has a part, and ends it. */
static int
serve_part(struct asked *s, struct process_reply *r)
{
	struct process_job job;
	struct member *m;
	int result = read_texts(s);

	if (result == 0)
		result = read_job(s, &job);
	if (result == 0 && s->member == NULL && s->from->cluster == agent->here.cluster)
		result = -E_SRCH;
	if (result == 0)
		result = ranks_place(agent, &job);
	if (result <= 0)
		return result;
	m = has_room(s, job_of(s)) ? family_add(&agent->family, s->from, job_of(s)) : NULL;
	if (m == NULL) {
		ranks_forget();
		return -E_AGAIN;
	}
	s->spawn.parent = s->member != NULL ? s->member->pid : 0;
	result = ranks_load(agent, m, &s->spawn, &job);
	if (result != 0) {
		family_drop(&agent->family, m);
		return result;
	}
	m->is_bound = true;
	r->pid = m->pid;
	r->part = (struct job_part){(uint16_t)m->part->base_port, (uint16_t)m->badge};
	return 0;
}

/* A process says that it is ready. */
static void
take_mail(void *of, const struct mail_sender *from, const void *message)
{
	const struct process_ready *ready = message;
	struct member *m = from->cluster == agent->here.cluster && ready->magic == PROCESS_READY ?
		family_by_badge(&agent->family, from->badge) : NULL;

	(void)of;
	if (m != NULL)
		end_start(m);
}

static int
serve_wait(const struct asked *s, struct process_reply *r)
{
	int32_t pid = s->q.pid == 0 && s->member != NULL ? -s->member->group : s->q.pid;
	int result = family_take(&agent->family, s->from, pid, r, s->q.flags);

	r->pid = result;
	return result < 0 ? result : 0;
}

/*
 * All of a group, or with -1 all processes, but who asks; the group 0 is the asker's. Who asks and
 * is of the group is told so by the answer: it sends the signal to itself, before its call ends.
 */
static int
serve_kill_group(const struct asked *s, const struct signal_note *note, struct process_reply *r)
{
	struct family *f = &agent->family;
	int32_t group = s->q.pid == 0 && s->member != NULL ? s->member->group : -s->q.pid;
	int result = -E_SRCH;

	for (struct member *m = f->member; m < f->member + f->used; m++) {
		bool is_meant = s->q.pid == -1 ? m != s->member : m->group == group;

		if (m->state != MEMBER_RUNS || !is_meant || m->job != job_of(s))
			continue;
		if (m == s->member)
			r->pid = m->pid;
		result = s->q.status == 0 || m == s->member ? 0 :
			signals_send(m, s->q.status, false, note);
	}
	return result;
}

static int
serve_kill(const struct asked *s, struct process_reply *r)
{
	struct member *m = family_by_pid(&agent->family, s->q.pid);
	struct signal_note note = {.pid = s->member != NULL ? s->member->pid : 0};
	bool is_default = (s->q.flags & PROCESS_DEFAULT) != 0;
	int sig = is_default ? s->q.status & PROCESS_STATUS : s->q.status;

	if (s->q.pid <= 0)
		return serve_kill_group(s, &note, r);
	if (m == NULL)
		return -E_SRCH;
	if (m->job != job_of(s))
		return -E_ACCES;
	if ((s->q.flags & PROCESS_QUEUED) != 0)
		note.status = (struct proc_status){.cause = PROCESS_QUEUED,
			.status = (int32_t)s->q.told, .threads = (uint32_t)(s->q.told >> 32)};
	if (is_default && m == s->member)
		m->status.used = (uint32_t)s->q.status >> PROCESS_STATUS_BITS;
	return sig == 0 ? 0 : signals_send(m, sig, is_default, &note);
}

static bool
is_file_server(const struct asked *s)
{
	return s->from->cluster == 0 && s->from->badge == BADGE_SERVER;
}

/* And those of other clusters (etc/trees): they have memory here, and no more. */
static bool
is_server_of_part(const struct asked *s)
{
	return (agent->parts >> s->from->cluster & 1) != 0 && s->from->badge == BADGE_SERVER;
}

/* Of the file server's the wish is somebody's else. */
static int
serve_move(const struct asked *s)
{
	struct member *m = s->q.pid == 0 ? s->member : family_by_pid(&agent->family, s->q.pid);
	uint32_t job = job_of(s);

	if (is_file_server(s)) {
		const struct member *who = s->q.told >> 32 == agent->here.cluster ?
			family_by_badge(&agent->family, (uint32_t)s->q.told) : NULL;

		job = who != NULL ? who->job : agent->part.job;
	}
	if (m == NULL)
		return -E_SRCH;
	return m->job != job ? -E_PERM : cores_move(agent, m, s->q.status);
}

/* Several ranks are one process, of which none alone is told. */
static int
serve_catch(const struct asked *s)
{
	if (s->member == NULL || (s->member->is_part && agent->part.ranks > 1))
		return -E_NOSYS;
	signals_catch(s->member, s->q.told, (int)s->client);
	return 0;
}

/* The next client from `i` on that is that process; service.used: there is none. */
static uint32_t
next_client(const struct mail_sender *process, uint32_t i)
{
	const struct service_client *c = service.client;

	while (i < service.used && !(c[i].is_there && c[i].from.badge == process->badge &&
		c[i].from.cluster == process->cluster))
		i++;
	return i;
}

/* What a parent may wait for, or wants to be told, has happened to its child. */
static void
wake_parent(const struct member *m, const struct mail_sender *parent,
	const struct proc_status *what)
{
	signals_child(parent, m->pid, what);
	for (uint32_t i = next_client(parent, 0); i < service.used;
		i = next_client(parent, i + 1))
		service_again(&service, i);
}

/* Its parent hears of it, and may wait for that. */
static int
serve_stopped(const struct asked *s)
{
	struct member *m = s->member;
	struct mail_sender parent;

	if (m == NULL || s->q.status < 0 || s->q.status > PROCESS_SIGNALS)
		return -E_INVAL;
	m->has_continued = m->stopped != 0 && s->q.status == 0;
	m->stopped = (uint8_t)s->q.status;
	m->has_told_stop = false;
	parent = m->parent;
	if (m->stopped != 0 || m->has_continued)
		wake_parent(m, &parent, &(struct proc_status){.status = m->stopped,
			.cause = m->stopped != 0 ? PROCESS_HAS_STOPPED : PROCESS_HAS_CONTINUED});
	return 0;
}

static int
serve_room(const struct process_request *q, char *to)
{
	struct process_room room = {0};

	if ((q->flags & PROCESS_ROOM_DOMAIN) != 0)
		return ranks_domain((uint32_t)q->args, to);
	ranks_room(agent, &room);
	memcpy(to, &room, sizeof(room));
	return 0;
}

static int
serve_op(struct asked *s, struct process_reply *r, char *name)
{
	switch (s->q.op) {
	case PROCESS_SPAWN: return serve_spawn_once(s, r);
	case PROCESS_BRING: return serve_bring(s, r);
	case PROCESS_WAIT: return serve_wait(s, r);
	case PROCESS_KILL: return serve_kill(s, r);
	case PROCESS_FORK: return serve_fork(s, r);
	case PROCESS_START: return serve_start(s, r);
	case PROCESS_ROOM: return serve_room(&s->q, name);
	case PROCESS_PART: return serve_part(s, r);
	case PROCESS_CATCH: return serve_catch(s);
	case PROCESS_STOPPED: return serve_stopped(s);
	case PROCESS_MOVE: return serve_move(s);
	case PROCESS_GROUP:
		r->pid = group_ask(s->member, s->q.flags, s->q.pid, s->q.status);
		return r->pid < 0 ? r->pid : 0;
	case PROCESS_SERVER:
		/* a cluster without ranks has not read it */
		job_plan_read(&agent->plan, &agent->here, false);
		r->pid = agent->plan.job.may_end_servers ?
			servers_kill(agent, s->q.pid, s->q.status) : -E_ACCES;
		return r->pid < 0 ? r->pid : 0;
	default: return -E_INVAL;
	}
}

static bool
read_request(struct asked *s, uint32_t client, struct service_part request)
{
	const struct mail_sender *from = &service.client[client].from;

	if (request.bytes < sizeof(s->q))
		return false;
	memcpy(&s->q, request.at, sizeof(s->q));
	s->bytes = request.bytes - (uint32_t)sizeof(s->q);
	memcpy(s->body.text, (const char *)request.at + sizeof(s->q), s->bytes);
	s->from = from;
	s->client = client;
	s->member = from->cluster == agent->here.cluster ?
		family_by_badge(&agent->family, from->badge) : NULL;
	return true;
}

/*
 * Is the answer to come later? A wait that finds nothing stays where it is until a child of the
 * client's has ended, a spawn or start that awaits the child until that is ready.
 */
static bool
is_for_later(const struct asked *s, int error)
{
	return error == -E_AGAIN && (s->q.op == PROCESS_WAIT ?
		!(s->q.flags & PROCESS_NO_WAIT) :
		starting[s->client] != 0);
}

/* The process of a member, or -1. */
static int
process_of(const struct member *m)
{
	return m == NULL ? -1 : m->is_part ? agent->part.proc : m->proc;
}

/* Bytes behind the answer. */
static uint32_t
serve_memory(const struct asked *s, struct process_reply *r, void *out)
{
	const struct member *of = family_by_badge(&agent->family, (uint32_t)s->q.status);
	const struct shared_asked what = {.q = &s->q, .data = s->body.text, .bytes = s->bytes,
		.is_server = is_file_server(s) || is_server_of_part(s), .client = s->client,
		.home = s->from->cluster, .proc = process_of(s->member),
		.to = process_of(of), .job = of != NULL ? of->job : 0};
	uint32_t bytes = 0;

	r->error = shared_serve(&what, r, out, &bytes);
	return bytes;
}

/* What a core of the cluster does, behind the answer. */
static uint32_t
serve_core(const struct asked *s, struct process_reply *r, void *out)
{
	int bytes = s->q.flags != 0 && !is_file_server(s) ? -E_ACCES : provide_ask(&s->q, out);

	r->error = bytes < 0 ? bytes : 0;
	return bytes < 0 ? 0 : (uint32_t)bytes;
}

/* Requests that are answered at once, with more than a name behind the answer. False: others. */
static bool
serve_long(const struct asked *s, struct process_reply *r, void *out, uint32_t *bytes)
{
	switch (s->q.op) {
	case PROCESS_MEMORY: *bytes = serve_memory(s, r, out); return true;
	case PROCESS_CORE: *bytes = serve_core(s, r, out); return true;
	case PROCESS_LIST: *bytes = listing_put(agent, &s->q, r, out); return true;
	default: return false;
	}
}

/* To the name daemon, which answers now or later. */
static uint32_t
serve_name(const struct asked *s, void *answer)
{
	_Alignas(uint64_t) struct name_message q, a;	/* so that they are copied in words */

	if (s->bytes < sizeof(q))
		a = (struct name_message){.error = -E_INVAL};
	memcpy(&q, s->body.text, sizeof(q));
	if (s->bytes >= sizeof(q) && !names_serve(s->client, &q, &a, process_of(s->member)))
		return SERVICE_LATER;
	memcpy(answer, &a, sizeof(a));
	return sizeof(a);
}

static uint32_t
request_serve(void *of, uint32_t client, struct service_part request, void *answer)
{
	_Alignas(uint64_t) struct process_reply r;
	_Alignas(uint64_t) char name[PROCESS_NAME_MAX];
	bool is_read = read_request(asked, client, request);
	uint32_t bytes;

	(void)of;
	if (is_read && asked->q.op == PROCESS_NAME)
		return serve_name(asked, answer);
	memset(&r, 0, sizeof(r));
	memset(name, 0, sizeof(name));
	if (is_read && serve_long(asked, &r, (char *)answer + sizeof(r), &bytes)) {
		memcpy(answer, &r, sizeof(r));
		return (uint32_t)sizeof(r) + bytes;
	}
	r.error = is_read ? serve_op(asked, &r, name) : -E_INVAL;
	if (is_for_later(asked, r.error))
		return SERVICE_LATER;
	memcpy(answer, &r, sizeof(r));
	memcpy((char *)answer + sizeof(r), name, sizeof(name));
	return sizeof(r) + sizeof(name);
}

static uint32_t
tell_signal(void *of, uint32_t client, void *message)
{
	(void)of;
	return signals_tell(client, message);
}

/*
 * The last channel of a process of another cluster: it has ended, hears of no end any more, and
 * what stems from it ends.
 */
static void
gone(void *of, uint32_t client)
{
	const struct mail_sender *from = &service.client[client].from;

	(void)of;
	starting[client] = 0;
	brought_drop(&brought[client]);
	signals_gone(client);
	names_client_gone(client);
	shared_client_gone(client);
	if (from->cluster == agent->here.cluster || next_client(from, 0) < service.used)
		return;
	family_forget_parent(&agent->family, from);
	child_end_all(agent, from);
}

/* --- ends --- */

static void
tell_parent(struct member *m, const struct mail_sender *parent)
{
	local_forget(m->badge);
	end_start(m);
	wake_parent(m, parent, &m->status);
}

void
requests_reap(void)
{
	child_reap(agent, tell_parent);
}

void
requests_end_part(const struct proc_status *status)
{
	struct member *m = family_by_badge(&agent->family, BADGE_OF_JOB(agent->part.job));

	local_forget(BADGE_OF_JOB(agent->part.job));
	if (m == NULL)
		return;
	end_start(m);
	child_end_all(agent, &m->root);
	family_end(&agent->family, m, status);
}

int
requests_begin(struct agent *a)
{
	static const struct service_kind kind = {.magic = PROCESS_MAGIC,
		.message = PROCESS_MESSAGE, .port = PROCESS_PORT, .pages = PROCESS_PAGES};
	bool is_small = part_share_of_memory(1, a->here.page_bytes) < SMALL_CLUSTER;
	uint32_t own = is_small ? CLIENTS_OWN_SMALL : CLIENTS_OWN;
	uint32_t members = is_small ? MEMBERS_SMALL : MEMBERS_MAX;
	uint32_t far = (is_small ? CLIENTS_FAR_SMALL : CLIENTS_FAR) * (a->here.clusters - 1);
	uint32_t most = own + (far < CLIENTS_FAR_MOST ? far : CLIENTS_FAR_MOST);
	long in = kmailbox_create(PROCESS_PORT), result;
	struct service_client *client;
	struct name_wait *waits;
	struct member *member;
	uint64_t addr = 0;

	agent = a;
	limits_begin(a);
	if (in < 0)
		return (int)in;
	result = kmem_alloc(SELF, sizeof(*asked) + members * sizeof(*member) + 8 + most *
		(sizeof(*client) + sizeof(*brought) + sizeof(*waits) + sizeof(*starting)),
		PAGE_READ | PAGE_WRITE, &addr);
	if (result < 0)
		return (int)result;
	brought = (struct brought *)(uintptr_t)addr;
	starting = (int32_t *)(void *)(brought + most);
	waits = (struct name_wait *)(void *)(starting + most);
	client = (struct service_client *)(((uintptr_t)(waits + most) + 7) & ~(uintptr_t)7);
	member = (struct member *)(void *)(client + most);
	asked = (struct asked *)(void *)(member + members);
	family_init(&a->family, a->here.cluster, a->here.clusters, member, members);
	service = (struct service){.kind = &kind, .serve = request_serve, .gone = gone,
		.tell = tell_signal, .mail = take_mail, .other = names_have_come,
		.in = (int)in, .client = client, .clients = most,
		.own = own, .looks = SERVICE_LOOKS};
	signals_begin(a, &service);
	groups_begin(a);
	names_begin(a, &service, waits);
	return service_begin(&service);
}

uint32_t
requests_serve(void)
{
	provide_step(agent, &service.until);
	return service_step(&service);
}
