/* SPDX-License-Identifier: MIT
 *
 * Client of the device servers: see client.h.
 */
#include <abi/errors.h>
#include <atoll/service.h>
#include <servers/device/client.h>

/* There is a channel to the server, or to the one that follows it. 0 or what service_open says. */
static int
be_open(struct device_client *c)
{
	const struct service_kind kind = DEVICE_SERVICE(c->class);
	int result = c->line == DEVICE_IS_OPEN ? 0 : c->line == DEVICE_LOST ?
		service_reopen(&c->ch, &kind, c->bit) : service_open(&c->ch, &kind, c->bit);

	c->line = result == 0 ? DEVICE_IS_OPEN : DEVICE_CLOSED;
	return result;
}

int
device_open(struct device_client *c, uint32_t class, int bit)
{
	*c = (struct device_client){.line = DEVICE_CLOSED, .class = class, .bit = bit};
	return be_open(c);
}

void
device_close(struct device_client *c)
{
	if (c->line != DEVICE_CLOSED)
		channel_end(&c->ch);
	c->line = DEVICE_CLOSED;
}

/* What the server answers, of whose bytes there are as many as it says in `data`. */
static long
device_ask(struct device_client *c, struct device_request *q, const void *from, uint32_t bytes,
	struct service_part data)
{
	struct device_reply r = {0};
	const struct service_part request[2] = {{q, sizeof(*q)}, {(void *)(uintptr_t)from, bytes}};
	const struct service_part answer[2] = {{&r, sizeof(r)}, data};
	int result = be_open(c);

	if (result != 0)
		return result;
	result = service_call(&c->ch, request, answer);
	if (result == -E_PIPE || result == -E_HOSTDOWN)
		c->line = DEVICE_LOST;
	if (result < 0)
		return -E_IO;
	/* a server says no more than was asked for */
	if (r.result > (int32_t)(q->op == DEVICE_READ ? (uint32_t)result : bytes))
		return -E_IO;
	return r.result;
}

static uint32_t
at_a_time(size_t len)
{
	return len < DEVICE_DATA ? (uint32_t)len : DEVICE_DATA;
}

long
device_read(struct device_client *c, void *to, size_t len)
{
	struct device_request q = {.op = DEVICE_READ, .count = at_a_time(len)};

	return device_ask(c, &q, NULL, 0, (struct service_part){to, q.count});
}

long
device_write(struct device_client *c, const void *from, size_t len)
{
	struct device_request q = {.op = DEVICE_WRITE};

	return device_ask(c, &q, from, at_a_time(len), (struct service_part){NULL, 0});
}
