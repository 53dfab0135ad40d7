/* SPDX-License-Identifier: MIT
 *
 * For the tests of the file server: a tree with a few blocks, what clients ask, and what must hold
 * at any time.
 */
#ifndef SERVERS_FILE_TEST_ASK_H
#define SERVERS_FILE_TEST_ASK_H

#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/str.h>
#include <base/test.h>
#include <servers/file/cores.h>
#include <servers/file/messages.h>
#include <servers/file/operation.h>

#define BLOCKS 40

static struct tree t;
/* On pages of their own. */
static struct {
	_Alignas(4096) struct lasting of;
} lasting;
static _Alignas(4096) struct block blocks[BLOCKS];
static int blocks_left;

struct block *
blocks_more(void)
{
	if (blocks_left == 0)
		return NULL;
	blocks_left--;
	blocks[blocks_left].next = NULL;
	return &blocks[blocks_left];
}

void
blocks_count(uint64_t *all, uint64_t *unused)
{
	*all = BLOCKS;
	*unused = (uint64_t)blocks_left;
}

uint32_t
blocks_give_back(uint32_t there, uint32_t used)
{
	expect(used <= there);
	return there;
}

static uint32_t told[CLIENTS_MAX];	/* how often each client was told */

void
client_tell(uint32_t client)
{
	expect(client < CLIENTS_MAX);
	told[client]++;
}

static struct file_place place_of_test;	/* where server 1 has a part; of no bytes: there is none */

const struct file_place *
file_place(uint32_t number)
{
	return number > 0 || place_of_test.bytes == 0 ? NULL : &place_of_test;
}

bool
file_place_has(const struct file_place *p, const char *path)
{
	return str_len_max(path, p->bytes) == p->bytes && memcmp(path, p->path, p->bytes) == 0 &&
		(path[p->bytes] == '/' || path[p->bytes] == 0);
}

static uint32_t again[CLIENTS_MAX];	/* how often each may go on */

void
client_again(uint32_t client)
{
	expect(client < CLIENTS_MAX);
	again[client]++;
}

/* What shares send goes here; NULL: there are none. */
static void (*sent)(struct share *s, uint32_t slot, uint32_t bytes);

void
share_send(struct share *s, uint32_t slot, uint32_t bytes)
{
	expect(sent != NULL && bytes > 0);
	if (sent != NULL)
		sent(s, slot, bytes);
}

/* Two clusters of two and three cores; cluster 2 is dead. */
static struct core_told core_of[2][3];
static int provisioned[2] = {-1, -1};

int
core_provision(uint32_t cluster, bool on)
{
	if (cluster >= 2)
		return cluster == 2 ? -E_HOSTDOWN : -E_NOENT;
	provisioned[cluster] = on;
	return 0;
}

/* Cluster 1 has two domains. */
int
domain_ask(uint32_t cluster, uint32_t domain, uint32_t word[DOMAIN_WORDS])
{
	if (cluster > 2)
		return -E_NOENT;
	if (cluster == 2)
		return -E_HOSTDOWN;
	if (domain > cluster)
		return -E_INVAL;
	word[DOMAIN_PAGES] = 1000 * cluster + 100;
	word[DOMAIN_FREE] = 90 - domain;
	word[DOMAIN_NEAR] = 7 + domain;
	word[DOMAIN_FAR] = domain;
	return 0;
}

int
core_ask(uint32_t cluster, uint32_t core, int role, struct core_told *info)
{
	if (cluster > 2)
		return -E_NOENT;
	if (cluster == 2)
		return -E_HOSTDOWN;
	if (core >= 2 + cluster)
		return -E_INVAL;
	if (role >= 0 && core == 0 && role == ROLE_AC)
		return -E_BUSY;
	if (role >= 0)
		core_of[cluster][core].is.role = (uint32_t)role;
	*info = core_of[cluster][core];
	return 0;
}

static int32_t signalled, signalled_pid;

void
process_signal(int32_t pid, int32_t signal)
{
	signalled_pid = pid;
	signalled = signal;
}

static uint32_t wanted;			/* of what the machine is given */

