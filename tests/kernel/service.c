/* SPDX-License-Identifier: MIT
 *
 * A service with clients in its own cluster and in another one, at the same time: some ask and are
 * answered, some die with a request under way, some write nonsense into what they share with the
 * server, some never read an answer, some open more channels than they may. Cluster 1's first
 * process has the clients there started, and tells the server at last that all is over.
 *
 * machine: 2 4 KC
 * machine: 2 2 TC
 * machine: 2 1 TC
 */
#include <base/str.h>
#include <atoll/service.h>
#include <tests/kernel/ktest.h>

#define PORT 1
#define BIT 3
#define BIT_OWN 1			/* of the server's own */
#define LONGEST 1000			/* bytes of a message */
#define PLACES 16
#define REQUESTS 150			/* of a good client */
#define MAGIC 0x7e57u

enum op { ADD = 1, WRONG, END };

enum role { GOOD = 1, DIES, LIAR, DEAF, MANY };

struct question {
	uint32_t op, value;
};

struct reply {
	uint32_t value;
	struct mail_sender from;
};

static const struct service_kind kind = {.magic = MAGIC, .message = LONGEST, .cluster = 0,
	.port = PORT, .pages = 1};

/* --- clients --- */

/* The bytes that come back behind the answer; or an error. */
static int
ask(struct channel *ch, struct question q, struct reply *r, unsigned char *data, uint32_t bytes)
{
	const struct service_part request[2] = {{&q, sizeof(q)}, {data, bytes}};
	const struct service_part answer[2] = {{r, sizeof(*r)}, {data, bytes}};

	return service_call(ch, request, answer);
}

/* Ask for sums, with bytes that are to come back reversed. 0, or where it went wrong. */
static int
talk(struct channel *ch, uint32_t requests)
{
	static unsigned char data[LONGEST];
	struct cluster_info here;
	struct reply r;

	kcluster_info(&here);
	for (uint32_t n = 0; n < requests; n++) {
		uint32_t bytes = n * 37 % (LONGEST - sizeof(struct reply));

		for (uint32_t i = 0; i < bytes; i++)
			data[i] = (unsigned char)(n + i);
		if (ask(ch, (struct question){ADD, n}, &r, data, bytes) != (int)bytes)
			return 2;
		if (r.value != n + 1 || r.from.cluster != here.cluster)
			return 3;
		for (uint32_t i = 0; i < bytes; i++)
			if (data[i] != (unsigned char)(n + bytes - 1 - i))
				return 4;
	}
	return 0;
}

static int
good(struct channel *ch)
{
	static unsigned char data[LONGEST + 1];
	int result = talk(ch, REQUESTS);
	struct reply r;

	/* what is too long is not sent, and what makes no sense is answered */
	if (result == 0 && ask(ch, (struct question){0, 0}, &r, data, LONGEST) != -E_INVAL)
		result = 5;
	if (result == 0 && (ask(ch, (struct question){99, 7}, &r, data, 0) != 0 || r.value != 0))
		result = 6;
	return result != 0 ? result : channel_end(ch);
}

/* Anything anywhere, and wakes: the server is told nothing true. */
static int
lie(struct channel *ch)
{
	uint32_t *word = ch->memory, words = (uint32_t)kt_page_bytes() / 4, seed = 1;

	for (int n = 0; n < 20000; n++) {
		seed = seed * 1664525 + 1013904223;
		((volatile uint32_t *)word)[seed >> 8 & (words - 1)] = seed & 3 ? seed >> 20 : seed;
		if (n % 64 == 0)
			kchannel_wake(ch->handle);
	}
	return 0;
}

/* Requests whose answers nobody reads, until the server takes no more; then wait to be killed. */
static _Noreturn void
be_deaf(struct channel *ch)
{
	struct question q = {ADD, 1};
	const struct service_part request[2] = {{&q, sizeof(q)}, {&q, 0}};
	unsigned refused = 0;

	while (refused < 200) {
		refused += service_send(ch, request) == -E_AGAIN;
		kthread_yield();
	}
	for (;;)
		kthread_sleep(1, FOREVER);
}

/* More channels than one cluster may have. */
static int
open_many(void)
{
	struct channel ch;
	int opened = 0, result;

	while ((result = service_open(&ch, &kind, BIT)) == 0)
		opened++;
	return result == -E_NOSPC && opened > 0 && opened <= PLACES / 2 ? 0 : 2;
}

static int
be_client(uint32_t role)
{
	struct question q = {ADD, 1};
	const struct service_part request[2] = {{&q, sizeof(q)}, {&q, 0}};
	struct channel ch;

	if (role == MANY)
		return open_many();
	if (service_open(&ch, &kind, BIT) != 0)
		return 1;
	if (role == GOOD)
		return good(&ch);
	if (role == LIAR)
		return lie(&ch);
	if (role == DEAF)
		be_deaf(&ch);
	if (talk(&ch, 5) != 0)
		return 7;
	service_send(&ch, request);
	return 0;
}

