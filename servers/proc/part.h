/* SPDX-License-Identifier: MIT
 *
 * A cluster's part of a job: one process, in which each rank is a thread with its own copy of the
 * program. How it is loaded and started, whoever has asked for the job. No function waits for
 * another process.
 */
#ifndef SERVERS_PROC_PART_H
#define SERVERS_PROC_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <abi/startup.h>
#include <servers/proc/ledger.h>
#include <servers/proc/load.h>
#include <servers/proc/stack.h>

#define BASE_PORT 8			/* first port of a rank; those below it are well known */

/* What a program begins with besides its startup record. */
struct words {
	struct text program;		/* argv[0] */
	const struct text *arg, *env;	/* argv[1] and so on */
	uint32_t args, envs;
};

/* A rank of this cluster. */
struct part_rank {
	uint64_t base;			/* of its image */
	uint64_t sp;			/* where its stack pointer starts */
	uint32_t rank;			/* its number in the job */
};

struct part {
	uint32_t job;			/* 0: there has been none */
	uint32_t ranks;			/* of this cluster */
	int proc;			/* -1: none */
	/* it could not be started; the ranks that run are being ended */
	bool has_failed;
	/* its only rank has become another program: `rank` and `control` are gone */
	bool is_replaced;
	struct image *image;		/* whose names are there as long as the part */
	/* struct job_control, the placement table, the parts, what is inherited, the path */
	struct window control;
	uint64_t parts_at;		/* struct job_part[clusters] in it */
	struct part_rank *rank;		/* [ranks] */
	uint64_t rank_pages;
	/* of one that a program has asked for (ranks.h) */
	uint32_t base_port;		/* NO_PORTS: it has none */
	bool runs;			/* it was started */
};

/* The job, and what of it this cluster's part is. */
struct part_order {
	struct words words;
	struct text path;		/* of the program in the boot archive */
	uint32_t job, ranks, policy;
	uint32_t rank_kb;		/* struct startup */
	uint32_t base_port;
	bool has_parts;			/* it lives in several clusters */
	const struct placement *place;	/* [ranks] */
	uint64_t stack_bytes;		/* of each rank; 0: what fits */
	uint64_t shared_bytes;		/* 0: what fits */
	const void *inherit;
	uint32_t inherit_bytes;
	int32_t pid, parent;
	bool is_asked;			/* for by a program */
	struct ledger *ledger;
};

/* Bytes of a share of the cluster's free memory. */
uint64_t part_share_of_memory(uint64_t divisor, uint64_t page_bytes);

/*
 * Write the stack that a program begins with: its words and its startup record. 0 or -E_NAME;
 * `place` says where it begins.
 */
int part_fill_stack(struct copy *c, const struct image *im, const struct words *w,
	struct startup *s, struct stack_place *place);

/* List the part's ranks, p->ranks of them, by the placement. 0 or -E_NOMEM. */
int part_list_ranks(struct part *p, const struct part_order *o, const struct cluster_info *here);

/*
 * Fill the process p->proc with what its ranks need, from p->image, which is open. 0 or -E_NAME;
 * what was mapped then goes with the process.
 */
int part_fill(struct part *p, const struct part_order *o, const struct cluster_info *here);

/* The parts of all clusters, for the ranks of this one; written before part_start. */
struct job_part *part_table(const struct part *p);

/*
 * Its ranks run, on `cores` cores in turn from `first` on; 0 cores: where the kernel wants. 0 or
 * -E_NAME.
 */
int part_start(const struct part *p, uint32_t first, uint32_t cores);

/* Give the part's memory in this process back. */
void part_close(struct part *p);

/* How many of its ranks have ended by themselves. */
uint32_t part_ended(const struct part *p);

/* Say on the console which rank crashed, why and where, if the kernel knows. */
void part_report_crash(const struct part *p, const struct cluster_info *here);

#endif
