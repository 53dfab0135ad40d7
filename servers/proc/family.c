/* SPDX-License-Identifier: MIT
 *
 * Numbers, parents and ends of processes: see family.h.
 */
#include <stddef.h>
#include <abi/errors.h>
#include <servers/proc/family.h>
#include <servers/proc/job.h>

#define PID_ROUNDS (1u << 20)		/* then the numbers begin again */

void
family_init(struct family *f, uint32_t cluster, uint32_t clusters, struct member *member,
	uint32_t most)
{
	*f = (struct family){.cluster = cluster, .clusters = clusters, .member = member,
		.most = most};
}

static bool
is_same(const struct mail_sender *a, const struct mail_sender *b)
{
	return a->badge == b->badge && a->cluster == b->cluster;
}

static bool
is_parent(const struct member *m, const struct mail_sender *parent)
{
	return m->state != MEMBER_FREE && m->parent.badge != BADGE_KERNEL &&
		is_same(&m->parent, parent);
}

/* Pids of different clusters are different: each has every `clusters`-th number. */
static int32_t
pid_of(const struct family *f, uint32_t made)
{
	return (int32_t)(PROCESS_FIRST + f->cluster + f->clusters * (made % PID_ROUNDS));
}

static bool
is_taken(const struct family *f, uint32_t made)
{
	for (uint32_t i = 0; i < f->used; i++)
		if (f->member[i].state != MEMBER_FREE && (f->member[i].pid == pid_of(f, made) ||
			f->member[i].badge == BADGE_CHILD + made % BADGE_CHILDREN))
			return true;
	return false;
}

/* The numbers go round, so that what was named by an old one is not soon taken for a new one. */
static struct member *
family_enter(struct family *f, uint32_t job)
{
	struct member *m = f->member;

	while (m < f->member + f->most && m->state != MEMBER_FREE)
		m++;
	if (m == f->member + f->most)
		return NULL;
	if (m == f->member + f->used)
		f->used++;
	while (is_taken(f, f->made))
		f->made++;
	*m = (struct member){.state = MEMBER_RUNS, .pid = pid_of(f, f->made), .job = job,
		.badge = BADGE_CHILD + f->made % BADGE_CHILDREN};
	f->made++;
	f->runs++;
	return m;
}

struct member *
family_add(struct family *f, const struct mail_sender *parent, uint32_t job)
{
	const struct member *p = parent->cluster == f->cluster ?
		family_by_badge(f, parent->badge) : NULL;
	struct mail_sender root = p != NULL ? p->root : *parent;
	struct member *m = family_enter(f, job);

	if (m == NULL)
		return NULL;
	m->parent = *parent;
	m->root = root;
	m->group = p != NULL ? p->group : m->pid;
	m->session = p != NULL ? p->session : m->pid;
	return m;
}

struct member *
family_add_part(struct family *f, uint32_t job)
{
	struct member *m = family_enter(f, job);

	if (m == NULL)
		return NULL;
	m->badge = BADGE_OF_JOB(job);
	m->root = (struct mail_sender){f->cluster, m->badge};
	m->is_part = true;
	m->group = m->session = m->pid;
	return m;
}

void
family_drop(struct family *f, struct member *m)
{
	f->runs--;
	m->state = MEMBER_FREE;
}

struct member *
family_by_badge(struct family *f, uint32_t badge)
{
	for (struct member *m = f->member; m < f->member + f->used; m++)
		if (m->state == MEMBER_RUNS && m->badge == badge)
			return m;
	return NULL;
}

struct member *
family_by_pid(struct family *f, int32_t pid)
{
	for (struct member *m = f->member; m < f->member + f->used; m++)
		if (m->state == MEMBER_RUNS && m->pid == pid)
			return m;
	return NULL;
}

struct member *
family_in_group(struct family *f, struct member *m, int32_t group)
{
	for (; m < f->member + f->used; m++)
		if (m->state == MEMBER_RUNS && m->group == group)
			return m;
	return NULL;
}

struct member *
family_next(struct family *f, int32_t after)
{
	struct member *found = NULL;

	for (struct member *m = f->member; m < f->member + f->used; m++)
		if (m->state != MEMBER_FREE && m->pid > after &&
			(found == NULL || m->pid < found->pid))
			found = m;
	return found;
}

/* What has ended and is nobody's is forgotten. */
static void
member_orphan(struct member *m)
{
	m->parent = (struct mail_sender){0};
	if (m->state == MEMBER_ENDED)
		m->state = MEMBER_FREE;
}

void
family_forget_parent(struct family *f, const struct mail_sender *parent)
{
	for (struct member *m = f->member; m < f->member + f->used; m++)
		if (is_parent(m, parent))
			member_orphan(m);
}

void
family_end(struct family *f, struct member *m, const struct proc_status *status)
{
	family_forget_parent(f, &(struct mail_sender){f->cluster, m->badge});
	m->status = *status;
	f->runs--;
	m->state = m->parent.badge == BADGE_KERNEL ? MEMBER_FREE : MEMBER_ENDED;
}

static bool
is_meant(const struct member *m, int32_t pid)
{
	return pid == PROCESS_ANY || (pid < 0 ? m->group == -pid : m->pid == pid);
}

/* A member that runs has stopped, or gone on, which its parent wants to know. */
static bool
take_change(struct member *m, struct process_reply *r, uint32_t flags)
{
	bool stays = (flags & PROCESS_STAYS) != 0;

	if ((flags & PROCESS_UNTRACED) != 0 && m->stopped != 0 && !m->has_told_stop) {
		m->has_told_stop = !stays;
		r->status = (struct proc_status){.status = m->stopped,
			.cause = PROCESS_HAS_STOPPED};
		return true;
	}
	if ((flags & PROCESS_CONTINUED) == 0 || !m->has_continued)
		return false;
	m->has_continued = stays;
	r->status = (struct proc_status){.cause = PROCESS_HAS_CONTINUED};
	return true;
}

int
family_take(struct family *f, const struct mail_sender *parent, int32_t pid,
	struct process_reply *r, uint32_t flags)
{
	int result = -PROCESS_ECHILD;

	for (struct member *m = f->member; m < f->member + f->used; m++) {
		if (!is_parent(m, parent) || !is_meant(m, pid))
			continue;
		result = -E_AGAIN;
		if (m->state == MEMBER_RUNS && take_change(m, r, flags))
			return m->pid;
		if (m->state != MEMBER_ENDED || (flags & PROCESS_NOT_ENDED) != 0)
			continue;
		r->status = m->status;
		r->missing = m->missing;
		if ((flags & PROCESS_STAYS) == 0)
			m->state = MEMBER_FREE;
		return m->pid;
	}
	return result;
}

struct member *
family_of_root(struct family *f, struct member *m, const struct mail_sender *root)
{
	for (; m < f->member + f->used; m++)
		if (m->state == MEMBER_RUNS && !m->is_part && is_same(&m->root, root))
			return m;
	return NULL;
}

struct member *
family_bound(struct family *f, struct member *m, const struct mail_sender *parent)
{
	for (; m < f->member + f->used; m++)
		if (m->state == MEMBER_RUNS && m->is_bound && is_same(&m->parent, parent))
			return m;
	return NULL;
}

uint32_t
family_count(const struct family *f, uint32_t job)
{
	uint32_t n = 0;

	for (const struct member *m = f->member; m < f->member + f->used; m++)
		n += m->state != MEMBER_FREE && m->job == job && !m->is_part;
	return n;
}
