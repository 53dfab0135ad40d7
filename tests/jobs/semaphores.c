/* SPDX-License-Identifier: MIT
 *
 * What processes wait for in memory that they share: named semaphores, and mutexes, conditions,
 * barriers and locks of readers and writers that are process-shared; robust mutexes whose holder
 * ends. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unaware.h"

#define ROUNDS 200
#define WORKERS 4
#define MS 1000000l

static char first[64], second[64];

static struct shared {
	pthread_mutex_t mutex, robust;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	pthread_rwlock_t rwlock;
	sem_t sem;
	int count, other, turn, held;
} *shared;

static int
end_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static pid_t
child(void (*what)(int), int of)
{
	pid_t pid = fork();

	if (pid == 0) {
		failures = 0;
		what(of);
		fflush(stdout);
		_exit(failures != 0);
	}
	return pid;
}

static struct timespec
in(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns % 1000000000;
	t.tv_sec += ns / 1000000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* --- named semaphores --- */

static void
answer(int rounds)
{
	sem_t *ping = sem_open(first, 0), *pong = sem_open(second, 0);

	expect(ping != SEM_FAILED && pong != SEM_FAILED, 1, "sem_open in a child");
	for (int i = 0; i < rounds; i++) {
		expect(sem_wait(ping), 0, "sem_wait in a child");
		shared->count++;
		expect(sem_post(pong), 0, "sem_post in a child");
	}
	sem_close(ping), sem_close(pong);
}

static void
wait_once(int unused)
{
	sem_t *s = sem_open(first, 0);

	(void)unused;
	shared->held = 1;
	sem_wait(s);
	_exit(3);
}

static void
named(void)
{
	sem_t *ping = sem_open(first, O_CREAT | O_EXCL, 0600, 0), *pong = sem_open(second,
		O_CREAT, 0600, 0);
	struct timespec t;
	int value = -1;
	pid_t pid;

	expect(ping != SEM_FAILED && pong != SEM_FAILED, 1, "sem_open");
	expect(sem_open(first, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST, 1,
		"EXCL");
	expect(sem_open("/no-such-semaphore", 0) == SEM_FAILED && errno == ENOENT, 1, "none");
	expect(sem_open(first, O_CREAT, 0600, 5) == ping, 1, "the same one");
	shared->count = 0;
	pid = child(answer, ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		sem_post(ping);
		expect(sem_wait(pong), 0, "sem_wait");
		expect(shared->count, i + 1, "turns");
	}
	expect(end_of(pid), 0, "a child");
	t = in(20 * MS);
	expect(sem_timedwait(ping, &t) == -1 && errno == ETIMEDOUT, 1, "sem_timedwait");
	expect(sem_trywait(ping) == -1 && errno == EAGAIN, 1, "sem_trywait");
	expect(sem_post(ping), 0, "sem_post");
	expect(sem_getvalue(ping, &value) == 0 && value == 1, 1, "sem_getvalue");
	t = in(20 * MS);
	expect(sem_timedwait(ping, &t), 0, "sem_timedwait of one that is there");
	/* who waits is killed, and another one gets what is posted */
	shared->held = 0;
	pid = child(wait_once, 0);
	while (!__atomic_load_n(&shared->held, __ATOMIC_SEQ_CST))
		usleep(1000);
	usleep(20000);
	kill(pid, SIGKILL);
	expect(WTERMSIG(end_of(pid)), SIGKILL, "killed");
	pid = child(wait_once, 0);
	sem_post(ping);
	expect(WEXITSTATUS(end_of(pid)), 3, "the next one");
	expect(sem_unlink(first), 0, "sem_unlink");
	expect(sem_unlink(first) == -1 && errno == ENOENT, 1, "sem_unlink again");
	expect(sem_open(first, 0) == SEM_FAILED && errno == ENOENT, 1, "unlinked");
	expect(sem_post(ping), 0, "unlinked, and open");
	expect(sem_wait(ping), 0, "unlinked, and open");
	pong = sem_open(first, O_CREAT | O_EXCL, 0600, 3);
	expect(pong != SEM_FAILED && pong != ping, 1, "another one of that name");
	expect(sem_getvalue(pong, &value) == 0 && value == 3, 1, "its value");
	sem_unlink(first), sem_unlink(second);
}

/* --- process-shared --- */

static void
begin(void)
{
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	pthread_barrierattr_t b;
	pthread_rwlockattr_t r;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		0);
	pthread_mutexattr_init(&m);
	expect(pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED), 0, "pshared");
	pthread_mutex_init(&shared->mutex, &m);
	expect(pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST), 0, "robust");
	pthread_mutex_init(&shared->robust, &m);
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->cond, &c);
	pthread_barrierattr_init(&b);
	pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &b, WORKERS);
	pthread_rwlockattr_init(&r);
	pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->rwlock, &r);
	sem_init(&shared->sem, 1, 0);
}

