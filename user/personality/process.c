/* SPDX-License-Identifier: MIT
 *
 * Children: see process.h. A child that ends without a program has never been a process: its number
 * and status are kept here until they are asked for. Each call to the process server takes a
 * channel that no other thread uses, so one that waits for a child keeps no other from going on.
 */
#include <context.h>
#include <base/str.h>
#include <servers/proc/client.h>
#include <user/personality/cwd.h>
#include <user/personality/inherit.h>
#include <user/personality/lock.h>
#include <user/personality/process.h>
#include <user/personality/signal.h>
#include <user/personality/usage.h>

#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000
#define WNOHANG 1
#define WAIT_OPTIONS 0xe000000bu	/* that Linux knows */
#define WUNTRACED 2
#define WSTOPPED 2
#define WEXITED 4
#define WCONTINUED 8
#define WNOWAIT 0x1000000
#define WAITID_OPTIONS 0xe100000fu
#define P_ALL 0
#define P_PID 1
#define P_PGID 2
/* and up: of children without a program; itself: of one that may still get one */
#define PID_BORROWED 0x40000000
#define PIDS_BORROWED 0x3ffffffe

#define CHANNELS 4
#define UNBORN_MAX 16

/* Where the parent goes on, and what its child gets. One page, for each thread that needs it. */
struct borrowed {
	struct context parent;
	uint64_t mask;			/* the parent's */
	uint64_t ignored;		/* by the child */
	int32_t group;			/* of its program: struct process_spawn */
	uint32_t is_front;		/* it comes to the foreground */
	char cwd[FILE_PATH_MAX];
	struct inherit inherit;
};

_Static_assert(sizeof(struct inherit) <= PROCESS_INHERIT_MAX, "what a child inherits");

static struct {
	struct lock begin;		/* of several ranks the first one takes what is inherited */
	struct lock lock;
	struct {
		struct channel channel;
		bool is_open;
		bool is_taken;
	} line[CHANNELS];
	/* how often one was given back, on which threads sleep that need one, and their number */
	uint32_t given_back, sleepers;
	/* children that have ended without a program */
	struct {
		int32_t pid;			/* 0: none */
		int32_t status;
	} unborn[UNBORN_MAX];
	uint32_t unborn_made;
} processes;

/* --- channels to the process server --- */

/* One that nobody uses, rather one that is open. -E_AGAIN: there is none. */
static int
line_find(void)
{
	int found = -E_AGAIN;

	for (int i = 0; i < CHANNELS; i++)
		if (!processes.line[i].is_taken && (found < 0 || processes.line[i].is_open))
			found = i;
	if (found >= 0)
		processes.line[found].is_taken = true;
	return found;
}

/* The same; `waits`: sleep until there is one. */
static int
line_take(bool waits)
{
	int found;

	lock_take(&processes.lock);
	for (found = line_find(); found < 0 && waits; found = line_find()) {
		uint32_t seen = processes.given_back;

		processes.sleepers++;
		lock_give(&processes.lock);
		kfutex_wait((unsigned long)&processes.given_back, seen, FOREVER);
		lock_take(&processes.lock);
		processes.sleepers--;
	}
	lock_give(&processes.lock);
	return found;
}

void
process_line_back(int line)
{
	uint32_t sleepers;

	lock_take(&processes.lock);
	processes.line[line].is_taken = false;
	__atomic_store_n(&processes.given_back, processes.given_back + 1, __ATOMIC_RELAXED);
	sleepers = processes.sleepers;
	lock_give(&processes.lock);
	if (sleepers > 0)
		kfutex_wake((unsigned long)&processes.given_back, 1);
}

/* The channel that was taken, opened; NULL and an error. */
static struct channel *
line_open(int taken, int *line)
{
	struct cluster_info here;
	int result;

	*line = taken;
	if (taken < 0)
		return NULL;
	if (processes.line[taken].is_open)
		return &processes.line[taken].channel;
	kcluster_info(&here);
	result = process_open(&processes.line[taken].channel, (int)here.cluster, PERSONALITY_BIT);
	processes.line[taken].is_open = result == 0;
	/* signals do not end waits for an answer */
	processes.line[taken].channel.bits |= 1u << PERSONALITY_SIGNAL_BIT;
	if (result == 0)
		return &processes.line[taken].channel;
	process_line_back(taken);
	*line = result;
	return NULL;
}

struct channel *
process_line(int *line)
{
	struct channel *ch = line_open(line_take(false), line);

	if (ch == NULL && *line == -E_NOSPC)
		*line = -E_AGAIN;
	return ch;
}

/* --- a child before it has a program --- */

