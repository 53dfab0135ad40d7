/* SPDX-License-Identifier: MIT
 *
 * Processes that the program starts. vfork, and what posix_spawn and system make of clone, ends
 * with a program of the child's own: until then the child is the parent's thread, with the parent's
 * memory, on the stack that it is given. So nothing is copied, and what starts is a request to the
 * process server (servers/proc/client.h). The parent goes on where it was as soon as there is a
 * program, or the child has ended without one.
 */
#ifndef USER_PERSONALITY_PROCESS_H
#define USER_PERSONALITY_PROCESS_H

#include <user/personality/personality.h>

struct process_spawn;

#define RUSAGE_BYTES 144	/* of what a process has used */
#define OWN_PROGRAM "/proc/self/exe"	/* as a path: the program that runs */

/* Where the working directory of a child without a program is kept: FILE_PATH_MAX bytes. */
char *process_borrowed_cwd(const struct thread_record *r);

/* Before the first call of the program: take what the parent left. */
void process_begin(const struct handler_event *c);

/* What siginfo_t says of the end of a child: its status, or the signal that has ended it. */
int process_end_number(const struct proc_status *s);
/* and its code. */
int process_end_code(const struct proc_status *s);

/* A child has ended, and nobody is to ask for it. */
void process_drop_child(int32_t pid);

/* sigaction of a child without a program: what it ignores its program will ignore. */
long process_borrowed_action(const struct handler_event *c, int sig, const uint64_t *to,
	uint64_t *old);

/*
 * setpgid, and tcsetpgrp with its own group, of a child without a program: done when it has one.
 * False: it is none, or means another process.
 */
bool process_borrowed_group(const struct handler_event *c, long pid, long group);
bool process_borrowed_front(const struct handler_event *c, long group);

/* What a program that this thread starts is to ignore. */
uint64_t process_ignored(const struct thread_record *r);

/* A channel to the process server for one call, number `*line`, or NULL and an error in it. */
struct channel *process_line(int *line);
void process_line_back(int line);

/* fork: fork.c. */
long fork_call(const struct handler_event *c);
long fork_begin(const struct handler_event *c);

/* rfork (atoll/execac.h): it is done; with RFPROC the thread's next fork does it. */
long rfork_call(const struct handler_event *c);

/* The calls; results as in personality.h. */
long process_vfork(const struct handler_event *c);
long process_execve(const struct handler_event *c);
long process_execac(const struct handler_event *c);
long process_wait4(const struct handler_event *c);
long process_waitid(const struct handler_event *c);
long process_kill_call(long pid, int sig, uint32_t flags);
long process_queue_call(int32_t pid, int sig, uint64_t value);
void process_stopped_call(int sig);
/* The caller's pid, or its parent's. */
long process_number(const struct handler_event *c, bool of_parent);

/* The thread is a child that has no program: it ends, and the parent goes on. Else returns. */
void process_exit_borrowed(const struct handler_event *c, int status);

/*
 * A path as the boot archive has it, in `room` bytes at `to`; OWN_PROGRAM is the program that runs.
 * NULL: it is too long.
 */
const char *process_path(const struct handler_event *c, const char *path, char *to, size_t room);

/*
 * As process_spawn, for an execve, also of programs that were written here, and of scripts. `name`
 * is the path as it was given.
 */
long program_spawn(const struct handler_event *c, const char *name, struct channel *ch,
	const struct process_spawn *what);

#endif
