/* SPDX-License-Identifier: MIT
 *
 * Processes by request: what programs ask the process server of a cluster for, over a channel
 * (atoll/service.h), and what it answers. Each cluster's server starts processes there, also for
 * who asks from another cluster. A process has a number (pid) that no other living one of the
 * machine has. Its parent is who asked for it; the parent alone takes its end, and a process whose
 * parent has ended is nobody's. What a job's processes have started in their cluster ends with the
 * job's part there; what stems from a request of another cluster, with who asked.
 *
 * A request is a struct process_request and its texts: the path of a program, its arguments (the
 * first is its own name) and its environment, each with a zero byte, then the bytes that the child
 * inherits. An answer is a struct process_reply.
 *
 * A program starts an MPI job so: it asks all clusters what room they have (PROCESS_ROOM), tells
 * each the same (PROCESS_PART), of which all compute the same placement, and when all have loaded
 * their ranks, it tells each where those of the others listen (PROCESS_START). A part is a child of
 * the one who asked, and ends with it.
 */
#ifndef SERVERS_PROC_CLIENT_H
#define SERVERS_PROC_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/layout.h>
#include <abi/startup.h>
#include <atoll/service.h>
#include <servers/device/protocol.h>

#define PID_FIRST 2		/* what smaller numbers mean is others' affair */
#define PROCESS_PORT 3
#define PROCESS_FIRST 2			/* the first pid, cluster 0's; each has every n-th */
#define PROCESS_MAGIC 0x4b4c4148u
#define PROCESS_READY 0x59444552u
#define PROCESS_PAGES 2			/* of a channel: one request and one answer lie in it */
#define PROCESS_MESSAGE 3896		/* what has room in half of them */
#define PROCESS_WORDS_MAX 256		/* arguments, and entries of the environment */
#define PROCESS_INHERIT_MAX 1856	/* bytes */
#define PROCESS_NAME_MAX 24		/* of the program's name in a list, with its zero byte */
#define PROCESS_ANY (-1)		/* as a pid: any child */

/* errors besides those of errors.tbl; Linux's numbers */
#define PROCESS_ENOEXEC 8
#define PROCESS_ECHILD 10

enum process_op {
	/* texts, flags, status: where it is to run (PROCESS_CORE_*) -> pid */
	PROCESS_SPAWN = 1,
	/* pid or PROCESS_ANY, flags -> pid, status; waits until a child has ended */
	PROCESS_WAIT = 2,
	/*
	 * pid, or 0, -1, -group as for kill; status: a signal, flags -> nothing: it is told of
	 * that, or does the default
	 */
	PROCESS_KILL = 3,
	/*
	 * pid: of a process of this cluster, or 0 -> the one with the next larger pid; told: a
	 * badge -> the one that has it: struct process_reply, struct process_listed behind it
	 */
	PROCESS_LIST = 4,
	/*
	 * status: where it is to run -> pid, handle: a child that has nothing yet, and is made by
	 * who asks
	 */
	PROCESS_FORK = 5,
	/*
	 * pid, flags, struct process_entry -> pid: it is made, and runs. Of a part: struct
	 * job_part[clusters] instead.
	 */
	PROCESS_START = 6,
	/* args: pages -> handle: memory for a program that is not in the boot archive */
	PROCESS_BRING = 7,
	/*
	 * nothing -> struct process_room in the place of the name; or flags: PROCESS_ROOM_DOMAIN,
	 * args: a memory domain of the cluster -> its DOMAIN_WORDS words of 32 bits there
	 */
	PROCESS_ROOM = 8,
	/*
	 * texts, and behind what is inherited a struct process_job -> pid, part: this cluster's
	 * ranks of it are loaded; pid 0: it has none
	 */
	PROCESS_PART = 9,
	/*
	 * told -> nothing: of these signals, too, this process is told from now on, in this
	 * channel: by struct process_reply with `signal` and PROCESS_TOLD, which answers nothing
	 */
	PROCESS_CATCH = 10,
	/* flags: enum process_group_op, pid, status -> pid */
	PROCESS_GROUP = 11,
	/* status: the signal by which this process has stopped; 0: it goes on -> nothing */
	PROCESS_STOPPED = 12,
	/* flags: enum process_memory_op, told: key of memory that a file is, ... */
	PROCESS_MEMORY = 13,
	/* struct name_message -> the same, and nothing else (servers/name/client.h) */
	PROCESS_NAME = 14,
	/*
	 * pid: number of a server, status: a signal that ends it, or 0 -> pid: how often it was
	 * started. For tests: of a machine whose etc/job allows that
	 */
	PROCESS_SERVER = 15,
	/*
	 * args: a core of the cluster, flags: PROCESS_CORE_ROLE, status: its new role; or
	 * PROCESS_CORE_PROVISION, status: whether processes are moved from now on without anybody's
	 * wish; or 0 -> struct core_told. Both the file server alone says.
	 */
	PROCESS_CORE = 16,
	/*
	 * pid: of a process of this cluster, or 0: who asks; status: where it is to run; told: from
	 * the file server, who wants that: cluster and, below, 32 bits of badge -> nothing
	 */
	PROCESS_MOVE = 17,
};

