/* SPDX-License-Identifier: MIT
 *
 * Descriptions of what happens: counts (eventfd), timers, signals and lists of descriptions that
 * are waited for (epoll). They are pipes in which nothing is. The server has no clock of its own,
 * and knows no signals: who asks says which of its signals are pending, and is told when a timer is
 * over and for which signals to wait.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/messages.h>
#include <servers/file/serving.h>

#define POLL_ALL (FILE_POLL_READ | FILE_POLL_WRITE | FILE_POLL_ENDED)

static struct event *
event_of(const struct tree *t, const struct pipe *p)
{
	return &endpoint_of(t, p)->event;
}

/* --- made and set --- */

int
serve_new_event(struct serving *s)
{
	struct tree *t = s->t;
	const struct file_request *r = s->r;
	struct description *d = description_find_free(t, 0);
	int wrong = handle_check_room(t, s->client, 1);
	struct pipe *p;

	if (r->arg < FILE_EVENT_COUNT || r->arg > FILE_EVENT_LIST ||
		(r->more & ~(uint32_t)(FILE_NONBLOCK | FILE_SEMAPHORE)) != 0)
		return -E_INVAL;
	if (wrong != 0 || d == NULL)
		return wrong != 0 ? wrong : -FILE_ENFILE;
	p = pipe_begin(t, s->client, (enum pipe_type)(PIPE_COUNT + r->arg - FILE_EVENT_COUNT));
	if (p == NULL)
		return -FILE_ENFILE;
	*endpoint_of(t, p) = (struct endpoint){.event = {
		.value = p->type == PIPE_COUNT || p->type == PIPE_SIGNALS ? r->offset : 0,
		.began = p->type == PIPE_TIMER ? r->offset : 0,
		.is_semaphore = (r->more & FILE_SEMAPHORE) != 0}};
	serve_claimed(s, p, d, FILE_READABLE | FILE_WRITABLE | (r->more & FILE_NONBLOCK));
	return 0;
}

/* Those who wait look again. */
static void
event_changed(struct pipe *p)
{
	pipe_tell(p, PIPE_READ);
}

/* By the kernel's clock, and not 0. */
static uint64_t
time_of(const struct event *e, uint64_t first, bool is_absolute, uint64_t now)
{
	if (is_absolute)
		return first > e->began ? first - e->began : 1;
	return first < FOREVER - now ? now + first : FOREVER;
}

static int
set_timer(struct serving *s, struct pipe *p)
{
	struct event *e = event_of(s->t, p);
	uint64_t now = time_now();
	struct file_timer timer, was = {0, e->period};

	if (s->data_bytes > 0 && s->data_bytes < sizeof(timer))
		return -E_INVAL;
	if (e->value != 0 && e->period != 0 && now >= e->value)
		was.first = e->period - (now - e->value) % e->period;
	else if (e->value != 0)
		was.first = now < e->value ? e->value - now : 0;
	memcpy(s->out, &was, sizeof(was));
	s->out_bytes = sizeof(was);
	if (s->data_bytes == 0)
		return 0;
	memcpy(&timer, s->data, sizeof(timer));
	e->value = timer.first == 0 ? 0 : time_of(e, timer.first, s->r->arg != 0, now);
	e->period = timer.first != 0 ? timer.period : 0;
	event_changed(p);
	return 0;
}

static int
set_event(struct serving *s, struct pipe *p)
{
	if (p->type == PIPE_TIMER)
		return set_timer(s, p);
	if (p->type != PIPE_SIGNALS)
		return -E_INVAL;
	if (s->r->arg != 0) {
		event_of(s->t, p)->value = s->r->offset;
		event_changed(p);
	}
	return 0;
}

/* --- bytes --- */

/* How often the timer was over since that was read. */
static uint64_t
times_over(const struct event *e, uint64_t now)
{
	if (e->value == 0 || now < e->value)
		return 0;
	return e->period == 0 ? 1 : (now - e->value) / e->period + 1;
}

/* What a read of a count or a timer finds, and takes; 0: nothing. */
static uint64_t
take_count(struct tree *t, struct pipe *p)
{
	struct event *e = event_of(t, p);
	uint64_t found = p->type == PIPE_TIMER ? times_over(e, time_now()) :
		e->is_semaphore && e->value > 0 ? 1 : e->value;

	if (found == 0)
		return 0;
	if (p->type == PIPE_COUNT)
		e->value -= found;
	else if (e->period == 0 || found > (FOREVER - e->value) / e->period)
		e->value = 0;		/* it is not over again */
	else
		e->value += found * e->period;
	event_changed(p);
	return found;
}

