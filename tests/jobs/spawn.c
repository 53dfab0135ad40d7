/* SPDX-License-Identifier: MIT
 *
 * Processes by request: each rank starts others, this program with other arguments, in its cluster
 * and in another one, and takes their ends. At the end the cluster has what it had before. The
 * ranks, each in a cluster of its own, do so one after the other.
 */
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <servers/proc/client.h>
#include "frames.h"
#include "tell.h"

#define SELF_PATH "bin/spawn"
#define BIT 9
#define CHILDREN 5
#define KILLED 9
#define INHERITED "left by a parent"

static struct channel here;

/* --- what a child does --- */

static int
child_spawn(struct channel *ch, char *const *args, uint32_t flags)
{
	static char *const env[] = {"COLOUR=blue", NULL};
	const struct process_spawn what = {.path = SELF_PATH, .args = args, .envs = env,
		.flags = flags, .inherit = INHERITED, .inherit_bytes = sizeof(INHERITED)};

	return process_spawn(ch, &what);
}

/* Its words and what it has inherited are what the parent gave. */
static int
check_words(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	const char *inherited = (const char *)(uintptr_t)(s->placement + sizeof(struct placement));

	return argc == 5 && strcmp(argv[0], "own name") == 0 && strcmp(argv[2], "") == 0 &&
		strcmp(argv[3], "two words") == 0 && getenv("COLOUR") != NULL &&
		strcmp(getenv("COLOUR"), "blue") == 0 && strcmp(inherited, INHERITED) == 0 &&
		s->ranks == 1 ? 21 : 1;
}

/* More than what is there of the stack at the start. */
static int
use_stack(int depth)
{
	volatile char page[4096];

	page[0] = (char)depth;
	return depth == 0 ? 22 : use_stack(depth - 1) + (page[0] != (char)depth);
}

/* A child of a child ends with 5; this one with 23. */
static int
have_child(void)
{
	struct proc_status status;
	int pid;

	if (process_open(&here, (int)atoll_startup()->cluster, BIT) != 0)
		return 1;
	pid = child_spawn(&here, (char *const[]){"x", "exit", "5", NULL}, 0);
	return pid > 0 && process_wait(&here, pid, 0, &status) == pid && status.status == 5 &&
		process_wait(&here, PROCESS_ANY, 0, &status) == -PROCESS_ECHILD ? 23 : 1;
}

/* Becomes another program, which has this one's child, and takes its end. */
static int
become_another(void)
{
	if (process_open(&here, (int)atoll_startup()->cluster, BIT) != 0 ||
		child_spawn(&here, (char *const[]){"x", "exit", "6", NULL}, 0) <= 0)
		return 1;
	child_spawn(&here, (char *const[]){"x", "take", NULL}, PROCESS_REPLACE);
	return 1;
}

static int
take_child(void)
{
	struct proc_status status;

	return process_open(&here, (int)atoll_startup()->cluster, BIT) == 0 &&
		process_wait(&here, PROCESS_ANY, 0, &status) > 0 && status.status == 6 ? 24 : 1;
}

/* Leaves a child that never ends. */
static int
leave_child(void)
{
	return process_open(&here, (int)atoll_startup()->cluster, BIT) == 0 &&
		child_spawn(&here, (char *const[]){"left", "spin", NULL}, 0) > 0 ? 25 : 1;
}

/* Begins to make a child, and ends before that runs, or becomes another program. */
static int
leave_unmade(bool becomes)
{
	int handle = 0;

	if (process_open(&here, (int)atoll_startup()->cluster, BIT) != 0 ||
		process_fork_ask(&here, &(struct process_spawn){0}) != 0 ||
		process_fork_take(&here, &handle) <= 0 || handle <= 0)
		return 1;
	if (becomes)
		child_spawn(&here, (char *const[]){"x", "exit", "27", NULL}, PROCESS_REPLACE);
	return 26;
}

/* Says that it is ready, and goes on. */
static int
be_ready(void)
{
	if (process_open(&here, (int)atoll_startup()->cluster, BIT) != 0 ||
		process_ready() != 0)
		return 1;
	for (;;)
		kthread_sleep(1, FOREVER);
}

static int
be_child(int argc, char **argv)
{
	if (strcmp(argv[1], "exit") == 0)
		return atoi(argv[2]);
	if (strcmp(argv[1], "words") == 0)
		return check_words(argc, argv);
	if (strcmp(argv[1], "stack") == 0)
		return use_stack(10);
	if (strcmp(argv[1], "crash") == 0)
		*(volatile char *)8 = 1;
	if (strcmp(argv[1], "spin") == 0)
		for (;;)
			kthread_sleep(1, FOREVER);
	if (strcmp(argv[1], "parent") == 0)
		return have_child();
	if (strcmp(argv[1], "become") == 0)
		return become_another();
	if (strcmp(argv[1], "unmade") == 0 || strcmp(argv[1], "replaced") == 0)
		return leave_unmade(argv[1][0] == 'r');
	if (strcmp(argv[1], "ready") == 0)
		return be_ready();
	if (strcmp(argv[1], "take") == 0)
		return take_child();
	return strcmp(argv[1], "leave") == 0 ? leave_child() : 1;
}