#define PROCESS_ROOM_DOMAIN 1
#define PROCESS_CORE_ROLE 1
#define PROCESS_CORE_PROVISION 2

/* What is told of a core: what the kernel says, and what its process server has decided. */
struct core_told {
	struct core_info is;
	/* processes that share it since they keep calling the kernel, and that do no more */
	uint32_t gathered, released;
};

/*
 * Where a process is to run: a core that is not 0, by the machine's number, or one of these. An AC
 * that one process was given so no other gets so.
 */
#define PROCESS_CORE_ANY 0		/* where the kernel places it; with REPLACE: as before */
#define PROCESS_CORE_AC (-1)		/* on the AC with the fewest threads */
#define PROCESS_CORE_TC (-2)		/* on the TC with the fewest threads */

/*
 * Of memory that processes of the cluster share; all but MAP the file server alone asks. END takes
 * what was lent back, too.
 */
enum process_memory_op {
	/*
	 * args: pages that it has at least; status: the badge of a process of this cluster, whose
	 * job has it; 0: nobody's
	 */
	PROCESS_MEMORY_MAKE = 0,
	PROCESS_MEMORY_READ = 1,	/* args: offset, envs: bytes -> as many, behind it */
	PROCESS_MEMORY_WRITE = 2,	/* args: offset, envs: bytes, which follow */
	PROCESS_MEMORY_CLEAR = 3,	/* args: offset, envs: bytes that become 0 */
	PROCESS_MEMORY_END = 4,		/* who has mapped it keeps it */
	/*
	 * args: page, envs: 1: to be written, too -> handle of memory, pid: the number of the page
	 * there, parent: how many there are from that on
	 */
	PROCESS_MEMORY_MAP = 5,
	/*
	 * Memory that was made at once and not larger since. status: the badge of a process of this
	 * cluster -> handle in that one: all of it, to be read and written, until it is revoked
	 */
	PROCESS_MEMORY_LEND = 6,
	/*
	 * envs: 1: it comes back -> nobody has what was lent any more, nor mapped; handle: 1: the
	 * cluster is short of memory, asked when it comes back
	 */
	PROCESS_MEMORY_REVOKE = 7,
	/*
	 * It stays, although the file server that had it made has ended. Key 0: all that this one
	 * has neither made nor claimed ends
	 */
	PROCESS_MEMORY_CLAIM = 8,
};

