/* SPDX-License-Identifier: MIT
 *
 * Processes of all clusters use the device servers at random, rightly and with nonsense that
 * changes while it is served, and are killed at random times, as the servers are. Each request is
 * answered, or is EIO when its server has ended; nobody waits for ever, and at the end everything
 * has been given back. Each rank needs a cluster.
 * usage: devices_killed [SEED [KILLS [servers]]]
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <servers/device/client.h>
#include <servers/proc/client.h>
#include "draw.h"
#include "expect.h"
#include "rest.h"

#define BIT 9
#define BIT_LEADER 10
#define WARM 10		/* the first kills, without which servers have less memory than later */
#define KILLS 60
#define WORKERS 3
#define LONGEST_NS 4000000
#define QUIET 40	/* lives of each server, while nobody else does anything */
#define WRONG 99	/* the status of who was answered wrongly */

static volatile sig_atomic_t is_over;
static bool ends_servers;
static struct channel leader;

/* --- what workers do: 0, or what was wrong --- */

static struct device_client device;
static unsigned char text[DEVICE_MESSAGE];

/* False: there are more clients than the server takes, or the pages of others are not back yet. */
static bool
opens(uint32_t class)
{
	int result = device_open(&device, class, BIT);

	if (result == -E_NOSPC)
		return false;
	expect(result, 0, "open a device");
	return result == 0;
}

static long
read_random(void)
{
	long n = device_read(&device, text, 1 + draw(sizeof(text)));

	if (n > 0 || n == -E_NOSPC)
		return 0;
	return n != -E_IO ? n : ends_servers ? 0 : n;
}

static long
use_random(void)
{
	long wrong = 0;

	if (!opens(DEVICE_RANDOM))
		return failures;
	for (uint32_t n = draw(8); n > 0 && wrong == 0; n--)
		wrong = read_random();
	device_close(&device);
	return wrong;
}

/* A line; or wait for what nobody types until the server ends, or this process. */
static long
use_console(void)
{
	long n;

	if (!opens(DEVICE_CONSOLE))
		return failures;
	if (draw(4) != 0)
		n = device_write(&device, "-\n", draw(3));
	else
		n = device_read(&device, text, draw(8) == 0 ? 0 : ends_servers);
	device_close(&device);
	return n >= 0 || (n == -E_IO && ends_servers) ? 0 : n;
}

/* Nothing of it is a read of the console, which would wait, or text for that. */
static void
put_nonsense(void)
{
	unsigned char *place = channel_place(&device.ch);
	struct device_request q = {.op = draw(4), .count = draw(2) ? draw(4000) : draw(1u << 31)};
	uint32_t bytes = draw(4) == 0 ? draw(sizeof(q)) : sizeof(q) + draw(DEVICE_DATA);

	memcpy(place, &q, sizeof(q));
	channel_put(&device.ch, draw(16) == 0 ? draw(1u << 31) : bytes);
	for (uint32_t n = draw(2) * 64; n > 0; n--)
		((volatile unsigned char *)place)[draw(sizeof(q))] = (unsigned char)draw(8);
}

static long
say_nonsense(void)
{
	int n = 0;

	if (!opens(DEVICE_RANDOM))
		return failures;
	for (uint32_t i = draw(8); i > 0 && n >= 0; i--) {
		struct device_reply r = {0};

		put_nonsense();
		if (draw(16) == 0)		/* and go without the answer */
			break;
		n = service_receive(&device.ch, (const struct service_part[2]){{&r, sizeof(r)},
			{text, sizeof(text)}});
		if (n >= 0 && r.result > 0 && r.result != n)
			n = -E_INVAL;
	}
	device_close(&device);
	return n >= 0 || (n == -E_PIPE && ends_servers) ? 0 : n;
}

/* Messages to the mailbox: channels that are none, or another one's; or noise. */
static long
send_noise(void)
{
	uint32_t message[MAILBOX_MSG_SIZE / sizeof(uint32_t)];
	long out = kmailbox_open(DEVICE_CLUSTER, (int)DEVICE_PORT(draw(DEVICE_CLASSES)));

	for (uint32_t i = 0; i < MAILBOX_MSG_SIZE / sizeof(uint32_t); i++)
		message[i] = draw(1u << 31);
	if (draw(2) == 0)
		message[0] = DEVICE_MAGIC;
	if (draw(2) == 0)
		message[1] = draw(64);
	if (out < 0)
		return out;
	mailbox_send((int)out, message);
	return khandle_close((int)out);
}

#define THINGS 4

