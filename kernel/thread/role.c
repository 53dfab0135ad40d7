/* SPDX-License-Identifier: MIT
 *
 * The roles of cores: see role.h. Source: seed 004 4 (core roles), 003 3.
 */
#include <base/str.h>
#include <hal/timer.h>
#include <kernel/call/kcall_core.h>
#include <kernel/mem/clear.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/move.h>
#include <kernel/thread/role.h>
#include <kernel/thread/run.h>
#include <kernel/thread/thread.h>

#define THREADS_PER_STEP 32	/* places of the table that a step looks at */
#define MOVES_PER_STEP 4
#define IDLE_ASKED 2u		/* even, and not 0 */
#define CROWDED_NS 100000000u	/* that a core is a TC at least, once it has been crowded */

_Static_assert(sizeof(((struct core_info *)NULL)->count) == CORE_COUNTS * sizeof(uint32_t) &&
	offsetof(struct core_info, shot_down) - offsetof(struct core_info, count) ==
	CORE_SHOT_DOWN * sizeof(uint32_t) &&
	offsetof(struct core_info, idle) - offsetof(struct core_info, count) ==
	CORE_IDLE * sizeof(uint32_t), "enum core_counter");

/* What the steps of core_role are about, from the second on. */
enum { ARG_AUTHORITY, ARG_CORE, ARG_ROLE, ARG_PLACE, ARG_LEFT, ARG_STAGE };
enum stage { STAGE_BEGIN, STAGE_MOVE, STAGE_SETTLE };

/* What a step returns: the next one may begin, or the core has not changed yet. */
enum { STEP_DONE = 1, STEP_WAITS };

/* --- the core itself (am_post_fn) --- */

/* Behind a message the core looks around, also where it waits in a call (kernel/am/am.c). */
static void
role_take(struct core *core, const void *data)
{
	uint32_t role;

	memcpy(&role, data, sizeof(role));
	if (core_is_shared(core))
		tick_stop(core);
	hal_store32(&core->acts, role);
	core_counts(core, CORE_ROLES);
}

/* --- home --- */

static uint32_t
shared_cores(const struct cluster *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->cores; i++)
		n += core_at(c, i)->role == ROLE_TC && !core_at(c, i)->is_crowded;
	return n;
}

/* Of the cores with a role: those that the machine has not started have none. */
static bool
was_started(const struct cluster *c, uint32_t core)
{
	return core < c->cores && c->record->roles[c->record->cluster[c->id].first_core + core] !=
		ROLE_IDLE;
}

/* Home serves messages in every role, so it is a KC or a TC. */
static long
role_check(const struct cluster *c, const struct core *core, unsigned long role)
{
	if (role > ROLE_AC || (core_is_home(core) && role != ROLE_TC && role != ROLE_KC))
		return -E_INVAL;
	return core->role == ROLE_TC && !core->is_crowded && role != ROLE_TC &&
		shared_cores(c) == 1 ? -E_BUSY : 0;
}

/* Whoever rings home interrupts it from now on, or need not any more. */
static void
home_says(struct cluster *c, bool runs_users)
{
	hal_store32(&c->home_runs_users, runs_users);
	hal_noc_home_runs_users(runs_users);
}

/*
 * Home shall run threads: who rings it must know that before. A core that has looked at the word
 * already has a ticket, and is served before the caller's next message. False: that is still to
 * come.
 */
static bool
home_is_open(struct cluster *c)
{
	if (hal_peek32(&c->home_runs_users) == 0) {
		home_says(c, true);
		hal_fence();
		c->home_open = c->am.served + am_waiting(&c->am) + 1;
	}
	return c->am.served >= c->home_open;
}

/* Home acts as a TC as long as it has a thread. False: it runs one that it has no more. */
static bool
home_takes(struct core *home)
{
	uint32_t acts = home->role == ROLE_TC || home->load != 0 ? ROLE_TC : ROLE_KC;

	if (acts != ROLE_TC && home->current != NULL)
		return false;
	home->is_crowded = acts != home->role;
	home_says(home->cluster, acts == ROLE_TC);
	if (hal_peek32(&home->acts) != acts)
		role_take(home, &acts);
	return true;
}