/* Process groups, sessions and the terminal's foreground group; pid 0: who asks. */
enum process_group_op {
	PROCESS_GROUP_OF = 0,		/* pid -> its group */
	PROCESS_SESSION_OF = 1,
	PROCESS_GROUP_SET = 2,		/* pid, status: a group of its session, 0: of its own */
	PROCESS_SESSION_NEW = 3,	/* -> its number */
	PROCESS_FRONT_OF = 4,		/* -> the group in the foreground */
	PROCESS_FRONT_SET = 5,		/* status */
	PROCESS_TERMINAL_OF = 6,	/* -> flags of the terminal (frames.h) */
	PROCESS_TERMINAL_SET = 7,	/* status */
	PROCESS_IS_FRONT = 8,		/* -> 1: who asks is in the foreground; 0 */
};

/* flags */
#define PROCESS_REPLACE 1		/* SPAWN: it takes the place, and the pid, of who asks */
#define PROCESS_NO_WAIT 2		/* WAIT: -E_AGAIN if none has ended */
/* SPAWN, START: the answer, and with REPLACE the end of who asks, comes when the child is ready */
#define PROCESS_AWAIT 4
#define PROCESS_DEFAULT 8		/* KILL: the process is not asked */
#define PROCESS_FRONT 32		/* SPAWN: its group comes to the foreground */
#define PROCESS_UNTRACED 64		/* WAIT: also for children that have stopped */
#define PROCESS_CONTINUED 128		/* WAIT: also for those that go on after that */
#define PROCESS_STAYS 1024		/* WAIT: what is told can be told once more */
#define PROCESS_NOT_ENDED 2048		/* WAIT: not for those that have ended */
#define PROCESS_PREPAGED 8192		/* SPAWN: all that it begins with is there from the start */
#define PROCESS_QUEUED 4096		/* KILL: told: a value that comes with it */
#define PROCESS_HAS_STOPPED 256		/* as a cause of that; the status is the signal */
#define PROCESS_HAS_CONTINUED 257
#define PROCESS_OWN_GROUP (-1)		/* in `group` */
/* SPAWN: the program is in the memory that PROCESS_BRING gave; the path is its name only */
#define PROCESS_BROUGHT 16
#define PROCESS_TOLD 0x80000000u	/* in `signal` of a reply */
#define PROCESS_SIGNAL(sig) ((uint64_t)1 << ((sig) - 1))
#define PROCESS_SIGNALS 64		/* the largest */
#define PROCESS_SIGNALS_QUEUED 32	/* the first of which each comes that was sent */
/*
 * Of the status with which a process ends, and of the signal by which it ends itself
 * (PROCESS_DEFAULT): these bits, and above them how long its children ran: PROCESS_USED_BITS of
 * their microseconds, and above these by how many bits they are shifted. So is `used` of the struct
 * proc_status that a parent is told, of the process and its children.
 */
#define PROCESS_STATUS 255
#define PROCESS_STATUS_BITS 8
#define PROCESS_USED_BITS 18

/* The message that says so. */
struct process_ready {
	uint32_t magic;			/* PROCESS_READY */
	uint32_t rest[MAILBOX_MSG_SIZE / sizeof(uint32_t) - 1];
};

struct process_request {
	uint32_t op;
	uint32_t flags;
	int32_t pid;
	int32_t status;
	uint32_t args, envs;
	uint32_t text_bytes;		/* of path, arguments and environment together */
	uint32_t inherit_bytes;
	/*
	 * SPAWN, FORK, CATCH: signals (PROCESS_SIGNAL) that the process is told of. Those that come
	 * before its PROCESS_CATCH are kept until then
	 */
	uint64_t told;
	int32_t group;			/* SPAWN: its group; 0: its parent's */
	uint32_t most;			/* SPAWN, FORK: processes of the job here; 0: any number */
};

