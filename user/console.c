/* SPDX-License-Identifier: MIT
 *
 * Console output of servers, and their failed checks.
 */
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/check.h>
#include <base/fmt.h>

/* The kernel core makes room while it serves the next try. */
long
console_put(const void *text, uint32_t len)
{
	long result;

	while ((result = kconsole_write(text, len)) == -E_AGAIN)
		kthread_yield();
	return result;
}

void
console_print(const char *format, ...)
{
	char text[CONSOLE_WRITE_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = fmt_vprint(text, sizeof(text), format, args);
	va_end(args);
	if (len >= (int)sizeof(text))
		len = (int)sizeof(text) - 1;
	console_put(text, (uint32_t)len);
}

void
check_failed(const char *file, int line)
{
	console_print("%s:%d: a check has failed\n", file, line);
	kproc_exit(70);
	for (;;)
		kthread_exit(70);
}
