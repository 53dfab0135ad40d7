/* SPDX-License-Identifier: MIT
 *
 * Devices that a process drives: whoever may opens one, its registers are memory with rights, its
 * interrupts set a bit and are never lost, and none is left over when its driver ends, closes its
 * handle or is revoked. The device is the UART of `virt`, which interrupts when its transmitter is
 * empty and it is told to: that is, at will. Machines without devices say so.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 * machine: 1 3 KC 2
 * machine: 2 2 TC
 */
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define UART_IER 1
#define UART_IIR 2
#define UART_LCR 3
#define IER_TRANSMIT 2
#define BIT 3
#define SERVED 16
#define NOBODY 32			/* a bit that is never set */
#define SHORT_NS 20000
#define SOON_NS 2000000
#define LONG_NS 20000000000ull
#define OFTEN 300
#define MANY 64				/* pages */
#define HAMMERS 2
#define LOOKS 1000000

enum role { STORM = 1, SLEEPER, HOLDER };

/* In a page of the parent's and its child's. */
struct control {
	int handle;
	uint32_t started;
	uint32_t told;
	uint32_t go;
};

static volatile struct control *control;
static uint64_t control_child, at;	/* the page in a child; where the parent maps registers */
static int authority;
static bool have;			/* there is a device */


static int
open_uart(void)
{
	struct device_info info;

	return (int)kdevice_open(authority, 0, &info);
}

/* Of whatever was bound by it its thread is told. */
static void
close_uart(int device)
{
	expect_eq(khandle_close(device), 0);
	kthread_sleep(1u << BIT, 0);
}

static volatile unsigned char *
map_at(unsigned long addr, int device)
{
	expect_eq(kpage_map(SELF, addr, device, 0, 1, RW), 0);
	return (volatile unsigned char *)addr;
}

static volatile unsigned char *
map_uart(int device)
{
	return map_at((unsigned long)at, device);
}

static void
unmap_uart(void)
{
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
}

/* The transmitter is empty, or will be: the line stays up until `quiet`. */
static void
raise_line(volatile unsigned char *uart)
{
	uart[UART_IER] = 0;
	uart[UART_IER] = IER_TRANSMIT;
}

static void
quiet(volatile unsigned char *uart)
{
	uart[UART_IER] = 0;
	(void)uart[UART_IIR];
}

static long
sleep_for(uint64_t ns)
{
	return kthread_sleep(1u << BIT, kt_now() + ns);
}

#define expect_interrupt() expect_eq(sleep_for(LONG_NS), 1 << BIT)
#define expect_none() expect_eq(sleep_for(SOON_NS), -E_TIMEDOUT)

/*
 * Before the next look: under -icount other cores run while this one waits, and so does a child on
 * the same core, whose priority is the same.
 */
static void
let_others(void)
{
	kthread_sleep(NOBODY, kt_now() + SHORT_NS);
}

/* --- children --- */

/* Its line is up, an interrupt is taken and not served, and it ends like this. */
static int
storm(volatile struct control *c)
{
	volatile unsigned char *uart = map_uart(c->handle);

	kevent_bind(EVENT_INTERRUPT, c->handle, BIT);
	raise_line(uart);
	c->told = sleep_for(LONG_NS) == 1 << BIT;
	raise_line(uart);
	c->started = 1;
	while (c->go == 0)
		let_others();
	return 5;
}

/* It is told when its handle is dead, and cannot reach the registers any more. */
static int
sleeper(volatile struct control *c)
{
	volatile unsigned char *uart = map_uart(c->handle);

	kevent_bind(EVENT_INTERRUPT, c->handle, BIT);
	c->started = 1;
	if (kthread_sleep(1u << BIT, FOREVER) != 1 << BIT ||
		kdevice_done(c->handle) != -E_BADF)
		return 1;
	c->told = 1;
	while (c->go == 0)
		let_others();
	quiet(uart);
	return 2;
}