struct process_reply {
	/* copied in words, as what is behind it */
	_Alignas(uint64_t) int32_t error;	/* 0 or a negative number of Linux's */
	int32_t pid;
	int32_t parent;			/* LIST: 0: none, or of another cluster */
	uint32_t has_ended;		/* LIST: its parent has not taken its end */
	struct proc_status status;	/* WAIT: how it ended (abi/layout.h) */
	union {
		int32_t handle;		/* FORK: of the new process; BRING: of the memory */
		/* WAIT: of a part: its ranks that have not ended by themselves */
		uint32_t missing;
		uint32_t ranks;		/* LIST: that are threads of it */
	};
	union {
		struct job_part part;	/* PART */
		uint32_t since;		/* LIST: when it was started, in hundredths of a second */
	};
	/*
	 * no answer: PROCESS_TOLD and a signal, or 0: none; `pid` sent it, or is the child whose
	 * `status` says how it ended
	 */
	union {
		uint32_t signal;
		uint32_t core;		/* LIST: that it was given, and 1; 0: any */
	};
};

#define PROCESS_MEMORY_BYTES 3584	/* that one request reads or writes */

_Static_assert(PROCESS_MEMORY_BYTES + sizeof(struct process_reply) <= PROCESS_MESSAGE &&
	PROCESS_MEMORY_BYTES + sizeof(struct process_request) <= PROCESS_MESSAGE, "a message");

/* LIST */
struct process_listed {
	/*
	 * since it started; of the job that the machine started with since it was listed first.
	 * Zeros: it has ended. `core` is the machine's number of it
	 */
	struct thread_counts counts;
	uint32_t runs;		/* 1: a thread of it had a core when it was listed */
	uint32_t reserved;
	char name[PROCESS_NAME_MAX];
};

/* What a cluster has for ranks: of ports, those that it can give now. */
struct process_room {
	uint32_t cores;
	uint32_t ports;
	uint64_t free_bytes;
	uint64_t bytes;
};

_Static_assert(sizeof(struct process_room) <= PROCESS_NAME_MAX, "it lies in the name's place");

/* PART: an MPI job. Every cluster that it is given to computes the same places of that. */
struct process_job {
	uint32_t job;			/* number, for the programs: the pid of who asks */
	uint32_t ranks;
	uint32_t policy;		/* MAP_* (abi/startup.h) */
	uint32_t ports;			/* that each cluster has at least */
	struct process_job_cluster {
		uint32_t cores;		/* 0: takes no ranks */
		uint32_t kb;		/* of memory, that is free */
	} cluster[CLUSTERS_MAX];	/* as many as the machine has are sent */
};

/* START: where its first thread begins, with which stack pointer and argument. */
struct process_entry {
	uint64_t pc;
	uint64_t sp;
	uint64_t arg;
};

/* What to start. The lists end with NULL. */
struct process_spawn {
	const char *path;		/* in the boot archive */
	char *const *args, *const *envs;
	const void *inherit;		/* bytes that the child gets (personality_info) */
	uint32_t inherit_bytes;
	uint32_t flags;
	uint64_t told;			/* see struct process_request */
	int32_t group;
	uint32_t most;
	int32_t core;			/* where it is to run */
};

/*
 * Open a channel to the process server of a cluster, as service_open does. One call at a time: who
 * waits for a child and wants to go on asking opens two.
 */
int process_open(struct channel *ch, int cluster, int bit);

/*
 * Start a process. Its pid; -FILE_ENODEV, -E_BUSY: as process_move; -E_NOENT: no such program;
 * -PROCESS_ENOEXEC: it is none; -E_2BIG: the texts are too long; -E_AGAIN: there are too many
 * processes; -E_NOMEM; -E_NOSYS: of several ranks that are one process, one alone cannot be
 * replaced; or what service_call says. With PROCESS_REPLACE it returns only errors.
 */
int process_spawn(struct channel *ch, const struct process_spawn *what);

/*
 * Memory for a program that process_spawn is to start with PROCESS_BROUGHT, on the same channel: a
 * handle of it, to be closed when the program is there. What is mapped of it is gone then. The own
 * cluster's server alone does so. -E_NOMEM; -E_NOSYS: it is another cluster's; or what service_call
 * says.
 */
