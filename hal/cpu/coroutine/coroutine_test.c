/* SPDX-License-Identifier: MIT
 *
 * Unit tests of the coroutine back end itself: runs repeat, memory is stale, and what it is there
 * to find is found.
 */
/*
 * needs: hal/cpu/coroutine/core.c hal/cpu/coroutine/device.c hal/cpu/coroutine/dump.c
 *	hal/cpu/coroutine/fibre.c
 * hal/cpu/coroutine/images.c
 *	hal/cpu/coroutine/memory.c hal/cpu/coroutine/order.c hal/cpu/coroutine/record.c
 *	hal/cpu/coroutine/run.c hal/cpu/coroutine/sched.c hal/cpu/coroutine/sites.c
 *	hal/cpu/coroutine/space.c hal/cpu/coroutine/switch.S hal/cpu/coroutine/trap.c
 *	hal/noc/shm/noc.c hal/noc/shm/events.c hal/noc/shm/console.c hal/noc/shm/window.c */
/* cpu: coroutine */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <abi/boot.h>
#include <base/test.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/noc.h>
#include <hal/trap.h>
#include "coroutine.h"

#define SEEDS 500

static struct shared {
	_Alignas(64) uint32_t flag[2];
	uint32_t data;
} *shared;

static struct boot_record record;
static struct coro_config config;
static struct coro_result result;
static void (*home)(void), (*other)(void);
static uint32_t saw[2];
static uint64_t want_finished;

_Noreturn void
kernel_boot_main(const struct boot_record *r, void *memory, size_t bytes)
{
	shared = memory;
	memset(memory, 0, 4096);
	hal_shared_region(memory, 4096);
	hal_publish(memory, 4096);
	hal_noc_init(r);
	hal_core_start(1, memory);
	(void)bytes;
	home();
	for (;;)
		hal_wait(HAL_FOREVER);
}

_Noreturn void
kernel_core_main(void *arg)
{
	hal_acquire(arg, sizeof(*shared));
	other();
	for (;;)
		hal_wait(HAL_FOREVER);
}

void
kernel_trap(struct hal_frame *f, const struct hal_trap *t)
{
	(void)f;
	(void)t;
}

long
kernel_call_fast(struct hal_frame *f, unsigned long nr)
{
	(void)f;
	(void)nr;
	return 0;
}

/* The first seed that does not end well, 0 if all do. */
static uint64_t
first_failure(void (*on_home)(void), void (*on_other)(void), uint64_t seeds)
{
	home = on_home;
	other = on_other;
	coro_record(&record, 1, 2);
	record.cluster[0].mem_bytes = 65536;
	config.record = &record;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		config.seed = seed;
		want_finished = 0;
		saw[0] = saw[1] = 0;
		if (!coro_run(&config, &result, true))
			return seed;
	}
	return 0;
}

static void
nothing(void)
{
}

static void
finish(void)
{
	coro_finish(0);
}

static void
count_to_ten(void)
{
	for (int i = 0; i < 10; i++)
		hal_add32(&shared->flag[0], 1);
	if (hal_load32(&shared->flag[0]) == 20)
		coro_finish(0);
}

TEST(the_same_seed_gives_the_same_run)
{
	uint64_t trace[20], different = 0;

	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 20; i++) {
			first_failure(count_to_ten, count_to_ten, 1);
			config.seed = i + 1;
			expect(coro_run(&config, &result, true));
			expect(round == 0 || result.trace == trace[i]);
			different += i > 0 && result.trace != trace[i - 1];
			trace[i] = result.trace;
		}
	expect(different > 10);
}

/* Only after the other core has acquired what there was at its start. */
static void
publish_data(void)
{
	while (hal_load32(&shared->flag[1]) == 0)
		coro_point();
	shared->data = 7;
	hal_publish(&shared->data, sizeof(shared->data));
	hal_store32(&shared->flag[0], 1);
}

static void
read_without_acquire(void)
{
	hal_store32(&shared->flag[1], 1);
	while (hal_load32(&shared->flag[0]) == 0)
		coro_point();
	coro_check(shared->data == 0);
	hal_acquire(&shared->data, sizeof(shared->data));
	coro_check(shared->data == 7);
	coro_finish(0);
}

TEST(memory_is_stale_until_it_is_acquired)
{
	expect_eq(first_failure(publish_data, read_without_acquire, SEEDS), 0);
}

