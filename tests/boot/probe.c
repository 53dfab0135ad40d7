/* SPDX-License-Identifier: MIT
 *
 * A stand-in kernel for boot scenarios on bare metal: the scenario is the machine's name in the
 * boot record.
 */
/*
 *	boot	every core of every cluster comes up and says so to core 0, the clusters meet in
 *		cluster 0, which reports
 *	fence	after that the last cluster reads cluster 0's memory and dies; cluster 0 notices
 *	write	as fence, with a write
 *	image, record, monitor, bell, off	the same with the pristine image (read), the boot
 *		record, the machine start, what orders harts to stop, what ends the machine
 *	call	the last cluster calls the machine start, as cluster 0 may
 *	hang	the last cluster spins with its interrupts off, ten times: cluster 0 stops it and
 *		starts it again, while cluster 1 answers
 *	ring	as hang, and it interrupts all harts of the machine without end
 *	flood	as hang, and it sends cluster 1 events, and interrupts it, without end
 *	attacks	the last cluster tries everything at once that is not its own (attacks.c), a core in
 *		each of its lives; before that, everything that is
 *	plic, slot	as fence, with a device that cluster 0 has, which reads it first
 *	panic	cluster 0 fails a check
 *	wild	core 1 of cluster 0 jumps to nowhere
 *	deep	core 1 of cluster 0 calls itself until its stack is full
 *	copy	cluster 0 copies to a user from kernel memory that does not exist
 *	null	the same, the kernel's pointer is almost NULL
 *	near	cluster 0 reads a device that is mapped only because it lies near one of the
 *		kernel's
 */
#include <abi/boot.h>
#include <abi/errors.h>
#include <base/check.h>
#include <base/fmt.h>
#include <base/str.h>
#include <hal/atomic.h>
#include <hal/board.h>
#include <hal/board/virt/virt.h>
#include <hal/console.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include <hal/trap.h>
#include <tests/boot/attacks.h>

#define EVENT_HELLO 6		/* to a cluster that was up before cluster 0 */
#define EVENT_UP 7
#define EVENT_STRIKE 8
#define EVENT_PING 9
#define EVENT_PONG 10
#define EVENT_NOISE 11
#define EVENT_ATTACK 100		/* + its number */
#define PINGS 100
#define HANGS 10
#define CLOCK_DEVICE 0x101000		/* beside what ends the machine */
#define BREACH_ENTRY 200		/* of the top page table */
#define PTE_KERNEL_RW 0xc7

/* a core's pointer is its number + 1; what the cores of this cluster share: */
static struct {
	const struct boot_record *record;
	uint32_t up;			/* cores that came up */
	uint32_t strike;		/* the bad deed may begin; attacks: its number + 1 */
} probe;

static __attribute__((format(printf, 1, 2))) void
say(const char *format, ...)
{
	char line[120];
	va_list args;
	int n;

	va_start(args, format);
	n = fmt_vprint(line, sizeof(line), format, args);
	va_end(args);
	hal_console_write(line, (size_t)n);
}

static bool
scenario_is(const char *name)
{
	return str_is_equal(probe.record->machine, name);
}

void
check_failed(const char *file, int line)
{
	hal_panic(file, line, "a check has failed");
}

void
kernel_trap(struct hal_frame *f, const struct hal_trap *t)
{
	(void)f;
	(void)t;
	check(!"a trap from user mode");
}

/* Wait until a doorbell rings. */
static void
doze(bool ready)
{
	if (ready)
		hal_wait_cancel();
	else
		hal_wait(HAL_FOREVER);
}

static void
wild_jump(void)
{
	((void (*)(void))0xffffffd000000000)();
}

static unsigned
deep_call(unsigned depth)
{
	volatile char room[64];

	room[depth % sizeof(room)] = (char)depth;
	return depth == UINT32_MAX ? 0 : deep_call(depth + 1) + (unsigned char)room[0];
}

