/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs of riscv64 are copied into the code page; a trap instruction
 * calls the kernel.
 */
#include <hal/board.h>
#include <hal/board/virt/virt.h>
#include "../copied.h"

#define IER_TRANSMIT 2			/* when it can take a byte: always */
#define UART_IIR 2

bool
user_can(enum user_program p)
{
	(void)p;
	return true;
}

void hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value);

void
user_page_fault(struct hal_frame *f, uintptr_t addr, uint32_t write)
{
	static const uint64_t cause[] = {13, 15, 12};

	hal_user_trap(f, cause[write], addr);
}

unsigned
litmus_rounds(void)
{
	return 30;
}

uint64_t
soon_ns(void)
{
	return 20000;
}

/* The UART, which the board says first. */
bool
user_device_can(void)
{
	return true;
}

void
user_device_raise(bool up)
{
	volatile uint8_t *uart = hal_device(VIRT_UART);

	uart[UART_IER] = 0;
	if (up)
		uart[UART_IER] = IER_TRANSMIT;
	else
		(void)uart[UART_IIR];
}

enum machine_lives
machine_lives(void)
{
	return LIVES_WITH_IMAGES;
}
