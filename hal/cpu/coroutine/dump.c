/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: what every core was doing when a run failed.
 */
#include <stdio.h>
#include <string.h>
#include "internal.h"

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void
dump_core(const struct coro_core *core)
{
	static const char *const state[] = {"off", "ready", "waiting", "dead"};
	unsigned first = core->op_count > OPS_KEPT ? core->op_count - OPS_KEPT : 0;

	printf("core %u.%u %s%s%s%s%s", core->cluster, core->core, state[core->state], core->in_user ? ", in user code" : "",
		core->waiting ? ", armed" : "", core->rung ? ", rung" : "", core->interrupt ? ", interrupt pending" : "");
	if (core->state == CORE_WAITING && core->until != HAL_FOREVER)
		printf(", until %llu ns", (unsigned long long)core->until);
	printf("; last of %u operations:\n   ", core->op_count);
	for (unsigned i = first; i < core->op_count; i++) {
		const struct op *op = &core->ops[i % OPS_KEPT];

		printf(" %s@%s:%d", coro_op_name[op->kind], base_name(op->file), op->line);
	}
	printf("\n");
}

void
coro_dump(void)
{
	for (unsigned i = 0; i < coro_machine.cores; i++)
		if (coro_machine.core[i].state != CORE_OFF)
			dump_core(&coro_machine.core[i]);
	fflush(stdout);
}