/* --- what a rank does --- */

/* Start one and take its end. */
static struct proc_status
end_of(struct channel *ch, char *const *args)
{
	struct proc_status status = {.status = -1, .cause = 99};
	int pid = child_spawn(ch, args, 0);

	expect(pid > 1, 1, args[1]);
	expect(process_wait(ch, pid, 0, &status), pid, "the end of a child");
	return status;
}

static void
all_ends(struct channel *ch)
{
	struct proc_status s = end_of(ch, (char *const[]){"x", "exit", "7", NULL});

	expect(s.status, 7, "its status");
	expect(s.cause, CRASH_NONE, "its cause");
	expect(end_of(ch, (char *const[]){"own name", "words", "", "two words", "x", NULL}).status,
		21, "words of a child");
	expect(end_of(ch, (char *const[]){"x", "stack", NULL}).status, 22, "stack of a child");
	expect(end_of(ch, (char *const[]){"x", "parent", NULL}).status, 23, "a child's child");
	expect(end_of(ch, (char *const[]){"x", "become", NULL}).status, 24, "another program");
	expect(end_of(ch, (char *const[]){"x", "crash", NULL}).cause, CRASH_ACCESS, "a crash");
}

static void
one_of_many(struct channel *ch)
{
	char number[CHILDREN][2];
	struct proc_status status;
	int sum = 0, pid[CHILDREN];

	for (int i = 0; i < CHILDREN; i++) {
		number[i][0] = (char)('1' + i);
		number[i][1] = 0;
		pid[i] = child_spawn(ch, (char *const[]){"x", "exit", number[i], NULL}, 0);
		for (int k = 0; k < i; k++)
			expect(pid[k] != pid[i], 1, "pids are different");
	}
	for (int i = 0; i < CHILDREN; i++) {
		expect(process_wait(ch, PROCESS_ANY, 0, &status) > 0, 1, "one of them");
		sum += status.status;
	}
	expect(sum, CHILDREN * (CHILDREN + 1) / 2, "all of them");
	expect(process_wait(ch, PROCESS_ANY, 0, &status), -PROCESS_ECHILD, "one more");
	expect(process_wait(ch, pid[0], 0, &status), -PROCESS_ECHILD, "one of them again");
}

/* While one channel waits, another one ends what it waits for. */
static void
wait_and_kill(struct channel *ch, struct channel *waits)
{
	int pid = child_spawn(ch, (char *const[]){"x", "spin", NULL}, 0);
	const struct process_request q = {.op = PROCESS_WAIT, .pid = pid};
	struct process_reply r;
	struct proc_status status;

	expect(process_wait(ch, pid, PROCESS_NO_WAIT, &status), -E_AGAIN, "what has not ended");
	expect(service_send(waits, (const struct service_part[2]){{(void *)(uintptr_t)&q,
		sizeof(q)}, {NULL, 0}}), 0, "begin to wait");
	expect(process_kill(ch, pid, KILLED, 0), 0, "kill");
	expect(service_receive(waits, (const struct service_part[2]){{&r, sizeof(r)}, {NULL, 0}})
		>= 0, 1, "what is waited for");
	expect(r.pid, pid, "the killed one");
	expect(r.status.cause, CRASH_KILLED, "its cause");
	expect(r.status.status, KILLED, "its status");
	expect(process_kill(ch, pid, KILLED, 0), -E_SRCH, "kill again");
}

/* The answer comes when the child says that it is ready, or has ended without having said so. */
static void
await_start(struct channel *ch)
{
	int pid = child_spawn(ch, (char *const[]){"x", "ready", NULL}, PROCESS_AWAIT);
	struct proc_status status;

	expect(pid > 0, 1, "a child that says that it is ready");
	expect(process_kill(ch, pid, KILLED, 0), 0, "kill it");
	expect(process_wait(ch, pid, 0, &status), pid, "its end");
	pid = child_spawn(ch, (char *const[]){"x", "exit", "8", NULL}, PROCESS_AWAIT);
	expect(pid > 0, 1, "a child that does not say so");
	expect(process_wait(ch, pid, 0, &status), pid, "its end");
	expect(status.status, 8, "its status");
	expect(process_ready(), 0, "a rank says that it is ready");
}

static int
spawn_path(const char *path, char *const *args)
{
	return process_spawn(&here, &(const struct process_spawn){.path = path, .args = args});
}

