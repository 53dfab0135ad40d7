/* SPDX-License-Identifier: MIT
 *
 * Random requests to a process server, almost right or nonsense, over a channel of which the
 * request may change while it is served; a child of a child may ask them, too. The server goes on,
 * and at the end everything has been given back. usage: askfuzz [SEED [REQUESTS]]
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <servers/name/protocol.h>
#include <servers/proc/client.h>
#include "draw.h"
#include "expect.h"
#include "frames.h"

#define SELF_PATH "bin/askfuzz"
#define BIT 9
#define REQUESTS 3000
#define FIXED offsetof(struct process_request, pid)	/* what stays: see some_flags */

static struct channel ch;
static uint32_t clusters;
static int32_t pids[8];			/* that were named last */

static int32_t
some_pid(void)
{
	switch (draw(4)) {
	case 0: return (int32_t)draw(300);
	case 1: return PROCESS_ANY;
	case 2: return (int32_t)(draw(65536) << 16 | draw(65536));
	default: return pids[draw(8)];
	}
}

/* Texts that start this program, which ends at once; or noise. Their bytes. */
static uint32_t
some_texts(struct process_request *q, char *at)
{
	static const char good[] = SELF_PATH "\0x\0end\0A=b";
	uint32_t bytes = sizeof(good);

	memcpy(at, good, sizeof(good));
	q->args = 2;
	q->envs = 1;
	if (draw(3) == 0) {
		bytes = draw(200);
		for (uint32_t i = 0; i < bytes; i++)
			at[i] = (char)(draw(4) == 0 ? 0 : draw(256));
		q->args = draw(4) == 0 ? draw(1u << 31) : draw(6);
		q->envs = draw(4) == 0 ? 0u - q->args + draw(3) : draw(6);
	}
	q->text_bytes = draw(8) == 0 ? draw(6000) : bytes;
	q->inherit_bytes = draw(4) == 0 ? draw(2000) : 0;
	return bytes;
}

/*
 * A rank that becomes another program would end the test, and one that waits for what it cannot
 * get would stand still.
 */
static uint32_t
some_flags(const struct process_request *q)
{
	uint32_t flags = draw(32) & ~(uint32_t)PROCESS_REPLACE;

	if (q->op == PROCESS_WAIT && q->pid != PROCESS_ANY && draw(2) == 0)
		flags |= PROCESS_NO_WAIT;
	return flags;
}

/* A job of a few ranks, or noise. Its bytes. */
static uint32_t
some_job(char *at)
{
	struct process_job job = {.ranks = draw(16) == 0 ? draw(20000) : draw(5),
		.policy = draw(4) == 0 ? draw(8) : MAP_COMPACT, .ports = draw(64)};
	uint32_t bytes = (uint32_t)(sizeof(job) - sizeof(job.cluster) +
		clusters * sizeof(job.cluster[0]));

	for (uint32_t c = 0; c < clusters; c++)
		job.cluster[c] = (struct process_job_cluster){draw(16) == 0 ? draw(1u << 31) :
			draw(4), draw(1u << 20)};
	memcpy(at, &job, bytes);
	return bytes;
}

/* What may be asked about names, but for what is answered when somebody links one. Its bytes. */
static uint32_t
some_name(unsigned char *at)
{
	struct name_message m = {.op = draw(NAME_ASKED + 2), .port = draw(16),
		.flags = draw(4096) & ~(uint32_t)NAME_WAIT, .period = draw(3), .names = draw(300)};

	memset(m.name, 'a' + (int)draw(3), draw(8) == 0 ? sizeof(m.name) : draw(4));
	memcpy(at, &m, sizeof(m));
	return sizeof(m);
}

/* The bytes of a request at `at`. */
static uint32_t
some_request(unsigned char *at)
{
	struct process_request q = {.op = draw(PROCESS_NAME + 2), .pid = some_pid(),
		.status = (int)draw(300)};
	uint32_t bytes = some_texts(&q, (char *)at + sizeof(q));

	q.flags = some_flags(&q);
	q.told = draw(2) == 0 ? 0 : PROCESS_SIGNAL(1 + draw(64));
	if (q.op == PROCESS_PART && draw(4) != 0) {
		q.inherit_bytes = 0;
		bytes += some_job((char *)at + sizeof(q) + bytes);
	}
	if (q.op == PROCESS_NAME)
		bytes = some_name(at + sizeof(q));
	memcpy(at, &q, sizeof(q));
	return draw(16) == 0 ? draw(sizeof(q)) : (uint32_t)sizeof(q) + bytes;
}

/*
 * A process that has nothing does not end by itself, and would be waited for: it begins at an
 * address at which nothing is, or is killed.
 */
