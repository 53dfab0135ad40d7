/* SPDX-License-Identifier: MIT
 *
 * Reading and writing, console output, time, random bytes, and who we are.
 */
#include <abi/layout.h>
#include <atoll/server.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <user/personality/files.h>
#include <user/personality/frames.h>
#include <user/personality/limits.h>
#include <user/personality/line.h>
#include <user/personality/personality.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>
#include <user/personality/terminal.h>
#include <user/personality/usage.h>

#define CLOCK_LAST 11		/* CLOCK_TAI */
#define RANDOM_FLAGS 7
#define PIECES_MAX 1024		/* of one call */
#define THE_FILE 8		/* not a stream */
#define THE_PIPE 9
#define THE_SOCKET 10		/* one that keeps messages whole */
#define NS_PER_S 1000000000ull
#define NAME_BYTES 65		/* of each field of struct utsname */

static long
put_plain(const char *from, uint64_t len)
{
	for (uint64_t done = 0; done < len;) {
		uint64_t n = len - done < CONSOLE_WRITE_MAX ? len - done : CONSOLE_WRITE_MAX;
		long result = console_put(from + done, (uint32_t)n);

		if (result < 0)
			return done > 0 ? (long)done : result;
		done += n;
	}
	return (long)len;
}

static __attribute__((noinline)) long
put_frames(char kind, const char *head, const char *from, uint64_t len)
{
	struct frame f;

	for (uint64_t done = 0; done < len;) {
		uint64_t taken;
		long result;

		frame_begin(&f, kind, head);
		taken = frame_add(&f, from + done, len - done);
		frame_end(&f);
		result = console_put(f.text, f.len);
		if (result < 0)
			return done > 0 ? (long)done : result;
		done += taken;
	}
	return (long)len;
}

/* Who writes: lines of one writer are put together where the console is read. */
static void
name_writer(struct line *head)
{
	struct cluster_info here = {0};

	kcluster_info(&here);
	line_number(head, here.cluster, 16);
	line_text(head, ".");
	line_number(head, (unsigned)kthread_self(), 16);
	line_text(head, ";");
}

/*
 * May text be sent as it is? Where the kernel puts what several threads write on one console, each
 * begins a line of its own. Who has the standard input, and its children, write lines together, and
 * are asked in the middle of one: what is not whole lines goes in frames, which are.
 */
static bool
is_plain(const struct handler_event *c, const char *text, uint64_t len)
{
	return !frame_needed(text, len) && (len == 0 || !files_has_input(c) ||
		(len <= CONSOLE_WRITE_MAX && text[len - 1] == '\n'));
}

static long
write_console(const struct handler_event *c, unsigned long fd, uint64_t from, uint64_t len)
{
	const char *text = (const char *)from;
	struct line head;

	if (reach_read(from, len) != 0)
		return -E_FAULT;
	if (fd == 1)
		return is_plain(c, text, len) ? put_plain(text, len) :
			put_frames('o', "", text, len);
	head.len = 0;
	name_writer(&head);
	return put_frames('e', head.text, text, len);
}

/*
 * Where a descriptor writes to or reads from: 0, 1, 2 a standard stream, STREAM_NULL, THE_FILE,
 * THE_PIPE, or -E_BADF.
 */
static int
target(const struct handler_event *c, uint8_t use)
{
	struct opened stream, *o;
	int result = -E_BADF;

	files_lock();
	o = files_find(c, arg(c, 0), &stream);
	if (o != NULL && (o->flags & use) != 0)
		result = o->kind == OPENED_STREAM ? (int)o->handle : o->kind < OPENED_PIPE ?
			THE_FILE : (o->flags & OPENED_WHOLE) != 0 ? THE_SOCKET : THE_PIPE;
	files_unlock();
	return result;
}