/* True: it has been told. */
static bool
role_tell(struct core *core)
{
	if (core_is_home(core))
		return home_takes(core);
	if (am_post(core, role_take, &core->role, sizeof(core->role)) != 0)
		return false;
	core_interrupt(core);
	return true;
}

bool
roles_poll(struct cluster *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->cores && c->untold != 0; i++) {
		struct core *core = core_at(c, i);

		if (!core->is_untold || !role_tell(core))
			continue;
		core->is_untold = false;
		c->untold--;
		c->chores--;
		any = true;
	}
	return any;
}

void
role_set(struct core *core, uint32_t role)
{
	uint64_t now = hal_clock_ns();

	core->role_ns[core->role] += now - core->role_since;
	core->role_since = now;
	core->role = role;
	core->is_crowded = false;
	core->cluster->floor_count = 0;
	clear_choose(core->cluster);
}

static void
role_give(struct core *core, uint32_t role)
{
	struct cluster *c = core->cluster;

	role_set(core, role);
	if (!core->is_untold) {
		core->is_untold = true;
		c->untold++;
		c->chores++;
	}
	roles_poll(c);
}

void
role_crowd(const struct thread *t)
{
	struct core *core = t->core;

	if (hal_load32(&t->is_pinned) != 0 || core->role != ROLE_AC ||
		core->load == t->proc->placed[core->id])
		return;
	role_give(core, ROLE_TC);
	core->is_crowded = true;
	core->crowded++;
}

void
role_empty(struct core *core)
{
	bool home = core_is_home(core);

	if (home || core->role == ROLE_XC || hal_clock_ns() - core->role_since >= CROWDED_NS)
		role_give(core, home ? ROLE_KC : ROLE_AC);
}

/* From here on no thread is placed where the new role has none. */
static long
role_begin(struct cluster *c, struct kcall_args *args)
{
	long e = authority_check(args->caller, (int)args->a[ARG_AUTHORITY], RIGHT_WRITE);
	struct core *core;
	bool home, leave;

	if (e != 0)
		return e;
	if (!was_started(c, (uint32_t)args->a[ARG_CORE]))
		return -E_INVAL;
	core = core_at(c, (uint32_t)args->a[ARG_CORE]);
	home = core_is_home(core);
	e = role_check(c, core, args->a[ARG_ROLE]);
	if (e != 0)
		return e;
	if (home && args->a[ARG_ROLE] == ROLE_TC && !home_is_open(c))
		return STEP_DONE;
	leave = args->a[ARG_ROLE] != ROLE_TC && (args->a[ARG_ROLE] != core->role ||
		!core_runs_users(core));
	core->is_crowded &= home;
	if (args->a[ARG_ROLE] != core->role)
		role_give(core, (uint32_t)args->a[ARG_ROLE]);
	args->a[ARG_LEFT] = leave ? core->load : home ? c->threads_live : 0;
	args->a[ARG_STAGE] = STAGE_MOVE;
	return STEP_DONE;
}

/* Does core->load count it? Or does it come back to home? */
static bool
has_to_move(const struct thread *t, const struct core *core)
{
	return t != NULL && thread_lives(t) &&
		(core->role == ROLE_TC ? t->returns : t->core == core);
}

static long
move_some(struct cluster *c, const struct core *core, struct kcall_args *args)
{
	unsigned moved = 0;

	for (unsigned n = 0; n < THREADS_PER_STEP && moved < MOVES_PER_STEP; n++) {
		struct thread *t;

		if (args->a[ARG_LEFT] == 0 || args->a[ARG_PLACE] >= c->threads_used) {
			args->a[ARG_STAGE] = STAGE_SETTLE;
			return STEP_DONE;
		}
		t = thread_at(c, (uint32_t)args->a[ARG_PLACE]++);
		if (!has_to_move(t, core))
			continue;
		if (core->role == ROLE_TC)
			thread_send(t, KERNEL_CORE);
		else if (core_elsewhere(t) != NULL)
			thread_send(t, MOVE_AWAY);
		else
			role_crowd(t);
		args->a[ARG_LEFT]--;
		moved++;
	}
	return STEP_DONE;
}

