/* SPDX-License-Identifier: MIT
 *
 * POSIX message queues: see tree.h. One is there as long as it has a name or descriptions.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/messages.h>

struct pipe *
queue_find(struct tree *t, const struct file_name *name)
{
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		if (t->pipe[i].type == PIPE_QUEUE &&
			file_name_is(&endpoint_of(t, &t->pipe[i])->name, name))
			return &t->pipe[i];
	return NULL;
}

int
queue_make(struct tree *t, uint32_t client, const struct queue_what *what, struct pipe **made)
{
	uint32_t queues = 0;
	struct pipe *p;

	if (what->messages == 0 || what->messages > QUEUE_MESSAGES || what->bytes == 0 ||
		what->bytes > QUEUE_BYTES)
		return -E_INVAL;
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		queues += t->pipe[i].type == PIPE_QUEUE;
	p = queues < QUEUES_MAX ? pipe_begin(t, client, PIPE_QUEUE) : NULL;
	if (p == NULL)
		return -E_NOSPC;
	/* its maker may go, and it stays */
	t->pipes_of[client]--;
	p->maker = CLIENTS_MAX;
	p->limit = (uint16_t)what->messages;
	p->size = what->bytes;
	*endpoint_of(t, p) = (struct endpoint){.name = *what->name, .mode = (uint16_t)what->mode};
	*made = p;
	return 0;
}

/* Neither a name nor a description. */
static void
queue_settle(struct tree *t, struct pipe *p)
{
	struct endpoint *e = endpoint_of(t, p);

	if (e->opens > 0 || e->name.bytes > 0)
		return;
	messages_drop(t, p);
	*e = (struct endpoint){0};
	pipe_free(t, p);
}

int
queue_unlink(struct tree *t, const struct file_name *name)
{
	struct pipe *p = queue_find(t, name);

	if (p == NULL)
		return -E_NOENT;
	endpoint_of(t, p)->name.bytes = 0;
	queue_settle(t, p);
	return 0;
}

void
queue_close(struct tree *t, struct pipe *p)
{
	endpoint_of(t, p)->opens--;
	queue_settle(t, p);
}

/* Who waits for that is told of a message where there was none. */
static void
notify(struct tree *t, struct pipe *p)
{
	struct endpoint *e = endpoint_of(t, p);
	int32_t signal = e->watch_signal;

	if (signal == 0 || p->message_count != 1)
		return;
	e->watch_signal = 0;
	if (signal > 0)
		process_signal(e->watch_pid, signal);
}

static bool
is_awaited(const struct pipe *p)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < CLIENTS_MAX / 32; i++)
		bits |= p->watch[PIPE_READ][i];
	return bits != 0;
}

long
queue_send(struct tree *t, uint32_t client, struct pipe *p, struct message_put *what)
{
	static const struct file_name nobody;
	const struct client_bytes *of = client_bytes_there(t, client);
	bool was_awaited = is_awaited(p);
	long result;

	if ((of != NULL ? of->staged.count : 0) + what->len > p->size)
		return -FILE_EMSGSIZE;
	if (what->priority >= QUEUE_PRIORITIES || what->rights > 0)
		return -E_INVAL;
	what->name = &nobody;
	result = message_put(t, p, client, what);
	if (result < 0)
		return result;
	if (!was_awaited)
		notify(t, p);
	pipe_tell(p, PIPE_READ);
	return result;
}

long
queue_receive(struct tree *t, uint32_t client, struct pipe *p, struct message_taken *what)
{
	if (what->len + what->more < p->size)
		return -FILE_EMSGSIZE;
	if (p->messages == NULL)
		return -FILE_LATER;
	message_take(t, p, client, what);
	pipe_tell(p, PIPE_WRITE);
	return what->is_short ? -E_NOMEM : (long)(what->done + what->rest);
}

uint32_t
queue_poll(const struct pipe *p)
{
	return (p->message_count > 0 ? FILE_POLL_READ : 0) |
		(message_has_room(p) ? FILE_POLL_WRITE : 0);
}

int
queue_notify(struct tree *t, uint32_t client, struct pipe *p, int32_t signal, int32_t pid)
{
	struct endpoint *e = endpoint_of(t, p);

	if (signal == QUEUE_NOT_ANY_MORE) {
		if (e->watch_signal != 0 && e->watch_client == client)
			e->watch_signal = 0;
		return 0;
	}
	if (e->watch_signal != 0)
		return -E_BUSY;
	e->watch_client = client;
	e->watch_pid = pid;
	e->watch_signal = signal == 0 ? QUEUE_QUIETLY : signal;
	return 0;
}

void
queues_forget(struct tree *t, uint32_t client)
{
	for (uint32_t i = 0; i < PIPES_MAX; i++)
		if (t->pipe[i].type == PIPE_QUEUE &&
			endpoint_of(t, &t->pipe[i])->watch_client == client)
			endpoint_of(t, &t->pipe[i])->watch_signal = 0;
}
