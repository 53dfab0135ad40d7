/* SPDX-License-Identifier: MIT
 *
 * Guests on the hosted port: Linux threads that a program made with its own libc become cores of
 * the kernel for a while (hal/guest.h). Until then such a thread has its maker's gs base but
 * another thread id, by which the gate knows it (gate.S) and hands it over to host_guest_enter.
 * What follows runs on the thread's own stack, with its libc's thread pointer: system calls only.
 */
#include <abi/guest.h>
#include <hal/guest.h>
#include "hosted.h"

#define GUESTS_MAX 192
#define BYTES_PER_GUEST (1 << 20)	/* of the cluster's memory: they shall be small beside it */
#define ARCH_SET_GS 0x1001
#define SS_DISABLE_STACK 2
#define PROT_READ_WRITE 3
#define MAP_OF_OUR_OWN 0x4022		/* MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE */

/*
 * Under the sanitizers the kernel runs on the host libc's thread-local data, which threads of a
 * program do not have.
 */
void
host_guests_init(struct boot_cluster *b)
{
	uint64_t guests = HOST_SWITCH_FS || HOST_TRAP_LOOP ? 0 : b->mem_bytes / BYTES_PER_GUEST;

	if (guests > GUESTS_MAX)
		guests = GUESTS_MAX;
	b->guests = guests < CLUSTER_CORES_MAX - b->cores ? (uint32_t)guests :
		CLUSTER_CORES_MAX - b->cores;
}

HOST_RAW static struct host_core *
take_core(void)
{
	const struct boot_cluster *b = &host.machine->record->cluster[host.cluster];

	for (unsigned i = b->cores; i < b->cores + b->guests; i++)
		if (hal_load32(&host.core[i].guest) == 0 && hal_cas32(&host.core[i].guest, 0, 1)) {
			host.core[i].id = i;
			return &host.core[i];
		}
	return NULL;
}

/* The kernel's stack and the stack for signals stay with the core. */
HOST_RAW static bool
make_stacks(struct host_core *c)
{
	long stack;

	if (c->stack != 0)
		return true;
	stack = host_call6(SYS_mmap, 0, HOST_KERNEL_STACK, PROT_READ_WRITE, MAP_OF_OUR_OWN, -1, 0);
	if (stack < 0)
		return false;
	if (!host_signal_stacks_make(c)) {
		host_call2(SYS_munmap, stack, HOST_KERNEL_STACK);
		return false;
	}
	c->stack = (uintptr_t)stack + HOST_KERNEL_STACK - 256;
	return true;
}

HOST_RAW static void
become_core(struct host_core *c)
{
	c->fsgsbase = host.fsgsbase;
	c->in_kernel = 1;
	c->pending = 0;
	c->tick = 0;
	host_tick_init(c);
	c->fpctl = (uint64_t)HOST_UNKNOWN;
	c->bell = &c->own_bell;
	c->fs = host_fs_read();
	c->host_fs = c->fs;
	host_call2(SYS_arch_prctl, ARCH_SET_GS, c);
	host_signal_stack_use(c);
	hal_add32(&host.machine->control->awake, 1);
	hal_store32(&c->tid, (uint32_t)host_call1(SYS_gettid, 0));
}

/* A thread of the program again, which the gate knows by its thread id. */
HOST_RAW static void
cease_core(struct host_core *c)
{
	struct { void *sp; int flags; size_t size; } none = {NULL, SS_DISABLE_STACK, 0};

	hal_store32(&c->tid, 0);
	c->fs = (uintptr_t)HOST_UNKNOWN;
	host_call2(SYS_sigaltstack, &none, NULL);
	host_call2(SYS_arch_prctl, ARCH_SET_GS, &host.core[0]);
	hal_add32(&host.machine->control->awake, (uint32_t)-1);
	hal_store32(&c->guest, 0);
}

HOST_RAW static void
leave(void)
{
	struct host_core *c = host_core_self();

	c->in_kernel = 1;
	if (!kernel_guest_leave())
		host_enter(&host_trap_doorbell);
	cease_core(c);
}

HOST_RAW long
host_guest_enter(uintptr_t image, struct guest_entry *e)
{
	struct guest_thread thread;
	struct host_core *c = take_core();
	int number;

	if (c == NULL)
		return -E_NOSPC;
	if (!make_stacks(c)) {
		hal_store32(&c->guest, 0);
		return -E_NOMEM;
	}
	become_core(c);
	number = kernel_guest_enter(host.core[0].local, c->id, image, &thread);
	if (number < 0) {
		cease_core(c);
		return number;
	}
	c->frame = thread.frame;
	c->space = thread.space;
	e->leave = leave;
	c->in_kernel = 0;
	return number;
}
