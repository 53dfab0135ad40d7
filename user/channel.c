/* SPDX-License-Identifier: MIT
 *
 * Messages through shared memory: see atoll/channel.h. The memory is two halves, one per direction:
 *
 *	line 0	written by the receiver: taken, sleeps
 *	line 1	written by the sender: waits
 *	slots	of `stride` bytes: number of the message in it, its bytes, and these
 *
 * A slot's number is that of the message, from 1: who waits for the n-th looks at one line, which
 * brings a short message with it. The receiver tells how many it has taken each half ring.
 *
 * To sleep: announce it, fence, look again, sleep. To wake: do something, fence, look for the
 * announcement, take it back, wake. One of the two fences comes first, so that either the sleeper
 * sees what was done or the other sees the announcement (tests/models/channel.pml).
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <base/str.h>
#include <atoll/channel.h>
#include <atoll/kcalls.h>
#include "channel_words.h"
#include "channel_slot.h"

#define LINE 64
#define HEAD ((size_t)(2 * LINE))

/* --- beginning --- */

static struct channel_way
way_of(unsigned char *half, size_t bytes)
{
	uint32_t *lines = (uint32_t *)(void *)half;

	return (struct channel_way){.first = half + HEAD, .next = half + HEAD,
		.end = half + HEAD + bytes, .taken = lines, .sleeps = lines + 1,
		.waits = lines + LINE / sizeof(*lines)};
}

int
channel_begin(struct channel *ch, const struct channel_setup *s)
{
	size_t half = s->bytes / 2 & ~(size_t)(LINE - 1), stride, slots = 0, used = HEAD;
	unsigned char *mine = s->memory, *theirs = mine + half;

	if (s->message > half)
		return -E_INVAL;
	stride = (sizeof(struct slot) + s->message + LINE - 1) & ~(size_t)(LINE - 1);
	for (; used + stride <= half; used += stride)
		slots++;
	if (slots == 0)
		return -E_INVAL;
	*ch = (struct channel){.slots = (uint32_t)slots, .stride = (uint32_t)stride,
		.message = s->message, .looks = CHANNEL_LOOKS, .bits = 1u << s->bit,
			.bits_there = s->bits,
		.handle = s->handle};
	ch->out = way_of(s->side == CHANNEL_MADE ? mine : theirs, used - HEAD);
	ch->in = way_of(s->side == CHANNEL_MADE ? theirs : mine, used - HEAD);
	return s->bits != 0 ? 0 : (int)kevent_bind(EVENT_CHANNEL, s->handle, s->bit);
}

/* Map a kernel channel and begin there; without success it is closed. */
static int
begin_mapped(struct channel *ch, int handle, int pages, uint32_t message, int bit,
	enum channel_side side)
{
	struct cluster_info info;
	uint64_t addr = 0;
	size_t bytes;
	long wrong;

	kcluster_info(&info);
	bytes = (size_t)pages * info.page_bytes;
	wrong = kmem_alloc(SELF, bytes, 0, &addr);
	if (wrong == 0)
		wrong = kpage_map(SELF, (uintptr_t)addr, handle, 0, pages, PAGE_READ | PAGE_WRITE);
	if (wrong == 0)
		wrong = channel_begin(ch, &(struct channel_setup){.memory = (void *)(uintptr_t)addr,
			.bytes = bytes, .message = message, .side = side, .bit = bit,
			.handle = handle});
	if (wrong != 0) {
		if (addr != 0)
			kpage_unmap(SELF, (uintptr_t)addr, pages);
		khandle_close(handle);
		return (int)wrong;
	}
	ch->memory = (void *)(uintptr_t)addr;
	ch->pages = pages;
	return 0;
}

int
channel_end(struct channel *ch)
{
	long wrong = kpage_unmap(SELF, (uintptr_t)ch->memory, ch->pages);

	khandle_close(ch->handle);
	return (int)wrong;
}

int
channel_make(struct channel *ch, int mailbox, int pages, uint32_t message, int bit,
	uint32_t *number)
{
	long handle = kchannel_create(mailbox, pages, number);

	return handle < 0 ? (int)handle :
		begin_mapped(ch, (int)handle, pages, message, bit, CHANNEL_MADE);
}

int
channel_take(struct channel *ch, int mailbox, const struct channel_offer *offer, int bit)
{
	long handle = kchannel_open(mailbox, offer->cluster, offer->number);

	return handle < 0 ? (int)handle :
		begin_mapped(ch, (int)handle, offer->pages, offer->message, bit, CHANNEL_TOOK);
}

/* --- waiting --- */

/* Something was done that the other side may sleep for. */
static void
wake_sleeper(struct channel *ch, uint32_t *announced)
{
	words_fence();
	if (word_look(announced) == 0)
		return;
	word_put(announced, 0);
	if (ch->bits_there != 0)
		kthread_wakeup(ch->handle, ch->bits_there);
	else
		kchannel_wake(ch->handle);
}

int
channel_check(const struct channel *ch)
{
	int bit = 0;

	if (ch->bits_there != 0)
		return 0;
	while (ch->bits >> bit != 1)
		bit++;
	return (int)kevent_bind(EVENT_CHANNEL, ch->handle, bit);
}