/* Move bytes between an open file and memory, at an offset or at FILE_AT_OFFSET. */
static long
move_file(const struct handler_event *c, uint8_t use, struct iovec piece, uint64_t offset)
{
	struct opened stream, *o;
	long result = -E_BADF;

	files_lock();
	o = files_find(c, arg(c, 0), &stream);
	if (o != NULL && o->kind != OPENED_STREAM && (o->flags & use) != 0) {
		if (use == OPENED_READ)
			result = files_read(o, offset, (char *)piece.base, piece.len);
		else
			result = files_write(o, offset, (const char *)piece.base, piece.len);
	}
	files_unlock();
	return limits_tell(result);
}

/* At an offset that the caller gives. */
static long
move_at(const struct handler_event *c, uint8_t use)
{
	return (int64_t)arg(c, 3) < 0 ? -E_INVAL :
		move_file(c, use, (struct iovec){arg(c, 1), arg(c, 2)}, arg(c, 3));
}

static long
move(const struct handler_event *c, int to, uint8_t use, struct iovec piece)
{
	if (to < 0)
		return to;
	if (to == STREAM_NULL)
		return use == OPENED_READ ? 0 : (long)piece.len;
	if (to == THE_PIPE || to == THE_SOCKET)
		return pipe_move(c, use, piece);
	if (to == THE_FILE)
		return move_file(c, use, piece, FILE_AT_OFFSET);
	if (use == OPENED_READ) {
		long result = terminal_check_reader(c, (uint32_t)to);

		return result != 0 ? result : pipe_move(c, use, piece);
	}
	return write_console(c, (unsigned long)to, piece.base, piece.len);
}

long
io_write(const struct handler_event *c)
{
	return move(c, target(c, OPENED_WRITE), OPENED_WRITE, (struct iovec){arg(c, 1), arg(c, 2)});
}

long
io_read(const struct handler_event *c)
{
	return move(c, target(c, OPENED_READ), OPENED_READ, (struct iovec){arg(c, 1), arg(c, 2)});
}

long
io_pread(const struct handler_event *c)
{
	return target(c, OPENED_READ) == 0 ? -LINUX_ESPIPE : move_at(c, OPENED_READ);
}

long
io_pwrite(const struct handler_event *c)
{
	int to = target(c, OPENED_WRITE);

	return to == 1 || to == 2 ? -LINUX_ESPIPE : move_at(c, OPENED_WRITE);
}

/* Pieces that are joined, and what has been written before them. */
struct joined {
	int to;
	long sum;
	uint64_t held;
	char text[CONSOLE_WRITE_MAX];
};

/* False: it cannot go on; the result is in j->sum then. */
static bool
write_piece(const struct handler_event *c, struct joined *j, struct iovec piece)
{
	long result = piece.len != 0 ? move(c, j->to, OPENED_WRITE, piece) : 0;

	if (result > 0)
		j->sum += result;
	else if (j->sum == 0)
		j->sum = result;
	return result >= 0 && (uint64_t)result == piece.len;
}

static bool
write_held(const struct handler_event *c, struct joined *j)
{
	uint64_t held = j->held;

	j->held = 0;
	return write_piece(c, j, (struct iovec){(uint64_t)j->text, held});
}

/* Short pieces are joined, so that a line stays in one piece. */
static __attribute__((noinline)) long
write_pieces(const struct handler_event *c, int to)
{
	const struct iovec *v = (const struct iovec *)arg(c, 1);
	struct joined j;

	j.to = to;
	j.sum = 0;
	j.held = 0;
	for (unsigned long i = 0; i < arg(c, 2); i++) {
		if (j.held + v[i].len > sizeof(j.text) && !write_held(c, &j))
			return j.sum;
		if (v[i].len > sizeof(j.text)) {
			if (!write_piece(c, &j, v[i]))
				return j.sum;
			continue;
		}
		if (reach_read(v[i].base, v[i].len) != 0) {
			write_held(c, &j);
			return j.sum > 0 ? j.sum : -E_FAULT;
		}
		memcpy(j.text + j.held, (const void *)v[i].base, v[i].len);
		j.held += v[i].len;
	}
	write_held(c, &j);
	return j.sum;
}

