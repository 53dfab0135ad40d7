/* SPDX-License-Identifier: MIT
 *
 * The terminal, process groups and sessions. The terminal is that of whoever has started the
 * machine, which edits lines and echoes: which streams are one, and its size, stand in the
 * machine's memory (frames.h). How it behaves, and which group is in the foreground, the process
 * server knows.
 */
#include <base/str.h>
#include <servers/file/client.h>
#include <servers/proc/client.h>
#include <user/personality/files.h>
#include <user/personality/frames.h>
#include <user/personality/process.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>
#include <user/personality/terminal.h>

#define SI_KERNEL 128

#define TCGETS 0x5401
#define TCSETS 0x5402
#define TCSETSF 0x5404
#define TIOCSCTTY 0x540e
#define TIOCGPGRP 0x540f
#define TIOCSPGRP 0x5410
#define TIOCGWINSZ 0x5413
#define TIOCGSID 0x5429

#define ICRNL 0x100
#define IXON 0x400
#define OPOST_ONLCR 5
#define CFLAGS 0xbf		/* 38400 bits a second, 8 in a character, it is read */
#define ISIG 1
#define ICANON 2
#define ECHO 8
#define LFLAGS_MORE 0x8a30	/* how erased characters and keys that are signals are echoed */

/* of asm-generic */
struct linux_termios {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line;
	uint8_t cc[19];
};

struct linux_winsize {
	uint16_t rows, columns, x, y;
};

static const struct frame_input *
input_frame(void)
{
	struct file f;

	return file_open(FRAME_INPUT, &f) == 0 && f.bytes >= sizeof(struct frame_input) ? f.data :
		NULL;
}

bool
terminal_is_stream(const struct handler_event *c, uint32_t stream)
{
	const struct frame_input *in = files_has_input(c) ? input_frame() : NULL;

	return in != NULL && (in->terminals >> (stream == STREAM_TERMINAL ? 0 : stream) & 1) != 0;
}

/* --- groups --- */

static long
ask_group(enum process_group_op op, long pid, long value)
{
	struct channel *ch;
	long result;
	int line;

	ch = process_line(&line);
	if (ch == NULL)
		return line;
	result = process_group(ch, op, (int)pid, (int)value);
	process_line_back(line);
	return result;
}

long
terminal_group_call(const struct handler_event *c, unsigned long nr)
{
	long pid = (int32_t)arg(c, 0), group = (int32_t)arg(c, 1);

	switch (nr) {
	case SYS_setpgid:
		return process_borrowed_group(c, pid, group) ? 0 :
			ask_group(PROCESS_GROUP_SET, pid, group == pid ? 0 : group);
	case SYS_getpgid: return ask_group(PROCESS_GROUP_OF, pid, 0);
	case SYS_getsid: return ask_group(PROCESS_SESSION_OF, pid, 0);
	default: return ask_group(PROCESS_SESSION_NEW, 0, 0);
	}
}

/* --- the terminal --- */

static long
get_modes(struct linux_termios *to)
{
	static const uint8_t keys[] = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22};
	long flags = ask_group(PROCESS_TERMINAL_OF, 0, 0);

	if (flags < 0)
		return flags;
	*to = (struct linux_termios){.oflag = OPOST_ONLCR, .cflag = CFLAGS,
		.iflag = IXON | ((flags & TERMINAL_NEWLINES) != 0 ? ICRNL : 0),
		.lflag = LFLAGS_MORE | ((flags & TERMINAL_LINES) != 0 ? ICANON : 0) |
			((flags & TERMINAL_ECHO) != 0 ? ECHO : 0) |
			((flags & TERMINAL_SIGNALS) != 0 ? ISIG : 0)};
	memcpy(to->cc, keys, sizeof(keys));
	return 0;
}

static long
set_modes(const struct linux_termios *from)
{
	long flags = ((from->lflag & ICANON) != 0 ? TERMINAL_LINES : 0) |
		((from->lflag & ECHO) != 0 ? TERMINAL_ECHO : 0) |
		((from->lflag & ISIG) != 0 ? TERMINAL_SIGNALS : 0) |
		((from->iflag & ICRNL) != 0 ? TERMINAL_NEWLINES : 0);

	return ask_group(PROCESS_TERMINAL_SET, 0, flags);
}

/* Who says which group is in the foreground is a shell, and its children can be stopped. */
static long
set_front(const struct handler_event *c, int32_t group)
{
	long result = process_borrowed_front(c, group) ? 0 : ask_group(PROCESS_FRONT_SET, 0, group);

	if (result == 0)
		personality_info.stops = 1;
	return result;
}

long
terminal_check_reader(const struct handler_event *c, uint32_t stream)
{
	const struct signal_note note = {.code = SI_KERNEL, .pid = personality_info.pid};

	if (!personality_info.stops || !terminal_is_stream(c, stream) ||
		ask_group(PROCESS_IS_FRONT, 0, 0) != 0)
		return 0;
	if (signal_is_ignored(SIGTTIN) || (thread_record(c)->mask & SIGNAL_OF(SIGTTIN)) != 0)
		return -E_IO;
	process_kill_call(0, SIGTTIN, 0);
	signal_pend(c, SIGTTIN, &note);
	return -CALL_RESTART;
}

static long
get_number(long number, int32_t *to)
{
	if (number >= 0)
		*to = (int32_t)number;
	return number < 0 ? number : 0;
}

/* Bytes that a request points to; 0: it does not. */
static uint64_t
argument_bytes(uint32_t request)
{
	switch (request) {
	case TCGETS:
	case TCSETS:
	case TCSETS + 1:
	case TCSETSF: return sizeof(struct linux_termios);
	case TIOCGPGRP:
	case TIOCSPGRP:
	case TIOCGSID: return sizeof(int32_t);
	case TIOCGWINSZ: return sizeof(struct linux_winsize);
	default: return 0;
	}
}

static int
reach_argument_of(uint32_t request, uint64_t at)
{
	bool is_told = request == TIOCSPGRP || (request >= TCSETS && request <= TCSETSF);

	return is_told ? reach_read(at, argument_bytes(request)) :
		reach_write(at, argument_bytes(request));
}

long
terminal_ioctl(const struct handler_event *c, const struct opened *o)
{
	uint64_t to = arg(c, 2);

	if (o->kind != OPENED_STREAM || o->handle == STREAM_NULL ||
		!terminal_is_stream(c, o->handle))
		return -LINUX_ENOTTY;
	if (reach_argument_of((uint32_t)arg(c, 1), to) != 0)
		return -E_FAULT;
	switch ((uint32_t)arg(c, 1)) {
	case TCGETS: return get_modes((struct linux_termios *)to);
	case TCSETS:
	case TCSETS + 1:
	case TCSETSF: return set_modes((const struct linux_termios *)to);
	case TIOCSCTTY: return 0;
	case TIOCGPGRP: return get_number(ask_group(PROCESS_FRONT_OF, 0, 0), (int32_t *)to);
	case TIOCSPGRP: return set_front(c, *(const int32_t *)to);
	case TIOCGSID: return get_number(ask_group(PROCESS_SESSION_OF, 0, 0), (int32_t *)to);
	case TIOCGWINSZ:
		*(struct linux_winsize *)to = (struct linux_winsize){
			.rows = (uint16_t)input_frame()->rows,
			.columns = (uint16_t)input_frame()->columns};
		return 0;
	default: return -LINUX_ENOTTY;
	}
}
