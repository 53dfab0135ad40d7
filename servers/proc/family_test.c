/* SPDX-License-Identifier: MIT
 *
 * Numbers, parents and ends of processes, also in random order against what a simple list says.
 *
 * needs: servers/proc/family.c
 */
#include <abi/errors.h>
#include <base/test.h>
#include <servers/proc/family.h>
#include <servers/proc/job.h>

#define CLUSTER 2
#define CLUSTERS 5
#define STEPS 20000

static struct member members[MEMBERS_MAX];
static struct family family;
static const struct mail_sender part = {CLUSTER, BADGE_JOB + 1}, far = {1, BADGE_JOB + 1};

static struct mail_sender
who(const struct member *m)
{
	return (struct mail_sender){CLUSTER, m->badge};
}

static struct member *
begin(void)
{
	memset(members, 0, sizeof(members));
	family_init(&family, CLUSTER, CLUSTERS, members, MEMBERS_MAX);
	return family_add_part(&family, 1);
}

TEST(a_child_has_a_number_and_its_parent_takes_its_end_once)
{
	struct member *p = begin(), *m = family_add(&family, &part, 1);
	struct proc_status status = {.status = 3};
	struct process_reply got;

	expect(p->badge == part.badge && p->is_part && m->badge != p->badge);
	expect_eq(m->pid % CLUSTERS, p->pid % CLUSTERS);
	expect(m->pid != p->pid && m->pid > 1);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, 0), -E_AGAIN);
	expect_eq(family_take(&family, &part, m->pid, &got, 0), -E_AGAIN);
	expect_eq(family_take(&family, &far, PROCESS_ANY, &got, 0), -PROCESS_ECHILD);
	family_end(&family, m, &status);
	expect_eq(family_take(&family, &part, m->pid + CLUSTERS, &got, 0), -PROCESS_ECHILD);
	expect_eq(family_take(&family, &far, m->pid, &got, 0), -PROCESS_ECHILD);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, 0), m->pid);
	expect_eq(got.status.status, 3);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, 0), -PROCESS_ECHILD);
}

TEST(those_that_end_with_a_process_are_found)
{
	struct proc_status status = {0};
	struct member *m = (begin(), family_add(&family, &part, 1)), *child, *other;
	struct mail_sender at = who(m);

	child = family_add(&family, &(struct mail_sender){CLUSTER, m->badge}, 1);
	other = family_add(&family, &(struct mail_sender){CLUSTER, m->badge}, 1);
	family_add(&family, &(struct mail_sender){1, m->badge}, 1)->is_bound = true;
	expect(family_bound(&family, family.member, &at) == NULL);
	child->is_bound = other->is_bound = true;
	expect(family_bound(&family, family.member, &at) == child);
	expect(family_bound(&family, child, &at) == child);
	expect(family_bound(&family, child + 1, &at) == other);
	expect(family_bound(&family, other + 1, &at) == NULL);
	expect(family_bound(&family, family.member, &part) == NULL);
	family_end(&family, child, &status);
	expect(family_bound(&family, family.member, &at) == other);
}

TEST(an_end_of_an_orphan_is_forgotten)
{
	struct proc_status status = {0};
	struct process_reply got;
	struct member *m, *child, *zombie;

	begin();
	m = family_add(&family, &part, 1);
	child = family_add(&family, &(struct mail_sender){CLUSTER, m->badge}, 1);
	zombie = family_add(&family, &(struct mail_sender){CLUSTER, m->badge}, 1);
	family_end(&family, zombie, &status);
	expect_eq(zombie->state, MEMBER_ENDED);
	family_end(&family, m, &status);
	expect_eq(zombie->state, MEMBER_FREE);
	expect_eq(child->state, MEMBER_RUNS);
	expect_eq(child->parent.badge, BADGE_KERNEL);
	family_end(&family, child, &status);
	expect_eq(child->state, MEMBER_FREE);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, 0), m->pid);
}

TEST(what_stems_from_a_root_is_found)
{
	struct member *a, *b, *c;
	struct mail_sender at;

	begin();
	a = family_add(&family, &part, 1);
	at = who(a);
	b = family_add(&family, &at, 1);
	c = family_add(&family, &far, 1);
	at = who(c);
	family_add(&family, &at, 1);
	expect(family_of_root(&family, family.member, &part) == a);
	expect(family_of_root(&family, a + 1, &part) == b);
	expect(family_of_root(&family, b + 1, &part) == NULL);
	expect(family_of_root(&family, family.member, &far) == c);
	expect(family_of_root(&family, c + 1, &far) == c + 1);
	expect_eq(family_count(&family, 1), 4);
	family_forget_parent(&family, &far);
	expect_eq(c->parent.badge, BADGE_KERNEL);
}

TEST(there_is_an_end_to_it)
{
	struct member *m = NULL;
	struct proc_status status = {0};
	struct process_reply got;
	int n = 0;

	begin();
	while ((m = family_add(&family, &part, 1)) != NULL)
		n++;
	expect_eq(n, MEMBERS_MAX - 1);
	family_end(&family, &family.member[5], &status);
	expect(family_add(&family, &part, 1) == NULL);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, 0), family.member[5].pid);
	expect(family_add(&family, &part, 1) == &family.member[5]);
}

