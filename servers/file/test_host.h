/* SPDX-License-Identifier: MIT
 *
 * For the tests of shares: two of them, /s and /r, and a host that says what the test wants it to.
 */
#ifndef SERVERS_FILE_TEST_HOST_H
#define SERVERS_FILE_TEST_HOST_H

#include "test_ask.h"


#define DIRECTORY 0040755
#define FILE_MODE 0100644
#define LINK_MODE 0120777

/* Messages that wait for their answers, in the order in which they were sent. */
static struct {
	struct share *share;
	uint32_t slot, bytes;
} asked_host[64];
static uint32_t asked_hosts;

static unsigned char arena[2][SHARE_SLOTS][SHARE_REQUEST + SHARE_ANSWER];
static struct share share[2];
static unsigned char body[SHARE_ANSWER];
static struct ninep_out out;

static inline void
note_sent(struct share *s, uint32_t slot, uint32_t bytes)
{
	expect(asked_hosts < 64);
	asked_host[asked_hosts].share = s;
	asked_host[asked_hosts].slot = slot;
	asked_host[asked_hosts++].bytes = bytes;
}

static inline void
begin_body(void)
{
	out = (struct ninep_out){.at = body, .room = sizeof(body)};
}

/* The host's answer to message number `n`: the body, of a type; errors are NINEP_ERROR. */
static inline void
answer_message(uint32_t n, enum ninep_type type)
{
	struct share *s = asked_host[n].share;
	uint32_t slot = asked_host[n].slot;
	struct ninep_out m = {.at = s->slot[slot].answer, .room = SHARE_ANSWER};
	uint32_t tag = s->slot[slot].request[5] | (uint32_t)s->slot[slot].request[6] << 8;

	memmove(&asked_host[n], &asked_host[n + 1],
		(asked_hosts - n - 1) * sizeof(asked_host[0]));
	asked_hosts--;
	ninep_begin(&m, (enum ninep_type)(type + 1), tag);
	ninep_put_data(&m, body, out.bytes);
	share_answer(&t, s, slot, ninep_end(&m));
}

static inline int
type_of(uint32_t n)
{
	return n >= asked_hosts ? -1 :
		asked_host[n].share->slot[asked_host[n].slot].request[4];
}

/* The first message is of this type, and is answered so. */
static inline void
answer_first(enum ninep_type type)
{
	expect_eq(type_of(0), type);
	if (asked_hosts > 0)
		answer_message(0, type);
	begin_body();
}

static inline void
fail_first(enum ninep_type type, uint32_t error)
{
	expect_eq(type_of(0), type);
	begin_body();
	ninep_put(&out, error, 4);
	if (asked_hosts > 0)
		answer_message(0, NINEP_ERROR);
	begin_body();
}

static inline void
put_qid(uint8_t type, uint64_t path)
{
	ninep_put(&out, type, 1);
	ninep_put(&out, 0, 4);
	ninep_put(&out, path, 8);
}

static inline void
put_attributes(uint32_t mode, uint64_t path, uint64_t size)
{
	ninep_put(&out, NINEP_BASIC, 8);
	put_qid((mode & MODE_KIND) == MODE_DIRECTORY ? NINEP_DIRECTORY : 0, path);
	ninep_put(&out, mode, 4);
	ninep_put(&out, 0, 8);
	ninep_put(&out, 1, 8);
	ninep_put(&out, 0, 8);
	ninep_put(&out, size, 8);
	ninep_put(&out, 4096, 8);
	ninep_put(&out, 8, 8);
	for (int i = 0; i < 3; i++) {
		ninep_put(&out, 1000 + (uint64_t)i, 8);
		ninep_put(&out, 5, 8);
	}
	for (int i = 0; i < 4; i++)
		ninep_put(&out, 0, 8);
}

static inline void
put_slots(struct share *s, unsigned char (*at)[SHARE_REQUEST + SHARE_ANSWER])
{
	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < SHARE_SLOTS; i++) {
		s->slot[i].request = at[i];
		s->slot[i].answer = at[i] + SHARE_REQUEST;
	}
}

static inline void
answer_hello(void)
{
	begin_body();
	ninep_put(&out, SHARE_MESSAGE, 4);
	ninep_put_text(&out, NINEP_VERSION, 8);
	answer_first(NINEP_HELLO);
	put_qid(NINEP_DIRECTORY, 1);
	answer_first(NINEP_ATTACH);
}

/* Two shares, /s and /r. */
static inline void
host_begin(void)
{
	reset();
	sent = note_sent;
	asked_hosts = 0;
	memset(again, 0, sizeof(again));
	for (int i = 0; i < 2; i++) {
		put_slots(&share[i], arena[i]);
		expect_eq(share_begin(&t, &share[i], i == 0 ? "/s" : "/r"), 0);
		answer_hello();
		expect_eq(share[i].state, SHARE_IS_THERE);
	}
	begin_body();
}

/* The last request once more. */
static struct file_request last;
static char last_path[FILE_PATH_MAX];
static size_t last_bytes;

static inline struct file_reply
ask_again(uint32_t client)
{
	return asked(client, last, last_path, last_bytes);
}

/* A request that the host has to be asked for. */
static inline void
put_off(uint32_t client, struct file_request q, const char *path, size_t bytes)
{
	last = q;
	memcpy(last_path, path, bytes);
	last_bytes = bytes;
	expect_eq(asked(client, q, path, bytes).error, -FILE_LATER);
}

static inline void
put_off_path(enum file_op op, const char *path, uint32_t how)
{
	put_off(1, (struct file_request){.op = op, .arg = how, .more = 0644}, path,
		str_len(path) + 1);
}

static inline void
expect_names(uint32_t count)
{
	const unsigned char *m = asked_host[0].share->slot[asked_host[0].slot].request;

	expect_eq(type_of(0), NINEP_WALK);
	expect_eq(m[15] | m[16] << 8, count);
}

/* A file of the share is open: its handle. */
static inline uint32_t
open_file(uint32_t client, const char *path, uint64_t file, uint64_t size, uint32_t how)
{
	struct file_reply r;

	put_off(client, (struct file_request){.op = FILE_OPEN, .arg = how}, path,
		str_len(path) + 1);
	ninep_put(&out, 1, 2);
	put_qid(0, file);
	answer_first(NINEP_WALK);
	ask_again(client);
	put_attributes(FILE_MODE, file, size);
	answer_first(NINEP_GETATTR);
	ask_again(client);
	put_qid(0, file);
	ninep_put(&out, 0, 4);
	answer_first(NINEP_OPEN);
	r = ask_again(client);
	expect_eq(r.error, 0);
	expect_eq(r.kind, FILE_KIND_FILE);
	return r.handle;
}

/* Nothing is left: the host is told to forget what it was told. */
static inline void
expect_quiet(uint32_t open_ones)
{
	uint32_t used = 0;

	while (asked_hosts > 0) {
		begin_body();
		answer_first(NINEP_CLUNK);
	}
	for (uint32_t i = 1; i < SHARE_FIDS; i++)
		used += share[0].fid[i].state != FID_FREE;
	for (uint32_t i = 0; i < SHARE_SLOTS; i++)
		expect(!share[0].slot[i].is_used);
	expect_eq(used, open_ones);
	expect(share[0].waiting == NULL);
	expect_sound();
}

static inline void
answer_clunk(void)
{
	for (uint32_t i = 0; i < asked_hosts; i++)
		if (type_of(i) == NINEP_CLUNK) {
			begin_body();
			answer_message(i, NINEP_CLUNK);
			i--;
		}
	begin_body();
}

#endif