int process_bring(struct channel *ch, uint32_t pages);

/*
 * Wait for the end of a child, `pid` or PROCESS_ANY, or one of a group, -`pid` or 0. Its pid;
 * -PROCESS_ECHILD: there is none; -E_AGAIN: none has ended, with PROCESS_NO_WAIT; or what
 * service_call says.
 */
int process_wait(struct channel *ch, int pid, uint32_t flags, struct proc_status *status);

/* In which of so many clusters the process with this number is, if there is one. */
static inline int
process_cluster_of(int32_t pid, uint32_t clusters)
{
	return (int)((uint32_t)(pid - PID_FIRST) % clusters);
}

/*
 * Send a signal to a process of that cluster; with PROCESS_DEFAULT what it says about that does not
 * matter. 0, or the own pid: who asks is of the group, too, and nothing was sent to it; -E_INVAL:
 * no signal; -E_SRCH: there is none; -E_ACCES: it is of another job, or the job's part, which only
 * its own end ends unless it has a handler; or what service_call says.
 */
int process_kill(struct channel *ch, int pid, int sig, uint32_t flags);

/*
 * A process of that cluster, or with pid 0 this one, goes with all its threads to where it is to
 * run, PROCESS_CORE_* or a core; `who` is 0, of others than the file server. 0; -E_SRCH: there is
 * none; -E_PERM: it is of another job, or several ranks; -FILE_ENODEV: that core runs no programs,
 * or is not its cluster's; -E_BUSY: another process was given that AC, or there is no such core
 * that is free; or what service_call says.
 */
int process_move(struct channel *ch, int pid, int core, uint64_t who);

/*
 * Send one with a value, to a process. As process_kill; -E_AGAIN: too many have not been told. Who
 * is told finds PROCESS_QUEUED as the cause in `status`, and the value in its `status` and
 * `threads`.
 */
int process_queue(struct channel *ch, int pid, int sig, uint64_t value);

/*
 * Ask about groups. What is asked for, or 0; -E_SRCH: no such process; -E_PERM: no such group in
 * the session, or it leads one; -E_NOSYS: a part of a job of several ranks; or what service_call
 * says.
 */
int process_group(struct channel *ch, enum process_group_op op, int pid, int value);

/*
 * This process has stopped by a signal, of which its parent hears, or goes on: 0. What service_call
 * says.
 */
int process_stopped(struct channel *ch, int sig);

/*
 * Be told of signals in this channel, of which a thread uses the bit: all that comes in it but the
 * one answer is a struct process_reply with PROCESS_TOLD. To be followed by service_receive until
 * the answer is there. What service_send says.
 */
int process_catch(struct channel *ch, uint64_t told);

/*
 * Say that this process has taken what it inherits: who started it with PROCESS_AWAIT goes on. It
 * is a message that needs no channel: most processes open none. 0 or what mailbox_send says.
 */
int process_ready(void);

/*
 * A child of the own cluster that has nothing yet: it is asked for, and made while this process
 * prepares what it is to have. Of `what` it is told, most and core that count. 0, or what
 * service_send says.
 */
int process_fork_ask(struct channel *ch, const struct process_spawn *what);

/*
 * The child that was asked for, in which this process maps what it is to have, by *handle, to be
 * closed when it is done. It is one of its children from now on, and can be killed and waited for;
 * it ends if this process ends before it begins. Its pid; -E_NOSYS: this process is several
 * ranks, or in another cluster; -E_AGAIN: there are too many; -E_NOMEM; -FILE_ENODEV, -E_BUSY: as
 * process_move; or what service_receive says.
 */
int process_fork_take(struct channel *ch, int *handle);

