/* SPDX-License-Identifier: MIT
 *
 * Devices of QEMU's or1k board `virt` and of the cluster in RTL, which has the same ones and a
 * performance block: console, clock, doorbells, power. Stateless; any core at any time.
 */
#include <abi/codesign.h>
#include <hal/board.h>
#include <hal/console.h>
#include <hal/core.h>
#include <hal/timer.h>

/* QEMU: nanoseconds, little-endian; the low word is read first and holds the high one */
#define RTC 0x96005000
#define QEMU_TICK_NS 50
#define RTL_TICK_NS 20
#define UART_STATUS 5
#define UART_EMPTY 0x20
#define UART_PATIENCE 100000		/* looks at the line status before the rest is given up */

const uint64_t hal_board_bells = CD_OMPIC;

static volatile uint32_t *
device(uint32_t at)
{
	return (volatile uint32_t *)at;
}

static bool
is_rtl(void)
{
	return *device(CD_PERF) == CD_PERF_MAGIC;
}

const volatile uint32_t *
hal_board_doze(void)
{
	return is_rtl() ? device(CD_PERF + CD_PERF_WAIT) : NULL;
}

uint32_t
hal_board_timer_ns(void)
{
	return is_rtl() ? RTL_TICK_NS : QEMU_TICK_NS;
}

/* A counter in two words, the low one first: nothing may carry while both are read. */
static uint64_t
rtc_ns(void)
{
	uint32_t low, high, again = __builtin_bswap32(*device(RTC));

	do {
		low = again;
		high = __builtin_bswap32(*device(RTC + 4));
		again = __builtin_bswap32(*device(RTC));
	} while (again < low);
	return (uint64_t)high << 32 | low;
}

static uint64_t
rtl_cycles(void)
{
	uint32_t low, high, again = *device(CD_PERF + CD_PERF_CYCLE + 4);

	do {
		high = again;
		low = *device(CD_PERF + CD_PERF_CYCLE);
		again = *device(CD_PERF + CD_PERF_CYCLE + 4);
	} while (again != high);
	return (uint64_t)high << 32 | low;
}

uint64_t
hal_clock_ns(void)
{
	uint64_t cycles;

	if (!is_rtl())
		return rtc_ns();
	cycles = rtl_cycles();
	return (cycles << 4) + (cycles << 2);	/* RTL_TICK_NS */
}

size_t
hal_console_put(const char *text, size_t len)
{
	volatile uint8_t *uart = (volatile uint8_t *)CD_UART;
	size_t taken = 0;

	while (taken < len && (uart[UART_STATUS] & UART_EMPTY) != 0)
		uart[0] = (uint8_t)text[taken++];
	return taken;
}

void
hal_console_write(const char *text, size_t len)
{
	for (unsigned looks = 0; len > 0 && looks < UART_PATIENCE; looks++) {
		size_t taken = hal_console_put(text, len);

		if (taken > 0)
			looks = 0;
		text += taken;
		len -= taken;
	}
}

void
hal_machine_halt(int status)
{
	*device(CD_EXIT) = (status & 0xff) == 0 ? CD_EXIT_OK : (uint32_t)(status & 0xff) << 16 |
		CD_EXIT_FAIL;
	for (;;)
		hal_doze();
}
