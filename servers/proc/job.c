/* SPDX-License-Identifier: MIT
 *
 * Reading job descriptions.
 */
#include <abi/errors.h>
#include <abi/startup.h>
#include <servers/proc/job.h>

static int
read_number(struct text value, uint64_t low, uint64_t high, uint64_t *n)
{
	return text_number(value, n) && *n >= low && *n <= high ? 0 : -E_INVAL;
}

static int
add_text(struct text *list, uint32_t *count, struct text value)
{
	if (*count == JOB_WORDS_MAX)
		return -E_2BIG;
	list[(*count)++] = value;
	return 0;
}

static int
read_policy(struct job *j, struct text value)
{
	if (!text_is(value, "compact") && !text_is(value, "scatter"))
		return -E_INVAL;
	j->policy = text_is(value, "scatter") ? MAP_SCATTER : MAP_COMPACT;
	return 0;
}

/* A cluster's number, and which of its cores take ranks. */
static int
read_place(struct text value, uint64_t *cluster, struct job_cluster *place)
{
	struct text word[5];
	uint64_t n[4] = {0};
	int words = 0;

	while (words < 5 && text_word(&value, &word[words]))
		words++;
	if (words != 3 && words != 4)
		return -E_INVAL;
	for (int i = 0; i < words; i++)
		if (!text_number(word[i], &n[i]))
			return -E_INVAL;
	if (n[0] >= CLUSTERS_MAX || n[2] == 0 || n[1] >= CLUSTER_CORES_MAX ||
		n[2] > CLUSTER_CORES_MAX - n[1])
		return -E_INVAL;
	*cluster = n[0];
	*place = (struct job_cluster){(uint32_t)n[1], (uint32_t)n[2], n[3]};
	return 0;
}

static int
read_cluster(struct job *j, struct text value)
{
	struct job_cluster place;
	uint64_t cluster;

	if (read_place(value, &cluster, &place) != 0 || j->cluster[cluster].cores != 0)
		return -E_INVAL;
	j->cluster[cluster] = place;
	j->has_clusters = 1;
	return 0;
}

static int
read_only(struct job *j, struct text value)
{
	uint64_t cluster = 0;
	int result = j->only.cores != 0 ? -E_INVAL : read_place(value, &cluster, &j->only);

	j->only_cluster = (uint32_t)cluster;
	return result;
}

static int
read_limit(struct job *j, struct text value)
{
	struct text kind, most, more;
	uint64_t n;

	if (!text_word(&value, &kind) || !text_word(&value, &most) || text_word(&value, &more) ||
	    !text_number(most, &n) || n == 0)
		return -E_INVAL;
	if (text_is(kind, "memory"))
		j->limit.bytes = n;
	else if (text_is(kind, "threads") && n <= UINT32_MAX)
		j->limit.threads = (uint32_t)n;
	else if (text_is(kind, "processes") && n <= UINT32_MAX)
		j->limit.processes = (uint32_t)n;
	else
		return -E_INVAL;
	return 0;
}

static int
read_repeat(struct job *j, struct text value)
{
	uint64_t n = 0;
	int result = read_number(value, 1, JOB_REPEAT_MAX, &n);

	j->repeat = (uint32_t)n;
	return result;
}

static int
read_may(struct job *j, struct text value)
{
	j->may_end_servers = text_is(value, "end-servers");
	return j->may_end_servers ? 0 : -E_INVAL;
}

static int
read_ranks(struct job *j, struct text value)
{
	uint64_t n;

	if (read_number(value, 1, JOB_RANKS_MAX, &n) != 0)
		return -E_INVAL;
	j->ranks = (uint32_t)n;
	return 0;
}

static int
read_line(struct job *j, struct text key, struct text value)
{
	if (text_is(key, "arg"))
		return add_text(j->arg, &j->args, value);
	if (value.len == 0)
		return -E_INVAL;
	if (text_is(key, "env"))
		return add_text(j->env, &j->envs, value);
	if (text_is(key, "ranks"))
		return read_ranks(j, value);
	if (text_is(key, "map"))
		return read_policy(j, value);
	if (text_is(key, "cluster"))
		return read_cluster(j, value);
	if (text_is(key, "only"))
		return read_only(j, value);
	if (text_is(key, "stack"))
		return read_number(value, 4096, 1ull << 30, &j->stack_bytes);
	if (text_is(key, "shared"))
		return read_number(value, 4096, 1ull << 30, &j->shared_bytes);
	if (text_is(key, "limit"))
		return read_limit(j, value);
	if (text_is(key, "may"))
		return read_may(j, value);
	if (text_is(key, "repeat"))
		return read_repeat(j, value);
	if (!text_is(key, "program"))
		return -E_INVAL;
	j->program = value;
	return 0;
}

/*
 * The rest of a line after its key and one blank, as it stands: arguments may begin or end with
 * blanks.
 */
static struct text
value_of(struct text raw, struct text key)
{
	size_t skip = (size_t)(key.at - raw.at) + key.len;

	if (skip < raw.len)
		skip++;
	return (struct text){raw.at + skip, raw.len - skip};
}

/* Cut one line off, blanks kept. */
static struct text
cut_line(struct text *rest)
{
	struct text line = {rest->at, 0};

	while (line.len < rest->len && line.at[line.len] != '\n')
		line.len++;
	rest->at += line.len < rest->len ? line.len + 1 : line.len;
	rest->len -= line.len < rest->len ? line.len + 1 : line.len;
	return line;
}

/*
 * Cut off a line, and `*ends` more that belong to its value with the line ends between them. *line:
 * the number of the last one; *ends: how many are missing.
 */
static struct text
cut_lines(struct text *rest, uint64_t *ends, uint32_t *line)
{
	struct text lines = cut_line(rest);

	for (; *ends > 0 && rest->len > 0; --*ends, ++*line) {
		struct text next = cut_line(rest);

		lines.len = (size_t)(next.at - lines.at) + next.len;
	}
	return lines;
}

int
job_parse(struct job *j, const char *text, size_t len, uint32_t *line)
{
	struct text rest = {text, len};
	uint64_t ends = 0;		/* line ends in the value of the next line */

	*j = (struct job){.policy = MAP_COMPACT, .repeat = 1,
	    .limit = {UINT64_MAX, UINT32_MAX, UINT32_MAX}};
	for (*line = 1; rest.len > 0; (*line)++) {
		struct text raw = cut_lines(&rest, &ends, line), words = raw, key;
		int result;

		if (ends > 0)
			return -E_INVAL;
		if (!text_word(&words, &key))
			continue;
		result = text_is(key, "ends") ?
			read_number(value_of(raw, key), 1, rest.len, &ends) :
			read_line(j, key, value_of(raw, key));
		if (result != 0)
			return result;
	}
	*line = 0;
	return j->program.len > 0 && j->ranks > 0 ? 0 : -E_INVAL;
}

const char *
job_limit_text(const struct job *j, long error)
{
	if (error == -E_NOMEM && j->limit.bytes != UINT64_MAX)
		return " (the job has a limit of memory)";
	if (error == -E_NOSPC && j->limit.threads != UINT32_MAX)
		return " (the job has a limit of threads)";
	return "";
}
