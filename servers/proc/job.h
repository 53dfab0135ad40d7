/* SPDX-License-Identifier: MIT
 *
 * Job description, the file etc/job: one `key value` per line.
 *
 *	program PATH		of the boot archive; also argv[0]
 *	ranks N
 *	map compact|scatter	optional: compact
 *	arg TEXT		argv[1] and so on
 *	env NAME=VALUE
 *	cluster N FIRST COUNT [BYTES]	cluster N takes ranks on its cores FIRST..FIRST+COUNT-1 and
 *					has
 *				that much memory; without such lines every cluster does, on cores
 *				that its kernel chooses
 *	stack BYTES		of each rank, optional
 *	shared BYTES		of the area that the ranks of a cluster share, optional
 *	limit memory|threads|processes N	the most that the job may have in each cluster,
 *				optional: bytes beside program, data and stacks; threads; processes
 *	may end-servers		a program of it may end servers, for tests (PROCESS_SERVER)
 *	repeat N		how often the job is run, one after the other; optional: once
 */
#ifndef SERVERS_PROC_JOB_H
#define SERVERS_PROC_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <base/parse.h>

#define JOB_WORDS_MAX 128	/* arguments, and environment entries */
#define JOB_RANKS_MAX 8192
#define JOB_REPEAT_MAX 1000000

/* The badge of a job's ranks; few jobs are there at a time. */
#define BADGE_OF_JOB(job) (BADGE_JOB + (job) % BADGE_JOBS)

struct job_cluster {
	uint32_t first_core;
	uint32_t cores;		/* 0: takes no ranks */
	uint64_t bytes;		/* of memory; 0: not known */
};

struct job {
	struct text program;
	uint32_t ranks;
	uint32_t policy;		/* MAP_* */
	uint32_t args;			/* without argv[0] */
	uint32_t envs;
	uint64_t stack_bytes;		/* 0: the loader chooses */
	uint64_t shared_bytes;		/* 0: the loader chooses */
	struct proc_quota limit;
	uint32_t repeat;
	bool may_end_servers;
	int has_clusters;
	struct job_cluster cluster[CLUSTERS_MAX];
	/* all its ranks are in this cluster, on these cores; of none: where ranks may be */
	uint32_t only_cluster;
	struct job_cluster only;
	struct text arg[JOB_WORDS_MAX];
	struct text env[JOB_WORDS_MAX];
};

/*
 * Read a description; the texts stay where they are. 0; -E_INVAL: a line that makes no sense, or
 * program or ranks missing; -E_2BIG: too many arguments or environment entries. *line is the number
 * of the offending line, 0 if something is missing.
 */
int job_parse(struct job *j, const char *text, size_t len, uint32_t *line);

/* "", or which limit of the job may be why it was not started, with -E_NOMEM or -E_NOSPC. */
const char *job_limit_text(const struct job *j, long error);

#endif
