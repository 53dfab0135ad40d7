/* SPDX-License-Identifier: MIT
 *
 * The file server: a tree of files, and the loop of any service. Files that were given at the
 * machine's start are named in the boot archive's etc/files, one path per line, and lie there below
 * files/.
 */
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <servers/file/cores.h>
#include <servers/file/input.h>
#include <servers/file/proc.h>
#include <servers/file/share.h>
#include <servers/file/shares.h>

#define MORE_BLOCKS 32			/* taken from the kernel at a time */
#define TEMPORARY_MODE 01777		/* of the directory that programs expect */
#define KEEP_PART 8			/* of the cluster's memory that files leave to others */

static struct tree *tree;		/* its pages come when they are used, as the clients' do */
static struct kept {
	uint32_t life;			/* of this server */
	uint32_t sequence;		/* of the last question for input */
} *kept;
static struct service_client *clients;	/* CLIENTS_MAX */

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

static struct service service;

void
client_tell(uint32_t client)
{
	service_tell(&service, client);
}

struct mail_sender
client_from(uint32_t client)
{
	return clients[client].from;
}

void
client_again(uint32_t client)
{
	service_again(&service, client);
}

static uint32_t
answer_nothing(void *of, uint32_t client, void *message)
{
	const struct file_reply told = {.kind = FILE_KIND_TOLD};

	(void)of;
	(void)client;
	memcpy(message, &told, sizeof(told));
	return sizeof(told);
}

uint64_t
time_now(void)
{
	uint64_t now = 0;

	kclock(&now);
	return now;
}

static void
add_files(void)
{
	struct file list, f;
	char name[sizeof("files/") + FILE_PATH_MAX];

	if (file_open("etc/files", &list) != 0)
		return;
	for (size_t at = 0, len; at < list.bytes; at += len + 1) {
		const char *line = (const char *)list.data + at;

		for (len = 0; at + len < list.bytes && line[len] != '\n'; len++)
			continue;
		if (len == 0 || len >= FILE_PATH_MAX)
			continue;
		str_copy(name, sizeof(name), "files/");
		str_copy(name + 6, len + 1, line);
		if (file_open(name, &f) == 0 &&
			tree_add_fixed(tree, name + 6, f.data, f.bytes) != 0)
			console_print("file: no room for %s\n", name + 6);
	}
}

/* Contents that are the archive's programs may read there. */
static void
know_archive(void)
{
	struct file f;

	if (file_open(FILE_SERVER, &f) == 0)
		tree->archive = (const unsigned char *)f.data - file_offset(&f);
}

static uint32_t
answer_request(void *of, uint32_t client, struct service_part request, void *answer)
{
	uint32_t result;

	proc_show(of, request.at, request.bytes);
	result = file_serve(of, client, request.at, request.bytes, answer);
	proc_settle(of);
	return result;
}

static void
gone(void *of, uint32_t client)
{
	file_forget(of, client);
	proc_settle(of);
}

_Static_assert(FILE_PUT_OFF == SERVICE_LATER, "what file_serve says of a request that waits");

static const struct service_kind kind = FILE_SERVICE;
static struct service service = {.kind = &kind, .serve = answer_request, .gone = gone,
	.tell = answer_nothing, .clients = CLIENTS_MAX,
	.looks = SERVICE_LOOKS};

int
server_main(int argc, char **argv)
{
	uint64_t addr;
	void *page;
	long result = kept_map(&page);

	(void)argc;
	(void)argv;
	if (result < 0)
		return (int)result;
	kept = page;
	result = kmem_alloc(SELF, sizeof(*tree) + CLIENTS_MAX * sizeof(*clients), PAGE_READ |
		PAGE_WRITE | PAGE_LAZY, &addr);
	if (result < 0)
		return (int)result;
	service.of = tree = (struct tree *)(uintptr_t)addr;
	service.client = clients = (struct service_client *)(void *)(tree + 1);
	tree_init(tree);
	tree->life = kept->life = kept->life % SERVER_LIVES + 1;
	tokens_stir(&tree->tokens, time_now());
	know_archive();
	add_files();
	tree_make(tree, "tmp", FILE_KIND_DIRECTORY, TEMPORARY_MODE);
	tree_make(tree, "dev", FILE_KIND_DIRECTORY, FILE_MODE_FIRST);
	tree_make(tree, "dev/shm", FILE_KIND_DIRECTORY, TEMPORARY_MODE);
	cores_begin(tree);
	proc_begin(tree);
	input_begin(tree, &kept->sequence);
	shares_begin(tree);
	service.in = atoll_startup()->listens;
	result = service_begin(&service);
	while (result == 0) {
		uint32_t bits = service_step(&service);

		if ((bits & 1u << BIT_INPUT) != 0)
			input_look();
		/* while clients keep it busy it does not sleep, and finds no bit */
		if (tree->shares > 0)
			shares_look(tree, (bits & 1u << BIT_SHARE) != 0);
	}
	return (int)result;
}
