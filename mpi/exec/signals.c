/* SPDX-License-Identifier: MIT
 *
 * Signals that mpiexec gets. The ranks have a session of their own, so that what a terminal tells
 * its foreground is passed on to all of it.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <mpi/exec/job.h>
#include <mpi/exec/message.h>

/* What a shell or nohup made us ignore, the ranks ignore too. */
static bool
is_ignored(int signal)
{
	struct sigaction now;

	return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void
signals_open(struct job *j)
{
	static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1,
		SIGUSR2};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i] == SIGCHLD || !is_ignored(wanted[i]))
			sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	j->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (j->signals < 0)
		system_error("signalfd");
	job_watch(j, j->signals, EVENT_SIGNAL, 0);
}

static void
reap(struct job *j)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		/* a process that could not start has said why before it ended, perhaps just now */
		job_start_failed(j);
		ending_of_child(j, pid, status);
	}
}

/* The first time the ranks are asked; those that share our terminal have heard it. */
static void
interrupted(struct job *j, const struct signalfd_siginfo *s)
{
	int signal = (int)s->ssi_signo;
	bool by_terminal = s->ssi_code == SI_KERNEL;

	j->hurries = true;
	if (j->interrupts++ > 0) {
		j->ending = true;
		job_kill(j);
		return;
	}
	j->status = 128 + signal;
	if (by_terminal && j->group > 0)
		job_signal_group(j, signal);
	else if (!by_terminal && signal == SIGINT)
		job_signal(j, signal);
	if (signal != SIGINT)
		job_fail(j, 128 + signal);
}

/*
 * Stop as a program that does not look at the signal does (that is: not, if nobody could make it go
 * on), and the ranks meanwhile.
 */
static void
stopped(struct job *j)
{
	sigset_t stop;

	/* SIGTSTP would do nothing: no shell looks after the ranks' session */
	if (j->group > 0)
		job_signal_group(j, SIGSTOP);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	if (j->group > 0)
		job_signal_group(j, SIGCONT);
}

void
signals_take(struct job *j)
{
	struct signalfd_siginfo s;

	while (read(j->signals, &s, sizeof(s)) == sizeof(s)) {
		switch (s.ssi_signo) {
		case SIGCHLD:
			reap(j);
			break;
		case SIGTSTP:
			stopped(j);
			break;
		case SIGUSR1:
		case SIGUSR2:
			job_signal(j, (int)s.ssi_signo);
			break;
		default:
			interrupted(j, &s);
			break;
		}
	}
}
