/* SPDX-License-Identifier: MIT
 *
 * fork. The process server makes a process that has nothing (process_fork_ask); the parent's thread
 * maps there what the program has mapped, at the same addresses, and the server lets it begin.
 * Program, personality and stack are copied when somebody writes to them; what is MAP_SHARED is the
 * same frames. The personality's own data a child has anew, but for `kept`: its locks are free, and
 * its channels are its own.
 *
 * The child's first thread begins in fork_first with the floating-point registers of its parent's,
 * and its first call is SYS_fork_begin, by which it takes the descriptors and goes on where the
 * parent called.
 */
#include <context.h>
#include <stddef.h>
#include <abi/startup.h>
#include <atoll/execac.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/client.h>
#include <user/personality/inherit.h>
#include <user/personality/line.h>
#include <user/personality/process.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define CLONE_PARENT_SETTID 0x100000
#define CLONE_CHILD_CLEARTID 0x200000
#define CLONE_CHILD_SETTID 0x1000000
#define CLONE_SIGNAL 0xff
#define KILLED 9
#define SPARE_PAGES 20		/* four are the tables of the child */

/* Registers that a function leaves as they were; the handler uses none. */
struct floats {
	uint64_t f[12];
	uint64_t fcsr;
};

/* What the child goes on with; written by its parent. */
static struct birth {
	struct floats floats;		/* first: fork_first takes its address for theirs */
	struct context context;
	uint64_t clear_tid;
	uint64_t set_tid;
	uint64_t mask;
	int32_t rank;
	bool is_prepaged;
	struct inherit inherit;
} birth;

_Static_assert(offsetof(struct birth, floats) == 0, "fork_first");

/* What is being made. */
struct making {
	struct channel *server;
	int pid;
	int proc;			/* handle; -1: none yet */
	uint64_t rfork;			/* RF* that hold for it */
	/* its first stack, its data, its job_control, as mapped here; 0: nowhere */
	uint64_t view;
	uint64_t control_bytes;
	struct birth *birth;		/* the child's */
	uint64_t token[FILE_SERVERS];	/* of what is open, while the child has not begun */
};

void fork_first(void) __attribute__((visibility("hidden")));

/* A child's first code; a0: its registers. */
__asm__(".pushsection .text.fork_first, \"ax\"\n"
	"	.hidden fork_first\n"
	"	.globl fork_first\n"
	"fork_first:\n"
	"	fld fs0, 0(a0)\n	fld fs1, 8(a0)\n	fld fs2, 16(a0)\n"
	"	fld fs3, 24(a0)\n	fld fs4, 32(a0)\n	fld fs5, 40(a0)\n"
	"	fld fs6, 48(a0)\n	fld fs7, 56(a0)\n	fld fs8, 64(a0)\n"
	"	fld fs9, 72(a0)\n	fld fs10, 80(a0)\n	fld fs11, 88(a0)\n"
	"	ld t0, 96(a0)\n"
	"	fscsr t0\n"
	"	li a7, 4094\n"
	"	ecall\n"
	"	.popsection");

_Static_assert(SYS_fork_begin == 4094 && offsetof(struct floats, fcsr) == 96, "fork_first");

static void
floats_get(struct floats *s)
{
	__asm__ volatile("fsd fs0, 0(%0)\n	fsd fs1, 8(%0)\n	fsd fs2, 16(%0)\n"
		"	fsd fs3, 24(%0)\n	fsd fs4, 32(%0)\n	fsd fs5, 40(%0)\n"
		"	fsd fs6, 48(%0)\n	fsd fs7, 56(%0)\n	fsd fs8, 64(%0)\n"
		"	fsd fs9, 72(%0)\n	fsd fs10, 80(%0)\n	fsd fs11, 88(%0)\n"
		"	frcsr t0\n	sd t0, 96(%0)\n" : : "r"(s) : "t0", "memory");
}

/* --- the parent --- */

static int
pages(uint64_t bytes)
{
	return (int)(bytes / personality_info.page_bytes);
}

/* Where the child's copy of something in the data lies here. */
static void *
childs(const struct making *m, const void *own)
{
	return (void *)(m->view + PERSONALITY_STACK_BYTES + (uint64_t)own - personality_info.data);
}

