/* SPDX-License-Identifier: MIT
 *
 * User threads: see atoll/uthread.h. The record of one lies at the bottom of its stack, whose
 * address is a multiple of its size: so each finds its own by its stack pointer, and so does the
 * alarm's handler, which has one, too. While the set is `busy` an alarm changes nothing. Source:
 * seed 000 III-B (user threads over software alarms).
 */
#include <stdbool.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/handler.h>
#include <atoll/kcalls.h>
#include <atoll/uthread.h>
#include <usercpu/uthread.h>

#define DESTROY_ROUNDS 4
#define TOP_BYTES 64		/* of a stack: the address behind its first frame is still in it */
#define UTHREADS_MAX 4096

enum uthread_state { UTHREAD_FREE, UTHREAD_READY, UTHREAD_WAITING, UTHREAD_ENDED };

struct uthreads {
	struct uthread *first;		/* ready ones, without the one that runs */
	struct uthread *last;
	uintptr_t stacks;
	unsigned max;
	volatile uint32_t busy;
	uint32_t stopped;
	uintptr_t stopped_at;		/* where the alarm has stopped the one that runs */
	void *outside;			/* stack pointer of the kernel thread's own code */
	void (*destroy[UTHREAD_KEYS])(void *value);
	uint32_t keys;			/* bitmap: in use */
	uint32_t destroys;		/* bitmap: those with a destroy function */
	void (*look)(void *arg, bool waits);	/* the source */
	void *look_arg;
	unsigned blocked;		/* threads that wait for the source */
};

struct uthread {
	struct uthreads *set;
	struct uthread *next;
	void *sp;			/* while it does not run */
	struct uthread *joiner;
	struct uthread *joins;		/* the one that it waits for; NULL: the source */
	void (*fn)(void *arg);
	void *arg;
	enum uthread_state state;
	void *value[UTHREAD_KEYS];
};

struct uthread *
uthread_self(void)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	return (struct uthread *)(sp & ~(uintptr_t)(UTHREAD_STACK_BYTES - 1));
}

static struct uthread *
uthread_at(const struct uthreads *s, unsigned i)
{
	return (struct uthread *)(s->stacks + (uintptr_t)i * UTHREAD_STACK_BYTES);
}

static void
ready(struct uthread *t)
{
	struct uthreads *s = t->set;

	t->state = UTHREAD_READY;
	t->next = NULL;
	if (s->first == NULL)
		s->first = t;
	else
		s->last->next = t;
	s->last = t;
}

/*
 * The next one runs; without any, the kernel thread's own code. Returns when this one runs again.
 */
static void
uthread_leave(struct uthread *self)
{
	struct uthreads *s = self->set;
	struct uthread *next;

	while (s->first == NULL && s->blocked != 0)
		s->look(s->look_arg, true);
	next = s->first;
	if (next != NULL)
		s->first = next->next;
	if (next != self)
		uthread_switch(&self->sp, next != NULL ? next->sp : s->outside);
}

static void
turn(struct uthread *self)
{
	struct uthreads *s = self->set;

	if (s->blocked != 0)
		s->look(s->look_arg, false);
	if (s->first == NULL)
		return;
	ready(self);
	uthread_leave(self);
}

/* Called where an alarm has stopped the thread. Returns where it goes on. */
uintptr_t
uthread_turn(void)
{
	struct uthread *self = uthread_self();
	uintptr_t at = self->set->stopped_at;

	self->set->stopped++;
	turn(self);
	self->set->busy = 0;
	return at;
}

HANDLER_ENTRY(uthread_alarm, uthread_rings)

long
uthread_rings(const struct handler_event *e)
{
	struct uthreads *s = uthread_self()->set;

	if (!UTHREAD_STOPS || s->busy || (s->first == NULL && s->blocked == 0))
		return 0;
	s->busy = 1;
	s->stopped_at = (uintptr_t)e->pc;
	return (long)UTHREAD_INTERRUPTED;
}

void
uthread_yield(void)
{
	struct uthread *self = uthread_self();

	self->set->busy = 1;
	turn(self);
	self->set->busy = 0;
}

static void
destroy_values(struct uthread *self)
{
	const struct uthreads *s = self->set;
	bool any = true;

	for (unsigned round = 0; any && round < DESTROY_ROUNDS; round++) {
		any = false;
		for (unsigned i = 0; i < UTHREAD_KEYS; i++) {
			void *value = self->value[i];

			self->value[i] = NULL;
			if (value == NULL || (s->keys & s->destroys & 1u << i) == 0)
				continue;
			s->destroy[i](value);
			any = true;
		}
	}
}

_Noreturn void
uthread_exit(void)
{
	struct uthread *self = uthread_self();

	destroy_values(self);
	self->set->busy = 1;
	self->state = UTHREAD_ENDED;
	if (self->joiner != NULL)
		ready(self->joiner);
	for (;;)
		uthread_leave(self);
}

static void
uthread_begin(void)
{
	struct uthread *self = uthread_self();

	self->set->busy = 0;
	self->fn(self->arg);
	uthread_exit();
}

static int
make(struct uthreads *s, void (*fn)(void *arg), void *arg, struct uthread **made)
{
	for (unsigned i = 0; i < s->max; i++) {
		struct uthread *t = uthread_at(s, i);

		if (t->state != UTHREAD_FREE)
			continue;
		*t = (struct uthread){.set = s, .fn = fn, .arg = arg};
		t->sp = uthread_stack((uintptr_t)t + UTHREAD_STACK_BYTES - TOP_BYTES,
			uthread_begin);
		ready(t);
		*made = t;
		return 0;
	}
	return -E_NOSPC;
}

