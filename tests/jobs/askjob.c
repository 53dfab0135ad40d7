/* SPDX-License-Identifier: MIT
 *
 * MPI jobs by request: this program asks the process servers of all clusters for parts of jobs, of
 * itself, as mpiexec does, and as no mpiexec would. The ranks of a part find out whether they are
 * the job that was asked for. At the end every cluster has what it had before.
 */
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/proc/client.h>
#include "expect.h"

#define SELF_PATH "bin/askjob"
#define BIT 9
#define RANKS 9
#define STATUS 40			/* with which ranks return that find what they should */
#define BAD 41

static uint32_t clusters;
static struct channel line[CLUSTERS_MAX];

/* --- what a rank does --- */

static const struct placement *
place(uint32_t rank)
{
	return (const struct placement *)(uintptr_t)atoll_startup()->placement + rank;
}

static const struct job_part *
part_of(uint32_t rank)
{
	return (const struct job_part *)(uintptr_t)atoll_startup()->parts + place(rank)->cluster;
}

/* Send the job's number to the next rank. */
static int
tell_next(const struct startup *s)
{
	uint32_t next = (s->rank + 1) % s->ranks, message[MAILBOX_MSG_SIZE / 4] = {s->job};
	long out = kmailbox_open(place(next)->cluster,
		part_of(next)->base_port + place(next)->local_rank);

	return out < 0 ? (int)out : mailbox_send((int)out, message);
}

/* Hear it from the one before, with the badge that this is known to have. */
static bool
hear(const struct startup *s)
{
	uint32_t before = (s->rank + s->ranks - 1) % s->ranks, message[MAILBOX_MSG_SIZE / 4];
	long in = kmailbox_create((int)(s->base_port + s->local_rank));
	struct mail_sender from;

	if (in < 0 || tell_next(s) != 0)
		return false;
	while (kmailbox_read((int)in, ANY_SOURCE_CLUSTER, message, &from) < 0)
		kmailbox_wait((int)in, ANY_SOURCE_CLUSTER, FOREVER);
	return message[0] == s->job && from.badge == part_of(before)->badge &&
		from.cluster == place(before)->cluster;
}

static int
be_rank(const char *what)
{
	const struct startup *s = atoll_startup();

	if (strcmp(what, "wait") == 0)
		for (;;)
			kthread_sleep(1, FOREVER);
	if (place(s->rank)->cluster != s->cluster || place(s->rank)->local_rank != s->local_rank)
		return BAD;
	if (s->parts == 0)
		return s->base_port == NO_PORTS && s->local_ranks == s->ranks ? STATUS : BAD;
	return part_of(s->rank)->base_port == s->base_port && hear(s) ? STATUS : BAD;
}

/* --- who asks --- */

static struct process_job
job_of(uint32_t ranks, uint32_t cores)
{
	static uint32_t jobs = 100;
	struct process_job job = {.job = jobs++, .ranks = ranks, .ports = 8};

	for (uint32_t c = 0; c < clusters; c++)
		job.cluster[c] = (struct process_job_cluster){cores, 1 << 15};
	return job;
}

static int
ask(uint32_t c, const struct process_job *job, const char *path, const char *what,
	struct job_part *part)
{
	char *const args[] = {(char *)"askjob", (char *)"rank", (char *)(uintptr_t)what, NULL};
	const struct process_spawn spawn = {.path = path, .args = args};
	int result = process_part_ask(&line[c], &spawn, job, clusters);

	return result < 0 ? result : process_part_take(&line[c], part);
}

/* A job whose parts are loaded. */
struct loaded {
	int pid[CLUSTERS_MAX];
	struct job_part part[CLUSTERS_MAX];
};

static void
load(struct loaded *l, const struct process_job *job, const char *what)
{
	for (uint32_t c = 0; c < clusters; c++) {
		l->pid[c] = ask(c, job, SELF_PATH, what, &l->part[c]);
		if (l->pid[c] < 0)
			expect(l->pid[c], 0, "a part");
	}
}

static void
start(const struct loaded *l)
{
	const struct process_parts all = {l->part, clusters};

	for (uint32_t c = 0; c < clusters; c++)
		if (l->pid[c] > 0)
			expect(process_part_start(&line[c], l->pid[c], 0, &all), l->pid[c],
				"start");
}

static void
take(const struct loaded *l, uint32_t cause, int status)
{
	struct proc_status s;
	uint32_t missing;

	for (uint32_t c = 0; c < clusters; c++) {
		if (l->pid[c] == 0)
			continue;
		expect(process_wait_ask(&line[c], l->pid[c]), 0, "ask for the end");
		expect(process_wait_take(&line[c], &s, &missing), l->pid[c], "the end");
		expect((long)s.cause, (long)cause, "cause");
		expect(s.status, status, "status");
		expect(missing > 0, cause != CRASH_NONE, "ranks that had not ended");
	}
}

static void
check_jobs(void)
{
	const struct process_job wide = job_of(RANKS, 2), other = job_of(RANKS, 2),
		narrow = job_of(2, 2);
	struct loaded l, m, n;

	load(&l, &wide, "ring");
	load(&m, &other, "ring");
	load(&n, &narrow, "ring");
	for (uint32_t c = 0; c < clusters; c++)
		expect(l.pid[c] == 0 || l.part[c].base_port != m.part[c].base_port, 1,
			"ports of their own");
	expect(n.part[0].base_port, NO_PORTS, "a job in one cluster needs none");
	start(&m);
	start(&l);
	start(&n);
	take(&l, CRASH_NONE, STATUS);
	take(&m, CRASH_NONE, STATUS);
	take(&n, CRASH_NONE, STATUS);
}

