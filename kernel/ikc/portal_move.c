/* SPDX-License-Identifier: MIT
 *
 * Portals on the calling core: the core of the thread that reads or writes moves the data, a block
 * at a time. Between two blocks the thread is parked; portal_write_go and portal_read_go are its
 * `finish` function (kernel/thread/run.c), which parks it again until the transfer is over. Nothing
 * is kept on the kernel stack meanwhile: struct portal_move of the thread holds it. Where ports
 * share connectors they are woken with PORTAL_TURN, and ask home whether it is still their turn.
 */
#include <base/str.h>
#include <kernel/call/handler.h>
#include <kernel/call/kcall_core.h>
#include <kernel/ikc/state.h>
#include <kernel/mem/demand.h>

static struct thread *
running_thread(void)
{
	return core_self()->current;
}

/* A transfer as long as a result can say. */
static bool
is_length(unsigned long len)
{
	return (long)len >= 0;
}

#define PROBED_PAGES 64

/*
 * A thread that handles its faults, or whose memory comes or is copied by itself: the first pages
 * of the transfer are looked at before it begins, so that the call can start again. Later a page
 * that is absent, or would have to be copied, ends the transfer on both sides.
 */
static bool
is_absent(const struct thread *t, uintptr_t addr, unsigned long len, bool write)
{
	uintptr_t end = addr + (len < PROBED_PAGES * HAL_PAGE_BYTES ? len :
		PROBED_PAGES * HAL_PAGE_BYTES);
	uint32_t word;

	if (!handler_serves(t, HANDLER_FAULTS) && !has_demand(t))
		return false;
	for (uintptr_t at = addr; at < end; at = (at | (HAL_PAGE_BYTES - 1)) + 1)
		if (write ? hal_user_probe(at, 1) != 0 :
			hal_user_load32(at & ~(uintptr_t)3, &word) != 0)
			return true;
	return false;
}

static long
park(struct thread *t, long (*go)(struct hal_frame *, long, const void *))
{
	t->resume = RESUME_FINISH;
	t->finish = go;
	return -E_PARK;
}

/* Ask the home core for leave: PORTAL_GO and *info, -E_PARK, or why there is none. */
static long
ask(struct thread *caller, kcall_serve_fn *home, int handle, struct portal_info *info)
{
	struct kcall_args *args = kcall_args(core_self());
	long result;

	args->caller = caller;
	args->a[0] = (unsigned long)(long)handle;
	result = am_call_kernel(core_self(), home, args,
		offsetof(struct kcall_args, data) + sizeof(*info));
	memcpy(info, args->data, sizeof(*info));
	return result;
}

/*
 * First half of both calls: ask, begin or park with `go` to go on. A call that fails leaves no
 * trace.
 */
static long
start(struct thread *caller, kcall_serve_fn *home, struct portal_move m,
	long (*go)(struct hal_frame *, long, const void *))
{
	struct portal_info info;
	long result = ask(caller, home, m.handle, &info);

	if (result != PORTAL_GO && result != -E_PARK)
		return result;
	caller->move = m;
	return result == -E_PARK ? park(caller, go) : go(caller->now, PORTAL_GO, &info);
}

/* After a block: tell the home core; park again if it says so. */
static long
step(struct thread *caller, kcall_serve_fn *home, long status,
	long (*go)(struct hal_frame *, long, const void *))
{
	unsigned long values[3] = {(unsigned long)(long)caller->move.handle, (unsigned long)status,
		go == NULL};
	long result = ikc_call_home(caller, home, values, 3);

	return result == -E_PARK ? park(caller, go) : result;
}

static struct portal_move
move_of(int handle, unsigned long addr, unsigned long len)
{
	return (struct portal_move){.handle = handle, .addr = addr, .len = len};
}

static void
fill_header(const struct thread *t, const struct portal_move *m, struct wire_header *h)
{
	*h = (struct wire_header){
		.magic = WIRE_BLOCK,
		.incarnation = t->cluster->record->cluster[t->cluster->id].incarnation,
		.sequence = m->info.sequence,
		.length = m->block,
		.source = (uint16_t)t->cluster->id,
		.port = m->info.port,
		.offset = m->done,
		.total = m->len,
	};
}

/*
 * Copy the next block from the user and put it into the receiver's slot. 0, -E_FAULT, or what
 * hal_noc_put says.
 */
static long
put_block(struct thread *t, struct portal_move *m)
{
	uint64_t rest = m->len - m->done;
	struct wire_header head;
	struct hal_noc_block block = {&head, sizeof(head), m->addr + (uintptr_t)m->done, 0};
	long e;

	m->block = rest < t->cluster->ikc.unit ? (uint32_t)rest : t->cluster->ikc.unit;
	block.user_bytes = m->block;
	fill_header(t, m, &head);
	do
		e = hal_noc_put_user(m->info.cluster,
			hal_noc_portal_slot(m->info.slot & WIRE_CONNECTOR), m->info.incarnation,
			&block);
	while (e == -E_FAULT && demand_reach(core_self()));
	return e;
}

/* How much of the last block was taken: what the receiver says, but no more than there was. */
static uint32_t
taken_of(const struct portal_move *m, uint32_t said)
{
	return said < m->block ? said : m->block;
}

/* The writer goes on: with a block, or it is over. */
static long
portal_write_go(struct hal_frame *frame, long result, const void *data)
{
	struct thread *t = running_thread();
	struct portal_move *m = &t->move;
	struct portal_info info;

	(void)frame;
	if (result == PORTAL_TURN) {
		result = ask(t, portal_wait_home, m->handle, &info);
		data = &info;
	}
	if (result == -E_PARK)
		return park(t, portal_write_go);
	if (result < 0)
		return result;
	if (result >= PORTAL_OVER)
		return (long)(m->done + taken_of(m, (uint32_t)(result - PORTAL_OVER)));
	memcpy(&m->info, data, sizeof(m->info));
	if (!(m->info.slot & WIRE_AGAIN))
		m->done += m->block;
	return step(t, portal_write_step, put_block(t, m), portal_write_go);
}