int
uthread_start(void (*fn)(void *arg), void *arg, struct uthread **made)
{
	struct uthreads *s = uthread_self()->set;
	int e;

	s->busy = 1;
	e = make(s, fn, arg, made);
	s->busy = 0;
	return e;
}

static bool
waits_for(const struct uthread *t, const struct uthread *other)
{
	while (t != NULL && t != other && t->state == UTHREAD_WAITING)
		t = t->joins;
	return t == other;
}

int
uthread_join(struct uthread *t)
{
	struct uthread *self = uthread_self();
	int e = 0;

	self->set->busy = 1;
	if (waits_for(t, self))
		e = -E_DEADLK;
	else if (t->joiner != NULL)
		e = -E_INVAL;
	if (e == 0 && t->state != UTHREAD_ENDED) {
		t->joiner = self;
		self->joins = t;
		self->state = UTHREAD_WAITING;
		uthread_leave(self);
	}
	if (e == 0)
		t->state = UTHREAD_FREE;
	self->set->busy = 0;
	return e;
}

void
uthreads_source(void (*look)(void *arg, bool waits), void *arg)
{
	struct uthreads *s = uthread_self()->set;

	s->look = look;
	s->look_arg = arg;
}

void
uthreads_hold(void)
{
	uthread_self()->set->busy = 1;
}

void
uthreads_release(void)
{
	uthread_self()->set->busy = 0;
}

void
uthread_block(void)
{
	struct uthread *self = uthread_self();

	self->joins = NULL;
	self->state = UTHREAD_WAITING;
	self->set->blocked++;
	uthread_leave(self);
}

void
uthread_wake(struct uthread *t)
{
	t->set->blocked--;
	ready(t);
}

int
uthread_key_create(void (*destroy)(void *value))
{
	struct uthreads *s = uthread_self()->set;
	int key = -E_NOSPC;

	s->busy = 1;
	for (int i = 0; i < UTHREAD_KEYS && key < 0; i++)
		if ((s->keys & 1u << i) == 0)
			key = i;
	if (key >= 0) {
		s->keys |= 1u << key;
		s->destroys = destroy != NULL ? s->destroys | 1u << key :
			s->destroys & ~(1u << key);
		s->destroy[key] = destroy;
		for (unsigned i = 0; i < s->max; i++)
			uthread_at(s, i)->value[key] = NULL;
	}
	s->busy = 0;
	return key;
}

void
uthread_key_delete(int key)
{
	struct uthreads *s = uthread_self()->set;

	s->busy = 1;
	s->keys &= ~(1u << key);
	s->busy = 0;
}

void
uthread_key_set(int key, void *value)
{
	uthread_self()->value[key] = value;
}

void *
uthread_key_get(int key)
{
	return uthread_self()->value[key];
}

uint32_t
uthreads_stopped(void)
{
	return uthread_self()->set->stopped;
}

/* The alarm, which rings from now on, or does not any more. */
static int
alarm(uint64_t quantum_ns, int bit, uintptr_t stack)
{
	struct alarm_times times = {FOREVER, 0};
	long e = 0;

	if (quantum_ns != 0) {
		e = kclock(&times.first);
		times.first += quantum_ns;
		times.period = quantum_ns;
	}
	if (e == 0 && stack != 0)
		e = kthread_handler(HANDLE_UPCALLS, (unsigned long)uthread_alarm, stack);
	if (e == 0)
		e = kthread_upcalls(quantum_ns != 0 ? 1u << bit : 0);
	if (e == 0)
		e = kalarm_set(bit, &times);
	return (int)e;
}

int
uthreads_run(void (*main)(void *arg), void *arg, unsigned max, uint64_t quantum_ns, int bit)
{
	/* theirs, the handler's, and what it takes to align them */
	size_t bytes = ((size_t)max + 2) * UTHREAD_STACK_BYTES;
	struct uthreads set = {.max = max, .busy = 1};
	struct cluster_info info;
	struct uthread *first = NULL;
	uint64_t at;
	int e;

	if (max == 0 || max > UTHREADS_MAX || bit < 0 || bit >= WAKE_BITS)
		return -E_INVAL;
	e = (int)kmem_alloc(SELF, bytes, PAGE_READ | PAGE_WRITE, &at);
	if (e != 0)
		return e;
	set.stacks = ((uintptr_t)at + UTHREAD_STACK_BYTES - 1) &
		~(uintptr_t)(UTHREAD_STACK_BYTES - 1);
	make(&set, main, arg, &first);
	uthread_at(&set, max)->set = &set;
	e = alarm(UTHREAD_STOPS ? quantum_ns : 0, bit,
		(uintptr_t)uthread_at(&set, max + 1) - TOP_BYTES);
	if (e == 0) {
		set.first = NULL;
		uthread_switch(&set.outside, first->sp);
		alarm(0, bit, 0);
		/* it may have rung between its two calls */
		if (UTHREAD_STOPS && quantum_ns != 0)
			kthread_sleep(1u << bit, 1);
	}
	kcluster_info(&info);
	kpage_unmap(SELF, (unsigned long)at, (int)(bytes / info.page_bytes));
	return e;
}