/* Parts that were never started, and some that run. */
static void
check_kills(void)
{
	const struct process_job job = job_of(RANKS, 2);
	struct loaded l;

	for (int runs = 0; runs < 2; runs++) {
		load(&l, &job, "wait");
		if (runs) {
			const struct process_parts all = {l.part, clusters};

			start(&l);
			expect(process_part_start(&line[0], l.pid[0], 0, &all), -E_SRCH,
				"start again");
		}
		for (uint32_t c = 0; c < clusters; c++)
			if (l.pid[c] > 0)
				expect(process_kill(&line[c], l.pid[c], 9, 0), 0, "kill");
		take(&l, CRASH_KILLED, 9);
	}
}

static int
ask_wrong(const struct process_job *job, const char *path)
{
	struct job_part part;

	return ask(0, job, path, "wait", &part);
}

static void
check_errors(void)
{
	struct process_job job = job_of(1000, 2);
	struct loaded l;

	expect(ask_wrong(&job, SELF_PATH), -E_NOSPC, "more ranks than ports");
	job = job_of(0, 2);
	expect(ask_wrong(&job, SELF_PATH), -E_INVAL, "no ranks");
	job = job_of(UINT32_MAX, 2);
	expect(ask_wrong(&job, SELF_PATH), -E_INVAL, "ranks without end");
	job = job_of(2, 0);
	expect(ask_wrong(&job, SELF_PATH), -E_INVAL, "no cores");
	job = job_of(2, 1u << 31);
	expect(ask_wrong(&job, SELF_PATH), -E_INVAL, "cores without end");
	job = job_of(2, 2);
	expect(ask_wrong(&job, "bin/nothing"), -E_NOENT, "no program");
	expect(ask_wrong(&job, "etc/job"), -PROCESS_ENOEXEC, "no program");
	job.policy = 7;
	expect(ask_wrong(&job, SELF_PATH), -E_INVAL, "a strange policy");
	/* ports are given until there are none */
	job = job_of(RANKS, 1);
	job.ports = 1u << 30;
	for (int i = 0, pid = 1; pid > 0; i++) {
		struct job_part part;

		pid = i < 100 ? ask(0, &job, SELF_PATH, "wait", &part) : 0;
		if (pid < 0)
			expect(pid == -E_BUSY || pid == -E_AGAIN || pid == -E_NOMEM, 1, "too many");
		l.pid[i < 100 ? i : 0] = pid;
		expect(i < 100, 1, "an end to it");
	}
	for (int i = 0; l.pid[i] > 0; i++)
		expect(process_kill(&line[0], l.pid[i], 9, 0), 0, "kill");
}

static void
open_all(void)
{
	struct cluster_info here;

	kcluster_info(&here);
	clusters = here.clusters;
	for (uint32_t c = 0; c < clusters; c++)
		expect(process_open(&line[c], (int)c, BIT), 0, "a channel");
}

/* Ask for a job and end in the middle of it: with parts loaded, started, or neither. */
static int
leave(const char *when)
{
	char *const args[] = {(char *)"askjob", (char *)"rank", (char *)"wait", NULL};
	const struct process_spawn spawn = {.path = SELF_PATH, .args = args};
	struct process_job job;
	struct loaded l;

	open_all();
	job = job_of(RANKS, 2);
	if (strcmp(when, "asked") == 0) {
		for (uint32_t c = 0; c < clusters; c++)
			process_part_ask(&line[c], &spawn, &job, clusters);
		return failures;
	}
	load(&l, &job, "wait");
	if (strcmp(when, "started") == 0)
		start(&l);
	return failures;
}

static void
check_leavers(void)
{
	static const char *const when[] = {"asked", "loaded", "started"};

	for (unsigned i = 0; i < 3 * 3; i++) {
		char *const args[] = {(char *)"askjob", (char *)"leave",
			(char *)(uintptr_t)when[i % 3], NULL};
		const struct process_spawn spawn = {.path = SELF_PATH, .args = args};
		struct proc_status s;
		int pid = process_spawn(&line[0], &spawn);

		expect(pid > 0, 1, "a process that asks");
		expect(process_wait(&line[0], pid, 0, &s), pid, "its end");
		expect(s.status, 0, "its status");
	}
}

/* Wait until each cluster has as many ports as before, and as much memory, unless that is 0. */
static void
await_rooms(const struct process_room *want, struct process_room *have)
{
	for (uint32_t c = 0; c < clusters; c++)
		do
			expect(process_room(&line[c], &have[c]), 0, "room");
		while (have[c].ports < want[c].ports || have[c].free_bytes < want[c].free_bytes);
}

static void
check_all(void)
{
	check_jobs();
	check_kills();
	check_errors();
	check_leavers();
}

int
main(int argc, char **argv)
{
	static struct process_room first[CLUSTERS_MAX], before[CLUSTERS_MAX], after[CLUSTERS_MAX];

	if (argc > 2 && strcmp(argv[1], "rank") == 0)
		return be_rank(argv[2]);
	if (argc > 2)
		return leave(argv[2]);
	open_all();
	await_rooms(first, first);
	for (uint32_t c = 0; c < clusters; c++)
		first[c].free_bytes = 0;
	/* what is kept of the first time is there the second time */
	check_all();
	await_rooms(first, before);
	check_all();
	await_rooms(before, after);
	printf("%s askjob\n", failures ? "FAIL" : "ok");
	return failures != 0;
}