/*
 * kc_portal_write: send len bytes at addr to whoever allows it; waits for the allowance and until
 * the receiver has taken the data.
 *
 * Calling core; waits. Returns the bytes that the receiver took; -E_BADF; -E_ACCES; -E_INVAL: len
 * too large; -E_BUSY: another thread writes; -E_FAULT; -E_PIPE; -E_HOSTDOWN; -E_CONNRESET.
 */
long
kc_portal_write(struct thread *caller, int portal, unsigned long addr, unsigned long len)
{
	if (!is_length(len))
		return -E_INVAL;
	if (is_absent(caller, addr, len, false))
		return -E_PROBE;
	return start(caller, portal_write_start, move_of(portal, addr, len), portal_write_go);
}

/*
 * kc_portal_start: start to send len bytes at addr to whoever allows it already: puts the first
 * block, and returns. The memory may not be changed before portal_wait, by the same thread, has
 * completed it. Whoever has bound EVENT_PORTAL is told when the first block was taken.
 *
 * Calling core. Returns 0; -E_BADF; -E_ACCES; -E_INVAL: len too large; -E_BUSY: another thread
 * writes, or the caller takes part in a transfer; -E_AGAIN: nobody allows it yet; -E_FAULT;
 * -E_PIPE; -E_HOSTDOWN; -E_CONNRESET.
 */
long
kc_portal_start(struct thread *caller, int portal, unsigned long addr, unsigned long len)
{
	struct portal_info info;
	long result;

	if (!is_length(len))
		return -E_INVAL;
	if (is_absent(caller, addr, len, false))
		return -E_PROBE;
	result = ask(caller, portal_start_home, portal, &info);
	if (result != PORTAL_GO)
		return result;
	caller->move = move_of(portal, addr, len);
	caller->move.info = info;
	return step(caller, portal_write_step, put_block(caller, &caller->move), NULL);
}

/*
 * kc_portal_wait: complete a write that the caller has started, through a handle of the same
 * portal: put what is left, until the receiver has taken it. A deadline that passes leaves it
 * started.
 *
 * Calling core; waits. Returns the bytes that the receiver took; -E_BADF; -E_ACCES; -E_INVAL: the
 * caller has started none; -E_FAULT; -E_PIPE; -E_HOSTDOWN; -E_CONNRESET.
 */
long
kc_portal_wait(struct thread *caller, int portal)
{
	struct portal_info info;
	long result = ask(caller, portal_wait_home, portal, &info);

	return portal_write_go(caller->now, result, &info);
}

static bool
is_block_of(const struct thread *t, const struct portal_move *m, const struct wire_header *h)
{
	return h->magic == WIRE_BLOCK && h->source == m->info.cluster && h->port == m->info.port
	    && h->incarnation == m->info.incarnation
	    && h->sequence == m->info.sequence && h->length <= t->cluster->ikc.unit &&
	    	h->offset == m->done;
}

/* Copy the block in the slot to the user. What portal_read_step is told. */
static long
take_block(struct thread *t, struct portal_move *m)
{
	const unsigned char *slot = hal_noc_slot(hal_noc_portal_slot(m->info.slot));
	struct wire_header h;
	uint64_t room = m->len - m->done;
	uint32_t take;

	memcpy(&h, slot, sizeof(h));
	if (!is_block_of(t, m, &h))
		return -E_CONNRESET;
	take = room < h.length ? (uint32_t)room : h.length;
	while (take > 0 && hal_copy_out(m->addr + (uintptr_t)m->done, slot + HAL_NOC_HEADER_BYTES,
		take) != 0)
		if (!demand_reach(core_self()))
			return -E_FAULT;
	hal_fence();
	if (hal_noc_incarnation(m->info.cluster) != h.incarnation)
		return -E_CONNRESET;
	m->done += take;
	return m->done == m->len || h.offset + h.length >= h.total ? (long)(PORTAL_OVER + take) :
		PORTAL_GO;
}

/* The reader goes on: there is a block, or it is over. */
static long
portal_read_go(struct hal_frame *frame, long result, const void *data)
{
	struct thread *t = running_thread();
	struct portal_move *m = &t->move;
	struct portal_info info;

	(void)frame;
	if (result == PORTAL_TURN) {
		result = ask(t, portal_read_start, m->handle, &info);
		data = &info;
	}
	if (result == -E_PARK)
		return park(t, portal_read_go);
	if (result < 0)
		return result;
	memcpy(&m->info, data, sizeof(m->info));
	result = step(t, portal_read_step, take_block(t, m), portal_read_go);
	return result == 0 ? (long)m->done : result;
}

/*
 * kc_portal_read: take what the allowed sender transfers, at most len bytes, to addr.
 *
 * Calling core; waits. Returns the bytes taken; -E_BADF; -E_INVAL: len too large; -E_ACCES: nobody
 * is allowed, or no right; -E_BUSY: another thread reads; -E_FAULT; -E_PIPE; -E_HOSTDOWN;
 * -E_CONNRESET.
 */
long
kc_portal_read(struct thread *caller, int portal, unsigned long addr, unsigned long len)
{
	if (!is_length(len))
		return -E_INVAL;
	if (is_absent(caller, addr, len, true))
		return -E_PROBE;
	return start(caller, portal_read_start, move_of(portal, addr, len), portal_read_go);
}