static void
read_with_acquire(void)
{
	hal_store32(&shared->flag[1], 1);
	while (hal_load32(&shared->flag[0]) == 0)
		coro_point();
	hal_acquire(&shared->data, sizeof(shared->data));
	coro_check(shared->data == 7);
	coro_finish(0);
}

/* A page that is shared for a while, used otherwise, and shared again. */
static uint32_t *
page(void)
{
	return (uint32_t *)(void *)((char *)shared + 4096);
}

static void
share(uint32_t value, uint32_t round)
{
	hal_shared_region(page(), 4096);
	*page() = value;
	hal_publish(page(), sizeof(uint32_t));
	hal_store32(&shared->flag[0], round);
	while (hal_load32(&shared->flag[1]) != round)
		continue;
	hal_shared_region_end(page(), 4096);
}

static void
share_twice(void)
{
	share(1, 1);
	*page() = 5;
	share(6, 2);
	coro_check(*page() == 6);
	coro_finish(0);
}

static void
look_twice(void)
{
	while (hal_load32(&shared->flag[0]) != 1)
		continue;
	hal_acquire(page(), sizeof(uint32_t));
	coro_check(*page() == 1);
	*page() = 9;
	hal_publish(page(), sizeof(uint32_t));
	hal_store32(&shared->flag[1], 1);
	while (hal_load32(&shared->flag[0]) != 2)
		continue;
	coro_check(*page() == 9);
	hal_acquire(page(), sizeof(uint32_t));
	coro_check(*page() == 6);
	hal_store32(&shared->flag[1], 2);
}

TEST(what_is_shared_again_is_as_stale_as_a_core_left_it)
{
	expect_eq(first_failure(share_twice, look_twice, 300), 0);
}

TEST(each_place_that_is_switched_off_is_noticed)
{
	char place[200];
	const char *file;
	int tried = 0;

	coro_forget_sites();
	expect_eq(first_failure(publish_data, read_with_acquire, 10), 0);
	for (unsigned i = 0; coro_site(i, place, sizeof(place), &file); i++) {
		if (strcmp(file, __FILE__) != 0)
			continue;
		expect(coro_mutate(place));
		if (strncmp(place, "publish", 7) == 0 || strncmp(place, "acquire", 7) == 0)
			tried += first_failure(publish_data, read_with_acquire, SEEDS) != 0;
		expect(coro_mutate(NULL));
	}
	expect(tried >= 2);
	expect(!coro_mutate("publish"));
	expect(!coro_mutate("load:a.c:1"));
}

static void
ring_other(void)
{
	hal_store32(&shared->flag[0], 1);
	hal_notify(0, 1);
}

static void
look_then_wait(void)
{
	if (hal_load32(&shared->flag[0]) == 0)
		hal_wait(HAL_FOREVER);
	coro_finish(0);
}

static void
wait_by_the_rules(void)
{
	hal_wait_begin();
	if (hal_load32(&shared->flag[0]) != 0)
		hal_wait_cancel();
	else
		hal_wait(HAL_FOREVER);
	coro_finish(0);
}

TEST(a_lost_doorbell_is_found_and_a_right_wait_loses_none)
{
	config.strict = true;
	expect(first_failure(ring_other, look_then_wait, SEEDS) != 0);
	expect_eq(result.end, CORO_HANG);
	expect_eq(first_failure(ring_other, wait_by_the_rules, SEEDS), 0);
	config.strict = false;
}

/*
 * Each side raises its flag and looks at the other's: with a fence between, one of them sees the
 * other.
 */
static void
look_across(unsigned me, bool fence)
{
	hal_store32(&shared->flag[me], 1);
	if (fence)
		hal_fence();
	saw[me] = hal_load32(&shared->flag[!me]);
	if (++want_finished < 2)
		return;
	coro_check(saw[0] || saw[1]);
	coro_finish(0);
}

static void
home_without_fence(void)
{
	look_across(0, false);
}

static void
other_without_fence(void)
{
	look_across(1, false);
}

static void
home_with_fence(void)
{
	look_across(0, true);
}

static void
other_with_fence(void)
{
	look_across(1, true);
}

TEST(a_missing_fence_is_found)
{
	expect(first_failure(home_without_fence, other_without_fence, SEEDS) != 0);
	expect_eq(first_failure(home_with_fence, other_with_fence, SEEDS), 0);
}

/* The flag is a variable of the test: it says nothing to the memory between the cores. */
static void
publish_and_tell(bool fence)
{
	while (hal_load32(&shared->flag[1]) == 0)
		coro_point();
	shared->data = 7;
	hal_publish(&shared->data, sizeof(shared->data));
	if (fence)
		hal_fence();
	want_finished = 1;
	for (;;)
		coro_point();
}

