/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: boot, commands from core 0 to the others, the report. See testbed.h.
 */
#include <base/fmt.h>
#include <base/str.h>
#include "testbed.h"

static void
print(const char *format, const char *a, const char *b, int line)
{
	char text[200];
	int len = fmt_print(text, sizeof(text), format, a, b, line);

	hal_console_write(text, len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void
test_wrong(struct testbed *bed, int line, const char *what)
{
	hal_add32(&bed->failures, 1);
	hal_acquire(&bed->test, sizeof(bed->test));
	print("FAIL %s: %s (line %d)\n", bed->test, what, line);
}

void
test_note(struct testbed *bed, const char *what, unsigned number)
{
	print("note %s: %s: %d\n", bed->test, what, (int)number);
}

void
test_skip(struct testbed *bed, const char *why)
{
	print("skip %s: %s\n", bed->test, why, 0);
	bed->skipped = true;
}

/* Wait by the rules. A wait that only the clock ends has lost its doorbell. */
void
wait_until(struct testbed *bed, bool (*ready)(struct testbed *bed, uint32_t arg), uint32_t arg)
{
	uint64_t limit = hal_clock_ns() + PATIENCE_NS;

	for (;;) {
		hal_wait_begin();
		if (ready(bed, arg)) {
			hal_wait_cancel();
			return;
		}
		hal_wait(limit);
		if (hal_clock_ns() >= limit) {
			test_wrong(bed, __LINE__, ready(bed, arg) ? "a doorbell was lost" :
				"waited in vain");
			hal_machine_halt(1);
		}
	}
}

void
on_core(struct testbed *bed, unsigned core, void (*fn)(struct testbed *bed, unsigned core))
{
	struct test_core *c = &bed->core[core];

	c->command.fn = fn;
	hal_publish(&c->command, sizeof(c->command));
	hal_add32(&c->order, 1);
	hal_notify(hal_cluster_id(), core);
}

static bool
core_is_done(struct testbed *bed, uint32_t core)
{
	return hal_load32(&bed->core[core].done) == hal_load32(&bed->core[core].order);
}

void
wait_for_core(struct testbed *bed, unsigned core)
{
	wait_until(bed, core_is_done, core);
}

static bool
has_order(struct testbed *bed, uint32_t core)
{
	return hal_load32(&bed->core[core].order) != bed->core[core].orders_done;
}

static void
order_done(struct test_core *c)
{
	c->orders_done++;
	hal_store32(&c->done, c->orders_done);
	hal_notify(hal_cluster_id(), 0);
}

/* What cores other than 0 do: wait without end for orders. */
static _Noreturn void
serve(struct test_core *c)
{
	struct testbed *bed = c->bed;

	for (;;) {
		hal_wait_begin();
		if (!has_order(bed, c->number)) {
			hal_wait(HAL_FOREVER);
			continue;
		}
		hal_wait_cancel();
		hal_acquire(&c->command, sizeof(c->command));
		c->command.fn(bed, c->number);
		order_done(c);
	}
}

void
core_done(struct testbed *bed)
{
	struct test_core *c = &bed->core[hal_core_id()];

	order_done(c);
	serve(c);
}

void
kernel_core_main(void *arg)
{
	struct test_core *c = arg;

	hal_acquire(c, sizeof(*c));
	hal_acquire(c->bed, sizeof(*c->bed));
	hal_core_set_local(c);
	serve(c);
}

void
kernel_trap(struct hal_frame *f, const struct hal_trap *t)
{
	struct test_core *c = hal_core_local();

	c->user->on_trap(c->bed, f, t);
}

void *
page_take(void *arg)
{
	struct page_pool *pool = arg;
	void *page = pool->free;

	pool->asked++;
	if (pool->left == 0)
		return NULL;
	if (page != NULL) {
		pool->free = *(void **)page;
	} else {
		if (pool->end - pool->next < (ptrdiff_t)HAL_PAGE_BYTES)
			return NULL;
		page = pool->next;
		pool->next += HAL_PAGE_BYTES;
	}
	memset(page, 0, HAL_PAGE_BYTES);
	pool->taken++;
	pool->left--;
	return page;
}

void
page_give(void *arg, void *page)
{
	struct page_pool *pool = arg;

	*(void **)page = pool->free;
	pool->free = page;
	pool->taken--;
}

static void
run_test(struct testbed *bed, const struct hal_test *test)
{
	uint32_t before = hal_load32(&bed->failures);

	bed->test = test->name;
	bed->skipped = false;
	hal_publish(&bed->test, sizeof(bed->test));
	if (bed->cores < test->cores || bed->record->clusters < test->clusters) {
		test_skip(bed, "the machine is too small");
		return;
	}
	test->run(bed);
	if (!bed->skipped && hal_load32(&bed->failures) == before)
		print("ok %s\n", test->name, "", 0);
}

static _Noreturn void
run_all(struct testbed *bed)
{
	const struct hal_test *const lists[] =
		{doorbell_tests, memory_tests, litmus_tests, space_tests, user_tests, handler_tests,
		noc_tests, lives_tests,
		timer_tests, device_tests};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct hal_test *t = lists[i]; t->name != NULL; t++)
			run_test(bed, t);
	hal_machine_halt(hal_load32(&bed->failures) != 0);
}

/* Lay the testbed out at the start of the cluster's memory; the rest are pages. */
static struct testbed *
make_bed(const struct boot_record *record, void *memory, size_t bytes)
{
	unsigned cores = record->cluster[hal_cluster_id()].cores;
	size_t size = sizeof(struct testbed) + cores * sizeof(struct test_core);
	struct testbed *bed = memory;
	size_t first = (size + HAL_PAGE_BYTES - 1) & ~(HAL_PAGE_BYTES - 1);

	memset(bed, 0, size);
	bed->record = record;
	bed->cores = cores;
	bed->test = "boot";
	bed->pool = (struct page_pool){.next = (char *)memory + first,
		.end = (char *)memory + bytes, .left = ~0u};
	for (unsigned i = 0; i < cores; i++) {
		bed->core[i].bed = bed;
		bed->core[i].number = i;
	}
	hal_shared_region(bed, size);
	hal_publish(bed, size);
	return bed;
}

void
kernel_boot_main(const struct boot_record *record, void *memory, size_t bytes)
{
	struct testbed *bed = make_bed(record, memory, bytes);

	hal_core_set_local(&bed->core[0]);
	hal_noc_init(record);
	for (unsigned i = 1; i < bed->cores; i++)
		hal_core_start(i, &bed->core[i]);
	if (hal_cluster_id() == 0)
		run_all(bed);
	noc_peer(bed);
}
