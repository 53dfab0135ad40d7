/* SPDX-License-Identifier: MIT
 *
 * Console: see console.h. A line is kept until it is complete, or too long, or somebody else wants
 * to write.
 */
#include <base/fmt.h>
#include <base/str.h>
#include <hal/timer.h>
#include <kernel/cluster.h>

#define TEXT_MAX 160		/* of a kernel message */
#define STEP_BYTES 64u		/* that one poll takes from a cluster, or gives to the device */
#define STEP_PEERS 16		/* that one poll looks at */
#define RETRY_NS 200000		/* until a device that took nothing is tried again */

/*
 * Other clusters leave so much room in the ring that every text of our own finds some in the end.
 */
#define OWN_BYTES (2 * CONSOLE_WRITE_MAX)

size_t
console_bytes(uint32_t cluster)
{
	return cluster == 0 ? CONSOLE_RING : 0;
}

void
console_init(struct cluster *c, void *ring)
{
	c->console.ring = ring;
}

/* --- the ring of cluster 0 --- */

static uint32_t
ring_room(const struct console *s)
{
	return CONSOLE_RING - (s->put - s->got);
}

/* Bytes from a position of the ring to where it wraps, at most `len`. */
static size_t
span(uint32_t position, size_t len)
{
	size_t to_end = CONSOLE_RING - position % CONSOLE_RING;

	return len < to_end ? len : to_end;
}

/* Is anything left to do? Then home's loop must know. */
static void
chore_update(struct cluster *c)
{
	struct console *s = &c->console;
	bool is_chore = s->put != s->got || s->peers > 0 || s->left > 0;

	c->chores += (uint32_t)is_chore - (uint32_t)s->is_chore;
	s->is_chore = is_chore;
}

/* There is room. */
static void
ring_add(struct console *s, const char *text, size_t len)
{
	size_t first = span(s->put, len);

	memcpy(s->ring + s->put % CONSOLE_RING, text, first);
	memcpy(s->ring, text + first, len - first);
	s->put += (uint32_t)len;
}

/* Give the device some of it. False if it takes nothing. */
static bool
ring_drain(struct console *s)
{
	size_t len = span(s->got, s->put - s->got < STEP_BYTES ? s->put - s->got : STEP_BYTES);
	size_t taken = len > 0 ? hal_console_put(s->ring + s->got % CONSOLE_RING, len) : 0;

	s->got += (uint32_t)taken;
	return taken > 0;
}

static int
ring_append(struct cluster *c, const char *text, size_t len)
{
	struct console *s = &c->console;

	if (ring_room(s) < len || s->inside_text)
		return -E_AGAIN;
	ring_add(s, text, len);
	chore_update(c);
	return 0;
}

/* --- lines --- */

/* Let complete text go. 0 or -E_AGAIN. */
static int
emit(struct cluster *c, const char *text, size_t len)
{
	return c->id != 0 ? hal_noc_console_write(text, len) : ring_append(c, text, len);
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
	const char *end = text + len;

	while (end > text && end[-1] != '\n')
		end--;
	return (size_t)(end - text);
}

int
console_append(struct cluster *c, int32_t owner, const char *text, size_t len)
{
	struct console *s = &c->console;
	size_t whole = complete_bytes(text, len);

	if (s->len > 0 && s->owner != owner && emit_open(c, true) != 0)
		return -E_AGAIN;
	if (s->len + len > CONSOLE_WRITE_MAX && emit_open(c, false) != 0)
		return -E_AGAIN;
	s->owner = owner;
	memcpy(s->line + s->len, text, whole);
	if (whole > 0 && emit(c, s->line, s->len + whole) != 0)
		return -E_AGAIN;
	if (whole > 0)
		s->len = 0;
	memcpy(s->line + s->len, text + whole, len - whole);
	s->len += (uint32_t)(len - whole);
	return 0;
}

/* The kernel does not wait for the end of another cluster's text. */
static void
end_inside(struct cluster *c)
{
	struct console *s = &c->console;

	if (!s->inside_text || ring_room(s) == 0)
		return;
	if (s->ring[(s->put - 1) % CONSOLE_RING] != '\n')
		ring_add(s, "\n", 1);
	s->inside_text = false;
}

