/* SPDX-License-Identifier: MIT
 *
 * Signals. Those that other processes send, and the ends of children, come from the process server
 * in a channel (servers/proc/client.h), which is opened with the first action that is not the
 * default. What is pending lies in memory: of the process, or of a thread's record. A bit of the
 * thread's notification, PERSONALITY_SIGNAL_BIT, says that it is worth a look. It stops a thread
 * that computes (HANDLE_UPCALLS), and ends a wait of the kernel's, which is looked at here: a wait
 * that is not to end takes the bit and goes on, for each call ends with a look at the memory.
 *
 * A handler begins on the program's stack, with a frame as Linux's riscv64 has it.
 */
#ifndef USER_PERSONALITY_SIGNAL_H
#define USER_PERSONALITY_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <context.h>
#include <user/personality/personality.h>

/* Linux's numbers */
#define SIGILL 4
#define SIGTRAP 5
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28

#define CLD_EXITED 1
#define CLD_KILLED 2
#define CLD_STOPPED 5
#define CLD_CONTINUED 6

#define SA_NOCLDSTOP 1u
#define SA_NOCLDWAIT 2u

#define SIG_DFL 0
#define SIG_IGN 1

#define SIGNAL_OF(sig) ((uint64_t)1 << ((sig) - 1))
/* for which no program has a handler */
#define SIGNALS_FIXED (SIGNAL_OF(SIGKILL) | SIGNAL_OF(SIGSTOP))
/* by which a process stops; and it is told of these if it is to stop for a shell */
#define SIGNALS_STOP (SIGNAL_OF(SIGSTOP) | SIGNAL_OF(SIGTSTP) | SIGNAL_OF(SIGTTIN) | \
	SIGNAL_OF(SIGTTOU))
#define SIGNALS_OF_JOBS (SIGNALS_STOP | SIGNAL_OF(SIGCONT))
/* that the thread's own instructions cause */
#define SIGNALS_OF_FAULTS (SIGNAL_OF(SIGILL) | SIGNAL_OF(SIGTRAP) | SIGNAL_OF(SIGBUS) | \
	SIGNAL_OF(SIGFPE) | SIGNAL_OF(SIGSEGV))

/* Internal, as a result: begin the call anew, or end it with -E_INTR if a handler wants that. */
#define CALL_RESTART 513
/* the same, but whatever handlers want they end it */
#define CALL_INTERRUPTED 514

/* Which of siginfo_t's fields a signal has. */
struct signal_note {
	int32_t code;
	int32_t pid;		/* who sent it, or which child it is about */
	int32_t status;		/* of the child */
	uint64_t value;		/* that came with it */
};

/* each of these comes that was sent, in order, with its value */
#define SIGNALS_QUEUED 32
#define SI_QUEUE (-1)

/* Of real time, and two of the process's: when it is over next by its clock, 0: never */
#define TIMERS 3

struct timer {
	uint64_t first, period;
};

/* --- what is pending: pending.c --- */

/* Be told of these, too; the calling thread is the one whose bit is set. */
void signals_want(const struct handler_event *c, uint64_t told);

/* The calling thread may be stopped for signals, and by faults, as far as the program wants. */
void signals_listen(const struct handler_event *c);

/* This thread ends: another one is told of signals, if it was this one. */
void signals_leave(int tid);

/*
 * Signals for the process, and for one of its threads. Of one with a value -E_AGAIN: there are too
 * many; else 0, or -E_SRCH: no such thread.
 */
long signal_pend(const struct handler_event *c, int sig, const struct signal_note *note);
long signal_pend_thread(int tid, int sig, const struct signal_note *note);
/* For this one, without a value. */
void signal_pend_self(int sig);

/* The record of a thread that has been in the personality; NULL: there is none. */
struct thread_record *signal_thread(int tid);

/* Pending signals that the thread does not block. */
bool signal_is_due(const struct handler_event *c);

/* Take one of `mask`; its number; 0: there is none. */
int signal_take(struct thread_record *r, uint64_t mask, struct signal_note *note);

/* Pending, of the process and the thread. */
uint64_t signals_pending(const struct thread_record *r);

/* These are not pending any more. */
void signals_drop(uint64_t which);

/* The bit was set, and ended a wait that is to go on. */
void signal_bit_take(void);

/* The process stops, as far as this thread is it, until SIGCONT. */
void signal_stop(const struct handler_event *c, int sig);

/* As kfutex_wait; -E_INTR only where a signal is due. */
long signal_futex_wait(const struct handler_event *c, unsigned long addr, uint32_t value,
	uint64_t until);

/* A count of the ends of children, to wait for a change of; NULL: nobody counts them. */
uint32_t *signals_children(void);

/* Does nobody want to take the ends of children? */
bool signals_drop_children(void);

/* Take the lock of the channel and the timers, and give it back: the alarm is set anew. */
void signals_hold(const struct handler_event *c);
void signals_go_on(void);

/* timer_create and so on (timers.c): when the next is over, 0: none; who is to be told is. */
#define CLOCKS_OF_WORLD 0x921u	/* CLOCK_REALTIME, its coarse and its alarm clock, CLOCK_TAI */
uint64_t timers_next(void);
void timers_look(const struct handler_event *c, uint64_t now);
long timers_call(const struct handler_event *c, unsigned long nr);

long signal_timer_set(const struct handler_event *c);
long signal_timer_get(const struct handler_event *c);

/* The process has one thread more: its time is used up sooner. */
void signal_threads_share(const struct handler_event *c);

/* The limit of the time that the process runs has changed, or this program begins with one. */
void signal_time_limit(const struct handler_event *c);

/* What is pending, and timers, are those of another program of this process, too. */
struct inherit;
void signals_put(const struct handler_event *c, struct inherit *b);
void signals_take(const struct handler_event *c, const struct inherit *b);

/* --- what is done about them: signal.c --- */

/* Does it do nothing now? */
bool signal_is_ignored(int sig);

/* Another mask until the next handler has begun, or the call has ended. */
void signal_mask_for_now(const struct handler_event *c, uint64_t mask);

/* A siginfo_t. */
#define SIGINFO_WORDS 32
void signal_info_fill(int32_t info[SIGINFO_WORDS], int sig, const struct signal_note *note);

/* What is ignored; and, as another program, before its first call: what its parent has left it. */
uint64_t signals_ignored(void);
void signals_begin_with(const struct handler_event *c, uint64_t mask, uint64_t ignored);

/* The process ends by a signal. */
_Noreturn void signal_end(const struct handler_event *c, int sig);

/* --- frames: deliver.c --- */

/* At the end of a call: what is due is done. Its result, if the thread goes on with that. */
long signal_deliver(const struct handler_event *c, long result);

/* The thread was stopped where it computes, or by a fault; where it goes on, or 0: there. */
long signal_upcall(const struct handler_event *c);
long signal_fault(const struct handler_event *c);

/* A handler ends. */
_Noreturn void signal_return_call(const struct handler_event *c);

#endif