static long
do_something(uint32_t what)
{
	switch (what) {
	case 0: return use_random();
	case 1: return use_console();
	case 2: return say_nonsense();
	default: return send_noise();
	}
}

static void
end_soon(int sig)
{
	(void)sig;
	is_over = 1;
}

/* It goes on until it is killed, or told to end. */
static pid_t
begin_worker(void)
{
	uint64_t own = (uint64_t)draw(1u << 31) << 20 | atoll_startup()->rank;
	pid_t pid = fork();
	long wrong = 0;

	if (pid != 0) {
		expect(pid > 0, 1, "a worker");
		return pid;
	}
	state = own;
	while (!is_over && wrong == 0)
		wrong = do_something(draw(THINGS));
	expect(wrong, 0, "what a worker was answered");
	fflush(stdout);
	_exit(failures != 0 ? WRONG : 0);
}

/* --- their parent --- */

static void
take_end(pid_t pid, int status)
{
	expect(waitpid(pid, &status, 0), pid, "the end of a worker");
	expect(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0, "how it has ended");
}

static void
kill_server(uint32_t class)
{
	if (ends_servers)
		expect(process_server(&leader, PROCESS_DEVICE_SERVER + (int)class, SIGKILL) != 0, 1,
			"kill a server");
}

/* Those that read the console hear of the end of its server, and all end by themselves. */
static void
end_workers(const pid_t *pid)
{
	int status = WRONG;

	for (int i = 0; i < WORKERS; i++)
		kill(pid[i], SIGTERM);
	for (int i = 0; i < WORKERS; i++) {
		pid_t ended;

		while ((ended = waitpid(pid[i], &status, WNOHANG)) == 0) {
			kill_server(DEVICE_CONSOLE);
			nanosleep(&(struct timespec){.tv_nsec = LONGEST_NS}, NULL);
		}
		expect(ended, pid[i], "the end of a worker that was told to");
		expect(status, 0, "how it has ended");
	}
}

static void
let_work(int kills)
{
	pid_t pid[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pid[i] = begin_worker();
	for (int i = 0; i < kills; i++) {
		uint32_t n = draw(WORKERS);

		nanosleep(&(struct timespec){.tv_nsec = draw(LONGEST_NS)}, NULL);
		if (draw(2) == 0)
			kill_server(draw(DEVICE_CLASSES));
		if (draw(2) == 0)
			continue;
		kill(pid[n], SIGKILL);
		take_end(pid[n], 0);
		pid[n] = begin_worker();
	}
	end_workers(pid);
}

/* The servers begin anew, and have done the same since: what there is now can be compared. */
static void
begin_anew(void)
{
	for (uint32_t class = 0; class < DEVICE_CLASSES; class++) {
		int server = PROCESS_DEVICE_SERVER + (int)class,
			lives = process_server(&leader, server, ends_servers ? SIGKILL : 0);

		while (ends_servers && process_server(&leader, server, 0) <= lives)
			kthread_yield();
		expect(device_open(&device, class, BIT), 0, "open a device");
		expect(class == DEVICE_RANDOM ? device_read(&device, text, 1) :
			device_write(&device, "-\n", 2), class == DEVICE_RANDOM ? 1 : 2, "use it");
		device_close(&device);
	}
}

/* Without workers the pieces of each life come and go in the same order, so that none is lost. */
static void
end_quietly(uint64_t before[COUNTS])
{
	rest_count(before);
	for (int i = 0; i < QUIET; i++)
		begin_anew();
	rest_await(before, 0);
}

int
main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int kills = argc > 2 ? atoi(argv[2]) : KILLS;
	uint64_t before[COUNTS] = {0};
	bool is_alone = atoll_startup()->ranks == 1;

	ends_servers = argc > 3 && strcmp(argv[3], "servers") == 0;
	state = seed * 1000 + atoll_startup()->rank;
	signal(SIGTERM, end_soon);
	expect(process_open(&leader, 0, BIT_LEADER), 0, "open a channel");
	if (is_alone) {
		let_work(0);	/* this process has channels of its own from now on */
		begin_anew();
		rest_count(before);
		before[FRAMES] = 0;
	}
	let_work(WARM);
	if (is_alone) {
		begin_anew();
		rest_await(before, SCATTER);
		rest_count(before);
	}
	let_work(kills);
	if (is_alone) {
		begin_anew();
		rest_await(before, SCATTER);
		end_quietly(before);
	}
	printf("%s rank %u: devices and seed %lu\n", failures ? "FAIL" : "ok",
		atoll_startup()->rank, seed);
	return failures != 0;
}
