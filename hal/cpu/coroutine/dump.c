/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: what every core was doing when a run failed, and which run it was if a signal
 * ends the program.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
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

	printf("core %u.%u %s%s%s%s%s", core->cluster, core->core, state[core->state],
		core->in_user ? ", in user code" : "",
		core->waiting ? ", armed" : "", core->rung ? ", rung" : "",
		core->interrupt ? ", interrupt pending" : "");
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

void
coro_crashed(int signal, const void *at)
{
	const struct coro_machine *m = &coro_machine;
	const struct coro_core *core = coro_now;
	char text[200];
	int n = snprintf(text, sizeof(text),
		"FAIL seed %llu: signal %d at %p after %llu operations, core %d.%d\n",
		(unsigned long long)(m->config != NULL ? m->config->seed : 0), signal, at,
		(unsigned long long)m->ops,
		core != NULL ? (int)core->cluster : -1, core != NULL ? (int)core->core : -1);

	if (n > 0 && write(STDOUT_FILENO, text, (size_t)n) != n)
		return;
}

static void
on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	coro_crashed(signal, info->si_addr);
	raise(signal);			/* the second time it ends the program */
}

/* Another's handler, a sanitizer's, stays. */
void
coro_catch_signals(void)
{
	static const int ending[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM, SIGTERM};
	static char stack[65536];
	static bool done;
	struct sigaction action = {.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND}, earlier;

	if (done)
		return;
	done = true;
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigaction(ending[i], NULL, &earlier) == 0 && earlier.sa_handler == SIG_DFL)
			sigaction(ending[i], &action, NULL);
}