/* Its handle is closed, its mapping is not. */
static int
hold(volatile struct control *c)
{
	map_uart(c->handle);
	if (khandle_close(c->handle) != 0)
		return 1;
	c->started = 1;
	for (;;)
		kthread_sleep(WAKE_ANY & ~(1u << BIT), FOREVER);
}

static int
child(uint32_t role, volatile struct control *c)
{
	at = (uintptr_t)c + PAGE;
	switch (role) {
	case STORM: return storm(c);
	case SLEEPER: return sleeper(c);
	default: return hold(c);
	}
}

/* A child with a copy of a handle of the device. */
static long
start_child(uint32_t role, int device, uint32_t rights)
{
	long memory = kmemory_create(1), proc = kproc_create();

	expect_eq(kmem_alloc((int)proc, 2 * PAGE, 0, &control_child), 0);
	expect_eq(kpage_map((int)proc, (unsigned long)control_child, (int)memory, 0, 1, RW), 0);
	expect_eq(kpage_map(SELF, (unsigned long)(uintptr_t)control, (int)memory, 0, 1, RW), 0);
	khandle_close((int)memory);
	control->handle = (int)khandle_duplicate(device, (int)proc, rights);
	expect(control->handle > 0);
	expect(kt_spawn_in(proc, role, (unsigned long)control_child, ANY_CORE) == proc);
	while (control->started == 0)
		let_others();
	return proc;
}

static void
end_child(void)
{
	expect_eq(kpage_unmap(SELF, (unsigned long)(uintptr_t)control, 1), 0);
}

/* --- tests --- */

static bool
is_first(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	return info.cluster == 0;
}

/* test: device_open */
TEST(a_device_is_opened_by_an_authority)
{
	int weak = (int)khandle_duplicate(authority, SELF, RIGHTS_ALL & ~RIGHT_WRITE);
	struct device_info info = {0};
	long device;

	expect_eq(kdevice_open(weak, 0, &info), -E_ACCES);
	expect_eq(kdevice_open(atoll_startup()->thread, 0, &info), -E_BADF);
	expect_eq(kdevice_open(0, 0, &info), -E_BADF);
	expect_eq(kdevice_open(authority, -1, &info), -E_INVAL);
	expect_eq(kdevice_open(authority, 1000, &info), -E_INVAL);
	expect_eq(kdevice_open(authority, 0, (void *)8), -E_FAULT);
	khandle_close(weak);
	device = kdevice_open(authority, 0, &info);
	have = device > 0;
	if (!have) {
		expect_eq(device, -E_INVAL);
		return;
	}
	expect(is_first());
	expect_eq(info.kind, DEVICE_UART_16550);
	expect_eq(info.pages, 1);
	expect_eq(kdevice_open(authority, 0, &info), -E_BUSY);
	expect_eq(kdevice_open(authority, 1, &info), -E_NOENT);
	expect_eq(khandle_close((int)device), 0);
	device = open_uart();
	expect(device > 0);
	expect_eq(khandle_close((int)device), 0);
}

/* test: page_map */
TEST(registers_are_mapped_with_the_rights_of_the_handle)
{
	int device = open_uart(), reader = (int)khandle_duplicate(device, SELF, RIGHT_READ);
	struct page_info page;
	uint64_t count;

	expect_eq(kpage_map(SELF, (unsigned long)at, device, 0, 1, RW | PAGE_EXEC), -E_ACCES);
	expect_eq(kpage_map(SELF, (unsigned long)at, device, 0, 2, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, (unsigned long)at, device, 1, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, (unsigned long)at, device, 0, 1, RW | PAGE_LARGE), -E_INVAL);
	expect_eq(kpage_map(SELF, (unsigned long)at, reader, 0, 1, RW), -E_ACCES);
	expect_eq(kpage_map(SELF, (unsigned long)at, reader, 0, 1, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 1, RW), -E_ACCES);
	expect_eq(kstats(STATS_PROCS, (void *)(uintptr_t)at), -E_FAULT);
	expect_eq(kpage_query(SELF, (unsigned long)at, &page), 0);
	expect_eq(page.frame, -1);
	expect_eq(kproc_events(SELF, (unsigned long)at), -E_ACCES);
	unmap_uart();
	count = kt_stats(STATS_FRAMES_FREE);
	for (int i = 0; i < 100; i++) {
		map_uart(device);
		unmap_uart();
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), count);
	khandle_close(reader);
	close_uart(device);
}

