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

#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000
#define WNOHANG 1
#define WAIT_OPTIONS 0xe000000bu	/* that Linux knows */
#define SIGKILL 9
#define SIGNALS 65
/* and up: of children without a program; itself: of one that may still get one */
#define PID_BORROWED 0x40000000
#define PIDS_BORROWED 0x3ffffffe

#define CHANNELS 4
#define UNBORN_MAX 16

/* Where the parent goes on, and what its child gets. One page, for each thread that needs it. */
struct borrowed {
	struct context parent;
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
	/* children that have ended without a program */
	struct {
		int32_t pid;			/* 0: none */
		int32_t status;
	} unborn[UNBORN_MAX];
	uint32_t unborn_made;
} processes;

/* --- channels to the process server --- */

static int
line_find(void)
{
	int found = -E_AGAIN;

	lock_take(&processes.lock);
	for (int i = 0; i < CHANNELS; i++)
		if (!processes.line[i].is_taken && (found < 0 || processes.line[i].is_open))
			found = i;
	if (found >= 0)
		processes.line[found].is_taken = true;
	lock_give(&processes.lock);
	return found;
}

void
process_line_back(int line)
{
	lock_take(&processes.lock);
	processes.line[line].is_taken = false;
	lock_give(&processes.lock);
}

struct channel *
process_line(int *line)
{
	struct cluster_info here;
	int i = line_find(), result;

	*line = i;
	if (i < 0)
		return NULL;
	if (processes.line[i].is_open)
		return &processes.line[i].channel;
	kcluster_info(&here);
	result = process_open(&processes.line[i].channel, (int)here.cluster, PERSONALITY_BIT);
	processes.line[i].is_open = result == 0;
	if (result == 0)
		return &processes.line[i].channel;
	process_line_back(i);
	*line = result == -E_NOSPC ? -E_AGAIN : result;
	return NULL;
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
	r->borrowed = addr;
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
	struct context parent;

	files_close_rank(thread_child_rank(r));
	memcpy(&parent, &((struct borrowed *)r->borrowed)->parent, sizeof(parent));
	kpage_unmap(SELF, r->borrowed, 1);
	r->borrowed = 0;
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

	if (r->borrowed != 0)
		go_on(r, note_unborn(status & 255));
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
start_program(const struct handler_event *c, struct inherit *b, uint32_t flags)
{
	struct process_spawn what = {.path = (const char *)arg(c, 0), .inherit = b,
		.args = (char *const *)arg(c, 1), .envs = (char *const *)arg(c, 2),
		.flags = flags};
	char path[FILE_PATH_MAX];
	struct channel *ch;
	int line;
	long pid;

	what.path = process_path(c, what.path, path, sizeof(path));
	pid = what.path == NULL ? -FILE_ENAMETOOLONG : inherit_offer(c, b, INHERIT_PROGRAM);
	if (pid < 0)
		return pid;
	if (b->entries > 0 || b->cwd[0] != 0 || b->umask_changed != 0) {
		what.inherit_bytes = inherit_bytes(b);
		what.flags |= PROCESS_AWAIT;
	}
	ch = process_line(&line);
	pid = ch == NULL ? line : program_spawn(c, ch, &what);
	if (ch != NULL)
		process_line_back(line);
	if (pid < 0)
		inherit_withdraw(b);
	return pid;
}

long
process_execve(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);
	uint64_t own;
	long pid;

	if (r->borrowed != 0) {
		pid = start_program(c, &((struct borrowed *)r->borrowed)->inherit, 0);
		if (pid > 0)
			go_on(r, pid);
		return pid;
	}
	pid = kmem_alloc(SELF, sizeof(struct inherit), PAGE_READ | PAGE_WRITE, &own);
	if (pid >= 0) {
		pid = start_program(c, (struct inherit *)own, PROCESS_REPLACE);
		kpage_unmap(SELF, own, 1);
	}
	return pid;
}

