/* SPDX-License-Identifier: MIT
 *
 * The way to the file servers: see files.h. One thread at a time uses the channels, from its
 * request to the answer. A handle, a token and a key say which server has made them; of a path the
 * leader's server is asked, unless it begins with what another one has, and who is asked may say
 * who is to be asked instead.
 *
 * Who waits for a pipe has no request in the channel. One of those that wait listens: it sleeps for
 * the channel, and takes the message that the server has something to tell. A call by another
 * thread makes that one the one that is woken, so it wakes the listener when it is through, and
 * this looks anew.
 */
#include <atoll/service.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <user/personality/files.h>
#include <user/personality/limits.h>
#include <user/personality/lock.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define MOVE_MAX 0x7ffff000ull	/* bytes in one call, as in Linux */
#define EVERYBODY 0x7fffffff

/* To a server. */
struct file_line {
	bool is_open;
	bool is_lost;		/* the server has ended since */
	struct channel channel;
};

/* The servers that the leader's is not, where the machine has some. A page at most. */
struct file_parts {
	const struct file_place *place;
	struct file_line line[FILE_TREES_MAX];
};

_Static_assert(sizeof(struct file_parts) <= 4096, "a page");

static struct {
	struct lock lock;
	struct file_line leader;
	struct file_parts *parts;	/* NULL: there are none */
	uint32_t told;		/* how often a server has told something */
	int32_t listener;	/* thread number + 1; 0: nobody listens */
	/* changes when somebody was told, or the listener leaves: others sleep on it */
	uint32_t news;
} files;

void
files_lock(void)
{
	lock_take(&files.lock);
}

void
files_unlock(void)
{
	lock_give(&files.lock);
}

/* Which servers there are. 0 or -E_NOMEM. */
static int
know_parts(void)
{
	uint64_t addr;

	if (files.parts != NULL || personality_info.parts == 0)
		return 0;
	if (kmem_alloc(SELF, sizeof(*files.parts), PAGE_READ | PAGE_WRITE, &addr) < 0)
		return -E_NOMEM;
	files.parts = (struct file_parts *)addr;
	files.parts->place = file_place(0);
	return 0;
}

/* NULL: there is no such server. */
static struct file_line *
line_of(uint32_t server)
{
	bool is_part = files.parts != NULL && server <= personality_info.parts;

	return server == 0 ? &files.leader : is_part ? &files.parts->line[server - 1] : NULL;
}

/* The next line that is open and not lost, from number *server on, which moves on; or NULL. */
static struct file_line *
next_line(uint32_t *server)
{
	struct file_line *l;

	while ((l = line_of((*server)++)) != NULL)
		if (l->is_open && !l->is_lost)
			return l;
	return NULL;
}

static int
open_channel(struct file_line *l)
{
	struct service_kind kind = FILE_SERVICE;
	struct file f;
	int result;

	if (l->is_open && !l->is_lost)
		return 0;
	result = file_open(FILE_SERVER, &f);
	if (result != 0)
		return result;
	if (l != &files.leader)
		kind.cluster = (int)files.parts->place[l - files.parts->line].cluster;
	if (l->is_open)
		result = service_reopen(&l->channel, &kind, PERSONALITY_BIT);
	else
		result = service_open(&l->channel, &kind, PERSONALITY_BIT);
	l->is_open = result == 0;
	l->is_lost = false;
	/* signals do not end waits for an answer */
	l->channel.bits |= 1u << PERSONALITY_SIGNAL_BIT;
	return result;
}

/* --- who waits --- */

static void
wake_waiters(void)
{
	__atomic_store_n(&files.news, files.news + 1, __ATOMIC_RELEASE);
	kfutex_wake((unsigned long)&files.news, EVERYBODY);
}

/* A server has ended. Who waits for what it had to tell asks its successor. */
static void
lose_server(struct file_line *l)
{
	l->is_lost = true;
	files.told++;
	if (l == &files.leader)
		files_lose_input();
	wake_waiters();
}

/* A message has come. True: it answers nothing, and those that wait may ask again. */
static bool
was_told(const struct file_reply *r)
{
	if (r->kind != FILE_KIND_TOLD)
		return false;
	files.told++;
	wake_waiters();
	return true;
}

/* This thread has used a channel. */
static void
wake_listener(void)
{
	if (files.listener != 0 && files.listener != (int32_t)kthread_self() + 1)
		kthread_wakeup(files.listener - 1, 1u << PERSONALITY_BIT);
}

