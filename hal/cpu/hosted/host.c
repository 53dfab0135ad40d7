/* SPDX-License-Identifier: MIT
 *
 * A cluster as a Linux process: its memory, its start, its end.
 *
 * Physical addresses are the addresses at which this process sees the cluster's memory, the NoC
 * windows and the boot archive. The memory is a sparse memfd, so that a page can be mapped a second
 * time, into an address space.
 */
#include <errno.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include <base/fmt.h>
#include "hosted.h"

#define HWCAP2_FSGSBASE_BIT 2

struct host host;

void
host_write(int fd, const char *text, size_t len)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	while (len > 0) {
		long n = host_call3(SYS_write, fd, text, len);

		if (n == -EAGAIN)
			host_call3(SYS_poll, &room, 1, -1);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

_Noreturn void
host_exit(enum host_end end, int status)
{
	host.machine->control->end[host.cluster] = end;
	for (;;)
		host_call1(SYS_exit_group, status);
}

_Noreturn void
host_refuse(const char *what)
{
	char text[160];
	int len = fmt_print(text, sizeof(text), "atoll: cluster %u: %s\n", host.cluster, what);

	host_write(2, text, (size_t)len);
	host_exit(HOST_PANICKED, 1);
}

uintptr_t
host_libc_begin(void)
{
	uintptr_t fs = host_fs_read();

	host_fs_set(host_core_self()->host_fs);
	return fs;
}

void
host_libc_end(uintptr_t fs)
{
	host_fs_set(fs);
}

void
hal_shared_region(void *base, size_t len)
{
	(void)base;
	(void)len;
}

void
hal_shared_region_end(void *base, size_t len)
{
	(void)base;
	(void)len;
}

_Noreturn void
hal_machine_halt(int status)
{
	struct host_control *control = host.machine->control;

	if (hal_cas32(&control->halted, 0, 1))
		control->status = status;
	host_exit(HOST_HALTED, status & 255);
}

void *
hal_noc_window(unsigned cluster)
{
	return (char *)host.machine->noc + cluster * host.machine->record->noc_window_bytes;
}

void *
hal_noc_private(void)
{
	static _Alignas(HAL_CACHE_LINE) unsigned char own[HAL_NOC_PRIVATE_BYTES];

	return own;
}

static size_t
round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

void
host_attach(const struct host_machine *m)
{
	host.machine = m;
	host.noc_bytes = m->record->clusters * m->record->noc_window_bytes;
	host.archive_bytes = round_up(m->record->archive_bytes, HAL_PAGE_BYTES);
	host.fsgsbase = !m->no_fsgsbase && (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT) != 0;
}

/* The cluster's memory: `bytes`, aligned so that large pages can be mapped. */
static void
make_memory(size_t bytes)
{
	char *area;
	int fd = memfd_create("atoll", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
		host_refuse("no memory file (memfd) for the cluster's memory");
	area = mmap(NULL, bytes + HAL_LARGE_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		host_refuse("no address range for the cluster's memory");
	area = (char *)round_up((uintptr_t)area, HAL_LARGE_BYTES);
	if (mmap(area, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		host_refuse("cannot map the cluster's memory");
	host.memory_fd = fd;
	host.memory = (uintptr_t)area;
	host.memory_bytes = bytes;
}

#define SPARE_PAGES 8

/* Pages of two kinds in turn: Linux cannot join them. */
void
host_spare_make(void)
{
	long area = host_call6(SYS_mmap, 0, SPARE_PAGES * HAL_PAGE_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area < 0 && area > -4096)
		return;
	host.spare = (uintptr_t)area;
	for (size_t i = 0; i < SPARE_PAGES; i += 2)
		host_call3(SYS_mprotect, host.spare + i * HAL_PAGE_BYTES, HAL_PAGE_BYTES,
			PROT_READ);
}

void
host_spare_drop(void)
{
	if (host.spare != 0)
		host_call2(SYS_munmap, host.spare, SPARE_PAGES * HAL_PAGE_BYTES);
	host.spare = 0;
}

/*
 * All copies of libc in this process share one break; each believes that it is its own. So it may
 * not grow at all, and every libc takes its memory from mmap.
 */
static void
stop_break(void)
{
	uintptr_t end = round_up((uintptr_t)sbrk(0), HAL_PAGE_BYTES);

	mmap((void *)end, HAL_PAGE_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void
fill_in_addresses(struct boot_record *r)
{
	r->cluster[host.cluster].mem_base = host.memory;
	r->noc_base = (uintptr_t)host.machine->noc;
	r->archive_base = (uintptr_t)host.machine->archive;
}

static void
make_cores(unsigned count)
{
	host.core = mmap(NULL, count * sizeof(struct host_core), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (host.core == MAP_FAILED)
		host_refuse("no memory for the cores");
}

static void
enter_boot_main(void)
{
	kernel_boot_main(host.machine->record, (void *)host.memory, host.memory_bytes);
}

_Noreturn void
host_cluster_main(unsigned cluster)
{
	struct boot_record *r = host.machine->record;

	host.cluster = cluster;
	host.pid = getpid();
	host_guests_init(&r->cluster[cluster]);
	make_cores(r->cluster[cluster].cores + r->cluster[cluster].guests);
	host.guests_from = r->cluster[cluster].cores;
	make_memory(r->cluster[cluster].mem_bytes);
	stop_break();
	host_spare_make();
	fill_in_addresses(r);
	host_signals_install();
	host_core_attach(0);
	host_core_run(&host.core[0], enter_boot_main);
}