/* test: device_done, event_bind */
TEST(wrong_handles_are_refused)
{
	int device = open_uart(), memory = (int)kmemory_create(1),
		weak = (int)khandle_duplicate(device, SELF, RIGHT_READ | RIGHT_WRITE);

	expect_eq(kdevice_done(device), 0);
	expect_eq(kdevice_done(weak), -E_ACCES);
	expect_eq(kdevice_done(memory), -E_ACCES);
	expect_eq(kdevice_done(authority), -E_BADF);
	expect_eq(kdevice_done(0), -E_BADF);
	expect_eq(kevent_bind(EVENT_INTERRUPT, weak, BIT), -E_ACCES);
	expect_eq(kevent_bind(EVENT_INTERRUPT, memory, BIT), -E_ACCES);
	expect_eq(kevent_bind(EVENT_INTERRUPT, 0, BIT), -E_BADF);
	expect_eq(kevent_bind(EVENT_INTERRUPT, device, WAKE_BITS), -E_INVAL);
	expect_eq(kevent_bind(EVENT_INTERRUPT, device, -1), 0);
	khandle_close(weak);
	khandle_close(memory);
	close_uart(device);
}

TEST(an_interrupt_before_anybody_has_bound_it_is_not_lost)
{
	int device = open_uart();
	volatile unsigned char *uart = map_uart(device);

	raise_line(uart);
	kt_pause(1000);
	expect_eq(kevent_bind(EVENT_INTERRUPT, device, BIT), 0);
	expect_interrupt();
	quiet(uart);
	expect_eq(kdevice_done(device), 0);
	expect_none();
	unmap_uart();
	close_uart(device);
}

TEST(each_interrupt_comes_once_and_after_the_last_is_served)
{
	int device = open_uart();
	volatile unsigned char *uart = map_uart(device);

	expect_eq(kevent_bind(EVENT_INTERRUPT, device, BIT), 0);
	for (int i = 0; i < OFTEN && kt_failures() == 0; i++) {
		raise_line(uart);
		expect_interrupt();
		quiet(uart);
		expect_eq(kdevice_done(device), 0);
	}
	raise_line(uart);
	expect_interrupt();
	raise_line(uart);
	expect_none();
	expect_eq(kdevice_done(device), 0);
	expect_interrupt();
	quiet(uart);
	expect_eq(kdevice_done(device), 0);
	expect_none();
	unmap_uart();
	close_uart(device);
}

static unsigned long
serve(unsigned long device)
{
	volatile unsigned char *uart = (volatile unsigned char *)(uintptr_t)at;
	unsigned long served = 0;

	kevent_bind(EVENT_INTERRUPT, (int)device, BIT);
	kthread_wakeup(atoll_startup()->thread, SERVED);
	while (served < OFTEN && kthread_sleep(1u << BIT, kt_now() + LONG_NS) == 1 << BIT) {
		quiet(uart);
		control->told = (uint32_t)++served;
		kdevice_done((int)device);
		kthread_wakeup(atoll_startup()->thread, SERVED);
	}
	return served;
}

/* The kernel core is busy with other calls meanwhile, or runs the threads itself. */
TEST(a_thread_serves_while_others_work)
{
	int device = open_uart();
	long memory = kmemory_create(1), tid;
	volatile unsigned char *uart = map_uart(device);

	expect_eq(kpage_map(SELF, (unsigned long)(uintptr_t)control, (int)memory, 0, 1, RW), 0);
	tid = kt_thread(serve, (unsigned long)device, ANY_CORE);
	expect_eq(kthread_sleep(SERVED, FOREVER), SERVED);
	for (uint32_t i = 0; i < OFTEN; i++) {
		raise_line(uart);
		for (uint32_t busy = 0; busy < i % 32; busy++)
			kvoid_remote();
		expect_eq(kthread_sleep(SERVED, FOREVER), SERVED);
		expect_eq(control->told, i + 1);
	}
	expect_eq(kt_join(tid), OFTEN);
	end_child();
	khandle_close((int)memory);
	unmap_uart();
	close_uart(device);
}

