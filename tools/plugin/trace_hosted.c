/* SPDX-License-Identifier: MIT
 *
 * What the kernel's cores do on the hosted port, one event after the other. It is linked into a
 * second image of the machine, atoll-host-trace (mk/kernel.mk), whose objects are those of the
 * first: the linker puts the functions __wrap_NAME of this file between the kernel and the HAL, and
 * between the two sides of a message. So a machine that is not traced does nothing for it.
 *
 * The events go into the file that ATOLL_TRACE names, as trace.h says. Time is the machine's. Words
 * that other cores write (roles, the kernel's decisions) are looked at where a core enters the
 * kernel or leaves it; the first core looks at those of all. Guests are not traced.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <abi/boot.h>
#include <abi/kcalls.h>
#include <hal/timer.h>
#include <hal/trap.h>
#include <kernel/cluster.h>
#include <kernel/proc/proc.h>
#include <kernel/thread/thread.h>
#include "trace.h"

#define WRAPPED(result, name, ...) \
	result __real_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__)

/* What was written down of a core, and what its two messages really run. */
static struct seen {
	uint32_t tid, proc;
	uint32_t acts, spread, crowded;
	kcall_serve_fn *serve;
	am_post_fn *take;
} seen[CLUSTER_CORES_MAX];

static struct trace_head *out;

/* Before there are clusters: they inherit it. */
__attribute__((constructor)) static void
open_file(void)
{
	const char *path = getenv("ATOLL_TRACE");
	int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
	struct stat s;
	void *p;

	if (fd < 0)
		return;
	if (fstat(fd, &s) == 0 && (size_t)s.st_size > sizeof(*out)) {
		p = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		out = p == MAP_FAILED ? NULL : p;
	}
	close(fd);
}

static bool
is_traced(const struct core *core)
{
	return out != NULL && core->id < core->cluster->cores;
}

static void
emit(const struct core *core, enum trace_kind kind, uint32_t a, uint32_t b)
{
	const struct cluster *c = core->cluster;

	if (is_traced(core))
		trace_put(out, &(struct trace_event){.time = hal_clock_ns(), .a = a, .b = b,
			.hart = (uint16_t)(c->record->cluster[c->id].first_core + core->id),
			.kind = (uint16_t)kind});
}

/* Has a word changed since somebody looked? */
static bool
is_new(uint32_t *was, uint32_t now)
{
	return __atomic_exchange_n(was, now, __ATOMIC_RELAXED) != now;
}

static void
look_at(const struct core *by, const struct core *core)
{
	struct seen *s = &seen[core->id];
	uint32_t spread = hal_peek32(&core->spread), crowded = hal_peek32(&core->crowded);

	if (is_new(&s->acts, hal_peek32(&core->acts)))
		emit(by, ROLE, s->acts, core->id);
	if (is_new(&s->spread, spread))
		emit(by, SPREAD, core->id, spread);
	if (is_new(&s->crowded, crowded))
		emit(by, CROWDED, core->id, crowded);
}

static void
look(const struct core *core)
{
	const struct cluster *c = core->cluster;
	const struct thread *t = core->current;
	struct seen *s = &seen[core->id];
	bool is_other;

	if (!is_traced(core))
		return;
	is_other = is_new(&s->tid, t == NULL ? 0 : t->tid);
	if (is_new(&s->proc, t == NULL ? 0 : t->proc->id) || is_other)
		emit(core, CURRENT, s->tid, s->proc);
	for (uint32_t i = 0; core_is_home(core) && i < c->cores; i++)
		look_at(core, core_at(c, i));
	look_at(core, core);
}

WRAPPED(void, kernel_trap, struct hal_frame *f, const struct hal_trap *t)
{
	const struct core *core = core_self();
	unsigned long nr;

	look(core);
	emit(core, KERNEL, 0, 0);
	if (t->kind == TRAP_CALL) {
		nr = hal_frame_number(f) - KC_FIRST;
		if (nr < KC_COUNT)
			emit(core, CALL, (uint32_t)nr, 0);
	} else if (t->kind == TRAP_FAULT || t->kind == TRAP_TIMER) {
		emit(core, t->kind == TRAP_FAULT ? FAULT : TICK, core->id, 0);
	}
	__real_kernel_trap(f, t);
	look(core);
	emit(core, USER, 0, 0);
}

static void
leave(const struct core *core)
{
	look(core);
	emit(core, USER, 0, 0);
}

WRAPPED(_Noreturn void, hal_user_enter, struct hal_frame *f, struct hal_space *space)
{
	leave(core_self());
	__real_hal_user_enter(f, space);
}

WRAPPED(long, hal_frame_resume, struct hal_frame *f)
{
	leave(core_self());
	return __real_hal_frame_resume(f);
}

WRAPPED(void, hal_wait, uint64_t until_ns)
{
	const struct core *core = core_self();

	look(core);
	emit(core, WAIT, 0, 0);
	__real_hal_wait(until_ns);
	emit(core, WAKE, 0, 0);
	look(core);
}

/* Home, in place of what a message of another core would have it run. */
static long
serve(struct kcall_args *args)
{
	const struct core *home = core_self(), *sender =
		(const struct core *)((const char *)args - offsetof(struct core, call.args));
	long result;

	emit(home, SERVE, sender->id, 0);
	result = seen[sender->id].serve(args);
	emit(home, REPLY, sender->id, 0);
	return result;
}

static kcall_serve_fn *
send(const struct core *core, kcall_serve_fn *fn)
{
	if (core_is_home(core) || !is_traced(core))
		return fn;
	seen[core->id].serve = fn;
	look(core);
	emit(core, SEND, core->id, 0);
	return serve;
}

WRAPPED(long, am_call_kernel, struct core *core, kcall_serve_fn *fn, struct kcall_args *args,
	uint32_t bytes)
{
	return __real_am_call_kernel(core, send(core, fn), args, bytes);
}

WRAPPED(long, am_call_last, struct core *core, kcall_serve_fn *fn, struct kcall_args *args,
	uint32_t bytes)
{
	return __real_am_call_last(core, send(core, fn), args, bytes);
}

/* The receiver, in place of what home's message would have it run. */
static void
take(struct core *core, const void *data)
{
	emit(core, TAKE, core->id, 0);
	seen[core->id].take(core, data);
	emit(core, TAKEN, core->id, 0);
}

/* Only home sends, and only a message that was taken makes the slot free. */
WRAPPED(int, am_post, struct core *to, am_post_fn *fn, const void *data, uint32_t bytes)
{
	if (!is_traced(to) || bytes > AM_DATA || hal_load32(&to->post.busy))
		return __real_am_post(to, fn, data, bytes);
	seen[to->id].take = fn;
	emit(core_self(), POST, to->id, 0);
	return __real_am_post(to, take, data, bytes);
}
