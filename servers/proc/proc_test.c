/* SPDX-License-Identifier: MIT
 *
 * Job descriptions, placement and the leader's decisions.
 *
 * needs: servers/proc/job.c servers/proc/place.c servers/proc/lead.c base/parse.c
 */
#include <abi/errors.h>
#include <base/test.h>
#include <servers/proc/job.h>
#include <servers/proc/lead.h>
#include <servers/proc/place.h>

static int
parse(struct job *j, const char *text, uint32_t *line)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);
	int result;

	memcpy(exact, text, len);
	result = job_parse(j, exact, len, line);
	free(exact);
	return result;
}

TEST(a_description_is_read)
{
	static const char text[] = "program bin/fn\nranks 12\nmap scatter\narg --from\n"
		"arg  two words \narg\nenv A=b c\n"
				   "cluster 0 1 3\ncluster 2 0 4\nonly 3 1 2 4096\n"
				   "stack 65536\n\n";
	struct job j;
	uint32_t line;

	expect_eq(job_parse(&j, text, strlen(text), &line), 0);
	expect(text_is(j.program, "bin/fn"));
	expect_eq(j.ranks, 12);
	expect_eq(j.policy, MAP_SCATTER);
	expect_eq(j.args, 3);
	expect(text_is(j.arg[0], "--from"));
	expect(text_is(j.arg[1], " two words "));
	expect(text_is(j.arg[2], ""));
	expect_eq(j.envs, 1);
	expect(text_is(j.env[0], "A=b c"));
	expect(j.has_clusters);
	expect_eq(j.cluster[2].cores, 4);
	expect_eq(j.cluster[1].cores, 0);
	expect_eq(j.cluster[0].first_core, 1);
	expect_eq(j.cluster[3].cores, 0);
	expect_eq(j.only_cluster, 3);
	expect_eq(j.only.first_core, 1);
	expect_eq(j.only.cores, 2);
	expect_eq(j.only.bytes, 4096);
	expect_eq(j.stack_bytes, 65536);
}

TEST(values_may_have_line_ends)
{
	static const char text[] = "program x\nranks 1\nends 2\narg a\n\n b\narg c\n"
		"ends 1\nenv A=\n\nrepeat 2\nends 1\narg \n\n";
	struct job j;
	uint32_t line;

	expect_eq(job_parse(&j, text, strlen(text), &line), 0);
	expect_eq(j.args, 3);
	expect(text_is(j.arg[0], "a\n\n b"));
	expect(text_is(j.arg[1], "c"));
	expect(text_is(j.arg[2], "\n"));
	expect_eq(j.envs, 1);
	expect(text_is(j.env[0], "A=\n"));
	expect_eq(j.repeat, 2);
}

TEST(limits_and_repetitions_are_read_and_have_defaults)
{
	static const char plain[] = "program x\nranks 1\n";
	static const char limited[] =
		"program x\nranks 1\nlimit memory 5000000000\nlimit threads 4\n"
				      "limit processes 2\nrepeat 3\nmay end-servers\n";
	struct job j;
	uint32_t line;

	expect_eq(parse(&j, plain, &line), 0);
	expect_eq(j.repeat, 1);
	expect_eq(j.may_end_servers, 0);
	expect(j.limit.bytes == UINT64_MAX);
	expect(j.limit.threads == UINT32_MAX && j.limit.processes == UINT32_MAX);
	expect_str(job_limit_text(&j, -E_NOMEM), "");
	expect_str(job_limit_text(&j, -E_NOSPC), "");
	expect_eq(parse(&j, limited, &line), 0);
	expect_eq(j.repeat, 3);
	expect_eq(j.may_end_servers, 1);
	expect(j.limit.bytes == 5000000000 && j.limit.threads == 4 && j.limit.processes == 2);
	expect_str(job_limit_text(&j, -E_NOMEM), " (the job has a limit of memory)");
	expect_str(job_limit_text(&j, -E_NOSPC), " (the job has a limit of threads)");
	expect_str(job_limit_text(&j, -E_INVAL), "");
}

static void
refuse(const char *text, int error, uint32_t want)
{
	struct job j;
	uint32_t line;

	expect_eq(parse(&j, text, &line), error);
	expect_eq(line, want);
}