static uint64_t
view_bytes(const struct making *m)
{
	return PERSONALITY_STACK_BYTES + personality_info.data_bytes + m->control_bytes;
}

/* Bytes of the control block, of which the program's path is the last thing. */
static uint64_t
control_used(void)
{
	const char *path = (const char *)personality_info.program;

	return (uint64_t)path + str_len(path) + 1 - personality_info.control;
}

/* Memory for what the child has anew, mapped here. */
static long
make_view(struct making *m)
{
	uint64_t page = personality_info.page_bytes, at = 0;
	long result;

	m->control_bytes = (control_used() + page - 1) / page * page;
	result = kmem_alloc(SELF, view_bytes(m), PAGE_READ | PAGE_WRITE, &at);
	m->view = at;
	return result;
}

/*
 * A job of one rank of its own: what its parent has said of its end is not the child's, nor is
 * that memory, in which the process server looks.
 */
static void
fill_control(const struct making *m)
{
	struct job_control *j = (struct job_control *)(m->view + view_bytes(m) - m->control_bytes);
	const struct startup *s = (const struct startup *)only_rank()->startup;
	const struct placement place = {.cluster = (uint16_t)s->cluster};

	memcpy(j, (const void *)personality_info.control, control_used());
	j->ended = j->status = j->broken = 0;
	j->rank[0].status = 0;
	j->rank[0].held = 0;
	memcpy((char *)j + (s->placement - personality_info.control), &place, sizeof(place));
}

/* The data that the child begins with. */
static long
fill_view(const struct making *m, const struct handler_event *c)
{
	struct personality_info *info = childs(m, &personality_info);
	unsigned long flags = arg(c, 0);
	struct birth *b = m->birth;
	long result = kcontext_get((unsigned long)&b->context);

	memcpy(info, &personality_info, sizeof(*info));
	info->stacks = 1;
	info->parent = personality_info.pid;
	info->inherit = info->inherit_bytes = 0;
	info->is_child = 1;
	floats_get(&b->floats);
	context_set_result(&b->context, 0);
	if (arg(c, 1) != 0)
		b->context.x[2] = arg(c, 1);
	b->clear_tid = (flags & CLONE_CHILD_CLEARTID) != 0 ? arg(c, 4) : 0;
	b->set_tid = (flags & CLONE_CHILD_SETTID) != 0 ? arg(c, 4) : 0;
	b->mask = thread_record(c)->mask;
	b->rank = thread_record(c)->rank;
	b->is_prepaged = (m->rfork & RFPREPAGE) != 0;
	fill_control(m);
	return result;
}

/* What of the personality all processes share. */
static long
map_personality(const struct making *m)
{
	const struct personality_info *p = &personality_info;
	long result = kpage_copy(m->proc, p->image, (int)p->text_pages, p->image);

	if (result >= 0)
		result = kpage_link(m->proc, m->view, pages(PERSONALITY_STACK_BYTES),
			p->stack_top - PERSONALITY_STACK_BYTES);
	if (result >= 0)	/* the control block lies behind the data, which end the image */
		result = kpage_link(m->proc, m->view + PERSONALITY_STACK_BYTES,
			pages(p->data_bytes + m->control_bytes), p->data);
	if (result >= 0)
		result = kproc_handler(m->proc, HANDLE_CALLS | HANDLE_UPCALLS,
			(unsigned long)_start, (unsigned long)p->stack_top,
			PERSONALITY_STACK_BYTES);
	return result < 0 ? result : reach_begin(m->proc);
}

static long
map_program(const struct making *m)
{
	const struct space *s = &kept.space;
	long result = 0;

	for (uint32_t i = 0; i < s->count && result >= 0; i++) {
		struct space_area a = s->area[i];
		uint64_t at = (uint64_t)a.first * personality_info.page_bytes;

		result = a.is_shared ? kpage_link(m->proc, at, (int)(a.end - a.first), at) :
			kpage_copy(m->proc, at, (int)(a.end - a.first), at);
	}
	return result;
}

