/* SPDX-License-Identifier: MIT
 *
 * Offers: see protocol.h. An offer has handles of its own, which count as its client's until
 * somebody claims them: they are these that the claiming client gets.
 */
#include <abi/errors.h>
#include <servers/file/tree.h>

static struct offer *
offer_find(struct tree *t, uint64_t token)
{
	for (uint32_t i = 0; token != 0 && i < OFFERS_MAX; i++)
		if (t->offer[i].token == token)
			return &t->offer[i];
	return NULL;
}

static struct offer *
offer_find_free(struct tree *t)
{
	for (uint32_t i = 0; i < OFFERS_MAX; i++)
		if (t->offer[i].token == 0)
			return &t->offer[i];
	return NULL;
}

static void
offer_free(struct tree *t, struct offer *o)
{
	t->offers_of[o->owner]--;
	*o = (struct offer){0};
}

/* Copies of handles, in their order: the last one is put in front first. */
static void
offer_fill(struct tree *t, struct offer *o, const uint32_t *numbers, uint32_t count)
{
	while (count-- > 0) {
		struct handle *from = handle_find(t, o->owner, numbers[count]);
		struct handle *h = handle_open(t, o->owner,
			&t->description[from->description]);

		h->is_offered = true;
		h->next = o->first;
		o->first = (uint16_t)(h - t->handle);
		o->handles++;
	}
}

int
offer_make(struct tree *t, uint32_t client, const uint32_t *numbers, uint32_t count,
	uint64_t *token)
{
	struct offer *o = offer_find_free(t);
	int wrong = handle_check_room(t, client, count);

	if (count == 0 || count > FILE_OFFER_MAX)
		return -E_INVAL;
	for (uint32_t i = 0; i < count; i++)
		if (handle_find(t, client, numbers[i]) == NULL)
			return -E_BADF;
	if (wrong != 0)
		return wrong;
	if (o == NULL || t->offers_of[client] == OFFERS_OF_CLIENT_MAX)
		return -E_NOSPC;
	tokens_stir(&t->tokens, time_now());
	*o = (struct offer){.owner = (uint16_t)client, .token = tokens_next(&t->tokens)};
	t->offers_of[client]++;
	offer_fill(t, o, numbers, count);
	*token = o->token;
	return 0;
}

static struct file_claimed
claimed_of(const struct tree *t, const struct handle *h)
{
	const struct description *d = &t->description[h->description];

	return (struct file_claimed){handle_number(t, h), (uint16_t)description_kind(t, d),
		d->flags};
}

int
offer_claim(struct tree *t, uint32_t client, uint64_t token, struct file_claimed *claimed,
	uint32_t *count)
{
	struct offer *o = offer_find(t, token);
	uint32_t i, at;

	if (o == NULL)
		return -E_NOENT;
	if (client != o->owner && t->handles_of[client] + o->handles > HANDLES_OF_CLIENT_MAX)
		return -E_MFILE;
	for (i = 0, at = o->first; i < o->handles; i++, at = t->handle[at].next) {
		struct handle *h = &t->handle[at];

		h->owner = (uint16_t)client;
		h->is_offered = false;
		claimed[i] = claimed_of(t, h);
	}
	t->handles_of[o->owner] = (uint16_t)(t->handles_of[o->owner] - i);
	t->handles_of[client] = (uint16_t)(t->handles_of[client] + i);
	*count = i;
	offer_free(t, o);
	return 0;
}

static void
offer_end(struct tree *t, struct offer *o)
{
	uint32_t at = o->first;

	for (uint32_t i = 0; i < o->handles; i++) {
		handle_close(t, &t->handle[at]);
		at = t->handle[at].next;
	}
	offer_free(t, o);
}

int
offer_withdraw(struct tree *t, uint32_t client, uint64_t token)
{
	struct offer *o = offer_find(t, token);

	if (o == NULL || o->owner != client)
		return -E_NOENT;
	offer_end(t, o);
	return 0;
}

void
offers_forget(struct tree *t, uint32_t client)
{
	for (uint32_t i = 0; i < OFFERS_MAX && t->offers_of[client] > 0; i++)
		if (t->offer[i].token != 0 && t->offer[i].owner == client)
			offer_end(t, &t->offer[i]);
}
