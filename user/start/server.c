/* SPDX-License-Identifier: MIT
 *
 * Start of a server: a static position-independent program without libc. It relocates itself before
 * it does anything that needs an address, so this file takes none of functions or data but those of
 * the image's start and its dynamic section.
 */
#include <stddef.h>
#include <stdint.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <user/start/start.h>
#include <usercpu/start.h>

#define DT_NULL 0
#define DT_RELA 7
#define DT_RELASZ 8

struct dynamic {
	long tag;
	unsigned long value;
};

struct rela {
	unsigned long offset;
	unsigned long info;
	long addend;
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const struct dynamic _DYNAMIC[] __attribute__((visibility("hidden")));

/* Apply the relative relocations; a static program has no others. */
static void
relocate(void)
{
	uintptr_t base = (uintptr_t)__ehdr_start;
	uintptr_t table = 0, bytes = 0;

	for (const struct dynamic *d = _DYNAMIC; d->tag != DT_NULL; d++) {
		if (d->tag == DT_RELA)
			table = base + d->value;
		if (d->tag == DT_RELASZ)
			bytes = d->value;
	}
	for (const struct rela *r = (const struct rela *)table; (uintptr_t)r < table + bytes; r++)
		if ((r->info & 0xffffffff) == START_RELATIVE)
			*(uintptr_t *)(base + r->offset) = base + (uintptr_t)r->addend;
}

/*
 * The auxiliary vector follows argument count, arguments and environment, each list ended by a
 * zero.
 */
static const struct startup *
startup_on_stack(const unsigned long *stack)
{
	const unsigned long *p = stack + 1 + stack[0] + 1;

	while (*p != 0)
		p++;
	for (p++; *p != 0; p += 2)
		if (p[0] == AT_ATOLL)
			return (const struct startup *)p[1];
	return NULL;
}

void
start_server(unsigned long arg, unsigned long *stack)
{
	const struct startup *s = (const struct startup *)arg;
	int argc = 0;

	relocate();
	if (s == NULL) {
		s = startup_on_stack(stack);
		argc = (int)stack[0];
	}
	startup_set(s);
	rank_exit(server_main(argc, (char **)(stack + 1)));
}
