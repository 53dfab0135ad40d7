/* SPDX-License-Identifier: MIT
 *
 * Active messages of the real kernel under the coroutine scheduler. Application cores call the home
 * core with data of every length; what runs there posts to random cores. Calls must be served in
 * the order of their tickets (tests/golden/queue.h), once, with the right data both ways; posts
 * must run once on the right core. In some seeds the home core is a TC, which is interrupted
 * instead of rung.
 *
 * usage: am_order [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <hal/core.h>
#include <kernel/call/kcall_core.h>
#include <kernel/proc/proc.h>
#include <hal/cpu/coroutine/coroutine.h>
#include <tests/golden/queue.h>

#define CORES 4
#define CALLS 12			/* per core */
#define POSTS_MAX (CORES * CALLS)

struct letter {
	uint32_t to, number, sum;
	uint32_t length;
	unsigned char text[AM_DATA - 16];
};

static struct boot_record record;
static struct process live;
static struct thread caller[CORES];

static struct {
	struct golden_queue tickets;
	unsigned served[CORES];
	bool last_is_passive;
	unsigned finished;			/* cores that made all their calls */
	struct letter kept[POSTS_MAX];		/* posts that found the slot busy */
	unsigned kept_count;
	unsigned posted, received;
	unsigned char seen[POSTS_MAX];
} run;

static unsigned char
byte_of(unsigned core, unsigned number, unsigned i)
{
	return (unsigned char)(core * 101 + number * 29 + i * 3 + 5);
}

static uint32_t
sum_of(const struct letter *l)
{
	uint32_t sum = l->to + 7 * l->number + l->length;

	for (unsigned i = 0; i < l->length; i++)
		sum = sum * 31 + l->text[i];
	return sum;
}

/* Runs on the core that a letter was posted to. */
static void
receive(struct core *core, const void *data)
{
	struct letter l;

	memcpy(&l, data, sizeof(l));
	coro_check(l.to == core->id && l.to == hal_core_id());
	coro_check(l.length <= sizeof(l.text) && l.sum == sum_of(&l));
	coro_check(l.number < run.posted && run.seen[l.number]++ == 0);
	run.received++;
}

static bool
deliver(struct cluster *c, const struct letter *l)
{
	int error = am_post(&c->core[l->to], receive, l,
		(uint32_t)(offsetof(struct letter, text) + l->length));

	coro_check(error == 0 || error == -E_AGAIN);
	if (error == 0)
		hal_notify(c->id, l->to);
	return error == 0;
}

static void
deliver_kept(struct cluster *c)
{
	unsigned left = 0;

	for (unsigned i = 0; i < run.kept_count; i++)
		if (!deliver(c, &run.kept[i]))
			run.kept[left++] = run.kept[i];
	run.kept_count = left;
}

static void
post_somewhere(struct cluster *c)
{
	struct letter l = {.to = 1 + coro_random(CORES - 1), .number = run.posted++,
		.length = coro_random(sizeof(l.text) + 1)};

	for (unsigned i = 0; i < l.length; i++)
		l.text[i] = (unsigned char)coro_random(256);
	l.sum = sum_of(&l);
	if (!deliver(c, &l))
		run.kept[run.kept_count++] = l;
}

/*
 * The home half of a call: a[0] core, a[1] number, a[2] length of the data, a[3] whether to post.
 */
static long
serve(struct kcall_args *args)
{
	unsigned core = (unsigned)args->a[0], number = (unsigned)args->a[1],
		length = (unsigned)args->a[2];
	struct cluster *c = args->caller->cluster;

	coro_check(hal_core_id() == 0);
	coro_check(core < CORES && number == run.served[core] && length <= KCALL_DATA);
	coro_check(golden_queue_take(&run.tickets, core));
	run.served[core]++;
	for (unsigned i = 0; i < length; i++) {
		coro_check(args->data[i] == byte_of(core, number, i));
		args->data[i] = byte_of(core + 1, number, i);
	}
	deliver_kept(c);
	if (args->a[3])
		post_somewhere(c);
	return (long)(core * 1000 + number);
}

static void
call(struct core *core, unsigned number, bool with_post)
{
	struct kcall_args *args = kcall_args(core);
	unsigned length = coro_random(KCALL_DATA + 1);
	long result;

	args->caller = &caller[core->id];
	args->a[0] = core->id;
	args->a[1] = number;
	args->a[2] = length;
	args->a[3] = with_post;
	for (unsigned i = 0; i < length; i++)
		args->data[i] = byte_of(core->id, number, i);
	result = am_call_kernel(core, serve, args,
		(uint32_t)offsetof(struct kcall_args, data) + length);
	coro_check(result == (long)(core->id * 1000 + number));
	for (unsigned i = 0; i < length; i++)
		coro_check(args->data[i] == byte_of(core->id + 1, number, i));
}

/* A ticket was drawn: the naive queue knows it at the same moment. */
static void
note_ticket(const volatile uint32_t *place, uint32_t old)
{
	const struct core *core = hal_core_local();

	if (core == NULL || place != &core->cluster->am.ticket)
		return;
	coro_check(old == run.tickets.count);
	coro_check(golden_queue_put(&run.tickets, core->id));
}

static bool
is_over(void)
{
	return run.finished + run.last_is_passive == CORES - 1 && run.kept_count == 0 &&
		run.received == run.posted;
}

static void
calling_core(void *arg)
{
	struct core *core = arg;
	unsigned n;

	/* the last core may only receive: the kernel's own entry must do for it */
	if (run.last_is_passive && hal_core_id() == CORES - 1)
		kernel_core_main(arg);
	hal_acquire(core, sizeof(*core));
	hal_acquire(core->cluster, sizeof(*core->cluster));
	hal_core_set_local(core);
	caller[core->id].cluster = core->cluster;
	for (n = 0; n < CALLS; n++)
		call(core, n, coro_random(2));
	run.finished++;
	/* the last posts may wait for somebody to call again */
	while (!is_over())
		if (core->id != 1)
			kernel_core_main(arg);
		else if (run.kept_count > 0)
			call(core, n++, false);
		else
			am_serve(core), coro_point();
	coro_finish(0);
}

static bool
one_seed(uint64_t seed)
{
	struct coro_config config = {.record = &record, .seed = seed, .core = calling_core,
		.on_add = note_ticket};
	struct coro_result result;

	memset(&run, 0, sizeof(run));
	memset(caller, 0, sizeof(caller));
	run.last_is_passive = seed % 2;
	live.state = PROC_LIVE;
	for (unsigned i = 0; i < CORES; i++)
		caller[i].proc = &live;
	coro_record(&record, 1, CORES);
	record.roles[0] = seed % 4 == 0 ? ROLE_TC : ROLE_KC;
	return coro_run(&config, &result, false);
}

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;

	for (unsigned long seed = first; seed < first + count; seed++)
		if (!one_seed(seed)) {
			printf("FAIL active_messages_are_served_once_in_the_order_of_"
				"their_tickets: seed %lu\n", seed);
			return 1;
		}
	printf("ok active_messages_are_served_once_in_the_order_of_their_tickets (%lu seeds)\n",
		count);
	return 0;
}
