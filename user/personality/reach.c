/* SPDX-License-Identifier: MIT
 *
 * See reach.h.
 */
#include <user/personality/files.h>
#include <user/personality/reach.h>

#define PATH_MAX 4096
#define TEXTS_MAX 65536		/* of a list */
#define REACH_WORD 3		/* a write is that of the word that has the byte */

int reach_load(uint64_t at) __attribute__((visibility("hidden")));
int reach_store(uint64_t at) __attribute__((visibility("hidden")));
extern const char reach_fixup[] __attribute__((visibility("hidden")));
extern const char reach_end[] __attribute__((visibility("hidden")));

/*
 * One byte is read: its value; or a word is written as it is, by an atomic OR with 0, so that other
 * threads lose nothing: 0. Both: -E_FAULT. They use no stack, so that the fixup returns for them.
 */
__asm__(".pushsection .text.reach, \"ax\"\n"
	"	.hidden reach_load, reach_store, reach_fixup, reach_end\n"
	"	.globl reach_load, reach_store, reach_fixup, reach_end\n"
	"reach_load:\n"
	"	lbu a0, 0(a0)\n"
	"	ret\n"
	"reach_store:\n"
	"	amoor.w zero, zero, (a0)\n"
	"	li a0, 0\n"
	"	ret\n"
	"reach_end:\n"
	"reach_fixup:\n"
	"	li a0, -14\n"
	"	ret\n"
	"	.popsection");

_Static_assert(E_FAULT == 14, "reach_fixup");

long
reach_begin(int proc)
{
	return kproc_handler(proc, HANDLE_FIXUP, (unsigned long)reach_fixup,
		(unsigned long)reach_load, (unsigned long)reach_end - (unsigned long)reach_load);
}

/* Several threads may begin at once. */
static void
begin(void)
{
	uint32_t *has_fixup = &personality_info.has_fixup;

	if (__atomic_load_n(has_fixup, __ATOMIC_RELAXED) != 0)
		return;
	reach_begin(SELF);
	__atomic_store_n(has_fixup, 1, __ATOMIC_RELAXED);
}

int
reach_read(uint64_t at, uint64_t bytes)
{
	uint64_t page = personality_info.page_bytes, last = at + bytes - 1;

	if (bytes == 0)
		return 0;
	if (last < at)
		return -E_FAULT;
	for (; at / page != last / page; at = (at / page + 1) * page)
		if (reach_load(at) < 0)
			return -E_FAULT;
	return reach_load(last) < 0 ? -E_FAULT : 0;
}

int
reach_write(uint64_t at, uint64_t bytes)
{
	uint64_t page = personality_info.page_bytes, last = at + bytes - 1;

	if (bytes == 0)
		return 0;
	if (last < at)
		return -E_FAULT;
	for (; at / page != last / page; at = (at / page + 1) * page)
		if (reach_store(at & ~(uint64_t)REACH_WORD) < 0)
			return -E_FAULT;
	return reach_store(last & ~(uint64_t)REACH_WORD);
}

/* Where it ends: behind its last byte, or an error. */
static long
text_bytes(uint64_t at, uint64_t most)
{
	uint64_t page = personality_info.page_bytes;

	for (uint64_t n = 0; n < most; n++) {
		if ((n == 0 || (at + n) % page == 0) && reach_load(at + n) < 0)
			return -E_FAULT;
		if (*(const char *)(at + n) == 0)
			return (long)n + 1;
	}
	return -LINUX_ENAMETOOLONG;
}

int
reach_text(uint64_t at)
{
	long bytes = text_bytes(at, PATH_MAX);

	return bytes < 0 ? (int)bytes : 0;
}