/*
 * Its first thread is to begin, and has begun with the answer; with PROCESS_AWAIT it has also said
 * that it is ready, or has ended. Both: 0, or what service_send or service_receive says;
 * process_start_take: also -E_SRCH: no such child; or what kproc_start says.
 */
int process_start_ask(struct channel *ch, int pid, uint32_t flags,
	const struct process_entry *entry);
int process_start_take(struct channel *ch);

/*
 * End a server of the channel's cluster by a signal, or with 0 do not; all but the last one are
 * cluster 0's. How often it was started; -E_ACCES: the machine was not started so; -E_SRCH: there
 * is none, or it is not running; or what service_call says.
 */
enum process_server {
	PROCESS_NAME_SERVER,
	PROCESS_FILE_SERVER,
	PROCESS_DEVICE_SERVER,		/* the first: of class 0 (servers/device/protocol.h) */
	/* of the memory of the cluster that is asked (servers/rmem/protocol.h) */
	PROCESS_RMEM_SERVER = PROCESS_DEVICE_SERVER + DEVICE_CLASSES,
};
int process_server(struct channel *ch, int server, int sig);

/*
 * What a core of the channel's cluster is for, and has counted. With a role that is not negative it
 * has got that before (core_role). 0; -E_INVAL: no such core; what core_role and service_call say.
 */
int process_core(struct channel *ch, uint32_t core, int role, struct core_told *told);

/* Processes of the channel's cluster are moved without anybody's wish from now on, or not. */
int process_provision(struct channel *ch, bool on);

/* What room the channel's cluster has. 0 or what service_call says. */
int process_room(struct channel *ch, struct process_room *room);

/*
 * What a memory domain of the channel's cluster has and has given (STATS_DOMAIN). 0; -E_INVAL: it
 * has no such domain; what service_call says.
 */
int process_domain(struct channel *ch, uint32_t domain, uint32_t word[DOMAIN_WORDS]);

/*
 * Ask for the part of a job (flags of `what`: 0), and take the answer, which comes when it is
 * loaded: so all clusters load at once. process_part_take: the part's pid; 0: the cluster has no
 * rank of the job; -E_NOSPC: more ranks than ports; -E_BUSY: other jobs have the ports; as
 * process_spawn; or -E_INVAL: no cluster takes ranks.
 */
int process_part_ask(struct channel *ch, const struct process_spawn *what,
	const struct process_job *job, uint32_t clusters);
int process_part_take(struct channel *ch, struct job_part *part);

/*
 * Its ranks run, and with PROCESS_AWAIT they have also taken what they inherit. As
 * process_start_take.
 */
struct process_parts {
	const struct job_part *part;	/* of each cluster */
	uint32_t clusters;
};
int process_part_start(struct channel *ch, int pid, uint32_t flags,
	const struct process_parts *parts);

/*
 * Ask for the end of a child, and take the answer, which comes when it has ended: so one thread
 * waits for children of several clusters. process_wait_take: as process_wait, and of a part how
 * many of its ranks had not ended by themselves.
 */
int process_wait_ask(struct channel *ch, int pid);
int process_wait_take(struct channel *ch, struct proc_status *status, uint32_t *missing);

/*
 * The process of that cluster that has a badge, or with 0 the one with the least pid above `after`:
 * its pid; 0: there is none.
 */
int process_list(struct channel *ch, int after, uint32_t badge, struct process_reply *r,
	struct process_listed *what);

/*
 * PROCESS_MEMORY: what is asked, and bytes behind it or behind the answer. 0 or a negative error;
 * for MAP the answer's fields are in `r`.
 */
struct process_memory {
	enum process_memory_op op;
	uint64_t key;
	uint32_t args, envs;
	uint32_t badge;			/* LEND: whose it is to be; MAKE: whose job has it */
	const void *from;		/* WRITE: `envs` bytes */
	void *to;			/* READ: as many */
};
int process_memory(struct channel *ch, const struct process_memory *what,
	struct process_reply *r);

#endif