long
io_writev(const struct handler_event *c)
{
	int to = target(c, OPENED_WRITE);

	if (to < 0 || arg(c, 2) > PIECES_MAX)
		return to < 0 ? to : -E_INVAL;
	return to == THE_SOCKET ? socket_pieces_call(c, OPENED_WRITE) : write_pieces(c, to);
}

/*
 * Piece after piece, until one is not filled. Of the standard input and of a pipe one piece is
 * enough: more would wait.
 */
long
io_readv(const struct handler_event *c)
{
	const struct iovec *v = (const struct iovec *)arg(c, 1);
	int to = target(c, OPENED_READ);
	long sum = 0;

	if (to < 0 || arg(c, 2) > PIECES_MAX)
		return to < 0 ? to : -E_INVAL;
	if (to == THE_SOCKET)
		return socket_pieces_call(c, OPENED_READ);
	for (unsigned long i = 0; i < arg(c, 2); i++) {
		long result = v[i].len != 0 ? move(c, to, OPENED_READ, v[i]) : 0;

		if (result < 0)
			return sum > 0 ? sum : result;
		sum += result;
		if ((uint64_t)result < v[i].len || (sum > 0 && to != THE_FILE))
			break;
	}
	return sum;
}

/* Piece after piece at an offset that the caller gives. */
static long
pieces_at(const struct handler_event *c, uint8_t use)
{
	const struct iovec *v = (const struct iovec *)arg(c, 1);
	uint64_t at = arg(c, 3);
	long result = target(c, use);

	if (result < 0 || arg(c, 2) > PIECES_MAX || (int64_t)at < 0)
		return result < 0 ? result : -E_INVAL;
	if (result <= 2)
		return -LINUX_ESPIPE;
	for (unsigned long i = 0; i < arg(c, 2); i++) {
		result = v[i].len != 0 ? move_file(c, use, v[i], at) : 0;
		at += result > 0 ? (uint64_t)result : 0;
		if (result < 0 || (uint64_t)result < v[i].len)
			break;
	}
	return at > arg(c, 3) || result > 0 ? (long)(at - arg(c, 3)) : result;
}

/* The second kind has flags, of which there is none, and -1 for the descriptor's own offset. */
long
io_vector_at(const struct handler_event *c, unsigned long nr)
{
	bool is_read = nr == SYS_preadv || nr == SYS_preadv2, is_second = nr >= SYS_preadv2;

	if (is_second && arg(c, 5) != 0)
		return -FILE_EOPNOTSUPP;
	if (is_second && (int64_t)arg(c, 3) == -1)
		return is_read ? io_readv(c) : io_writev(c);
	return pieces_at(c, is_read ? OPENED_READ : OPENED_WRITE);
}

/* Different at every call; not secret. */
long
io_getrandom(const struct handler_event *c)
{
	unsigned char *to = (unsigned char *)arg(c, 0);
	uint64_t state = 0;

	if ((arg(c, 2) & ~(unsigned long)RANDOM_FLAGS) != 0)
		return -E_INVAL;
	if (reach_write(arg(c, 0), arg(c, 1)) != 0)
		return -E_FAULT;
	kclock(&state);
	state ^= (uint64_t)c ^ (uint64_t)kthread_self() << 40;
	for (unsigned long i = 0; i < arg(c, 1); i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[i] = (unsigned char)(state >> 56);
	}
	return (long)arg(c, 1);
}

long
io_uname(const struct handler_event *c)
{
	char *u = (char *)arg(c, 0);

	memset(u, 0, 6 * NAME_BYTES);
	str_copy(u, NAME_BYTES, "Atoll");
	str_copy(u + NAME_BYTES, NAME_BYTES, "atoll");
	str_copy(u + 2 * NAME_BYTES, NAME_BYTES, "0.1");
	str_copy(u + 3 * NAME_BYTES, NAME_BYTES, "0.1");
	str_copy(u + 4 * NAME_BYTES, NAME_BYTES, "riscv64");
	return 0;
}

