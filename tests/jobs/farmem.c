/* SPDX-License-Identifier: MIT
 *
 * Memory of other clusters (atoll/rmem.h): each rank uses that of the next cluster, by all
 * policies, and compares with memory of its own; ranks share a region; what is wrong is refused;
 * what clients had comes back when they are gone, also killed, and a server that is killed is
 * followed by another one; a machine that has none says so.
 * usage: farmem use [SEED [OPERATIONS]] | shared | wrong | back | none | killed |
 * kills [SEED [KILLS]]
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/rmem.h>
#include <mpi.h>
#include <servers/proc/client.h>
#include <servers/rmem/protocol.h>
#include "draw.h"
#include "expect.h"
#include "rest.h"

#define BIT 9
#define BIT_LEADER 10
#define PAGES 24
#define FRAMES 5
#define BYTES (PAGES * RMEM_PAGE)
#define OPERATIONS 1500
#define LONGEST (2 * RMEM_PAGE)

static struct rmem far;
static unsigned char mirror[BYTES], text[LONGEST];
static struct cluster_info here;

static int
next_cluster(void)
{
	return (int)((here.cluster + 1) % here.clusters);
}

static bool
opens(int cluster, enum rmem_policy policy, uint32_t frames)
{
	int result = rmem_open(&far, &(struct rmem_setup){.cluster = cluster, .bit = BIT,
		.policy = policy, .frames = frames});

	expect(result, 0, "open");
	return result == 0;
}

/* --- ranks and what they keep elsewhere --- */

static void
use_some(uint64_t at)
{
	uint32_t from = draw(BYTES), n = draw(4) != 0 ? draw(64) : draw(LONGEST);

	if (draw(8) == 0) {		/* whole pages */
		from -= from % RMEM_PAGE;
		n = RMEM_PAGE;
	}
	n = n < BYTES - from ? n : BYTES - from;
	if (draw(2) == 0) {
		for (uint32_t i = 0; i < n; i++)
			mirror[from + i] = (unsigned char)draw(256);
		expect(rmem_write(&far, at + from, mirror + from, n), 0, "write");
	} else {
		expect(rmem_read(&far, at + from, text, n), 0, "read");
		expect(memcmp(text, mirror + from, n), 0, "what was read");
	}
}

/* Nothing that was written and flushed is lost with the cache. */
static void
use_by(enum rmem_policy policy, uint64_t seed, int operations)
{
	uint64_t at = 0;
	struct rmem_counts c;

	state = seed * 100 + (uint64_t)policy * 10 + (uint64_t)atoll_startup()->rank;
	if (!opens(next_cluster(), policy, FRAMES))
		return;
	memset(mirror, 0, sizeof(mirror));
	expect(rmem_alloc(&far, PAGES, &at), 0, "alloc");
	for (int i = 0; i < operations && failures == 0; i++) {
		if (draw(200) == 0) {
			expect(rmem_flush(&far), 0, "flush");
			rmem_drop(&far);
		}
		use_some(at);
	}
	expect(rmem_read(&far, at + BYTES - 1, text, 2), -E_INVAL, "behind its end");
	c = far.counts;
	expect(c.hits + c.misses >= (uint64_t)operations / 2 && c.fetched <= c.misses &&
		c.stored > 0, 1, "counts");
	expect(policy != RMEM_BYPASS || c.hits == 0, 1, "hits of no cache");
	expect(rmem_free(&far, at), 0, "free");
	expect(rmem_read(&far, at, text, 1), -E_INVAL, "read what was freed");
	rmem_close(&far);
}

/* Rank 0 has it, all attach it, and write their part; then each reads all. */
static void
share_region(void)
{
	int rank, ranks;
	uint32_t pages = 0;
	uint64_t at = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!opens(here.clusters > 1 ? 1 : 0, RMEM_LRU, FRAMES))
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (rank == 0)
		expect(rmem_alloc(&far, PAGES, &at), 0, "alloc");
	MPI_Bcast(&at, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	expect(rmem_attach(&far, at, &pages), rank == 0 ? -E_EXIST : 0, "attach");
	expect(pages, rank == 0 ? 0 : PAGES, "its pages");
	for (int p = rank; p < PAGES; p += ranks) {
		memset(text, p + 1, RMEM_PAGE);
		expect(rmem_write(&far, at + (uint64_t)p * RMEM_PAGE, text, RMEM_PAGE), 0,
			"write");
	}
	expect(rmem_flush(&far), 0, "flush");
	MPI_Barrier(MPI_COMM_WORLD);
	rmem_drop(&far);
	if (rank == 0)		/* it lives as long as others use it */
		expect(rmem_free(&far, at), 0, "free");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int p = 0; p < PAGES && rank != 0; p++) {
		expect(rmem_read(&far, at + (uint64_t)p * RMEM_PAGE + 77, text, 1), 0, "read");
		expect(text[0], p + 1, "what others have written");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	rmem_close(&far);
	MPI_Finalize();
}