/* 0, or -E_AGAIN: it is lost. */
static __attribute__((format(printf, 2, 0))) int
message(struct cluster *c, const char *format, va_list args)
{
	char text[TEXT_MAX];
	int len = fmt_print(text, sizeof(text), "atoll: cluster %u: ", (unsigned)c->id);

	len += fmt_vprint(text + len, sizeof(text) - (size_t)len, format, args);
	if (len > TEXT_MAX - 1)
		len = TEXT_MAX - 1;
	text[len++] = '\n';
	end_inside(c);
	return console_append(c, 0, text, (size_t)len);
}

static __attribute__((format(printf, 2, 3))) int
try_message(struct cluster *c, const char *format, ...)
{
	va_list args;
	int e;

	va_start(args, format);
	e = message(c, format, args);
	va_end(args);
	return e;
}

static void
tell_lost(struct cluster *c)
{
	struct console *s = &c->console;

	if (s->lost > 0 && try_message(c, "%u messages lost", (unsigned)s->lost) == 0)
		s->lost = 0;
}

void
console_message(struct cluster *c, const char *format, ...)
{
	va_list args;

	tell_lost(c);
	va_start(args, format);
	if (message(c, format, args) != 0)
		c->console.lost++;
	va_end(args);
}

/* --- other clusters --- */

/*
 * The next cluster that has text: what lies there now is taken, and not what comes meanwhile. A
 * writer puts whole lines, so it ends with one.
 */
static void
find_text(struct cluster *c)
{
	struct console *s = &c->console;

	for (unsigned looks = 0; s->left == 0 && s->peers > 0 && looks < STEP_PEERS; looks++) {
		int ready;

		s->peer = s->peer + 1 < c->record->clusters ? s->peer + 1 : 1;
		s->peers--;
		ready = hal_noc_console_ready(s->peer);
		if (ready < 0)
			ikc_condemn(c, s->peer, "has spoilt its console ring");
		if (ready > 0)
			s->left = (uint32_t)ready;
	}
}

/*
 * A step's bytes of the text that was found. False if there is no room for them. Until all of it is
 * taken, no thread's text comes between: a newline does not say that what was written together is
 * whole, for a frame of the personality has lines in it.
 */
static bool
take_text(struct cluster *c)
{
	struct console *s = &c->console;
	char text[STEP_BYTES];
	size_t len = s->left < STEP_BYTES ? s->left : STEP_BYTES;

	if (ring_room(s) < OWN_BYTES + STEP_BYTES)
		return false;
	if (!s->inside_text)
		emit_open(c, true);
	len = hal_noc_console_read(s->peer, text, len);
	ring_add(s, text, len);
	s->left = len > 0 ? s->left - (uint32_t)len : 0;
	s->inside_text = s->left > 0;
	return true;
}

/* A step takes text that came, or gives what waits to the device. */
bool
console_poll(struct cluster *c)
{
	struct console *s = &c->console;
	uint32_t activity = hal_load32(c->ikc.activity);
	bool any;

	if (c->id != 0 || (activity == s->looked && !s->is_chore))
		return false;
	if (activity != s->looked)
		s->peers = c->record->clusters - 1;
	s->looked = activity;
	any = s->left == 0 && s->peers > 0;
	find_text(c);
	any |= (s->left > 0 && take_text(c)) || ring_drain(s);
	if (s->lost > 0 && any)
		tell_lost(c);
	chore_update(c);
	return any;
}

uint64_t
console_deadline(struct cluster *c)
{
	return c->console.is_chore ? hal_clock_ns() + RETRY_NS : HAL_FOREVER;
}

/* --- the end --- */

static void
ring_write(struct console *s)
{
	while (s->got != s->put) {
		size_t len = span(s->got, s->put - s->got);

		hal_console_write(s->ring + s->got % CONSOLE_RING, len);
		s->got += (uint32_t)len;
	}
}

void
console_flush(struct cluster *c)
{
	struct console *s = &c->console;

	if (c->id != 0) {
		emit_open(c, true);
		return;
	}
	s->peers += c->record->clusters - 1;
	do {
		ring_write(s);
		find_text(c);
		if (s->left > 0)
			take_text(c);
	} while (s->left > 0 || s->peers > 0);
	ring_write(s);
	emit_open(c, true);
	tell_lost(c);
	ring_write(s);
}
