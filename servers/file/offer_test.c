/* SPDX-License-Identifier: MIT
 *
 * Descriptions that go from client to client, whoever closes, dies or says nonsense first; at
 * random beside a naive model, too.
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
#include <servers/file/test_ask.h>

static struct file_reply
offered(uint32_t client, const uint32_t *handles, uint32_t count)
{
	return asked(client, (struct file_request){.op = FILE_OFFER, .arg = count}, handles,
		count * sizeof(*handles));
}

static struct file_reply
on_token(enum file_op op, uint32_t client, uint64_t token)
{
	return asked(client, (struct file_request){.op = op, .offset = token}, "", 0);
}

static uint32_t
claimed(uint32_t i)
{
	struct file_claimed c;

	memcpy(&c, answer.data + i * sizeof(c), sizeof(c));
	return c.handle;
}

static struct file_reply
on_handle(enum file_op op, uint32_t client, uint32_t handle, uint64_t offset, uint32_t bytes)
{
	return asked(client, (struct file_request){.op = op, .handle = handle, .offset = offset,
		.arg = bytes}, "0123456789", op == FILE_WRITE ? bytes : 0);
}

static uint64_t
place(uint32_t client, uint32_t handle)
{
	struct file_reply r = on_handle(FILE_SEEK, client, handle, 0, FILE_FROM_OFFSET);

	return r.error != 0 ? UINT64_MAX : r.value;
}

TEST(an_offset_is_shared_by_who_claims)
{
	uint32_t h[2], mine[2];
	uint64_t token;
	struct file_claimed c;

	reset();
	h[0] = opened("f", FILE_CREATE | FILE_WRITABLE | FILE_APPEND);
	h[1] = opened("/", FILE_DIRECTORY);
	token = offered(1, h, 2).value;
	on_handle(FILE_WRITE, 1, h[0], FILE_AT_OFFSET, 4);
	expect_eq(on_token(FILE_CLAIM, 2, token).count, 2);
	mine[0] = claimed(0);
	mine[1] = claimed(1);
	memcpy(&c, answer.data, sizeof(c));
	expect(c.kind == FILE_KIND_FILE &&
		c.flags == (FILE_READABLE | FILE_WRITABLE | FILE_APPEND));
	expect_eq(on_token(FILE_CLAIM, 2, token).error, -E_NOENT);
	expect_eq(place(2, mine[0]), 4);
	on_handle(FILE_WRITE, 2, mine[0], FILE_AT_OFFSET, 3);
	expect_eq(place(1, h[0]), 7);
	expect_eq(on_handle(FILE_LIST, 2, mine[1], FILE_AT_OFFSET, 24).error, 0);
	expect_eq(place(1, h[1]), 1);
	expect_eq(place(2, h[0]), UINT64_MAX);
	expect_eq(place(1, mine[0]), UINT64_MAX);
	expect_eq(on_handle(FILE_CLOSE, 1, h[0], 0, 0).error, 0);
	ask_path(FILE_REMOVE, "f", 0);
	expect_eq(place(2, mine[0]), 7);
	file_forget(&t, 1);
	expect_eq(place(2, mine[0]), 7);
	expect_eq(t.handles, 2);
	expect_sound();
	file_forget(&t, 2);
	expect_eq(t.handles, 0);
	expect_eq(free_blocks(), BLOCKS);
	expect_sound();
}

TEST(who_claims_what_is_kept_gets_copies)
{
	uint32_t h, copy[2];
	uint64_t token;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE);
	token = asked(1, (struct file_request){.op = FILE_OFFER, .arg = 1, .more = FILE_KEPT}, &h,
		sizeof(h)).value;
	for (uint32_t client = 2; client < 4; client++) {
		expect_eq(on_token(FILE_CLAIM, client, token).count, 1);
		copy[client - 2] = claimed(0);
		on_handle(FILE_WRITE, client, copy[client - 2], FILE_AT_OFFSET, 4);
	}
	expect_eq(place(1, h), 8);
	/* whose it is may claim it, too */
	expect_eq(on_token(FILE_CLAIM, 1, token).count, 1);
	expect_eq(t.handles_of[1], 3);
	/* it ends with its client; the copies stay */
	file_forget(&t, 1);
	expect_eq(on_token(FILE_CLAIM, 2, token).error, -E_NOENT);
	expect_eq(place(3, copy[1]), 8);
	expect_eq(t.handles, 2);
	file_forget(&t, 2);
	file_forget(&t, 3);
	expect_eq(t.handles, 0);
}

