/* SPDX-License-Identifier: MIT
 *
 * The console's input: a 16550 UART. An interrupt says that bytes are there; all of them are taken
 * before it is served, for the controller looks at the line no more then. What is typed while the
 * buffer is full stays in the device, whose queue is off: turning it on would lose what is there.
 * Its output is the kernel's console, where lines stay whole.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/device/driver.h>

#define UART_DATA 0
#define UART_IER 1
#define UART_LSR 5
#define IER_RECEIVE 1
#define LSR_READY 1
#define INPUT 4096			/* bytes, a power of two */

static struct {
	volatile unsigned char *at;
	uint32_t put, got;
	char text[INPUT];
} uart;

/* While the buffer is full no interrupt comes. */
static void
uart_take(void)
{
	while (uart.put - uart.got < INPUT && (uart.at[UART_LSR] & LSR_READY) != 0)
		uart.text[uart.put++ % INPUT] = (char)uart.at[UART_DATA];
	uart.at[UART_IER] = uart.put - uart.got < INPUT ? IER_RECEIVE : 0;
}

static int
uart_start(const struct registers *r)
{
	uart.at = r->at;
	uart_take();
	return 0;
}

static long
uart_read(void *to, size_t len)
{
	size_t n = 0;

	while (n < len && uart.got != uart.put)
		((char *)to)[n++] = uart.text[uart.got++ % INPUT];
	uart_take();
	return n > 0 || len == 0 ? (long)n : -E_AGAIN;
}

static long
uart_write(const void *from, size_t len)
{
	long result;

	if (len > CONSOLE_WRITE_MAX)
		len = CONSOLE_WRITE_MAX;
	result = console_put(from, (uint32_t)len);
	return result < 0 ? result : (long)len;
}

const struct driver uart_driver = {.start = uart_start, .interrupt = uart_take,
	.read = uart_read, .write = uart_write};