TEST(a_bad_description_is_refused_with_its_line)
{
	refuse("", -E_INVAL, 0);
	refuse("program x\n", -E_INVAL, 0);
	refuse("ranks 4\n", -E_INVAL, 0);
	refuse("program x\nranks 0\n", -E_INVAL, 2);
	refuse("ranks 8193\n", -E_INVAL, 1);
	refuse("ranks -1\n", -E_INVAL, 1);
	refuse("ranks 4 4\n", -E_INVAL, 1);
	refuse("ranks\n", -E_INVAL, 1);
	refuse("\nprogramm x\n", -E_INVAL, 2);
	refuse("map sideways\n", -E_INVAL, 1);
	refuse("cluster 64 0 1\n", -E_INVAL, 1);
	refuse("cluster 0 0 0\n", -E_INVAL, 1);
	refuse("cluster 0 319 2\n", -E_INVAL, 1);
	refuse("cluster 0 0\n", -E_INVAL, 1);
	refuse("cluster 0 0 1 1 1\n", -E_INVAL, 1);
	refuse("cluster 0 0 1\ncluster 0 0 1\n", -E_INVAL, 2);
	refuse("only 64 0 1\n", -E_INVAL, 1);
	refuse("ends\narg a\n", -E_INVAL, 1);
	refuse("ends 0\narg a\n", -E_INVAL, 1);
	refuse("ends 7\narg a\n", -E_INVAL, 1);
	refuse("ends 2\narg a\n\n", -E_INVAL, 3);
	refuse("ends 2\narg a\nb\nc\nwrong\n", -E_INVAL, 5);
	refuse("only 0 0 1\nonly 1 0 1\n", -E_INVAL, 2);
	refuse("stack 1\n", -E_INVAL, 1);
	refuse("limit\n", -E_INVAL, 1);
	refuse("limit memory\n", -E_INVAL, 1);
	refuse("limit memory 0\n", -E_INVAL, 1);
	refuse("limit memory 1 2\n", -E_INVAL, 1);
	refuse("limit threads 4294967296\n", -E_INVAL, 1);
	refuse("limit patience 1\n", -E_INVAL, 1);
	refuse("repeat 0\n", -E_INVAL, 1);
	refuse("may fly\n", -E_INVAL, 1);
	refuse("repeat 1000001\n", -E_INVAL, 1);
	refuse("program x\nranks 99999999999999999999\n", -E_INVAL, 2);
}

TEST(too_many_arguments_are_refused)
{
	char text[JOB_WORDS_MAX * 8 + 64] = "";

	for (int i = 0; i <= JOB_WORDS_MAX; i++)
		strcat(text, "arg x\n");
	refuse(text, -E_2BIG, JOB_WORDS_MAX + 1);
}

static struct placement place[JOB_RANKS_MAX];
static uint32_t counts[CLUSTERS_MAX];

static int
place_on(uint32_t ranks, uint32_t policy, uint32_t clusters, const uint32_t *cores)
{
	struct place_request q = {.ranks = ranks, .policy = policy, .clusters = clusters,
		.ranks_max = 120};

	memcpy(q.cores, cores, clusters * sizeof(*cores));
	return place_ranks(&q, place, counts);
}

static void
expect_places(const char *want)
{
	char have[256] = "";

	for (int i = 0; want[2 * i] != '\0' && want[2 * i + 1] != '\0'; i++)
		sprintf(have + strlen(have), "%d%d", place[i].cluster, place[i].local_rank);
	expect_str(have, want);
}

TEST(compact_fills_cluster_after_cluster)
{
	expect_eq(place_on(5, MAP_COMPACT, 3, (uint32_t[]){3, 0, 4}), 0);
	expect_places("0001022021");
	expect_eq(counts[1], 0);
	expect_eq(counts[2], 2);
}

TEST(scatter_deals_ranks_out)
{
	expect_eq(place_on(6, MAP_SCATTER, 3, (uint32_t[]){3, 1, 4}), 0);
	expect_places("001020012102");
}