static int
event_later(struct serving *s, const struct description *d, struct pipe *p)
{
	if ((d->flags & FILE_NONBLOCK) != 0)
		return -E_AGAIN;
	event_watch(s, p);
	return -FILE_LATER;
}

/* Of signals it is which ones. */
static int
read_event(struct serving *s, const struct description *d, struct pipe *p)
{
	uint64_t found = p->type == PIPE_SIGNALS ? event_of(s->t, p)->value : 0;

	if (p->type == PIPE_LIST || s->r->arg < sizeof(found))
		return -E_INVAL;
	if (p->type != PIPE_SIGNALS && (found = take_count(s->t, p)) == 0)
		return event_later(s, d, p);
	memcpy(s->out, &found, sizeof(found));
	s->reply->count = s->out_bytes = sizeof(found);
	s->reply->value = d->flags;
	return 0;
}

static int
write_event(struct serving *s, const struct description *d, struct pipe *p)
{
	struct event *e = event_of(s->t, p);
	uint64_t more;

	if (p->type != PIPE_COUNT || s->r->arg < sizeof(more))
		return -E_INVAL;
	memcpy(&more, s->data, sizeof(more));
	if (more > FILE_COUNT_MAX)
		return -E_INVAL;
	if (more > FILE_COUNT_MAX - e->value)
		return event_later(s, d, p);
	e->value += more;
	event_changed(p);
	s->reply->count = sizeof(more);
	return 0;
}

/* --- lists --- */

static struct listed *
listed_find(struct tree *t, uint16_t list, uint16_t description, uint32_t number)
{
	for (uint32_t i = 0; i < t->listed; i++)
		if (t->list[i].list == list && t->list[i].number == number &&
			t->list[i].description == description)
			return &t->list[i];
	return NULL;
}

/* A place of who has made the list; if that is gone, of the client that puts something there. */
static struct listed *
listed_new(struct tree *t, const struct pipe *p, uint32_t client)
{
	uint32_t i = 0;

	client = p->maker < CLIENTS_MAX ? p->maker : client;
	while (i < LISTED_MAX && t->list[i].list != 0)
		i++;
	if (i == LISTED_MAX || t->listed_of[client] == LISTED_OF_CLIENT_MAX)
		return NULL;
	if (i >= t->listed)
		t->listed = i + 1;
	t->list[i].owner = (uint16_t)client;
	t->listed_of[client]++;
	return &t->list[i];
}

static void
listed_free(struct tree *t, struct listed *l)
{
	t->listed_of[l->owner]--;
	l->list = 0;
}

void
listed_forget(struct tree *t, uint32_t client)
{
	for (uint32_t i = 0; t->listed_of[client] > 0 && i < t->listed; i++)
		if (t->list[i].list != 0 && t->list[i].owner == client) {
			t->list[i].owner = NOBODY;
			t->listed_of[client]--;
			t->listed_of[NOBODY]++;
		}
}

static struct pipe *
listed_pipe(struct tree *t, const struct listed *l)
{
	return &t->pipe[t->description[l->description].object];
}

/*
 * A list may be in a list, if it has none itself, and who has it is in none: so a look at it is at
 * as many things as the two have places, and there are no circles.
 */
static int
check_nested(struct tree *t, const struct pipe *list, const struct pipe *inner)
{
	if (list == inner)
		return -E_INVAL;
	for (uint32_t i = 0; inner->type == PIPE_LIST && i < t->listed; i++) {
		const struct listed *l = &t->list[i];
		const struct pipe *p = l->list != 0 ? listed_pipe(t, l) : NULL;

		if (p != NULL && p->type == PIPE_LIST &&
			(p == list || l->list == pipe_number(t, inner) + 1))
			return -FILE_ELOOP;
	}
	return 0;
}

void
listed_end(struct tree *t, const struct description *d)
{
	for (uint32_t i = 0; i < t->listed; i++)
		if (t->list[i].list != 0 && &t->description[t->list[i].description] == d)
			listed_free(t, &t->list[i]);
}

void
list_drop(struct tree *t, const struct pipe *p)
{
	for (uint32_t i = 0; i < t->listed; i++)
		if (t->list[i].list == pipe_number(t, p) + 1)
			listed_free(t, &t->list[i]);
}

