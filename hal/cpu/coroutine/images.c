/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: images of memory. A core's image of a registered region lies at the region's
 * own address while the core (or nobody else of its cluster) runs, and is exchanged when another
 * core of the cluster runs; images of the NoC windows have addresses of their own.
 *
 * Only pages that somebody has written to since the region was registered can differ between cores.
 * They are found by a write fault each, so that tables which a test hardly uses cost nothing.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "internal.h"

#define PAGE 4096

void
coro_copy(void *to, const void *from, size_t len)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
}

static void *
fresh(size_t bytes)
{
	void *p = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);

	if (p == NULL)
		abort();
	return p;
}

/*
 * Pages of a region; the first and the last may be shared with others' memory and stop at the
 * region's borders.
 */
static size_t
page_count(const struct region *r)
{
	uintptr_t first = (uintptr_t)r->base / PAGE,
		last = ((uintptr_t)r->base + r->len - 1) / PAGE;

	return last - first + 1;
}

/* The part of a page that belongs to the region: its offset and length. */
static size_t
page_part(const struct region *r, size_t page, size_t *len)
{
	uintptr_t base = (uintptr_t)r->base, start = (base / PAGE + page) * PAGE,
		end = start + PAGE;

	if (start < base)
		start = base;
	if (end > base + r->len)
		end = base + r->len;
	*len = end - start;
	return start - base;
}

static void
activate(struct region *r, size_t page)
{
	size_t len, offset = page_part(r, page, &len);

	r->active[r->active_count++] = (struct piece){offset, len};
	if (len == PAGE)
		mprotect(r->base + offset, PAGE, PROT_READ | PROT_WRITE);
}

static struct sigaction earlier;	/* whose faults the others are */

/* The first write to a page of a region. */
static void
on_fault(int signal, siginfo_t *info, void *context)
{
	char *at = info->si_addr;

	(void)signal;
	(void)context;
	for (unsigned i = 0; coro_now != NULL &&
		i < coro_machine.cluster[coro_now->cluster].regions; i++) {
		struct region *r = &coro_machine.cluster[coro_now->cluster].region[i];

		if (!r->ended && at >= r->base && at < r->base + r->len) {
			activate(r, (uintptr_t)at / PAGE - (uintptr_t)r->base / PAGE);
			return;
		}
	}
	sigaction(SIGSEGV, &earlier, NULL);
}

static void
catch_faults(void)
{
	static bool done;
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (done)
		return;
	done = true;
	sigaction(SIGSEGV, &action, &earlier);
}

/* Memory for a region's images, kept from run to run as long as it fits. */
static void
region_memory(struct region *r, size_t len, unsigned cores)
{
	if (r->room == len && r->cores == cores)
		return;
	free(r->memory);
	free(r->active);
	r->room = len;
	r->cores = cores;
	len = (len + PAGE - 1) / PAGE * PAGE;
	r->memory = fresh(len * (1 + 2 * cores));
	r->active = calloc(len / PAGE + 2, sizeof(*r->active));
	r->shared = r->memory;
	for (unsigned i = 0; i < cores; i++) {
		r->image[i] = r->memory + len * (1 + 2 * i);
		r->clean[i] = r->memory + len * (2 + 2 * i);
	}
}

/*
 * What the images hold at first. In a cold run what core 0 wrote so far is in its own image only,
 * as on a machine where other cores' caches hold something else; otherwise it is everywhere, which
 * lets most pages stay out of the exchange.
 */
static void
region_begin(struct region *r, unsigned cores)
{
	bool cold = coro_machine.cold;

	memset(r->shared, coro_machine.garbage, r->len);
	if (!cold)
		coro_copy(r->shared, r->base, r->len);
	for (unsigned i = 0; i < cores; i++) {
		coro_copy(r->image[i], r->shared, r->len);
		coro_copy(r->clean[i], r->shared, r->len);
	}
}

/* From here on every write to a whole page of the region is noticed. */
static void
watch(struct region *r)
{
	size_t len;

	r->active_count = 0;
	catch_faults();
	for (size_t i = 0; i < page_count(r); i++) {
		size_t offset = page_part(r, i, &len);

		if (len < PAGE || coro_machine.cold)
			activate(r, i);
		else
			mprotect(r->base + offset, PAGE, PROT_READ);
	}
}

static struct region *
find_region(struct coro_cluster *c, const void *base, size_t len)
{
	for (unsigned i = 0; i < c->regions; i++)
		if (c->region[i].base == base && c->region[i].len == len)
			return &c->region[i];
	return NULL;
}

/*
 * What the other cores remember of its last use may be written back or read yet: only who publishes
 * and acquires is safe from it.
 */
static void
begin_again(struct region *r)
{
	coro_drain(coro_now);
	r->ended = false;
	r->loaded = coro_now->core;
	r->active_count = 0;
	for (size_t i = 0; i < page_count(r); i++)
		activate(r, i);
	memset(r->shared, coro_machine.garbage, r->len);
	if (!coro_machine.cold)
		coro_copy(r->shared, r->base, r->len);
	coro_copy(r->clean[r->loaded], r->shared, r->len);
}

void
hal_shared_region(void *base, size_t len)
{
	struct coro_cluster *c = &coro_machine.cluster[coro_now->cluster];
	struct region *r = find_region(c, base, len);

	if (r != NULL) {
		begin_again(r);
		return;
	}
	r = &c->region[c->regions];
	if (c->regions == REGIONS_MAX || c->cores > REGION_CORES_MAX)
		hal_panic(__FILE__, __LINE__, "too many shared regions, or cores that share them");
	region_memory(r, len, c->cores);
	r->base = base;
	r->len = len;
	r->ended = false;
	r->loaded = coro_now->core;
	region_begin(r, c->cores);
	watch(r);
	c->regions++;
}

