/* SPDX-License-Identifier: MIT
 *
 * Starting and watching the clusters. All shared memory is anonymous (memfd), every cluster process
 * dies with its launcher, and the launcher returns only when the last one is gone: nothing can be
 * left behind, whoever is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cpu/host.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/noc.h>
#include "launch.h"

#define DUMP_MS 100
#define NS_PER_S 1000000000u

struct machine {
	struct host_machine host;
	pid_t pid[CLUSTERS_MAX];	/* 0: ended */
	unsigned running;
	int reader;			/* cluster that keeps our standard input */
	bool ending;			/* the rest was killed by us */
	int signal;			/* that ends the machine from outside, or 0 */
	sigset_t mask;			/* that a cluster begins with */
};

static int
complain(const char *what)
{
	fprintf(stderr, "atoll: %s: %s\n", what, strerror(errno));
	return -1;
}

static void *
map_shared(int fd, size_t bytes, int prot)
{
	void *area = mmap(NULL, bytes, prot, fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd,
		0);

	return area == MAP_FAILED ? NULL : area;
}

static int
make_noc(struct host_machine *h)
{
	size_t bytes = h->record->clusters * h->record->noc_window_bytes;

	h->noc_fd = memfd_create("atoll-noc", MFD_CLOEXEC);
	if (h->noc_fd < 0 || ftruncate(h->noc_fd, (off_t)bytes) != 0)
		return complain("no memory file for the NoC");
	h->noc = map_shared(h->noc_fd, bytes, PROT_READ | PROT_WRITE);
	return h->noc == NULL ? complain("cannot map the NoC") : 0;
}

static int
prepare(struct machine *m, const struct launch *l)
{
	struct host_machine *h = &m->host;
	struct timespec now;

	h->record = l->record;
	h->no_fsgsbase = l->no_fsgsbase;
	h->clock_rate = l->clock_rate != 0 ? l->clock_rate : 1;
	h->archive_fd = l->archive_fd;
	h->control = map_shared(-1, sizeof(*h->control), PROT_READ | PROT_WRITE);
	if (h->control == NULL)
		return complain("no shared memory");
	clock_gettime(CLOCK_MONOTONIC, &now);
	h->control->launcher = (uint32_t)getpid();
	h->control->start_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	if (l->record->archive_bytes > 0) {
		h->archive = map_shared(l->archive_fd, l->record->archive_bytes, PROT_READ);
		if (h->archive == NULL)
			return complain("cannot map the boot archive");
	}
	place_cores(h);		/* speed only: it cannot fail */
	hal_noc_attach(l->record);
	return make_noc(h);
}

static void
release(struct machine *m)
{
	struct host_machine *h = &m->host;

	if (h->control != NULL)
		munmap(h->control, sizeof(*h->control));
	if (h->archive != NULL)
		munmap(h->archive, h->record->archive_bytes);
	if (h->noc != NULL)
		munmap(h->noc, h->record->clusters * h->record->noc_window_bytes);
	if (h->noc_fd > 0)
		close(h->noc_fd);
}

static void
read_nothing(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd > 0) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

/* The cluster's side of the fork. */
static _Noreturn void
become_cluster(const struct machine *m, unsigned cluster, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* the terminal sends it to everybody; the launcher alone decides */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigprocmask(SIG_SETMASK, &m->mask, NULL);
	if ((int)cluster != m->reader)
		read_nothing();
	host_attach(&m->host);
	host_cluster_main(cluster);
}

static int
start_cluster(struct machine *m, unsigned cluster)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return complain("cannot start a process for each cluster");
	if (pid == 0)
		become_cluster(m, cluster, parent);
	m->pid[cluster] = pid;
	m->running++;
	return 0;
}

static int
start_clusters(struct machine *m)
{
	for (uint32_t i = 0; i < m->host.record->clusters; i++)
		if (start_cluster(m, i) != 0)
			return -1;
	return 0;
}

static void
kill_all(struct machine *m)
{
	m->ending = true;
	for (uint32_t i = 0; i < m->host.record->clusters; i++)
		if (m->pid[i] != 0)
			kill(m->pid[i], SIGKILL);
}

static void
ring_everybody(const struct boot_record *r)
{
	for (uint32_t i = 0; i < r->clusters; i++)
		for (uint32_t j = 0; j < r->cluster[i].cores; j++)
			hal_notify(i, j);
}

/* What to do about a cluster that a signal has ended. */
static const char *
advice(int sig)
{
	if (sig == SIGKILL)
		return "if nobody killed it, the host ran out of memory: use fewer ranks or a "
			"smaller machine";
	if (sig == SIGBUS)
		return "the host has no memory left for it: use fewer ranks or a smaller machine";
	return "the program may have overwritten it: --port riscv64 protects it and shows where";
}

