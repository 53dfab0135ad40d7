/* SPDX-License-Identifier: MIT
 *
 * What stays of the machine start: it stops the cores of a cluster, whatever they do, and starts
 * the cluster again from the pristine image, behind the same fence. Cluster 0 alone can ask for it.
 *
 * A core is stopped and started by a word of its own, its order, and the machine software
 * interrupt, which S-mode can neither mask nor raise. The interrupt says that a word has changed:
 * it is taken back before the words are looked at. In S- and U-mode it means ORDER_STOP, and then
 * nothing of what it interrupts is kept; or that the core is wanted back by its kernel, which is
 * another word, and means nothing if the core has come back meanwhile. In M-mode interrupts are
 * off: a core that is on its way into its kernel takes it with the first instruction there. Nobody
 * spins: who waits sleeps in wfi.
 */
#include <abi/errors.h>
#include <hal/board.h>
#include "../virt.h"
#include "boot.h"

static uint32_t order[CORES_MAX];	/* ORDER_*; written by hart 0, and by the cluster's first */
/* the kernel wants the core; set by its cluster's cores, taken back by itself before each loan */
static uint32_t wanted[CORES_MAX];
static uint32_t stopped[CORES_MAX];	/* the hart waits for ORDER_START */

static volatile uint32_t *
interrupt_of(unsigned hart)
{
	return (volatile uint32_t *)VIRT_MSWI + hart;
}

static void
give_order(unsigned hart, uint32_t what)
{
	__atomic_store_n(&order[hart], what, __ATOMIC_RELEASE);
	__asm__ volatile("fence rw, io" : : : "memory");
	*interrupt_of(hart) = 1;
}

/* The interrupt has come: what is the order? One that is given later interrupts again. */
static uint32_t
take_order(unsigned hart)
{
	*interrupt_of(hart) = 0;
	__asm__ volatile("fence io, rw" : : : "memory");
	return __atomic_load_n(&order[hart], __ATOMIC_ACQUIRE);
}

/* Sleep until an order comes. */
static uint32_t
next_order(unsigned hart)
{
	csr_write(mie, MIE_MSIE);
	while ((csr_read(mip) & MIE_MSIE) == 0)
		__asm__ volatile("wfi");
	return take_order(hart);
}

/* All that this core has written is seen before it says that it has stopped. */
static void
say_stopped(unsigned hart)
{
	const struct boot_record *r = (const struct boot_record *)VIRT_RECORD;

	__asm__ volatile("fence iorw, iorw" : : : "memory");
	__atomic_store_n(&stopped[hart], 1, __ATOMIC_SEQ_CST);
	__asm__ volatile("fence rw, io" : : : "memory");
	((volatile uint32_t *)VIRT_SSWI)[r->cluster[0].first_core] = 1;
}

void
monitor_await_start(unsigned hart)
{
	while (next_order(hart) != ORDER_START)
		say_stopped(hart);
}

/* Whoever asks whether it has stopped does so behind this. */
void
monitor_start(unsigned hart)
{
	__atomic_store_n(&stopped[hart], 0, __ATOMIC_SEQ_CST);
	give_order(hart, ORDER_START);
}

void
monitor_interrupt(void)
{
	unsigned hart = (unsigned)csr_read(mhartid);

	if (take_order(hart) == ORDER_STOP) {
		lend_forget();
		say_stopped(hart);
		monitor_await_start(hart);
		boot_again(hart, true);
	}
	if (__atomic_load_n(&wanted[hart], __ATOMIC_ACQUIRE) != 0)
		lend_take_back(-E_INTR);
}

void
monitor_fetch(void)
{
	lend_take_back(-E_FAULT);
}

/*
 * Order all cores of a cluster to stop that were not: 0 if all have. The first one may be about to
 * start the others: they are looked at behind it, and ordered once more.
 */
static int
stop(const struct boot_cluster *c)
{
	int running = 0;

	for (unsigned i = c->first_core; i < c->first_core + c->cores; i++) {
		if (order[i] != ORDER_STOP)
			give_order(i, ORDER_STOP);
		running += __atomic_load_n(&stopped[i], __ATOMIC_ACQUIRE) == 0;
	}
	return running == 0 ? 0 : -E_AGAIN;
}

/* Where the core has come back meanwhile, or was not lent, the interrupt means nothing. */
static long
want_back(const struct boot_record *r, uint64_t core)
{
	unsigned hart = (unsigned)csr_read(mhartid);

	for (unsigned i = 0; i < r->clusters; i++) {
		const struct boot_cluster *c = &r->cluster[i];

		if (hart - c->first_core >= c->cores || core >= c->cores)
			continue;
		__atomic_store_n(&wanted[c->first_core + core], 1, __ATOMIC_RELEASE);
		__asm__ volatile("fence rw, io" : : : "memory");
		*interrupt_of(c->first_core + (unsigned)core) = 1;
		return 0;
	}
	return -E_INVAL;
}

static long
life_call(struct boot_record *r, uint64_t what, uint64_t cluster)
{
	int result;

	if (csr_read(mhartid) != r->cluster[0].first_core)
		return -E_ACCES;
	if (cluster == 0 || cluster >= r->clusters)
		return -E_INVAL;
	result = stop(&r->cluster[cluster]);
	if (what != HAL_MONITOR_START || result != 0)
		return result;
	r->cluster[cluster].incarnation++;
	monitor_start(r->cluster[cluster].first_core);
	return 0;
}

/* The one call of a core that is lent gives it back, with a0 as the result. */
long
monitor_call(const uint64_t *args)
{
	struct boot_record *r = (struct boot_record *)VIRT_RECORD;

	if (lend_is_lent())
		lend_take_back((long)(args[0] & INT32_MAX));
	switch (args[0]) {
	case HAL_MONITOR_HOLD:
		__atomic_store_n(&wanted[csr_read(mhartid)], 0, __ATOMIC_SEQ_CST);
		return 0;
	case HAL_MONITOR_LEND:
		return __atomic_load_n(&wanted[csr_read(mhartid)], __ATOMIC_ACQUIRE) != 0 ?
			-E_INTR : lend_core(r, args);
	case HAL_MONITOR_RETURN:
		return want_back(r, args[1]);
	case HAL_MONITOR_STOP:
	case HAL_MONITOR_START:
		return life_call(r, args[0], args[1]);
	default:
		return -E_INVAL;
	}
}