/* A fault of the kernel's own must not pass for one of the user's. */
static void
bad_copy(void)
{
	if (scenario_is("copy"))
		say("probe: the copy gave %d\n",
			hal_copy_out(0x20000, (const void *)0xffffffd000000000, 8));
	if (scenario_is("null"))
		say("probe: the copy gave %d\n", hal_copy_out(0x20000, (const void *)16, 8));
}

/* Attacks come from one core after the other: each has a fence of its own. */
static void
attack_from(unsigned core, unsigned number)
{
	const struct boot_cluster *c = &probe.record->cluster[hal_cluster_id()];

	if (core != number % c->cores)
		return;
	attack(probe.record, number);
	say("probe: cluster %u has got through\n", hal_cluster_id());
}

void
kernel_core_main(void *arg)
{
	hal_core_set_local(arg);
	check((uintptr_t)arg == hal_core_id() + 1);
	hal_add32(&probe.up, 1);
	hal_notify(hal_cluster_id(), 0);
	for (;;) {
		hal_wait_begin();
		if (scenario_is("wild") && hal_core_id() == 1 && hal_load32(&probe.strike) != 0)
			wild_jump();
		if (scenario_is("deep") && hal_core_id() == 1 && hal_load32(&probe.strike) != 0)
			say("probe: %u calls\n", deep_call(0));
		if (scenario_is("attacks") && hal_load32(&probe.strike) != 0)
			attack_from(hal_core_id(), hal_load32(&probe.strike) - 1);
		doze(false);
	}
}

static void
start_cores(const struct boot_cluster *c)
{
	for (uintptr_t i = 1; i < c->cores; i++)
		hal_core_start((unsigned)i, (void *)(i + 1));
	for (;;) {
		hal_wait_begin();
		if (hal_load32(&probe.up) == c->cores - 1)
			break;
		hal_wait(HAL_FOREVER);
	}
	hal_wait_cancel();
}

/* What the last cluster's crime is against, 0: nothing in memory. */
static uint64_t
victim(void)
{
	static const struct {
		char name[8];
		uint64_t paddr;
	} victims[] = {{"image", VIRT_KERNEL}, {"record", VIRT_RECORD}, {"monitor", VIRT_RAM},
		{"bell", VIRT_MSWI}, {"off", VIRT_FINISHER}};

	for (unsigned i = 0; i < sizeof(victims) / sizeof(victims[0]); i++)
		if (scenario_is(victims[i].name))
			return victims[i].paddr;
	return scenario_is("fence") || scenario_is("write") ? probe.record->cluster[0].mem_base :
		0;
}

/*
 * A 1 GB page of its own page table leads there, so only the fence around the cluster's physical
 * memory is in the way.
 */
static void
reach_out(uint64_t paddr, bool write)
{
	uint64_t satp;
	volatile uint32_t *window;
	uint64_t *root;

	__asm__ volatile("csrr %0, satp" : "=r"(satp));
	root = hal_kaddr(satp << 12);
	root[BREACH_ENTRY] = paddr >> 30 << 28 | PTE_KERNEL_RW;
	hal_tlb_flush();
	window = (volatile uint32_t *)(((uintptr_t)BREACH_ENTRY << 30) +
		(paddr & (((uint64_t)1 << 30) - 1)));
	if (write)
		*window = scenario_is("off") ? VIRT_FINISHER_PASS : 0;
	say("probe: cluster %u read %x\n", hal_cluster_id(), *window);
}

/* With no interrupt of its own it listens to nobody. */
static _Noreturn void
hang(void)
{
	volatile uint32_t *bells = hal_device(VIRT_SSWI);
	bool rings = scenario_is("ring"), floods = scenario_is("flood");

	__asm__ volatile("csrw sie, zero");
	for (uint32_t i = 0;; i = i < 15 ? i + 1 : 0) {
		if (rings)
			bells[i] = 1;
		if (floods && hal_noc_notify(1, EVENT_NOISE) != 0)
			hal_interrupt_home(1);
	}
}

