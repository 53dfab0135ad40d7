/* SPDX-License-Identifier: MIT
 *
 * The name server. It never waits for one client: an answer that finds its slot full stays in a
 * list and is tried again whenever the kernel wakes the server, which it does at every arrival and
 * at every slot that became free.
 */
#include <stdbool.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <servers/name/table.h>

#define PENDING_MAX 64

struct pending {
	int id;			/* output mailbox; negative: free */
	struct name_reply reply;
};

struct name_server {
	struct name_table table;
	struct pending pending[PENDING_MAX];
	int in;
};

/* Send an answer; true if it is done with, also because the client is gone. */
static bool
is_sent(int id, const struct name_reply *reply)
{
	if (kmailbox_write(id, reply) == -E_AGAIN)
		return false;
	khandle_close(id);
	return true;
}

/*
 * Keep an answer for later. Without room it is dropped: so many unread answers are a client's
 * fault.
 */
static void
keep(struct name_server *s, int id, const struct name_reply *reply)
{
	for (int i = 0; i < PENDING_MAX; i++)
		if (s->pending[i].id < 0) {
			s->pending[i] = (struct pending){id, *reply};
			return;
		}
	khandle_close(id);
}

static void
answer(struct name_server *s, const struct mail_sender *from, const struct name_request *request)
{
	struct name_reply reply;
	long id;

	name_serve(&s->table, from, request, &reply);
	if (request->reply_port == NAME_NO_REPLY)
		return;
	id = kmailbox_open((int)from->cluster, (int)request->reply_port);
	if (id >= 0 && !is_sent((int)id, &reply))
		keep(s, (int)id, &reply);
}

static void
retry(struct name_server *s)
{
	for (int i = 0; i < PENDING_MAX; i++)
		if (s->pending[i].id >= 0 && is_sent(s->pending[i].id, &s->pending[i].reply))
			s->pending[i].id = -1;
}

int
server_main(int argc, char **argv)
{
	static struct name_server server;
	struct name_request request;
	struct mail_sender from;

	(void)argc;
	(void)argv;
	for (int i = 0; i < PENDING_MAX; i++)
		server.pending[i].id = -1;
	server.in = atoll_startup()->listens;
	kevent_bind(EVENT_MAILBOX, server.in, 0);
	kevent_bind(EVENT_ROOM, 0, 1);
	for (;;) {
		while (kmailbox_read(server.in, ANY_SOURCE_CLUSTER, &request, &from) >= 0)
			answer(&server, &from, &request);
		retry(&server);
		kthread_sleep(WAKE_ANY, FOREVER);
	}
}