TEST(more_ranks_than_cores_are_spread_evenly)
{
	expect_eq(place_on(10, MAP_COMPACT, 2, (uint32_t[]){2, 2}), 0);
	expect_eq(counts[0], 6);
	expect_eq(counts[1], 4);
	expect_eq(place_on(9, MAP_SCATTER, 2, (uint32_t[]){2, 2}), 0);
	expect_eq(counts[0], 5);
	expect_eq(counts[1], 4);
	expect_eq(place_on(2 * 120, MAP_COMPACT, 2, (uint32_t[]){1, 7}), 0);
	expect_eq(counts[0], 120);
	expect_eq(counts[1], 120);
	expect_eq(place_on(2 * 120, MAP_SCATTER, 2, (uint32_t[]){1, 7}), 0);
	expect_eq(counts[1], 120);
}

TEST(every_rank_has_its_own_place_under_both_policies)
{
	static uint8_t seen[CLUSTERS_MAX][128];

	for (uint32_t policy = MAP_COMPACT; policy <= MAP_SCATTER; policy++)
		for (uint32_t ranks = 1; ranks <= 300; ranks += 13) {
			memset(seen, 0, sizeof(seen));
			expect_eq(place_on(ranks, policy, 4, (uint32_t[]){3, 5, 0, 1}), 0);
			for (uint32_t i = 0; i < ranks; i++)
				expect(seen[place[i].cluster][place[i].local_rank]++ == 0);
			expect_eq(counts[0] + counts[1] + counts[2] + counts[3], ranks);
			for (int c = 0; c < 4; c++)
				for (uint32_t i = 0; i < counts[c]; i++)
					expect_eq(seen[c][i], 1);
		}
}

TEST(a_single_cluster_takes_more_ranks_than_it_has_ports)
{
	for (uint32_t policy = MAP_COMPACT; policy <= MAP_SCATTER; policy++) {
		expect_eq(place_on(2000, policy, 3, (uint32_t[]){0, 7, 0}), 0);
		expect_eq(counts[1], 2000);
		expect_eq(place[1999].cluster, 1);
		expect_eq(place[1999].local_rank, 1999);
		expect(!place_has_ports(counts, 3, 120));
	}
	expect_eq(place_on(120, MAP_COMPACT, 3, (uint32_t[]){0, 7, 0}), 0);
	expect(place_has_ports(counts, 3, 120));
}

TEST(too_many_ranks_and_no_clusters_are_refused)
{
	expect_eq(place_on(241, MAP_COMPACT, 2, (uint32_t[]){2, 2}), -E_NOSPC);
	expect_eq(place_on(1, MAP_SCATTER, 2, (uint32_t[]){0, 0}), -E_INVAL);
}

static struct lead lead;

/* What the process server of a cluster says. */
static void
take(uint32_t cluster, const struct proc_message *m)
{
	lead_take(&lead, &(struct mail_sender){cluster, BADGE_INIT}, m);
}

/* Three clusters, none of which has been told anything. */
static void
begin(void)
{
	lead_begin(&lead, 7, 4, (uint32_t[]){2, 0, 2, 1});
	expect_eq(lead.running, 3);
	for (uint32_t c = 0; c < 4; c++)
		expect_eq(lead.due[c], c == 1 ? 0 : PROC_START);
}

static void
begin_and_tell(void)
{
	begin();
	for (uint32_t c = 0; c < 4; c++)
		lead_told(&lead, c);
}

static void
ended(uint32_t source, enum proc_end end, int status)
{
	struct proc_message m = {.magic = PROC_MAGIC, .op = PROC_ENDED, .job = 7, .end = end,
		.status = status};

	take(source, &m);
}

static void
expect_due(enum proc_op a, enum proc_op b, enum proc_op c, enum proc_op d)
{
	expect_eq(lead.due[0], a);
	expect_eq(lead.due[1], b);
	expect_eq(lead.due[2], c);
	expect_eq(lead.due[3], d);
}

TEST(a_job_is_over_when_all_clusters_have_ended_with_the_first_nonzero_status)
{
	begin_and_tell();
	ended(2, PROC_END_EXIT, 0);
	ended(0, PROC_END_EXIT, 3);
	expect_due(0, 0, 0, 0);
	expect(!lead_is_over(&lead));
	ended(3, PROC_END_EXIT, 4);
	expect(lead_is_over(&lead));
	expect_eq(lead.status, 3);
}

