/* SPDX-License-Identifier: MIT
 *
 * Client of the device servers: one request, one answer.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/str.h>
#include <servers/device/client.h>

int
device_connect(struct device_client *c, uint32_t class, int in, int portal, uint32_t port)
{
	long out = kmailbox_open(DEVICE_CLUSTER, (int)DEVICE_PORT(class));

	if (out < 0)
		return (int)out;
	*c = (struct device_client){.out = (int)out, .in = in, .portal = portal, .port = port,
		.class = class, .next_id = 1};
	return 0;
}

void
device_disconnect(struct device_client *c)
{
	khandle_close(c->out);
}

static int
device_ask(struct device_client *c, struct device_request *q, struct device_reply *reply)
{
	int result;

	q->magic = DEVICE_MAGIC;
	q->id = c->next_id++;
	q->reply_port = c->port;
	result = mailbox_send(c->out, q);
	if (result != 0)
		return result;
	do {
		result = mailbox_receive_answer(c->in, DEVICE_CLUSTER, reply);
		if (result != 0)
			return result;
	} while (reply->magic != DEVICE_MAGIC || reply->id != q->id);
	return reply->error;
}

long
device_open(struct device_client *c)
{
	struct device_request q = {.op = DEVICE_OPEN};
	struct device_reply reply;
	long result = device_ask(c, &q, &reply);

	return result == 0 ? (long)reply.handle : result;
}

long
device_close(struct device_client *c, long handle)
{
	struct device_request q = {.op = DEVICE_CLOSE, .handle = (uint32_t)handle};
	struct device_reply reply;

	return device_ask(c, &q, &reply);
}

static long
read_some(struct device_client *c, long handle, void *to, size_t len)
{
	struct device_request q = {.op = DEVICE_READ, .handle = (uint32_t)handle,
		.count = (uint32_t)len, .bulk_port = DEVICE_NO_BULK};
	struct device_reply reply;
	int result;

	if (len > DEVICE_DATA) {
		long e = kportal_allow(c->portal, DEVICE_CLUSTER, (int)DEVICE_PORT(c->class));

		if (e < 0 && e != -E_BUSY)	/* one that was not used up serves, too */
			return e;
		q.bulk_port = c->port;
	}
	result = device_ask(c, &q, &reply);
	if (result != 0)
		return result;
	if (reply.value > len)
		return -E_IO;
	if (q.bulk_port != DEVICE_NO_BULK && reply.value > 0)
		return kportal_read(c->portal, (unsigned long)(uintptr_t)to, reply.value, FOREVER);
	memcpy(to, reply.data, reply.value);
	return (long)reply.value;
}

long
device_read(struct device_client *c, long handle, void *to, size_t len)
{
	size_t most = c->portal != 0 ? DEVICE_BULK : DEVICE_DATA, done = 0;

	while (done < len) {
		size_t part = len - done < most ? len - done : most;
		long n = read_some(c, handle, (char *)to + done, part);

		if (n < 0)
			return done > 0 ? (long)done : n;
		done += (size_t)n;
		if ((size_t)n < part)
			break;
	}
	return (long)done;
}

long
device_write(struct device_client *c, long handle, const void *from, size_t len)
{
	size_t done = 0;

	while (done < len) {
		struct device_request q = {.op = DEVICE_WRITE, .handle = (uint32_t)handle,
			.bulk_port = DEVICE_NO_BULK};
		struct device_reply reply;
		int result;

		q.count = (uint32_t)(len - done < DEVICE_DATA ? len - done : DEVICE_DATA);
		memcpy(q.data, (const char *)from + done, q.count);
		result = device_ask(c, &q, &reply);
		if (result != 0)
			return done > 0 ? (long)done : result;
		done += reply.value;
		if (reply.value < q.count)
			break;
	}
	return (long)done;
}
