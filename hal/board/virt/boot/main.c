/* SPDX-License-Identifier: MIT
 *
 * Machine start: find the hart's cluster in the boot record; the cluster's first hart unpacks the
 * kernel and wakes the others with the machine software interrupt (they sleep in wfi, nobody
 * spins); each hart is fenced in and drops to S-mode. After that M-mode code runs only when a
 * cluster is stopped (monitor.c), or something is wrong.
 */
#include <hal/board.h>
#include "../virt.h"
#include "boot.h"

#define COUNTERS 7			/* cycle, time, instret */
#define MENVCFG_STCE (1ULL << 63)

unsigned char boot_stacks[CORES_MAX << BOOT_STACK_SHIFT] __attribute__((aligned(16)));

static const struct boot_record *
record(void)
{
	const struct boot_record *r = (const struct boot_record *)VIRT_RECORD;

	if (r->magic != BOOT_MAGIC)
		boot_fail("no boot record, found", r->magic);
	if (r->version != BOOT_VERSION)
		boot_fail("boot record of another version", r->version);
	if (r->bytes < sizeof(*r) || r->clusters == 0 || r->clusters > CLUSTERS_MAX)
		boot_fail("bad boot record, clusters", r->clusters);
	return r;
}

static void
copy_words(uint64_t to, uint64_t from, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 8)
		*(uint64_t *)(to + i) = *(const uint64_t *)(from + i);
}

static void
clear_words(uint64_t at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 8)
		*(uint64_t *)(at + i) = 0;
}

static void
unpack_kernel(const struct boot_cluster *c)
{
	const struct hal_image *image = (const struct hal_image *)VIRT_KERNEL;
	uint64_t need = image->mem_bytes + c->cores * image->core_bytes;

	if (image->magic != HAL_IMAGE_MAGIC)
		boot_fail("no kernel image, found", image->magic);
	if (need > c->mem_bytes)
		boot_fail("the kernel does not fit into a cluster's memory, needs bytes", need);
	copy_words(c->mem_base, VIRT_KERNEL, image->file_bytes);
	clear_words(c->mem_base + image->file_bytes, need - image->file_bytes);
}

static void
wake_cluster(const struct boot_cluster *c)
{
	for (uint32_t i = 1; i < c->cores; i++)
		monitor_start(c->first_core + i);
}

/*
 * Everything goes to S-mode, which gets the clock, its timer and the counters; but its calls come
 * to us, and where a program has no kernel below it, what it does when it cannot even begin to
 * handle a trap.
 */
void
boot_delegate(bool lent)
{
	csr_write(medeleg, ~(1ULL << CAUSE_KERNEL_CALL | (uint64_t)lent << CAUSE_FETCH_ACCESS));
	csr_write(mideleg, -1);
	csr_write(mcounteren, COUNTERS);
	csr_write(0x30a, MENVCFG_STCE);	/* menvcfg */
}

static _Noreturn void
enter_cluster(const struct boot_record *r, unsigned hart, unsigned cluster, bool again)
{
	const struct boot_cluster *c = &r->cluster[cluster];

	if (hart == c->first_core) {
		unpack_kernel(c);
		wake_cluster(c);
	} else if (!again) {
		monitor_await_start(hart);
	}
	boot_delegate(false);
	boot_fence(r, c);
	boot_enter(hart - c->first_core, cluster, VIRT_RECORD,
		c->mem_base + ((const struct hal_image *)c->mem_base)->entry);
}

void
boot_main(unsigned hart, bool again)
{
	const struct boot_record *r = record();

	for (unsigned i = 0; i < r->clusters; i++)
		if (hart >= r->cluster[i].first_core &&
			hart - r->cluster[i].first_core < r->cluster[i].cores)
			enter_cluster(r, hart, i, again);
}
