/* SPDX-License-Identifier: MIT
 *
 * Devices under the coroutine scheduler: a lender opens one and gives it to drivers, one after the
 * other, while the device goes on to count up and interrupt. Each driver ends at any moment: by
 * itself when it has seen all, killed, or because its handle is revoked; the lender keeps its own
 * handle, or gives it away and opens the device again. What the device counted is seen by the
 * driver that serves it last, who looks at the registers only when an interrupt tells it to: one
 * that is lost is a run that hangs. A device that nobody serves interrupts once. In the end
 * everything is back.
 *
 * usage: kernel_devices [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define ROUNDS 6
#define STEPS 12
#define DEVICE 1
#define BIT 2
#define PLACE 0x200000ul
#define RW (PAGE_READ | PAGE_WRITE)
#define STACK_BYTES (24 * 1024)
#define ARENA 2			/* pages */

enum end { ALL_SEEN, KILLED, REVOKED, ENDS };

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][STACK_BYTES];
	struct context mine;
	struct device_info info;
	struct proc_status status;
	uint64_t stats, address;
} shared;

static struct {
	unsigned round;
	enum end end;
	uint32_t made;			/* what the device has counted */
	uint32_t seen;			/* of that, by drivers */
	bool last;			/* it will count no more */
	bool gives;			/* the lender keeps no handle */
	bool dying;
	int handle, driver_handle;
} run;

static unsigned long all_ends[ENDS], all_given, all_pending;

/* --- a driver --- */

/* Whose handle is dead ends. */
#define driver_check(condition) do { \
	bool holds = (condition); \
\
	coro_check(holds || run.dying); \
	if (!holds) \
		program_exit(); \
} while (0)

static void
driver(uintptr_t arg)
{
	int device = run.driver_handle;
	long e = KC(KC_PAGE_MAP, SELF, PLACE, device, 0, 1, RW);

	(void)arg;
	driver_check(e == 0);
	all_pending += coro_device(DEVICE)->is_taken;
	driver_check(KC(KC_EVENT_BIND, EVENT_INTERRUPT, device, BIT) == 0);
	while (!run.last || run.seen < run.made) {
		driver_check(KC(KC_THREAD_SLEEP, 1 << BIT, FOREVER) == 1 << BIT);
		run.seen = coro_user_load32(PLACE);
		driver_check(KC(KC_DEVICE_DONE, device) == 0);
	}
	program_exit();
}

/* --- who lends it the device, and the device --- */

static void
count_up(void)
{
	*(uint32_t *)coro_device_page(DEVICE) = ++run.made;
	coro_device_raise(DEVICE);
}

static void
open_device(void)
{
	long memory = KC(KC_MEMORY_CREATE, ARENA);

	run.handle = (int)KC(KC_DEVICE_OPEN, PROGRAM_AUTHORITY, DEVICE, &shared.info);
	coro_check(run.handle > 0 && shared.info.kind == DEVICE_TEST);
	coro_check(KC(KC_DEVICE_OPEN, PROGRAM_AUTHORITY, DEVICE, &shared.info) == -E_BUSY);
	coro_check(KC(KC_DEVICE_MEMORY, run.handle, memory, &shared.address) == 0);
	coro_check(KC(KC_HANDLE_CLOSE, memory) == 0);
}

/* The device works, and so do others. */
static void
work(unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		switch (coro_random(4)) {
		case 0: KC(KC_VOID_REMOTE); break;
		case 1: KC(KC_THREAD_YIELD); break;
		case 2: coro_user_point(); break;
		default: count_up();
		}
	}
}

/* However often it interrupts, nobody serves it: one interrupt is taken at most. */
static void
rage(void)
{
	unsigned taken = coro_device(DEVICE)->taken;

	for (unsigned i = 0; i < STEPS; i++) {
		coro_device_raise(DEVICE);
		KC(KC_VOID_REMOTE);
	}
	coro_check(coro_device(DEVICE)->taken <= taken + 1);
}