static void
what_is_refused(void)
{
	static char text[PROCESS_MESSAGE];
	char *many[PROCESS_WORDS_MAX + 2];
	struct proc_status status;

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i <= PROCESS_WORDS_MAX; i++)
		many[i] = "";
	many[PROCESS_WORDS_MAX + 1] = NULL;
	expect(spawn_path("bin/none", NULL), -E_NOENT, "no such program");
	expect(spawn_path("etc/job", NULL), -PROCESS_ENOEXEC, "no program");
	expect(spawn_path("", NULL), -E_NOENT, "no path");
	expect(spawn_path(text, NULL), -E_2BIG, "a long path");
	text[300] = 0;
	expect(spawn_path(text, NULL), -E_NOENT, "a longer path than any");
	expect(spawn_path(SELF_PATH, many), -E_2BIG, "many words");
	expect(process_spawn(&here, &(const struct process_spawn){.path = "bin/none",
		.flags = PROCESS_REPLACE}), -E_NOENT, "to become no program");
	expect(process_wait(&here, 1, 0, &status), -PROCESS_ECHILD, "a stranger's end");
	expect(process_kill(&here, 1, KILLED, 0), -E_SRCH, "a stranger's kill");
}

/* The pid of the process of that name, beside the cluster's rank, the first; 0: there is none. */
static int
find(const char *name, int *parent)
{
	struct process_listed listed;
	struct process_reply r = {0};
	int pid = process_list(&here, 0, 0, &r, &listed);

	while ((pid = process_list(&here, pid, 0, &r, &listed)) > 0)
		if (strcmp(listed.name, name) == 0 && !r.has_ended) {
			*parent = r.parent;
			return pid;
		}
	return 0;
}

static void
an_orphan(void)
{
	int parent = -1, pid;

	expect(end_of(&here, (char *const[]){"x", "leave", NULL}).status, 25, "a parent's end");
	pid = find("spawn", &parent);
	expect(pid > 0, 1, "an orphan");
	expect(parent, 0, "an orphan's parent");
	expect(process_kill(&here, pid, KILLED, 0), 0, "an orphan's end");
	while (find("spawn", &parent) == pid)
		kthread_yield();
}

/* A process that nobody will make is not there for long; and who may make none is told so. */
static void
unmade(void)
{
	const struct process_entry entry = {.pc = 0x10000};
	int parent;

	expect(end_of(&here, (char *const[]){"x", "unmade", NULL}).status, 26, "a parent's end");
	while (find("spawn", &parent) > 0)
		kthread_yield();
	expect(end_of(&here, (char *const[]){"x", "replaced", NULL}).status, 27, "its program");
	while (find("spawn", &parent) > 0)
		kthread_yield();
	expect(process_start_ask(&here, 1, 0, &entry), 0, "a stranger is to begin");
	expect(process_start_take(&here), -E_SRCH, "a stranger begins");
}

/* As many as there can be. */
static void
too_many(void)
{
	int pid[256], n = 0, result = 0;
	struct proc_status status;

	while (n < 256 && (result = child_spawn(&here, (char *const[]){"x", "spin", NULL}, 0)) > 0)
		pid[n++] = result;
	expect(result == -E_AGAIN || result == -E_NOMEM || result == -E_NOSPC, 1, "one too many");
	expect(n > 2, 1, "some processes");
	for (int i = 0; i < n; i++)
		expect(process_kill(&here, pid[i], KILLED, 0), 0, "kill one of many");
	for (int i = 0; i < n; i++)
		expect(process_wait(&here, pid[i], 0, &status), pid[i], "the end of one of many");
}

static void
be_parent(void)
{
	const struct startup *s = atoll_startup();
	struct cluster_info info;
	struct channel there, waits;
	long before;

	kcluster_info(&info);
	expect(process_open(&here, (int)s->cluster, BIT), 0, "a channel");
	expect(process_open(&waits, (int)s->cluster, BIT), 0, "one that waits");
	all_ends(&here);
	one_of_many(&here);
	wait_and_kill(&here, &waits);
	await_start(&here);
	what_is_refused();
	too_many();
	before = frames();
	all_ends(&here);
	an_orphan();
	unmade();
	too_many();
	frames_await(before);
	expect(frames(), before, "free frames");
	if (info.clusters == 1)
		return;
	expect(process_open(&there, (int)((s->cluster + 1) % info.clusters), BIT), 0, "far");
	all_ends(&there);
	one_of_many(&there);
	await_start(&there);
	expect(channel_end(&waits), 0, "the end of a channel");
	expect(process_open(&waits, (int)((s->cluster + 1) % info.clusters), BIT), 0, "two far");
	wait_and_kill(&there, &waits);
}

int
main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	long in;

	if (argc > 1)
		return be_child(argc, argv);
	in = kmailbox_create((int)s->base_port);
	expect(in >= 0, 1, "a port");
	if (s->rank > 0)
		hear((int)in);
	be_parent();
	if (s->rank + 1 < s->ranks)
		tell(s->rank + 1);
	return verdict();
}