/* What is listed must be something that is waited for. */
static int
change_list(struct serving *s, struct pipe *p)
{
	struct tree *t = s->t;
	uint16_t list = (uint16_t)(pipe_number(t, p) + 1);
	struct file_listed what;
	struct handle *h;
	struct listed *l;
	int wrong;

	if (s->data_bytes < sizeof(what))
		return -E_INVAL;
	memcpy(&what, s->data, sizeof(what));
	h = handle_find(t, s->client, what.handle);
	if (h == NULL || h->description == DESCRIPTION_LOST)
		return h != NULL ? -E_IO : handle_error(t, what.handle);
	if (!t->description[h->description].is_pipe)
		return -E_PERM;
	wrong = check_nested(t, p, &t->pipe[t->description[h->description].object]);
	if (wrong != 0 && s->r->arg == FILE_LIST_ADD)
		return wrong;
	l = listed_find(t, list, h->description, s->r->more);
	if (s->r->arg < FILE_LIST_ADD || s->r->arg > FILE_LIST_MODIFY)
		return -E_INVAL;
	if (s->r->arg == FILE_LIST_ADD ? l != NULL : l == NULL)
		return s->r->arg == FILE_LIST_ADD ? -E_EXIST : -E_NOENT;
	if (s->r->arg == FILE_LIST_REMOVE) {
		listed_free(t, l);
		return 0;
	}
	l = l != NULL ? l : listed_new(t, p, s->client);
	if (l == NULL)
		return -E_NOSPC;
	*l = (struct listed){.wanted = what.wanted, .number = s->r->more, .list = list,
		.description = h->description, .owner = l->owner};
	event_changed(p);
	return 0;
}

/* With those of the other side, whose room is told there; of a list, of all that it has. */
static uint16_t
changes_of(struct tree *t, struct pipe *p)
{
	struct pipe *peer = p->type >= PIPE_STREAM ? endpoint_peer(t, p) : NULL;
	uint16_t n = (uint16_t)(p->changes + (peer != NULL ? peer->changes : 0));

	for (uint32_t i = 0; p->type == PIPE_LIST && i < t->listed; i++)
		if (t->list[i].list == pipe_number(t, p) + 1)
			n = (uint16_t)(n + changes_of(t, listed_pipe(t, &t->list[i])));
	return n;
}

/* What has happened to something listed: events; 0: nothing that was not taken. */
static uint32_t
listed_look(struct serving *s, struct listed *l, struct file_waits *waits)
{
	const struct description *d = &s->t->description[l->description];
	uint32_t wanted = l->wanted.events, is;

	if (l->is_off)
		return 0;
	is = description_poll(s, d, POLL_ALL, waits);
	is = ((is & FILE_POLL_READ) != 0 ? FILE_READY_READ : 0) |
		((is & FILE_POLL_WRITE) != 0 ? FILE_READY_WRITE : 0) |
		((is & FILE_POLL_ENDED) != 0 ? FILE_READY_ENDED : 0) |
		((is & FILE_POLL_HUNG_UP) != 0 ? FILE_READY_HUNG_UP : 0) |
		((is & FILE_POLL_BROKEN) != 0 ? FILE_READY_ERROR : 0);
	is &= wanted | FILE_READY_HUNG_UP | FILE_READY_ERROR;
	if (is == 0)
		l->is_taken = false;
	return (wanted & FILE_READY_CHANGES) != 0 && l->is_taken &&
		l->seen == changes_of(s->t, listed_pipe(s->t, l)) ? 0 : is;
}

static void
listed_take(struct serving *s, struct listed *l, uint32_t events)
{
	const struct file_ready ready = {.events = events, .data = l->wanted.data};

	memcpy((char *)s->out + s->out_bytes, &ready, sizeof(ready));
	s->out_bytes += sizeof(ready);
	s->reply->count++;
	l->is_taken = true;
	l->seen = changes_of(s->t, listed_pipe(s->t, l));
	l->is_off = (l->wanted.events & FILE_READY_ONCE) != 0;
}

/* Each look begins behind what the last one has taken, so that none waits for the others. */
static int
take_list(struct serving *s, struct pipe *p)
{
	struct tree *t = s->t;
	struct event *e = event_of(t, p);
	struct file_waits waits = {.until = FOREVER};
	uint32_t most = FILE_DATA_MAX / sizeof(struct file_ready), first = e->next;

	most = s->r->arg < most ? s->r->arg : most;
	for (uint32_t i = 0; i < t->listed && s->reply->count < most; i++) {
		struct listed *l = &t->list[(first + i) % t->listed];
		uint32_t events = l->list == pipe_number(t, p) + 1 ?
			listed_look(s, l, &waits) : 0;

		if (events == 0)
			continue;
		listed_take(s, l, events);
		e->next = (uint16_t)(l - t->list + 1);
	}
	return 0;
}

/* --- waits --- */

static bool
list_is_ready(struct serving *s, const struct pipe *p, struct file_waits *waits)
{
	bool is_ready = false;

	for (uint32_t i = 0; i < s->t->listed; i++)
		if (s->t->list[i].list == pipe_number(s->t, p) + 1)
			is_ready |= listed_look(s, &s->t->list[i], waits) != 0;
	return is_ready;
}

