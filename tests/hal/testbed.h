/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: a tiny kernel that stands in for Atoll's and runs on every back end. Core 0
 * of cluster 0 runs the tests and prints `ok NAME`, `skip NAME: why` or `FAIL NAME: why`; its other
 * cores do what it says (on_core), and core 0 of the other clusters answers over the NoC.
 * Everything mutable lives in the struct testbed of the cluster, which the cores share by the
 * contract's rules.
 */
#ifndef TESTBED_H
#define TESTBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <hal/atomic.h>
#include <hal/console.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <hal/noc.h>
#include <hal/timer.h>
#include <hal/trap.h>

/* nothing here takes that long: whoever waits longer has lost a wake-up */
#define PATIENCE_NS 30000000000ull
#define MESSAGE_WORDS 64
#define ROUNDS 200
#define LITMUS_CELLS 32		/* at most MESSAGE_WORDS */

struct testbed;

struct test_core {
	/* commands; core 0 writes */
	/* 32-bit operations: counts up with every command */
	_Alignas(HAL_CACHE_LINE) uint32_t order;
	_Alignas(HAL_CACHE_LINE) struct {
		void (*fn)(struct testbed *bed, unsigned core);
	} command;
	/* the core writes */
	_Alignas(HAL_CACHE_LINE) uint32_t done;		/* 32-bit operations */
	_Alignas(HAL_CACHE_LINE) struct {
		uint32_t message[MESSAGE_WORDS];
	} box;
	/* of the core alone */
	_Alignas(HAL_CACHE_LINE) struct testbed *bed;
	struct user_test *user;				/* whose program runs here */
	unsigned number;
	uint32_t orders_done;
};

/*
 * A space with user programs and what a test wants at the next trap. Of the core that runs them,
 * handed over with its commands.
 */
struct user_test {
	_Alignas(HAL_CACHE_LINE) void (*on_trap)(struct testbed *bed, struct hal_frame *f,
		const struct hal_trap *t);
	int step;
	int ticks;
	bool rung;		/* the core has interrupted itself, which has not come yet */
	bool returns;					/* CALL_RETURN is answered early */
	uint64_t until;					/* that the tick was armed for */
	/* user addresses of the code page and the data page */
	uintptr_t code, data;
	uint64_t *block;				/* the data page as the kernel sees it */
	char *code_page;
	uintptr_t hole;					/* an address that is not mapped */
	struct hal_space space;
	struct hal_frame frame, other_frame;
};

/*
 * User programs (cpu/): position-independent code that is copied into a page, or functions of the
 * host.
 */
enum user_program {
	/*
	 * call 100 with 1..6, wants 0x1234; call 4201 with 41, wants 42; call 101 with 0 or what
	 * was wrong
	 */
	USER_CALLS,
	USER_LOOP,		/* call 102 for ever */
	USER_SPIN,		/* call 104, then no call any more */
	USER_LOAD,		/* loads the 32-bit word at `address`, call 103 with it */
	USER_STORE,		/* stores 7 at `address`, call 103 with 7 */
	USER_JUMP,		/* jumps to `address` */
	USER_ILLEGAL,		/* an illegal instruction */
	/*
	 * looks for ever whether all registers, also those of vectors, are as it left them; call
	 * 101 with 1 if not
	 */
	USER_REGISTERS,
	/*
	 * a handler: call 105 with the address of its struct handler_event; changes all registers;
	 * call 4202
	 */
	USER_HANDLER,
	USER_PAGE_FAULTS	/* no program: user_page_fault */
};

/* How core 1 runs a user program. */
struct user_plan {
	enum user_program program;
	size_t beyond;			/* of user_enter */
	void (*on_trap)(struct testbed *bed, struct hal_frame *f, const struct hal_trap *t);
	/* on core 1, behind user_prepare; or NULL */
	void (*first)(struct testbed *bed, struct user_test *u);
	void (*meanwhile)(struct testbed *bed);		/* on core 0, or NULL */
};

struct page_pool {
	char *next, *end;
	void *free;					/* pages given back */
	unsigned taken;					/* not given back */
	unsigned left;					/* how many more take hands out */
	unsigned asked;
};

/* Words of litmus programs (litmus.c). */
struct litmus {
	_Alignas(HAL_CACHE_LINE) uint32_t x[LITMUS_CELLS];	/* 32-bit operations */
	_Alignas(HAL_CACHE_LINE) uint32_t y[LITMUS_CELLS];
	_Alignas(HAL_CACHE_LINE) uint32_t count[LITMUS_CELLS];
	_Alignas(HAL_CACHE_LINE) uint32_t version[LITMUS_CELLS];
	_Alignas(HAL_CACHE_LINE) uint32_t data[LITMUS_CELLS];	/* role 0 writes */
	_Alignas(HAL_CACHE_LINE) uint32_t pair[LITMUS_CELLS][2];
};

struct play {
	const struct program *program;
	unsigned roles;
	uint32_t round;
};

struct testbed {
	_Alignas(HAL_CACHE_LINE) uint32_t counter;	/* 32-bit operations */
	_Alignas(HAL_CACHE_LINE) uint32_t flag[2];	/* 32-bit operations */
	_Alignas(HAL_CACHE_LINE) uint32_t failures;	/* 32-bit operations */
	_Alignas(HAL_CACHE_LINE) const char *test;	/* running test; core 0 */
	bool skipped;
	unsigned interrupts;				/* of the device; core 0 */
	const struct boot_record *record;
	unsigned cores;
	struct page_pool pool;
	struct user_plan plan;
	struct user_test user[2];			/* of core 1 and of core 2 */
	_Alignas(HAL_CACHE_LINE) struct play play;	/* core 0 writes */
	struct litmus litmus;
	_Alignas(HAL_CACHE_LINE) struct hal_space space;
	struct hal_space other;				/* of a test of two */
	struct test_core core[];
};

