/* SPDX-License-Identifier: MIT
 *
 * Cores as host threads. Core 0 is the process's first thread, the others are created when the
 * kernel starts them. Application cores are pinned if the machine description fits the host; all
 * others float and take no CPU time while they wait.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "hosted.h"

#define ARCH_SET_GS 0x1001
#define ARCH_GET_FS 0x1003

unsigned
hal_core_id(void)
{
	unsigned id;

#ifdef __x86_64__
	__asm__("mov %%gs:%c1, %0" : "=r"(id) : "i"(offsetof(struct host_core, id)));
#endif
	return id;
}

unsigned
hal_cluster_id(void)
{
	return host.cluster;
}

void
hal_core_set_local(void *core)
{
	host_core_self()->local = core;
}

static void
pin(unsigned core)
{
	int cpu = host.machine->cpu[host.machine->record->cluster[host.cluster].first_core + core];
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* a refusal costs speed only */
	host_call3(SYS_sched_setaffinity, 0, sizeof(set), &set);
}

static void
name_thread(unsigned core)
{
	char name[16];

	snprintf(name, sizeof(name), "atoll %u.%u", host.cluster, core);
	prctl(PR_SET_NAME, name);
}

void
host_core_attach(unsigned core)
{
	struct host_core *c = &host.core[core];

	c->id = core;
	c->fsgsbase = host.fsgsbase;
	c->in_kernel = 1;
	c->fpctl = (uint64_t)HOST_UNKNOWN;
	host_tick_init(c);
	c->bell = hal_noc_doorbell(host.cluster, core);
	host_call2(SYS_arch_prctl, ARCH_GET_FS, &c->host_fs);
	c->fs = c->host_fs;
	host_call2(SYS_arch_prctl, ARCH_SET_GS, c);
	name_thread(core);
	pin(core);
	if (!host_signal_stacks_make(c))
		host_refuse("no memory for signal stacks");
	host_signal_stack_use(c);
	hal_add32(&host.machine->control->awake, 1);
	/* from here on the core can be interrupted */
	hal_store32(&c->tid, (uint32_t)host_call1(SYS_gettid, 0));
	if (core == 0)
		hal_store32(&host.machine->control->home[host.cluster], c->tid);
}

#if HOST_TRAP_LOOP
/*
 * The trap loop: hal_user_enter jumps to its head (LOOP_USER), traps come back from host_run_user;
 * hal_call_again is LOOP_CALL.
 */
static _Noreturn void
trap_loop(struct host_core *c)
{
	for (;;) {
		host_run_user();
		kernel_trap(c->frame, c->trap);
	}
}

_Noreturn void
host_core_run(struct host_core *c, void (*entry)(void))
{
	int from = setjmp(c->loop);

	if (from == 0)
		entry();
	if (from == LOOP_CALL)
		kernel_trap(c->frame, &host_trap_call);
	trap_loop(c);
}
#else
_Noreturn void
host_core_run(struct host_core *c, void (*entry)(void))
{
	c->stack = ((uintptr_t)__builtin_frame_address(0) - 256) & ~(uintptr_t)63;
	entry();
	__builtin_unreachable();
}
#endif

static void
enter_core_main(void)
{
	kernel_core_main(host_core_self()->start_arg);
}

static void *
core_thread(void *core)
{
	host_core_attach((unsigned)(uintptr_t)core);
	host_core_run(host_core_self(), enter_core_main);
}

void
hal_core_start(unsigned core, void *arg)
{
	uintptr_t fs = host_libc_begin();
	pthread_attr_t attr;
	pthread_t thread;

	host.core[core].start_arg = arg;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, HOST_KERNEL_STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, core_thread, (void *)(uintptr_t)core) != 0)
		host_refuse("cannot create a thread for each core");
	pthread_attr_destroy(&attr);
	host_libc_end(fs);
}

_Static_assert(offsetof(struct host_core, frame) == CORE_FRAME, "gate.h");
_Static_assert(offsetof(struct host_core, local) == CORE_LOCAL && CORE_LOCAL == HOST_CORE_LOCAL,
	"gate.h");
_Static_assert(offsetof(struct host_core, stack) == CORE_STACK, "gate.h");
_Static_assert(offsetof(struct host_core, fs) == CORE_FS, "gate.h");
_Static_assert(offsetof(struct host_core, host_fs) == CORE_HOST_FS, "gate.h");
_Static_assert(offsetof(struct host_core, fpctl) == CORE_FPCTL, "gate.h");
_Static_assert(offsetof(struct host_core, tid) == CORE_TID, "gate.h");
_Static_assert(offsetof(struct host_core, in_kernel) == CORE_IN_KERNEL, "gate.h");
_Static_assert(offsetof(struct host_core, pending) == CORE_PENDING, "gate.h");
_Static_assert(offsetof(struct host_core, tick) == CORE_TICK && CORE_TICK == CORE_PENDING + 4 &&
	CORE_PENDING % 8 == 0, "gate.h");
_Static_assert(offsetof(struct host_core, fsgsbase) == CORE_FSGSBASE, "gate.h");
_Static_assert(offsetof(struct host_core, trap) == CORE_TRAP, "gate.h");