uint32_t
event_poll(struct serving *s, struct pipe *p, struct file_waits *waits)
{
	const struct event *e = event_of(s->t, p);

	switch (p->type) {
	case PIPE_COUNT: return (e->value > 0 ? FILE_POLL_READ : 0) |
		(e->value < FILE_COUNT_MAX ? FILE_POLL_WRITE : 0);
	case PIPE_TIMER:
		if (times_over(e, time_now()) > 0)
			return FILE_POLL_READ;
		if (e->value != 0 && e->value < waits->until)
			waits->until = e->value;
		return 0;
	case PIPE_SIGNALS:
		waits->signals |= e->value;
		return (e->value & s->r->offset) != 0 ? FILE_POLL_READ : 0;
	default: return list_is_ready(s, p, waits) ? FILE_POLL_READ : 0;
	}
}

void
event_watch(struct serving *s, struct pipe *p)
{
	pipe_watch(p, PIPE_READ, s->client);
	for (uint32_t i = 0; p->type == PIPE_LIST && i < s->t->listed; i++)
		if (s->t->list[i].list == pipe_number(s->t, p) + 1)
			description_watch(s, &s->t->description[s->t->list[i].description]);
}

int
serve_event(struct serving *s, struct description *d)
{
	struct pipe *p = d->is_pipe ? &s->t->pipe[d->object] : NULL;
	bool is_of_list = s->r->op == FILE_LIST_CHANGE || s->r->op == FILE_LIST_TAKE;

	if (p == NULL || !pipe_is_event(p) || (is_of_list && p->type != PIPE_LIST))
		return -E_INVAL;
	switch (s->r->op) {
	case FILE_EVENT_SET: return set_event(s, p);
	case FILE_LIST_CHANGE: return change_list(s, p);
	case FILE_LIST_TAKE: return take_list(s, p);
	case FILE_READ: return read_event(s, d, p);
	default: return write_event(s, d, p);
	}
}

/* --- what is true of any description --- */

/* Nobody has hung up who was never there. */
static uint32_t
poll_ends(struct pipe *p, const struct description *d)
{
	uint32_t is = pipe_poll(p, end_of(d)) | (is_of_both(d) ? pipe_poll(p, PIPE_WRITE) : 0);

	return pipe_is_met(p, d) ? is : is & ~(uint32_t)FILE_POLL_HUNG_UP;
}

/* Files are always ready. */
uint32_t
description_poll(struct serving *s, const struct description *d, uint32_t asked,
	struct file_waits *waits)
{
	struct pipe *p = d->is_pipe ? &s->t->pipe[d->object] : NULL;
	uint32_t is;

	if (p == NULL)
		return asked;
	/* also if nobody waits: who looks again may find it */
	if (d->object == PIPE_INPUT && pipe_poll(p, PIPE_READ) == 0)
		input_want(1);
	is = p->type == PIPE_PLAIN ? poll_ends(p, d) : p->type == PIPE_QUEUE ?
		queue_poll(p) : pipe_is_event(p) ? event_poll(s, p, waits) :
		socket_poll(s->t, p);
	return is & (asked | FILE_POLL_HUNG_UP | FILE_POLL_BROKEN);
}

void
description_watch(struct serving *s, const struct description *d)
{
	struct pipe *p = d->is_pipe ? &s->t->pipe[d->object] : NULL;

	if (p == NULL)
		return;
	if (pipe_is_event(p)) {
		event_watch(s, p);
	} else if (p->type >= PIPE_STREAM) {
		socket_watch(s->t, p, s->client);
	} else if (p->type == PIPE_PLAIN && !is_of_both(d)) {
		pipe_watch(p, end_of(d), s->client);
	} else {
		pipe_watch(p, PIPE_READ, s->client);
		pipe_watch(p, PIPE_WRITE, s->client);
	}
}

int
serve_poll(struct serving *s, const struct description *d)
{
	struct file_waits waits = {.until = FOREVER};
	uint32_t asked = s->r->arg;

	if ((asked & ~(uint32_t)(FILE_POLL_READ | FILE_POLL_WRITE | FILE_POLL_ENDED)) != 0 ||
		s->r->more > FILE_WATCH)
		return -E_INVAL;
	s->reply->value = description_poll(s, d, asked, &waits);
	if (s->reply->value == 0 && s->r->more == FILE_WATCH)
		description_watch(s, d);
	memcpy(s->out, &waits, sizeof(waits));
	s->out_bytes = sizeof(waits);
	return 0;
}
