/* SPDX-License-Identifier: MIT
 *
 * What stays of the machine start: it stops the cores of a cluster, whatever they do, and starts
 * the cluster again from the pristine image, behind the same fence. Cluster 0 alone can ask for it.
 *
 * A core is stopped and started by a word of its own, its order, and the machine software
 * interrupt, which S-mode can neither mask nor raise. The interrupt says that the order has
 * changed, and comes once for each change: so in S- and U-mode it always means ORDER_STOP, and
 * nothing of what it interrupts is kept. In M-mode interrupts are off: a core that is on its way
 * into its kernel takes it with the first instruction there. Nobody spins: who waits sleeps in wfi.
 */
#include <abi/errors.h>
#include <hal/board.h>
#include "../virt.h"
#include "boot.h"

static uint32_t order[CORES_MAX];	/* ORDER_*; written by hart 0, and by the cluster's first */
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

/* Sleep until an order comes. */
static uint32_t
next_order(unsigned hart)
{
	csr_write(mie, MIE_MSIE);
	while ((csr_read(mip) & MIE_MSIE) == 0)
		__asm__ volatile("wfi");
	*interrupt_of(hart) = 0;
	__asm__ volatile("fence io, rw" : : : "memory");
	return __atomic_load_n(&order[hart], __ATOMIC_ACQUIRE);
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

	if (__atomic_load_n(&order[hart], __ATOMIC_ACQUIRE) != ORDER_STOP)
		boot_fail("a machine software interrupt without an order, hart", hart);
	monitor_await_start(hart);
	boot_again(hart, true);
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

long
monitor_call(unsigned long what, unsigned long cluster)
{
	struct boot_record *r = (struct boot_record *)VIRT_RECORD;
	int result;

	if (csr_read(mhartid) != r->cluster[0].first_core || cluster == 0 || cluster >= r->clusters)
		return -E_INVAL;
	result = stop(&r->cluster[cluster]);
	if (what != HAL_MONITOR_START || result != 0)
		return result;
	r->cluster[cluster].incarnation++;
	monitor_start(r->cluster[cluster].first_core);
	return 0;
}