TEST(the_first_failure_ends_the_others_once_and_gives_the_status)
{
	begin_and_tell();
	ended(2, PROC_END_CRASH, 139);
	expect_due(PROC_KILL, 0, 0, PROC_KILL);
	lead_told(&lead, 0);
	lead_told(&lead, 3);
	ended(0, PROC_END_ABORT, 9);
	expect_due(0, 0, 0, 0);
	expect(!lead_is_over(&lead));
	ended(3, PROC_END_KILLED, 0);
	expect(lead_is_over(&lead));
	expect_eq(lead.status, 139);
}

TEST(a_cluster_that_was_never_told_to_start_is_not_waited_for)
{
	begin();
	lead_told(&lead, 0);
	ended(0, PROC_END_NOT_STARTED, 1);
	expect_due(0, 0, 0, 0);
	expect(lead_is_over(&lead));
	begin();
	lead_told(&lead, 0);
	lead_told(&lead, 2);
	ended(0, PROC_END_CRASH, 139);
	expect_due(0, 0, PROC_KILL, 0);
	expect(lead_waits_for(&lead, 2) && !lead_waits_for(&lead, 3));
	ended(2, PROC_END_KILLED, 0);
	expect(lead_is_over(&lead));
}

TEST(a_dead_cluster_fails_the_job)
{
	begin_and_tell();
	lead_dead(&lead, 1);
	expect_due(0, 0, 0, 0);
	lead_dead(&lead, 2);
	expect_due(PROC_KILL, 0, 0, PROC_KILL);
	lead_told(&lead, 0);
	lead_dead(&lead, 2);
	expect_due(0, 0, 0, PROC_KILL);
	ended(0, PROC_END_KILLED, 0);
	ended(3, PROC_END_KILLED, 0);
	expect(lead_is_over(&lead));
	expect_eq(lead.status, 1);
}

/* Also one of the leader's own cluster. */
TEST(a_process_that_is_no_server_is_not_believed)
{
	struct mail_sender rank = {.cluster = 0, .badge = BADGE_INIT + 1};
	struct proc_message m = {.magic = PROC_MAGIC, .cluster = 2, .job = 7, .status = 9,
		.end = PROC_END_CRASH};
	struct lead before;

	begin();
	before = lead;
	for (m.op = 0; m.op < 12; m.op++)
		lead_take(&lead, &rank, &m);
	expect(memcmp(&lead, &before, sizeof(lead)) == 0);
}

TEST(messages_that_do_not_fit_change_nothing)
{
	struct proc_message m = {.magic = PROC_MAGIC, .op = PROC_ENDED, .job = 8};
	struct lead before;

	begin();
	before = lead;
	take(0, &m);
	m = (struct proc_message){.magic = 5, .op = PROC_ENDED, .job = 7};
	take(0, &m);
	m = (struct proc_message){.magic = PROC_MAGIC, .op = 99, .job = 7};
	take(0, &m);
	lead_dead(&lead, 4000);
	ended(1, PROC_END_EXIT, 0);
	ended(77, PROC_END_EXIT, 0);
	expect_eq(memcmp(&before, &lead, sizeof(lead)), 0);
	ended(0, PROC_END_EXIT, 0);
	ended(0, PROC_END_EXIT, 5);
	expect_eq(lead.running, 2);
	expect_eq(lead.status, 0);
}

int
main(void)
{
	RUN(a_description_is_read);
	RUN(values_may_have_line_ends);
	RUN(limits_and_repetitions_are_read_and_have_defaults);
	RUN(a_bad_description_is_refused_with_its_line);
	RUN(too_many_arguments_are_refused);
	RUN(compact_fills_cluster_after_cluster);
	RUN(scatter_deals_ranks_out);
	RUN(more_ranks_than_cores_are_spread_evenly);
	RUN(every_rank_has_its_own_place_under_both_policies);
	RUN(a_single_cluster_takes_more_ranks_than_it_has_ports);
	RUN(too_many_ranks_and_no_clusters_are_refused);
	RUN(a_job_is_over_when_all_clusters_have_ended_with_the_first_nonzero_status);
	RUN(the_first_failure_ends_the_others_once_and_gives_the_status);
	RUN(a_cluster_that_was_never_told_to_start_is_not_waited_for);
	RUN(a_dead_cluster_fails_the_job);
	RUN(a_process_that_is_no_server_is_not_believed);
	RUN(messages_that_do_not_fit_change_nothing);
	return TEST_FAILED;
}