/* Signals of which the child is told; SIGCHLD it hears of when it has children. */
static uint64_t
kept_signals(void)
{
	uint64_t told = 0;

	for (int sig = 1; sig <= PROCESS_SIGNALS && kept.acted != 0; sig++)
		if (kept.action[sig - 1].handler != SIG_DFL && sig != SIGCHLD)
			told |= SIGNAL_OF(sig);
	return (told & ~SIGNALS_OF_FAULTS) | (personality_info.stops ? SIGNALS_OF_JOBS : 0);
}

static int32_t
core_of(uint64_t rfork)
{
	return (rfork & RFCORE) != 0 ? PROCESS_CORE_AC : (rfork & RFCCORE) != 0 ?
		PROCESS_CORE_TC : PROCESS_CORE_ANY;
}

/* What other threads map meanwhile the child has not. */
static long
make_child(const struct making *m)
{
	long result = memory_hold();

	if (result < 0)
		return result;
	((struct personality_info *)childs(m, &personality_info))->pid = m->pid;
	memcpy(childs(m, &kept.acted), &kept.acted, offsetof(struct kept, space.area) -
		offsetof(struct kept, acted) + kept.space.count * sizeof(struct space_area));
	if (kept.acted != 0)
		memcpy(childs(m, kept.action), kept.action, sizeof(kept.action));
	result = map_personality(m);
	if (result >= 0)
		result = map_program(m);
	memory_go_on();
	return result;
}

static void
give_back(struct making *m)
{
	if (m->view != 0)
		kpage_unmap(SELF, m->view, pages(view_bytes(m)));
	if (m->proc >= 0)
		khandle_close(m->proc);
	m->view = 0;
	m->proc = -1;
}

/* The child runs, and has what is open; while it is started, what it was made with is given up. */
static long
start_child(struct making *m, const struct handler_event *c)
{
	const struct process_entry entry = {.pc = (uint64_t)fork_first, .sp = c->sp,
		.arg = (uint64_t)&birth};
	uint32_t flags = m->birth->inherit.offered > 0 ? PROCESS_AWAIT : 0;
	long result = process_start_ask(m->server, m->pid, flags, &entry);

	give_back(m);
	return result < 0 ? result : process_start_take(m->server);
}

/* There is to be no child. */
static void
end_child(const struct making *m)
{
	struct proc_status status;

	inherit_withdraw(m->token);
	if (m->pid == 0)
		return;
	process_kill(m->server, m->pid, KILLED, 0);
	process_wait(m->server, m->pid, 0, &status);
}

/*
 * Both will write soon to what they share now, and where no page is left for a copy that is a
 * fault, of the one that comes first. So a child that leaves no pages is none.
 */
static long
leave_some(void)
{
	uint64_t free = 0;

	kstats(STATS_FRAMES_FREE, &free);
	return free < SPARE_PAGES ? -E_NOMEM : 0;
}

/* What it begins with, and what is open. */
static long
prepare(struct making *m, const struct handler_event *c)
{
	long result = make_view(m);

	if (result < 0)
		return result;
	m->birth = childs(m, &birth);
	result = leave_some();
	if (result >= 0)
		result = fill_view(m, c);
	if (result >= 0)
		result = inherit_offer(c, &m->birth->inherit, INHERIT_ALL);
	if (result >= 0)
		memcpy(m->token, m->birth->inherit.token, sizeof(m->token));
	return result;
}

/* The server makes the process while that is prepared. */
static long
make_all(struct making *m, const struct handler_event *c)
{
	const struct process_spawn what = {.told = kept_signals(), .most = limits_processes(c),
		.core = core_of(m->rfork)};
	long result = process_fork_ask(m->server, &what), pid;

	if (result < 0)
		return result;
	result = prepare(m, c);
	pid = process_fork_take(m->server, &m->proc);
	m->pid = pid > 0 ? (int)pid : 0;
	if (result >= 0)
		result = pid < 0 ? pid : make_child(m);
	if (result >= 0)
		result = start_child(m, c);
	if (result < 0)
		end_child(m);
	return result;
}

static void
say_why_not(void)
{
	static uint32_t said;

	if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0)
		line_say_text("atoll: fork() fails: this process has several ranks, of which a "
			"child would be one alone\n");
}

