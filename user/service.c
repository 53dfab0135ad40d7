/* SPDX-License-Identifier: MIT
 *
 * A client of a service: see atoll/service.h.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <base/str.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include "service_wire.h"

#define PATIENCE_NS 1000000000ull	/* then a server that had no memory for it is asked again */

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

/*
 * Say which channel it is, until there is an answer. It is said again now and then: a server that
 * cannot open the channel has no way to say so.
 */
static int
introduce(struct channel *ch, int out, const struct service_open *message)
{
	int32_t error = 0;
	const struct service_part answer[2] = {{&error, sizeof(error)}, {&error, 0}};
	int result = mailbox_send(out, message);
	uint64_t now;

	while (result == 0) {
		kclock(&now);
		result = channel_await(ch, now + PATIENCE_NS);
		if (result == 0)
			break;
		if (result == -E_TIMEDOUT)
			result = (int)kmailbox_write(out, message);
		if (result == -E_AGAIN || result == -E_INTR)
			result = 0;
	}
	if (result == 0)
		result = take_answer(ch, answer);
	return result == 0 ? error : result;
}

int
service_open(struct channel *ch, const struct service_kind *kind, int bit)
{
	struct service_open message = {.magic = kind->magic};
	long out = kmailbox_open(kind->cluster, kind->port), wait = 0;
	int result = (int)out;

	if (out < 0)
		return result;
	do {
		result = channel_make(ch, (int)out, kind->pages, kind->message, bit,
			&message.number);
		if (result == -E_AGAIN)
			wait = kmailbox_wait((int)out, ANY_SOURCE_CLUSTER, FOREVER);
	} while (result == -E_AGAIN && wait >= 0);
	if (result == 0) {
		ch->looks = SERVICE_LOOKS;
		result = introduce(ch, (int)out, &message);
		if (result != 0)
			channel_end(ch);
	}
	khandle_close((int)out);
	return result;
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
