/* SPDX-License-Identifier: MIT
 *
 * Two ranks, of which rank 1 is in a namespace of process numbers of its own (`unshare -pf`):
 * there it starts a process that has the number by which the launcher knows rank 0, and other data
 * at the same address. What rank 0 sends must be what rank 1 gets.
 */
#include <linux/sched.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LONG (1 << 20)

static char data[LONG], got[LONG];

/* A process of that number, for as long as we live. -1: we may not choose numbers. */
static int
decoy(pid_t number)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number,
		.set_tid_size = 1};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid != 0)
		return (int)pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static int
receive(pid_t number)
{
	int pid;

	memset(data, 'd', LONG);
	pid = decoy(number);
	MPI_Ssend(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
	MPI_Recv(got, LONG, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (pid > 0)
		kill(pid, SIGKILL);
	if (pid < 0)
		puts("numbers cannot be chosen");
	else
		puts(memchr(got, 'd', LONG) != NULL ? "the data of another process" :
			"the data of rank 0");
	return 0;
}

int
main(int argc, char **argv)
{
	int rank, number = getpid();

	/* the same addresses everywhere */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		personality(ADDR_NO_RANDOMIZE);
		execv("/proc/self/exe", argv);
		return 1;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		memset(data, 'r', LONG);
		MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(NULL, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(data, LONG, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		receive(number);
	}
	return MPI_Finalize();
}
