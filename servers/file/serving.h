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
	char *path;			/* FILE_PATH_MAX bytes of paths, and two zero bytes */
	bool is_moved;			/* they are not those that the client has named */
	uint8_t links;			/* symbolic ones that they have led through */
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

/* What Linux says of a kind: S_IFDIR and so on. */
uint32_t file_mode_of(uint8_t kind);

/* The answer says what a node is, or all of a struct file_status. */
void file_describe(const struct serving *s, uint32_t n);
void file_describe_all(struct serving *s, uint32_t n);
void file_describe_open(struct serving *s, const struct description *d);

/* FILE_SPACE of a node, FILE_SPACE_OPEN; FILE_SET_TIME, FILE_SET_MODE. 0 or a negative error. */
void space_of_node(struct serving *s, uint32_t n);
int serve_space(struct serving *s, const struct description *d);
int serve_status(const struct serving *s, const struct description *d);

/* Where does a path of the request begin? The second one lies behind the first. */
const char *path_of_request(const struct serving *s, int number);

/* Those that name something: of a new symbolic link the second one is what it is to say. */
uint32_t paths_of_request(const struct file_request *r);

/* What the last name of one of them is to the request. */
enum last_name last_of_path(const struct file_request *r, uint32_t number);

/*
 * Symbolic links in memory on a path, and on all of the request's, give way to what they say.
 * link_follow: the first one, on a path of so many bytes, with what lies behind it, and with room
 * for so many. 1: something has changed; 0: there is none; -FILE_ELOOP, -FILE_ENAMETOOLONG.
 */
struct linked {
	char *path;
	uint32_t bytes, room;
	uint8_t *links;
};
int link_follow(struct tree *t, struct linked *l, enum last_name last);
int links_follow(struct serving *s);

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

/* One description that is new: its handle goes into the answer. */
void serve_claimed(struct serving *s, const struct pipe *p, struct description *d, uint32_t flags);

/* FILE_ZIO_*; on a handle. */
int serve_zio(struct serving *s);
int serve_zio_open(struct serving *s, struct description *d);

/* What has one, of a socket or a message queue: also FILE_READ and FILE_WRITE. */
int serve_message(struct serving *s, struct description *d);

#endif
