/* SPDX-License-Identifier: MIT
 *
 * What outlives the file server is whole wherever that ends: a request is stopped behind each of
 * its stores to memory that lasts, and a life that takes up what is there then finds the tree as it
 * was before the request, or as it is behind it. So does a life that follows one which ended while
 * it took up the tree. The memory cannot be written, so that each store is a fault; it is made by a
 * step of the processor. Bytes of a file that follow each other in a block are one store.
 *
 * needs: servers/file/share*.c -servers/file/shares.c servers/file/ninep.c
 * needs: servers/file/tree.c servers/file/contents.c servers/file/serve.c servers/file/handles.c
 * needs: servers/file/places.c servers/file/links.c servers/file/status.c
 * needs: servers/file/event.c
 * needs: servers/file/lasting.c servers/file/locks.c servers/file/cores.c base/fmt.c base/parse.c
 * servers/file/offer.c servers/file/bytes.c servers/file/pipe.c servers/file/zio.c
 * servers/file/message.c servers/file/socket.c servers/file/queue.c servers/file/serve_message.c
 * servers/file/token.c base/str.c
 */
/* flags: -D_GNU_SOURCE */
/* sanitize: none */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <servers/file/test_ask.h>

#define STEP 0x100			/* of the flags: it stops behind an instruction */
#define CONTENTS (3 * 4096)
#define ENTRIES 48
#define FIXED_BYTES 5000

/* --- stores --- */

static void (*behind_store)(void);

static struct block *open_block;	/* whose bytes can be written; NULL: none */

static void
protect(int prot)
{
	mprotect(&lasting, sizeof(lasting), prot);
	mprotect(blocks, sizeof(blocks), prot);
	open_block = NULL;
}

static bool
lasts(const char *addr)
{
	return (addr >= (char *)&lasting && addr < (char *)(&lasting + 1)) ||
		(addr >= (char *)blocks && addr < (char *)(blocks + BLOCKS));
}

/* NULL: no bytes of a block lie there. */
static struct block *
block_with(const char *addr)
{
	size_t at = (size_t)(addr - (char *)blocks);

	return addr >= (char *)blocks && at < sizeof(blocks) &&
		at % BLOCK_BYTES >= BLOCK_BYTES - BLOCK_DATA ? &blocks[at / BLOCK_BYTES] : NULL;
}

static bool
is_table(const struct block *b)
{
	bool is = false;

	for (uint32_t i = 1; i < NODES_MAX / TABLE_NODES; i++)
		is |= lasting.of.table[i] == block_number(&t, b);
	return is;
}

static void
close_block(void)
{
	if (open_block == NULL)
		return;
	mprotect(open_block, BLOCK_BYTES, PROT_READ);
	open_block = NULL;
	behind_store();
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	struct block *b = block_with(info->si_addr);

	if (!lasts(info->si_addr)) {
		signal(sig, SIG_DFL);
		return;
	}
	close_block();
	if (b != NULL && !is_table(b)) {
		mprotect(b, BLOCK_BYTES, PROT_READ | PROT_WRITE);
		open_block = b;
		return;
	}
	protect(PROT_READ | PROT_WRITE);
	c->uc_mcontext.gregs[REG_EFL] |= STEP;
}

static void
on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)sig;
	(void)info;
	c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)STEP;
	behind_store();
	protect(PROT_READ);
}

static void
watch(void (*call)(void))
{
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO},
		step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	behind_store = call;
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGTRAP, &step, NULL);
	protect(PROT_READ);
}

static void
watch_end(void)
{
	close_block();
	protect(PROT_READ | PROT_WRITE);
}

/* --- what a life finds --- */

struct entry {
	char path[FILE_PATH_MAX];
	uint32_t node, links;
	uint16_t mode;
	uint8_t kind;
	uint64_t size, modified;
	unsigned char bytes[CONTENTS];
};

struct view {
	uint32_t count;
	struct entry entry[ENTRIES];
};

static unsigned char archive[2 * FIXED_BYTES];

/* The memory that lasts, copied. */
struct copy {
	struct lasting lasting;
	struct block blocks[BLOCKS];
};

