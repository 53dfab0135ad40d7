/* SPDX-License-Identifier: MIT
 *
 * How ranks end, and how the job ends with the first that fails: one line says who and why, the
 * others are asked to end, and soon made to.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>

#define SWEEPS 200
#define SWEEP_NS 5000000

/* To the processes of a rank that are not in a group (0: to all). */
static void
signal_rank(const struct rank *r, int signal, pid_t group)
{
	if (r->pid > 0 && (group == 0 || getpgid(r->pid) != group))
		kill(r->pid, signal);
	for (const struct member *m = r->members; m != NULL; m = m->next)
		if (m->watch >= 0 && (group == 0 || getpgid(m->pid) != group))
			syscall(SYS_pidfd_send_signal, m->watch, signal, NULL, 0);
}

void
job_signal(struct job *j, int signal)
{
	for (int i = 0; i < j->count; i++)
		signal_rank(&j->ranks[i], signal, 0);
}

void
job_signal_group(struct job *j, int signal)
{
	/* its number is taken as long as one of the processes that we started is there */
	if (j->running > 0)
		kill(-j->group, signal);
	for (int i = 0; i < j->count; i++)
		signal_rank(&j->ranks[i], signal, j->group);
}

void
job_fail(struct job *j, int status)
{
	if (j->ending)
		return;
	j->ending = true;
	if (j->status == 0)
		j->status = status;
	job_signal(j, SIGTERM);
	/* a stopped process does not hear the signal before it goes on */
	job_signal(j, SIGCONT);
}

void
job_kill(struct job *j)
{
	job_signal(j, SIGKILL);
}

/* Is the rank between MPI_Init and MPI_Finalize? */
static bool
is_inside(const struct rank *r, int number)
{
	return r->round != NULL && load_acquire(&r->round->segment->rank[number].state) ==
		RANK_ATTACHED;
}

/* The exit status that a shell would see. */
static int
status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Who ended the job by MPI_Abort or a fatal error; -1: nobody. */
static int
aborter(const struct rank *r)
{
	return r->round != NULL ? (int)load_acquire(&r->round->segment->aborted) - 1 : -1;
}