int
reach_texts(uint64_t at)
{
	uint64_t page = personality_info.page_bytes;

	for (uint64_t n = 0; at != 0 && n < TEXTS_MAX; n++) {
		uint64_t place = at + n * sizeof(uint64_t), text;

		if ((n == 0 || place % page < sizeof(uint64_t)) &&
			reach_read(place, sizeof(uint64_t)) != 0)
			return -E_FAULT;
		text = *(const uint64_t *)place;
		if (text == 0)
			return 0;
		if (text_bytes(text, ~0ull) < 0)
			return -E_FAULT;
	}
	return 0;
}

/* What an argument points to. MAYBE: it may be a null pointer. */
enum points {
	TO_NOTHING, TO_TEXT, TO_TEXT_MAYBE, TO_TEXTS, READ_4_MAYBE, READ_8, READ_8_MAYBE, READ_16,
	READ_16_MAYBE, READ_24_MAYBE, READ_32, READ_32_MAYBE, READ_128,
	READ_PIECES, WRITE_4, WRITE_4_MAYBE, WRITE_8,
	WRITE_8_MAYBE, WRITE_16, WRITE_16_MAYBE, WRITE_24_MAYBE, WRITE_32, WRITE_32_MAYBE, WRITE_56,
	WRITE_POLLED, WRITE_SET, WRITE_112, WRITE_120, WRITE_128, WRITE_128_MAYBE, WRITE_144,
	WRITE_144_MAYBE, WRITE_256, WRITE_390,
};

#define POINTERS 6
#define PIECES_MAX 1024		/* struct iovec, in a call */
#define POLLED_MAX 1024
#define SET_BITS_MAX 1024
#define WORD_BITS 64

