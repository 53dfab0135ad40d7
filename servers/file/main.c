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
#include <servers/file/places.h>
#include <servers/file/proc.h>
#include <servers/file/share.h>
#include <servers/file/shares.h>
#include <servers/proc/protocol.h>

#define MORE_BLOCKS 32			/* wanted at a time, or a part of what there is: */
#define MORE_PART 16
#define TEMPORARY_MODE 01777		/* of the directory that programs expect */
#define KEEP_PART 8			/* of the cluster's memory that files leave to others */

static struct tree *tree;		/* its pages come when they are used, as the clients' do */
static struct kept {
	struct lasting_memory memory;
	uint32_t life;			/* of this server */
	uint32_t sequence;		/* of the last question for input */
	uint64_t homes;			/* of memory that is shared */
	struct lasting tree;
} *kept;
static int to_leader;			/* mailbox */
static uint32_t page_blocks;		/* blocks of a page */
static uint32_t cluster;		/* this one */
static struct service_client *clients;	/* CLIENTS_MAX */

/* The leader has the memory, so that it outlives this server. How many blocks there are then. */
static uint32_t
want_blocks(uint32_t blocks)
{
	const struct proc_message m = {.magic = PROC_MAGIC, .op = PROC_MEMORY};
	struct lasting_memory *l = &kept->memory;
	uint32_t asked = l->asked + 1, answered = l->answered;

	l->wanted = (blocks + page_blocks - 1) / page_blocks;
	__atomic_store_n(&l->asked, asked, __ATOMIC_RELEASE);
	if (mailbox_send(to_leader, &m) < 0)
		return l->pages * page_blocks;
	while ((answered = __atomic_load_n(&l->answered, __ATOMIC_ACQUIRE)) != asked)
		kfutex_wait((uintptr_t)&l->answered | FUTEX_SHARED, answered, FOREVER);
	return l->pages * page_blocks;
}

struct block *
blocks_more(void)
{
	uint32_t there = tree->blocks, more = there / MORE_PART;
	uint64_t free, total;

	if (kstats(STATS_FRAMES_FREE, &free) < 0 || kstats(STATS_FRAMES_TOTAL, &total) < 0 ||
		free < total / KEEP_PART + MORE_BLOCKS)
		return NULL;
	if (more > free - total / KEEP_PART)
		more = (uint32_t)(free - total / KEEP_PART);
	tree->blocks = want_blocks(there + (more > MORE_BLOCKS ? more : MORE_BLOCKS));
	for (uint32_t i = there + 1; i <= tree->blocks; i++)
		block_of(tree, i)->next = i < tree->blocks ? block_of(tree, i + 1) : NULL;
	return tree->blocks > there ? block_of(tree, there + 1) : NULL;
}

void
blocks_count(uint64_t *all, uint64_t *unused)
{
	*all = *unused = 0;
	if (kstats(STATS_FRAMES_FREE, unused) < 0 || kstats(STATS_FRAMES_TOTAL, all) < 0)
		return;
	*unused -= *unused < *all / KEEP_PART ? *unused : *all / KEEP_PART;
	*unused *= page_blocks;
	*all *= page_blocks;
}

uint32_t
blocks_give_back(uint32_t there, uint32_t used)
{
	return there - used < MORE_BLOCKS ? there : want_blocks(used);
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
		if (places_find(tree, name + 6) == tree->place.number &&
			file_open(name, &f) == 0 &&
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
	uint32_t result = file_serve(of, client, request.at, request.bytes, answer);

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

_Static_assert(sizeof(struct kept) <= FILE_KEPT_BYTES, "what is kept");

/* What a new tree begins with. */
static void
fill_tree(void)
{
	add_files();
	if (tree->place.number == 0) {
		tree_make(tree, "tmp", FILE_KIND_DIRECTORY, TEMPORARY_MODE);
		tree_make(tree, "dev", FILE_KIND_DIRECTORY, FILE_MODE_FIRST);
		tree_make(tree, "dev/shm", FILE_KIND_DIRECTORY, TEMPORARY_MODE);
		devices_make(tree);
	}
	tree_begun(tree);
}

/* The tree that a server before has left, or a new one. 0 or a negative error. */
static int
begin_tree(void)
{
	bool was_there;
	int result;

	know_archive();
	tree->lasting = &kept->tree;
	tree->block = (struct block *)(uintptr_t)kept->memory.at;
	tree->blocks = kept->memory.pages * page_blocks;
	was_there = tree_init(tree);
	tree->place.number = places_number(cluster);
	result = places_begin(tree);
	if (!was_there && result == 0)
		fill_tree();
	tree->life = kept->life = kept->life % SERVER_LIVES + 1;
	return result;
}

/* What the leader's server alone has. */
static void
begin_others(void)
{
	if (tree->place.number > 0)
		return;
	cores_begin(tree);
	proc_begin(tree);
	input_begin(tree, &kept->sequence);
	shares_begin(tree);
}

/* What the leader has mapped and keeps. 0 or -E_NAME. */
static long
map_kept(void)
{
	struct cluster_info here;
	void *at;
	long result = kept_map(&at, sizeof(*kept));

	kept = at;
	kcluster_info(&here);
	page_blocks = here.page_bytes / BLOCK_BYTES;
	cluster = here.cluster;
	if (result >= 0)
		result = to_leader = (int)kmailbox_open((int)here.cluster, PROC_PORT);
	return result;
}

int
server_main(int argc, char **argv)
{
	uint64_t addr;
	long result = map_kept();

	(void)argc;
	(void)argv;
	if (result < 0)
		return (int)result;
	result = kmem_alloc(SELF, sizeof(*tree) + CLIENTS_MAX * sizeof(*clients), PAGE_READ |
		PAGE_WRITE | PAGE_LAZY, &addr);
	if (result < 0)
		return (int)result;
	service.of = tree = (struct tree *)(uintptr_t)addr;
	service.client = clients = (struct service_client *)(void *)(tree + 1);
	tokens_stir(&tree->tokens, time_now());
	result = begin_tree();
	if (result < 0)
		return (int)result;
	begin_others();
	memories_begin(tree, &kept->homes);
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