/* Where it is refused this cluster ends itself, as those do that a fence has stopped. */
static void
call_monitor(void)
{
	register unsigned long a0 __asm__("a0") = HAL_MONITOR_STOP;
	register unsigned long a1 __asm__("a1") = 1;

	__asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : : "memory");
	check((long)a0 != -E_ACCES);
	say("probe: cluster %u read %lx\n", hal_cluster_id(), a0);
}

/* A device that cluster 0 alone has, 0: this scenario is about none. */
static uint64_t
foreign_device(void)
{
	return scenario_is("plic") ? VIRT_PLIC : scenario_is("slot") ? VIRT_VIRTIO : 0;
}

static void
read_device(void)
{
	say("probe: cluster %u read %x\n", hal_cluster_id(),
		*(const volatile uint32_t *)hal_device(foreign_device()));
}

static bool
hangs(void)
{
	return scenario_is("hang") || scenario_is("ring") || scenario_is("flood");
}

static void
strike(void)
{
	if (foreign_device() != 0)
		read_device();
	if (scenario_is("call"))
		call_monitor();
	if (hangs())
		hang();
	if (victim() != 0)
		reach_out(victim(), !scenario_is("fence") && !scenario_is("image"));
}

/* Number ATTACKS is none: what the cluster may reach, which it answers. */
static void
begin_attack(unsigned number)
{
	if (number == ATTACKS) {
		attack_nothing(probe.record);
		check(hal_noc_notify(0, EVENT_PONG) == 0);
		return;
	}
	hal_store32(&probe.strike, number + 1);
	for (unsigned i = 1; i < probe.record->cluster[hal_cluster_id()].cores; i++)
		hal_notify(hal_cluster_id(), i);
	attack_from(0, number);
}

static void
follow(void)
{
	bool told = hal_noc_alive(0) && hal_noc_notify(0, EVENT_UP) == 0;
	unsigned from;
	uint32_t event, life;

	for (;;) {
		hal_wait_begin();
		if (!hal_noc_poll(&from, &life, &event)) {
			hal_wait(HAL_FOREVER);
			continue;
		}
		hal_wait_cancel();
		if (event == EVENT_STRIKE)
			strike();
		else if (event >= EVENT_ATTACK)
			begin_attack(event - EVENT_ATTACK);
		else if (event == EVENT_PING)
			check(hal_noc_notify(0, EVENT_PONG) == 0);
		else if (!told)
			told = hal_noc_notify(0, EVENT_UP) == 0;
	}
}

/* Every other cluster says that it is up: unasked if it finds us up, else when we call. */
static void
await_clusters(void)
{
	unsigned up = 1, from;
	uint32_t event, life;

	hal_fence();
	for (unsigned i = 1; i < probe.record->clusters; i++)
		if (hal_noc_alive(i))
			check(hal_noc_notify(i, EVENT_HELLO) == 0);
	while (up < probe.record->clusters) {
		hal_wait_begin();
		if (!hal_noc_poll(&from, &life, &event)) {
			hal_wait(HAL_FOREVER);
			continue;
		}
		hal_wait_cancel();
		check(event == EVENT_UP && hal_noc_alive(from));
		up++;
	}
}

static unsigned
alive_count(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < probe.record->clusters; i++)
		n += hal_noc_alive(i);
	return n;
}

static void
await_end(unsigned cluster)
{
	for (;;) {
		hal_wait_begin();
		if (!hal_noc_alive(cluster))
			break;
		hal_wait(HAL_FOREVER);
	}
	hal_wait_cancel();
}

/* Order the last cluster to misbehave and wait for its end. */
static void
await_death(void)
{
	unsigned last = probe.record->clusters - 1;

	check(hal_noc_notify(last, EVENT_STRIKE) == 0);
	await_end(last);
	check(hal_noc_notify(last, EVENT_STRIKE) != 0);
	say("probe: cluster %u is dead, %u of %u live\n", last, alive_count(),
		probe.record->clusters);
}

