/* SPDX-License-Identifier: MIT
 *
 * Pipes: see tree.h. A pipe has no block until something is written; then it keeps one, so that
 * short messages cost no new ones. Writers are told when there is room for the longest message.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/tree.h>

#define LONGEST ((uint32_t)FILE_DATA_MAX)

static struct pipe *
pipe_find_free(struct tree *t)
{
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		if (t->pipe[i].ends[PIPE_READ] == 0 && t->pipe[i].ends[PIPE_WRITE] == 0)
			return &t->pipe[i];
	return NULL;
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
	struct pipe *p = pipe_find_free(t);
	struct description *d[2] = {description_find_free(t, 0), NULL};
	int wrong = handle_check_room(t, client, 2);

	if (d[0] != NULL)
		d[1] = description_find_free(t, (uint32_t)(d[0] - t->description) + 1);
	if (wrong != 0)
		return wrong;
	if (p == NULL || t->pipes_of[client] == PIPES_OF_CLIENT_MAX)
		return -E_NOSPC;
	if (d[1] == NULL)
		return -FILE_ENFILE;
	*p = (struct pipe){.ends = {1, 1}, .maker = (uint16_t)client};
	t->pipes_of[client]++;
	ends[0] = end_open(t, client, p, d[0], flags | FILE_READABLE);
	ends[1] = end_open(t, client, p, d[1], flags | FILE_WRITABLE);
	return 0;
}

/* --- who waits --- */

void
pipe_watch(struct pipe *p, enum pipe_end end, uint32_t client)
{
	p->watch[end][client / 32] |= 1u << client % 32;
}

static void
tell_watchers(struct pipe *p, enum pipe_end end)
{
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
	for (struct pipe *p = t->pipe; p <= t->pipe + PIPE_INPUT; p++) {
		p->watch[PIPE_READ][client / 32] &= ~(1u << client % 32);
		p->watch[PIPE_WRITE][client / 32] &= ~(1u << client % 32);
		if (p->maker == client)
			p->maker = CLIENTS_MAX;
	}
	t->pipes_of[client] = 0;
}

uint32_t
pipe_poll(const struct pipe *p, enum pipe_end end)
{
	if (end == PIPE_READ)
		return (p->count > 0 || p->is_over || p->ends[PIPE_WRITE] == 0 ?
				FILE_POLL_READ : 0) |
			(p->ends[PIPE_WRITE] == 0 ? FILE_POLL_HUNG_UP : 0);
	if (p->ends[PIPE_READ] == 0)
		return FILE_POLL_WRITE | FILE_POLL_BROKEN;
	return p->count + LONGEST <= PIPE_BYTES ? FILE_POLL_WRITE : 0;
}

void
pipe_end_close(struct tree *t, struct pipe *p, enum pipe_end end)
{
	if (--p->ends[end] > 0)
		return;
	tell_watchers(p, end == PIPE_READ ? PIPE_WRITE : PIPE_READ);
	if (p->ends[PIPE_READ] > 0 || p->ends[PIPE_WRITE] > 0)
		return;
	chain_free(t, p->first);
	if (p->maker < CLIENTS_MAX)
		t->pipes_of[p->maker]--;
	*p = (struct pipe){.maker = CLIENTS_MAX};
}

/* --- bytes --- */

/* The first block has been read; the only one stays, and is begun anew. */
static void
first_end(struct tree *t, struct pipe *p)
{
	struct block *b = p->first;

	p->begin = 0;
	if (b == p->last) {
		p->end = 0;
		return;
	}
	p->first = b->next;
	b->next = NULL;
	chain_free(t, b);
}

long
pipe_read(struct tree *t, struct pipe *p, void *to, uint32_t len)
{
	uint32_t done = 0;

	if (p->count == 0 && len > 0 && p->is_over) {
		p->is_over = false;
		return 0;
	}
	if (p->count == 0 && len > 0)
		return p->ends[PIPE_WRITE] == 0 ? 0 : -FILE_LATER;
	while (done < len && p->count > 0) {
		uint32_t end = p->first == p->last ? p->end : BLOCK_DATA;
		uint32_t n = end - p->begin < len - done ? end - p->begin : len - done;

		memcpy((char *)to + done, p->first->data + p->begin, n);
		done += n;
		p->begin += n;
		p->count -= n;
		if (p->begin == end)
			first_end(t, p);
	}
	if (p->count + LONGEST <= PIPE_BYTES)
		tell_watchers(p, PIPE_WRITE);
	return done;
}

/* Blocks for so many bytes more: one at most, for they are not longer. */
static bool
has_blocks(struct tree *t, struct pipe *p, uint32_t len)
{
	struct block *b;

	if (p->first != NULL && len <= BLOCK_DATA - p->end)
		return true;
	b = block_take(t);
	if (b == NULL)
		return false;
	if (p->first == NULL)
		p->first = p->last = b;
	else
		p->last->next = b;
	return true;
}

long
pipe_write(struct tree *t, struct pipe *p, const void *from, uint32_t len)
{
	uint32_t done = 0;

	if (p->ends[PIPE_READ] == 0)
		return -E_PIPE;
	if (len > PIPE_BYTES - p->count)
		return -FILE_LATER;
	if (len > 0 && !has_blocks(t, p, len))
		return p->count > 0 ? -FILE_LATER : -E_NOMEM;
	while (done < len) {
		uint32_t n;

		if (p->end == BLOCK_DATA) {
			p->last = p->last->next;
			p->end = 0;
		}
		n = (uint32_t)BLOCK_DATA - p->end < len - done ? (uint32_t)BLOCK_DATA - p->end :
			len - done;
		memcpy(p->last->data + p->end, (const char *)from + done, n);
		p->end += n;
		p->count += n;
		done += n;
	}
	if (len > 0)
		tell_watchers(p, PIPE_READ);
	return done;
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

	/* pipe_write takes a message at a time, and wants a reader */
	p->ends[PIPE_READ]++;
	for (uint32_t done = 0; done < len;) {
		uint32_t n = len - done < LONGEST ? len - done : LONGEST;

		if (pipe_write(t, p, (const char *)from + done, n) < 0)
			break;
		done += n;
	}
	p->ends[PIPE_READ]--;
	p->is_over = len == 0;
	tell_watchers(p, PIPE_READ);
}
