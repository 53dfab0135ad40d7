/* SPDX-License-Identifier: MIT
 *
 * The device server: drives the one device that it was given, by the driver for that, and is a
 * service (atoll/service.h) at the port of its class. It waits for its clients and for the device
 * in one sleep. A read for which nothing is there is put off until the device has something; those
 * that wait have turns, so that each gets something.
 */
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <atoll/virtio.h>
#include <base/str.h>
#include <servers/device/driver.h>
#include <servers/device/protocol.h>

#define CLIENTS 64			/* the least share of a cluster is one */
#define NOBODY UINT32_MAX

static struct {
	const struct driver *driver;
	struct service service;
	struct service_client client[CLIENTS];
	uint64_t turn[CLIENTS];		/* of who waits to read; 0: it does not */
	uint64_t turns;			/* given so far */
} server;

/* --- turns --- */

/* Whose turn it is to read. */
static uint32_t
first_reader(void)
{
	uint32_t first = NOBODY;

	for (uint32_t i = 0; i < server.service.used; i++)
		if (server.turn[i] != 0 &&
			(first == NOBODY || server.turn[i] < server.turn[first]))
			first = i;
	return first;
}

/* The next one is looked at, if there is one: a client that waits no more, or never did. */
static void
turn_over(uint32_t client)
{
	uint32_t next;

	if (server.turn[client] == 0)
		return;
	server.turn[client] = 0;
	next = first_reader();
	if (next != NOBODY)
		service_again(&server.service, next);
}

/* -E_AGAIN: there is nothing, or others wait for it already. */
static long
read_in_turn(uint32_t client, void *to, size_t len)
{
	if (server.turn[client] == 0)
		server.turn[client] = ++server.turns;
	return first_reader() == client ? server.driver->read(to, len) : -E_AGAIN;
}

/* --- requests --- */

/* What a client says now may be something else than when it was put off. */
static uint32_t
device_serve(void *of, uint32_t client, struct service_part request, void *answer)
{
	struct device_request q = {0};
	struct device_reply r;
	char *data = (char *)answer + sizeof(r);
	long result = -E_INVAL;

	(void)of;
	if (request.bytes >= sizeof(q))
		memcpy(&q, request.at, sizeof(q));
	if (q.op == DEVICE_READ)
		result = read_in_turn(client, data, q.count < DEVICE_DATA ? q.count : DEVICE_DATA);
	else if (q.op == DEVICE_WRITE)
		result = server.driver->write((const char *)request.at + sizeof(q),
			request.bytes - sizeof(q));
	if (result == -E_AGAIN)
		return SERVICE_LATER;
	turn_over(client);
	r.result = (int32_t)result;
	memcpy(answer, &r, sizeof(r));
	return (uint32_t)sizeof(r) + (q.op == DEVICE_READ && result > 0 ? (uint32_t)result : 0);
}

static void
gone(void *of, uint32_t client)
{
	(void)of;
	turn_over(client);
}

/* --- the device --- */

static int
device_begin(const struct startup *s)
{
	static const struct driver *const drivers[DEVICE_CLASSES] = {&uart_driver, &random_driver};
	struct registers r = {.device = s->device[0]};
	int result = registers_map(r.device, BIT_INTERRUPT, &r.at);

	server.driver = drivers[s->device_class];
	return result != 0 ? result : server.driver->start(&r);
}

/*
 * It has interrupted, or somebody waits for it: while clients keep the server busy it does not
 * sleep, and finds no bit.
 */
static void
device_look(bool has_interrupted)
{
	uint32_t first = first_reader();

	if (!has_interrupted && first == NOBODY)
		return;
	if (server.driver->look(has_interrupted) && first != NOBODY)
		service_again(&server.service, first);
}

int
server_main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	const struct service_kind kind = DEVICE_SERVICE(s->device_class);
	int result = device_begin(s);

	(void)argc;
	(void)argv;
	server.service = (struct service){.kind = &kind, .serve = device_serve, .gone = gone,
		.in = s->listens, .client = server.client, .clients = CLIENTS,
		.looks = SERVICE_LOOKS};
	if (result == 0)
		result = service_begin(&server.service);
	if (result != 0) {
		console_print("device: class %u cannot be driven: error %d\n",
			(unsigned)s->device_class, -result);
		return 1;
	}
	for (;;)
		device_look((service_step(&server.service) & 1u << BIT_INTERRUPT) != 0);
}
