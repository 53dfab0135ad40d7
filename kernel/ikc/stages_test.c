/* SPDX-License-Identifier: MIT
 *
 * A cluster dies, or is restarted, at every stage of what is between it and others: of messages
 * to a port, directly, by way of credits that are granted and taken back, and forwarded; and of
 * the rounds of a sync point. Portals: portal_test.c and turn_test.c.
 *
 * A play is a few actors, one per cluster, each of which makes one call after the other. What
 * happens is cut into stages, the smallest pieces that change anything: a call, the second half
 * of a call, a step of a home core. In which order they come the seed says. The play is
 * performed once for each number of stages that its victim lives, until it has seen the end.
 * Then all that is left must have ended as the calls' contracts say, nothing of it may be in any
 * table, and the whole play must succeed with the victim's next life.
 *
 * usage: stages_test [SEEDS [FIRST]]
 */
/*
 * needs: kernel/ikc/ikc.c kernel/ikc/endpoint.c kernel/ikc/wait.c kernel/ikc/peer.c
 * kernel/ikc/restart.c kernel/ikc/watch.c kernel/ikc/sync.c kernel/ikc/sync_event.c
 * kernel/ikc/channel.c kernel/ikc/mailbox.c kernel/ikc/mail_in.c kernel/ikc/mail_out.c
 * kernel/ikc/mail_credit.c kernel/ikc/stats.c kernel/ikc/portal.c kernel/ikc/portal_event.c
 * kernel/ikc/portal_turn.c kernel/ikc/portal_move.c hal/noc/shm/noc.c hal/noc/shm/events.c
 * hal/noc/shm/window.c base/bitmap.c kernel/object/handle.c kernel/object/quota.c
 * kernel/object/slab.c kernel/mem/frame.c */
/* cpu: coroutine */
/* gate: 1 */
#include <kernel/ikc/stages_test.h>

#define UNREAD 0			/* the port whose messages keep the connectors */

/* Each cluster is slow, or none is; readers want any message, or each cluster's. */
#define SEEDS 12

struct play {
	const char *name;
	unsigned connectors;	/* of mailboxes; 1: all are taken by messages for UNREAD */
	void (*cast)(void);
	/* has it ended as it should, after the victim's death? */
	bool (*is_right)(const struct actor *a);
};

static const struct play *play;
static struct { struct thread *t; int handle; } crowd[2 * FAKE_CLUSTERS];
static unsigned crowded;
static size_t charged[FAKE_CLUSTERS];	/* after a performance without a death */

/* --- plays --- */

static void
cast_as(unsigned cluster, void (*go)(struct actor *), unsigned peer, unsigned from)
{
	actor[cluster] = (struct actor){.go = go, .cluster = cluster, .peer = peer, .from = from,
		.any = seed % 2 != 0, .end = GOES_ON};
}

static void
cast_mail(void)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		cast_as(c, c == ONE ? receive_on : send_on, ONE,
			c == ONE ? 0xfu & ~(1u << ONE) : 0);
}

/* 1 sends to 2, which forwards to 3. */
static void
cast_chain(void)
{
	memset(actor, 0, sizeof(actor));
	cast_as(1, send_on, 2, 0);
	cast_as(2, forward_on, 2, 1u << 1);
	cast_as(3, receive_on, 2, 1u << 2);
}

static void
cast_to_one(void)
{
	sync_mode = SYNC_ALL_TO_ONE;
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		cast_as(c, c == ONE ? wait_for_rounds : signal_rounds, ONE, 0);
}

static void
cast_to_all(void)
{
	sync_mode = SYNC_ONE_TO_ALL;
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		cast_as(c, c == ONE ? signal_rounds : wait_for_rounds, ONE, 0);
}

/* What calls that are about the victim say. */
static bool
is_of_the_dead(long e)
{
	return e == -E_HOSTDOWN || (e == -E_CONNRESET && way == RESTARTED);
}

/*
 * All that the living wrote has arrived. Whoever waits for any cluster is not told of a death:
 * it may wait on if nobody has anything for it any more.
 */