/* Take what has come, while nobody has a request in a channel. */
static void
take_told(void)
{
	struct file_reply r = {0};
	const struct service_part answer[2] = {{&r, sizeof(r)}, {NULL, 0}};
	struct file_line *l;
	uint32_t bytes;

	for (uint32_t i = 0; (l = next_line(&i)) != NULL;)
		while (channel_look(&l->channel, &bytes) != NULL)
			if (service_receive(&l->channel, answer) >= 0)
				was_told(&r);
}

/* Sleep once, without the lock. 0; -E_TIMEDOUT or -E_INTR. */
static long
listen_once(const struct handler_event *c, uint32_t seen, uint64_t until)
{
	struct file_line *l;
	long result;

	for (uint32_t i = 0; (l = next_line(&i)) != NULL;) {
		if (channel_check(&l->channel) != 0) {
			lose_server(l);
			return 0;
		}
		channel_listen(&l->channel, false);
	}
	take_told();
	if (files.told != seen)
		return 0;
	files_unlock();
	result = signal_is_due(c) ? -E_INTR :
		kthread_sleep(1u << PERSONALITY_BIT | 1u << PERSONALITY_SIGNAL_BIT, until);
	files_lock();
	take_told();
	return result == -E_TIMEDOUT || (result == -E_INTR && files.told == seen) ? result : 0;
}

static long
listen(const struct handler_event *c, uint32_t seen, uint64_t until)
{
	long result = 0;

	files.listener = (int32_t)kthread_self() + 1;
	while (files.told == seen && result == 0)
		result = listen_once(c, seen, until);
	files.listener = 0;
	wake_waiters();
	return result;
}

long
files_wait(const struct handler_event *c, uint64_t until)
{
	uint32_t seen = files.told;
	long result = 0;

	while (files.told == seen && result == 0) {
		uint32_t news = files.news;

		if (files.listener == 0) {
			result = listen(c, seen, until);
			continue;
		}
		files_unlock();
		result = signal_futex_wait(c, (unsigned long)&files.news, news, until);
		files_lock();
		if (result != -E_TIMEDOUT && result != -E_INTR)
			result = 0;
	}
	return files.told != seen ? 0 : result;
}

/* --- requests --- */

static int
ask_once(uint32_t server, const struct service_part request[2],
	const struct service_part answer[2])
{
	int result = know_parts();
	struct file_line *l = line_of(server);

	if (result == 0)
		result = l == NULL ? -E_BADF : open_channel(l);
	if (result == 0)
		result = service_send(&l->channel, request);
	if (result == 0) {
		do
			result = service_receive(&l->channel, answer);
		while (result >= 0 && was_told(answer[0].at));
		wake_listener();
	}
	if (result == -E_PIPE)
		lose_server(l);
	return result;
}

/* Can it be asked twice? It changes nothing that outlives the server, and says no handle. */
static bool
is_harmless(const struct file_request *q)
{
	return q->op == FILE_STAT || q->op == FILE_READ_LINK || q->op == FILE_PIPE ||
		q->op == FILE_INPUT || q->op == FILE_SOCKET ||
		(q->op == FILE_OPEN && (q->arg & FILE_EXCLUSIVE) == 0);
}

/* A request that was on its way when the server has ended may have been served or not. */
static int
ask_server(uint32_t server, const struct file_request *q, struct service_part data,
	struct file_reply *r, struct service_part room)
{
	const struct service_part request[2] = {{(void *)(uintptr_t)q, FILE_HEAD}, data};
	const struct service_part answer[2] = {{r, sizeof(*r)}, room};
	int result = ask_once(server, request, answer);

	if (result == -E_PIPE && is_harmless(q))
		result = ask_once(server, request, answer);
	if (result == -E_PIPE)
		result = -E_IO;
	return result >= 0 && r->error != 0 ? r->error : result;
}

int
files_call(const struct file_request *q, struct service_part data, struct file_reply *r,
	struct service_part room)
{
	return ask_server(FILE_SERVER_OF(q->handle), q, data, r, room);
}

int
files_ask(const struct file_request *q, struct file_reply *r)
{
	int result = files_call(q, (struct service_part){NULL, 0}, r,
		(struct service_part){NULL, 0});

	return result < 0 ? result : 0;
}

int
files_ask_named(struct file_named *q, size_t bytes, struct file_reply *r)
{
	int result = files_ask_about(q, bytes, r, (struct iovec){0});

	return result < 0 ? result : 0;
}

/* Whose a path is by its first letters. */
static uint32_t
server_of_path(const char *path)
{
	for (uint32_t i = 0; i < personality_info.parts; i++)
		if (file_place_has(&files.parts->place[i], path))
			return i + 1;
	return 0;
}