static volatile uint32_t stop;

static unsigned long
hammer(unsigned long arg)
{
	/* as whoever stops it */
	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	while (!stop)
		kvoid_remote();
	return arg;
}

/* As many cores as there are keep home busy, so that it never sleeps. */
TEST(an_interrupt_comes_between_the_calls_of_all_cores)
{
	int device = open_uart();
	volatile unsigned char *uart = map_uart(device);
	long thread[HAMMERS];

	stop = 0;
	expect_eq(kevent_bind(EVENT_INTERRUPT, device, BIT), 0);
	for (int i = 0; i < HAMMERS; i++)
		thread[i] = kt_thread(hammer, 0, ANY_CORE);
	for (int i = 0; i < OFTEN; i++) {
		raise_line(uart);
		for (long n = 0; kthread_sleep(1u << BIT, 0) != 1 << BIT; n++)
			if (n == LOOKS) {
				expect(n < LOOKS);
				break;
			}
		quiet(uart);
		expect_eq(kdevice_done(device), 0);
	}
	stop = 1;
	for (int i = 0; i < HAMMERS; i++)
		expect_eq(kt_join(thread[i]), 0);
	unmap_uart();
	close_uart(device);
}

TEST(a_driver_that_ends_leaves_a_device_that_is_silent)
{
	for (int killed = 0; killed < 2; killed++) {
		int device = open_uart();
		long proc = start_child(STORM, device, RIGHTS_ALL | HANDLE_MOVE);
		volatile unsigned char *uart;

		expect_eq(control->told, 1);
		if (killed)
			expect_eq(kproc_kill((int)proc, 5), 0);
		control->go = 1;
		expect_eq(kt_wait(proc, NULL), 5);
		end_child();
		device = open_uart();
		expect(device > 0);
		uart = map_uart(device);
		expect_eq(uart[UART_IER], 0);
		expect_eq(uart[UART_LCR], 3);
		quiet(uart);
		expect_eq(kevent_bind(EVENT_INTERRUPT, device, BIT), 0);
		expect_none();
		raise_line(uart);
		expect_interrupt();
		quiet(uart);
		unmap_uart();
		close_uart(device);
	}
}

/* Who lent the device goes on with it. */
TEST(the_lender_takes_over_what_a_dead_driver_left)
{
	int device = open_uart();
	long proc = start_child(STORM, device, RIGHTS_ALL);
	volatile unsigned char *uart = map_uart(device);

	expect_none();
	expect_eq(kproc_kill((int)proc, 5), 0);
	expect_eq(kt_wait(proc, NULL), 5);
	expect_none();
	expect_eq(kevent_bind(EVENT_INTERRUPT, device, BIT), 0);
	expect_interrupt();			/* that the driver did not serve */
	quiet(uart);
	expect_eq(kdevice_done(device), 0);
	raise_line(uart);
	expect_interrupt();
	quiet(uart);
	end_child();
	unmap_uart();
	close_uart(device);
}

