/* SPDX-License-Identifier: MIT
 *
 * What is written to /proc/N/ctl, and the file /dev/cores: the cores of the machine, in the order
 * of its description. Reading it tells of each its number, cluster, role, what it acts as, the
 * threads that are placed there, and what it has counted; writing lines `core N role ROLE` gives
 * cores other roles, `provision on` or `off` says whether process servers move processes without
 * anybody's wish. /dev/memory tells of each memory domain of each cluster its pages, those that are
 * free and in use, and how many it has given. No kernel calls: what they say comes from whoever
 * uses this.
 */
#ifndef SERVERS_FILE_CORES_H
#define SERVERS_FILE_CORES_H

#include <abi/layout.h>
#include <base/parse.h>
#include <servers/file/tree.h>
#include <servers/proc/client.h>

/*
 * What a core of a cluster is for and has counted; with a role that is not negative, after it has
 * got that. 0; -E_NOENT: no such cluster; -E_INVAL: no such core; -E_HOSTDOWN; what core_role says.
 */
int core_ask(uint32_t cluster, uint32_t core, int role, struct core_told *told);

/* What a memory domain of a cluster has: DOMAIN_*. As core_ask; -E_INVAL: no such domain. */
int domain_ask(uint32_t cluster, uint32_t domain, uint32_t word[DOMAIN_WORDS]);

/* Processes of a cluster are moved without anybody's wish, or not. 0; -E_NOENT; -E_HOSTDOWN. */
int core_provision(uint32_t cluster, bool on);

/* Make the files. */
void cores_begin(struct tree *t);

/* Is a node one of them? */
static inline bool
cores_have(const struct tree *t, uint32_t node)
{
	return node == t->cores || node == t->memory;
}

/* One of them is opened: it says what is true now, unless somebody has it open. */
void cores_show(struct tree *t);
void memory_show(struct tree *t);

/* The next core that is there, and its cluster: begin with zeros. False: there is none. */
bool core_next(uint32_t *cluster, uint32_t *core, struct core_told *told);

/*
 * How long a core, and all cores together, have had something to run, and nothing: since they have
 * been asked for the first time, which this does, too; the time before is in the first. After 9
 * hours in which a core had nothing its time begins again.
 */
void core_time(const struct core_info *of, uint64_t *busy_ns, uint64_t *idle_ns);
void cores_time(uint64_t *busy_ns, uint64_t *idle_ns);

/*
 * Do what the lines say that are written to it. The bytes that were understood and done: less than
 * all where a later line fails; of the first line, what it is, as a negative error: -E_INVAL: not
 * understood, or what core_role says; -FILE_ENODEV: no such core, or its cluster is dead.
 */
long cores_write(struct text text);

/* A process goes to where `who` wants it to run. What process_move says; -E_HOSTDOWN. */
int proc_move(int32_t pid, int32_t core, struct mail_sender who);

/* Of which process a node is the file ctl; 0: it is none. */
int32_t ctl_of(struct tree *t, uint32_t node);

/*
 * Do what `who` says in /proc/N/ctl of a process, as cores_write: lines `core N`, with N a core, 0
 * or less than that (docs/man/execac.3), or `core any`.
 */
long ctl_write(int32_t pid, struct mail_sender who, struct text text);

#endif
