/* SPDX-License-Identifier: MIT
 *
 * See groups.h.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/file/client.h>
#include <servers/proc/groups.h>
#include <servers/proc/signals.h>
#include <user/personality/frames.h>

#define LOOK_NS 20000000
#define TYPED 4

static struct agent *agent;
static struct {
	const struct frame_input *typed;	/* NULL: nobody has taken the terminal */
	uint32_t seen[TYPED];
	int32_t front;			/* group in the foreground; 0: the job's part */
	uint32_t flags;			/* TERMINAL_* */
} terminal = {.flags = TERMINAL_LINES | TERMINAL_ECHO | TERMINAL_SIGNALS | TERMINAL_NEWLINES};

void
groups_begin(struct agent *a)
{
	agent = a;
}

/* --- the terminal --- */

static void
terminal_say(void)
{
	console_print("%ct%x%c\n", FRAME_DLE, terminal.flags, FRAME_DLE);
}

/* From now on what is typed is looked at. */
static void
terminal_take(void)
{
	struct alarm_times times = {0, LOOK_NS};
	struct file f;

	if (terminal.typed != NULL || file_open(FRAME_INPUT, &f) != 0 ||
		f.bytes < sizeof(*terminal.typed))
		return;
	terminal.typed = f.data;
	for (int i = 0; i < TYPED; i++)
		terminal.seen[i] = __atomic_load_n(&terminal.typed->typed[i], __ATOMIC_RELAXED);
	terminal_say();
	kclock(&times.first);
	kalarm_set(BIT_TYPED, &times);
}

bool
groups_are_looking(void)
{
	return terminal.typed != NULL;
}

static int32_t
front(void)
{
	const struct member *part = family_by_badge(&agent->family,
		BADGE_OF_JOB(agent->part.job));

	return terminal.front != 0 ? terminal.front : part != NULL ? part->group : 0;
}

void
groups_look(void)
{
	static const uint8_t signal[TYPED] = {2, 3, 20, 28};
	static const struct signal_note nobody;

	for (int i = 0; terminal.typed != NULL && i < TYPED; i++) {
		uint32_t now = __atomic_load_n(&terminal.typed->typed[i], __ATOMIC_RELAXED);
		struct member *m = agent->family.member;

		if (now == terminal.seen[i])
			continue;
		terminal.seen[i] = now;
		while ((m = family_in_group(&agent->family, m, front())) != NULL)
			if (signals_send(m++, signal[i], false, &nobody) == -E_ACCES)
				agent_kill(agent, signal[i]);
	}
}

/* --- groups --- */

static bool
is_group(int32_t group, int32_t session)
{
	const struct member *m = family_in_group(&agent->family, agent->family.member, group);

	return m != NULL && m->session == session;
}

void
group_begin(struct member *m, int32_t group, bool is_front)
{
	if (group == PROCESS_OWN_GROUP)
		m->group = m->pid;
	else if (group > 0 && is_group(group, m->session))
		m->group = group;
	if (is_front)
		terminal.front = m->group;
}

static int
group_set(struct member *m, int32_t group)
{
	if (group == 0)
		group = m->pid;
	if (m->session == m->pid || (group != m->pid && !is_group(group, m->session)))
		return group == m->group ? 0 : -E_PERM;
	m->group = group;
	return 0;
}

static int
session_new(struct member *m)
{
	if (m->group == m->pid)
		return -E_PERM;
	m->group = m->session = m->pid;
	return m->pid;
}

int
group_ask(struct member *asks, uint32_t op, int32_t pid, int32_t value)
{
	struct member *m = pid == 0 ? asks : family_by_pid(&agent->family, pid);

	if (asks == NULL || (asks->is_part && agent->part.ranks > 1))
		return -E_NOSYS;
	if (m == NULL || value < 0)
		return m == NULL ? -E_SRCH : -E_INVAL;
	switch (op) {
	case PROCESS_GROUP_OF: return m->group;
	case PROCESS_SESSION_OF: return m->session;
	case PROCESS_GROUP_SET: return group_set(m, value);
	case PROCESS_SESSION_NEW: return session_new(asks);
	case PROCESS_FRONT_OF: return front();
	case PROCESS_IS_FRONT: return m->group == front();
	case PROCESS_FRONT_SET:
		terminal_take();
		if (!is_group(value, asks->session))
			return -E_PERM;
		terminal.front = value;
		return 0;
	case PROCESS_TERMINAL_OF: return (int)terminal.flags;
	case PROCESS_TERMINAL_SET:
		terminal.flags = (uint32_t)value;
		terminal_say();
		return 0;
	default: return -E_INVAL;
	}
}
