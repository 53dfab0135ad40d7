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

/* Copies of handles, in their order: the last one is put in front first. What is lost stays so. */
static void
offer_fill(struct tree *t, struct offer *o, const struct offer_what *what)
{
	for (uint32_t i = what->count; i-- > 0;) {
		struct handle *from = handle_find(t, o->owner, what->numbers[i]);
		struct handle *h = handle_open(t, o->owner, &t->description[from != NULL ?
			from->description : DESCRIPTION_LOST]);

		h->is_offered = true;
		h->next = o->first;
		o->first = (uint16_t)(h - t->handle);
		o->handles++;
	}
}

int
offer_make(struct tree *t, uint32_t client, const struct offer_what *what, uint64_t *token)
{
	struct offer *o = offer_find_free(t);
	int wrong = handle_check_room(t, client, what->count);

	if (what->count == 0 || what->count > FILE_OFFER_MAX)
		return -E_INVAL;
	for (uint32_t i = 0; i < what->count; i++)
		if (handle_find(t, client, what->numbers[i]) == NULL &&
			handle_error(t, what->numbers[i]) != -E_IO)
			return -E_BADF;
	if (wrong != 0)
		return wrong;
	if (o == NULL || t->offers_of[client] == OFFERS_OF_CLIENT_MAX)
		return -E_NOSPC;
	tokens_stir(&t->tokens, time_now());
	*o = (struct offer){.owner = (uint16_t)client, .token = tokens_next(&t->tokens),
		.is_kept = what->is_kept};
	t->offers_of[client]++;
	offer_fill(t, o, what);
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

/* An offer that is used up: its handles are the client's from now on. */
static void
offer_hand_over(struct tree *t, uint32_t client, struct offer *o, struct file_claimed *claimed)
{
	uint32_t i, at;

	for (i = 0, at = o->first; i < o->handles; i++, at = t->handle[at].next) {
		struct handle *h = &t->handle[at];

		h->owner = (uint16_t)client;
		h->is_offered = false;
		claimed[i] = claimed_of(t, h);
	}
	t->handles_of[o->owner] = (uint16_t)(t->handles_of[o->owner] - i);
	t->handles_of[client] = (uint16_t)(t->handles_of[client] + i);
	offer_free(t, o);
}

static void
offer_copy(struct tree *t, uint32_t client, const struct offer *o, struct file_claimed *claimed)
{
	uint32_t i, at;

	for (i = 0, at = o->first; i < o->handles; i++, at = t->handle[at].next)
		claimed[i] = claimed_of(t, handle_open(t, client,
			&t->description[t->handle[at].description]));
}

int
offer_claim(struct tree *t, uint32_t client, uint64_t token, struct file_claimed *claimed,
	uint32_t *count)
{
	struct offer *o = offer_find(t, token);
	bool is_more = o != NULL && (o->is_kept || client != o->owner);
	int wrong;

	if (o == NULL)
		return -E_NOENT;
	wrong = is_more ? handle_check_room(t, client, o->handles) : 0;
	if (wrong == -E_MFILE || (wrong != 0 && o->is_kept))
		return wrong;
	*count = o->handles;
	if (o->is_kept)
		offer_copy(t, client, o, claimed);
	else
		offer_hand_over(t, client, o, claimed);
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
