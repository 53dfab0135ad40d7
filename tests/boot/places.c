/* SPDX-License-Identifier: MIT
 *
 * Where the kernel keeps the addresses of its tables: test_memory.py reads this table out of the
 * object file, and with it the memory of a machine that has ended. Nothing links it.
 */
#include <hal/cpu/riscv64/cpu.h>
#include <kernel/cluster.h>

#define PLACE(of, member) \
	{#of "." #member, offsetof(struct of, member), sizeof(((struct of *)0)->member)}

struct place {
	char name[40];
	uint32_t offset;
	uint32_t bytes;
};

extern const struct place places[];

__attribute__((section(".places"), used)) const struct place places[] = {
	PLACE(hal_machine, free),
	PLACE(cluster, core), PLACE(cluster, am.order), PLACE(cluster, thread),
	PLACE(cluster, proc), PLACE(cluster, deadlines.heap),
	PLACE(cluster, threads_live), PLACE(cluster, console.ring),
	PLACE(cluster, ikc.peer), PLACE(cluster, ikc.backlog), PLACE(cluster, ikc.in),
	PLACE(cluster, ikc.out), PLACE(cluster, ikc.left), PLACE(cluster, ikc.portal),
	PLACE(cluster, ikc.at), PLACE(cluster, ikc.connected),
	PLACE(cluster, ikc.allow), PLACE(cluster, ikc.sync), PLACE(cluster, ikc.look),
	PLACE(cluster, frames.frame), PLACE(cluster, frames.base), PLACE(cluster, frames.first),
	PLACE(cluster, frames.free), PLACE(cluster, frames.total),
	PLACE(core, ready.slot), PLACE(process, indexes),
	PLACE(frame, refs), PLACE(frame, state), PLACE(frame, order),
	{"frame", sizeof(struct frame), 0},
	{"slab records", SLAB_RECORDS, 0},
};
