/* SPDX-License-Identifier: MIT
 *
 * What is said of files in memory, and of what is open: kind, mode, times, and where it lies.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/operation.h>

uint32_t
file_mode_of(uint8_t kind)
{
	switch (kind) {
	case FILE_KIND_DIRECTORY: return MODE_DIRECTORY;
	case FILE_KIND_SYMLINK: return MODE_LINK;
	case FILE_KIND_PIPE: return MODE_PIPE;
	case FILE_KIND_SOCKET: return MODE_SOCKET;
	case FILE_KIND_DEVICE: return MODE_DEVICE;
	default: return MODE_FILE;
	}
}

/* The node that a description is of; 0: of a pipe that has no name. */
static uint32_t
node_of_open(const struct tree *t, const struct description *d)
{
	return d->is_pipe ? t->pipe[d->object].node : d->object;
}

void
file_describe(const struct serving *s, uint32_t n)
{
	s->reply->kind = node_of(s->t, n)->kind;
	s->reply->value = node_of(s->t, n)->size;
	s->reply->node = node_number(s->t, n);
}

/* A directory or a file in memory; what has a type of its own lies nowhere. */
static void
space_describe(struct serving *s, uint64_t type)
{
	struct tree *t = s->t;
	struct file_space space = {.type = type, .block_bytes = BLOCK_BYTES,
		.piece_bytes = BLOCK_BYTES, .name_max = FILE_NAME_MAX};

	if (type == FILE_SPACE_MEMORY) {
		space.id = FILE_DEVICE_MEMORY + t->place.number;
		blocks_count(&space.blocks, &space.free);
		for (const struct block *b = t->free; b != NULL; b = b->next)
			space.free++;
		space.available = space.free;
		space.files = space.free_files = NODES_MAX;
		for (uint32_t i = 0; i < t->nodes; i++)
			space.free_files -= node_of(t, i)->kind != FILE_KIND_NONE;
	}
	memcpy(s->out, &space, sizeof(space));
	s->out_bytes = sizeof(space);
}

void
space_of_node(struct serving *s, uint32_t n)
{
	const struct tree *t = s->t;

	space_describe(s, t->proc != 0 && (n == t->proc || node_of(t, n)->is_shown) ?
		FILE_SPACE_PROC : FILE_SPACE_MEMORY);
}

int
serve_space(struct serving *s, const struct description *d)
{
	if (!d->is_pipe || node_of_open(s->t, d) != 0) {
		space_of_node(s, node_of_open(s->t, d));
		return 0;
	}
	switch (description_kind(s->t, d)) {
	case FILE_KIND_SOCKET:
		space_describe(s, FILE_SPACE_SOCKETS);
		break;
	case FILE_KIND_QUEUE:
		space_describe(s, FILE_SPACE_QUEUES);
		break;
	default: space_describe(s, FILE_SPACE_PIPES);
	}
	return 0;
}

void
file_describe_all(struct serving *s, uint32_t n)
{
	const struct node *node = node_of(s->t, n);
	uint64_t time = node->modified + s->t->began;
	const struct file_status status = {.modified = time, .accessed = time, .changed = time,
		.node = node_number(s->t, n), .mode = file_mode_of(node->kind) | node->mode,
		.device = FILE_DEVICE_MEMORY + s->t->place.number,
		.links = node->links + 1u - node->is_unlinked, .blocks = (node->size + 511) / 512};

	file_describe(s, n);
	/* with hard links it may have been found by another name than the archive's */
	s->reply->count = node->fixed != 0 && !node->is_renamed && node->links == 0 &&
		!s->is_moved ? FILE_ARCHIVED : 0;
	s->out_bytes = sizeof(status);
	memcpy(s->out, &status, sizeof(status));
}

void
file_describe_open(struct serving *s, const struct description *d)
{
	if (!d->is_pipe || node_of_open(s->t, d) != 0)
		file_describe_all(s, node_of_open(s->t, d));
	else
		*s->reply = (struct file_reply){.kind = description_kind(s->t, d),
			.node = FILE_NUMBERS + d->object + 1};
}

int
serve_status(const struct serving *s, const struct description *d)
{
	uint32_t number = node_of_open(s->t, d);
	struct node *n = node_of(s->t, number);

	if (d->is_pipe && number == 0)
		return -E_INVAL;
	if (s->r->op == FILE_SET_MODE && n->kind == FILE_KIND_SYMLINK)
		return -FILE_EOPNOTSUPP;
	if (s->r->op == FILE_SET_TIME)
		n->modified = s->r->arg == FILE_NOW ? time_now() : s->r->offset - s->t->began;
	else
		n->mode = s->r->arg & FILE_MODE_BITS;
	return 0;
}