/* test: handle_revoke */
TEST(a_driver_that_is_revoked_is_told_and_reaches_nothing)
{
	int device = open_uart(), view = (int)khandle_duplicate(device, SELF,
		RIGHTS_ALL | HANDLE_VIEW);
	long proc = start_child(SLEEPER, view, RIGHTS_ALL);
	uint32_t cause = 0;

	expect_eq(khandle_revoke(view), 0);
	while (control->told == 0)
		let_others();
	control->go = 1;
	kt_wait(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	end_child();
	khandle_close(view);
	close_uart(device);
}

TEST(a_device_is_taken_as_long_as_it_is_mapped)
{
	int device = open_uart();
	long proc = start_child(HOLDER, device, RIGHTS_ALL | HANDLE_MOVE);

	expect_eq(open_uart(), -E_BUSY);
	expect_eq(kproc_kill((int)proc, 1), 0);
	kt_wait(proc, NULL);
	end_child();
	device = open_uart();
	expect(device > 0);
	expect_eq(kevent_bind(EVENT_INTERRUPT, device, BIT), 0);
	expect_eq(khandle_close(device), 0);
	expect_eq(kthread_sleep(1u << BIT, 0), 1 << BIT);	/* it is told of that */
}

static void
expect_frames(uint64_t least)
{
	for (int i = 0; i < 100000 && kt_stats(STATS_FRAMES_FREE) < least; i++)
		let_others();
	expect(kt_stats(STATS_FRAMES_FREE) >= least);
}

/* test: device_memory */
TEST(memory_of_a_device_stays_as_long_as_it_may_use_it)
{
	int device = open_uart(), memory = (int)kmemory_create(MANY),
		other = (int)kmemory_create(MANY),
		reader = (int)khandle_duplicate(memory, SELF, RIGHT_READ),
		weak = (int)khandle_duplicate(device, SELF, RIGHT_READ | RIGHT_WAIT);
	uint64_t address = 1, again = 2, before;

	expect_eq(kdevice_memory(weak, memory, &address), -E_ACCES);
	expect_eq(kdevice_memory(device, reader, &address), -E_ACCES);
	expect_eq(kdevice_memory(device, device, &address), -E_INVAL);
	expect_eq(kdevice_memory(memory, memory, &address), -E_INVAL);
	expect_eq(kdevice_memory(device, 0, &address), -E_BADF);
	expect_eq(kdevice_memory(device, memory, &address), 0);
	expect_eq(address % PAGE, 0);
	expect_eq(kdevice_memory(device, memory, &again), 0);
	expect_eq(again, address);
	khandle_close(reader);
	khandle_close(weak);
	before = kt_stats(STATS_FRAMES_FREE);
	expect_eq(khandle_close(memory), 0);
	kt_pause(1000);
	expect(kt_stats(STATS_FRAMES_FREE) < before + MANY);
	expect_eq(kdevice_memory(device, other, &again), 0);
	expect_frames(before + MANY);
	expect_eq(khandle_close(other), 0);
	kt_pause(1000);
	expect(kt_stats(STATS_FRAMES_FREE) < before + 2 * MANY);
	expect_eq(khandle_close(device), 0);
	expect_frames(before + 2 * MANY);
}

int
server_main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	uint64_t place;

	(void)argc;
	(void)argv;
	if (s->job != 0)
		return child(s->job, (volatile struct control *)(uintptr_t)s->shared);
	/*
	 * as its children: what waits for them would otherwise keep its core from them
	 */
	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	authority = s->authority;
	RUN(a_device_is_opened_by_an_authority);
	if (have && kmem_alloc(SELF, 2 * PAGE, 0, &place) == 0) {
		control = (volatile struct control *)(uintptr_t)place;
		at = place + PAGE;
		RUN(registers_are_mapped_with_the_rights_of_the_handle);
		RUN(wrong_handles_are_refused);
		RUN(an_interrupt_before_anybody_has_bound_it_is_not_lost);
		RUN(each_interrupt_comes_once_and_after_the_last_is_served);
		RUN(a_thread_serves_while_others_work);
		RUN(an_interrupt_comes_between_the_calls_of_all_cores);
		RUN(a_driver_that_ends_leaves_a_device_that_is_silent);
		RUN(the_lender_takes_over_what_a_dead_driver_left);
		RUN(a_driver_that_is_revoked_is_told_and_reaches_nothing);
		RUN(a_device_is_taken_as_long_as_it_is_mapped);
		RUN(memory_of_a_device_stays_as_long_as_it_may_use_it);
	}
	if (kt_failures() == 0 && !is_first())
		kthread_sleep(WAKE_ANY, FOREVER);	/* the other cluster ends the machine */
	kt_end();
}