static void
copy_take(struct copy *c)
{
	memcpy(&c->lasting, &lasting.of, sizeof(c->lasting));
	memcpy(c->blocks, blocks, sizeof(blocks));
}

/* All blocks are free or used once. */
static void
expect_balance(const struct tree *u)
{
	uint32_t count = u->nodes / TABLE_NODES - 1;

	for (const struct block *b = u->free; b != NULL && count <= BLOCKS; b = b->next)
		count++;
	for (uint32_t i = 0; i < u->nodes; i++) {
		const struct node *n = node_of(u, i);

		if ((n->kind != FILE_KIND_FILE && n->kind != FILE_KIND_SYMLINK) || n->is_shared)
			continue;
		for (uint32_t b = n->first; b != 0 && count <= BLOCKS; b = block_of(u, b)->behind)
			count++;
	}
	expect_eq(count, BLOCKS);
}

static void
view_entry(struct tree *u, uint32_t i, struct entry *e)
{
	const struct node *entry = node_of(u, i);
	uint32_t number = tree_node_of(u, i);
	const struct node *n = node_of(u, number);
	int bytes = node_path(u, entry->parent, e->path);

	expect(bytes > 0 && n->kind != FILE_KIND_NONE && n->kind != FILE_KIND_LINK);
	expect(node_of(u, entry->parent)->kind == FILE_KIND_DIRECTORY);
	memcpy(e->path + bytes - 1, entry->name, sizeof(entry->name));
	e->node = node_number(u, number);
	e->links = n->links;
	e->mode = n->mode;
	e->kind = n->kind;
	e->size = n->size;
	e->modified = n->modified;
	expect(n->opens == 0 && !n->is_unlinked);
	if (n->kind == FILE_KIND_FILE || n->kind == FILE_KIND_SYMLINK)
		expect_eq(node_read(u, number, 0, e->bytes, CONTENTS), (long)(n->size < CONTENTS ?
			n->size : CONTENTS));
}

/* What there is when a life has taken up a copy; it is changed. */
static void
view_make(struct copy *c, struct view *v)
{
	static struct tree u;
	uint32_t links = 0;

	memset(&u, 0, sizeof(u));
	memset(v, 0, sizeof(*v));
	u.lasting = &c->lasting;
	u.block = c->blocks;
	u.blocks = BLOCKS;
	u.archive = archive;
	expect(tree_init(&u));
	for (uint32_t i = 0; i < u.nodes; i++)
		if (node_of(&u, i)->kind != FILE_KIND_NONE && v->count < ENTRIES) {
			links -= node_of(&u, i)->kind == FILE_KIND_LINK;
			view_entry(&u, i, &v->entry[v->count++]);
			links += node_of(&u, i)->links;
		}
	expect_eq(links, 0);
	expect_balance(&u);
}

