/* SPDX-License-Identifier: MIT
 *
 * A client of a service: see atoll/service.h.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <base/str.h>
#include <atoll/kcalls.h>
#include <atoll/service.h>
#include "channel_words.h"
#include "channel_slot.h"
#include "service_wire.h"

/* then a server that had no memory for it, or has ended just then, is asked again */
#define PATIENCE_NS 100000000ull
#define PAGES_NS 1000000000ull		/* then there are no pages */
#define SOON_NS 1000000			/* pages of a channel that has ended come back */

/*
 * Copy a message that has come. The bytes of the second part; -E_IO: not even the first is whole.
 */
static int
take_answer(struct channel *ch, const struct service_part answer[2])
{
	uint32_t bytes = 0;
	const unsigned char *text = channel_look(ch, &bytes);
	int result = -E_IO;

	if (text != NULL && bytes >= answer[0].bytes) {
		bytes -= answer[0].bytes;
		if (bytes > answer[1].bytes)
			bytes = answer[1].bytes;
		memcpy(answer[0].at, text, answer[0].bytes);
		memcpy(answer[1].at, text + answer[0].bytes, bytes);
		result = (int)bytes;
	}
	channel_took(ch);
	return result;
}

/* The steps until the channel is named to the server. 0, -E_AGAIN or an error. */
static int
name_channel(struct channel *ch, struct service_opening *o)
{
	struct service_open message = {.magic = o->kind->magic};
	int result = 0;

	if (!o->is_begun)
		result = o->out = (int)kmailbox_open(o->kind->cluster, o->kind->port);
	if (result < 0)
		return result;
	o->is_begun = true;
	if (!o->is_made)
		result = channel_make(ch, o->out, o->kind->pages, o->kind->message, o->bit,
			&o->number);
	o->lacks_pages = result == -E_NOSPC && o->is_anew;
	if (result < 0)
		return o->lacks_pages ? -E_AGAIN : result;
	o->is_made = true;
	ch->looks = SERVICE_LOOKS;
	message.number = o->number;
	result = o->is_named ? 0 : (int)kmailbox_write(o->out, &message);
	if (!o->is_named)
		kclock(&o->named);
	o->is_named = result == 0;
	return result;
}

/* The same, and what the server has answered. -E_PIPE: it has ended, and the channel with it. */
static int
open_channel(struct channel *ch, struct service_opening *o)
{
	int32_t error = 0;
	const struct service_part answer[2] = {{&error, sizeof(error)}, {&error, 0}};
	int result = name_channel(ch, o);

	if (result == 0) {
		if (!channel_has_come(ch))
			result = channel_check(ch);
		if (channel_has_come(ch))
			result = take_answer(ch, answer);
		else if (result == 0)
			result = -E_AGAIN;
	}
	if (result == -E_AGAIN)
		return result;
	result = result == 0 ? error : result;
	if (o->is_made && result != 0) {
		channel_end(ch);
		o->is_made = o->is_named = false;
		o->is_anew = true;
	}
	return result;
}

/* Without a reader at its port there is no mailbox that leads there, either. */
int
service_try_open(struct channel *ch, struct service_opening *o)
{
	int result;

	do
		result = open_channel(ch, o);
	while (result == -E_PIPE);
	if (result != -E_AGAIN && o->is_begun)
		khandle_close(o->out);
	return result;
}

/* Wait for what the next step needs. False: pages do not come back. */
static bool
await_step(struct channel *ch, struct service_opening *o, uint64_t began)
{
	uint64_t now = 0;

	kclock(&now);
	/* signals may end each wait at once */
	if (o->is_named && now < o->named + PATIENCE_NS)
		channel_await(ch, o->named + PATIENCE_NS);
	else if (o->is_named)
		o->is_named = false;
	else if (o->lacks_pages)
		kthread_sleep(1u << o->bit, now + SOON_NS);
	else
		kmailbox_wait(o->out, ANY_SOURCE_CLUSTER, FOREVER);
	return !o->lacks_pages || now < began + PAGES_NS;
}

int
service_open_all(struct channel *ch, struct service_opening *o)
{
	int result = service_try_open(ch, o);
	uint64_t began = 0;

	kclock(&began);
	while (result == -E_AGAIN) {
		if (!await_step(ch, o, began)) {
			khandle_close(o->out);
			return -E_NOSPC;
		}
		result = service_try_open(ch, o);
	}
	return result;
}

int
service_open(struct channel *ch, const struct service_kind *kind, int bit)
{
	return service_open_all(ch, &(struct service_opening){.kind = kind, .bit = bit});
}

int
service_reopen(struct channel *ch, const struct service_kind *kind, int bit)
{
	channel_end(ch);
	return service_open_all(ch, &(struct service_opening){.kind = kind, .bit = bit,
		.is_anew = true});
}

int
service_send(struct channel *ch, const struct service_part request[2])
{
	unsigned char *place = channel_place(ch);

	if (request[0].bytes > ch->message || request[1].bytes > ch->message - request[0].bytes)
		return -E_INVAL;
	if (place == NULL)
		return -E_AGAIN;
	memcpy(place, request[0].at, request[0].bytes);
	memcpy(place + request[0].bytes, request[1].at, request[1].bytes);
	channel_put(ch, request[0].bytes + request[1].bytes);
	return 0;
}

int
service_receive(struct channel *ch, const struct service_part answer[2])
{
	int wrong;

	do
		wrong = channel_await(ch, FOREVER);
	while (wrong == -E_INTR);
	return wrong != 0 ? wrong : take_answer(ch, answer);
}

int
service_call(struct channel *ch, const struct service_part request[2],
	const struct service_part answer[2])
{
	int wrong = service_send(ch, request);

	return wrong != 0 ? wrong : service_receive(ch, answer);
}