long
process_vfork(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);
	struct borrowed *b;
	struct context child;
	uint64_t addr;
	long result;

	if ((arg(c, 0) & CLONE_VM) == 0 || (arg(c, 0) & CLONE_VFORK) == 0 || r->borrowed != 0)
		return -E_NOSYS;
	result = kmem_alloc(SELF, sizeof(*b), PAGE_READ | PAGE_WRITE, &addr);
	if (result < 0)
		return result;
	b = (struct borrowed *)addr;
	result = kcontext_get((unsigned long)&b->parent);
	if (result >= 0)
		result = files_lend(r->rank, thread_child_rank(r));
	if (result < 0) {
		kpage_unmap(SELF, addr, 1);
		return result;
	}
	files_lock();
	str_copy(b->cwd, sizeof(b->cwd), cwd_get(c));
	files_unlock();
	if (kept.action[SIGCHLD - 1].handler != SIG_DFL || signals_drop_children())
		signals_want(c, 0);
	r->borrowed = addr;
	b->mask = r->mask;
	b->ignored = signals_ignored();
	b->group = 0;
	b->is_front = 0;
	memcpy(&child, &b->parent, sizeof(child));
	child.x[10] = 0;
	if (arg(c, 1) != 0)
		child.x[2] = arg(c, 1);
	for (;;)
		kcontext_set(&child);
}

char *
process_borrowed_cwd(const struct thread_record *r)
{
	return ((struct borrowed *)r->borrowed)->cwd;
}

/* The parent goes on, with the child's number. */
static _Noreturn void
go_on(struct thread_record *r, long pid)
{
	const struct borrowed *b = (const struct borrowed *)r->borrowed;
	struct context parent;

	files_close_rank(thread_child_rank(r));
	memcpy(&parent, &b->parent, sizeof(parent));
	r->mask = b->mask;
	kpage_unmap(SELF, r->borrowed, 1);
	r->borrowed = 0;
	/* what came meanwhile stops it when it goes on */
	if ((signals_pending(r) & ~r->mask) != 0)
		kthread_wakeup(r->tid, 1u << PERSONALITY_SIGNAL_BIT);
	parent.x[10] = (unsigned long)pid;
	for (;;)
		kcontext_set(&parent);
}

static long
note_unborn(int status)
{
	long pid = -E_AGAIN;

	lock_take(&processes.lock);
	for (int i = 0; i < UNBORN_MAX && pid < 0; i++)
		if (processes.unborn[i].pid == 0) {
			pid = PID_BORROWED + 1 + (int32_t)(processes.unborn_made++ % PIDS_BORROWED);
			processes.unborn[i].pid = (int32_t)pid;
			processes.unborn[i].status = status;
		}
	lock_give(&processes.lock);
	return pid;
}

void
process_exit_borrowed(const struct handler_event *c, int status)
{
	struct thread_record *r = thread_record(c);
	struct signal_note note = {.code = CLD_EXITED, .status = status & 255};
	long pid;

	if (r->borrowed == 0)
		return;
	pid = note_unborn(status & 255);
	note.pid = (int32_t)pid;
	signal_pend(c, SIGCHLD, &note);
	go_on(r, pid);
}

long
process_borrowed_action(const struct handler_event *c, int sig, const uint64_t *to, uint64_t *old)
{
	struct borrowed *b = (struct borrowed *)thread_record(c)->borrowed;

	if (old != NULL) {
		old[0] = (b->ignored & SIGNAL_OF(sig)) != 0 ? SIG_IGN : SIG_DFL;
		old[1] = old[2] = 0;
	}
	if (to != NULL)
		b->ignored &= ~SIGNAL_OF(sig);
	if (to != NULL && to[0] == SIG_IGN)
		b->ignored |= SIGNAL_OF(sig);
	return 0;
}

bool
process_borrowed_group(const struct handler_event *c, long pid, long group)
{
	struct borrowed *b = (struct borrowed *)thread_record(c)->borrowed;

	if (b == NULL || (pid != 0 && pid != PID_BORROWED))
		return false;
	b->group = group == 0 || group == PID_BORROWED ? PROCESS_OWN_GROUP : (int32_t)group;
	return true;
}

bool
process_borrowed_front(const struct handler_event *c, long group)
{
	struct borrowed *b = (struct borrowed *)thread_record(c)->borrowed;

	if (b == NULL || group != PID_BORROWED)
		return false;
	b->is_front = 1;
	return true;
}

uint64_t
process_ignored(const struct thread_record *r)
{
	return r->borrowed != 0 ? ((const struct borrowed *)r->borrowed)->ignored :
		signals_ignored();
}