/* --- what is wrong --- */

/* A request as no library makes it. */
static int
raw(struct rmem_request q, uint32_t bytes)
{
	struct rmem_reply r = {0};
	int result = service_call(&far.ch,
		(const struct service_part[2]){{&q, sizeof(q)}, {text, bytes}},
		(const struct service_part[2]){{&r, sizeof(r)}, {text, sizeof(text)}});

	return result < 0 ? result : r.result;
}

static void
ask_wrongly(uint32_t first)
{
	static const struct { struct rmem_request q; uint32_t bytes; } wrong[] = {
		{{0}, 0}, {{.op = 99}, 0}, {{.op = RMEM_ALLOC}, 0},
		{{.op = RMEM_ALLOC, .pages = UINT32_MAX}, 0}, {{.op = RMEM_FREE}, 0},
		{{.op = RMEM_FREE, .put = UINT32_MAX}, 0}, {{.op = RMEM_ATTACH, .put = 5}, 0},
		{{.op = RMEM_MOVE, .get = 1}, 0}, {{.op = RMEM_MOVE, .put = UINT32_MAX}, RMEM_PAGE},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect(raw(wrong[i].q, wrong[i].bytes), -E_INVAL, "a wrong request");
	expect(raw((struct rmem_request){.op = RMEM_MOVE, .put = first}, RMEM_PAGE - 1), -E_INVAL,
		"less than a page");
	expect(raw((struct rmem_request){.op = RMEM_MOVE, .put = first, .get = first + 1},
		RMEM_PAGE), -E_INVAL, "a page behind the end");
	expect(raw((struct rmem_request){.op = RMEM_FREE,
		.put = first + 99 * RMEM_REGION_PAGES}, 0), -E_INVAL, "another one's region");
	for (uint32_t i = 0; i < 500; i++) {
		struct rmem_request q = {draw(6), draw(2) ? draw(1u << 31) : draw(4),
			draw(2) ? draw(1u << 31) : first + draw(3),
			draw(2) ? draw(1u << 31) : first + draw(3)};
		int result;

		if (q.op == RMEM_FREE && q.put == first)
			continue;
		result = raw(q, draw(RMEM_PAGE + 1));
		expect(result <= 0 && result != -E_PIPE, 1, "an answer to nonsense");
	}
}

static void
be_refused(void)
{
	struct rmem other;
	uint64_t at = 0, more[RMEM_REGIONS_OF_ONE];
	uint32_t n = 0;
	void *page;

	expect(rmem_open(&other, &(struct rmem_setup){.bit = BIT}), -E_INVAL, "no frames");
	expect(rmem_open(&other, &(struct rmem_setup){.bit = BIT, .frames = 1,
		.policy = RMEM_POLICIES}), -E_INVAL, "no policy");
	if (!opens(next_cluster(), RMEM_FIFO, 1))
		return;
	expect(rmem_alloc(&far, 0, &at), -E_INVAL, "no pages");
	expect(rmem_alloc(&far, RMEM_REGION_PAGES + 1, &at), -E_INVAL, "too many pages");
	expect(rmem_alloc(&far, 1, &at), 0, "a page");
	expect(rmem_free(&far, at + 1), -E_INVAL, "no region");
	expect(rmem_free(&far, 0), -E_INVAL, "address 0");
	expect(rmem_write(&far, at + RMEM_PAGE, text, 1), -E_INVAL, "the next page");
	expect(rmem_write(&far, UINT64_MAX, text, 1), -E_INVAL, "no address");
	expect(rmem_page(&far, 5, false, &page), -E_INVAL, "no page");
	while (n < RMEM_REGIONS_OF_ONE && rmem_alloc(&far, 1, &more[n]) == 0)
		n++;
	expect(n, RMEM_REGIONS_OF_ONE - 1, "regions of one client");
	expect(rmem_alloc(&far, 1, &more[0]), -E_NOSPC, "one region more");
	expect(rmem_free(&far, more[1]), 0, "free");
	expect(rmem_free(&far, more[1]), -E_INVAL, "free it again");
	ask_wrongly((uint32_t)(at / RMEM_PAGE));
	rmem_close(&far);
}

/* --- what comes back --- */

/* As many regions as there is memory for; how many. */
static uint32_t
take_all(uint32_t pages)
{
	uint64_t at;
	uint32_t n = 0;
	int result;

	while ((result = rmem_alloc(&far, pages, &at)) == 0) {
		expect(rmem_write(&far, at, "x", 1), 0, "write");
		n++;
	}
	expect(result, -E_NOMEM, "when there is no more");
	return n;
}

/* A process that has all it gets; it is killed, or ends. The own cluster's pages can be counted. */
static void
take_and_end(uint32_t pages, bool is_killed)
{
	int ends[2], status = 0;
	char byte = 0;
	pid_t pid;

	expect(pipe(ends), 0, "pipe");
	pid = fork();
	if (pid == 0) {
		if (!opens((int)here.cluster, RMEM_CLOCK, FRAMES))
			_exit(1);
		take_all(pages);
		if (write(ends[1], "", 1) != 1 || failures != 0)
			_exit(1);
		while (is_killed)
			pause();
		_exit(0);
	}
	expect(read(ends[0], &byte, 1), 1, "it has taken all");
	if (is_killed)
		kill(pid, SIGKILL);
	expect(waitpid(pid, &status, 0), pid, "its end");
	expect(is_killed || status == 0, 1, "how it has ended");
	close(ends[0]);
	close(ends[1]);
}

static void
get_back(void)
{
	uint64_t before[COUNTS], total = 0;
	uint32_t pages;

	kstats(STATS_FRAMES_TOTAL, &total);
	pages = (uint32_t)total / 40;
	take_and_end(pages, false);	/* what the server needs at its first time */
	rest_count(before);
	for (int i = 0; i < 6; i++) {
		take_and_end(pages, i % 2 == 0);
		rest_await(before, SCATTER);
	}
	if (!opens((int)here.cluster, RMEM_CLOCK, FRAMES))
		return;
	for (int i = 0; i < 3; i++) {
		uint64_t at[2];

		expect(rmem_alloc(&far, pages, &at[0]), 0, "alloc");
		expect(rmem_alloc(&far, pages, &at[1]), 0, "alloc");
		expect(rmem_free(&far, at[0]) + rmem_free(&far, at[1]), 0, "free");
	}
	rmem_close(&far);
	rest_await(before, SCATTER);
}

/* --- the machine has no such servers --- */

/* Each cluster says so, each time, and what was made for the cache is given back. */
static void
be_told(void)
{
	uint64_t before[COUNTS];

	for (int i = 0; i < 4; i++) {
		for (int cluster = 0; cluster < (int)here.clusters; cluster++)
			expect(rmem_open(&far, &(struct rmem_setup){.cluster = cluster, .bit = BIT,
				.policy = RMEM_LRU, .frames = FRAMES}), -E_NOENT, "open nothing");
		if (i == 0)
			rest_count(before);
	}
	rest_await(before, SCATTER);
}

/* --- its server ends --- */

static struct channel leader;

static void
lose_server(void)
{
	int cluster = next_cluster();
	uint64_t at = 0;
	void *page;

	expect(process_open(&leader, cluster, BIT_LEADER), 0, "open a channel");
	if (!opens(cluster, RMEM_LRU, FRAMES))
		return;
	for (int i = 0; i < 3; i++) {
		expect(rmem_alloc(&far, PAGES, &at), 0, "alloc");
		expect(rmem_write(&far, at, "word", 4), 0, "write");
		expect(process_server(&leader, PROCESS_RMEM_SERVER, SIGKILL) > 0, 1, "kill it");
		while (rmem_flush(&far) == 0)		/* until it has ended */
			expect(rmem_write(&far, at, "word", 4), 0, "write again");
		expect(rmem_flush(&far), -E_PIPE, "flush");
		expect(rmem_read(&far, at + RMEM_PAGE, text, 1), -E_PIPE, "read");
		expect(rmem_alloc(&far, 1, &at), -E_PIPE, "alloc");
		rmem_close(&far);
		if (!opens(cluster, RMEM_LRU, FRAMES))
			return;
		expect(rmem_page(&far, RMEM_REGION_PAGES * (uint64_t)RMEM_PAGE, false, &page),
			-E_INVAL, "what the dead one has given");
	}
	rmem_close(&far);
}

/* --- servers and clients are killed at any time --- */

#define WORKERS 3
#define WRONG 99

static volatile sig_atomic_t is_over;

static void
end_soon(int sig)
{
	(void)sig;
	is_over = 1;
}

/* What one worker does until its server is gone. 0, or what was wrong. */
static int
use_once(void)
{
	uint64_t at = 0;
	int result;

	result = rmem_open(&far, &(struct rmem_setup){.cluster = next_cluster(), .bit = BIT,
		.policy = (enum rmem_policy)draw(RMEM_POLICIES), .frames = 1 + draw(FRAMES)});
	if (result != 0)
		return result;
	memset(mirror, 0, sizeof(mirror));
	result = rmem_alloc(&far, PAGES, &at);
	for (uint32_t n = draw(60); n > 0 && result == 0; n--) {
		uint32_t from = draw(BYTES - 8);

		if (draw(2) == 0) {
			mirror[from]++;
			result = rmem_write(&far, at + from, mirror + from, 1);
		} else {
			result = rmem_read(&far, at + from, text, 8);
			if (result == 0 && memcmp(text, mirror + from, 8) != 0)
				result = WRONG;
		}
	}
	rmem_close(&far);
	return result == -E_PIPE || result == -E_NOMEM ? 0 : result;
}

static pid_t
begin_worker(int number)
{
	uint64_t own = (uint64_t)draw(1u << 31) << 8 | (uint64_t)number;
	pid_t pid = fork();
	int wrong = 0;

	expect(pid >= 0, 1, "a worker");
	if (pid != 0)
		return pid;
	state = own;
	while (!is_over && wrong == 0)
		wrong = use_once();
	expect(wrong, 0, "what a worker was answered");
	fflush(stdout);
	_exit(failures != 0);
}

static void
kill_some(int kills, pid_t pid[WORKERS])
{
	for (int i = 0; i < kills; i++) {
		int n = (int)draw(WORKERS), status;

		nanosleep(&(struct timespec){.tv_nsec = draw(6000000)}, NULL);
		if (draw(2) == 0) {
			int lives = process_server(&leader, PROCESS_RMEM_SERVER, SIGKILL);

			expect(lives > 0 || lives == -E_SRCH, 1, "kill a server");
			continue;
		}
		kill(pid[n], SIGKILL);
		expect(waitpid(pid[n], &status, 0), pid[n], "the end of a worker");
		expect(WIFEXITED(status) && WEXITSTATUS(status) != 0, 0, "how it has ended");
		pid[n] = begin_worker(n);
	}
}

static void
kill_at_any_time(int kills)
{
	pid_t pid[WORKERS];
	uint64_t before[COUNTS];
	int status;

	signal(SIGTERM, end_soon);
	expect(process_open(&leader, next_cluster(), BIT_LEADER), 0, "open a channel");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < WORKERS; i++)
			pid[i] = begin_worker(i);
		kill_some(round == 0 ? 6 : kills, pid);
		for (int i = 0; i < WORKERS; i++) {
			status = WRONG;
			kill(pid[i], SIGTERM);
			expect(waitpid(pid[i], &status, 0), pid[i], "the end of a worker");
			expect(status, 0, "how it has ended");
		}
		if (round == 0)
			rest_count(before);
	}
	rest_await(before, SCATTER);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "use";
	uint64_t seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;

	kcluster_info(&here);
	state = seed;
	if (strcmp(what, "use") == 0)
		for (int p = RMEM_BYPASS; p < RMEM_POLICIES && failures == 0; p++)
			use_by((enum rmem_policy)p, seed,
				argc > 3 ? atoi(argv[3]) : OPERATIONS);
	else if (strcmp(what, "shared") == 0)
		share_region();
	else if (strcmp(what, "wrong") == 0)
		be_refused();
	else if (strcmp(what, "back") == 0)
		get_back();
	else if (strcmp(what, "none") == 0)
		be_told();
	else if (strcmp(what, "killed") == 0)
		lose_server();
	else if (strcmp(what, "kills") == 0)
		kill_at_any_time(argc > 3 ? atoi(argv[3]) : 40);
	else
		expect(1, 0, "usage");
	return verdict();
}