long
fork_call(const struct handler_event *c)
{
	unsigned long known = CLONE_SIGNAL | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID |
		CLONE_PARENT_SETTID;
	struct making m = {.proc = -1, .rfork = thread_record(c)->rfork};
	int line;
	long result;

	thread_record(c)->rfork = 0;

	if (only_rank() == NULL)
		say_why_not();
	if (kept.action[SIGCHLD - 1].handler != SIG_DFL || signals_drop_children())
		signals_want(c, 0);
	if ((arg(c, 0) & ~known) != 0 || only_rank() == NULL || thread_record(c)->borrowed != 0)
		return -E_NOSYS;
	m.server = process_line(&line);
	if (m.server == NULL)
		return line;
	result = make_all(&m, c);
	process_line_back(line);
	give_back(&m);
	if (result < 0)
		return result == -E_NOSPC || result == -E_MFILE ? -E_AGAIN : result;
	if ((arg(c, 0) & CLONE_PARENT_SETTID) != 0 && reach_write(arg(c, 2), sizeof(int32_t)) == 0)
		*(int32_t *)arg(c, 2) = m.pid;
	return m.pid;
}

/*
 * What the program has mapped is there from now on, in memory that nobody else writes to. -E_NOMEM:
 * not all of it.
 */
static int
prepage(void)
{
	uint64_t page = personality_info.page_bytes, free = 1;
	int result = memory_hold();
	bool is_all = true;

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < kept.space.count; i++) {
		struct space_area a = kept.space.area[i];

		for (uint64_t at = a.first; at < a.end && !a.is_shared; at++)
			is_all &= reach_write(at * page, 1) == 0;
	}
	memory_go_on();
	/* what may only be read, or is only reserved, is no failure */
	if (!is_all)
		kstats(STATS_FRAMES_FREE, &free);
	return free == 0 ? -E_NOMEM : 0;
}

/* To where it is to run. */
static long
go_to(int32_t core)
{
	int line;
	struct channel *ch = process_line(&line);
	long result = line;

	if (ch == NULL)
		return result;
	result = process_move(ch, 0, core, 0);
	process_line_back(line);
	return result;
}

long
rfork_call(const struct handler_event *c)
{
	uint64_t flags = (uint32_t)arg(c, 0);
	struct thread_record *r = thread_record(c);
	long result = 0;

	if ((flags & ~(uint64_t)RFALL) != 0 || (flags & RFCORE && flags & RFCCORE))
		return -E_INVAL;
	if (r->borrowed != 0)
		return -E_NOSYS;
	r->rfork = (flags & RFPROC) != 0 ? flags : 0;
	if ((flags & RFPROC) != 0)
		return 0;
	if ((flags & RFPREPAGE) != 0)
		result = prepage();
	return result == 0 && core_of(flags) != PROCESS_CORE_ANY ? go_to(core_of(flags)) : result;
}

/* --- the child --- */

/* The ports and the counters of its parent are not this process's. */
static void
be_alone(struct startup *s)
{
	if (s->events == 0)
		return;		/* a job of one rank: it is alone, and its page is its parent's */
	s->events = 0;
	s->ranks = s->local_ranks = 1;
	s->rank = s->local_rank = 0;
	s->base_port = NO_PORTS;
	s->parts = 0;
}

long
fork_begin(const struct handler_event *c)
{
	struct thread_record *r = thread_record(c);

	r->rank = birth.rank;
	r->clear_tid = birth.clear_tid;
	r->mask = birth.mask;
	if (birth.set_tid != 0 && reach_write(birth.set_tid, sizeof(r->tid)) == 0)
		*(int32_t *)birth.set_tid = r->tid;
	be_alone((struct startup *)only_rank()->startup);
	if (birth.inherit.entries > 0 || birth.inherit.cwd_bytes > 0)
		inherit_claim(c, &birth.inherit);
	if (birth.inherit.offered > 0)
		process_ready();
	if (kept_signals() != 0)
		signals_want(c, kept_signals());
	if ((kept.limits_changed & 1u << RLIMIT_CPU) != 0)
		signal_time_limit(c);
	if (birth.is_prepaged)
		prepage();
	for (;;)
		kcontext_set(&birth.context);
}