void
input_want(uint32_t bytes)
{
	wanted = bytes;
}

static uint64_t secret = 99;

uint64_t
time_now(void)
{
	return ++secret;
}

/* Shared memory, which is in this many places at most, and who each was lent to: a badge, or 0. */
#define MEMORIES 40
#define MEMORY_BYTES (8 * SHARED_PAGE)

static struct {
	struct shared_memory of;
	uint32_t lent_to;
	unsigned char bytes[MEMORY_BYTES];
} memory[MEMORIES];
static bool is_memory_gone;		/* its cluster has died */

static inline int
memory_at(uint64_t key)
{
	int i = 0;

	while (i < MEMORIES && memory[i].of.key != key)
		i++;
	return i;
}

int
memory_make(const struct shared_memory *m, uint32_t badge)
{
	int i = memory_at(m->key);

	(void)badge;
	if (i == MEMORIES)
		i = memory_at(0);
	if (i == MEMORIES || m->pages > MEMORY_BYTES / SHARED_PAGE)
		return -E_NOMEM;
	if (memory[i].of.key == 0)
		memset(memory[i].bytes, 0, MEMORY_BYTES);
	memory[i].of = *m;
	return 0;
}

static inline int
memory_move(const struct shared_memory *m, uint64_t offset, void *to, const void *from, size_t len)
{
	int i = memory_at(m->key);

	if (is_memory_gone)
		return -E_IO;
	expect(i < MEMORIES && offset + len <= (uint64_t)memory[i].of.pages * SHARED_PAGE);
	if (to != NULL)
		memcpy(to, memory[i].bytes + offset, len);
	else if (from != NULL)
		memcpy(memory[i].bytes + offset, from, len);
	else
		memset(memory[i].bytes + offset, 0, len);
	return 0;
}

int
memory_read(const struct shared_memory *m, uint64_t offset, void *to, size_t len)
{
	return memory_move(m, offset, to, NULL, len);
}

int
memory_write(const struct shared_memory *m, uint64_t offset, const void *from, size_t len)
{
	return memory_move(m, offset, NULL, from, len);
}

void
memory_end(const struct shared_memory *m)
{
	int i = memory_at(m->key);

	expect(i < MEMORIES);
	memory[i].lent_to = 0;
	memory[i].of.key = 0;
}

static uint32_t cannot_have;		/* the badge of a process that can take no handle */

int
memory_lend(const struct shared_memory *m, uint32_t badge, int32_t *handle)
{
	int i = memory_at(m->key);

	if (is_memory_gone || badge == cannot_have)
		return is_memory_gone ? -E_IO : -E_MFILE;
	expect(i < MEMORIES && memory[i].lent_to == 0 && badge != 0);
	memory[i].lent_to = badge;
	*handle = i;
	return 0;
}

static bool is_memory_short;

int
memory_revoke(const struct shared_memory *m, int32_t *is_short)
{
	if (is_short != NULL)
		*is_short = is_memory_short;
	if (is_memory_gone)
		return -E_IO;
	expect(memory_at(m->key) < MEMORIES);
	memory[memory_at(m->key)].lent_to = 0;
	return 0;
}

/* Of process 9, and who wants it to be there. */
static int32_t moved_to = -100;
static struct mail_sender moved_by;

int
proc_move(int32_t pid, int32_t core, struct mail_sender who)
{
	if (pid != 9)
		return -E_SRCH;
	moved_to = core;
	moved_by = who;
	return core > 5 ? -FILE_ENODEV : 0;
}

/* Two of them each. */
struct mail_sender
client_from(uint32_t client)
{
	return (struct mail_sender){.cluster = client / 2, .badge = 100 + client};
}

static inline int
memories_used(void)
{
	int used = 0;

	for (int i = 0; i < MEMORIES; i++)
		used += memory[i].of.key != 0;
	return used;
}

