/* SPDX-License-Identifier: MIT
 *
 * Calls of Linux's that are not there answer ENOSYS, each time; of several threads, too, and in a
 * child. What is said of them test_jobs.py looks at.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "expect.h"

#define FANOTIFY_INIT 262
#define IO_URING_SETUP 425
#define UNNAMED 511
#define FAR 3000

static void
call(long number)
{
	errno = 0;
	expect(syscall(number, 0, 0, 0, 0, 0, 0), -1, "a call that is not there");
	expect(errno, ENOSYS, "what it says");
}

int
main(void)
{
	static const long numbers[] = {FANOTIFY_INIT, IO_URING_SETUP, FANOTIFY_INIT, UNNAMED,
		UNNAMED, IO_URING_SETUP, FAR, FAR};
	int status;
	pid_t pid;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		call(numbers[i]);
	pid = fork();
	if (pid == 0) {
		call(FANOTIFY_INIT);
		call(FANOTIFY_INIT);
		_exit(failures);
	}
	expect(waitpid(pid, &status, 0), pid, "a child");
	expect(status, 0, "its end");
	return verdict();
}
