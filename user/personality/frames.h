/* SPDX-License-Identifier: MIT
 *
 * What the personality says on the console besides plain text, to whoever reads the machine's
 * console (tools/run/streams.py):
 *
 *	DLE 'e' WRITER ';' TEXT DLE NL	text for standard error; WRITER: hex number of a thread of
 *					the machine
 *	DLE 'o' TEXT DLE NL		text for standard output that plain text cannot say: it has
 *					a DLE
 * 	DLE 'r' SEQUENCE '.' NUMBER DLE NL	up to (hex) NUMBER bytes of standard input are
 *						wanted, with the SEQUENCE-th question. The answer
 *						appears in the boot archive's member FRAME_INPUT, a
 *						struct frame_input
 *
 *	DLE 't' FLAGS DLE NL	a shell has the terminal: keys that are signals are counted (struct
 *				frame_input); (hex) FLAGS, TERMINAL_*: how it behaves from now on
 *
 * In TEXT a DLE stands twice. A frame is one write to the console and ends with a newline, so the
 * kernel keeps it in one piece.
 */
#ifndef USER_PERSONALITY_FRAMES_H
#define USER_PERSONALITY_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/limits.abi.h>

#define FRAME_DLE 0x10
#define FRAME_END_BYTES 2
#define FRAME_INPUT "dev/input"

#define TERMINAL_LINES 1	/* lines can be edited until they are read (ICANON) */
#define TERMINAL_ECHO 2
#define TERMINAL_SIGNALS 4	/* keys are signals (ISIG) */
#define TERMINAL_NEWLINES 8	/* the return key is a newline (ICRNL) */

/* Written from outside the machine, `sequence` last; little-endian. */
struct frame_input {
	uint32_t sequence;	/* of the last question that was answered */
	uint32_t bytes;		/* that follow; 0: the end of the input */
	/* bits: which of the streams 0, 1 and 2 is a terminal; its size */
	uint32_t terminals;
	uint32_t rows, columns;
	/* how often the keys for SIGINT, SIGQUIT and SIGTSTP were typed, the size has changed */
	uint32_t typed[4];
	/* when the machine's clock began, in ns since 1970, the low word first; 0: not said */
	uint32_t began[2];
	uint32_t reserved[5];
	unsigned char data[];
};

static inline uint64_t
frame_began(const struct frame_input *f)
{
	return f->began[0] | (uint64_t)f->began[1] << 32;
}

struct frame {
	uint32_t head;		/* bytes before the text */
	uint32_t len;
	char text[CONSOLE_WRITE_MAX];
};

/*
 * Begin a frame; add text of which as much as fits is taken (returns how much); end it: `text` is
 * then ready to be written.
 */
void frame_begin(struct frame *f, char kind, const char *head);
size_t frame_add(struct frame *f, const char *text, size_t len);
void frame_end(struct frame *f);

/* Has plain text a byte that it cannot say? */
bool frame_needed(const char *text, size_t len);

#endif