static inline void
reset(void)
{
	memset(&t, 0, sizeof(t));
	memset(&lasting, 0, sizeof(lasting));
	t.lasting = &lasting.of;
	t.block = blocks;
	expect(!tree_init(&t));
	tree_begun(&t);
	wanted = 0;
	is_memory_gone = false;
	cannot_have = 0;
	is_memory_short = false;
	memset(memory, 0, sizeof(memory));
	blocks_left = BLOCKS;
}

static inline int
free_blocks(void)
{
	int n = blocks_left;

	for (struct block *b = t.free; b != NULL; b = b->next)
		n++;
	return n;
}

/* An answer with what follows it. */
struct answer {
	struct file_reply head;
	char data[FILE_DATA_MAX];
};

static struct answer answer;

/* What a client asks, with so many bytes behind the head. The answer's are in `answer`. */
static inline struct file_reply
asked(uint32_t client, struct file_request q, const void *data, size_t len)
{
	static char message[FILE_MESSAGE];
	uint32_t bytes;

	expect(len <= FILE_DATA_MAX);
	memcpy(message, &q, FILE_HEAD);
	memcpy(message + FILE_HEAD, data, len);
	memset(&answer, 0x5a, sizeof(answer));
	bytes = file_serve(&t, client, message, (uint32_t)(FILE_HEAD + len), &answer);
	if (bytes == FILE_PUT_OFF) {
		answer.head.error = -FILE_LATER;
		return answer.head;
	}
	expect(bytes >= FILE_HEAD && bytes <= FILE_MESSAGE);
	return answer.head;
}

static inline struct file_reply
ask_path(enum file_op op, const char *path, uint32_t how)
{
	return asked(1, (struct file_request){.op = op, .arg = how}, path, str_len(path) + 1);
}

static inline uint32_t
opened(const char *path, uint32_t how)
{
	struct file_reply r = ask_path(FILE_OPEN, path, how | FILE_READABLE);

	expect_eq(r.error, 0);
	return r.handle;
}

static inline long
wrote(uint32_t handle, uint64_t offset, const char *text, size_t len)
{
	struct file_reply r =
		asked(1, (struct file_request){.op = FILE_WRITE, .handle = handle, .offset = offset,
		.arg = (uint32_t)len}, text, len);

	return r.error != 0 ? r.error : (long)r.count;
}

static inline void
expect_text(uint32_t handle, uint64_t offset, const char *text, size_t len)
{
	struct file_reply r =
		asked(1, (struct file_request){.op = FILE_READ, .handle = handle, .offset = offset,
		.arg = FILE_DATA_MAX}, "", 0);

	expect_eq(r.error, 0);
	expect_eq(r.count, len);
	expect(memcmp(answer.data, text, len) == 0);
}

/* The entry of FILE_LIST that lies at *at in the answer, which moves on; NULL: none is left. */
static inline const struct file_entry *
listed(uint32_t *at)
{
	const struct file_entry *e = (const struct file_entry *)(const void *)(answer.data + *at);

	if (*at >= answer.head.count)
		return NULL;
	expect(e->bytes % 8 == 0 && e->bytes > FILE_ENTRY_HEAD);
	*at += e->bytes;
	return e;
}

static inline uint32_t
next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Bytes have as many blocks as they need. How many. */
static inline int
sound_blocks(const struct bytes *of)
{
	uint32_t bytes = of->end - of->begin;
	int count = 0;

	for (const struct block *b = of->first; b != NULL; b = b->next) {
		count++;
		bytes += b->next != NULL ? BLOCK_DATA : 0;
		expect(b->next != NULL || b == of->last);
	}
	expect_eq(bytes, of->count);
	return count;
}

/* Blocks that shares have. */
static inline int
blocks_of_shares(void)
{
	int n = 0;

	for (uint32_t i = 0; i < t.shares; i++) {
		const struct share *sh = t.share[i];

		for (uint32_t f = 0; f < SHARE_FIDS; f++)
			n += sh->fid[f].path != NULL;
		for (uint32_t slot = 0; slot < SHARE_SLOTS; slot++)
			n += sh->slot[slot].is_used && sh->slot[slot].operation != NULL &&
				sh->slot[slot].operation->is_dead;
	}
	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		n += t.operation[i] != NULL;
	return n;
}