const char *
process_path(const struct handler_event *c, const char *path, char *to, size_t room)
{
	int result;

	if (str_is_equal(path, OWN_PROGRAM))
		return (const char *)personality_info.program;
	files_lock();
	result = cwd_path(c, path, to, room);
	files_unlock();
	if (result < 0)
		return NULL;
	cwd_make_plain(to);
	return to[0] == '/' ? to + 1 : to;
}

/* Ask for the program, which gets what is open; it answers when it has that. Pid or an error. */
static long
start_program(const struct handler_event *c, const struct process_spawn *asked, struct inherit *b,
	uint32_t flags)
{
	struct process_spawn what = *asked;
	char path[FILE_PATH_MAX];
	struct channel *ch;
	int line;
	long pid;

	what.inherit = b;
	what.flags |= flags;
	what.most = limits_processes(c);
	what.path = process_path(c, what.path, path, sizeof(path));
	pid = what.path == NULL ? -FILE_ENAMETOOLONG : inherit_offer(c, b, INHERIT_PROGRAM);
	if (pid < 0)
		return pid;
	what.told = b->ignored | b->mask | (b->stops ? SIGNALS_OF_JOBS : 0);
	if (thread_record(c)->borrowed != 0) {
		const struct borrowed *child = (const struct borrowed *)thread_record(c)->borrowed;

		what.group = child->group;
		what.flags |= child->is_front ? PROCESS_FRONT : 0;
	}
	if ((flags & PROCESS_REPLACE) != 0) {
		usage_put(b);
		signals_put(c, b);
	}
	if (b->entries > 0 || b->cwd_bytes > 0 || b->umask_changed != 0 || what.told != 0 ||
		b->used != 0 || b->used_children != 0 || b->limits_changed != 0 ||
		b->timer_bytes != 0 || b->pending != 0) {
		what.inherit_bytes = inherit_bytes(b);
		what.flags |= PROCESS_AWAIT;
	}
	ch = process_line(&line);
	pid = ch == NULL ? line : program_spawn(c, asked->path, ch, &what);
	if (ch != NULL)
		process_line_back(line);
	if (pid < 0)
		inherit_withdraw(b->token);
	return pid;
}

static long
execute(const struct handler_event *c, const struct process_spawn *what)
{
	struct thread_record *r = thread_record(c);
	uint64_t own;
	long pid;

	if (r->borrowed != 0) {
		pid = start_program(c, what, &((struct borrowed *)r->borrowed)->inherit, 0);
		if (pid > 0)
			go_on(r, pid);
		return pid;
	}
	pid = kmem_alloc(SELF, sizeof(struct inherit), PAGE_READ | PAGE_WRITE, &own);
	if (pid >= 0) {
		pid = start_program(c, what, (struct inherit *)own, PROCESS_REPLACE);
		/* another program has its place: its end may come behind the answer */
		while (pid > 0)
			kthread_sleep(WAKE_ANY, FOREVER);
		kpage_unmap(SELF, own, 1);
	}
	return pid;
}

long
process_execve(const struct handler_event *c)
{
	return execute(c, &(struct process_spawn){.path = (const char *)arg(c, 0),
		.args = (char *const *)arg(c, 1), .envs = (char *const *)arg(c, 2)});
}

long
process_execac(const struct handler_event *c)
{
	int32_t core = (int32_t)arg(c, 0);

	return execute(c, &(struct process_spawn){.path = (const char *)arg(c, 1),
		.args = (char *const *)arg(c, 2), .envs = (char *const *)arg(c, 3),
		.core = core < 0 ? PROCESS_CORE_AC : core, .flags = PROCESS_PREPAGED});
}

void
process_begin(const struct handler_event *c)
{
	if (__atomic_load_n(&personality_info.inherit_bytes, __ATOMIC_ACQUIRE) == 0)
		return;
	lock_take(&processes.begin);
	if (personality_info.inherit_bytes != 0) {
		const struct inherit *b = inherit_carried();

		if (b != NULL) {
			inherit_claim(c, b);
			personality_info.stops = b->stops;
			signals_begin_with(c, b->mask, b->ignored);
		}
		__atomic_store_n(&personality_info.inherit_bytes, 0, __ATOMIC_RELEASE);
		process_ready();
	}
	lock_give(&processes.begin);
}

/* --- ends --- */