static bool
mail_is_right(const struct actor *a)
{
	if (a->cluster == ONE)
		return a->end == 0 || (a->any && a->waits && has_all(a));
	return victim == ONE ? a->end == 0 || is_of_the_dead(a->end) :
		a->end == 0 && actor[ONE].got[a->cluster] == ALL;
}

/* Who is two clusters away from the victim may wait for what does not come any more. */
static bool
chain_is_right(const struct actor *a)
{
	if (a->go == NULL || a->end == 0)
		return true;
	if (a->end == GOES_ON && (a->any || victim == 4 - a->cluster))
		return a->waits && (a->cluster != 2 || victim == 1);
	if (a->cluster == 2)
		return victim == 3 && is_of_the_dead(a->end);
	return a->cluster == 1 && victim == 2 && is_of_the_dead(a->end);
}

/* No round without all; the ONE knows of each death, the others of its only. */
static bool
rounds_are_right(const struct actor *a)
{
	const struct actor *one = &actor[ONE];
	bool in_step = sync_mode == SYNC_ONE_TO_ALL ? a->count <= one->count :
		one->count <= a->count;

	if (!in_step || (a->end != 0 && a->count == ALL && a->go == wait_for_rounds))
		return false;
	if (a->end == 0)
		return a->count == ALL;
	if (is_of_the_dead(a->end))
		return a->cluster == ONE || victim == ONE;
	return a->end == GOES_ON && a->waits && ((a->late && way == RESTARTED) ||
		(a->cluster != ONE && victim != ONE));
}

static const struct play plays[] = {
	{"messages", 0, cast_mail, mail_is_right},
	{"messages by credits", 1, cast_mail, mail_is_right},
	{"messages that are forwarded", 0, cast_chain, chain_is_right},
	{"messages that are forwarded by credits", 1, cast_chain, chain_is_right},
	{"all to one", 0, cast_to_one, rounds_are_right},
	{"one to all", 0, cast_to_all, rounds_are_right},
};

/* --- performances --- */

static void
crowd_end(struct thread *t, int handle)
{
	crowd[crowded].t = t;
	crowd[crowded++].handle = handle;
	expect(handle > 0);
}

/* Each cluster has a message for a port of this one that nobody reads, in its only connector. */
static void
crowd_at(unsigned cluster)
{
	crowd_end(thr(cluster, 7), input(thr(cluster, 7), UNREAD));
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		if (c != cluster) {
			int out = output(thr(c, 7), (int)cluster, UNREAD);

			crowd_end(thr(c, 7), out);
			expect_eq(write_to(thr(c, 7), out, 0), 0);
		}
}

static void
begin(void)
{
	performance++;
	way = NEVER;
	crowded = 0;
	draws = (uint32_t)seed * 2654435761u + 17;
	if (play->connectors != 0) {
		crowd_at(play->cast == cast_mail ? ONE : 2);
		if (play->cast == cast_chain)
			crowd_at(3);
	}
	play->cast();
}

static void
close_of(unsigned cluster, int handle)
{
	struct thread *t = thr(cluster, 3);

	if (handle != 0)
		expect_eq(call(t, fake_close(t, handle)), 0);
}

/*
 * All give up what they have: a wait that goes on ends with its handle. What was sent to a port,
 * or a sync point, that was not made yet is refused when it is made and closed.
 */
static void
close_all(void)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
		bool parked = fake_is_parked(thr(c, 0));

		if (actor[c].go == NULL || actor[c].end == KILLED)
			continue;
		if (actor[c].handle == 0 && actor[c].go != send_on)
			make_end(&actor[c]);
		close_of(c, actor[c].handle);
		close_of(c, actor[c].out);
		pump();
		expect(!parked || fake_result(thr(c, 0)) == -E_BADF);
	}
	for (unsigned i = 0; i < crowded; i++)
		if (way == NEVER || crowd[i].t != thr(victim, 7)) {
			here = crowd[i].t->cluster->id;
			expect_eq(fake_close(crowd[i].t, crowd[i].handle), 0);
			pump();
		}
}

static bool
is_zero(const void *at, size_t bytes)
{
	const unsigned char *byte = at;

	while (bytes > 0 && byte[bytes - 1] == 0)
		bytes--;
	return bytes == 0;
}

