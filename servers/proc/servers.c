/* SPDX-License-Identifier: MIT
 *
 * The servers of the leader's cluster. The process server opens the port of each, before anything
 * else runs, and gives it a handle that reads there. It keeps the port open itself: whatever
 * becomes of a server, no other process can be asked in its place.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/agent.h>

#define SERVER_STACK (32 * 1024)
#define NOW 0			/* as a deadline: ask without waiting */

/*
 * An empty process that is believed as a server is, that no program keeps from working, and whose
 * end is told. Its handle or -E_NAME.
 */
static long
make_server(void)
{
	long proc = kproc_create(), result = proc < 0 ? proc : kproc_badge((int)proc, BADGE_SERVER);

	if (result >= 0)
		result = kproc_priority((int)proc, PRIORITY_SERVER);
	if (result >= 0)
		result = kevent_bind(EVENT_PROC, (int)proc, BIT_SERVER);
	return result < 0 ? result : proc;
}

/* The handle by which a server reads at its port, or -E_NAME. */
static long
give_port(int proc, int port)
{
	long own = kmailbox_create(port);

	return own < 0 ? own : khandle_duplicate((int)own, proc, RIGHT_READ | RIGHT_WAIT);
}

/* Load a server into its process and start it on this core. 0 or -E_NAME. */
static long
load_server(const struct agent *a, struct image *im, int proc, int port)
{
	struct startup s = {.version = STARTUP_VERSION, .bytes = sizeof(s),
	    .gate = atoll_startup()->gate, .cluster = a->here.cluster};
	struct copy c = {.stack_bytes = SERVER_STACK};
	struct stack_place place;
	struct context ctx;
	long result = give_port(proc, port);

	if (result < 0)
		return result;
	s.listens = (int32_t)result;
	result = copy_make(&c, im, proc);
	if (result != 0)
		return result;
	result = agent_fill_stack(&c, im, NULL, &s, &place);
	copy_done(&c);
	if (result != 0)
		return result;
	context_init(&ctx, (uintptr_t)(c.base + im->plan.entry), (uintptr_t)place.sp, 0, 0);
	return kproc_start(proc, &ctx, (int)a->here.core);
}

int
agent_start_server(struct agent *a, struct server *s, int port)
{
	static struct image im;
	long result = image_open(&im, (struct text){s->name, str_len(s->name)});

	if (result != 0)
		return (int)result;
	result = s->proc = (int)make_server();
	if (result >= 0)
		result = load_server(a, &im, s->proc, port);
	image_close(&im);
	if (result < 0)
		console_print("atoll: cannot start %s: %s\n", s->name, error_text(result));
	return result < 0 ? (int)result : 0;
}

bool
agent_server_has_ended(const struct server *s)
{
	struct proc_status status;

	if (s->proc <= 0 || kproc_wait(s->proc, &status, NOW) < 0)
		return false;
	console_print("atoll: the server %s has ended, and with it the machine\n", s->name);
	return true;
}