static void
tell_after_publish(void)
{
	publish_and_tell(false);
}

static void
tell_after_fence(void)
{
	publish_and_tell(true);
}

static void
acquire_when_told(void)
{
	hal_store32(&shared->flag[1], 1);
	hal_fence();
	while (!want_finished)
		coro_point();
	hal_acquire(&shared->data, sizeof(shared->data));
	coro_check(shared->data == 7);
	coro_finish(0);
}

TEST(a_publish_alone_promises_no_moment)
{
	expect(first_failure(tell_after_publish, acquire_when_told, SEEDS) != 0);
	expect_eq(result.end, CORO_FAILED);
	expect_eq(first_failure(tell_after_fence, acquire_when_told, SEEDS), 0);
}

/* A load behind a plain read may have been done before it; behind another load it was not. */
static void
store_then_tell(void)
{
	hal_store32(&shared->flag[0], 1);
	hal_fence();
	want_finished = 1;
	for (;;)
		coro_point();
}

static void
look_when_told(bool fence)
{
	while (!want_finished)
		coro_point();
	if (fence)
		hal_fence();
	coro_check(hal_load32(&shared->flag[0]) == 1);
	coro_finish(0);
}

static void
look_without_fence(void)
{
	look_when_told(false);
}

static void
look_with_fence(void)
{
	look_when_told(true);
}

TEST(a_load_may_be_early_unless_a_fence_is_before_it)
{
	expect(first_failure(store_then_tell, look_without_fence, SEEDS) != 0);
	expect_eq(result.end, CORO_FAILED);
	expect_eq(first_failure(store_then_tell, look_with_fence, SEEDS), 0);
}

static void
spin(void)
{
	for (;;)
		hal_load32(&shared->flag[0]);
}

static void
panic(void)
{
	hal_panic("file.c", 12, "nothing works");
}

TEST(runs_without_end_and_panics_are_told_apart)
{
	config.ops_max = 1000;
	expect_eq(first_failure(spin, nothing, 1), 1);
	expect_eq(result.end, CORO_ENDLESS);
	config.ops_max = 0;
	expect_eq(first_failure(nothing, panic, 1), 1);
	expect_eq(result.end, CORO_PANIC);
	expect_str(result.why, "core 0.1: file.c:12: nothing works");
	expect_eq(first_failure(nothing, finish, SEEDS), 0);
}

static void
write_nowhere(void)
{
	*(volatile int *)8 = 0;
}

/* What a process says whose first run does this, and whether a signal ended it. */
static bool
said_at_the_end(void (*crash)(void), char *text, size_t size)
{
	ssize_t n;
	size_t have = 0;
	int ends[2], status;
	pid_t child;

	expect_eq(pipe(ends), 0);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		printf("what is buffered is lost");
		first_failure(crash, nothing, 1);
		_exit(0);
	}
	close(ends[1]);
	while (have < size - 1 && (n = read(ends[0], text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = 0;
	close(ends[0]);
	expect_eq(waitpid(child, &status, 0), child);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* A sanitizer says it in its own way. */
TEST(no_signal_ends_a_run_in_silence)
{
	static char text[1 << 16];

	expect(said_at_the_end(write_nowhere, text, sizeof(text)));
	expect(strstr(text, "FAIL seed 1: signal 11 at 0x8 ") != NULL ||
		strstr(text, "Sanitizer") != NULL);
	expect(said_at_the_end(abort, text, sizeof(text)));
	expect(strstr(text, "FAIL seed 1: signal 6 at ") != NULL ||
		strstr(text, "Sanitizer") != NULL);
}

int
main(void)
{
	RUN(the_same_seed_gives_the_same_run);
	RUN(memory_is_stale_until_it_is_acquired);
	RUN(what_is_shared_again_is_as_stale_as_a_core_left_it);
	RUN(each_place_that_is_switched_off_is_noticed);
	RUN(a_lost_doorbell_is_found_and_a_right_wait_loses_none);
	RUN(a_missing_fence_is_found);
	RUN(a_publish_alone_promises_no_moment);
	RUN(a_load_may_be_early_unless_a_fence_is_before_it);
	RUN(runs_without_end_and_panics_are_told_apart);
	RUN(no_signal_ends_a_run_in_silence);
	return TEST_FAILED;
}
