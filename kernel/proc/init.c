/* SPDX-License-Identifier: MIT
 *
 * The first process of a cluster: see init.h.
 */
#include <abi/startup.h>
#include <base/str.h>
#include <kernel/mem/mem.h>
#include <kernel/proc/init.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>

#define INIT_STACK_BYTES (64 * 1024)
#define AT_NULL 0
#define AT_PAGESZ 6
#define AT_ENTRY 9
#define FIRST_HANDLE(place) (1u << HANDLE_GENERATION_SHIFT | (uint32_t)(place) << HANDLE_HOME_BITS)
/* exit status of a machine whose leader was ended by the kernel: this and the cause */
#define CRASH_STATUS 128

/* Top of the initial stack. */
struct init_stack {
	unsigned long argc;
	unsigned long argv[2];
	unsigned long envp[1];
	unsigned long auxv[4][2];
	struct startup startup;
	char name[8];
	unsigned long end[1];
};

static uintptr_t
page_down(uintptr_t addr)
{
	return addr & ~(uintptr_t)(HAL_PAGE_BYTES - 1);
}

static uintptr_t
page_up(uintptr_t addr)
{
	return page_down(addr + HAL_PAGE_BYTES - 1);
}

static uintptr_t
image_bytes(const struct boot_record *r)
{
	uintptr_t end = 0;

	for (uint32_t i = 0; i < r->init_segments; i++) {
		uintptr_t segment_end = (uintptr_t)(r->init[i].addr + r->init[i].mem_bytes);

		if (segment_end > end)
			end = segment_end;
	}
	return page_up(end);
}

/* Map what a segment needs beyond the pages that the one before it has, and copy its bytes. */
static void
map_segment(struct process *p, uintptr_t base, const struct boot_segment *s, uintptr_t *mapped)
{
	const struct boot_record *r = proc_cluster(p)->record;
	uintptr_t start = page_down(base + (uintptr_t)s->addr);
	uintptr_t end = page_up(base + (uintptr_t)(s->addr + s->mem_bytes));

	if (start < *mapped)
		start = *mapped;
	if (end > start)
		check(mem_populate(p, start, end - start, (int)s->prot) == 0);
	*mapped = end > *mapped ? end : *mapped;
	check(s->file_offset + s->file_bytes <= r->archive_bytes);
	mem_write(p, base + (uintptr_t)s->addr, hal_kaddr(r->archive_base + s->file_offset),
		(size_t)s->file_bytes);
}

static uintptr_t
map_image(struct process *p)
{
	const struct boot_record *r = proc_cluster(p)->record;
	uintptr_t mapped = 0, base = 0;

	check(r->init_segments > 0 && r->init_segments <= BOOT_SEGMENTS_MAX);
	check(mem_claim(p, image_bytes(r), HAL_PAGE_BYTES, 0, &base) == 0);
	for (uint32_t i = 0; i < r->init_segments; i++)
		map_segment(p, base, &r->init[i], &mapped);
	return base;
}

/* The page below the stack stays empty. Returns the address of the filled struct init_stack. */
static uintptr_t
make_stack(struct process *p, uintptr_t base)
{
	struct cluster *c = proc_cluster(p);
	struct init_stack s = {.argc = 1};
	uintptr_t bottom = 0, at;

	check(mem_claim(p, HAL_PAGE_BYTES + INIT_STACK_BYTES, HAL_PAGE_BYTES, 0, &bottom) == 0);
	check(mem_populate(p, bottom + HAL_PAGE_BYTES, INIT_STACK_BYTES, PAGE_READ | PAGE_WRITE) ==
		0);
	at = (bottom + HAL_PAGE_BYTES + INIT_STACK_BYTES - sizeof(s)) & ~(uintptr_t)15;
	s.argv[0] = at + offsetof(struct init_stack, name);
	s.auxv[0][0] = AT_PAGESZ;
	s.auxv[0][1] = HAL_PAGE_BYTES;
	s.auxv[1][0] = AT_ENTRY;
	s.auxv[1][1] = base + (uintptr_t)c->record->init_entry;
	s.auxv[2][0] = AT_ATOLL;
	s.auxv[2][1] = at + offsetof(struct init_stack, startup);
	s.auxv[3][0] = AT_NULL;
	s.startup = (struct startup){
		.version = STARTUP_VERSION,
		.bytes = sizeof(s.startup),
		.gate = hal_user_gate(),
		.cluster = c->id,
		.image_base = base,
		.image_bytes = image_bytes(c->record),
	};
	/*
	 * the record is written before there is a thread: its handle is the first of a fresh table,
	 * and the authority's the second
	 */
	s.startup.thread = (int32_t)FIRST_HANDLE(0);
	s.startup.authority = (int32_t)FIRST_HANDLE(1);
	str_copy(s.name, sizeof(s.name), "init");
	mem_write(p, at, &s, sizeof(s));
	return at;
}

/*
 * A TC, so that no program that computes keeps the server from running. There is one
 * (kernel/boot/main.c).
 */
static int
service_core(const struct cluster *c)
{
	int i = 0;

	while (core_at(c, i)->role != ROLE_TC)
		i++;
	return i;
}

void
init_start(struct cluster *c)
{
	struct process *p;
	struct context ctx;
	uintptr_t base, stack;

	check(proc_new(c, NULL, &p) == 0);
	c->init = p;
	object_init(&c->authority, OBJECT_AUTHORITY);
	p->priority = PRIORITY_SERVER;
	base = map_image(p);
	stack = make_stack(p, base);
	context_init(&ctx, base + (uintptr_t)c->record->init_entry, stack,
		stack + offsetof(struct init_stack, startup), 0);
	check(thread_new(p, &ctx, service_core(c)) == (long)FIRST_HANDLE(0));
	/* the record of this thread stays, whatever becomes of it: guests call in its name */
	object_get(&thread_at(c, 0)->object);
	/*
	 * over the machine as a whole cluster 0's alone: what ends it, or a cluster, needs that
	 * right
	 */
	check(handle_new(&p->handles, &c->authority,
		c->id == 0 ? RIGHTS_ALL : RIGHTS_ALL & ~RIGHT_END) == (long)FIRST_HANDLE(1));
}

_Noreturn void
init_ended(struct cluster *c, const struct process *p)
{
	const struct crash_info *i = &p->crash;
	int status = p->status.cause == CRASH_NONE ? p->status.status & 0xff :
		CRASH_STATUS + (int)p->status.cause;

	if (p->status.cause != CRASH_NONE)
		console_message(c, "init died: cause %u at pc 0x%lx, address 0x%lx, core %u",
			(unsigned)p->status.cause,
			(unsigned long)i->pc, (unsigned long)i->addr, (unsigned)i->core);
	console_flush(c);
	if (c->id == 0)
		hal_machine_halt(status);
	hal_panic(__FILE__, __LINE__, "init has ended");
}
