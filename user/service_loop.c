/* SPDX-License-Identifier: MIT
 *
 * The server's side of a service: see atoll/service.h. A client is awake, and looked at in each
 * round, until it had nothing to say before the server sleeps. Then it has the server's word that
 * it may have to be woken, and sets its bit. Several clients have one bit: whose it was is looked
 * up.
 *
 * The kernel is asked whether a client is still there after its bit was set, when nothing has come
 * from it, for the bit says only once that it is gone, and may have been taken for something else.
 *
 * A client whose request was put off is skipped wherever clients are looked at, and goes to sleep
 * with the others. Clients wake others while the list is walked: these come in front of it, so that
 * who walks it misses them at most. That is why nobody may be awake when the server sleeps.
 *
 * Clients that are awake may want something in each round, for ever. So after some such rounds the
 * server looks who else has woken it.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include "channel_words.h"
#include "channel_slot.h"
#include "service_wire.h"

#define CLIENT_BITS (WAKE_BITS - SERVICE_BIT_CLIENT)
#define OWN_BITS (((1u << SERVICE_BIT_CLIENT) - 1) & ~(1u << SERVICE_BIT_MAIL))
#define MAILS_PER_ROUND 4
#define BUSY_ROUNDS 32		/* in a row, without a look at who has woken the server */

static uint32_t
share_of(uint32_t clients, uint32_t clusters)
{
	return clusters > 0 && clients / clusters > 0 ? clients / clusters : 1;
}

int
service_begin(struct service *s)
{
	struct cluster_info here;

	kcluster_info(&here);
	s->awake = NULL;
	s->until = FOREVER;
	s->used = s->busy = 0;
	s->here = here.cluster;
	s->share[0] = share_of(s->clients - s->own, here.clusters - (s->own > 0));
	s->share[1] = s->own > 0 ? s->own : s->share[0];
	for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
		s->of_cluster[i] = 0;
	s->has_mail = true;
	return (int)kevent_bind(EVENT_MAILBOX, s->in, SERVICE_BIT_MAIL);
}

/* --- clients come and go --- */

static int
bit_of_client(uint32_t client)
{
	return SERVICE_BIT_CLIENT + (int)(client % CLIENT_BITS);
}

static void
client_rouse(struct service *s, struct service_client *c)
{
	if (c->is_awake)
		return;
	c->is_awake = true;
	c->next = s->awake;
	s->awake = c;
}

static void
client_wake(struct service *s, struct service_client *c)
{
	c->was_woken = true;
	client_rouse(s, c);
}

void
service_again(struct service *s, uint32_t client)
{
	struct service_client *c = &s->client[client];

	if (!c->is_there || !c->is_waiting)
		return;
	c->is_waiting = false;
	client_rouse(s, c);
}

void
service_tell(struct service *s, uint32_t client)
{
	struct service_client *c = &s->client[client];

	if (!c->is_there)
		return;
	c->is_to_tell = true;
	client_rouse(s, c);
}

static void
client_end(struct service *s, struct service_client *c)
{
	c->is_there = false;
	s->of_cluster[c->from.cluster]--;
	s->gone(s->of, (uint32_t)(c - s->client));
	channel_end(&c->ch);
}

/* Nobody is looking at the list of those that are awake. */
static void
client_leave(struct service *s, struct service_client *c)
{
	struct service_client **link = &s->awake;

	while (*link != NULL && *link != c)
		link = &(*link)->next;
	if (*link == c)
		*link = c->next;
	c->is_awake = false;
	client_end(s, c);
}

/* Clients of a cluster that are gone, which is not looked for before they wake the server. */
static void
look_for_gone(struct service *s, uint32_t cluster)
{
	for (struct service_client *c = s->client; c < s->client + s->used; c++)
		if (c->is_there && c->from.cluster == cluster && channel_check(&c->ch) != 0)
			client_leave(s, c);
}

/* A place for a client of this cluster, or NULL: it has its share, or there is none. */
static struct service_client *
place_find(struct service *s, uint32_t cluster)
{
	if (s->of_cluster[cluster] >= s->share[cluster == s->here])
		look_for_gone(s, cluster);
	if (s->of_cluster[cluster] >= s->share[cluster == s->here])
		return NULL;
	for (uint32_t i = 0; i < s->clients; i++)
		if (!s->client[i].is_there)
			return &s->client[i];
	return NULL;
}

/*
 * Somebody opens a channel. A number that names none, or one that is open already, is nothing; if
 * there is no memory for it now, it is named again later.
 */
static void
admit(struct service *s, const struct mail_sender *from, uint32_t number)
{
	struct channel_offer offer = {.cluster = (int)from->cluster, .number = number,
		.pages = s->kind->pages, .message = s->kind->message};
	bool may = s->badge == 0 || from->badge == s->badge;
	struct service_client *c = may ? place_find(s, from->cluster) : NULL;
	uint32_t place = c != NULL ? (uint32_t)(c - s->client) : 0;
	int32_t error = !may ? -E_ACCES : c != NULL ? 0 : -E_NOSPC;
	struct channel ch;

	if (channel_take(&ch, s->in, &offer, bit_of_client(place)) != 0)
		return;
	channel_try_send(&ch, &error, sizeof(error));
	if (c == NULL) {
		channel_end(&ch);
		return;
	}
	c->ch = ch;
	c->from = *from;
	c->is_there = true;
	c->is_waiting = c->is_to_tell = false;
	if (place >= s->used)
		s->used = place + 1;
	s->of_cluster[from->cluster]++;
	client_wake(s, c);
}

