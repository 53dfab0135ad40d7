/* SPDX-License-Identifier: MIT
 *
 * The job that mpiexec runs: one process (and what it starts) per rank.
 */
#ifndef MPI_EXEC_JOB_H
#define MPI_EXEC_JOB_H

#include <stdbool.h>
#include <sys/types.h>
#include <mpi/exec/lines.h>
#include <mpi/exec/options.h>
#include <mpi/exec/processors.h>
#include <mpi/transport/process/segment.h>

#define SOCKET_NAME 64

/*
 * One life of the MPI library in all ranks: from everybody's MPI_Init to MPI_Finalize. Programs
 * that run one after the other (in a shell
   script) have one each. It is given up when all ranks have gone on to the next. */
struct round {
	struct segment *segment;
	size_t mapped;			/* bytes of it that we see */
	int descriptor;
	int number;			/* 0 for the first */
	int passed;			/* ranks that have gone on */
	bool reported;			/* its deadlock has been told */
	struct round *next;
};

/*
 * A process that joined as a rank, until it ends: it dies if its socket is closed. Several of a
 * rank may live, but only the last is in MPI.
 */
struct member {
	pid_t pid;
	int socket;
	/* descriptor of the process if we did not start it ourselves; -1: none */
	int watch;
	struct member *next;		/* that joined before */
};

struct rank {
	pid_t pid;			/* of the process that we started; 0: it has ended */
	const struct app *app;
	pid_t joined;			/* process that called MPI_Init last; 0: none */
	struct member *members;		/* the last first */
	struct round *round;		/* that it joined last; NULL: none */
	struct lines out;
	struct lines err;
};

struct job {
	const struct options *options;
	struct processors processors;
	struct rank *ranks;
	int count;
	int running;			/* processes that we started and that have not ended */
	struct round *rounds;		/* the oldest that is not given up */
	bool apart;			/* the ranks have a session of their own */
	pid_t group;			/* their process group there; 0: they share ours */
	char socket_name[SOCKET_NAME];
	int door;			/* listens for those who join */
	int events;			/* epoll */
	int signals;			/* signalfd */
	/* pipe through which processes say that they could not start */
	int failures;
	int status;			/* of mpiexec */
	bool ending;			/* the job is being ended */
	struct sink out;		/* where the ranks' lines go */
	struct sink err;
	uint32_t *slept;		/* of each rank when deadlock_look looked first */
	int interrupts;
	/* ms of the monotonic clock when the job must have ended; 0: whenever */
	long limit;
	/* somebody has asked for the end: output that nobody reads is not waited for */
	bool hurries;
	/* it has been said that a rank's library is of another version */
	bool mismatch;
};

/* what an event belongs to; a rank's number is added to it */
enum { EVENT_DOOR = 1, EVENT_SIGNAL, EVENT_FAILURE, EVENT_OUT, EVENT_ERR, EVENT_JOIN, EVENT_WATCH };

#define GRACE_MS 250		/* between the wish that something ends and the end by force */

/* Watch a descriptor for input. `number` comes back with the event. */
void job_watch(struct job *j, int fd, int kind, int number);

/*
 * main.c: wait for events, at most so long (-1: for ever), and serve them. False: there were none.
 */
bool job_serve(struct job *j, int most_ms);

/* signals.c: hold back those that we serve; serve those that have come. */
void signals_open(struct job *j);
void signals_take(struct job *j);

/*
 * output.c: open the sinks; choose what to watch before waiting; there is room again, or ranks say
 * something; all ranks have ended.
 */
void output_open(struct job *j);
void output_watch(struct job *j);
void output_take(struct job *j, struct sink *s);
void output_finish(struct job *j);

/* spawn.c: start all ranks. */
void job_start(struct job *j);

/* spawn.c: take what processes wrote that could not start, if any did. Never waits. */
void job_start_failed(struct job *j);

/* door.c: open the socket; somebody knocks; somebody there says who it is. */
void door_open(struct job *j);
void door_knock(struct job *j);
void door_answer(struct job *j, int fd);

/* door.c: a process that joined has ended. */
void door_forget(struct rank *r, struct member *m);

/* ending.c: a process that we started, or one that joined, has ended. */
void ending_of_child(struct job *j, pid_t pid, int wait_status);
void ending_of_joined(struct job *j, int watch);

/*
 * ending.c: somebody is inside MPI: does that rank wait for one that has ended without MPI_Init?
 * Then the job fails.
 */
void ending_look_for_absent(struct job *j);

/* deadlock.c: does the job wait for ever? Returns after how many ms to look again. */
int deadlock_look(struct job *j);

/* ending.c: the job has failed (the first failure counts): end it. */
void job_fail(struct job *j, int status);

/*
 * ending.c: send a signal to all ranks; and, in the ranks' session, to what they have started, as a
 * terminal does.
 */
void job_signal(struct job *j, int signal);
void job_signal_group(struct job *j, int signal);

/* ending.c: the time for ending by itself is over. */
void job_kill(struct job *j);

/* ending.c: after a failure no descendant may stay. */
void job_sweep(void);

#endif