static void
port_is_empty(const struct mail_in *in)
{
	expect(in->endpoint == NULL && list_is_empty(&in->waiters));
	expect(!in->refusing && !in->wants);
	expect(is_zero(in->pending, sizeof(in->pending)));
	expect(is_zero(in->refused, sizeof(in->refused)));
	expect(is_zero(in->wanted, sizeof(in->wanted)));
	expect(is_zero(in->credit, sizeof(in->credit)));
}

static void
pair_is_empty(const struct sync_pair *p)
{
	expect_eq(p->pending | p->full | p->late | p->signal | p->taken | p->refused, 0);
}

/* Nothing of any transfer is in any table, and nothing is paid for. */
static void
all_is_empty(void)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
		const struct ikc_state *s = &fake[c]->c.ikc;

		if (!fake[c]->up)
			continue;
		for (unsigned class = 0; class < CLASSES; class++)
			expect_eq(ikc_ends(s, class), 0);
		for (unsigned p = 0; p < FAKE_PORTS; p++)
			port_is_empty(&s->in[p]);
		expect(is_zero(s->out, FAKE_CLUSTERS * FAKE_PORTS * sizeof(struct mail_out *)));
		expect(is_zero(s->left, FAKE_CLUSTERS * FAKE_PORTS * sizeof(uint16_t)));
		expect(is_zero(s->connected,
			FAKE_CLUSTERS * BITMAP_WORDS(s->connectors) * sizeof(uint32_t)));
		for (unsigned k = 0; k < FAKE_CLUSTERS; k++) {
			pair_is_empty(&s->sync[k]);
			expect(s->peer[k].syncs == NULL && s->peer[k].moving == 0);
		}
		expect_eq(s->kept + s->backlog_count + s->looks + s->restarts + s->settling, 0);
		expect(!s->owes && !s->held);
		expect(list_is_empty(&s->walks) && list_is_empty(&s->missed));
		expect_eq(fake[c]->c.chores, 0);
	}
}

/* While the victim is dead, nothing is for it: what it has put may still be read. */
static void
nothing_is_for_the_dead(void)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
		const struct ikc_state *s = &fake[c]->c.ikc;

		if (c == victim)
			continue;
		for (unsigned p = 0; p < FAKE_PORTS; p++) {
			const struct mail_in *in = &s->in[p];
			bool lies = bitmap_test(in->pending, victim) ||
				bitmap_test(in->refused, victim);

			expect(!bitmap_test(in->wanted, victim));
			expect(lies || !mail_has_credit(in, victim));
		}
		expect_eq(*connected_at(&fake[c]->c, victim), 0);
		expect_eq(s->sync[victim].full | s->sync[victim].taken |
			s->sync[victim].refused, 0);
	}
}

/* What a performance has come to, its victim's next life included. */
static void
all_is_paid(void)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		expect_eq(fake[c]->c.all.used[QUOTA_BYTES], charged[c]);
}

/* A whole play, in which nobody dies: how many stages it has. */
static unsigned
perform(void)
{
	unsigned n;

	begin();
	n = stages(STAGES_MAX);
	expect(n < STAGES_MAX);
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		expect(actor[c].go == NULL || actor[c].end == 0);
	close_all();
	all_is_empty();
	return n;
}

/*
 * Who has not sent anything to the victim does not begin with its next life. That would find it
 * when the whole play is performed.
 */
static void
call_off(struct actor *a)
{
	a->late = a->handle == 0;
	if (way == RESTARTED && ((a->go == send_on && a->peer == victim && a->count == 0) ||
		(a->go == forward_on && victim == 3 && a->got[1] == (unsigned)a->holds) ||
		(a->go == signal_rounds && a->late)))
		a->end = CALLED_OFF;
}

static void
strike(enum way how)
{
	struct thread *t = thr(0, 6);

	way = how;
	actor[victim].end = KILLED;
	if (way == RESTARTED) {
		expect_eq(call(t, kc_cluster_restart(t, 2, (int)victim)), 0);
	} else {
		here = victim == 0;
		fake_kill(victim, true);
	}
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		call_off(&actor[c]);
}

