/* SPDX-License-Identifier: MIT
 *
 * How a cluster's part of a job ends: what its process's status means, what crashed and where.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <abi/startup.h>
#include <base/fmt.h>
#include <servers/proc/agent.h>
#include <servers/proc/requests.h>

#define NOW 0			/* as a deadline: ask without waiting */

/*
 * Exit status of a program that the kernel ended: 128 and the number of the signal that Linux would
 * send.
 */
static int
status_of_cause(uint32_t cause)
{
	switch (cause) {
	case CRASH_ACCESS: return 128 + 11;
	case CRASH_ILLEGAL: return 128 + 4;
	case CRASH_ALIGN: return 128 + 7;
	case CRASH_BREAK: return 128 + 5;
	case CRASH_ARITH: return 128 + 8;
	case CRASH_ABORT: return 128 + 6;
	default: return 128 + 9;
	}
}

const char *
crash_text(const struct crash_info *i)
{
	static const char *const access[] =
		{"bad address read", "bad address written", "bad address executed"};

	switch (i->cause) {
	case CRASH_ACCESS: return access[i->write < 3 ? i->write : 0];
	case CRASH_ILLEGAL: return "illegal instruction";
	case CRASH_ALIGN: return "misaligned access";
	case CRASH_BREAK: return "breakpoint";
	case CRASH_ARITH: return "arithmetic error";
	case CRASH_ABORT: return "aborted";
	default: return "killed";
	}
}

/* The local rank whose image or stack was running; -1 if neither says. */
static int
rank_of(const struct part *p, const struct crash_info *i)
{
	const struct job_control *c = (const struct job_control *)(const void *)p->control.memory;

	if (p->is_replaced)
		return -1;
	for (uint32_t r = 0; r < p->ranks; r++)
		if (i->pc >= p->rank[r].base && i->pc - p->rank[r].base < p->image->plan.span)
			return (int)r;
	for (uint32_t r = 0; r < p->ranks; r++)
		if (i->sp >= c->rank[r].stack_first && i->sp < c->rank[r].stack_limit)
			return (int)r;
	return -1;
}

/* Function and place in the program, or the bare address outside of it. */
void
crash_place(char text[CRASH_PLACE], const struct image *im, uint64_t base, uint64_t pc)
{
	uint64_t at = pc - base;
	uint64_t offset;
	const char *function;

	if (pc < base || at >= im->plan.span) {
		fmt_print(text, CRASH_PLACE, "at 0x%lx outside the program", (unsigned long)pc);
		return;
	}
	function = elf_symbol_at(&im->elf, at, &offset);
	if (function == NULL)
		fmt_print(text, CRASH_PLACE, "at 0x%lx of %s", (unsigned long)at, im->name);
	else
		fmt_print(text, CRASH_PLACE, "in %s+0x%lx (0x%lx of %s)", function,
			(unsigned long)offset, (unsigned long)at, im->name);
}

void
part_report_crash(const struct part *p, const struct cluster_info *here)
{
	struct crash_info i = {0};
	char who[32], place[CRASH_PLACE];
	int r;

	if (kcrash_info(p->proc, &i) < 0)
		return;
	r = rank_of(p, &i);
	if (r >= 0)
		fmt_print(who, sizeof(who), "rank %u", p->rank[r].rank);
	else
		fmt_print(who, sizeof(who), "a rank");
	crash_place(place, p->image, r >= 0 ? p->rank[r].base : UINT64_MAX, i.pc);
	console_print("atoll: %s crashed: %s, address 0x%lx, %s, cluster %u core %u\n", who,
		crash_text(&i), (unsigned long)i.addr, place, here->cluster, i.core);
}

void
agent_ended(struct agent *a, enum proc_end end, int status)
{
	a->say.has_ended = true;
	a->say.end = end;
	a->say.status = status;
}

/* How the part has ended, by the status of its process. What crashed is said. */
static enum proc_end
end_of(const struct agent *a, const struct proc_status *s, int *status)
{
	const struct part *p = &a->part;

	*status = s->status & 255;
	if (p->has_failed) {
		*status = 1;
		return PROC_END_NOT_STARTED;
	}
	if (s->cause == CRASH_KILLED)
		return PROC_END_KILLED;
	if (s->cause != CRASH_NONE) {
		*status = status_of_cause(s->cause);
		part_report_crash(p, &a->here);
		return PROC_END_CRASH;
	}
	if (p->is_replaced)
		return PROC_END_EXIT;
	return part_ended(p) == p->ranks ? PROC_END_EXIT : PROC_END_ABORT;
}

void
agent_reap(struct agent *a)
{
	struct part *p = &a->part;
	struct proc_status s;
	enum proc_end end;
	int status;

	if (p->proc < 0 || kproc_wait(p->proc, &s, NOW) < 0)
		return;
	s.used = 0;		/* the parent of a job has its ranks' time from nobody */
	end = end_of(a, &s, &status);
	khandle_close(p->proc);
	p->proc = -1;
	requests_end_part(&s);
	part_close(p);
	agent_ended(a, end, status);
}