void
hal_shared_region_end(void *base, size_t len)
{
	struct region *r = find_region(&coro_machine.cluster[coro_now->cluster], base, len);

	if (r == NULL || r->ended || r->loaded != coro_now->core)
		hal_panic(__FILE__, __LINE__, "no such shared region");
	for (size_t i = 0; i < page_count(r); i++)
		mprotect(r->base + page_part(r, i, &(size_t){0}), PAGE, PROT_READ | PROT_WRITE);
	r->ended = true;
}

/* Regions of the last run are ordinary memory again. */
static void
forget_regions(struct coro_cluster *c)
{
	for (unsigned i = 0; i < c->regions; i++) {
		uintptr_t first = (uintptr_t)c->region[i].base / PAGE * PAGE;

		mprotect((void *)first, page_count(&c->region[i]) * PAGE, PROT_READ | PROT_WRITE);
	}
	c->regions = 0;
}

void
coro_core_image(struct coro_core *core)
{
	struct coro_cluster *c = &coro_machine.cluster[core->cluster];

	for (unsigned i = 0; i < c->regions && !coro_machine.cold; i++) {
		struct region *r = &c->region[i];

		for (size_t k = 0; k < r->active_count; k++) {
			struct piece p = r->active[k];

			coro_copy(r->image[core->core] + p.offset, r->shared + p.offset, p.len);
			coro_copy(r->clean[core->core] + p.offset, r->shared + p.offset, p.len);
		}
	}
	coro_copy(core->windows, coro_machine.windows, coro_machine.windows_bytes);
	coro_copy(core->windows_clean, coro_machine.windows, coro_machine.windows_bytes);
}

void
coro_load_images(struct coro_core *core)
{
	struct coro_cluster *c = &coro_machine.cluster[core->cluster];

	for (unsigned i = 0; i < c->regions; i++) {
		struct region *r = &c->region[i];

		if (r->ended || r->loaded == core->core)
			continue;
		for (size_t k = 0; k < r->active_count; k++) {
			struct piece p = r->active[k];

			coro_copy(r->image[r->loaded] + p.offset, r->base + p.offset, p.len);
			coro_copy(r->base + p.offset, r->image[core->core] + p.offset, p.len);
		}
		r->loaded = core->core;
	}
}

/*
 * Private memory of a cluster, at the same place in every run if the size is the same; never zero
 * by luck.
 */
static void
cluster_memory(struct coro_cluster *c, size_t bytes, int filling)
{
	if (c->memory_bytes != bytes) {
		free(c->memory);
		c->memory = fresh(bytes);
		c->memory_bytes = bytes;
	}
	memset(c->memory, filling, bytes);
}

static void
core_windows(struct coro_core *core, size_t old_bytes)
{
	size_t bytes = coro_machine.windows_bytes;

	if (old_bytes != bytes || core->windows == NULL) {
		free(core->windows);
		free(core->windows_clean);
		core->windows = fresh(bytes);
		core->windows_clean = fresh(bytes);
	}
	memset(core->windows, 0, bytes);
	memset(core->windows_clean, 0, bytes);
}

void
coro_cluster_memory(unsigned cluster)
{
	struct coro_machine *m = &coro_machine;

	forget_regions(&m->cluster[cluster]);
	memset(m->cluster[cluster].noc_private, 0, sizeof(m->cluster[cluster].noc_private));
	cluster_memory(&m->cluster[cluster], m->record.cluster[cluster].mem_bytes,
		m->config->seed & 1 ? 0xa5 : 0);
}

void
coro_memory_start(void)
{
	struct coro_machine *m = &coro_machine;
	size_t old_bytes = m->windows_bytes;

	m->window_bytes = m->record.noc_window_bytes;
	m->windows_bytes = m->window_bytes * m->record.clusters;
	if (old_bytes != m->windows_bytes) {
		free(m->windows);
		m->windows = fresh(m->windows_bytes);
	}
	memset(m->windows, 0, m->windows_bytes);
	for (unsigned i = 0; i < m->record.clusters; i++)
		coro_cluster_memory(i);
	for (unsigned i = 0; i < m->cores; i++)
		core_windows(&m->core[i], old_bytes);
}

void *
hal_noc_window(unsigned cluster)
{
	return coro_now->windows + cluster * coro_machine.window_bytes;
}

void *
hal_noc_private(void)
{
	return coro_machine.cluster[coro_now->cluster].noc_private;
}

/* What a window holds has the address of the shared copy, which is the same for all cores. */
uint64_t
hal_paddr(const void *kernel)
{
	const char *at = kernel;

	if (coro_now != NULL && at >= coro_now->windows &&
		at < coro_now->windows + coro_machine.windows_bytes)
		return (uintptr_t)(coro_machine.windows + (at - coro_now->windows));
	return (uintptr_t)kernel;
}

void *
hal_kaddr(uint64_t paddr)
{
	char *at = (char *)(uintptr_t)paddr;

	if (coro_now != NULL && at >= coro_machine.windows &&
		at < coro_machine.windows + coro_machine.windows_bytes)
		return coro_now->windows + (at - coro_machine.windows);
	return at;
}
