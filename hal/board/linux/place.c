/* SPDX-License-Identifier: MIT
 *
 * Host CPUs for application cores. A machine takes a CPU by binding an abstract socket of its name,
 * which Linux frees when the process ends, however it ends: so two machines never pin their cores
 * to the same CPU, and nothing is left behind.
 */
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cpu/host.h>
#include "launch.h"

static unsigned
count_application_cores(const struct boot_record *r)
{
	unsigned n = 0;

	for (int i = 0; i < CORES_MAX; i++)
		n += r->roles[i] == ROLE_AC;
	return n;
}

/* The socket that holds a CPU, or -1 if somebody else has it. */
static int
take_cpu(int cpu)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "atoll-cpu-%d", cpu);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&name,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Take `wanted` CPUs of the set, or none. Returns whether it did. */
static bool
take_cpus(const cpu_set_t *set, unsigned wanted, int16_t *taken)
{
	int fd[CORES_MAX];
	unsigned n = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && n < wanted; cpu++) {
		if (!CPU_ISSET(cpu, set))
			continue;
		fd[n] = take_cpu(cpu);
		if (fd[n] >= 0)
			taken[n++] = (int16_t)cpu;
	}
	if (n == wanted)
		return true;
	while (n > 0)
		close(fd[--n]);
	return false;
}

void
place_cores(struct host_machine *h)
{
	unsigned wanted = count_application_cores(h->record);
	int16_t taken[CORES_MAX];
	cpu_set_t set;

	for (int i = 0; i < CORES_MAX; i++)
		h->cpu[i] = -1;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	h->cpus = (uint32_t)CPU_COUNT(&set);
	if (wanted > h->cpus || !take_cpus(&set, wanted, taken))
		return;
	for (int i = 0, next = 0; i < CORES_MAX; i++)
		if (h->record->roles[i] == ROLE_AC)
			h->cpu[i] = taken[next++];
}
