/* SPDX-License-Identifier: MIT
 *
 * Deadlocks. The ranks of a job wait for ever if all of them sleep inside MPI at one time and
 * nobody is being woken: only ranks wake ranks, and who has gone to sleep has taken all that had
 * arrived. Not a time decides, but two looks (ADR 0052): a rank counts its sleeps in `slept` (odd:
 * it sleeps and has found nothing), and whoever wakes it changes `sleeping` first. If every
 * `slept` is odd and, after every `sleeping` was seen unchanged, is still the same, then between
 * the two all slept and none had been woken. What else might end the wait - another thread, a
 * child, a debugger - must not be there.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>

#define LOOK_MS 1000			/* or ATOLL_DEADLOCK_LOOK_MS, for tests */
#define ANSWER_MS 10
#define EXIT_DEADLOCK 35		/* EDEADLK of Linux */
#define LINES_MAX 64

/* The round that all ranks are inside; NULL: not all are, or not of one. */
static struct round *
round_of_all(const struct job *j)
{
	struct round *round = j->ranks[0].round;

	for (int i = 0; i < j->count && round != NULL; i++)
		if (j->ranks[i].round != round ||
		    load_acquire(&round->segment->rank[i].state) != RANK_ATTACHED)
			return NULL;
	return round;
}

static bool
all_sleep(struct segment *s, uint32_t *slept)
{
	for (uint32_t i = 0; i < s->ranks; i++) {
		slept[i] = load_total(&segment_inbox(s, i)->slept);
		if (slept[i] % 2 == 0)
			return false;
	}
	return true;
}

static bool
none_is_woken(struct segment *s)
{
	for (uint32_t i = 0; i < s->ranks; i++)
		if (load_total(&segment_inbox(s, i)->sleeping) != SLEEPING)
			return false;
	return true;
}

static bool
all_still_sleep(struct segment *s, const uint32_t *slept)
{
	for (uint32_t i = 0; i < s->ranks; i++)
		if (load_total(&segment_inbox(s, i)->slept) != slept[i])
			return false;
	return true;
}

/* Text of a file of a process; empty if it cannot be read, false then. */
static bool
read_about(pid_t pid, const char *name, char *text, size_t room)
{
	char path[64];
	size_t got;
	FILE *f;

	snprintf(path, sizeof(path), name, (int)pid, (int)pid);
	text[0] = '\0';
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	got = fread(text, 1, room - 1, f);
	text[got] = '\0';
	fclose(f);
	return true;
}

/* Does a process have one thread, which sleeps, no child, and nobody who debugs it? */
static bool
is_alone(pid_t pid)
{
	char text[4096];

	if (!read_about(pid, "/proc/%d/status", text, sizeof(text)) ||
	    strstr(text, "\nState:\tS") == NULL || strstr(text, "\nTracerPid:\t0\n") == NULL ||
	    strstr(text, "\nThreads:\t1\n") == NULL)
		return false;
	return read_about(pid, "/proc/%d/task/%d/children", text, sizeof(text)) && text[0] == '\0';
}

static bool
all_are_alone(const struct job *j)
{
	for (int i = 0; i < j->count; i++)
		if (!is_alone(j->ranks[i].joined))
			return false;
	return true;
}

static bool
is_deadlock(struct job *j, struct segment *s)
{
	if (j->slept == NULL)
		j->slept = calloc((size_t)j->count, sizeof(j->slept[0]));
	/* the threads are counted while the last one sleeps, so that none can come */
	return j->slept != NULL && all_sleep(s, j->slept) && all_are_alone(j) && none_is_woken(s) &&
	       all_still_sleep(s, j->slept);
}

/* Have each rank write down what it waits for. */
static void
deadlock_ask(struct segment *s)
{
	store_total(&s->asked, 1);
	for (uint32_t i = 0; i < s->ranks; i++) {
		struct inbox *box = segment_inbox(s, i);
		uint32_t sleeping = SLEEPING;

		if (swap_strong(&box->sleeping, &sleeping, AWAKE))
			syscall(SYS_futex, &box->sleeping, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static bool
all_have_told(const struct segment *s)
{
	for (uint32_t i = 0; i < s->ranks; i++)
		if (load_acquire(&s->rank[i].told) == 0)
			return false;
	return true;
}

static void
say_rank(struct job *j, struct segment *s, int rank)
{
	char text[SAID_BYTES];

	memcpy(text, segment_said(s, (uint32_t)rank), sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	message("rank %d (process %d) waits in %s", rank, (int)j->ranks[rank].joined, text);
}

static void
report(struct job *j, struct segment *s)
{
	message("deadlock: all ranks wait inside MPI, no message is on its way, "
		"and nobody is left to send one%s",
		j->options->deadlock == DEADLOCK_END ? ": the job is ended (--on-deadlock)" : "");
	for (int i = 0; i < j->count && i < LINES_MAX; i++)
		say_rank(j, s, i);
	if (j->count > LINES_MAX)
		message("and %d more ranks", j->count - LINES_MAX);
	if (j->options->deadlock == DEADLOCK_END)
		job_fail(j, EXIT_DEADLOCK);
}

static int
pause_ms(void)
{
	const char *text = getenv("ATOLL_DEADLOCK_LOOK_MS");

	return text != NULL && atoi(text) > 0 ? atoi(text) : LOOK_MS;
}

int
deadlock_look(struct job *j)
{
	bool looks = j->options->deadlock != DEADLOCK_IGNORE && !j->ending;
	struct round *round = looks ? round_of_all(j) : NULL;

	if (round == NULL || round->reported)
		return pause_ms();
	if (load_relaxed(&round->segment->asked) == 0) {
		if (!is_deadlock(j, round->segment))
			return pause_ms();
		deadlock_ask(round->segment);
	}
	if (!all_have_told(round->segment))
		return ANSWER_MS;
	round->reported = true;
	report(j, round->segment);
	return pause_ms();
}