static bool
is_same(const struct view *a, const struct view *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* --- each request, behind each store --- */

static struct copy taken, first;
static struct view now, before, after;
static bool is_torn;		/* it writes: bytes and the size come one after the other */
static uint32_t stores, as_before, as_after;

static bool
is_between(void)
{
	bool is = now.count == before.count;

	for (uint32_t i = 0; i < now.count && is; i++) {
		struct entry *e = &now.entry[i];
		const struct entry *b = &before.entry[i], *a = &after.entry[i];

		is = (e->size == b->size || e->size == a->size) &&
			(e->modified == b->modified || e->modified == a->modified);
		for (uint32_t j = 0; j < CONTENTS && is; j++)
			is = j < e->size ? e->bytes[j] == b->bytes[j] ||
				e->bytes[j] == a->bytes[j] : e->bytes[j] == 0;
		is = is && strcmp(e->path, b->path) == 0 && e->node == b->node &&
			e->links == b->links && e->mode == b->mode && e->kind == b->kind;
	}
	return is;
}

static void
look(void)
{
	stores++;
	if (test_state.wrong > 0)
		return;
	copy_take(&taken);
	view_make(&taken, &now);
	if (is_same(&now, &before))
		as_before++;
	else if (is_same(&now, &after))
		as_after++;
	else
		expect(is_torn && is_between());
	/* what was done is not undone */
	expect(!is_same(&now, &before) || as_after == 0 || is_same(&before, &after));
}

static void
fill(struct file_request q, const char *path, int byte, size_t bytes)
{
	static char text[FILE_DATA_MAX];

	q.handle = opened(path, FILE_WRITABLE | FILE_CREATE);
	while (bytes > 0) {
		q.op = FILE_WRITE;
		q.arg = bytes < sizeof(text) ? (uint32_t)bytes : (uint32_t)sizeof(text);
		memset(text, byte, q.arg);
		expect_eq(asked(1, q, text, q.arg).error, 0);
		q.offset += q.arg;
		bytes -= q.arg;
	}
	q.op = FILE_CLOSE;
	asked(1, q, "", 0);
}

static void
link_or_rename(enum file_op op, const char *from, const char *to)
{
	char both[FILE_PATH_MAX] = {0};

	str_copy(both, sizeof(both), from);
	str_copy(both + str_len(from) + 1, sizeof(both) - str_len(from) - 1, to);
	expect_eq(asked(1, (struct file_request){.op = op}, both, sizeof(both)).error, 0);
}

static void
begin(void)
{
	reset();
	/* all blocks are there */
	memset(&lasting, 0, sizeof(lasting));
	memset(blocks, 0, sizeof(blocks));
	memset(&t, 0, sizeof(t));
	t.lasting = &lasting.of;
	t.block = blocks;
	t.blocks = BLOCKS;
	t.archive = archive;
	blocks_left = 0;
	secret = 99;
	tree_init(&t);
	for (uint32_t i = 0; i < sizeof(archive); i++)
		archive[i] = (unsigned char)(i * 7 + i / 256);
	expect_eq(tree_add_fixed(&t, "/given", archive + 100, FIXED_BYTES), 0);
	tree_begun(&t);
	ask_path(FILE_MAKE_DIRECTORY, "/d", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/e", 0);
	ask_path(FILE_MAKE_DIRECTORY, "/d/in", 0);
	fill((struct file_request){0}, "/d/f", 'f', 3);
	fill((struct file_request){0}, "/g", 'g', 2 * BLOCK_DATA + 10);
	link_or_rename(FILE_LINK, "/g", "/d/h");
	fill((struct file_request){0}, "/d/k", 'k', 5000);
	link_or_rename(FILE_LINK, "/d/k", "/l");
	link_or_rename(FILE_SYMLINK, "/d/s", "../d/f");
	link_or_rename(FILE_SYMLINK, "/d/n", "/made");
	expect(tree_make(&t, "/d/p", FILE_KIND_PIPE, 0600) > 0);
}

static uint32_t handle;			/* of what a step is about */
#define NO_PATH ""

/* A request with a path, or two; with the handle of a file, and text for it. */
struct step {
	const char *name;
	enum file_op op;
	const char *path, *to;
	uint32_t arg, more;
	uint64_t offset;
	int left;			/* free blocks, from 1; 0: most are */
	int error;			/* expected */
};

static const struct step steps[] = {
	{"create", FILE_OPEN, "/d/new", NULL, FILE_CREATE | FILE_WRITABLE, 0640, 0, 0, 0},
	{"create a directory", FILE_MAKE_DIRECTORY, "/d/new", NULL, 0, 0750, 0, 0, 0},
	{"empty", FILE_OPEN, "/g", NULL, FILE_EMPTY | FILE_WRITABLE, 0, 0, 0, 0},
	{"empty what was given", FILE_OPEN, "/given", NULL, FILE_EMPTY | FILE_WRITABLE, 0, 0, 0, 0},
	{"write into", FILE_WRITE, "/g", NULL, 600, 0, BLOCK_DATA - 100, 0, 0},
	{"write on", FILE_WRITE, "/g", NULL, 700, 0, 2 * BLOCK_DATA + 10, 0, 0},
	{"write behind a hole", FILE_WRITE, "/d/f", NULL, 20, 0, BLOCK_DATA + 30, 0, 0},
	{"write what was given", FILE_WRITE, "/given", NULL, 30, 0, 70, 0, 0},
	{"cut", FILE_RESIZE, "/g", NULL, 0, 0, BLOCK_DATA + 5, 0, 0},
	{"cut short", FILE_RESIZE, "/g", NULL, 0, 0, 5, 0, 0},
	{"grow", FILE_RESIZE, "/d/f", NULL, 0, 0, 3 * BLOCK_DATA, 0, 0},
	{"cut what was given", FILE_RESIZE, "/given", NULL, 0, 0, 4500, 0, 0},
	{"grow what was given", FILE_RESIZE, "/given", NULL, 0, 0, 6000, 0, 0},
	{"set the time", FILE_SET_TIME, "/g", NULL, 0, 0, 5, 0, 0},
	{"set the mode", FILE_SET_MODE, "/g", NULL, 0600, 0, 0, 0, 0},
	{"link", FILE_LINK, "/d/f", "/x", 0, 0, 0, 0, 0},
	{"rename", FILE_RENAME, "/d/f", "/e/y", 0, 0, 0, 0, 0},
	{"rename what was given", FILE_RENAME, "/given", "/e/y", 0, 0, 0, 0, 0},
	{"rename over a file", FILE_RENAME, "/given", "/d/f", 0, 0, 0, 0, 0},
	{"rename over a file with links", FILE_RENAME, "/d/f", "/g", 0, 0, 0, 0, 0},
	{"rename over a link", FILE_RENAME, "/d/f", "/d/h", 0, 0, 0, 0, 0},
	{"rename with links over links", FILE_RENAME, "/g", "/d/k", 0, 0, 0, 0, 0},
	{"rename a link over a file with links", FILE_RENAME, "/d/h", "/d/k", 0, 0, 0, 0, 0},
	{"rename a directory", FILE_RENAME, "/d", "/e", 0, 0, 0, 0, 0},
	{"remove", FILE_REMOVE, "/d/f", NULL, 0, 0, 0, 0, 0},
	{"remove what was given", FILE_REMOVE, "/given", NULL, 0, 0, 0, 0, 0},
	{"remove a file with a link", FILE_REMOVE, "/g", NULL, 0, 0, 0, 0, 0},
	{"remove a link", FILE_REMOVE, "/d/h", NULL, 0, 0, 0, 0, 0},
	{"make a symbolic link", FILE_SYMLINK, "/e/s", "/some/where", 0, 0, 0, 0, 0},
	{"write through one", FILE_OPEN, "/d/s", NULL, FILE_EMPTY | FILE_WRITABLE, 0, 0, 0, 0},
	{"create through one", FILE_OPEN, "/d/n", NULL, FILE_CREATE | FILE_WRITABLE, 0640, 0,
		0, 0},
	{"rename a symbolic link", FILE_RENAME, "/d/s", "/d/h", 0, 0, 0, 0, 0},
	{"rename over one", FILE_RENAME, "/d/f", "/d/s", 0, 0, 0, 0, 0},
	{"link one", FILE_LINK, "/d/s", "/x", FILE_NO_FOLLOW, 0, 0, 0, 0},
	{"link what one leads to", FILE_LINK, "/d/s", "/x", 0, 0, 0, 0, 0},
	{"remove one", FILE_REMOVE, "/d/s", NULL, 0, 0, 0, 0, 0},
	{"make a pipe", FILE_MAKE_PIPE, "/d/new", NULL, 0, 0640, 0, 0, 0},
	{"remove a pipe", FILE_REMOVE, "/d/p", NULL, 0, 0, 0, 0, 0},
	{"remove a directory", FILE_REMOVE, "/e", NULL, FILE_DIRECTORY, 0, 0, 0, 0},
	{"write when the memory ends", FILE_WRITE, "/g", NULL, 700, 0, 3 * BLOCK_DATA - 300, 1, 0},
	{"write when it has ended", FILE_WRITE, "/g", NULL, 70, 0, 4 * BLOCK_DATA, 1, -E_NOSPC},
	{"write what was given then", FILE_WRITE, "/given", NULL, 9, 0, 70, 1, -E_NOSPC},
	{"grow what was given then", FILE_RESIZE, "/given", NULL, 0, 0, 6000, 1, -E_NOSPC},
	{"share", FILE_SHARE, "/g", NULL, 0, 0, 5000, 0, 0},
	{"share what was given", FILE_SHARE, "/given", NULL, 0, 0, 5000, 0, 0},
};

static bool
has_handle(enum file_op op)
{
	return op == FILE_WRITE || op == FILE_RESIZE || op == FILE_SET_TIME ||
		op == FILE_SET_MODE || op == FILE_SHARE;
}

static void
do_step(const struct step *s)
{
	static char text[FILE_DATA_MAX];
	struct file_request q = {.op = s->op, .handle = handle, .arg = s->arg, .more = s->more,
		.offset = s->offset};
	size_t len = s->path != NULL ? str_len(s->path) + 1 : 0;

	if (has_handle(s->op) || s->op == FILE_CLOSE) {
		memset(text, 'w', sizeof(text));
		expect_eq(asked(1, q, text, s->op == FILE_WRITE ? s->arg : 0).error,
			s->error);
		return;
	}
	memset(text, 0, sizeof(text));
	str_copy(text, sizeof(text), s->path);
	if (s->to != NULL)
		str_copy(text + len, sizeof(text) - len, s->to);
	expect_eq(asked(1, q, text, s->to != NULL ? sizeof(text) / 2 : len).error, 0);
}

/* With what is open before. */
static void
prepare(const struct step *s)
{
	begin();
	for (uint64_t at = 0; s->left > 0 && free_blocks() > s->left; at += BLOCK_DATA)
		fill((struct file_request){.offset = at}, "/all", 'a', 1);
	handle = has_handle(s->op) ? opened(s->path, FILE_WRITABLE) : 0;
}

static void
view_here(struct view *v)
{
	copy_take(&taken);
	view_make(&taken, v);
}

/* All at once, then again from the same state store by store. */
static void
try_step(const struct step *s)
{
	static struct tree t_first;
	uint64_t secret_first = secret;

	view_here(&before);
	copy_take(&first);
	t_first = t;
	do_step(s);
	view_here(&after);
	expect_sound();
	memcpy(&lasting.of, &first.lasting, sizeof(first.lasting));
	memcpy(blocks, first.blocks, sizeof(blocks));
	memset(memory, 0, sizeof(memory));
	t = t_first;
	secret = secret_first;
	is_torn = s->op == FILE_WRITE;
	stores = as_before = as_after = 0;
	watch(look);
	do_step(s);
	watch_end();
	view_here(&now);
	expect(is_same(&now, &after));
	expect(stores > 0 && as_before + as_after > 0);
	expect_sound();
	if (test_state.wrong > 0)
		printf("in: %s, %u stores\n", s->name, stores);
}

TEST(a_request_is_done_or_was_not_behind_each_store)
{
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && test_state.wrong == 0;
		i++) {
		prepare(&steps[i]);
		try_step(&steps[i]);
	}
}

/* What is open without a name ends with the server, which closes it just then; so do sockets. */
TEST(what_has_no_name_ends_with_the_server)
{
	static const struct step closing = {"close", FILE_CLOSE, NO_PATH, NULL, 0, 0, 0, 0, 0};

	begin();
	handle = opened("/d/f", FILE_WRITABLE);
	expect_eq(ask_path(FILE_REMOVE, "/d/f", 0).error, 0);
	expect(tree_make(&t, "/e/socket", FILE_KIND_SOCKET, 0700) > 0);
	link_or_rename(FILE_LINK, "/e/socket", "/e/other");
	view_here(&before);
	expect(before.count == 12);
	after = before;
	is_torn = false;
	as_after = as_before = 0;
	watch(look);
	do_step(&closing);
	watch_end();
	expect_sound();
}

/* More nodes than one table has, of which a later life has the last one taken away. */
TEST(tables_come_and_go)
{
	char name[] = "/d/00";

	begin();
	for (int i = 0; i < 30; i++) {
		name[3] = (char)('a' + i);
		try_step(&(const struct step){.name = name, .op = FILE_MAKE_DIRECTORY,
			.path = name});
	}
	expect(t.nodes > TABLE_NODES && after.count == 43);
	for (int i = 0; i < 30; i++) {
		name[3] = (char)('a' + i);
		ask_path(FILE_REMOVE, name, FILE_DIRECTORY);
	}
	memset(&t, 0, sizeof(t));
	t.lasting = &lasting.of;
	t.block = blocks;
	t.blocks = BLOCKS;
	t.archive = archive;
	expect(tree_init(&t) && t.nodes == TABLE_NODES);
	expect_sound();
}

/* --- random requests and ends, beside a model that knows names and bytes only --- */

#define NAMES 6
#define MOST 9000			/* bytes of a file */
#define REQUESTS 1000
#define SEEDS 4

static const char *const name_of[NAMES] = {"/d/a", "/e/b", "/c", "/d/d", "/given", "/e/f"};

struct model {
	int file_of[NAMES];		/* from 1; 0: there is none */
	struct {
		uint64_t size;
		unsigned char bytes[CONTENTS];
	} file[NAMES + 1];
};

enum { DO_CREATE, DO_WRITE, DO_RESIZE, DO_LINK, DO_RENAME, DO_REMOVE, DO_KINDS };

struct random_step {
	int what, i, j;
	uint32_t offset, len;
	unsigned char byte;
};

static struct model model, model_after;
static uint64_t state;
static sigjmp_buf end_of_life;
static uint32_t stores_left;
static uint32_t lives, half_done;

static void
end_at_random(void)
{
	if (--stores_left == 0)
		siglongjmp(end_of_life, 1);
}

static int
file_free(const struct model *m)
{
	int file = 1;

	for (int i = 0; i < NAMES; i++)
		if (m->file_of[i] == file) {
			file++;
			i = -1;
		}
	return file;
}

static void
model_do(struct model *m, const struct random_step *s)
{
	int *name = &m->file_of[s->i], file = *name;

	switch (s->what) {
	case DO_CREATE:
		if (file == 0) {
			*name = file_free(m);
			m->file[*name].size = 0;
			memset(m->file[*name].bytes, 0, CONTENTS);
		}
		break;
	case DO_WRITE:
		if (file == 0 || s->len == 0)
			break;
		memset(m->file[file].bytes + s->offset, s->byte, s->len);
		if (s->offset + s->len > m->file[file].size)
			m->file[file].size = s->offset + s->len;
		break;
	case DO_RESIZE:
		if (file == 0)
			break;
		if (s->offset < m->file[file].size)
			memset(m->file[file].bytes + s->offset, 0, CONTENTS - s->offset);
		m->file[file].size = s->offset;
		break;
	case DO_LINK:
		if (file != 0 && m->file_of[s->j] == 0)
			m->file_of[s->j] = file;
		break;
	case DO_RENAME:
		if (file != 0 && m->file_of[s->j] != file) {
			m->file_of[s->j] = file;
			*name = 0;
		}
		break;
	default:
		*name = 0;
	}
}

static void
ask_random(const struct random_step *s)
{
	static char text[FILE_DATA_MAX];
	const char *path = name_of[s->i];
	struct file_request q = {.op = s->what == DO_WRITE ? FILE_WRITE : FILE_RESIZE,
		.offset = s->offset, .arg = s->len};

	if (s->what == DO_LINK || s->what == DO_RENAME) {
		memset(text, 0, sizeof(text));
		str_copy(text, sizeof(text), path);
		str_copy(text + str_len(path) + 1, 100, name_of[s->j]);
		asked(1, (struct file_request){.op = s->what == DO_LINK ? FILE_LINK : FILE_RENAME},
			text, FILE_PATH_MAX);
		return;
	}
	if (s->what == DO_REMOVE) {
		ask_path(FILE_REMOVE, path, 0);
		return;
	}
	q.handle = ask_path(FILE_OPEN, path, FILE_READABLE | FILE_WRITABLE |
		(s->what == DO_CREATE ? FILE_CREATE : 0)).handle;
	memset(text, s->byte, sizeof(text));
	if (q.handle == 0)
		return;
	if (s->what != DO_CREATE)
		asked(1, q, text, s->what == DO_WRITE ? s->len : 0);
	q.op = FILE_CLOSE;
	asked(1, q, "", 0);
}

/* Does the tree have what either of two models has? A file may be between them. */
static bool
name_fits(int name, const struct model *m, const struct model *other)
{
	static unsigned char bytes[CONTENTS];
	int n = tree_find(&t, name_of[name]), file = m->file_of[name];
	const struct node *node;
	uint32_t names = 0;
	bool fits;

	if (file == 0)
		return n == -E_NOENT;
	if (n < 0)
		return false;
	node = node_of(&t, (uint32_t)n);
	for (int i = 0; i < NAMES; i++)
		names += m->file_of[i] == file;
	fits = node->links + 1u == names && (node->size == m->file[file].size ||
		node->size == other->file[file].size);
	memset(bytes, 0, sizeof(bytes));
	node_read(&t, (uint32_t)n, 0, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < node->size && fits; i++)
		fits = bytes[i] == m->file[file].bytes[i] || bytes[i] == other->file[file].bytes[i];
	return fits;
}

static bool
model_fits(const struct model *m, const struct model *other)
{
	bool fits = true;

	for (int i = 0; i < NAMES; i++)
		fits = fits && name_fits(i, m, other);
	return fits;
}

/* What was written partly is known from the tree. */
static void
model_learn(struct model *m, const struct random_step *s)
{
	int n = tree_find(&t, name_of[s->i]), file = m->file_of[s->i];

	if (s->what != DO_WRITE || n < 0)
		return;
	memset(m->file[file].bytes, 0, CONTENTS);
	m->file[file].size = node_of(&t, (uint32_t)n)->size;
	node_read(&t, (uint32_t)n, 0, m->file[file].bytes, CONTENTS);
}

/* A life begins, and may end before it has. */
static void
begin_life(void)
{
	lives++;
	sigsetjmp(end_of_life, 1);
	watch_end();
	memset(&t, 0, sizeof(t));
	t.lasting = &lasting.of;
	t.block = blocks;
	t.blocks = BLOCKS;
	t.archive = archive;
	stores_left = next(&state) % 4 == 0 ? 1 + next(&state) % 300 : 0;
	if (stores_left > 0)
		watch(end_at_random);
	expect(tree_init(&t));
	if (stores_left > 0)
		watch_end();
	expect_sound();
}

static void
random_step(void)
{
	const struct random_step s = {.what = (int)(next(&state) % DO_KINDS),
		.i = (int)(next(&state) % NAMES), .j = (int)(next(&state) % NAMES),
		.offset = next(&state) % MOST, .len = next(&state) % FILE_DATA_MAX,
		.byte = (unsigned char)next(&state)};

	model_after = model;
	model_do(&model_after, &s);
	stores_left = next(&state) % 4 == 0 ? 1 + next(&state) % 60 : 0;
	if (sigsetjmp(end_of_life, 1) == 0) {
		if (stores_left > 0)
			watch(end_at_random);
		ask_random(&s);
		if (stores_left > 0)
			watch_end();
		model = model_after;
		expect(model_fits(&model, &model));
		return;
	}
	watch_end();
	begin_life();
	if (s.what == DO_WRITE) {
		expect(model_fits(&model, &model_after));
		half_done += !model_fits(&model, &model);
		model_learn(&model, &s);
	} else if (model_fits(&model_after, &model_after)) {
		model = model_after;
	} else {
		expect(model_fits(&model, &model));
	}
}

TEST(whatever_ends_a_life_the_next_one_has_what_the_model_has)
{
	const char *seed = getenv("SEED");
	uint64_t from = seed != NULL ? strtoull(seed, NULL, 0) : 1;

	for (uint64_t s = from; s < from + SEEDS && test_state.wrong == 0; s++) {
		state = s;
		begin();
		memset(&model, 0, sizeof(model));
		model.file_of[4] = 1;
		model.file[1].size = FIXED_BYTES;
		memcpy(model.file[1].bytes, archive + 100, FIXED_BYTES);
		for (int i = 0; i < REQUESTS && test_state.wrong == 0; i++)
			random_step();
		if (test_state.wrong > 0)
			printf("with SEED=%llu\n", (unsigned long long)s);
	}
	expect(lives > 100 && half_done > 0);
	printf("%u lives, seeds %llu to %llu\n", lives, (unsigned long long)from,
		(unsigned long long)from + SEEDS - 1);
}

int
main(void)
{
	RUN(a_request_is_done_or_was_not_behind_each_store);
	RUN(what_has_no_name_ends_with_the_server);
	RUN(tables_come_and_go);
	RUN(whatever_ends_a_life_the_next_one_has_what_the_model_has);
	return TEST_FAILED;
}