/* In the order of the numbers. */
static const struct pointing {
	uint16_t call;
	uint8_t points[POINTERS];
} pointing[] = {
	{SYS_epoll_pwait, {0, 0, 0, 0, READ_8_MAYBE}},
	{SYS_mknodat, {0, TO_TEXT}},
	{SYS_mkdirat, {0, TO_TEXT}},
	{SYS_unlinkat, {0, TO_TEXT}},
	{SYS_symlinkat, {TO_TEXT, 0, TO_TEXT}},
	{SYS_linkat, {0, TO_TEXT, 0, TO_TEXT}},
	{SYS_statfs, {TO_TEXT, WRITE_120}},
	{SYS_fstatfs, {0, WRITE_120}},
	{SYS_truncate, {TO_TEXT}},
	{SYS_faccessat, {0, TO_TEXT}},
	{SYS_chdir, {TO_TEXT}},
	{SYS_fchmodat, {0, TO_TEXT}},
	{SYS_fchownat, {0, TO_TEXT}},
	{SYS_openat, {0, TO_TEXT}},
	{SYS_pipe2, {WRITE_8}},
	{SYS_readv, {0, READ_PIECES}},
	{SYS_writev, {0, READ_PIECES}},
	{SYS_preadv, {0, READ_PIECES}},
	{SYS_pwritev, {0, READ_PIECES}},
	{SYS_sendfile, {0, 0, WRITE_8_MAYBE}},
	{SYS_pselect6, {0, WRITE_SET, WRITE_SET, WRITE_SET, READ_16_MAYBE, READ_16_MAYBE}},
	{SYS_ppoll, {WRITE_POLLED, 0, READ_16_MAYBE, READ_8_MAYBE}},
	{SYS_signalfd4, {0, READ_8}},
	{SYS_readlinkat, {0, TO_TEXT}},
	{SYS_fstatat, {0, TO_TEXT, WRITE_128}},
	{SYS_fstat, {0, WRITE_128}},
	{SYS_timerfd_settime, {0, 0, READ_32, WRITE_32_MAYBE}},
	{SYS_timerfd_gettime, {0, WRITE_32}},
	{SYS_utimensat, {0, TO_TEXT_MAYBE, READ_32_MAYBE}},
	{SYS_waitid, {0, 0, WRITE_128_MAYBE, 0, WRITE_144_MAYBE}},
	{SYS_get_robust_list, {0, WRITE_8, WRITE_8}},
	{SYS_nanosleep, {READ_16, WRITE_16_MAYBE}},
	{SYS_getitimer, {0, WRITE_32}},
	{SYS_setitimer, {0, READ_32_MAYBE, WRITE_32_MAYBE}},
	{SYS_timer_create, {0, READ_24_MAYBE, WRITE_4}},
	{SYS_timer_gettime, {0, WRITE_32}},
	{SYS_timer_settime, {0, 0, READ_32, WRITE_32_MAYBE}},
	{SYS_clock_gettime, {0, WRITE_16}},
	{SYS_clock_getres, {0, WRITE_16_MAYBE}},
	{SYS_clock_nanosleep, {0, 0, READ_16, WRITE_16_MAYBE}},
	{SYS_sched_setparam, {0, READ_4_MAYBE}},
	{SYS_sched_setscheduler, {0, 0, READ_4_MAYBE}},
	{SYS_sched_getparam, {0, WRITE_4_MAYBE}},
	{SYS_sched_rr_get_interval, {0, WRITE_16}},
	{SYS_sigaltstack, {READ_24_MAYBE, WRITE_24_MAYBE}},
	{SYS_rt_sigsuspend, {READ_8}},
	{SYS_rt_sigaction, {0, READ_24_MAYBE, WRITE_24_MAYBE}},
	{SYS_rt_sigprocmask, {0, READ_8_MAYBE, WRITE_8_MAYBE}},
	{SYS_rt_sigpending, {WRITE_8}},
	{SYS_rt_sigtimedwait, {READ_8, WRITE_128_MAYBE, READ_16_MAYBE}},
	{SYS_rt_sigqueueinfo, {0, 0, READ_128}},
	{SYS_getresuid, {WRITE_4, WRITE_4, WRITE_4}},
	{SYS_getresgid, {WRITE_4, WRITE_4, WRITE_4}},
	{SYS_times, {WRITE_32_MAYBE}},
	{SYS_uname, {WRITE_390}},
	{SYS_getrusage, {0, WRITE_144}},
	{SYS_getcpu, {WRITE_4_MAYBE, WRITE_4_MAYBE}},
	{SYS_gettimeofday, {WRITE_16_MAYBE, WRITE_8_MAYBE}},
	{SYS_sysinfo, {WRITE_112}},
	{SYS_mq_open, {TO_TEXT, 0, 0, READ_24_MAYBE}},
	{SYS_mq_unlink, {TO_TEXT}},
	{SYS_mq_timedsend, {0, 0, 0, 0, READ_16_MAYBE}},
	{SYS_mq_timedreceive, {0, 0, 0, WRITE_4_MAYBE, READ_16_MAYBE}},
	{SYS_mq_notify, {0, READ_16_MAYBE}},
	{SYS_mq_getsetattr, {0, READ_8_MAYBE, WRITE_32_MAYBE}},
	{SYS_socketpair, {0, 0, 0, WRITE_8}},
	{SYS_execve, {TO_TEXT, TO_TEXTS, TO_TEXTS}},
	{SYS_rt_tgsigqueueinfo, {0, 0, 0, READ_128}},
	{SYS_wait4, {0, WRITE_4_MAYBE, 0, WRITE_144_MAYBE}},
	{SYS_prlimit64, {0, 0, READ_16_MAYBE, WRITE_16_MAYBE}},
	{SYS_renameat2, {0, TO_TEXT, 0, TO_TEXT}},
	{SYS_memfd_create, {TO_TEXT}},
	{SYS_copy_file_range, {0, WRITE_8_MAYBE, 0, WRITE_8_MAYBE}},
	{SYS_preadv2, {0, READ_PIECES}},
	{SYS_pwritev2, {0, READ_PIECES}},
	{SYS_statx, {0, TO_TEXT, 0, 0, WRITE_256}},
	{SYS_faccessat2, {0, TO_TEXT}},
	{SYS_epoll_pwait2, {0, 0, 0, READ_16_MAYBE, READ_8_MAYBE}},
	{SYS_fchmodat2, {0, TO_TEXT}},
	{SYS_zio, {0, 0, 0, 0, WRITE_56}},
	{SYS_execac, {0, TO_TEXT, TO_TEXTS, TO_TEXTS}},
};

