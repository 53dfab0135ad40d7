/* SPDX-License-Identifier: MIT
 *
 * A request while it is served.
 */
#ifndef SERVERS_FILE_SERVING_H
#define SERVERS_FILE_SERVING_H

#include <servers/file/tree.h>

/*
 * The head is a copy, and so are the paths; the bytes of a file lie where
 * the client can change them.
 */
struct serving {
	struct tree *t;
	uint32_t client;
	const struct file_request *r;
	char *path;			/* FILE_PATH_MAX bytes of paths */
	bool is_moved;			/* they are not those that the client has named */
	/* behind the head; of FILE_WRITE, FILE_STAGE, FILE_OFFER as much as these say */
	const void *data;
	uint32_t data_bytes;
	struct file_reply *reply;
	void *out;		/* FILE_DATA_MAX bytes behind the answer's head, on a word */
	uint32_t out_bytes;		/* of them that are used */
};

/*
 * One more entry of FILE_LIST: node, next and type are given. False: there is no room for it.
 */
bool file_put_entry(struct serving *s, const struct file_entry *e, const char *name, size_t len);

/* Where does a path of the request begin? The second one lies behind the first. */
const char *path_of_request(const struct serving *s, int number);

/* Are they whole? Of a new link the second one is what it is to say. 0; -FILE_ENAMETOOLONG. */
int paths_check(const struct serving *s);

/* What has no handle: FILE_SOCKET, FILE_QUEUE, FILE_QUEUE_REMOVE. 0 or a negative error. */
int serve_new_socket(struct serving *s);
int serve_queue(struct serving *s);

/* FILE_EVENT; what has a handle: FILE_EVENT_SET, FILE_LIST_CHANGE, FILE_LIST_TAKE, and bytes. */
int serve_new_event(struct serving *s);
int serve_event(struct serving *s, struct description *d);

/*
 * What of FILE_POLL is true of a description, of which `asked` is asked; what else may change it is
 * added to *waits. And the client is told when it may have changed.
 */
uint32_t description_poll(struct serving *s, const struct description *d, uint32_t asked,
	struct file_waits *waits);
void description_watch(struct serving *s, const struct description *d);

/* FILE_POLL. */
int serve_poll(struct serving *s, const struct description *d);

/* The same of a pipe of event.c. */
uint32_t event_poll(struct serving *s, struct pipe *p, struct file_waits *waits);
void event_watch(struct serving *s, struct pipe *p);

/* The end of a pipe that a description is of. */
static inline enum pipe_end
end_of(const struct description *d)
{
	return (d->flags & FILE_READABLE) != 0 ? PIPE_READ : PIPE_WRITE;
}

/* One description that is new: its handle goes into the answer. */
void serve_claimed(struct serving *s, const struct pipe *p, struct description *d, uint32_t flags);

/* FILE_ZIO_*; on a handle. */
int serve_zio(struct serving *s);
int serve_zio_open(struct serving *s, struct description *d);

/* What has one, of a socket or a message queue: also FILE_READ and FILE_WRITE. */
int serve_message(struct serving *s, struct description *d);

#endif