/* main.c */
void test_wrong(struct testbed *bed, int line, const char *what);
/* a line for whoever reads the output */
void test_note(struct testbed *bed, const char *what, unsigned number);
void test_skip(struct testbed *bed, const char *why);
void wait_until(struct testbed *bed, bool (*ready)(struct testbed *bed, uint32_t arg),
	uint32_t arg);
/* start a command */
void on_core(struct testbed *bed, unsigned core, void (*fn)(struct testbed *bed, unsigned core));
void wait_for_core(struct testbed *bed, unsigned core);
_Noreturn void core_done(struct testbed *bed);	/* a command that lost its stack ends here */
void *page_take(void *pool);
void page_give(void *pool, void *page);

#define expect(bed, condition) ((condition) ? (void)0 : test_wrong((bed), __LINE__, #condition))

/* The tests. */
struct hal_test {
	const char *name;
	void (*run)(struct testbed *bed);
	unsigned cores, clusters;		/* it needs at least this many */
};

extern const struct hal_test doorbell_tests[], memory_tests[], litmus_tests[], space_tests[],
	user_tests[], handler_tests[], timer_tests[], device_tests[],
	noc_tests[], lives_tests[];
_Noreturn void noc_peer(struct testbed *bed);	/* core 0 of the other clusters */

/* noc.c: what core 0 of another cluster is told by an event with a value, or asked. */
enum noc_ask { ASK_ECHO = 1, ASK_MAIL, ASK_PORTAL, ASK_CONSOLE, ASK_DIE,
	ASK_STOP,		/* it tries to stop and start others, and itself */
	ASK_SPIN,		/* no answer: all its cores compute without end */
	ASK_CORES,		/* do all its cores work? */
	ASK_MARK,		/* how often it was asked in this life */
};
int noc_tell(unsigned cluster, enum noc_ask kind, uint32_t value);	/* as hal_noc_notify */
void noc_ask(struct testbed *bed, unsigned cluster, enum noc_ask kind, uint32_t value);
void noc_await_boot(struct testbed *bed, unsigned cluster);	/* nobody rings when one comes up */

/* cpu/: can a cluster be stopped and started again, and does it begin with an image of its own? */
enum machine_lives { LIVES_ONE, LIVES_MANY, LIVES_WITH_IMAGES };
enum machine_lives machine_lives(void);

unsigned litmus_rounds(void);		/* cpu/: how often each litmus program runs */
/* cpu/: in which a core leaves the kernel and computes a little */
uint64_t soon_ns(void);

/*
 * cpu/: is device 0 there, and can a test have it interrupt? Core 0 lifts its line, which it keeps
 * up until it is taken down.
 */
bool user_device_can(void);
void user_device_raise(bool up);

#define CALL_CHECK 100
#define CALL_STATUS 101
#define CALL_LOOP 102
#define CALL_VALUE 103
#define CALL_STARTED 104
#define CALL_EVENT 105
#define CALL_FAST 4201		/* only numbers from KC_FIRST on may be answered early */
#define CALL_RETURN 4202

/* First words of the data page. */
#define BLOCK_GATE 0
#define BLOCK_ADDRESS 1

extern const char user_code[];
size_t user_code_bytes(void);
bool user_can(enum user_program p);		/* does the port have it? */
/*
 * The back end's trap code gets a page fault of this access (0 load, 1 store, 2 fetch) from user
 * mode.
 */
void user_page_fault(struct hal_frame *f, uintptr_t addr, uint32_t write);
/* `thread`: 0 or 1, of the programs that have stacks of their own. */
void user_context(struct context *c, enum user_program p, const struct user_test *u,
	unsigned thread);

/* where USER_HANDLER begins */
void user_handler(const struct user_test *u, uintptr_t *entry, uintptr_t *stack);
/* bytes below that, behind which nothing is mapped */
uintptr_t user_handler_room(const struct user_test *u);

/* From u->code on: code, data, read-only, a hole, the stack of thread 1, that of thread 0. */
#define STACK_AT 4
/* a page is too little for what the thread sanitizer adds to an interrupt */
#define STACK_PAGES 2
#define STACK_END(thread) (STACK_AT + (2 - (thread)) * STACK_PAGES)
#define USER_PAGES STACK_END(0)
#define TO_HOLE (2 * HAL_PAGE_BYTES)	/* from the data page */

/* user.c: what tests of user mode share. All but user_run on the core whose user_test it is. */
void user_prepare(struct testbed *bed, struct user_test *u);	/* the space */
void user_clear(struct testbed *bed, struct user_test *u);
/*
 * Go to a program in it, whose address word points `beyond` bytes behind the data page's start;
 * traps end in on_trap.
 */
_Noreturn void user_enter(struct testbed *bed, struct user_test *u, enum user_program p,
	size_t beyond);
/*
 * Core 0: have core 1 run a test, which ends in user_finish; it is skipped where the port lacks the
 * program.
 */
void user_run(struct testbed *bed, const struct user_plan *plan);
void pass(uint64_t until);		/* compute in the kernel until it is so late */
/* in a trap: user_clear, and the command is done */
_Noreturn void user_finish(struct testbed *bed);
bool user_is_call(const struct hal_frame *f, const struct hal_trap *t, unsigned long number);

#endif