/* --- the server --- */

static struct server {
	struct service service;
	struct service_client client[PLACES];
	unsigned ended, wrong;
	bool is_over;
} server;

static unsigned
clients_now(void)
{
	unsigned n = 0;

	for (int i = 0; i < PLACES; i++)
		n += server.client[i].is_there;
	return n;
}

static uint32_t
serve(void *of, uint32_t client, struct service_part request, void *answer)
{
	struct reply r = {.from = server.client[client].from};
	const unsigned char *data = (const unsigned char *)request.at + sizeof(struct question);
	unsigned char *out = (unsigned char *)answer + sizeof(r);
	struct question q = {0, 0};
	uint32_t bytes = 0;

	(void)of;
	if (request.bytes >= sizeof(q))
		memcpy(&q, request.at, sizeof(q));
	if (q.op == ADD) {
		r.value = q.value + 1;
		bytes = request.bytes - (uint32_t)sizeof(q);
		if (bytes > LONGEST - sizeof(r))
			bytes = LONGEST - sizeof(r);
		for (uint32_t i = 0; i < bytes; i++)
			out[i] = data[bytes - 1 - i];
	} else if (q.op == WRONG) {
		server.wrong++;
	} else if (q.op == END && r.from.cluster == 1) {
		server.is_over = true;
	}
	memcpy(answer, &r, sizeof(r));
	return (uint32_t)sizeof(r) + bytes;
}

static void
gone(void *of, uint32_t client)
{
	(void)of;
	expect(!server.client[client].is_there);
	server.ended++;
}

/* Start clients of each kind here, too; the deaf one is killed when the others have ended. */
TEST(clients_of_two_clusters_are_served_and_cost_nobody_else_anything)
{
	static const uint32_t roles[] = {DEAF, GOOD, DIES, GOOD, LIAR, GOOD, DIES};
	long proc[sizeof(roles) / sizeof(roles[0])];
	unsigned living = sizeof(roles) / sizeof(roles[0]);
	struct proc_status status;

	server.service = (struct service){.kind = &kind, .serve = serve, .gone = gone,
		.client = server.client, .clients = PLACES, .looks = SERVICE_LOOKS};
	server.service.in = (int)kmailbox_create(PORT);
	expect_eq(service_begin(&server.service), 0);
	for (unsigned i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		proc[i] = kt_spawn(roles[i], 0, ANY_CORE);
		expect(proc[i] > 0);
		expect_eq(kevent_bind(EVENT_PROC, (int)proc[i], BIT_OWN), 0);
	}
	while (living > 0 || !server.is_over || clients_now() > 0) {
		if ((service_step(&server.service) & 1u << BIT_OWN) == 0)
			continue;
		for (unsigned i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (proc[i] != 0 && kproc_wait((int)proc[i], &status, 0) == 0) {
				expect_eq(status.status, roles[i] == DEAF ? 3 : 0);
				khandle_close((int)proc[i]);
				proc[i] = 0;
				living--;
			}
		if (living == 1 && proc[0] != 0)
			expect_eq(kproc_kill((int)proc[0], 3), 0);
	}
	expect_eq(server.wrong, 0);
	/* each of them, and what the one that opens many had */
	expect(server.ended > 7 + 7);
	while (kt_stats(STATS_CHANNEL_PAGES) != 0)
		kthread_yield();
}

/* --- cluster 1 --- */

static _Noreturn void
conduct(void)
{
	static const uint32_t roles[] = {DEAF, GOOD, LIAR, GOOD, DIES, GOOD};
	long proc[sizeof(roles) / sizeof(roles[0])];
	struct channel ch;
	struct reply r;
	int result;

	/* until the server is there, nobody takes the channel */
	while ((result = service_open(&ch, &kind, BIT)) == -E_PIPE)
		kthread_yield();
	for (unsigned i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		proc[i] = kt_spawn(roles[i], 0, ANY_CORE);
	if (result == 0)
		result = talk(&ch, REQUESTS);
	for (unsigned i = 1; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (kt_wait(proc[i], NULL) != 0)
			ask(&ch, (struct question){WRONG, i}, &r, NULL, 0);
	if (result != 0 || kt_wait(kt_spawn(MANY, 0, ANY_CORE), NULL) != 0)
		ask(&ch, (struct question){WRONG, 0}, &r, NULL, 0);
	kproc_kill((int)proc[0], 3);
	kt_wait(proc[0], NULL);
	ask(&ch, (struct question){END, 0}, &r, NULL, 0);
	channel_end(&ch);
	for (;;)
		kthread_sleep(1, FOREVER);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (atoll_startup()->job != 0)
		return be_client(atoll_startup()->job);
	if (info.cluster != 0)
		conduct();
	RUN(clients_of_two_clusters_are_served_and_cost_nobody_else_anything);
	kt_end();
}
