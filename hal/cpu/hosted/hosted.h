/* SPDX-License-Identifier: MIT
 *
 * What the files of the hosted back end share. One struct host per process (a cluster), one struct
 * host_core per core.
 *
 * Once user threads run, the host's libc must not be used: its thread-local data is not loaded
 * (gate.h). Everything here makes system calls by itself, and mem* functions are all it takes from
 * libc. host_libc_begin/end bound the exceptions.
 */
#ifndef HOSTED_H
#define HOSTED_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <abi/boot.h>
#include <abi/limits.abi.h>
#include <abi/errors.h>
#include <abi/guest.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <hal/noc.h>
#include <hal/trap.h>
#include <cpu/host.h>
#include "gate.h"

#define HOST_SIGNAL_STACK (64 * 1024)
#define HOST_RED_ZONE 128		/* below a stack pointer, which code may use */
#define HOST_KERNEL_STACK (256 * 1024)
#define USER_LIMIT ((uintptr_t)1 << 47)	/* beyond it Linux does not say where a fault was */
#define HOST_INTERRUPT GUEST_SIGNAL_DOORBELL
#define HOST_TICK GUEST_SIGNAL_TICK	/* of a core's timer */

/* The sanitizers must not follow what runs on a user's or a signal's stack. */
#define HOST_RAW __attribute__((no_sanitize("address", "thread", "undefined")))

struct host_core {
	/* known to gate.S */
	struct hal_frame *frame;	/* of the user thread that runs or ran last */
	void *local;			/* the kernel's struct core */
	uintptr_t stack;		/* where the kernel stack is empty */
	uintptr_t fs;			/* thread pointer that is loaded */
	uintptr_t host_fs;		/* thread pointer of the host thread itself */
	uint64_t fpctl;			/* floating-point control words that are loaded */
	uint32_t tid;			/* of the host thread */
	uint32_t in_kernel;
	/* signals that came while the kernel ran: looked at, together, before the core leaves it */
	uint32_t pending;		/* of hal_interrupt */
	uint32_t tick;			/* of the core's timer */
	uint32_t fsgsbase;		/* user code may use rdfsbase */
	const struct hal_trap *trap;	/* HOST_TRAP_LOOP: why the thread stopped */
	/* the C code's own */
	unsigned id;
	struct hal_space *space;	/* whose memory copies reach, or NULL */
	struct hal_doorbell *bell;
	uint32_t seen;			/* what bell->rung was when the core began to wait */
	uint32_t waits;
	uint32_t poll_ns;		/* how long to poll before the next sleep */
	/* timer.c */
	uint64_t tick_ns;		/* when a user thread is to be stopped, or HAL_FOREVER */
	uint64_t timer_ns;		/* what Linux's timer is set to; HAL_FOREVER: to nothing */
	int timer;			/* Linux's number of it */
	bool has_timer;
	void *start_arg;
	struct hal_trap fault;
	uintptr_t copy_fault;		/* address of the fault that ended a copy, or was refused */
	bool copy_write;		/* that copy was to the user */
	/* a fault's state stays on one while the other one is in use */
	void *signal_stack[2];
	unsigned signal_now;
	unsigned signal_set;		/* the one that Linux knows */
	uint32_t guest;			/* taken by a guest (guest.c) */
	struct hal_doorbell own_bell;	/* of a guest: other clusters never ring it */
	jmp_buf loop;
} __attribute__((aligned(128)));

struct host {
	const struct host_machine *machine;
	unsigned cluster;
	int pid;
	bool fsgsbase;
	int memory_fd;
	/* linear view of the cluster's memory; physical addresses are addresses in it */
	uintptr_t memory;
	size_t memory_bytes;
	uintptr_t spare;		/* mappings kept for a need, or 0 */
	size_t noc_bytes;
	size_t archive_bytes;		/* rounded up to pages */
	struct host_core *core;
	/* cores from here on are guests; 0: this process is no cluster */
	unsigned guests_from;
};

extern struct host host;

static inline struct host_core *
host_core_self(void)
{
	return &host.core[hal_core_id()];
}

#define HOST_NS_PER_S 1000000000u