static long
role_serve(struct kcall_args *args)
{
	struct cluster *c = args->caller->cluster;
	struct core *core;

	if (args->a[ARG_STAGE] == STAGE_BEGIN)
		return role_begin(c, args);
	core = core_at(c, (uint32_t)args->a[ARG_CORE]);
	if (args->a[ARG_STAGE] == STAGE_MOVE)
		return move_some(c, core, args);
	if (core->is_untold)
		roles_poll(c);	/* a caller of home itself keeps that from its chores */
	return core->is_untold || (!core_is_home(core) && hal_load32(&core->acts) != core->role) ?
		STEP_WAITS : 0;
}

/*
 * kc_core_role: give a core of the cluster another role (ROLE_*), by the cluster's authority
 * (RIGHT_WRITE): at run time, whatever the core does. Threads that are there go to other cores of
 * their processes: all of them if none runs there any more, and those of a TC that becomes an AC to
 * other TCs, if there are any that their processes may use. Threads that core 0 had come back when
 * it is a TC again, unless somebody has sent them elsewhere meanwhile; as a KC it acts as a TC
 * until those that wait there have woken up and left. Runs: calling core, in steps on home.
 * Returns 0: the core acts in that role, or another caller's; -E_BADF; -E_ACCES; -E_INVAL: no such
 * core or role, a core that was not started, or core 0 as an application core or idle; -E_BUSY: it
 * is the last TC. Where the caller is killed in the middle threads may stay until the call is made
 * again.
 */
long
kc_core_role(struct thread *caller, int authority, int core, int role)
{
	struct core *self = core_self();
	struct kcall_args *args = kcall_args(self);
	long e;

	args->caller = caller;
	args->a[ARG_AUTHORITY] = (unsigned long)authority;
	args->a[ARG_CORE] = (unsigned long)core;
	args->a[ARG_ROLE] = (unsigned long)role;
	args->a[ARG_PLACE] = 0;
	args->a[ARG_STAGE] = STAGE_BEGIN;
	do {
		e = am_call_kernel(self, role_serve, args, offsetof(struct kcall_args, data));
		/* home itself sleeps until the core has served a message, which rings it */
		if (e == STEP_WAITS && core_is_home(self))
			am_wait(&core_at(self->cluster, (uint32_t)core)->post.busy,
				self->cluster->am.next);
	} while (e > 0);
	if (core_is_home(self))
		hal_interrupt(self->id);	/* what else that was for */
	return e;
}

/* The first time the core is rung, so that it counts its time from then on. */
static void
idle_tell(struct core *core, struct core_info *out, uint64_t now)
{
	if (out->idle == 0) {
		hal_store32(&core->count[CORE_IDLE], IDLE_ASKED);
		hal_notify(hal_cluster_id(), core->id);
	} else if ((out->idle & 1) != 0) {
		out->idle += CORE_IDLE_CLOCK(now);
	}
}

/*
 * kc_core_info: what a core of the cluster is for, and what it has counted (struct core_info).
 * Runs: home. Returns 0; -E_INVAL: no such core.
 */
long
kc_core_info(struct thread *caller, int core, void *info)
{
	struct cluster *c = caller->cluster;
	struct core_info *out = KCALL_OUT_WORD(info);
	struct core *of;
	uint64_t now;

	if ((uint32_t)core >= c->cores)
		return -E_INVAL;
	of = core_at(c, (uint32_t)core);
	out->role = of->is_crowded && !core_is_home(of) ? ROLE_AC : of->role;
	out->acts = hal_load32(&of->acts);
	out->threads = of->load;
	for (int i = 0; i < CORE_COUNTS; i++)
		out->count[i] = hal_load32(&of->count[i]);
	now = hal_clock_ns();	/* behind that look: it is not before the core's time began */
	idle_tell(of, out, now);
	out->waiting = 0;
	out->spread = of->spread;
	out->crowded = of->crowded;
	out->reserved = 0;
	if (core_is_home(of)) {
		out->messages = (uint32_t)c->am.served;
		out->waiting = am_waiting(&c->am);
	}
	memcpy(out->role_ns, of->role_ns, sizeof(of->role_ns));
	out->role_ns[of->role] += now - of->role_since;
	return 0;
}