/* The bytes of what has one size, and what is done with them. */
static const struct {
	uint16_t bytes;
	uint8_t is_written;
	uint8_t may_be_null;
} sizes[] = {
	[READ_4_MAYBE] = {4, 0, 1}, [READ_8] = {8, 0, 0},
	[READ_8_MAYBE] = {8, 0, 1}, [READ_16] = {16, 0, 0},
	[READ_16_MAYBE] = {16, 0, 1}, [READ_24_MAYBE] = {24, 0, 1}, [READ_32] = {32, 0, 0},
	[READ_128] = {128, 0, 0},
	[READ_32_MAYBE] = {32, 0, 1}, [WRITE_4] = {4, 1, 0}, [WRITE_4_MAYBE] = {4, 1, 1},
	[WRITE_8] = {8, 1, 0},
	[WRITE_8_MAYBE] = {8, 1, 1}, [WRITE_16] = {16, 1, 0}, [WRITE_16_MAYBE] = {16, 1, 1},
	[WRITE_24_MAYBE] = {24, 1, 1}, [WRITE_32] = {32, 1, 0}, [WRITE_32_MAYBE] = {32, 1, 1},
	[WRITE_56] = {56, 1, 0},
	[WRITE_112] = {112, 1, 0}, [WRITE_120] = {120, 1, 0},
	[WRITE_128] = {128, 1, 0}, [WRITE_128_MAYBE] = {128, 1, 1},
	[WRITE_144] = {144, 1, 0}, [WRITE_144_MAYBE] = {144, 1, 1},
	[WRITE_256] = {256, 1, 0}, [WRITE_390] = {390, 1, 0},
};

/* Lists, whose length is another argument. */
static long
reach_list(const struct handler_event *c, enum points what, uint64_t at)
{
	uint64_t bits = arg(c, 0);

	switch (what) {
	case READ_PIECES:
		return arg(c, 2) > PIECES_MAX ? 0 : reach_read(at, arg(c, 2) *
			sizeof(struct iovec));
	case WRITE_POLLED:
		return arg(c, 1) > POLLED_MAX ? 0 : reach_write(at, arg(c, 1) * sizeof(uint64_t));
	case WRITE_SET:
		return at == 0 || bits > SET_BITS_MAX ? 0 : reach_write(at,
			(bits + WORD_BITS - 1) / WORD_BITS * sizeof(uint64_t));
	default: return 0;
	}
}

static long
reach_argument(const struct handler_event *c, enum points what, uint64_t at)
{
	switch (what) {
	case TO_NOTHING: return 0;
	case TO_TEXT: return reach_text(at);
	case TO_TEXT_MAYBE: return at == 0 ? 0 : reach_text(at);
	case TO_TEXTS: return reach_texts(at);
	case READ_PIECES:
	case WRITE_POLLED:
	case WRITE_SET: return reach_list(c, what, at);
	default: break;
	}
	if (at == 0 && sizes[what].may_be_null)
		return 0;
	return sizes[what].is_written ? reach_write(at, sizes[what].bytes) :
		reach_read(at, sizes[what].bytes);
}

/* NULL: the call has no pointers that are looked at here. */
static const struct pointing *
pointing_of(unsigned long nr)
{
	uint32_t low = 0, high = sizeof(pointing) / sizeof(pointing[0]);

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (pointing[middle].call == nr)
			return &pointing[middle];
		if (pointing[middle].call < nr)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

long
reach_arguments(const struct handler_event *c, unsigned long nr)
{
	const struct pointing *p = pointing_of(nr);
	long result = 0;

	begin();
	for (int i = 0; p != NULL && i < POINTERS && result == 0; i++)
		result = reach_argument(c, (enum points)p->points[i], arg(c, i));
	return result;
}