TEST(an_offer_ends_with_its_client_or_when_that_says_so)
{
	uint64_t token;
	uint32_t h;

	reset();
	h = opened("f", FILE_CREATE | FILE_WRITABLE);
	token = offered(1, &h, 1).value;
	on_handle(FILE_CLOSE, 1, h, 0, 0);
	expect_eq(t.handles, 1);
	expect_eq(on_token(FILE_WITHDRAW, 2, token).error, -E_NOENT);
	expect_eq(on_token(FILE_WITHDRAW, 1, token).error, 0);
	expect_eq(on_token(FILE_WITHDRAW, 1, token).error, -E_NOENT);
	expect_eq(t.handles, 0);
	h = opened("f", 0);
	token = offered(1, &h, 1).value;
	file_forget(&t, 1);
	expect_eq(on_token(FILE_CLAIM, 2, token).error, -E_NOENT);
	expect_eq(t.handles, 0);
	h = opened("f", 0);
	token = offered(1, &h, 1).value;
	expect_eq(on_token(FILE_CLAIM, 1, token).error, 0);
	expect(claimed(0) != h && t.handles == 2 && t.handles_of[1] == 2);
	expect_sound();
}

TEST(what_is_no_offer_changes_nothing)
{
	uint32_t h[2];
	uint64_t token;

	reset();
	h[0] = h[1] = opened("f", FILE_CREATE);
	expect_eq(offered(1, h, 0).error, -E_INVAL);
	expect_eq(offered(2, h, 1).error, -E_BADF);
	h[1] ^= 1;
	expect_eq(offered(1, h, 2).error, -E_BADF);
	expect_eq(asked(1, (struct file_request){.op = FILE_OFFER, .arg = 2}, h, 7).error,
		-E_INVAL);
	expect_eq(asked(1, (struct file_request){.op = FILE_OFFER, .arg = FILE_OFFER_MAX + 1}, &t,
		FILE_DATA_MAX).error, -E_INVAL);
	token = offered(1, h, 1).value;
	for (uint64_t bit = 0; bit < 64; bit++)
		expect_eq(on_token(FILE_CLAIM, 2, token ^ (uint64_t)1 << bit).error, -E_NOENT);
	expect_eq(on_token(FILE_CLAIM, 2, 0).error, -E_NOENT);
	/* a handle of an offer is nobody's: guess its number */
	expect_eq(on_handle(FILE_CLOSE, 1, h[0] + 1, 0, 0).error, -E_BADF);
	expect_eq(t.handles, 2);
	expect_sound();
}

TEST(offers_and_handles_have_limits)
{
	static uint32_t h[HANDLES_OF_CLIENT_MAX];
	uint64_t token;
	uint32_t n = 0;

	reset();
	h[0] = opened("f", FILE_CREATE);
	for (n = 0; n < OFFERS_OF_CLIENT_MAX; n++)
		token = offered(1, h, 1).value;
	expect_eq(offered(1, h, 1).error, -E_NOSPC);
	expect_eq(on_token(FILE_CLAIM, 2, token).error, 0);
	expect_eq(offered(1, h, 1).error, 0);
	for (n = 1; t.handles_of[1] < HANDLES_OF_CLIENT_MAX; n++)
		h[n] = opened("f", 0);
	expect_eq(on_token(FILE_WITHDRAW, 1, t.offer[0].token).error, 0);
	expect_eq(offered(1, h, 2).error, -E_MFILE);
	token = offered(1, h, 1).value;
	/* who has its share can claim no more, but what is its own, and the offer stays */
	expect_eq(on_token(FILE_CLAIM, 1, token).error, 0);
	token = asked(2, (struct file_request){.op = FILE_OPEN}, "f", 2).handle;
	h[n] = (uint32_t)token;
	token = offered(2, &h[n], 1).value;
	expect_eq(on_token(FILE_CLAIM, 1, token).error, -E_MFILE);
	expect_eq(on_token(FILE_CLAIM, 3, token).error, 0);
	expect_sound();
	reset();
	h[0] = opened("f", FILE_CREATE);
	for (n = 1; n <= OFFERS_MAX / OFFERS_OF_CLIENT_MAX; n++) {
		h[n] = asked(n, (struct file_request){.op = FILE_OPEN}, "f", 2).handle;
		for (int i = 0; i < OFFERS_OF_CLIENT_MAX; i++)
			expect_eq(offered(n, &h[n], 1).error, 0);
	}
	h[n] = asked(n, (struct file_request){.op = FILE_OPEN}, "f", 2).handle;
	expect_eq(offered(n, &h[n], 1).error, -E_NOSPC);
	expect_sound();
}

TEST(tokens_are_those_of_siphash)
{
	static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	struct tokens a = {.count = 5}, b = a;

	expect_eq(siphash(key, 0x0706050403020100), 0x93f5f5799a932462);
	expect_eq(tokens_next(&a), tokens_next(&b));
	expect(tokens_next(&a) != tokens_next(&a));
	tokens_stir(&b, 1);
	tokens_next(&b);
	expect(tokens_next(&a) != tokens_next(&b));
}

/* --- beside a model --- */

