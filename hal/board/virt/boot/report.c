/* SPDX-License-Identifier: MIT
 *
 * Last words of the machine start: straight to the UART, then the machine ends with a failure.
 */
#include "../virt.h"
#include "boot.h"

#define BOOT_FAIL_STATUS 3

static uint32_t speaking;

static void
put(const char *s)
{
	volatile uint8_t *uart = (volatile uint8_t *)VIRT_UART;

	for (; *s != '\0'; s++)
		uart[UART_THR] = (uint8_t)*s;
}

static void
put_hex(const char *name, uint64_t value)
{
	char digits[2] = {0, 0};

	put(name);
	put("0x");
	for (int shift = 60; shift >= 0; shift -= 4)
		if (shift == 0 || value >> shift != 0) {
			digits[0] = "0123456789abcdef"[value >> shift & 15];
			put(digits);
		}
}

/* One hart speaks; the others would only mix their words into its. */
static void
speak(const char *what)
{
	if (__atomic_exchange_n(&speaking, 1, __ATOMIC_ACQ_REL) != 0)
		boot_sleep();
	put("\nboot: ");
	put(what);
	put_hex(" hart ", csr_read(mhartid));
}

static _Noreturn void
end_machine(void)
{
	put("\n");
	*(volatile uint32_t *)VIRT_FINISHER = BOOT_FAIL_STATUS << 16 | VIRT_FINISHER_FAIL;
	boot_sleep();
}

void
boot_fail(const char *what, uint64_t value)
{
	speak(what);
	put_hex(": ", value);
	end_machine();
}

void
boot_report_trap(uint64_t cause, uint64_t pc, uint64_t value)
{
	speak("trap in machine mode,");
	put_hex(" cause ", cause);
	put_hex(" pc ", pc);
	put_hex(" value ", value);
	end_machine();
}
