/* SPDX-License-Identifier: MIT
 *
 * Client of the name server: one request, one answer. Answers to earlier requests (of a client that
 * gave up) are dropped, and what no server sent.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/str.h>
#include <servers/name/client.h>
#include <servers/name/protocol.h>

int
name_open(struct name_client *c, int in, uint32_t port)
{
	long out = kmailbox_open(NAME_CLUSTER, NAME_PORT);

	if (out < 0)
		return (int)out;
	*c = (struct name_client){.out = (int)out, .in = in, .port = port, .next_id = 1};
	return 0;
}

void
name_close(struct name_client *c)
{
	khandle_close(c->out);
}

static int
name_ask(struct name_client *c, struct name_request *request, struct name_reply *reply)
{
	int result;

	request->magic = NAME_MAGIC;
	request->id = c->next_id++;
	request->reply_port = c->port;
	result = mailbox_send(c->out, request);
	if (result != 0)
		return result;
	do {
		result = mailbox_receive_answer(c->in, NAME_CLUSTER, reply);
		if (result != 0)
			return result;
	} while (reply->magic != NAME_MAGIC || reply->id != request->id);
	return reply->error;
}

static int
fill(struct name_request *request, enum name_op op, const char *name)
{
	size_t len = str_len_max(name, NAME_LENGTH_MAX + 1);

	*request = (struct name_request){.op = op};
	if (len == 0 || len > NAME_LENGTH_MAX)
		return -E_INVAL;
	str_copy(request->name, sizeof(request->name), name);
	return 0;
}

int
name_register(struct name_client *c, const char *name, uint32_t port)
{
	struct name_request request;
	struct name_reply reply;

	if (fill(&request, NAME_REGISTER, name) != 0)
		return -E_INVAL;
	request.port = port;
	return name_ask(c, &request, &reply);
}

int
name_lookup(struct name_client *c, const char *name, uint32_t *cluster, uint32_t *port)
{
	struct name_request request;
	struct name_reply reply;
	int result;

	if (fill(&request, NAME_LOOKUP, name) != 0)
		return -E_INVAL;
	result = name_ask(c, &request, &reply);
	if (result == 0) {
		*cluster = reply.cluster;
		*port = reply.port;
	}
	return result;
}

int
name_unregister(struct name_client *c, const char *name)
{
	struct name_request request;
	struct name_reply reply;

	if (fill(&request, NAME_UNREGISTER, name) != 0)
		return -E_INVAL;
	return name_ask(c, &request, &reply);
}

int
name_count(struct name_client *c, uint32_t *names)
{
	struct name_request request = {.op = NAME_COUNT};
	struct name_reply reply;
	int result = name_ask(c, &request, &reply);

	if (result == 0)
		*names = reply.names;
	return result;
}

int
name_forget(uint32_t cluster, uint32_t badge)
{
	struct name_request request = {.magic = NAME_MAGIC, .op = NAME_FORGET,
		.reply_port = NAME_NO_REPLY, .cluster = cluster, .badge = badge};
	long out = kmailbox_open(NAME_CLUSTER, NAME_PORT);
	int result;

	if (out < 0)
		return (int)out;
	result = (int)kmailbox_write((int)out, &request);
	khandle_close((int)out);
	return result;
}
