/* SPDX-License-Identifier: MIT
 *
 * Messages of 9P2000.L, written and read. Who answers lies outside of the machine's walls: an
 * answer is read by functions that never leave it, and what is wrong with it is remembered until
 * somebody asks. Source: the 9P2000.L protocol (diod).
 */
#ifndef SERVERS_FILE_NINEP_H
#define SERVERS_FILE_NINEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NINEP_HEAD 7			/* size, type, tag */
#define NINEP_VERSION "9P2000.L"
#define NINEP_NO_FID 0xffffffffu
#define NINEP_NO_TAG 0xffffu
#define NINEP_NAMES_MAX 16		/* of one walk */
#define NINEP_ERROR_MAX 133		/* Linux's largest */

/* Requests; the answer to each is one more. */
enum ninep_type {
	NINEP_ERROR = 6, NINEP_STATFS = 8, NINEP_OPEN = 12, NINEP_CREATE = 14, NINEP_SYMLINK = 16,
	NINEP_READLINK = 22, NINEP_GETATTR = 24, NINEP_SETATTR = 26, NINEP_READDIR = 40,
	NINEP_FSYNC = 50, NINEP_NEW_NAME = 70, NINEP_MKDIR = 72,
	NINEP_RENAME = 74, NINEP_UNLINK = 76,
	NINEP_HELLO = 100, NINEP_ATTACH = 104, NINEP_WALK = 110, NINEP_READ = 116,
	NINEP_WRITE = 118, NINEP_CLUNK = 120
};

/* Of setattr. */
#define NINEP_SET_MODE 1u
#define NINEP_SET_SIZE 8u
#define NINEP_SET_MTIME 0x20u
#define NINEP_MTIME_GIVEN 0x100u

#define NINEP_BASIC 0x7ffull		/* what getattr is asked for */

/* Kinds of a qid. */
#define NINEP_DIRECTORY 0x80
#define NINEP_LINK 0x02

struct ninep_qid {
	uint8_t type;
	uint64_t path;
};

struct ninep_attributes {
	struct ninep_qid qid;
	uint32_t mode;
	uint64_t links, size, blocks;
	uint64_t accessed, modified, changed;	/* ns */
};

/* A request that is written; what has no room makes it wrong. */
struct ninep_out {
	unsigned char *at;
	uint32_t bytes, room;
	bool is_wrong;
};

void ninep_begin(struct ninep_out *m, enum ninep_type type, uint32_t tag);
void ninep_put(struct ninep_out *m, uint64_t value, unsigned bytes);
void ninep_put_text(struct ninep_out *m, const char *text, size_t len);
void ninep_put_data(struct ninep_out *m, const void *from, uint32_t bytes);

/* Write its size. Its bytes; 0: it has no room. */
uint32_t ninep_end(struct ninep_out *m);

/* An answer that is read; what is not there makes it wrong, and reads as zeros. */
struct ninep_in {
	const unsigned char *at;
	uint32_t bytes;			/* that are left */
	bool is_wrong;
};

/*
 * Begin to read what has come to a request of this type and tag: `bytes` are there. 0; -E_IO: it is
 * no answer to that; or the error that it says.
 */
int ninep_answer(struct ninep_in *m, const void *at, uint32_t bytes, enum ninep_type type,
	uint32_t tag);
uint64_t ninep_get(struct ninep_in *m, unsigned bytes);
struct ninep_qid ninep_get_qid(struct ninep_in *m);
void ninep_get_attributes(struct ninep_in *m, struct ninep_attributes *a);

/* So many bytes, where they lie; NULL: they are not there. */
const void *ninep_get_data(struct ninep_in *m, uint32_t bytes);

/*
 * A text, where it lies, without a zero byte behind it; NULL: it is not there, is longer than
 * `most`, or has a zero byte.
 */
const char *ninep_get_text(struct ninep_in *m, size_t most, size_t *len);

#endif