/*
 * Before a sleep is announced the kernel is asked whether the other side of its channel is there:
 * the bit says once that it is not, and may have been taken for something else. From then on it is
 * this thread that is woken, whoever used this side before.
 */
static int
announce(const struct channel *ch, uint32_t *announced)
{
	int wrong = channel_check(ch);

	word_put(announced, 1);
	words_fence();
	return wrong;
}

/* An announced sleep. 0: it may be worth a look; or an error. */
static int
sleep_until(const struct channel *ch, uint64_t until)
{
	long result = kthread_sleep(ch->bits, until);

	return result < 0 ? (int)result : 0;
}

/* --- sending --- */

static void
step(const struct channel *ch, struct channel_way *w)
{
	w->count++;
	w->next += ch->stride;
	if (w->next == w->end)
		w->next = w->first;
}

/* Whatever stands there, no more can have been taken than were sent. */
static int
is_full(const struct channel *ch, struct channel_way *w)
{
	uint32_t taken;

	if (w->count - w->seen < ch->slots)
		return 0;
	taken = word_look(w->taken);
	if (taken - w->seen <= ch->slots)
		w->seen = taken;
	return w->count - w->seen >= ch->slots;
}

void *
channel_place(struct channel *ch)
{
	struct slot *slot = (struct slot *)(void *)ch->out.next;

	return is_full(ch, &ch->out) ? NULL : slot->text;
}

void
channel_put(struct channel *ch, uint32_t bytes)
{
	struct channel_way *w = &ch->out;
	struct slot *slot = (struct slot *)(void *)w->next;

	slot->bytes = bytes;
	bytes_publish(&slot->bytes, sizeof(slot->bytes) + bytes);
	step(ch, w);
	word_put(&slot->number, w->count);
	wake_sleeper(ch, w->sleeps);
}

int
channel_try_send(struct channel *ch, const void *message, uint32_t bytes)
{
	void *place;

	if (bytes > ch->message)
		return -E_INVAL;
	place = channel_place(ch);
	if (place == NULL)
		return -E_AGAIN;
	memcpy(place, message, bytes);
	channel_put(ch, bytes);
	return 0;
}

int
channel_send(struct channel *ch, const void *message, uint32_t bytes, uint64_t until)
{
	struct channel_way *w = &ch->out;
	int result = -E_AGAIN, wrong = 0;

	for (unsigned n = 0; n < ch->looks && result == -E_AGAIN; n++)
		result = channel_try_send(ch, message, bytes);
	while (result == -E_AGAIN && wrong == 0) {
		wrong = announce(ch, w->waits);
		result = channel_try_send(ch, message, bytes);
		if (result != -E_AGAIN || wrong != 0)
			break;
		wrong = sleep_until(ch, until);
		result = channel_try_send(ch, message, bytes);
	}
	return result == -E_AGAIN ? wrong : result;
}

/* --- receiving --- */

void
channel_tell(struct channel *ch)
{
	struct channel_way *w = &ch->in;

	w->seen = w->count;
	word_put(w->taken, w->count);
	wake_sleeper(ch, w->waits);
}

const void *
channel_look(const struct channel *ch, uint32_t *bytes)
{
	const struct slot *slot = (const struct slot *)(const void *)ch->in.next;

	if (!channel_has_come(ch))
		return NULL;
	bytes_acquire(&slot->bytes, ch->stride - sizeof(slot->number));
	*bytes = *(const volatile uint32_t *)&slot->bytes;
	if (*bytes > ch->message)
		*bytes = 0;
	return slot->text;
}

void
channel_took(struct channel *ch)
{
	struct channel_way *w = &ch->in;

	step(ch, w);
	if (w->count - w->seen > ch->slots / 2)
		channel_tell(ch);
}

int
channel_try_receive(struct channel *ch, void *message, uint32_t room)
{
	uint32_t bytes;
	const void *text = channel_look(ch, &bytes);

	if (text == NULL)
		return -E_AGAIN;
	memcpy(message, text, bytes < room ? bytes : room);
	channel_took(ch);
	return (int)bytes;
}

void
channel_listen(struct channel *ch, bool for_room)
{
	word_put(ch->in.sleeps, 1);
	if (for_room && is_full(ch, &ch->out))
		word_put(ch->out.waits, 1);
	words_fence();
}

int
channel_await(struct channel *ch, uint64_t until)
{
	int wrong = 0;

	for (unsigned n = 0; n < ch->looks; n++)
		if (channel_has_come(ch))
			return 0;
	while (!channel_has_come(ch) && wrong == 0) {
		wrong = announce(ch, ch->in.sleeps);
		if (wrong == 0 && !channel_has_come(ch))
			wrong = sleep_until(ch, until);
	}
	return channel_has_come(ch) ? 0 : wrong;
}

int
channel_receive(struct channel *ch, void *message, uint32_t room, uint64_t until)
{
	int wrong = channel_await(ch, until);

	return wrong != 0 ? wrong : channel_try_receive(ch, message, room);
}