/* A number is not given again while somebody has it, however many were given meanwhile. */
TEST(numbers_go_round)
{
	struct member *old, *m;
	struct proc_status status = {0};
	struct process_reply got;

	begin();
	old = family_add(&family, &part, 1);
	for (uint32_t i = 0; i < 3 * BADGE_CHILDREN; i++) {
		m = family_add(&family, &part, 1);
		expect(m->pid != old->pid && m->badge != old->badge);
		expect(m->badge >= BADGE_CHILD && m->badge < BADGE_INIT);
		expect(family_by_pid(&family, m->pid) == m);
		expect(family_by_badge(&family, m->badge) == m);
		family_end(&family, m, &status);
		expect_eq(family_take(&family, &part, m->pid, &got, 0), m->pid);
	}
	expect_eq(BADGE_OF_JOB(BADGE_JOBS), BADGE_JOB);
	expect(BADGE_OF_JOB(JOB_REPEAT_MAX) < BADGE_CHILD);
}

/* --- random order --- */

struct model {
	int32_t pid;
	int32_t parent;			/* 0: none */
	bool has_ended;
} model[MEMBERS_MAX];

static uint32_t state;

static uint32_t
draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static struct model *
entry(int32_t pid)
{
	for (struct model *e = model; e < model + MEMBERS_MAX; e++)
		if (e->pid == pid)
			return e;
	return NULL;
}

static void
model_end(struct model *e)
{
	for (struct model *child = model; child < model + MEMBERS_MAX; child++)
		if (child->pid != 0 && child->parent == e->pid) {
			child->parent = 0;
			if (child->has_ended)
				child->pid = 0;
		}
	e->has_ended = true;
	if (e->parent == 0)
		e->pid = 0;
}

static void
random_add(const struct member *parent)
{
	struct mail_sender from = who(parent);
	int32_t pid = parent->pid;
	struct member *m = family_add(&family, &from, 1);

	expect((m != NULL) == (entry(0) != NULL));
	if (m != NULL)
		*entry(0) = (struct model){.pid = m->pid, .parent = pid};
}

static void
random_take(const struct member *parent)
{
	struct mail_sender from = who(parent);
	struct process_reply reply;
	int want = -PROCESS_ECHILD, got;

	for (struct model *e = model; e < model + MEMBERS_MAX; e++)
		if (e->pid != 0 && e->parent == parent->pid && want != 0)
			want = e->has_ended ? 0 : -E_AGAIN;
	got = family_take(&family, &from, PROCESS_ANY, &reply, 0);
	expect(want == 0 ? got > 0 : got == want);
	if (got <= 0)
		return;
	expect(entry(got) != NULL && entry(got)->has_ended && entry(got)->parent == parent->pid);
	if (entry(got) != NULL)
		entry(got)->pid = 0;
}

TEST(any_order_is_right)
{
	struct proc_status status = {0};
	struct member *p = begin();

	state = 7;
	memset(model, 0, sizeof(model));
	model[0].pid = p->pid;
	for (int i = 0; i < STEPS; i++) {
		struct member *m = family_next(&family, (int32_t)draw(1u << 16) %
			(int32_t)(family.made * CLUSTERS + 8));
		uint32_t what = draw(4);

		if (m == NULL || m->state != MEMBER_RUNS)
			continue;
		expect(entry(m->pid) != NULL);
		if (what < 2) {
			random_add(m);
		} else if (what == 2) {
			random_take(m);
		} else if (m != p) {
			model_end(entry(m->pid));
			family_end(&family, m, &status);
		}
	}
	for (struct model *e = model; e < model + MEMBERS_MAX; e++)
		if (e->pid != 0)
			expect_eq(family_by_pid(&family, e->pid) != NULL, !e->has_ended);
}

TEST(children_are_found_by_their_group)
{
	struct member *p, *a, *b;
	struct process_reply got;

	memset(members, 0, sizeof(members));
	family_init(&family, CLUSTER, CLUSTERS, members, MEMBERS_MAX);
	p = family_add_part(&family, 1);
	expect(p->group == p->pid && p->session == p->pid);
	a = family_add(&family, &part, 1);
	b = family_add(&family, &part, 1);
	expect(a->group == p->group && b->session == p->session);
	a->group = b->group = a->pid;
	expect(family_in_group(&family, family.member, p->pid) == p);
	expect(family_in_group(&family, family.member, a->pid) == a);
	expect(family_in_group(&family, a + 1, a->pid) == b);
	expect_eq(family_take(&family, &part, -p->pid, &got, 0), -PROCESS_ECHILD);
	expect_eq(family_take(&family, &part, -a->pid, &got, 0), -E_AGAIN);
	b->stopped = 19;
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, 0), -E_AGAIN);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, PROCESS_UNTRACED), b->pid);
	expect(got.status.status == 19 && got.status.cause == PROCESS_HAS_STOPPED);
	expect_eq(family_take(&family, &part, PROCESS_ANY, &got, PROCESS_UNTRACED), -E_AGAIN);
	family_end(&family, b, &(struct proc_status){.status = 4});
	expect(family_in_group(&family, a + 1, a->pid) == NULL);
	expect_eq(family_take(&family, &part, a->pid, &got, 0), -E_AGAIN);
	expect_eq(family_take(&family, &part, -a->pid, &got, 0), b->pid);
	expect_eq(got.status.status, 4);
}

int
main(void)
{
	RUN(a_child_has_a_number_and_its_parent_takes_its_end_once);
	RUN(those_that_end_with_a_process_are_found);
	RUN(an_end_of_an_orphan_is_forgotten);
	RUN(what_stems_from_a_root_is_found);
	RUN(there_is_an_end_to_it);
	RUN(numbers_go_round);
	RUN(any_order_is_right);
	RUN(children_are_found_by_their_group);
	return TEST_FAILED;
}