/* A socket or a message queue: its messages, and the blocks that these have. */
static inline int
sound_messages(const struct pipe *p, uint32_t *rights)
{
	uint32_t count = 0, bytes = 0;
	int used = 0;

	for (const struct message *m = p->messages; m != NULL; m = m->next) {
		count++;
		bytes += m->bytes.count;
		*rights += m->rights;
		used += sound_blocks(&m->bytes);
		expect(m->next == NULL || m->next->priority <= m->priority);
	}
	expect(count == p->message_count && bytes == p->message_bytes);
	return used;
}

/* Nodes with so many descriptions each. The blocks that they have. */
static inline int
sound_nodes(const uint32_t opens[NODES_MAX])
{
	uint32_t links[NODES_MAX] = {0};
	int blocks_used = 0, shared = 0;

	for (uint32_t i = 0; i < t.nodes; i++) {
		const struct node *n = node_of(&t, i);

		expect_eq(opens[i], n->opens);
		links[tree_node_of(&t, i)] += n->kind == FILE_KIND_LINK;
		if (n->kind == FILE_KIND_NONE)
			expect(n->first == 0 && n->opens == 0);
		else if (!n->is_unlinked)
			expect(node_of(&t, n->parent)->kind == FILE_KIND_DIRECTORY &&
				!node_of(&t, n->parent)->is_unlinked);
		shared += n->is_shared;
		for (uint32_t b = n->is_shared ? 0 : n->first; b != 0; b = block_of(&t, b)->behind)
			blocks_used++;
	}
	expect_eq(shared + t.zio.buffers, memories_used());
	expect_eq(lasting.of.saved, 0);
	for (uint32_t i = 0; i < t.nodes; i++)
		expect_eq(links[i], node_of(&t, i)->links);
	return blocks_used;
}

/* The buffers of a pipe, and the blocks of the bytes between them. */
static inline int
sound_pipe_buffers(const struct pipe *p)
{
	const struct buffer *last = NULL;
	uint32_t count = 0;
	int used = 0;

	for (const struct buffer *b = p->buffer; b != NULL; b = b->next) {
		expect(b->state == BUFFER_SENT && (b->bytes > 0 || p->bytes.count > 0));
		used += sound_blocks(&b->behind);
		last = b;
		count++;
	}
	expect(last == p->last_buffer && count == p->buffers);
	expect(count == 0 || p->ends[PIPE_READ] > 0);
	return used;
}

/* Each is lent to who has it, and to nobody else; those that are sent are in pipes. */
static inline void
sound_buffers(void)
{
	uint32_t count = 0, sent = 0;

	for (const struct buffer *b = t.buffer; b < t.buffer + BUFFERS_MAX; b++) {
		int i = b->state != BUFFER_NONE ? memory_at(b->memory.key) : 0;

		count += b->state != BUFFER_NONE;
		sent += b->state == BUFFER_SENT;
		if (b->state == BUFFER_NONE)
			continue;
		expect_eq(memory[i].lent_to, b->state == BUFFER_HELD ?
			client_from(b->owner).badge : 0);
		expect(b->state != BUFFER_FREE || b->maker != NOBODY);
	}
	expect_eq(count, t.zio.buffers);
	for (const struct pipe *p = t.pipe; p <= t.pipe + PIPE_INPUT; p++)
		sent -= p->buffers;
	expect_eq(sent, 0);
}

/* Sockets without a description are connections that have not been accepted. */
static inline uint32_t
not_accepted(void)
{
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < PIPES_MAX; i++)
		waiting += t.pipe[i].type >= PIPE_STREAM ?
			endpoint_of(&t, &t.pipe[i])->waiting : 0;
	return waiting;
}

/* What is listed is open, and so is its list. */
static inline void
sound_lists(void)
{
	for (const struct listed *l = t.list; l < t.list + LISTED_MAX; l++)
		if (l->list != 0)
			expect(t.description[l->description].handles > 0 &&
				t.pipe[l->list - 1].type == PIPE_LIST &&
				t.pipe[l->list - 1].ends[0] == 1);
}