static void
end_formed(const struct process_reply *r)
{
	const struct process_entry nowhere = {.pc = 4096 * (16 + draw(16)), .sp = 4096 * 20};

	expect(khandle_close(r->handle), 0, "the handle of a process that has nothing");
	if (draw(2) == 0 ||
		process_start_ask(&ch, r->pid, draw(2) * PROCESS_AWAIT, &nowhere) != 0 ||
		process_start_take(&ch) != 0)
		expect(process_kill(&ch, r->pid, 9, PROCESS_DEFAULT), 0, "its end");
}

/* What is brought is no program, or the beginning of one. */
static void
bring(int handle)
{
	uint64_t at;

	expect(kmem_alloc(SELF, 4096, 0, &at) >= 0, 1, "addresses");
	if (kpage_map(SELF, at, handle, 0, 1, PAGE_READ | PAGE_WRITE) == 0) {
		memcpy((void *)(uintptr_t)at, (const void *)(uintptr_t)atoll_startup()->image_base,
			4096);
		for (uint32_t i = draw(4); i > 0; i--)
			((unsigned char *)(uintptr_t)at)[draw(256)] = (unsigned char)draw(256);
	}
	kpage_unmap(SELF, at, 1);
	expect(khandle_close(handle), 0, "the handle of memory for a program");
}

/* Nor does a part: it is killed, perhaps while its ranks run. */
static void
end_part(const struct process_reply *r)
{
	struct job_part parts[CLUSTERS_MAX];
	const struct process_parts all = {parts, clusters};
	int result;

	for (uint32_t c = 0; c < clusters; c++)
		parts[c] = (struct job_part){(uint16_t)draw(65536), (uint16_t)draw(65536)};
	if (draw(2) == 0)
		process_part_start(&ch, r->pid, 0, &all);
	result = process_kill(&ch, r->pid, 9, PROCESS_DEFAULT);
	expect(result == 0 || result == -E_SRCH, 1, "its end");
}

static void
ask_once(void)
{
	unsigned char *place = channel_place(&ch);
	struct process_reply r = {0};
	struct name_message named = {0};
	uint32_t bytes, op, changing;
	int result;

	bytes = some_request(place);
	memcpy(&op, place, sizeof(op));
	/* what is asked about a name stays, so that it does not wait for one */
	changing = op == PROCESS_NAME ? sizeof(struct process_request) - FIXED : 64;
	channel_put(&ch, bytes);
	if (draw(2) == 0)
		for (int i = 0; i < 64; i++)
			((volatile unsigned char *)place)[FIXED + draw(changing)] =
				(unsigned char)draw(256);
	do
		result = service_receive(&ch, (const struct service_part[2]){{&r, sizeof(r)},
			{(char *)&named + sizeof(r), sizeof(named) - sizeof(r)}});
	while (result >= 0 && (r.signal & PROCESS_TOLD) != 0);
	expect(result >= 0, 1, "an answer");
	memcpy(&named, &r, sizeof(r));
	if (op == PROCESS_NAME) {
		if (named.op == NAME_TABLE && named.error == 0)
			expect(khandle_close((int)named.port), 0, "the handle of a table");
		return;
	}
	if (r.pid > 0)
		pids[draw(8)] = r.pid;
	if (r.error == 0 && op == PROCESS_FORK)
		end_formed(&r);
	if (r.error == 0 && op == PROCESS_BRING)
		bring(r.handle);
	if (r.error == 0 && op == PROCESS_PART && r.pid > 0)
		end_part(&r);
}

static void
ask_all(long requests)
{
	struct proc_status status;

	for (long i = 0; i < requests; i++)
		ask_once();
	while (process_wait(&ch, PROCESS_ANY, 0, &status) != -PROCESS_ECHILD)
		continue;
	process_bring(&ch, 0);		/* nothing is lent any more */
}

int
main(int argc, char **argv)
{
	struct cluster_info here;
	struct name_client names;
	long requests = argc > 2 ? atol(argv[2]) : REQUESTS, before;

	if (argc > 1 && strcmp(argv[1], "end") == 0)
		return 0;
	state = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	kcluster_info(&here);
	clusters = here.clusters;
	expect(process_open(&ch, (int)atoll_startup()->cluster, BIT), 0, "a channel");
	/* the daemon has the memory that names take from now on */
	expect(name_open(&names, BIT), 0, "a client of the name daemon");
	name_close(&names);
	/* the servers keep memory for what was ever asked for: as many requests before reach it */
	ask_all(requests);
	before = frames();
	ask_all(requests);
	frames_await(before);
	printf("%s seed %ld\n", failures ? "FAIL" : "ok asked with", argc > 1 ? atol(argv[1]) : 1);
	return failures != 0;
}
