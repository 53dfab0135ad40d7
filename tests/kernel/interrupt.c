/* SPDX-License-Identifier: MIT
 *
 * From an interrupt to its driver: a thread on a core of its own sleeps for the device, home sleeps
 * too, and a third core has the device interrupt. bench/micro/interrupt.toml counts the way.
 *
 * machine: 1 4 KC
 */
#include <hal/perf.h>
#include <tests/kernel/ktest.h>

#define LABEL 16			/* of the windows */
#define RW (PAGE_READ | PAGE_WRITE)
#define UART_IER 1
#define UART_IIR 2
#define IER_TRANSMIT 2
#define BIT 3
#define SERVED 16
#define NOBODY 32
#define TIMES 20
#define SETTLE_NS 100000
#define DRIVER_CORE 1

static volatile unsigned char *uart;
static int device, authority;
static long first_thread;

static unsigned long
drive(unsigned long times)
{
	unsigned long served = 0;

	kevent_bind(EVENT_INTERRUPT, device, BIT);
	kthread_wakeup((int)first_thread, SERVED);
	while (served < times && kthread_sleep(1u << BIT, FOREVER) == 1 << BIT) {
		uart[UART_IER] = 0;
		(void)uart[UART_IIR];
		kdevice_done(device);
		served++;
		kthread_wakeup((int)first_thread, SERVED);
	}
	return served;
}

/*
 * Both sleep when it interrupts. This core sleeps, too, for under -icount no other runs before;
 * home sees the interrupt first, and the message about that sleep behind it.
 */
static void
interrupt_once(void)
{
	uint64_t now;

	kclock(&now);
	kthread_sleep(NOBODY, now + SETTLE_NS);
	hal_mark(LABEL);
	hal_mark(MARK_BEGIN);
	uart[UART_IER] = IER_TRANSMIT;
	kthread_sleep(SERVED, FOREVER);
	hal_mark(MARK_END);
}

TEST(an_interrupt_wakes_its_driver)
{
	struct device_info info;
	uint64_t at = 0;
	long thread;

	device = (int)kdevice_open(authority, 0, &info);
	if (device < 0)
		return;			/* this machine has none: devices.c */
	expect_eq(kmem_alloc(SELF, kt_page_bytes(), 0, &at), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at, device, 0, 1, RW), 0);
	uart = (volatile unsigned char *)(uintptr_t)at;
	first_thread = kthread_self();
	thread = kt_thread(drive, TIMES, DRIVER_CORE);
	kthread_sleep(SERVED, FOREVER);
	for (int i = 0; i < TIMES; i++)
		interrupt_once();
	expect_eq(kt_join(thread), TIMES);
	expect_eq(khandle_close(device), 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	authority = atoll_startup()->authority;
	RUN(an_interrupt_wakes_its_driver);
	kt_end();
}
