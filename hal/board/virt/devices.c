/* SPDX-License-Identifier: MIT
 *
 * Devices of the QEMU `virt` board as the kernel uses them: console, doorbells, power. Stateless;
 * any core at any time.
 */
#include <hal/board.h>
#include <hal/console.h>
#include <hal/core.h>
#include "virt.h"

const struct hal_range hal_board_devices[] = {
	{VIRT_FINISHER, VIRT_PAGE},
	{VIRT_SSWI, VIRT_SSWI_BYTES},
	{VIRT_IO, VIRT_IO_BYTES},
	{VIRT_PLIC, VIRT_PLIC_BYTES},
};
const unsigned hal_board_device_count = sizeof(hal_board_devices) / sizeof(hal_board_devices[0]);
const uint64_t hal_board_bells = VIRT_SSWI;
const uint32_t hal_board_tick_ns = VIRT_TICK_NS;

size_t
hal_console_put(const char *text, size_t len)
{
	volatile uint8_t *uart = hal_device(VIRT_UART);
	size_t taken = 0;

	while (taken < len && (uart[UART_LSR] & UART_LSR_EMPTY) != 0)
		uart[UART_THR] = (uint8_t)text[taken++];
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
	volatile uint32_t *finisher = hal_device(VIRT_FINISHER);

	if ((status & 0xff) == 0)
		*finisher = VIRT_FINISHER_PASS;
	else
		*finisher = (uint32_t)(status & 0xff) << 16 | VIRT_FINISHER_FAIL;
	for (;;)
		__asm__ volatile("wfi");
}
