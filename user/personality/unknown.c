/* SPDX-License-Identifier: MIT
 *
 * Calls that are not there answer ENOSYS. With `--debug` the names of Linux's calls are in the boot
 * archive, and the first call of each number in a process is said.
 */
#include <atoll/server.h>
#include <user/personality/line.h>
#include <user/personality/personality.h>

#define WORD_BITS 32
#define NUMBERS 512			/* calls above these are said each time */

/* Its name in the boot archive; NULL: it has none. */
static const char *
name_of(unsigned long nr)
{
	static uint64_t archive[2];	/* address, bytes */
	const char *name;

	if (nr >= personality_info.calls || (archive[0] == 0 && karchive_map(SELF, archive) < 0))
		return NULL;
	name = (const char *)archive[0] + personality_info.calls_at + nr * PERSONALITY_CALL_BYTES;
	return name[0] != 0 ? name : NULL;
}

long
unknown_call(unsigned long nr)
{
	static uint32_t said[NUMBERS / WORD_BITS];
	uint32_t bit = 1u << nr % WORD_BITS;
	struct line l;
	const char *name;

	if (personality_info.calls == 0 || (nr < NUMBERS && (__atomic_fetch_or(
		&said[nr / WORD_BITS], bit, __ATOMIC_RELAXED) & bit) != 0))
		return -E_NOSYS;
	name = name_of(nr);
	l.len = 0;
	line_text(&l, "atoll: ");
	line_text(&l, (const char *)personality_info.program);
	line_text(&l, ", process ");
	line_number(&l, (uint32_t)personality_info.pid, 10);
	line_text(&l, ": there is no ");
	line_text(&l, name != NULL ? name : "such call");
	line_text(&l, " (system call ");
	line_number(&l, nr, 10);
	line_text(&l, "): ENOSYS\n");
	line_say(&l);
	return -E_NOSYS;
}