static uint32_t
server_of_paths(const struct file_named *q)
{
	uint32_t server = server_of_path(q->path);

	return (q->head.op == FILE_RENAME || q->head.op == FILE_LINK) && server > 0 &&
		server_of_path(q->path + str_len(q->path) + 1) != server ? 0 : server;
}

/* Another server is to be asked, by other paths: how many bytes they have; or an error. */
static __attribute__((noinline)) int
take_paths(uint32_t server, struct file_named *q, uint32_t bytes)
{
	const struct file_request rest = {.op = FILE_REST, .arg = bytes};
	struct file_reply r;

	return bytes > sizeof(q->path) ? -E_IO : ask_server(server, &rest,
		(struct service_part){NULL, 0}, &r, (struct service_part){q->path, bytes});
}

/* Servers may send us in a circle: paths lead through symbolic links of several of them. */
int
files_ask_about(struct file_named *q, size_t bytes, struct file_reply *r, struct iovec to)
{
	const struct service_part room = {(void *)to.base,
		to.len < FILE_DATA_MAX ? (uint32_t)to.len : (uint32_t)FILE_DATA_MAX};
	struct service_part paths = {q->path, (uint32_t)bytes};
	int result = know_parts();
	uint32_t server = result == 0 ? server_of_paths(q) : 0;

	if (result != 0)
		return result;
	for (int i = 0; (result = ask_server(server, &q->head, paths, r, room)) == -FILE_ELSEWHERE;
		i++) {
		int more = r->more > 0 ? take_paths(server, q, r->more) : (int)paths.bytes;

		if (more < 0 || i == FILE_LINKS_MAX)
			return more < 0 ? more : -FILE_ELOOP;
		paths.bytes = (uint32_t)more;
		server = (uint32_t)r->value;
	}
	return result;
}

int
files_offer(const uint32_t *handles, uint32_t count, bool is_kept, uint64_t *token)
{
	const struct file_request q = {.op = FILE_OFFER, .arg = count, .handle = handles[0],
		.more = is_kept ? FILE_KEPT : 0};
	struct file_reply r;
	int result = files_call(&q, (struct service_part){(void *)(uintptr_t)handles,
		count * (uint32_t)sizeof(*handles)}, &r, (struct service_part){NULL, 0});

	*token = r.value;
	return result < 0 ? result : 0;
}

int
files_claim(uint64_t token, struct file_claimed *claimed, uint32_t room)
{
	const struct file_request q = {.op = FILE_CLAIM, .handle = (uint32_t)token,
		.offset = token};
	struct file_reply r;
	int result = files_call(&q, (struct service_part){NULL, 0}, &r,
		(struct service_part){claimed, room * (uint32_t)sizeof(*claimed)});

	return result < 0 ? result : result / (int)sizeof(*claimed);
}

int
files_ask_for(const struct file_request *q, struct file_reply *r, void *to, size_t bytes)
{
	return files_call(q, (struct service_part){NULL, 0}, r,
		(struct service_part){to, (uint32_t)bytes});
}

int
files_where(uint32_t handle, char *path)
{
	struct file_request q = {.op = FILE_WHERE, .handle = handle};
	struct file_reply r;
	int result = files_call(&q, (struct service_part){NULL, 0}, &r,
		(struct service_part){path, FILE_PATH_MAX});

	path[FILE_PATH_MAX - 1] = 0;
	return result < 0 ? result : 0;
}

/* Bytes that are moved, piece by piece. */
struct moving {
	struct file_request q;
	char *memory;
	uint64_t len, done;
	bool is_read;
};

/* One piece. Its bytes or a negative error; more than one piece is moved where the first began. */
static __attribute__((noinline)) long
move_piece(struct moving *m)
{
	uint64_t left = m->len - m->done;
	struct file_reply r = {0};
	struct service_part data;
	int result;

	m->q.arg = left < FILE_DATA_MAX ? (uint32_t)left : FILE_DATA_MAX;
	m->q.more = (uint32_t)(left - m->q.arg);
	data = (struct service_part){m->memory + m->done, m->q.arg};
	result = m->is_read ? reach_write((uint64_t)data.at, data.bytes) :
		reach_read((uint64_t)data.at, data.bytes);
	if (result != 0)
		return result;
	result = files_call(&m->q, m->is_read ? (struct service_part){NULL, 0} : data, &r,
		m->is_read ? data : (struct service_part){NULL, 0});
	if (result < 0)
		return result;
	if (r.count > m->q.arg)
		return -E_IO;
	m->q.offset = r.value + r.count;
	m->done += r.count;
	if (r.more < m->len - m->done)
		m->len = m->done + r.more;
	return (long)r.count;
}