static void
end_driver(int proc, int view)
{
	if (run.end == ALL_SEEN) {
		run.last = true;
		count_up();
		return;
	}
	run.dying = true;
	if (run.end == KILLED)
		coro_check(KC(KC_PROC_KILL, proc, 9) == 0);
	else
		coro_check(KC(KC_HANDLE_REVOKE, view) == 0);
}

static void
one_round(unsigned round)
{
	int proc = (int)KC(KC_PROC_CREATE), view = run.handle;
	unsigned stopped = coro_device(DEVICE)->stopped;

	run.round = round;
	run.end = (enum end)coro_random(ENDS);
	run.gives = run.end != REVOKED && coro_random(3) == 0;
	run.last = run.dying = false;
	if (run.end == REVOKED)
		view = (int)KC(KC_HANDLE_DUPLICATE, run.handle, SELF, RIGHTS_ALL | HANDLE_VIEW);
	run.driver_handle = (int)KC(KC_HANDLE_DUPLICATE, view, proc,
		RIGHTS_ALL | (run.gives ? HANDLE_MOVE : 0));
	coro_check(proc > 0 && view > 0 && run.driver_handle > 0);
	coro_user_context(&shared.mine, driver, shared.stack[round] + STACK_BYTES, 0);
	coro_check(KC(KC_PROC_START, proc, &shared.mine, ANY_CORE) == 0);
	work(coro_random(STEPS));
	end_driver(proc, view);
	work(run.end == ALL_SEEN ? 0 : coro_random(STEPS));
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
	if (view != run.handle)
		coro_check(KC(KC_HANDLE_CLOSE, view) == 0);
	coro_check(coro_device(DEVICE)->stopped == stopped + run.gives);
	all_ends[run.end]++;
	all_given += run.gives;
	if (run.gives) {
		coro_check(!coro_device(DEVICE)->is_on);
		open_device();
		count_up();
	}
	rage();
}

static void
program(uintptr_t arg)
{
	uint64_t frames, pieces;

	(void)arg;
	frames = program_stats(STATS_FRAMES_FREE);
	pieces = program_stats(STATS_PIECE_PAGES);
	open_device();
	for (unsigned i = 0; i < ROUNDS; i++)
		one_round(i);
	coro_check(KC(KC_HANDLE_CLOSE, run.handle) == 0);
	coro_check(!coro_device(DEVICE)->is_on);
	coro_check(program_stats(STATS_PROCS) == 1);
	coro_check(program_stats(STATS_FRAMES_FREE) == frames);
	coro_check(program_stats(STATS_PIECE_PAGES) == pieces);
	coro_finish(0);
}

static void
dump(void)
{
	printf("round %u, end %d, given %d, made %u, seen %u\n", run.round, run.end, run.gives,
		run.made, run.seen);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	(void)record;
	(void)seed;
	*(uint32_t *)coro_device_page(DEVICE) = 0;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "no_interrupt_of_a_device_is_lost",
		.seeds = 1500, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .main = program, .begin = begin, .dump = dump};
	unsigned long count;

	program_has_authority = true;
	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	if (count >= 100 && (all_ends[ALL_SEEN] == 0 || all_ends[KILLED] == 0 ||
		all_ends[REVOKED] == 0 || all_given == 0 || all_pending == 0)) {
		printf("FAIL %s: %lu %lu %lu drivers, %lu given away, %lu pending\n", test.name,
			all_ends[0], all_ends[1], all_ends[2], all_given, all_pending);
		return 1;
	}
	printf("ok %s (%lu seeds; drivers: %lu ended, %lu killed, %lu revoked; %lu began with an "
		"interrupt)\n", test.name, count, all_ends[ALL_SEEN], all_ends[KILLED],
		all_ends[REVOKED], all_pending);
	return 0;
}
