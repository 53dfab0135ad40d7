/* SPDX-License-Identifier: MIT
 *
 * The fence around a cluster: physical memory protection (PMP) of one hart. Without a matching
 * entry S- and U-mode reach nothing, so only what is listed here exists for them. Entries are
 * naturally aligned powers of two where the area is one, else a pair "from here ... to there".
 */
#include "../virt.h"
#include "boot.h"

#define PMP_TOR 0x08
#define PMP_NAPOT 0x18
#define PMP_ENTRIES 16

struct fence {
	uint64_t addr[PMP_ENTRIES];
	uint8_t config[PMP_ENTRIES];
	unsigned used;
};

static void
fence_entry(struct fence *f, uint64_t addr, unsigned config)
{
	if (f->used == PMP_ENTRIES)
		boot_fail("too few PMP entries for this boot record, have", PMP_ENTRIES);
	f->addr[f->used] = addr;
	f->config[f->used++] = (uint8_t)config;
}

static void
fence_allow(struct fence *f, uint64_t base, uint64_t bytes, unsigned rights)
{
	bytes = (bytes + VIRT_PAGE - 1) & -(uint64_t)VIRT_PAGE;
	if (bytes == 0)
		return;
	if ((bytes & (bytes - 1)) == 0 && (base & (bytes - 1)) == 0) {
		fence_entry(f, base >> 2 | (bytes / 8 - 1), rights | PMP_NAPOT);
		return;
	}
	fence_entry(f, base >> 2, 0);
	fence_entry(f, (base + bytes) >> 2, rights | PMP_TOR);
}

#define PMP_SET(i) csr_write(pmpaddr##i, f->addr[i])

static void
fence_close(const struct fence *f)
{
	uint64_t config[2] = {0, 0};

	for (unsigned i = 0; i < PMP_ENTRIES; i++)
		config[i / 8] |= (uint64_t)f->config[i] << (i % 8 * 8);
	PMP_SET(0); PMP_SET(1); PMP_SET(2); PMP_SET(3); PMP_SET(4); PMP_SET(5); PMP_SET(6);
	PMP_SET(7);
	PMP_SET(8); PMP_SET(9); PMP_SET(10); PMP_SET(11); PMP_SET(12); PMP_SET(13); PMP_SET(14);
	PMP_SET(15);
	csr_write(pmpcfg0, config[0]);
	csr_write(pmpcfg2, config[1]);
	__asm__ volatile("sfence.vma" : : : "memory");
}

static void
fence_open(struct fence *f)
{
	for (f->used = PMP_ENTRIES; f->used > 0; f->used--)
		f->addr[f->used - 1] = f->config[f->used - 1] = 0;
}

void
boot_fence_piece(uint64_t base, uint64_t bytes)
{
	struct fence f;

	fence_open(&f);
	fence_allow(&f, base, bytes, PMP_R | PMP_W | PMP_X);
	fence_close(&f);
}

void
boot_fence(const struct boot_record *r, const struct boot_cluster *c)
{
	struct fence f;

	fence_open(&f);
	fence_allow(&f, c->mem_base, c->mem_bytes, PMP_R | PMP_W | PMP_X);
	fence_allow(&f, r->noc_base, r->noc_window_bytes * r->clusters, PMP_R | PMP_W);
	fence_allow(&f, VIRT_RECORD, VIRT_RECORD_BYTES, PMP_R);
	fence_allow(&f, r->archive_base, r->archive_bytes, PMP_R);
	if (c == &r->cluster[0]) {
		fence_allow(&f, VIRT_FINISHER, VIRT_PAGE, PMP_R | PMP_W);
		fence_allow(&f, VIRT_IO, VIRT_IO_BYTES, PMP_R | PMP_W);
		fence_allow(&f, VIRT_PLIC, VIRT_PLIC_BYTES, PMP_R | PMP_W);
	} else {
		fence_allow(&f, VIRT_UART, VIRT_PAGE, PMP_R | PMP_W);
	}
	fence_allow(&f, VIRT_SSWI, VIRT_SSWI_BYTES, PMP_R | PMP_W);
	fence_close(&f);
}