/* The last piece was short: the offset, which has moved over what was to follow, is set back. */
static __attribute__((noinline)) void
set_back(struct moving *m)
{
	struct file_reply r;

	m->q.op = FILE_SEEK;
	m->q.arg = FILE_FROM_START;
	files_ask(&m->q, &r);
}

static long
move_all(struct moving *m)
{
	bool is_shared = m->q.offset == FILE_AT_OFFSET;
	long result = 0;

	if (m->len > MOVE_MAX)
		m->len = MOVE_MAX;
	do {
		uint64_t before = m->done;

		result = move_piece(m);
		if (result < 0 && before == 0)
			return result;
	} while (result > 0 && m->done < m->len);
	if (is_shared && m->done < m->len)
		set_back(m);
	return (long)m->done;
}

/* --- pipes --- */

int
files_stage(const char *from, uint64_t len)
{
	int result = reach_read((uint64_t)from, len);

	for (uint64_t done = 0, n; done < len && result >= 0; done += n) {
		struct file_request q = {.op = FILE_STAGE};
		struct file_reply r;

		n = len - done < FILE_DATA_MAX ? len - done : FILE_DATA_MAX;
		q.arg = (uint32_t)n;
		result = files_call(&q, (struct service_part){(void *)(uintptr_t)(from + done),
			q.arg}, &r, (struct service_part){NULL, 0});
	}
	return result < 0 ? result : 0;
}

long
files_rest(char *to, uint64_t len)
{
	uint64_t done = 0;
	struct file_reply r = {.more = 1};

	if (reach_write((uint64_t)to, len) != 0)
		return -E_FAULT;
	while (done < len && r.more > 0) {
		struct file_request q = {.op = FILE_REST};
		int result;

		q.arg = len - done < FILE_DATA_MAX ? (uint32_t)(len - done) : FILE_DATA_MAX;
		result = files_call(&q, (struct service_part){NULL, 0}, &r,
			(struct service_part){to + done, q.arg});
		if (result < 0 || r.count == 0 || r.count > q.arg)
			break;
		done += r.count;
	}
	return (long)done;
}

long
files_take(const struct opened *o, char *to, uint64_t len)
{
	struct file_request q = {.op = FILE_READ, .handle = o->handle, .offset = FILE_AT_OFFSET};
	struct file_reply r;
	long rest;
	int result;

	q.arg = len < FILE_DATA_MAX ? (uint32_t)len : FILE_DATA_MAX;
	q.more = len - q.arg < MOVE_MAX ? (uint32_t)(len - q.arg) : MOVE_MAX;
	result = reach_write((uint64_t)to, q.arg);
	if (result == 0)
		result = files_call(&q, (struct service_part){NULL, 0}, &r,
			(struct service_part){to, q.arg});
	if (result < 0)
		return result;
	if (r.count > q.arg || r.more > len - r.count)
		return -E_IO;
	rest = r.more > 0 ? files_rest(to + r.count, r.more) : 0;
	return (long)r.count + (rest > 0 ? rest : 0);
}

long
files_put(const struct opened *o, const char *from, uint64_t len)
{
	struct file_request q = {.op = FILE_WRITE, .handle = o->handle, .offset = FILE_AT_OFFSET};
	bool is_whole = (o->flags & OPENED_WHOLE) != 0;
	uint64_t piece = is_whole || len < FILE_PIECE_MAX ? len : FILE_PIECE_MAX;
	uint64_t staged = piece > FILE_DATA_MAX ? piece - FILE_DATA_MAX : 0;
	struct file_reply r;
	int result = piece > FILE_STAGED_MAX ? -FILE_EMSGSIZE : reach_read((uint64_t)from, piece);

	if (result == 0)
		result = files_stage(from, staged);
	q.arg = (uint32_t)(piece - staged);
	if (result == 0)
		result = files_call(&q, (struct service_part){(void *)(uintptr_t)(from + staged),
			q.arg}, &r, (struct service_part){NULL, 0});
	/* what a server that has ended has left of a pipe is one end */
	return result == -E_IO ? -E_PIPE : result < 0 ? result : (long)r.count;
}

/* --- files --- */

long
files_read(const struct opened *o, uint64_t offset, char *to, uint64_t len)
{
	struct moving m = {.q = {.op = FILE_READ, .handle = o->handle, .offset = offset},
		.memory = to, .len = len, .is_read = true};

	return move_all(&m);
}

long
files_write(const struct opened *o, uint64_t offset, const char *from, uint64_t len)
{
	long room = len > 0 ? limits_room(o->handle, offset, len) : 0;
	struct moving m = {.q = {.op = FILE_WRITE, .handle = o->handle, .offset = offset},
		.memory = (char *)(uintptr_t)from, .len = (uint64_t)room};

	return room < 0 ? room : move_all(&m);
}