static void
report_death(const struct machine *m, unsigned cluster, int status)
{
	if (m->host.control->end[cluster] == HOST_PANICKED)
		return;			/* it has spoken itself */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		return;			/* whoever read our output has gone */
	if (WIFSIGNALED(status))
		fprintf(stderr, "atoll: cluster %u died (signal %d, %s): %s\n", cluster,
			WTERMSIG(status), strsignal(WTERMSIG(status)),
			advice(WTERMSIG(status)));
	else
		fprintf(stderr, "atoll: cluster %u died (a program ended its process with "
			"status %d): end ranks with exit or MPI_Abort\n", cluster,
			WEXITSTATUS(status));
}

/*
 * A cluster ended although nobody had said so: its peers must notice. What becomes of the machine
 * is cluster 0's affair.
 */
static void
cluster_died(struct machine *m, unsigned cluster, int status)
{
	report_death(m, cluster, status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		m->signal = SIGPIPE;
	hal_noc_mark_dead(cluster);
	ring_everybody(m->host.record);
	if (cluster == 0)
		kill_all(m);
}

/* --- orders of cluster 0: see host_order --- */

static void
cluster_stopped(struct machine *m, unsigned cluster)
{
	hal_store32(&m->host.control->order[cluster], HOST_STOPPED);
	hal_interrupt_home(0);
}

static void
restart_cluster(struct machine *m, unsigned cluster)
{
	m->host.control->end[cluster] = HOST_RUNNING;
	m->host.record->cluster[cluster].incarnation++;
	if (start_cluster(m, cluster) != 0)
		hal_noc_mark_dead(cluster);
}

static void
take_orders(struct machine *m)
{
	struct host_control *control = m->host.control;

	for (uint32_t i = 1; i < m->host.record->clusters && !m->ending; i++) {
		if (hal_load32(&control->order[i]) == HOST_STOP && m->pid[i] != 0)
			kill(m->pid[i], SIGKILL);
		else if (hal_load32(&control->order[i]) == HOST_STOP)
			cluster_stopped(m, i);
		else if (hal_cas32(&control->order[i], HOST_START, HOST_NONE))
			restart_cluster(m, i);
	}
}

static void
collect(struct machine *m)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		uint32_t i = 0;

		while (i < m->host.record->clusters && m->pid[i] != pid)
			i++;
		if (i == m->host.record->clusters)
			continue;
		m->pid[i] = 0;
		m->running--;
		host_cluster_gone(i);
		if (m->host.control->halted)
			kill_all(m);
		else if (hal_load32(&m->host.control->order[i]) == HOST_STOP)
			cluster_stopped(m, i);
		else if (!m->ending)
			cluster_died(m, i, status);
	}
}

/* Ask every core what it does. The answers are there when the clusters have had a moment. */
static void
dump(const struct machine *m)
{
	static const struct timespec moment = {.tv_nsec = DUMP_MS * 1000000l};

	for (uint32_t i = 0; i < m->host.record->clusters; i++)
		if (m->pid[i] != 0)
			kill(m->pid[i], HOST_DUMP);
	nanosleep(&moment, NULL);
}

static void
act_on(struct machine *m, int sig)
{
	if (sig == SIGQUIT || sig == SIGUSR1)
		dump(m);
	if (sig != SIGUSR1 && m->signal == 0) {
		m->signal = sig;
		kill_all(m);
	}
}

static void
watch(struct machine *m, const sigset_t *signals)
{
	while (m->running > 0) {
		int sig = sigwaitinfo(signals, NULL);

		if (sig == HOST_ORDER)
			take_orders(m);
		else if (sig > 0 && sig != SIGCHLD)
			act_on(m, sig);
		collect(m);
	}
}

static int
machine_status(const struct machine *m)
{
	if (m->host.control->halted)
		return m->host.control->status & 255;
	return m->signal != 0 ? 128 + m->signal : 1;
}

int
launch_machine(const struct launch *l)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
	struct machine m = {.reader = l->reader};
	sigset_t signals;
	int status = 1;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, HOST_ORDER);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&signals, ends[i]);
	sigprocmask(SIG_BLOCK, &signals, &m.mask);
	if (prepare(&m, l) == 0) {
		host_attach(&m.host);
		if (start_clusters(&m) != 0)
			kill_all(&m);
		watch(&m, &signals);
		status = machine_status(&m);
	}
	release(&m);
	sigprocmask(SIG_SETMASK, &m.mask, NULL);
	return status;
}