/* The signal that ends a process so on Linux. */
static int
ended_by(const struct proc_status *s)
{
	switch (s->cause) {
	case CRASH_ACCESS: return 11;
	case CRASH_ILLEGAL: return 4;
	case CRASH_ALIGN: return 7;
	case CRASH_BREAK: return 5;
	case CRASH_ARITH: return 8;
	case CRASH_ABORT: return 6;
	default: return s->status > 0 && s->status <= PROCESS_SIGNALS ? s->status : SIGKILL;
	}
}

static int
wait_status(const struct proc_status *s)
{
	switch (s->cause) {
	case CRASH_NONE: return (s->status & 255) << 8;
	case PROCESS_HAS_STOPPED: return s->status << 8 | 0x7f;
	case PROCESS_HAS_CONTINUED: return 0xffff;
	default: return ended_by(s);
	}
}

int
process_end_code(const struct proc_status *s)
{
	switch (s->cause) {
	case CRASH_NONE: return CLD_EXITED;
	case PROCESS_HAS_STOPPED: return CLD_STOPPED;
	case PROCESS_HAS_CONTINUED: return CLD_CONTINUED;
	default: return CLD_KILLED;
	}
}

int
process_end_number(const struct proc_status *s)
{
	return s->cause == CRASH_NONE ? s->status & 255 : s->cause == PROCESS_HAS_CONTINUED ?
		SIGCONT : ended_by(s);
}

static long
take_unborn(long pid, uint32_t flags, struct proc_status *end)
{
	long found = 0;

	lock_take(&processes.lock);
	for (int i = 0; i < UNBORN_MAX && found == 0 && (flags & PROCESS_NOT_ENDED) == 0; i++)
		if (processes.unborn[i].pid != 0 && (pid <= 0 || processes.unborn[i].pid == pid)) {
			found = processes.unborn[i].pid;
			*end = (struct proc_status){.status = processes.unborn[i].status};
			if ((flags & PROCESS_STAYS) == 0)
				processes.unborn[i].pid = 0;
		}
	lock_give(&processes.lock);
	return found;
}

/*
 * -E_AGAIN: none has ended yet, or all channels are in use, which `waits` waits for. -E_NOMEM:
 * there is no room for a channel to ask for it.
 */
static long
take_end(long pid, uint32_t flags, bool waits, struct proc_status *end)
{
	struct channel *ch;
	long result;
	int line;

	ch = line_open(line_take(waits), &line);
	if (ch == NULL)
		return line == -E_NOSPC ? -E_NOMEM : line;
	result = process_wait(ch, (int)pid, flags, end);
	process_line_back(line);
	if (result > 0 && (flags & PROCESS_STAYS) == 0)
		usage_add_child(end->used);
	return result;
}

void
process_drop_child(int32_t pid)
{
	struct proc_status end;

	take_end(pid, PROCESS_NO_WAIT, true, &end);
}

/*
 * Who counts the ends of children looks for them, and sleeps in between: a signal ends that. Else
 * nothing interrupts a wait, and the server is asked to answer later. Of who does not want to know
 * of ends the children are gone when they are found.
 */
static long
await_end(const struct handler_event *c, long pid, uint32_t flags, struct proc_status *end)
{
	uint32_t *count = signals_children(), seen;
	long found, waited = 0;

	for (;;) {
		seen = count != NULL ? __atomic_load_n(count, __ATOMIC_ACQUIRE) : 0;
		found = take_unborn(pid, flags, end);
		if (found == 0)
			found = take_end(pid, flags | (count != NULL ? PROCESS_NO_WAIT : 0),
				(flags & PROCESS_NO_WAIT) == 0, end);
		if (found > 0 && end->cause < PROCESS_HAS_STOPPED && signals_drop_children())
			continue;
		if (found != -E_AGAIN || (flags & PROCESS_NO_WAIT) != 0 || count == NULL)
			return found;
		/* SIGCHLD does not interrupt who finds the child */
		if (waited == -E_INTR)
			return -CALL_RESTART;
		waited = signal_futex_wait(c, (unsigned long)count, seen, FOREVER);
	}
}

static uint32_t
wait_flags(unsigned long options)
{
	return (options & WNOHANG ? PROCESS_NO_WAIT : 0) |
		(options & WUNTRACED ? PROCESS_UNTRACED : 0) |
		(options & WCONTINUED ? PROCESS_CONTINUED : 0) |
		(options & WNOWAIT ? PROCESS_STAYS : 0);
}

