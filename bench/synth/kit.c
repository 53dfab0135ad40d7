/* SPDX-License-Identifier: MIT
 *
 * See kit.h.
 */
#include "kit.h"

unsigned
user_cores(void)
{
	struct cluster_info info = {0};

	kcluster_info(&info);
	return info.cores > 1 ? info.cores - 1 : 1;
}

void
give_up(const char *why, long result)
{
	console_print("benchmark failed: %s (%ld)\n", why, result);
	rank_exit(1);
}

int
start(void (*fn)(void *arg), void *arg)
{
	int tid = thread_start(fn, arg, ANY_CORE, STACK_BYTES);

	if (tid < 0)
		give_up("cannot start a thread", tid);
	return tid;
}

void
join(int tid)
{
	uint64_t value;
	long result = kthread_join(tid, &value, FOREVER);

	if (result < 0)
		give_up("cannot join a thread", result);
}

uint64_t
now_ns(void)
{
	uint64_t ns = 0;

	kclock(&ns);
	return ns;
}

void
row_number(const char *name, uint64_t value, const char *unit, const char *params)
{
	console_print("row %s %llu %s%s%s\n", name, (unsigned long long)value, unit, *params != '\0'
		? " " : "", params);
}

void
row(const char *name, uint64_t total, uint64_t count, const char *params)
{
	row_number(name, (total + count / 2) / count, "ns", params);
}

int
is_equal(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b)
		a++, b++;
	return *a == *b;
}

long
number(int argc, char **argv, const char *name, long otherwise)
{
	long value = 0;

	for (int i = 1; i + 1 < argc; i++)
		if (is_equal(argv[i], name)) {
			for (const char *p = argv[i + 1]; *p >= '0' && *p <= '9'; p++)
				value = 10 * value + (*p - '0');
			return value;
		}
	return otherwise;
}

static int every_operation_calls;

void
semaphores_always_call(int always)
{
	every_operation_calls = always;
}

void
semaphore_up(struct semaphore *s)
{
	__atomic_add_fetch(&s->value, 1, __ATOMIC_SEQ_CST);
	kfutex_wake((unsigned long)&s->value, 1);
}

void
semaphore_down(struct semaphore *s)
{
	if (every_operation_calls)
		kfutex_wake((unsigned long)&s->value, 0);	/* wakes nobody */
	for (;;) {
		uint32_t value = __atomic_load_n(&s->value, __ATOMIC_SEQ_CST);

		while (value > 0)
			if (__atomic_compare_exchange_n(&s->value, &value, value - 1, 0,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				return;
		kfutex_wait((unsigned long)&s->value, 0, FOREVER);
	}
}

void
gate_pass(struct gate *g)
{
	__atomic_add_fetch(&g->come, 1, __ATOMIC_SEQ_CST);
	kfutex_wake((unsigned long)&g->come, 1);
	while (__atomic_load_n(&g->is_open, __ATOMIC_SEQ_CST) == 0)
		kfutex_wait((unsigned long)&g->is_open, 0, FOREVER);
}

void
gate_wait(struct gate *g, uint32_t waiting)
{
	uint32_t come;

	while ((come = __atomic_load_n(&g->come, __ATOMIC_SEQ_CST)) < waiting)
		kfutex_wait((unsigned long)&g->come, come, FOREVER);
}

void
gate_open(struct gate *g, uint32_t waiting)
{
	gate_wait(g, waiting);
	__atomic_store_n(&g->is_open, 1, __ATOMIC_SEQ_CST);
	kfutex_wake((unsigned long)&g->is_open, TEAM_MAX);
}

void
stagger(long seed, uint32_t part)
{
	uint32_t x = (uint32_t)seed << 8 ^ (part + 1);

	if (seed == 0)
		return;
	for (int i = 0; i < 4; i++)
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
	for (volatile uint32_t n = x & 1023; n > 0;)
		n = n - 1;
}