void
service_refuse(int in, const struct service_kind *kind, int error, int bit)
{
	struct channel_offer offer = {.pages = kind->pages, .message = kind->message};
	struct service_open message;
	const int32_t answer = error;
	struct mail_sender from;
	struct channel ch;

	while (kmailbox_read(in, ANY_SOURCE_CLUSTER, &message, &from) >= 0) {
		offer.cluster = (int)from.cluster;
		offer.number = message.number;
		if (message.magic != kind->magic || channel_take(&ch, in, &offer, bit) != 0)
			continue;
		channel_try_send(&ch, &answer, sizeof(answer));
		channel_end(&ch);
	}
}

/* True: something was read. */
static bool
take_mail(struct service *s)
{
	struct service_open message;
	struct mail_sender from;
	int n = 0;

	for (; s->has_mail && n < MAILS_PER_ROUND; n++)
		if (kmailbox_read(s->in, ANY_SOURCE_CLUSTER, &message, &from) < 0)
			s->has_mail = false;
		else if (message.magic == s->kind->magic)
			admit(s, &from, message.number);
		else if (s->mail != NULL)
			s->mail(s->of, &from, &message);
	return n > 0;
}

/* --- rounds --- */

/* What it is to be told, if there is room for it. */
static bool
tell_client(struct service *s, struct service_client *c)
{
	void *place = channel_place(&c->ch);

	if (place == NULL)
		return false;
	c->is_to_tell = false;
	channel_put(&c->ch, s->tell(s->of, (uint32_t)(c - s->client), place));
	return true;
}

/*
 * Tell it something, serve one request, or have it put off. False: there is nothing to do, or no
 * room for a message.
 */
static bool
serve_client(struct service *s, struct service_client *c)
{
	struct service_part request;
	void *answer;
	uint32_t bytes;

	if (c->is_to_tell)
		return tell_client(s, c);
	if (c->is_waiting)
		return false;
	request.at = (void *)(uintptr_t)channel_look(&c->ch, &request.bytes);
	if (request.at == NULL)
		return false;
	answer = channel_place(&c->ch);
	if (answer == NULL)
		return false;
	bytes = s->serve(s->of, (uint32_t)(c - s->client), request, answer);
	c->is_waiting = bytes == SERVICE_LATER;
	if (!c->is_waiting) {
		channel_took(&c->ch);
		channel_put(&c->ch, bytes);
	}
	return true;
}

static bool
round_of_clients(struct service *s)
{
	bool is_busy = false;

	for (struct service_client *c = s->awake; c != NULL; c = c->next)
		is_busy |= serve_client(s, c);
	return is_busy;
}

static void
wake_clients(struct service *s, uint32_t bits)
{
	for (uint32_t b = 0; b < CLIENT_BITS; b++) {
		if ((bits >> (SERVICE_BIT_CLIENT + b) & 1) == 0)
			continue;
		for (uint32_t i = b; i < s->used; i += CLIENT_BITS)
			if (s->client[i].is_there)
				client_wake(s, &s->client[i]);
	}
}

static bool
has_other(const struct service *s, bool is_last)
{
	return s->other != NULL && s->other(s->of, is_last);
}

/*
 * Tell all that are awake to wake the server from now on, and look once more. That there is room
 * for a message is waited for only where one is to be sent: who takes an answer does not wake the
 * server. True: nobody wants anything.
 */
static bool
is_quiet(struct service *s)
{
	struct service_client *c, **link = &s->awake;

	while ((c = *link) != NULL) {
		if (!c->is_waiting || c->is_to_tell)
			channel_listen(&c->ch, c->is_to_tell || channel_has_come(&c->ch));
		if (serve_client(s, c)) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		c->is_awake = false;
		if (c->was_woken && channel_check(&c->ch) != 0)
			client_end(s, c);
		c->was_woken = false;
	}
	return s->awake == NULL && !has_other(s, true);
}

/*
 * Look for a while whether a client that is awake wants something: true as soon as one does. Most
 * looks are in vain, and are short. Who has no room for what it is to be told wakes the server.
 */
static bool
has_work_soon(const struct service *s)
{
	for (uint32_t n = 0; n < s->looks && s->awake != NULL; n++) {
		if (has_other(s, false))
			return true;
		for (struct service_client *c = s->awake; c != NULL; c = c->next)
			if (channel_has_come(&c->ch) && !c->is_waiting &&
				channel_place(&c->ch) != NULL)
				return true;
	}
	return false;
}

/*
 * Those that are awake keep the server busy. Now and then it looks all the same who has woken it,
 * which it does not sleep for: it has set a bit itself.
 */
static bool
is_to_look(struct service *s)
{
	if (++s->busy < BUSY_ROUNDS)
		return false;
	kthread_wakeup((int)kthread_self(), 1u << SERVICE_BIT_MAIL);
	return true;
}

uint32_t
service_step(struct service *s)
{
	bool is_busy = take_mail(s);
	uint32_t bits;
	long taken;

	is_busy |= round_of_clients(s);
	if ((is_busy || has_work_soon(s) || !is_quiet(s)) && !is_to_look(s))
		return 0;
	s->busy = 0;
	taken = kthread_sleep(WAKE_ANY, s->until);
	bits = taken > 0 ? (uint32_t)taken : 0;
	if (bits & 1u << SERVICE_BIT_MAIL)
		s->has_mail = true;
	wake_clients(s, bits);
	return bits & OWN_BITS;
}