static void
work(int who)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&shared->mutex);
		shared->count++;
		pthread_mutex_unlock(&shared->mutex);
	}
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&shared->mutex);
		while (shared->turn % WORKERS != who)
			pthread_cond_wait(&shared->cond, &shared->mutex);
		shared->turn++;
		pthread_cond_broadcast(&shared->cond);
		pthread_mutex_unlock(&shared->mutex);
	}
	for (int i = 0; i < 10; i++) {
		int first_one = pthread_barrier_wait(&shared->barrier);

		if (first_one == PTHREAD_BARRIER_SERIAL_THREAD)
			shared->other++;
		pthread_barrier_wait(&shared->barrier);
		expect(shared->other, i + 1, "barrier");
	}
	for (int i = 0; i < 20; i++) {
		pthread_rwlock_wrlock(&shared->rwlock);
		shared->held++;
		pthread_rwlock_unlock(&shared->rwlock);
		pthread_rwlock_rdlock(&shared->rwlock);
		expect(shared->held > 0, 1, "rwlock");
		pthread_rwlock_unlock(&shared->rwlock);
	}
	sem_post(&shared->sem);
}

static void
together(void)
{
	pid_t pid[WORKERS];

	shared->count = shared->turn = shared->other = shared->held = 0;
	for (int i = 0; i < WORKERS; i++)
		pid[i] = child(work, i);
	for (int i = 0; i < WORKERS; i++)
		expect(sem_wait(&shared->sem), 0, "sem_wait");
	for (int i = 0; i < WORKERS; i++)
		expect(end_of(pid[i]), 0, "a worker");
	expect(shared->count, WORKERS * ROUNDS, "mutex");
	expect(shared->turn, WORKERS * 10, "condition");
	expect(shared->held, WORKERS * 20, "rwlock");
}

/* --- robust --- */

enum how { BY_EXIT, BY_THREAD, BY_KILL, BY_SIGNAL };

static void *
lock_it(void *unused)
{
	pthread_mutex_lock(&shared->robust);
	return unused;
}

static void
hold(int how)
{
	pthread_t thread;

	if (how == BY_THREAD) {
		pthread_create(&thread, NULL, lock_it, NULL);
		pthread_join(thread, NULL);
	} else {
		pthread_mutex_lock(&shared->robust);
	}
	shared->held = 1;
	sem_post(&shared->sem);
	if (how == BY_EXIT || how == BY_THREAD)
		_exit(0);
	for (;;)
		pause();
}

static void
holder_ends(int how, const char *says)
{
	pid_t pid = child(hold, how);
	struct timespec t = in(20 * MS);

	sem_wait(&shared->sem);
	if (how == BY_KILL || how == BY_SIGNAL) {
		expect(pthread_mutex_timedlock(&shared->robust, &t), ETIMEDOUT, "it is held");
		kill(pid, how == BY_KILL ? SIGKILL : SIGTERM);
	}
	expect(pthread_mutex_lock(&shared->robust), EOWNERDEAD, says);
	end_of(pid);
	expect(pthread_mutex_consistent(&shared->robust), 0, "consistent");
	expect(pthread_mutex_unlock(&shared->robust), 0, "unlock");
	expect(pthread_mutex_lock(&shared->robust), 0, "lock after that");
	expect(pthread_mutex_unlock(&shared->robust), 0, "unlock");
}

/* The last test: what nobody makes consistent cannot be locked any more. */
static void
never_again(void)
{
	end_of(child(hold, BY_EXIT));
	sem_wait(&shared->sem);
	expect(pthread_mutex_lock(&shared->robust), EOWNERDEAD, "the owner is dead");
	expect(pthread_mutex_unlock(&shared->robust), 0, "unlock");
	expect(pthread_mutex_lock(&shared->robust), ENOTRECOVERABLE, "for good");
}

int
main(void)
{
	snprintf(first, sizeof(first), "/first-%d", getpid());
	snprintf(second, sizeof(second), "/second-%d", getpid());
	begin();
	named();
	together();
	holder_ends(BY_EXIT, "the holder exits");
	holder_ends(BY_THREAD, "the holder is a thread");
	holder_ends(BY_SIGNAL, "the holder gets a signal");
	holder_ends(BY_KILL, "the holder is killed");
	never_again();
	return verdict("semaphores");
}
