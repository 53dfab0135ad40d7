/* SPDX-License-Identifier: MIT
 *
 * Signals: see signals.h. A signal that has not been told of is a bit of its member; who sent it is
 * noted where there is a place for that, and without one it comes from nobody.
 */
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include <base/str.h>
#include <servers/proc/groups.h>
#include <servers/proc/signals.h>

#define SIGKILL 9
#define SIGCHLD 17
#define SIGCONT 18
#define NOTES 32
#define GRACE_NS 100000000
/* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
#define STOPS ((uint64_t)15 << 18)

static struct agent *agent;
static struct service *service;
static struct {
	uint32_t signal;		/* 0: the place is free */
	int32_t member;			/* its pid */
	uint32_t order;			/* of those that are queued */
	struct signal_note note;
} notes[NOTES];

void
signals_begin(struct agent *a, struct service *s)
{
	agent = a;
	service = s;
}

/* --- notes --- */

static bool
note_put(const struct member *m, int sig, const struct signal_note *note)
{
	static uint32_t made;

	for (int i = 0; i < NOTES; i++) {
		const struct member *of = notes[i].signal != 0 ?
			family_by_pid(&agent->family, notes[i].member) : NULL;

		if (of != NULL && (of->pending & PROCESS_SIGNAL(notes[i].signal)) != 0)
			continue;
		notes[i].signal = (uint32_t)sig;
		notes[i].member = m->pid;
		notes[i].order = ++made;
		notes[i].note = *note;
		return true;
	}
	return false;
}

/* The first one; -1: there is none. */
static int
note_find(const struct member *m, uint32_t sig)
{
	int found = -1;

	for (int i = 0; i < NOTES; i++)
		if (notes[i].signal == sig && notes[i].member == m->pid && (found < 0 ||
			(int32_t)(notes[i].order - notes[found].order) < 0))
			found = i;
	return found;
}

static struct signal_note
note_take(const struct member *m, uint32_t sig)
{
	int i = note_find(m, sig);

	if (i < 0)
		return (struct signal_note){0};
	notes[i].signal = 0;
	return notes[i].note;
}

/* --- what is told --- */

static void
member_tell(const struct member *m)
{
	if (m->teller != 0 && m->pending != 0)
		service_tell(service, m->teller - 1);
}

void
signals_catch(struct member *m, uint64_t told, int client)
{
	m->told |= told;
	if (client >= 0)
		m->teller = (uint32_t)client + 1;
	member_tell(m);
}

void
signals_replace(struct member *m, uint64_t told)
{
	m->told = told;
	m->pending &= told;
	m->teller = 0;
}

static struct member *
told_by(uint32_t client)
{
	struct family *f = &agent->family;

	for (struct member *m = f->member; m < f->member + f->used; m++)
		if (m->state == MEMBER_RUNS && m->teller == client + 1)
			return m;
	return NULL;
}

uint32_t
signals_tell(uint32_t client, void *message)
{
	struct process_reply r = {.signal = PROCESS_TOLD};
	struct member *m = told_by(client);

	if (m != NULL && m->pending != 0) {
		uint32_t sig = 1;
		struct signal_note note;

		while ((m->pending & PROCESS_SIGNAL(sig)) == 0)
			sig++;
		note = note_take(m, sig);
		if (sig < PROCESS_SIGNALS_QUEUED || note_find(m, sig) < 0)
			m->pending &= ~PROCESS_SIGNAL(sig);
		r.signal |= sig;
		r.pid = note.pid;
		r.status = note.status;
		member_tell(m);
	}
	memcpy(message, &r, sizeof(r));
	return sizeof(r);
}

void
signals_gone(uint32_t client)
{
	struct member *m = told_by(client);

	if (m != NULL)
		m->teller = 0;
}

/* --- what is sent --- */

/*
 * Do these do nothing unless somebody wants to be told? SIGCHLD, SIGCONT, SIGURG, SIGWINCH. And
 * what stops a process: that it does itself, so it has to be told.
 */
static bool
does_nothing(int sig)
{
	return (sig >= SIGCHLD && sig <= 23) || sig == 28;
}

/* An earlier time that is set already stays. */
static void
look_later(uint64_t at)
{
	static uint64_t set;
	uint64_t now = 0;

	kclock(&now);
	if (groups_are_looking() || (set > now && set <= at))
		return;
	set = at;
	kalarm_set(BIT_TYPED, &(struct alarm_times){.first = at});
}

void
signals_look(void)
{
	struct family *f = &agent->family;
	uint64_t now = 0, next = 0;

	kclock(&now);
	for (struct member *m = f->member; m < f->member + f->used; m++) {
		if (m->state != MEMBER_RUNS || m->dies_at == 0)
			continue;
		if (m->dies_at <= now)
			kproc_kill(m->proc, SIGKILL);
		else if (next == 0 || m->dies_at < next)
			next = m->dies_at;
	}
	if (next != 0)
		look_later(next);
}

/* Is SIGKILL told, so that the process ends by itself? */
static bool
is_asked_to_end(struct member *m)
{
	if ((m->told & PROCESS_SIGNAL(SIGKILL)) == 0 || m->teller == 0 || m->is_part ||
		m->dies_at != 0)
		return false;
	kclock(&m->dies_at);
	m->dies_at += GRACE_NS;
	look_later(m->dies_at);
	return true;
}

int
signals_send(struct member *m, int sig, bool is_default, const struct signal_note *note)
{
	if (sig < 1 || sig > PROCESS_SIGNALS)
		return -E_INVAL;
	if (is_default || (sig == SIGKILL ? !is_asked_to_end(m) :
		(m->told & PROCESS_SIGNAL(sig)) == 0)) {
		if (does_nothing(sig))
			return 0;
		if (m->is_part)
			return -E_ACCES;
		kproc_kill(m->proc, sig);
		return 0;
	}
	if (sig == SIGCONT)
		m->pending &= ~STOPS;
	if ((PROCESS_SIGNAL(sig) & STOPS) != 0)
		m->pending &= ~PROCESS_SIGNAL(SIGCONT);
	if (((m->pending & PROCESS_SIGNAL(sig)) == 0 || sig >= PROCESS_SIGNALS_QUEUED) &&
		!note_put(m, sig, note) && note->status.cause == PROCESS_QUEUED)
		return -E_AGAIN;
	m->pending |= PROCESS_SIGNAL(sig);
	member_tell(m);
	return 0;
}

void
signals_child(const struct mail_sender *parent, int32_t pid, const struct proc_status *what)
{
	struct member *m = parent->cluster == agent->here.cluster ?
		family_by_badge(&agent->family, parent->badge) : NULL;
	const struct signal_note note = {.pid = pid, .status = *what};

	if (m != NULL && (m->told & PROCESS_SIGNAL(SIGCHLD)) != 0)
		signals_send(m, SIGCHLD, false, &note);
}