void
process_begin(const struct handler_event *c)
{
	if (__atomic_load_n(&personality_info.inherit_bytes, __ATOMIC_ACQUIRE) == 0)
		return;
	lock_take(&processes.begin);
	if (personality_info.inherit_bytes != 0) {
		const struct inherit *b = inherit_carried();

		if (b != NULL)
			inherit_claim(c, b);
		__atomic_store_n(&personality_info.inherit_bytes, 0, __ATOMIC_RELEASE);
		process_ready();
	}
	lock_give(&processes.begin);
}

/* --- ends --- */

/* The signal that ends a process so on Linux. */
static int
signal_of(const struct proc_status *s)
{
	switch (s->cause) {
	case CRASH_ACCESS: return 11;
	case CRASH_ILLEGAL: return 4;
	case CRASH_ALIGN: return 7;
	case CRASH_BREAK: return 5;
	case CRASH_ARITH: return 8;
	case CRASH_ABORT: return 6;
	default: return s->status > 0 && s->status < SIGNALS ? s->status : SIGKILL;
	}
}

static int
wait_status(const struct proc_status *s)
{
	return s->cause == CRASH_NONE ? (s->status & 255) << 8 : signal_of(s);
}

static long
take_unborn(long pid, int *status)
{
	long found = 0;

	lock_take(&processes.lock);
	for (int i = 0; i < UNBORN_MAX && found == 0; i++)
		if (processes.unborn[i].pid != 0 && (pid <= 0 || processes.unborn[i].pid == pid)) {
			found = processes.unborn[i].pid;
			*status = processes.unborn[i].status << 8;
			processes.unborn[i].pid = 0;
		}
	lock_give(&processes.lock);
	return found;
}

long
process_await_end(void)
{
	struct proc_status end;
	struct channel *ch;
	long result = 0;
	int line;

	lock_take(&processes.lock);
	for (int i = 0; i < UNBORN_MAX && result == 0; i++)
		result = processes.unborn[i].pid;
	lock_give(&processes.lock);
	if (result != 0)
		return result;
	ch = process_line(&line);
	if (ch == NULL)
		return line;
	result = process_wait(ch, PROCESS_ANY, PROCESS_KEEP, &end);
	process_line_back(line);
	return result;
}

static long
take_end(long pid, uint32_t flags, int *status)
{
	struct proc_status end;
	struct channel *ch;
	long result;
	int line;

	ch = process_line(&line);
	if (ch == NULL)
		return line;
	result = process_wait(ch, pid > 0 ? (int)pid : PROCESS_ANY, flags, &end);
	process_line_back(line);
	if (result > 0)
		*status = wait_status(&end);
	return result;
}

long
process_wait4(const struct handler_event *c)
{
	long pid = (int32_t)arg(c, 0), found;
	int *to = (int *)arg(c, 1), status = 0;
	uint32_t flags = arg(c, 2) & WNOHANG ? PROCESS_NO_WAIT : 0;

	if (((uint32_t)arg(c, 2) & ~WAIT_OPTIONS) != 0)
		return -E_INVAL;
	found = take_unborn(pid, &status);
	if (found == 0)
		found = take_end(pid, flags, &status);
	if (found == -E_AGAIN && flags != 0)
		return 0;
	if (found > 0 && to != NULL)
		*to = status;
	if (found > 0 && arg(c, 3) != 0)
		memset((void *)arg(c, 3), 0, RUSAGE_BYTES);
	return found;
}

/* --- signals to others --- */

long
process_kill_call(long pid, unsigned long sig)
{
	struct process_reply r;
	struct channel *ch;
	long result;
	int line;

	ch = process_line(&line);
	if (ch == NULL)
		return line;
	if (sig == 0)
		result = process_list(ch, (int)pid - 1, &r, NULL) == pid ? 0 : -E_SRCH;
	else
		result = process_kill(ch, (int)pid, (int)sig);
	process_line_back(line);
	return result == -E_ACCES ? -E_PERM : result;
}

/* A child that has no program yet is another process than its parent, but has no number. */
long
process_number(const struct handler_event *c, bool of_parent)
{
	if (thread_record(c)->borrowed != 0)
		return of_parent ? personality_info.pid : PID_BORROWED;
	return of_parent ? personality_info.parent : personality_info.pid;
}