/* Sleep until an event comes; its sender. */
static unsigned
await_event(uint32_t *event, uint32_t *life)
{
	unsigned from;

	for (;;) {
		hal_wait_begin();
		if (hal_noc_poll(&from, life, event))
			break;
		hal_wait(HAL_FOREVER);
	}
	hal_wait_cancel();
	return from;
}

static void
cluster_1_answers(void)
{
	uint32_t event, life;

	for (unsigned i = 0; i < PINGS; i++) {
		check(hal_noc_notify(1, EVENT_PING) == 0);
		check(await_event(&event, &life) == 1 && event == EVENT_PONG);
	}
}

/* Nobody has anything to do with the last cluster: there is nothing to settle. */
static void
restart(unsigned cluster, uint32_t next)
{
	uint32_t event, life;
	int e;

	for (;;) {
		hal_wait_begin();
		e = hal_cluster_stop(cluster);
		if (e == 0)
			break;
		check(e == -E_AGAIN);
		hal_wait(HAL_FOREVER);
	}
	hal_wait_cancel();
	hal_noc_mark_dead(cluster);
	check(hal_cluster_stop(cluster) == 0 && !hal_noc_alive(cluster));
	hal_noc_forget(cluster);
	hal_noc_mark_down(cluster);
	check(hal_cluster_start(cluster) == 0);
	check(await_event(&event, &life) == cluster && event == EVENT_UP && life == next);
}

static void
await_hangs(void)
{
	unsigned last = probe.record->clusters - 1;

	for (uint32_t i = 0; i < HANGS; i++) {
		check(hal_noc_notify(last, EVENT_STRIKE) == 0);
		cluster_1_answers();
		restart(last, i + 2);
	}
	say("probe: cluster %u is up in life %u, %u of %u live\n", last,
		hal_noc_incarnation(last), alive_count(), probe.record->clusters);
}

/*
 * Each attack ends a life of the last cluster, while cluster 1 answers. The next life tries the
 * next.
 */
static void
await_attacks(void)
{
	unsigned last = probe.record->clusters - 1;
	uint32_t event, life;

	check(hal_noc_notify(last, EVENT_ATTACK + ATTACKS) == 0);
	check(await_event(&event, &life) == last && event == EVENT_PONG);
	for (unsigned i = 0; i < ATTACKS; i++) {
		say("probe: attack %s\n", attack_name(i));
		check(hal_noc_notify(last, EVENT_ATTACK + i) == 0);
		cluster_1_answers();
		await_end(last);
		restart(last, i + 2);
	}
	say("probe: cluster %u is up in life %u, %u of %u live\n", last,
		hal_noc_incarnation(last), alive_count(), probe.record->clusters);
}

static void
lead(void)
{
	uint32_t cores = 0;

	await_clusters();
	for (unsigned i = 0; i < probe.record->clusters; i++)
		cores += probe.record->cluster[i].cores;
	say("probe: %u clusters, %u cores up\n", alive_count(), cores);
	if (foreign_device() != 0)
		read_device();
	if (victim() != 0 || scenario_is("call") || foreign_device() != 0)
		await_death();
	if (hangs())
		await_hangs();
	if (scenario_is("attacks"))
		await_attacks();
	check(!scenario_is("panic"));
	bad_copy();
	if (scenario_is("near"))
		say("probe: the clock said %x\n",
			*(const volatile uint32_t *)hal_device(CLOCK_DEVICE));
	if (scenario_is("wild") || scenario_is("deep")) {
		hal_store32(&probe.strike, 1);
		hal_notify(0, 1);
		for (;;)
			hal_wait(HAL_FOREVER);
	}
	hal_machine_halt(0);
}

void
kernel_boot_main(const struct boot_record *record, void *memory, size_t bytes)
{
	probe.record = record;
	hal_core_set_local((void *)1);
	check(bytes > 0 && hal_kaddr(hal_paddr(memory)) == memory);
	hal_noc_init(record);
	start_cores(&record->cluster[hal_cluster_id()]);
	if (hal_cluster_id() != 0)
		follow();
	lead();
	for (;;)
		hal_wait(HAL_FOREVER);
}