/* When, by the host's clock, a time of the machine's has come: as a time of CLOCK_MONOTONIC. */
static inline struct timespec
host_time(uint64_t ns)
{
	uint64_t at = host.machine->control->start_ns + ns / host.machine->clock_rate +
		(ns % host.machine->clock_rate != 0);

	return (struct timespec){.tv_sec = (time_t)(at / HOST_NS_PER_S),
		.tv_nsec = (long)(at % HOST_NS_PER_S)};
}

/* The machine's time at a time of CLOCK_MONOTONIC. */
static inline uint64_t
host_ns(const struct timespec *now)
{
	uint64_t ns = (uint64_t)now->tv_sec * HOST_NS_PER_S + (uint64_t)now->tv_nsec;

	return (ns - host.machine->control->start_ns) * host.machine->clock_rate;
}

/* Raw system call: no errno, no cancellation. Result or -errno. */
static inline long
host_call(long nr, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10),
		"r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return result;
#endif
}

#define host_call1(nr, a) host_call(nr, (long)(a), 0, 0, 0, 0, 0)
#define host_call2(nr, a, b) host_call(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define host_call3(nr, a, b, c) host_call(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define host_call4(nr, a, b, c, d) host_call(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define host_call6(nr, a, b, c, d, e, f) \
	host_call(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* core.c: take over the calling host thread as a core (gs base, signal stack, pinning). */
void host_core_attach(unsigned core);

/* core.c: run a kernel entry on the calling thread's stack. */
_Noreturn void host_core_run(struct host_core *c, void (*entry)(void));

/*
 * fault.c: signal handlers of the process; signal stacks of a core: make them, and use them on the
 * calling thread.
 */
void host_signals_install(void);
bool host_signal_stacks_make(struct host_core *c);	/* false: no memory */
void host_signal_stack_use(struct host_core *c);
void host_signals_unblock(void);

/* gate.S, frame.c: causes that need no words. */
extern const struct hal_trap host_trap_call, host_trap_doorbell, host_trap_timer;

/* core.c: where a jump to the trap loop of HOST_TRAP_LOOP goes. */
#define LOOP_USER 1
#define LOOP_CALL 2

/*
 * fault.c: the state of a thread that a signal stopped (hal_frame.stopped) moves from the running
 * core's signal stack to another one, below *top, which comes down to it. False: it cannot be
 * written there (hal_user_fault), and is where it was.
 */
bool host_signal_frame_move(uintptr_t *stopped, uintptr_t *top);

/* fault.c: such a thread goes on at another address. */
void host_signal_frame_set_pc(uintptr_t stopped, uintptr_t pc);

/* timer.c: no time is armed yet. */
void host_tick_init(struct host_core *c);

/*
 * timer.c: the timer's signal came, now or while the kernel ran. True if the armed time has come,
 * which is then armed no more. If not, the signal was for an earlier one: the timer is set again.
 */
bool host_tick_take(struct host_core *c);

/*
 * timer.c: called by gate.S on the empty kernel stack, when signals came while the kernel ran: what
 * to tell the kernel, or NULL.
 */
const struct hal_trap *host_late_trap(void);

/* host.c: say why the host does not let us go on, and end this cluster. */
_Noreturn void host_refuse(const char *what);

/*
 * host.c: mappings that Linux counts and nobody uses; dropped, they make room to undo others when
 * the limit is reached.
 */
void host_spare_make(void);
void host_spare_drop(void);

/* guest.c: how many guests a cluster may have. */
void host_guests_init(struct boot_cluster *b);

/* host.c: write to a file descriptor, whole. */
void host_write(int fd, const char *text, size_t len);

/* panic.c: the kernel itself faulted at pc; `frame`: its frame pointer there. */
_Noreturn void host_kernel_fault(int sig, const void *addr, uintptr_t pc, uintptr_t frame);

/*
 * panic.c: say what the core does that was interrupted at pc; the first one to be asked passes the
 * question on to all others.
 */
void host_dump(bool was_kernel, uintptr_t pc, uintptr_t frame);
void host_dump_ask_others(void);

/* host.c: end this process at once. */
_Noreturn void host_exit(enum host_end end, int status);

/* The host's libc may be used between these two. */
uintptr_t host_libc_begin(void);
void host_libc_end(uintptr_t fs);

#endif