/* An end that has met the dead one belongs to it for ever. */
static void
ends_stay_broken(void)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
		const struct actor *a = &actor[c];
		struct thread *t = thr(c, 0);

		if (a->go == send_on && a->end < 0 && a->count > 0)
			expect_eq(call(t, kc_mailbox_write(t, a->out, text(0))), -E_CONNRESET);
		else if (a->go == signal_rounds && a->end < 0 && !a->late)
			expect_eq(call(t, kc_sync_signal(t, a->handle)), -E_CONNRESET);
	}
}

/* The victim dies after so many stages, and lives again. */
static void
perform_death(unsigned after, enum way how)
{
	fake_all_up();
	begin();
	stages(after);
	strike(how);
	expect(stages(STAGES_MAX) < STAGES_MAX);
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		if (actor[c].go != NULL && actor[c].end < KILLED && !play->is_right(&actor[c]))
			printf("FAIL cluster %u: end %ld, %u done, %swaiting\n", c, actor[c].end,
				actor[c].count, actor[c].waits ? "" : "not "), test_state.wrong++;
	if (way == DIES) {
		nothing_is_for_the_dead();
		if (seed % 4 < 2)
			close_all();
		fake_boot(victim);
	}
	stages(STAGES_MAX);
	if (way != DIES || seed % 4 >= 2) {
		ends_stay_broken();
		close_all();
	}
	all_is_empty();
	perform();
	all_is_paid();
}

/* At each stage; false: something is wrong. */
static bool
every_stage(unsigned length, enum way how)
{
	for (unsigned after = 0; after <= length; after++) {
		perform_death(after, how);
		if (test_state.wrong == 0)
			continue;
		printf("FAIL %s, seed %llu: cluster %u after %u of %u stages, way %d\n", play->name,
			(unsigned long long)seed, victim, after, length, (int)how);
		return false;
	}
	return true;
}

static bool
every_death(void)
{
	unsigned length;

	fake_connectors = play->connectors;
	fake_all_up();
	length = perform();
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		charged[c] = fake[c]->c.all.used[QUOTA_BYTES];
	for (victim = 0; victim < FAKE_CLUSTERS; victim++)
		for (enum way how = DIES; how < WAYS; how++)
			if (actor[victim].go != NULL && (how != RESTARTED || victim != 0) &&
				!every_stage(length, how))
				return false;
	return true;
}

static uint64_t first_seed = 1, seeds = SEEDS;

static void
all_seeds(const struct play *of)
{
	play = of;
	for (seed = first_seed; seed < first_seed + seeds; seed++)
		if (!every_death())
			return;
}

TEST(a_death_at_any_stage_of_a_message_harms_nobody_else)
{
	all_seeds(&plays[0]);
}

TEST(a_death_at_any_stage_of_a_message_that_waits_for_a_credit_harms_nobody_else)
{
	all_seeds(&plays[1]);
}

TEST(a_death_at_any_stage_of_a_forwarded_message_harms_nobody_else)
{
	all_seeds(&plays[2]);
}

TEST(a_death_at_any_stage_of_a_forwarded_message_that_waits_harms_nobody_else)
{
	all_seeds(&plays[3]);
}

TEST(a_death_at_any_stage_of_signals_to_one_harms_nobody_else)
{
	all_seeds(&plays[4]);
}

TEST(a_death_at_any_stage_of_signals_to_all_harms_nobody_else)
{
	all_seeds(&plays[5]);
}

int
main(int argc, char **argv)
{
	seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : SEEDS;
	first_seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	fake_machine();
	RUN(a_death_at_any_stage_of_a_message_harms_nobody_else);
	RUN(a_death_at_any_stage_of_a_message_that_waits_for_a_credit_harms_nobody_else);
	RUN(a_death_at_any_stage_of_a_forwarded_message_harms_nobody_else);
	RUN(a_death_at_any_stage_of_a_forwarded_message_that_waits_harms_nobody_else);
	RUN(a_death_at_any_stage_of_signals_to_one_harms_nobody_else);
	RUN(a_death_at_any_stage_of_signals_to_all_harms_nobody_else);
	fake_end();
	return TEST_FAILED;
}
