/* SPDX-License-Identifier: MIT
 *
 * Console: see console.h. A line is kept until it is complete, or too long, or somebody else wants to write.
 */
#include <base/fmt.h>
#include <base/str.h>
#include <kernel/cluster.h>

#define TEXT_MAX 160		/* of a kernel message */

/* Let complete text go. 0 or -E_AGAIN. */
static int
emit(struct cluster *c, const char *text, size_t len)
{
	if (c->id != 0)
		return hal_noc_console_write(text, len);
	hal_console_write(text, len);
	return 0;
}

/* Let the open line go; one that somebody else interrupts is ended. */
static int
emit_open(struct cluster *c, bool end)
{
	struct console *s = &c->console;
	int e;

	if (s->len == 0)
		return 0;
	if (end)
		s->line[s->len++] = '\n';
	e = emit(c, s->line, s->len);
	if (e == 0)
		s->len = 0;
	else if (end)
		s->len--;
	return e;
}

/* Bytes up to and with the last newline. */
static size_t
complete_bytes(const char *text, size_t len)
{
	while (len > 0 && text[len - 1] != '\n')
		len--;
	return len;
}

int
console_append(struct cluster *c, int32_t owner, const char *text, size_t len)
{
	struct console *s = &c->console;
	size_t whole;

	if (s->len > 0 && s->owner != owner && emit_open(c, true) != 0)
		return -E_AGAIN;
	if (s->len + len > CONSOLE_WRITE_MAX && emit_open(c, false) != 0)
		return -E_AGAIN;
	memcpy(s->line + s->len, text, len);
	whole = complete_bytes(s->line, s->len + len);
	if (whole > 0 && emit(c, s->line, whole) != 0)
		return -E_AGAIN;
	s->len = s->len + (uint32_t)(len - whole);
	s->owner = owner;
	memmove(s->line, s->line + whole, s->len);
	return 0;
}

void
console_message(struct cluster *c, const char *format, ...)
{
	char text[TEXT_MAX];
	int len = fmt_print(text, sizeof(text), "atoll: cluster %u: ", (unsigned)c->id);
	va_list args;

	va_start(args, format);
	len += fmt_vprint(text + len, sizeof(text) - (size_t)len, format, args);
	va_end(args);
	if (len > TEXT_MAX - 1)
		len = TEXT_MAX - 1;
	text[len++] = '\n';
	console_append(c, 0, text, (size_t)len);
}

/* Print `ready` bytes that another cluster has sent. */
static void
print_from(unsigned peer, size_t ready)
{
	char text[128];

	while (ready > 0) {
		size_t len = hal_noc_console_read(peer, text, ready < sizeof(text) ? ready : sizeof(text));

		if (len == 0)
			return;
		hal_console_write(text, len);
		ready -= len;
	}
}

/* Of each cluster what lies there now, and not what comes meanwhile: a writer puts whole lines, so it ends with one. */
static __attribute__((noinline)) bool
drain_round(struct cluster *c)
{
	bool any = false;

	for (unsigned peer = 1; peer < c->record->clusters; peer++) {
		int ready = hal_noc_console_ready(peer);

		if (ready < 0)
			ikc_condemn(c, peer, "has spoilt its console ring");
		if (ready <= 0)
			continue;
		if (!any)
			emit_open(c, true);
		any = true;
		print_from(peer, (size_t)ready);
	}
	return any;
}

bool
console_drain(struct cluster *c)
{
	uint32_t activity = hal_load32(c->ikc.activity);

	if (c->id != 0 || activity == c->console.looked)
		return false;
	c->console.looked = activity;
	return drain_round(c);
}

void
console_flush(struct cluster *c)
{
	emit_open(c, true);
	if (c->id == 0)
		drain_round(c);
}