/* Has whoever read our output gone (`| head -1`)? That ranks end of it needs no word. */
static bool
nobody_reads(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

static void
say_why(const struct job *j, int number, pid_t pid, int wait_status)
{
	const struct rank *r = &j->ranks[number];
	int signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;

	if (aborter(r) >= 0)
		message("rank %d (process %d) ended the job with status %d", aborter(r),
			(int)j->ranks[aborter(r)].joined, r->round->segment->abort_status);
	else if (signal == SIGPIPE && nobody_reads())
		return;
	else if (signal != 0)
		message("rank %d (process %d) was killed by signal %d (%s)", number, (int)pid,
			signal, strsignal(signal));
	else
		message("rank %d (process %d) exited with status %d%s", number, (int)pid,
			WEXITSTATUS(wait_status),
			is_inside(r, number) ? " without MPI_Finalize" : "");
}

/* A rank has failed; if others may wait for it, the job ends. */
static void
blame(struct job *j, int number, pid_t pid, int wait_status)
{
	int status = status_of(wait_status);
	bool late = j->ranks[number].round != NULL && !is_inside(&j->ranks[number], number) &&
		!WIFSIGNALED(wait_status);

	if (!j->ending && j->interrupts == 0 && j->status == 0)
		say_why(j, number, pid, wait_status);
	if (late && j->interrupts == 0) {
		/* its part in MPI is over: the others may go on */
		j->status = j->status ? j->status : status;
		return;
	}
	job_fail(j, status ? status : 1);
}

/* Number of the newest round that somebody is inside; -1: nobody is. */
static int
round_inside(const struct job *j)
{
	int number = -1;

	for (int i = 0; i < j->count; i++)
		if (is_inside(&j->ranks[i], i) && j->ranks[i].round->number > number)
			number = j->ranks[i].round->number;
	return number;
}

void
ending_look_for_absent(struct job *j)
{
	int number = round_inside(j);

	for (int i = 0; i < j->count && !j->ending; i++) {
		if (j->ranks[i].pid != 0 || (j->ranks[i].round != NULL &&
			j->ranks[i].round->number >= number))
			continue;
		message("rank %d ended without %sMPI_Init, and others wait for it", i,
			j->ranks[i].round != NULL ? "another " : "");
		job_fail(j, 1);
	}
}

/*
 * The process has ended: nobody needs to be told of our end. Those that we did not start are
 * watched.
 */
static void
forget_child(struct rank *r, pid_t pid)
{
	for (struct member *m = r->members, *next; m != NULL; m = next) {
		next = m->next;
		if (m->pid == pid && m->watch < 0)
			door_forget(r, m);
	}
}

void
ending_of_child(struct job *j, pid_t pid, int wait_status)
{
	int i = 0;

	while (i < j->count && j->ranks[i].pid != pid)
		i++;
	if (i == j->count)
		return;
	j->ranks[i].pid = 0;
	j->running--;
	forget_child(&j->ranks[i], pid);
	if (wait_status != 0 || (j->ranks[i].joined == pid && is_inside(&j->ranks[i], i)))
		blame(j, i, pid, wait_status);
	else if (round_inside(j) >= 0)
		ending_look_for_absent(j);
}

/*
 * The same for a process whose parent has asked how it ended; Linux 6.15 and later remember that.
 */
static int
status_of_the_reaped(int watch)
{
	/* the kernel's struct pidfd_info in its first form */
	struct {
		uint64_t mask;
		uint64_t group;
		uint32_t ids[11];
		int32_t exit_code;
	} info = {.mask = 1 << 3};

	if (ioctl(watch, _IOWR(0xff, 11, info), &info) != 0 || (info.mask & 1 << 3) == 0)
		return -1;
	return info.exit_code;
}

/*
 * How a process ended that is not our child, as waitpid would say; -1: unknown. Only as long as its
 * parent has not asked.
 */
static int
status_of_zombie(pid_t pid)
{
	char path[64], text[1024], *p;
	int fd, fields = 2, status;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return -1;
	text[got] = '\0';
	/* field 2 is a name in parentheses, the status is field 52 */
	for (p = strrchr(text, ')'); p != NULL && fields < 52; fields++)
		p = strchr(p + 1, ' ');
	if (p == NULL || sscanf(p, "%d", &status) != 1)
		return -1;
	return status;
}

/* The process that had the rank has ended inside MPI. */
static void
ended_inside(struct job *j, int number, pid_t pid, int status)
{
	const struct rank *r = &j->ranks[number];

	if (status > 0 || aborter(r) >= 0) {
		blame(j, number, pid, status > 0 ? status :
			(r->round->segment->abort_status & 255) << 8);
		return;
	}
	if (!j->ending && j->interrupts == 0)
		message("rank %d (process %d) has ended without MPI_Finalize", number, (int)pid);
	job_fail(j, 1);
}

/* Who is watched by this descriptor; NULL: nobody any more. */
static struct member *
find_member(const struct job *j, int watch, int *rank)
{
	for (*rank = 0; *rank < j->count; ++*rank)
		for (struct member *m = j->ranks[*rank].members; m != NULL; m = m->next)
			if (m->watch == watch)
				return m;
	return NULL;
}

void
ending_of_joined(struct job *j, int watch)
{
	int number, status;
	struct member *m = find_member(j, watch, &number);
	struct rank *r = &j->ranks[number];
	bool has_rank = m != NULL && m == r->members;
	pid_t pid;

	if (m == NULL)
		return;
	pid = m->pid;
	status = status_of_zombie(pid);
	if (status < 0)
		status = status_of_the_reaped(watch);
	door_forget(r, m);
	if (has_rank && is_inside(r, number))
		ended_inside(j, number, pid, status);
}

/* Kill the children that we have (or that became ours when their parents died). */
static void
kill_children(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char path[300], text[512], *p;
		int fd, parent;
		ssize_t got;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
		if (fd >= 0)
			close(fd);
		text[got > 0 ? got : 0] = '\0';
		p = strrchr(text, ')');
		if (p != NULL && sscanf(p + 1, " %*c %d", &parent) == 1 && parent == getpid())
			kill((pid_t)atoi(e->d_name), SIGKILL);
	}
	if (d != NULL)
		closedir(d);
}

void
job_sweep(void)
{
	for (int i = 0; i < SWEEPS; i++) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		kill_children();
		nanosleep(&(struct timespec){0, SWEEP_NS}, NULL);
	}
}