#define WHO 4
#define KNOWN 40

struct known {			/* a handle, or one that is offered */
	uint32_t owner, number, description;
	uint64_t token;		/* not 0: offered, as the nth of its offer */
	uint32_t nth;
};

static struct known known[KNOWN];
static uint64_t offsets[2000];
static uint32_t descriptions, knowns;

static void
know(struct known k)
{
	known[knowns++] = k;
}

static void
unknow(uint32_t owner, uint64_t token, bool all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < knowns; i++)
		if (known[i].owner != owner || (!all && known[i].token != token))
			known[n++] = known[i];
	knowns = n;
}

static void
open_one(uint32_t who)
{
	struct file_request q = {.op = FILE_OPEN, .arg = FILE_CREATE | FILE_READABLE |
		FILE_WRITABLE};

	if (knowns == KNOWN || descriptions == 2000)
		return;
	know((struct known){.owner = who, .number = asked(who, q, "f", 2).handle,
		.description = descriptions});
	offsets[descriptions++] = 0;
}

/* An offer of one or two handles of one client, which the model has as two that are offered. */
static void
offer_some(const struct known *k, const struct known *l)
{
	uint32_t two[2] = {k->number, l->number};
	uint32_t n = k->owner == l->owner && l->token == 0 ? 2 : 1, offers = 0;
	struct file_reply r;

	if (knowns + 2 > KNOWN)
		return;
	for (uint32_t i = 0; i < OFFERS_MAX; i++)
		offers += t.offer[i].token != 0 && t.offer[i].owner == k->owner;
	r = offered(k->owner, two, n);
	expect_eq(r.error, offers == OFFERS_OF_CLIENT_MAX ? -E_NOSPC : 0);
	for (uint32_t i = 0; i < n && r.error == 0; i++)
		know((struct known){.owner = k->owner, .token = r.value, .nth = i,
			.description = (i == 0 ? k : l)->description});
}

static void
claim(uint32_t who, uint64_t token)
{
	uint32_t n = 0;

	expect_eq(on_token(FILE_CLAIM, who, token).error, 0);
	for (uint32_t i = 0; i < knowns; i++)
		if (known[i].token == token) {
			known[i].owner = who;
			known[i].token = 0;
			known[i].number = claimed(known[i].nth);
			n++;
		}
	expect_eq(answer.head.count, n);
}

static void
use(const struct known *k, uint32_t kind)
{
	uint64_t *at = &offsets[k->description];

	if (kind == 0) {
		expect_eq(on_handle(FILE_WRITE, k->owner, k->number, FILE_AT_OFFSET, 3).value, *at);
		*at += 3;
	} else if (kind == 1) {
		*at = kind * 7;
		on_handle(FILE_SEEK, k->owner, k->number, *at, FILE_FROM_START);
	}
	expect_eq(place(k->owner, k->number), *at);
	expect_eq(place((k->owner + 1) % WHO, k->number), UINT64_MAX);
}

TEST(whatever_clients_do_descriptions_are_where_the_model_has_them)
{
	uint64_t state = 11;

	reset();
	for (int i = 0; i < 30000; i++) {
		uint32_t who = next(&state) % WHO, what = next(&state) % 20;
		struct known *k = knowns > 0 ? &known[next(&state) % knowns] : NULL;

		if (k == NULL || what < 3)
			open_one(who);
		else if (what == 3 && next(&state) % 8 == 0) {
			file_forget(&t, who);
			unknow(who, 0, true);
		} else if (k->token != 0 && what < 8)
			claim(who, k->token);
		else if (k->token != 0 && what == 8) {
			expect_eq(on_token(FILE_WITHDRAW, k->owner, k->token).error, 0);
			unknow(k->owner, k->token, false);
		} else if (k->token != 0)
			expect_eq(on_token(FILE_CLAIM, who, k->token + 1).error, -E_NOENT);
		else if (what < 7)
			offer_some(k, &known[next(&state) % knowns]);
		else if (what < 10) {
			on_handle(FILE_CLOSE, k->owner, k->number, 0, 0);
			*k = known[--knowns];
		} else
			use(k, what % 3);
		expect_eq(t.handles, knowns);
		if (i % 500 == 0)
			expect_sound();
	}
	for (uint32_t who = 0; who < WHO; who++)
		file_forget(&t, who);
	expect_eq(t.handles, 0);
	expect_sound();
}

int
main(void)
{
	RUN(an_offset_is_shared_by_who_claims);
	RUN(who_claims_what_is_kept_gets_copies);
	RUN(an_offer_ends_with_its_client_or_when_that_says_so);
	RUN(what_is_no_offer_changes_nothing);
	RUN(offers_and_handles_have_limits);
	RUN(tokens_are_those_of_siphash);
	RUN(whatever_clients_do_descriptions_are_where_the_model_has_them);
	return TEST_FAILED;
}
