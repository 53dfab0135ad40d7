/* SPDX-License-Identifier: MIT
 *
 * How ranks end. Argument 1 says how, argument 2 which rank does it; the others compute without
 * ever calling the kernel (they must be stopped) unless the way is `exit`, `_exit`, `return` or
 * `final`. The ways that begin with `mpi_` do it between MPI_Init and MPI_Finalize, `final` after
 * both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>

__attribute__((noinline)) static void
explode(volatile int *p)
{
	*p = 1;
	__asm__ volatile("");
}

static void
say_bye(void)
{
	printf("bye from rank %u\n", atoll_startup()->rank);
}

static int
end(const char *how)
{
	if (strcmp(how, "return") == 0 || strcmp(how, "final") == 0)
		return 7;
	if (strcmp(how, "zero") == 0)
		return 0;
	if (strcmp(how, "group") == 0)
		syscall(SYS_exit_group, 6);
	if (strcmp(how, "exit") == 0)
		exit(8);
	if (strcmp(how, "_exit") == 0)
		_exit(9);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "job_abort") == 0)
		job_abort(10);
	if (strcmp(how, "crash") == 0)
		explode((volatile int *)16);
	if (strcmp(how, "jump") == 0)
		((void (*)(void))16)();
	if (strcmp(how, "illegal") == 0)
		__builtin_trap();
	printf("FAIL unknown end %s\n", how);
	return 1;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned who = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	volatile unsigned long turns = 0;

	atexit(say_bye);
	if (strncmp(how, "mpi_", 4) == 0 || strcmp(how, "final") == 0)
		MPI_Init(NULL, NULL);
	if (strcmp(how, "final") == 0)
		MPI_Finalize();
	if (atoll_startup()->rank == who)
		return end(strncmp(how, "mpi_", 4) == 0 ? how + 4 : how);
	if (strcmp(how, "return") == 0 || strcmp(how, "exit") == 0 || strcmp(how, "_exit") == 0 ||
		strcmp(how, "final") == 0)
		return 0;
	for (;;)
		turns = turns + 1;
}
