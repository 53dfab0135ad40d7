/* SPDX-License-Identifier: MIT
 *
 * Where the words of the kernel lie that are looked at from outside the machine
 * (tools/run/kernelmem.py, trace.c): compiled to assembly, of which the texts `@ name value` are
 * kept (mk/kernel.mk), and never linked.
 */
#include <hal/core.h>
#include <kernel/cluster.h>
#include <kernel/thread/counts.h>

#define SAY(name, value) __asm__ volatile(".ident \"@ " name " %0\"" : : "i"(value))
#define CORE(name, field) SAY(name, offsetof(struct core, field))
#define THREAD(name, field) SAY(name, offsetof(struct thread, field))
#define PROC(name, field) SAY(name, offsetof(struct process, field))
#define CLUSTER(name, field) SAY(name, offsetof(struct cluster, field))

void offsets(void);

void
offsets(void)
{
	SAY("slot", CORE_STRIDE);
	/* where it is behind a core's stack, at the end of that slot */
	SAY("record", CORE_STRIDE - HAL_RECORD_BYTES);
	SAY("entry", sizeof(struct kcall_entry));
	CORE("cluster", cluster);
	CORE("acts", acts);
	CORE("current", current);
	CORE("count", count);
	CORE("levels", run_queue.level);
	CORE("load", load);
	CORE("role", role);
	CORE("is_crowded", is_crowded);
	CORE("crowded", crowded);
	CORE("spread", spread);
	CORE("role_since", role_since);
	CORE("call_busy", call.busy);
	CORE("call_fn", call.fn);
	CORE("post_busy", post.busy);
	CORE("post_fn", post.fn);
	SAY("ticks", CORE_TICKS);
	SAY("shot_down", CORE_SHOT_DOWN);
	SAY("faults", CORE_FAULTS);
	SAY("messages", CORE_MESSAGES);
	SAY("roles", CORE_ROLES);
	SAY("calls", CORE_CALLS);
	SAY("priorities", PRIORITIES);
	THREAD("thread_run", run);
	THREAD("thread_tid", tid);
	THREAD("thread_proc", proc);
	THREAD("thread_state", state);
	THREAD("thread_core", core);
	THREAD("thread_counts", counts);
	SAY("thread_ready", THREAD_READY);
	SAY("thread_waiting", THREAD_WAITING);
	SAY("run_version", offsetof(struct run_counts, version));
	SAY("run_word", offsetof(struct run_counts, word));
	SAY("run_switches", RUN_SWITCHES);
	CORE("core_id", id);
	PROC("proc_id", id);
	PROC("proc_state", state);
	PROC("proc_badge", badge);
	PROC("proc_frames", frames);
	PROC("proc_live", live);
	PROC("proc_first", core_first);
	PROC("proc_cores", core_count);
	PROC("proc_counts", counts.count);
	SAY("process", sizeof(struct process));
	SAY("proc_runs", PROC_LIVE);
	CLUSTER("cluster_record", record);
	CLUSTER("cluster_id", id);
	CLUSTER("cores", core);
	CLUSTER("procs", proc);
	CLUSTER("procs_max", procs_max);
	CLUSTER("threads", thread);
	CLUSTER("threads_used", threads_used);
	CLUSTER("frames", frames.frame);
	CLUSTER("frames_total", frames.total);
	CLUSTER("frame_domains", frames.domain);
	SAY("frame", sizeof(struct frame));
	SAY("frame_owner", offsetof(struct frame, owner));
	SAY("frame_state", offsetof(struct frame, state));
	SAY("frame_order", offsetof(struct frame, order));
	SAY("frame_free", FRAME_FREE);
	SAY("frame_user", FRAME_USER);
	SAY("frame_kernel", FRAME_KERNEL);
	SAY("frame_limbo", FRAME_LIMBO);
	SAY("frame_orders", FRAME_ORDERS);
	SAY("domain", sizeof(struct frame_domain));
	SAY("domain_first", offsetof(struct frame_domain, first));
	SAY("domain_end", offsetof(struct frame_domain, end));
	SAY("domain_near", offsetof(struct frame_domain, stat[DOMAIN_NEAR]));
	SAY("domain_far", offsetof(struct frame_domain, stat[DOMAIN_FAR]));
	SAY("am_ticket", offsetof(struct cluster, am.ticket));
	SAY("am_next", offsetof(struct cluster, am.next));
	SAY("am_order", offsetof(struct cluster, am.order));
	SAY("am_mask", offsetof(struct cluster, am.mask));
	SAY("am_served", offsetof(struct cluster, am.served));
}
