/* SPDX-License-Identifier: MIT
 *
 * The file server. It never waits for a client: an answer that finds its slot full is tried again
 * whenever the kernel wakes the server, which it does at every arrival and at every slot that
 * became free. Files that were given at the machine's start are named in the boot archive's
 * etc/files, one path per line, and lie there below files/.
 */
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <servers/file/tree.h>

#define MORE_BLOCKS 32			/* taken from the kernel at a time */
#define KEEP_PART 8			/* of the cluster's memory that files leave to others */

/* The answer that a cluster has not got yet. */
struct client {
	int out;		/* mailbox to it; -1: none */
	bool waits;
	struct file_reply reply;
};

static struct file_server {
	struct tree tree;
	struct client client[CLUSTERS_MAX];
	int in;
} server;

struct block *
blocks_more(void)
{
	uint64_t free, total, addr;
	struct block *first;

	if (kstats(STATS_FRAMES_FREE, &free) < 0 || kstats(STATS_FRAMES_TOTAL, &total) < 0 ||
		free < total / KEEP_PART + MORE_BLOCKS)
		return NULL;
	if (kmem_alloc(SELF, (unsigned long)MORE_BLOCKS * BLOCK_BYTES, PAGE_READ | PAGE_WRITE,
		&addr) < 0)
		return NULL;
	first = (struct block *)(uintptr_t)addr;
	for (int i = 0; i < MORE_BLOCKS; i++)
		first[i].next = i + 1 < MORE_BLOCKS ? &first[i + 1] : NULL;
	return first;
}

static void
hang_up(struct client *c)
{
	if (c->out >= 0)
		khandle_close(c->out);
	c->out = -1;
}

/* Try to send what a cluster waits for. A cluster that is gone waits for nothing. */
static void
send(uint32_t cluster)
{
	struct client *c = &server.client[cluster];
	long result;

	if (c->out < 0)
		c->out = (int)kmailbox_open((int)cluster, FILE_REPLY_PORT);
	result = c->out < 0 ? c->out : kmailbox_write(c->out, &c->reply);
	c->waits = result == -E_AGAIN;
	if (result < 0 && !c->waits)
		hang_up(c);
}

/*
 * A request: its answer goes out. Behind the last one of a job (FILE_FORGET) the mailbox goes that
 * reached it; the next job has a new port.
 */
static void
take(const struct mail_sender *from, const struct file_request *request)
{
	struct client *c = &server.client[from->cluster];
	struct file_reply reply;

	if (!file_serve(&server.tree, from, request, &reply)) {
		hang_up(c);
		return;
	}
	c->reply = reply;
	send(from->cluster);
}

static void
add_files(void)
{
	struct file list, f;
	char name[sizeof("files/") + FILE_DATA_MAX];

	if (file_open("etc/files", &list) != 0)
		return;
	for (size_t at = 0, len; at < list.bytes; at += len + 1) {
		const char *line = (const char *)list.data + at;

		for (len = 0; at + len < list.bytes && line[len] != '\n'; len++)
			continue;
		if (len == 0 || len >= FILE_DATA_MAX)
			continue;
		str_copy(name, sizeof(name), "files/");
		str_copy(name + 6, len + 1, line);
		if (file_open(name, &f) == 0 &&
			tree_add_fixed(&server.tree, name + 6, f.data, f.bytes) != 0)
			console_print("file: no room for %s\n", name + 6);
	}
}

int
server_main(int argc, char **argv)
{
	struct file_request request;
	struct mail_sender from;

	(void)argc;
	(void)argv;
	tree_init(&server.tree);
	for (int i = 0; i < CLUSTERS_MAX; i++)
		server.client[i].out = -1;
	server.in = atoll_startup()->listens;
	kevent_bind(EVENT_MAILBOX, server.in, 0);
	kevent_bind(EVENT_ROOM, 0, 1);
	add_files();
	for (;;) {
		while (kmailbox_read(server.in, ANY_SOURCE_CLUSTER, &request, &from) >= 0)
			take(&from, &request);
		for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
			if (server.client[i].waits)
				send(i);
		kthread_sleep(WAKE_ANY, FOREVER);
	}
}
