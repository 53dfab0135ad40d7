/* SPDX-License-Identifier: MIT
 *
 * The console's input: a 16550 UART. An interrupt says that bytes are there; all of them are taken
 * before it is served, for the controller looks at the line no more then. What is typed while the
 * buffer is full stays in the device, whose queue is off: turning it on would lose what is there.
 * Its output is the kernel's console, where lines stay whole.
 *
 * The buffer lies in the page that this server leaves to its successor: what nobody has read is
 * there then. A byte stands in it before it counts, and what was read counts until it was copied.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <servers/device/driver.h>

#define UART_DATA 0
#define UART_IER 1
#define UART_LSR 5
#define IER_RECEIVE 1
#define LSR_READY 1
#define INPUT 2048			/* bytes, a power of two; less than a page */

struct input {
	uint32_t put, got;
	char text[INPUT];
};

static struct registers uart;
static struct input *input;

/* While the buffer is full no interrupt comes. */
static void
uart_take(void)
{
	while (input->put - input->got < INPUT && (uart.at[UART_LSR] & LSR_READY) != 0) {
		input->text[input->put % INPUT] = (char)uart.at[UART_DATA];
		__atomic_store_n(&input->put, input->put + 1, __ATOMIC_RELEASE);
	}
	uart.at[UART_IER] = input->put - input->got < INPUT ? IER_RECEIVE : 0;
}

static int
uart_start(const struct registers *r)
{
	void *page;
	int result = kept_map(&page, sizeof(*input));

	if (result != 0)
		return result;
	input = page;
	uart = *r;
	uart_take();
	return 0;
}

static bool
uart_look(bool has_interrupted)
{
	uart_take();
	if (has_interrupted)
		kdevice_done(uart.device);
	return input->got != input->put;
}

static long
uart_read(void *to, size_t len)
{
	uint32_t n = 0;

	for (; n < len && input->got + n != input->put; n++)
		((char *)to)[n] = input->text[(input->got + n) % INPUT];
	__atomic_store_n(&input->got, input->got + n, __ATOMIC_RELEASE);
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

const struct driver uart_driver = {.start = uart_start, .look = uart_look, .read = uart_read,
	.write = uart_write};
