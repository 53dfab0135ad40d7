/* SPDX-License-Identifier: MIT
 *
 * Two ranks in two clusters map one file with MAP_SHARED: whoever comes first has it as memory of
 * its cluster, and the other one is refused, for memory is not shared between clusters. It can read
 * and write the file, and has a copy of it by MAP_PRIVATE.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <atoll/kcalls.h>
#include "expect.h"

#define PAGE 4096
#define NAME "/dev/shm/apart"
#define HAS_MAPPED "has-mapped"
#define HAS_LOOKED "has-looked"

/* What the other rank makes when it has come so far. */
static void
await(const char *name)
{
	while (access(name, F_OK) != 0)
		kthread_yield();
}

static void
say(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	expect(fd >= 0, 1, name);
	close(fd);
}

static void
first(void)
{
	int fd = open(NAME, O_RDWR | O_CREAT, 0644);
	char *at;

	expect(ftruncate(fd, 2 * PAGE), 0, "ftruncate");
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	expect(at != MAP_FAILED, 1, "mmap");
	strcpy(at + PAGE, "stored");
	say(HAS_MAPPED);
	await(HAS_LOOKED);
	expect(strcmp(at, "written"), 0, "what the other rank has written");
	close(fd);
}

static void
second(void)
{
	int fd;
	char *at;

	await(HAS_MAPPED);
	fd = open(NAME, O_RDWR);
	for (int i = 0; i < 3; i++) {
		errno = 0;
		expect(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, 1,
			"memory of another cluster");
		expect(errno, ENODEV, "why not");
	}
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	expect(at != MAP_FAILED, 1, "a copy");
	expect(strcmp(at + PAGE, "stored"), 0, "what is in it");
	expect(pwrite(fd, "written", 8, 0), 8, "pwrite");
	close(fd);
	say(HAS_LOOKED);
}

int
main(void)
{
	(atoll_startup()->rank == 0 ? first : second)();
	return verdict();
}
