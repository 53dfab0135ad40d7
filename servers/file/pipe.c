/* SPDX-License-Identifier: MIT
 *
 * Pipes: see tree.h. Writers are told when there is room for what is written in one piece.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

static struct pipe *
pipe_find_free(struct tree *t)
{
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		if (t->pipe[i].ends[PIPE_READ] == 0 && t->pipe[i].ends[PIPE_WRITE] == 0)
			return &t->pipe[i];
	return NULL;
}

struct pipe *
pipe_begin(struct tree *t, uint32_t client, enum pipe_type type)
{
	struct pipe *p = pipe_find_free(t);

	if (p == NULL || t->pipes_of[client] == PIPES_OF_CLIENT_MAX ||
		(type != PIPE_PLAIN && !endpoint_has_place(t, p)))
		return NULL;
	*p = (struct pipe){.ends = {1, 0}, .maker = (uint16_t)client, .type = (uint8_t)type};
	t->pipes_of[client]++;
	if (t->pipes <= pipe_number(t, p))
		t->pipes = pipe_number(t, p) + 1;
	return p;
}

static struct file_claimed
end_open(struct tree *t, uint32_t client, const struct pipe *p, struct description *d,
	uint32_t flags)
{
	*d = (struct description){.object = (uint32_t)(p - t->pipe), .is_pipe = true,
		.flags = (uint16_t)flags};
	return (struct file_claimed){handle_number(t, handle_open(t, client, d)), FILE_KIND_PIPE,
		(uint16_t)flags};
}

int
pipe_make(struct tree *t, uint32_t client, uint32_t flags, struct file_claimed ends[2])
{
	struct pipe *p;
	struct description *d[2] = {description_find_free(t, 0), NULL};
	int wrong = handle_check_room(t, client, 2);

	if (d[0] != NULL)
		d[1] = description_find_free(t, (uint32_t)(d[0] - t->description) + 1);
	if (wrong != 0)
		return wrong;
	p = d[1] == NULL ? NULL : pipe_begin(t, client, PIPE_PLAIN);
	if (p == NULL)
		return d[1] == NULL ? -FILE_ENFILE : -E_NOSPC;
	p->ends[PIPE_WRITE] = 1;
	ends[0] = end_open(t, client, p, d[0], flags | FILE_READABLE);
	ends[1] = end_open(t, client, p, d[1], flags | FILE_WRITABLE);
	return 0;
}

/* --- pipes with a name --- */

static struct pipe *
pipe_named(struct tree *t, uint32_t n)
{
	for (uint32_t i = 0; i < t->pipes; i++)
		if (t->pipe[i].node == n)
			return &t->pipe[i];
	return NULL;
}

static void
end_come(struct pipe *p, enum pipe_end end)
{
	p->ends[end]++;
	p->came[end]++;
	pipe_tell(p, end == PIPE_READ ? PIPE_WRITE : PIPE_READ);
}

int
pipe_open(struct tree *t, uint32_t client, uint32_t n, struct description *d)
{
	enum pipe_end other = end_of(d) == PIPE_READ ? PIPE_WRITE : PIPE_READ;
	struct pipe *p = pipe_named(t, n);

	if (other == PIPE_READ && (d->flags & FILE_NONBLOCK) != 0 &&
		(p == NULL || p->ends[PIPE_READ] == 0))
		return -FILE_ENXIO;
	if (p == NULL) {
		p = pipe_begin(t, client, PIPE_PLAIN);
		if (p == NULL)
			return -FILE_ENFILE;
		p->ends[PIPE_READ] = 0;
		p->node = (uint16_t)n;
	}
	d->object = pipe_number(t, p);
	d->is_pipe = true;
	d->offset = (uint16_t)(p->came[other] - (p->ends[other] > 0));
	end_come(p, end_of(d));
	if (is_of_both(d))
		end_come(p, PIPE_WRITE);
	return 0;
}

bool
pipe_is_met(const struct pipe *p, const struct description *d)
{
	return p->node == 0 || is_of_both(d) ||
		p->came[end_of(d) == PIPE_READ ? PIPE_WRITE : PIPE_READ] != d->offset;
}

/* --- who waits --- */

void
pipe_watch(struct pipe *p, enum pipe_end end, uint32_t client)
{
	p->watch[end][client / 32] |= 1u << client % 32;
}

void
pipe_tell(struct pipe *p, enum pipe_end end)
{
	p->changes++;
	for (uint32_t i = 0; i < CLIENTS_MAX / 32; i++) {
		uint32_t bits = p->watch[end][i];

		p->watch[end][i] = 0;
		for (uint32_t client = i * 32; bits != 0; bits >>= 1, client++)
			if ((bits & 1) != 0)
				client_tell(client);
	}
}

void
pipes_forget(struct tree *t, uint32_t client)
{
	for (uint32_t i = 0; i <= t->pipes; i++) {
		struct pipe *p = &t->pipe[i < t->pipes ? i : PIPE_INPUT];

		p->watch[PIPE_READ][client / 32] &= ~(1u << client % 32);
		p->watch[PIPE_WRITE][client / 32] &= ~(1u << client % 32);
		if (p->maker == client)
			p->maker = CLIENTS_MAX;
	}
	t->pipes_of[client] = 0;
	client_bytes_forget(t, client);
}