/* What a clock had when the machine started: all but some had 0, and these if nobody has said. */
__attribute__((noinline)) uint64_t
time_began(unsigned long clock)
{
	static uint64_t known;		/* and 1; 0: not yet */
	uint64_t began = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct file f;

	if (clock > CLOCK_LAST || (CLOCKS_OF_WORLD >> clock & 1) == 0)
		return 0;
	if (began != 0)
		return began - 1;
	files_lock();
	began = file_open(FRAME_INPUT, &f) == 0 && f.bytes >= sizeof(struct frame_input) ?
		frame_began(f.data) : 0;
	files_unlock();
	__atomic_store_n(&known, began + 1, __ATOMIC_RELAXED);
	return began;
}

/* A clock that does not run always; or it is none. */
static bool
is_time_used(int32_t clock)
{
	return clock < 0 || clock > CLOCK_LAST || clock == CLOCK_PROCESS_TIME ||
		clock == CLOCK_THREAD_TIME;
}

long
time_clock_gettime(const struct handler_event *c)
{
	uint64_t *to = (uint64_t *)arg(c, 1);
	uint64_t now = 0;

	if (is_time_used((int32_t)arg(c, 0))) {
		long result = usage_clock(c, (int32_t)arg(c, 0), &now);

		if (result < 0)
			return result;
	} else {
		kclock(&now);
		now += time_began(arg(c, 0));
	}
	to[0] = now / NS_PER_S;
	to[1] = now % NS_PER_S;
	return 0;
}

/* There is one zone of time. */
long
time_of_day(const struct handler_event *c)
{
	uint64_t *to = (uint64_t *)arg(c, 0), now = 0;

	kclock(&now);
	now += time_began(0);
	if (to != NULL) {
		to[0] = now / NS_PER_S;
		to[1] = now % NS_PER_S / 1000;
	}
	if (arg(c, 1) != 0)
		*(uint64_t *)arg(c, 1) = 0;
	return 0;
}

/* All of them are as fine as the machine's. */
long
time_clock_getres(const struct handler_event *c)
{
	uint64_t *to = (uint64_t *)arg(c, 1), ns;

	if (is_time_used((int32_t)arg(c, 0)) && usage_clock(c, (int32_t)arg(c, 0), &ns) < 0)
		return -E_INVAL;
	if (to != NULL) {
		to[0] = 0;
		to[1] = 1;
	}
	return 0;
}

uint64_t
time_after(uint64_t now, const uint64_t *span)
{
	uint64_t most = (FOREVER - now) / NS_PER_S;

	return span[0] < most ? now + span[0] * NS_PER_S + span[1] : FOREVER;
}

long
time_sleep_until(const struct handler_event *c, uint64_t end)
{
	static uint32_t never;		/* nobody wakes who waits here */
	long result;

	while ((result = signal_futex_wait(c, (unsigned long)&never, 0, end)) == 0)
		continue;
	return result == -E_INTR ? result : 0;
}

/* What was left of it. */
static void
tell_rest(uint64_t end, uint64_t *to)
{
	uint64_t now = 0, left;

	kclock(&now);
	left = end > now ? end - now : 0;
	to[0] = left / NS_PER_S;
	to[1] = left % NS_PER_S;
}

long
time_sleep(const struct handler_event *c, bool is_absolute)
{
	int first = c->number == SYS_nanosleep ? 0 : 2;
	const uint64_t *t = (const uint64_t *)arg(c, first);
	uint64_t *rest = (uint64_t *)arg(c, first + 1);
	uint64_t now = 0, end;
	long result;

	if (t[1] >= NS_PER_S || (c->number != SYS_nanosleep && arg(c, 0) > CLOCK_LAST))
		return -E_INVAL;
	if (!is_absolute)
		kclock(&now);
	end = time_after(now, t);
	if (is_absolute && end != FOREVER) {
		uint64_t began = time_began(arg(c, 0));

		end = end > began ? end - began : 0;
	}
	result = time_sleep_until(c, end);
	if (result == -E_INTR && rest != NULL && !is_absolute)
		tell_rest(end, rest);
	return result == -E_INTR ? -CALL_INTERRUPTED : result;
}