static inline void
expect_sound_places(void)
{
	uint32_t of[CLIENTS_MAX + 1] = {0};

	for (uint32_t i = 0; i < LISTED_MAX; i++)
		of[t.list[i].owner] += t.list[i].list != 0;
	for (uint32_t i = 0; i <= CLIENTS_MAX; i++)
		expect_eq(of[i], t.listed_of[i]);
}

/* A description of a pipe's end, or of both. */
static inline void
sound_end(const struct description *d, uint32_t ends[2], uint32_t opens[NODES_MAX])
{
	const struct pipe *p = &t.pipe[d->object];

	ends[PIPE_READ] += (d->flags & FILE_READABLE) != 0;
	ends[PIPE_WRITE] += (d->flags & FILE_WRITABLE) != 0;
	opens[p->node] += p->node != 0;
	expect(p->node == 0 || node_of(&t, p->node)->kind == FILE_KIND_PIPE);
}

/* Every node hangs on a directory, every handle on a description, no block is lost. */
static inline void
expect_sound(void)
{
	uint32_t opens[NODES_MAX] = {0}, of[CLIENTS_MAX + 1] = {0};
	uint32_t handles = 0, rights = 0, waiting = 0;
	uint32_t standing[DESCRIPTIONS_MAX + 1] = {0}, ends[PIPES_MAX + 1][2] = {0};
	uint32_t made[CLIENTS_MAX] = {0}, typed[PIPES_MAX + 1] = {0};
	int blocks_used = (int)t.kept_blocks;

	for (uint32_t i = 0; i < HANDLES_MAX; i++)
		if (t.handle[i].is_open) {
			handles++;
			of[t.handle[i].owner]++;
			standing[t.handle[i].description]++;
		}
	expect_eq(handles, t.handles);
	for (uint32_t i = 0; i <= CLIENTS_MAX; i++)
		expect_eq(of[i], t.handles_of[i]);
	expect_sound_places();
	for (uint32_t i = 0; i < DESCRIPTIONS_MAX; i++) {
		expect_eq(standing[i], t.description[i].handles);
		if (standing[i] > 0 && t.description[i].is_pipe &&
			t.pipe[t.description[i].object].type != PIPE_PLAIN)
			typed[t.description[i].object]++;
		else if (standing[i] > 0 && t.description[i].is_pipe)
			sound_end(&t.description[i], ends[t.description[i].object], opens);
		else if (standing[i] > 0 && !t.description[i].is_host)
			opens[t.description[i].object]++;
	}
	/* who writes this one has no handle */
	ends[PIPE_INPUT][PIPE_WRITE] = 1;
	for (uint32_t i = 0; i <= PIPE_INPUT; i++) {
		const struct pipe *p = &t.pipe[i];

		if (p->type == PIPE_PLAIN)
			expect(ends[i][0] == p->ends[0] && ends[i][1] == p->ends[1]);
		else if (p->type == PIPE_QUEUE)
			expect(typed[i] == endpoint_of(&t, p)->opens);
		else if (pipe_is_event(p))
			expect(typed[i] == 1 && p->ends[0] == 1);
		else
			waiting += 1 - typed[i];
		blocks_used += sound_messages(p, &rights);
		if (p->ends[0] + p->ends[1] > 0 && p->maker < CLIENTS_MAX)
			made[p->maker]++;
		blocks_used += sound_blocks(&p->bytes) + sound_pipe_buffers(p);
	}
	expect_eq(waiting, not_accepted());
	expect_eq(rights, t.handles_of[NOBODY]);
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		expect_eq(made[i], t.pipes_of[i]);
		if (t.of_client[i] != NULL)
			blocks_used += sound_blocks(&t.of_client[i]->staged) +
				sound_blocks(&t.of_client[i]->rest);
	}
	sound_lists();
	sound_buffers();
	blocks_used += sound_nodes(opens) + (int)(t.nodes / TABLE_NODES) - 1 + blocks_of_shares();
	expect_eq(blocks_used + free_blocks(), BLOCKS);
}

#endif