long
process_wait4(const struct handler_event *c)
{
	uint32_t flags = wait_flags(arg(c, 2) & ~(unsigned long)WNOWAIT);
	struct proc_status end = {0};
	int *to = (int *)arg(c, 1);
	long found = ((uint32_t)arg(c, 2) & ~WAIT_OPTIONS) != 0 ? -E_INVAL :
		await_end(c, (int32_t)arg(c, 0), flags, &end);

	if (found == -E_AGAIN && (flags & PROCESS_NO_WAIT) != 0)
		return 0;
	if (found > 0 && to != NULL)
		*to = wait_status(&end);
	if (found > 0 && arg(c, 3) != 0)
		usage_fill((void *)arg(c, 3), end.used);
	return found;
}

/* Whom waitid means, as wait4 says it; -E_INVAL as *result. */
static long
whom(unsigned long which, int32_t id, long *result)
{
	*result = 0;
	if (which == P_ALL)
		return PROCESS_ANY;
	if (which == P_PGID && id >= 0)
		return -(long)id;
	if (which != P_PID || id <= 0)
		*result = -E_INVAL;
	return id;
}

long
process_waitid(const struct handler_event *c)
{
	uint32_t options = (uint32_t)arg(c, 3);
	struct proc_status end = {0};
	struct signal_note note = {0};
	long found, pid = whom(arg(c, 0), (int32_t)arg(c, 1), &found);

	if ((options & ~WAITID_OPTIONS) != 0 || (options & (WSTOPPED | WEXITED | WCONTINUED)) == 0)
		return -E_INVAL;
	if (found == 0)
		found = await_end(c, pid, wait_flags(options) |
			(options & WEXITED ? 0 : PROCESS_NOT_ENDED), &end);
	if (found < 0 && (found != -E_AGAIN || (options & WNOHANG) == 0))
		return found;
	if (found > 0) {
		note = (struct signal_note){.code = process_end_code(&end), .pid = (int32_t)found,
			.status = process_end_number(&end)};
		if (arg(c, 4) != 0)
			usage_fill((void *)arg(c, 4), end.used);
	}
	if (arg(c, 2) != 0)
		signal_info_fill((int32_t *)arg(c, 2), found > 0 ? SIGCHLD : 0, &note);
	return 0;
}

/* --- signals to others --- */

struct sending {
	long pid;
	int sig;
	uint32_t flags;
	uint64_t value;
};

static int
send_signal(struct channel *ch, struct sending s)
{
	return (s.flags & PROCESS_QUEUED) != 0 ? process_queue(ch, (int)s.pid, s.sig, s.value) :
		process_kill(ch, (int)s.pid, s.sig, s.flags);
}

/* To processes of another cluster, by a channel that is there for this alone. */
static __attribute__((noinline)) long
kill_far(int cluster, struct sending s)
{
	struct channel ch;
	long result = process_open(&ch, cluster, PERSONALITY_BIT);

	if (result != 0)
		return result == -E_NOSPC ? -E_AGAIN : -E_SRCH;
	ch.bits |= 1u << PERSONALITY_SIGNAL_BIT;
	result = send_signal(&ch, s);
	channel_end(&ch);
	return result;
}

static long
kill_near(struct sending s)
{
	int line;
	struct channel *ch = process_line(&line);
	long result = line;

	if (ch == NULL)
		return result;
	result = send_signal(ch, s);
	process_line_back(line);
	return result;
}

/* Groups are of one cluster; -1 is everybody in all of them. */
static long
send_to(struct sending s)
{
	struct cluster_info here;
	long result, far;
	int own;

	kcluster_info(&here);
	own = (int)here.cluster;
	if (s.pid > 0 && process_cluster_of((int32_t)s.pid, here.clusters) != own)
		result = kill_far(process_cluster_of((int32_t)s.pid, here.clusters), s);
	else
		result = kill_near(s);
	for (int i = 0; s.pid == -1 && i < (int)here.clusters; i++) {
		far = i == own ? -E_SRCH : kill_far(i, s);
		result = result == -E_SRCH ? far : result;
	}
	return result == -E_ACCES ? -E_PERM : result;
}

long
process_kill_call(long pid, int sig, uint32_t flags)
{
	return send_to((struct sending){pid, sig, flags, 0});
}

long
process_queue_call(int32_t pid, int sig, uint64_t value)
{
	return send_to((struct sending){pid, sig, PROCESS_QUEUED, value});
}

void
process_stopped_call(int sig)
{
	int line;
	struct channel *ch = process_line(&line);

	if (ch == NULL)
		return;
	process_stopped(ch, sig);
	process_line_back(line);
}

/* A child that has no program yet is another process than its parent, but has no number. */
long
process_number(const struct handler_event *c, bool of_parent)
{
	if (thread_record(c)->borrowed != 0)
		return of_parent ? personality_info.pid : PID_BORROWED;
	return of_parent ? personality_info.parent : personality_info.pid;
}