/* For what is written in one piece. */
static bool
pipe_has_room(struct pipe *p)
{
	return pipe_tail(p)->count + FILE_PIECE_MAX <= PIPE_BYTES &&
		p->buffers < BUFFERS_OF_PIPE_MAX;
}

uint32_t
pipe_poll(struct pipe *p, enum pipe_end end)
{
	if (end == PIPE_READ)
		return (p->bytes.count > 0 || p->buffers > 0 || p->is_over ? FILE_POLL_READ : 0) |
			(p->ends[PIPE_WRITE] == 0 ? FILE_POLL_HUNG_UP : 0);
	if (p->ends[PIPE_READ] == 0)
		return FILE_POLL_WRITE | FILE_POLL_BROKEN;
	return pipe_has_room(p) ? FILE_POLL_WRITE : 0;
}

static void
end_close(struct tree *t, struct pipe *p, enum pipe_end end)
{
	if (--p->ends[end] > 0)
		return;
	pipe_tell(p, end == PIPE_READ ? PIPE_WRITE : PIPE_READ);
	if (end == PIPE_READ)
		buffers_drop(t, p);
	if (p->ends[PIPE_READ] == 0 && p->ends[PIPE_WRITE] == 0)
		pipe_free(t, p);
}

void
pipe_close(struct tree *t, const struct description *d)
{
	struct pipe *p = &t->pipe[d->object];
	uint32_t n = p->node;

	if (n != 0 && is_of_both(d))
		end_close(t, p, PIPE_WRITE);
	end_close(t, p, end_of(d));
	if (n == 0)
		return;
	node_of(t, n)->opens--;
	node_settle(t, n);
}

void
pipe_free(struct tree *t, struct pipe *p)
{
	bytes_drop(t, &p->bytes);
	buffers_drop(t, p);
	if (p->maker < CLIENTS_MAX)
		t->pipes_of[p->maker]--;
	*p = (struct pipe){.maker = CLIENTS_MAX};
}

/* --- bytes --- */

long
pipe_read(struct tree *t, struct pipe *p, uint32_t client, struct pipe_taken *what)
{
	int wrong = what->len > 0 ? buffers_pull(t, p) : 0;
	uint32_t count = p->bytes.count, done;

	what->rest = 0;
	if (wrong != 0)
		return wrong;
	if (count == 0 && what->len > 0 && p->is_over) {
		p->is_over = false;
		return 0;
	}
	if (count == 0 && what->len > 0)
		return p->ends[PIPE_WRITE] == 0 ? 0 : -FILE_LATER;
	done = bytes_take(t, &p->bytes, what->to, what->len);
	if (done == what->len && count - done > 0) {
		uint32_t more = count - done < what->more ? count - done : what->more;

		/* without memory the client gets it with its next read */
		struct client_bytes *of = more > 0 ? client_bytes(t, client) : NULL;

		if (of != NULL && bytes_move(t, &p->bytes, &of->rest, more))
			what->rest = more;
	}
	t->zio.copied += done + what->rest;
	buffers_settle(t, p);
	if (pipe_has_room(p))
		pipe_tell(p, PIPE_WRITE);
	return done;
}

/* Bytes that a client has staged, and others behind them. -E_NOMEM: none went in. */
static long
put_all(struct tree *t, struct bytes *to, struct bytes *staged, struct pipe_put what)
{
	uint32_t count = staged->count + what.len;

	if (!bytes_put(t, staged, what.from, what.len) || !bytes_move(t, staged, to, count))
		return -E_NOMEM;
	return count;
}

long
pipe_write(struct tree *t, struct pipe *p, uint32_t client, struct pipe_put what)
{
	struct client_bytes *of = client_bytes_there(t, client);
	uint32_t staged = of != NULL ? of->staged.count : 0;
	struct bytes *to = pipe_tail(p);
	long count;

	if (p->ends[PIPE_READ] == 0)
		return -E_PIPE;
	if (staged + what.len > PIPE_BYTES - to->count)
		return -FILE_LATER;
	count = staged > 0 ? put_all(t, to, &of->staged, what) :
		bytes_put(t, to, what.from, what.len) ? (long)what.len : -E_NOMEM;
	if (count < 0)
		return p->bytes.count > 0 || p->buffers > 0 ? -FILE_LATER : count;
	if (count > 0)
		pipe_tell(p, PIPE_READ);
	return count;
}

/* --- what the machine is given to read --- */

int
input_open(struct tree *t, uint32_t client, uint32_t *handle)
{
	struct description *d = description_find_free(t, 0);
	int wrong = handle_check_room(t, client, 1);

	if (wrong != 0 || d == NULL)
		return wrong != 0 ? wrong : -FILE_ENFILE;
	*handle = end_open(t, client, &t->pipe[PIPE_INPUT], d, FILE_READABLE).handle;
	t->pipe[PIPE_INPUT].ends[PIPE_READ]++;
	return 0;
}

void
input_give(struct tree *t, const void *from, uint32_t len)
{
	struct pipe *p = &t->pipe[PIPE_INPUT];

	/* as much as there is memory for */
	for (uint32_t done = 0, n; done < len; done += n) {
		n = len - done < FILE_PIECE_MAX ? len - done : FILE_PIECE_MAX;
		if (!bytes_put(t, &p->bytes, (const char *)from + done, n))
			break;
	}
	p->is_over = len == 0;
	pipe_tell(p, PIPE_READ);
}
