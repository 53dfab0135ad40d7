/* SPDX-License-Identifier: MIT
 *
 * Console, exit, barrier and checks of the test firmware.
 */
#include "fw.h"

int fw_failures;
static volatile uint32_t barrier_count, barrier_round;

void
fw_puts(const char *s)
{
	for (; *s; s++)
		*(volatile uint8_t *)CD_UART = *s;
}

void
fw_number(uint32_t n)
{
	static const uint32_t tens[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
	int seen = 0;
	char s[2] = {0, 0};

	for (unsigned i = 0; i < sizeof tens / sizeof *tens; i++) {
		for (s[0] = '0'; n >= tens[i]; n -= tens[i])
			s[0]++;
		seen |= s[0] != '0' || tens[i] == 1;
		if (seen)
			fw_puts(s);
	}
}

void
fw_exit(int status)
{
	reg_write(CD_EXIT, status == 0 ? CD_EXIT_OK : (uint32_t)status << 16 | CD_EXIT_FAIL);
	for (;;)
		;
}

void
fw_barrier(void)
{
	uint32_t cores = spr_read(129), round = barrier_round;

	if (atomic_add(&barrier_count, 1) + 1 == cores) {
		barrier_count = 0;
		barrier_round = round + 1;
	} else
		while (barrier_round == round)
			;
}

void
fw_check(const char *what, uint32_t got, uint32_t want)
{
	fw_puts(got == want ? "ok " : "not ok ");
	fw_puts(what);
	if (got != want) {
		fw_failures++;
		fw_puts(": ");
		fw_number(got);
		fw_puts(", expected ");
		fw_number(want);
	}
	fw_puts("\n");
}

__attribute__((weak)) uint32_t
fw_exception(uint32_t vector, uint32_t address, uint32_t *regs)
{
	(void)regs;
	fw_puts("unexpected exception ");
	fw_number(vector);
	fw_puts(" at ");
	fw_number(address);
	fw_puts("\n");
	fw_exit(3);
}
