/* SPDX-License-Identifier: MIT
 *
 * See names.h. A request that cannot be answered at once stays in its client's channel; it is
 * served anew when that may have changed. Requests to the name server are answered in their order,
 * so that for each it is enough to know whose it was.
 */
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <base/str.h>
#include <servers/proc/names.h>
#include <servers/proc/names_local.h>

#define NOBODY UINT16_MAX		/* instead of a client */
#define ASKED_MAX 32			/* requests to the name server that were not answered yet */
#define PATIENCE_NS 1000000000ull	/* then the name server is told once more of the channel */
#define SOON_NS 10000000		/* the pages of the line before come back */
#define STEPS 256			/* after which a busy daemon looks at its line */
#define NOW 0

enum wait_state {
	WAIT_NONE, WAIT_TO_ASK, WAIT_ASKED,
	WAIT_LINK, WAIT_UNLINK, WAIT_LOOKUP,	/* until NAME_AGAIN */
	WAIT_FAR,				/* for another daemon */
	WAIT_ANSWERED
};

static struct agent *agent;
static struct service *service;
static struct name_wait *waits;

/* To the name server. */
static struct {
	struct channel ch;
	struct service_opening opening;
	enum { LINE_CLOSED, LINE_OPENS, LINE_TELLS, LINE_OPEN } state;
	bool is_anew;			/* the name server before has ended; it TELLS this one */
	uint32_t told;			/* places of names that were looked at for that */
	bool has_told;			/* all was said, but not answered yet */
	uint32_t steps;			/* since an answer was awaited */
	uint16_t asked[ASKED_MAX];	/* clients */
	uint32_t first, count;
	bool owes_dropped;
	uint64_t patience;		/* until when the opening has it */
} line;

/* A question to another daemon, one at a time, and the answers to theirs. */
static struct {
	bool is_open;			/* the question has no answer yet */
	uint16_t client;
	struct proc_message question;
	bool is_due;			/* it is to be sent */
	struct proc_message *answer;	/* for each cluster; op 0: none */
} far;

/* The name of NAME_NEXT's answer, for one client at a time. */
static struct {
	uint16_t client;
	char name[NAME_LENGTH_MAX + 1];
} listed = {.client = NOBODY};

/* --- clients that wait --- */

/* It is served again. */
static void
rouse(uint32_t client, enum wait_state state)
{
	waits[client].state = (uint8_t)state;
	service_again(service, client);
}

static void
answer(uint32_t client, int error, const struct name_message *m)
{
	struct name_wait *w = &waits[client];

	w->error = (int16_t)error;
	w->cluster = (uint16_t)m->cluster;
	w->port = (uint16_t)m->port;
	w->names = (uint16_t)m->names;
	rouse(client, WAIT_ANSWERED);
}

static void
rouse_all(enum wait_state from)
{
	for (uint32_t i = 0; i < service->used; i++)
		if (waits[i].state == from)
			rouse(i, WAIT_TO_ASK);
}

static int
put_off(uint32_t client)
{
	waits[client].state = WAIT_TO_ASK;
	return -E_AGAIN;
}

/* --- time --- */

/* The server wakes up then at the latest. */
static void
wake_at(uint64_t when)
{
	if (when < service->until)
		service->until = when;
}

static uint64_t
time_now(void)
{
	uint64_t now = 0;

	kclock(&now);
	return now;
}

/* Names that were not heard of leave; a line that does not open is asked for once more. */
static void
look_at_time(void)
{
	uint64_t now = time_now();

	if (now < service->until)
		return;
	service->until = local_look_at_beats(now);
	if (line.state != LINE_OPENS)
		return;
	if (line.patience <= now) {
		line.opening.is_named = false;
		line.patience = now + PATIENCE_NS;
	}
	wake_at(line.patience);
}

static void
set_period(struct local_name *l, uint32_t period)
{
	l->period = period;
	if (period == 0)
		return;
	local_beat(l, time_now());
	wake_at(l->until);
}

/* --- the line to the name server --- */

static const struct service_kind kind = {.magic = NAME_MAGIC,
	.message = sizeof(struct name_message), .cluster = NAME_CLUSTER, .port = NAME_PORT,
	.pages = NAME_PAGES};

static int
line_open(void)
{
	int result;

	if (line.state >= LINE_TELLS)
		return line.state == LINE_OPEN ? 0 : -E_AGAIN;
	if (line.state == LINE_CLOSED)
		line.opening = (struct service_opening){.kind = &kind, .bit = BIT_NAMES,
			.is_anew = line.is_anew};
	result = service_try_open(&line.ch, &line.opening);
	if (result == -E_AGAIN ? line.state == LINE_CLOSED || line.opening.lacks_pages :
		line.is_anew && result != 0) {
		line.patience = time_now() + (result != -E_AGAIN || line.opening.lacks_pages ?
			SOON_NS : PATIENCE_NS);
		wake_at(line.patience);
	}
	line.state = result == -E_AGAIN ? LINE_OPENS : result != 0 ? LINE_CLOSED :
		line.is_anew ? LINE_TELLS : LINE_OPEN;
	return line.state == LINE_TELLS ? -E_AGAIN : result;
}

/* Ask the name server, for a client or NOBODY. False: there is no room for that now. */
static bool
line_send(uint32_t client, const struct name_message *q)
{
	void *place = line.count < ASKED_MAX ? channel_place(&line.ch) : NULL;

	if (place == NULL)
		return false;
	memcpy(place, q, sizeof(*q));
	channel_put(&line.ch, sizeof(*q));
	line.asked[(line.first + line.count) % ASKED_MAX] = (uint16_t)client;
	line.count++;
	return true;
}

/* The same for a client, that waits then. -E_AGAIN; or what opening the line says. */
static int
ask_server(uint32_t client, const struct name_message *q)
{
	int result = line_open();

	if (result != 0 && result != -E_AGAIN)
		return result;
	if (result != 0 || !line_send(client, q))
		return put_off(client);
	waits[client].state = WAIT_ASKED;
	waits[client].hash = known_hash(q->name);
	return -E_AGAIN;
}

/* One request that no client waits for. */
static bool
send_for_nobody(uint32_t op, uint32_t flags, const char *name)
{
	struct name_message q = {.op = op, .flags = flags};

	str_copy(q.name, sizeof(q.name), name);
	return line_send(NOBODY, &q);
}

/* A name server that knows nothing is told what is linked here. */
static void
tell_anew(void)
{
	const struct local_name *l;

	while (!line.has_told && (l = local_linked(&line.told)) != NULL) {
		struct name_message q = {.op = NAME_LINK, .flags = NAME_ANEW, .port = l->port};

		memcpy(q.name, l->name, sizeof(q.name));
		if (!line_send(NOBODY, &q))
			return;
		line.told++;
	}
	line.has_told = line.has_told || send_for_nobody(NAME_SETTLED, 0, "");
}

/* What is due without a client. */
static void
send_own(void)
{
	struct local_name *l;

	if (line.owes_dropped && send_for_nobody(NAME_DROPPED, 0, ""))
		line.owes_dropped = false;
	while ((l = local_leaving()) != NULL) {
		if (!send_for_nobody(NAME_UNLINK, NAME_OF_DEAD, l->name))
			return;
		l->state = LOCAL_FREE;
	}
}

/* --- other daemons --- */

/* Send what the mailbox takes now: EVENT_ROOM tells when it takes more. */
static long
mail_to(uint32_t cluster, const struct proc_message *m)
{
	long out = kmailbox_open((int)cluster, PROC_PORT), result = out;

	if (out >= 0) {
		result = kmailbox_write((int)out, m);
		khandle_close((int)out);
	}
	return result;
}

static void
far_end(int error, uint32_t port)
{
	const struct name_message m = {.cluster = far.question.cluster, .port = port};
	uint16_t client = far.client;

	far.is_open = far.is_due = false;
	/* still ASKED: the other daemon was faster than the name server's answer */
	if (client != NOBODY && (waits[client].state == WAIT_FAR ||
		waits[client].state == WAIT_ASKED)) {
		if (error == 0)
			answer(client, 0, &m);
		else
			rouse(client, WAIT_TO_ASK);
	}
	rouse_all(WAIT_TO_ASK);
}

static void
far_send(void)
{
	long result;

	if (far.is_due) {
		result = mail_to(far.question.cluster, &far.question);
		if (result != -E_AGAIN)
			far.is_due = false;
		if (result < 0 && result != -E_AGAIN)
			far_end(-E_NOENT, 0);
	}
	for (uint32_t c = 0; far.answer != NULL && c < agent->here.clusters; c++)
		if (far.answer[c].op != 0 && mail_to(c, &far.answer[c]) != -E_AGAIN)
			far.answer[c].op = 0;
}

/* A client has asked a question that another daemon will answer, if the name server knows it. */
static void
far_begin(uint32_t client, const char *name)
{
	far.question = (struct proc_message){.magic = PROC_MAGIC, .op = PROC_NAME_ASK};
	str_copy(far.question.name, sizeof(far.question.name), name);
	far.client = (uint16_t)client;
	far.is_open = true;
}

/*
 * The name server has said where the name is: `is_sent`: it has asked that daemon, whose answer may
 * have come before.
 */
static void
far_ask(uint32_t client, uint32_t cluster, bool is_sent)
{
	if (!far.is_open || far.client != client)
		return;
	far.question.cluster = cluster;
	far.is_due = !is_sent;
	waits[client].state = WAIT_FAR;
	if (far.is_due)
		kevent_bind(EVENT_CLUSTER, (int)cluster, BIT_DEATH);
}

/* Memory for answers, if there is any. */
static void
far_make_room(void)
{
	uint64_t addr;

	if (far.answer == NULL && kmem_alloc(SELF, agent->here.clusters * sizeof(*far.answer),
		PAGE_READ | PAGE_WRITE, &addr) == 0)
		far.answer = (struct proc_message *)(uintptr_t)addr;
}

/* Another daemon is to hear the port of a name of this cluster. */
static void
far_answer(uint32_t cluster, const char *name)
{
	const struct local_name *l = local_find(name);
	bool is_there = l != NULL && l->state == LOCAL_LINKED;

	far_make_room();
	if (far.answer == NULL || cluster >= agent->here.clusters)
		return;
	far.answer[cluster] = (struct proc_message){.magic = PROC_MAGIC, .op = PROC_NAME_TOLD,
		.cluster = agent->here.cluster, .status = is_there ? 0 : -E_NOENT,
		.port = is_there ? l->port : 0};
	memcpy(far.answer[cluster].name, name, sizeof(far.answer[cluster].name));
}

void
names_message(uint32_t cluster, const struct proc_message *m)
{
	if (str_len_max(m->name, sizeof(m->name)) == sizeof(m->name))
		return;
	if (m->op == PROC_NAME_ASK)
		far_answer(cluster, m->name);
	else if (far.is_open && !far.is_due && str_is_equal(m->name, far.question.name)) {
		far.question.cluster = cluster;
		far_end(m->status, m->port);
	}
	far_send();
}

void
names_look_for_deaths(void)
{
	if (far.is_open && kcluster_watch((int)far.question.cluster, NOW) == -E_HOSTDOWN)
		far_end(-E_NOENT, 0);
}

/* --- what the name server says --- */

static void
take_linked(const struct name_message *m)
{
	struct local_name *l = local_find(m->name);

	if (l == NULL)
		return;
	if (m->error != 0) {
		l->state = LOCAL_FREE;
	} else if (l->state == LOCAL_OVER) {
		local_leave(l);
	} else {
		l->state = LOCAL_LINKED;
		known_put(m->name, &(struct name_place){agent->here.cluster, l->port});
		set_period(l, l->period);
	}
}

/* It knows what is linked anywhere, and that nobody keeps what is not. */
static void
take_settled(void)
{
	static const struct name_message nothing;

	line.state = LINE_OPEN;
	line.is_anew = false;
	for (uint32_t i = 0; i < service->used; i++)
		if (waits[i].state == WAIT_UNLINK)
			answer(i, 0, &nothing);
	rouse_all(WAIT_TO_ASK);
}

/* What the name server says is all, or it will say NAME_AGAIN. */
static void
take_result(uint32_t client, const struct name_message *m)
{
	if (far.is_open && far.client == client) {
		far.is_open = false;
		rouse_all(WAIT_TO_ASK);
	}
	if (m->error == -E_AGAIN)
		waits[client].state = m->op == NAME_LINK ? WAIT_LINK : m->op == NAME_UNLINK ?
			WAIT_UNLINK : WAIT_LOOKUP;
	else
		answer(client, m->error, m);
}

/* An answer for a client that may be gone. */
static void
take_answer(const struct name_message *m)
{
	uint32_t client = line.asked[line.first];
	bool is_where = m->op == NAME_LOOKUP && (m->flags & NAME_WHERE);

	line.first = (line.first + 1) % ASKED_MAX;
	line.count--;
	if (m->op == NAME_SETTLED)
		take_settled();
	else if (m->op == NAME_LINK && (m->error != 0 || (m->flags & NAME_ANEW) == 0))
		take_linked(m);
	else if (m->op == NAME_LOOKUP && m->error == 0 && !is_where)
		known_put(m->name, &(struct name_place){m->cluster, m->port});
	/* an earlier look-up of it may have been answered meanwhile */
	else if (m->op == NAME_UNLINK && (m->error == 0 || m->error == -E_AGAIN))
		known_drop(m->name);
	if (m->op == NAME_UNLINK && m->flags & NAME_OF_DEAD)
		local_told();
	if (client == NOBODY)
		return;
	if (m->op == NAME_NEXT)
		memcpy(listed.name, m->name, sizeof(listed.name));
	if (m->error == -E_AGAIN && m->flags & NAME_FORWARD)
		far_ask(client, m->cluster, true);
	else if (is_where && m->error == 0)
		far_ask(client, m->cluster, false);
	else
		take_result(client, m);
}

/* Who has waited for the name asks again; who has unlinked it has waited for the others' word. */
static void
take_again(const char *name)
{
	static const struct name_message nothing;
	uint16_t hash = known_hash(name);

	for (uint32_t i = 0; i < service->used; i++) {
		uint32_t state = waits[i].state;

		if (waits[i].hash != hash)
			continue;
		if (state == WAIT_UNLINK)
			answer(i, 0, &nothing);
		else if (state == WAIT_FAR)
			far_end(-E_NOENT, 0);
		else if (state == WAIT_LINK || state == WAIT_LOOKUP)
			rouse(i, WAIT_TO_ASK);
	}
}

static bool
take_message(void)
{
	uint32_t bytes;
	const void *text = channel_look(&line.ch, &bytes);
	struct name_message m;

	if (text == NULL)
		return false;
	memcpy(&m, text, sizeof(m));
	if (bytes < sizeof(m))
		m.op = 0;
	channel_took(&line.ch);
	switch (m.op) {
	case 0: break;
	case NAME_GONE:
		known_drop(m.name);
		line.owes_dropped = true;
		break;
	case NAME_AGAIN: take_again(m.name); break;
	case NAME_ASKED: far_answer(m.cluster, m.name); break;
	default: take_answer(&m);
	}
	return true;
}

static void
go_on_opening(void)
{
	static const struct name_message nothing;
	int result = line_open();

	if (result == 0)
		rouse_all(WAIT_TO_ASK);
	for (uint32_t i = 0; result != 0 && result != -E_AGAIN && i < service->used; i++)
		if (waits[i].state == WAIT_TO_ASK)
			answer(i, result, &nothing);
}

/*
 * The name server has ended. What it was asked its successor is asked; but who has unlinked a name
 * waits only until all others have heard of the end, too, for they drop it then.
 */
static void
line_lost(void)
{
	channel_end(&line.ch);
	line.state = LINE_CLOSED;
	line.is_anew = true;
	line.has_told = line.owes_dropped = false;
	line.first = line.count = line.told = 0;
	known_drop_all();
	local_begin_anew();
	if (far.is_open)
		far_end(-E_NOENT, 0);
	for (uint32_t i = 0; i < service->used; i++) {
		uint32_t state = waits[i].state;

		if (state == WAIT_ASKED || state == WAIT_LINK || state == WAIT_UNLINK ||
			state == WAIT_LOOKUP) {
			waits[i].state = WAIT_UNLINK;
			if (!waits[i].unlinks)
				rouse(i, WAIT_TO_ASK);
		}
	}
	line_open();
}

void
names_look_at_line(void)
{
	if (line.state >= LINE_TELLS && channel_check(&line.ch) != 0)
		line_lost();
}

bool
names_are_settled(void)
{
	return !line.is_anew && local_is_settled();
}

bool
names_have_come(void *of, bool is_last)
{
	uint32_t bytes;

	(void)of;
	if (line.state == LINE_CLOSED || (line.state == LINE_OPENS && !line.opening.is_made))
		return false;
	if (is_last)
		channel_listen(&line.ch, true);
	else if (line.count == 0 && line.state == LINE_OPEN)
		return false;
	return channel_look(&line.ch, &bytes) != NULL;
}

void
names_step(void)
{
	bool has_come = false;

	if (line.state == LINE_OPENS || (line.state == LINE_CLOSED && line.is_anew))
		go_on_opening();
	if (line.count > 0 && ++line.steps % STEPS == 0)
		names_look_at_line();
	while (line.state >= LINE_TELLS && take_message())
		has_come = true;
	if (service->until != FOREVER)
		look_at_time();
	if (line.state == LINE_TELLS)
		tell_anew();
	if (line.state == LINE_OPEN)
		send_own();
	if (has_come)
		rouse_all(WAIT_TO_ASK);
	far_send();
}

/* --- requests --- */

static int
serve_link(uint32_t client, const struct name_message *q)
{
	const struct mail_sender *from = &service->client[client].from;
	const struct cluster_info *here = &agent->here;
	struct local_name *l = local_find(q->name);
	struct name_message to_server = *q;
	int result;

	if (q->port >= here->mailbox_ports && q->port >= here->portal_ports)
		return -E_INVAL;
	/* it is not known yet whose it is */
	if (l != NULL && l->state != LOCAL_LINKED)
		return put_off(client);
	if (l != NULL) {
		if (l->badge != from->badge || l->port != q->port)
			return -E_EXIST;
		set_period(l, q->period);
		return 0;
	}
	l = local_add(q->name);
	if (l == NULL)
		return -E_NOSPC;
	to_server.flags = 0;
	result = ask_server(client, &to_server);
	if (waits[client].state != WAIT_ASKED)
		return result;
	l->state = LOCAL_LINKING;
	l->badge = from->badge;
	l->port = q->port;
	l->period = q->period;
	return result;
}

static int
serve_unlink(uint32_t client, const struct name_message *q)
{
	struct local_name *l = local_find(q->name);
	struct name_message to_server = *q;
	int result;

	if (l != NULL && l->state != LOCAL_LINKED)
		return put_off(client);
	if (l != NULL && l->badge != service->client[client].from.badge)
		return -E_ACCES;
	to_server.flags = 0;
	result = ask_server(client, &to_server);
	if (waits[client].state == WAIT_ASKED && l != NULL) {
		waits[client].unlinks = true;
		known_drop(q->name);
		l->state = LOCAL_FREE;
	}
	return result;
}

static int
serve_lookup(uint32_t client, const struct name_message *q, struct name_message *r)
{
	const uint32_t by_others = NAME_TWO_STEPS | NAME_FORWARD;
	struct name_message to_server = *q;
	const struct local_name *l;
	struct name_place place;
	int result;

	if ((q->flags & (by_others | NAME_FRESH)) == 0 && known_find(q->name, &place)) {
		r->cluster = place.cluster;
		r->port = place.port;
		return 0;
	}
	l = local_find(q->name);
	if ((q->flags & NAME_FRESH) == 0 && l != NULL && l->state == LOCAL_LINKED) {
		r->cluster = agent->here.cluster;
		r->port = l->port;
		known_put(l->name, &(struct name_place){r->cluster, r->port});
		return 0;
	}
	if (q->flags & by_others && far.is_open)
		return put_off(client);
	to_server.flags = q->flags & (NAME_WAIT | NAME_FORWARD);
	if (q->flags & NAME_TWO_STEPS)
		to_server.flags |= NAME_WHERE;
	result = ask_server(client, &to_server);
	if (q->flags & by_others && waits[client].state == WAIT_ASKED)
		far_begin(client, q->name);
	return result;
}

static int
serve_table(struct name_message *r, int proc)
{
	long handle = proc >= 0 ? known_lend(proc, &r->names) : -E_ACCES;

	r->port = (uint32_t)handle;
	return handle < 0 ? (int)handle : 0;
}

static int
serve_next(uint32_t client, const struct name_message *q)
{
	if (listed.client != NOBODY && listed.client != client)
		return put_off(client);
	listed.client = (uint16_t)client;
	return ask_server(client, q);
}

static int
serve_named(uint32_t client, const struct name_message *q, struct name_message *r)
{
	size_t len = str_len_max(q->name, sizeof(q->name));

	if (len == 0 || len == sizeof(q->name))
		return -E_INVAL;
	if (q->op == NAME_LOOKUP)
		return serve_lookup(client, q, r);
	/* a name is one of the cluster of its owner */
	if (service->client[client].from.cluster != agent->here.cluster)
		return -E_ACCES;
	return q->op == NAME_LINK ? serve_link(client, q) : serve_unlink(client, q);
}

static int
serve_op(uint32_t client, const struct name_message *q, struct name_message *r, int proc)
{
	int result = local_begin(agent);

	if (result != 0)
		return result;
	far_make_room();
	switch (q->op) {
	case NAME_LINK:
	case NAME_LOOKUP:
	case NAME_UNLINK: return serve_named(client, q, r);
	case NAME_COUNT: return ask_server(client, q);
	case NAME_NEXT: return serve_next(client, q);
	case NAME_HEARTBEAT:
		r->names = local_beat_all(service->client[client].from.badge, time_now());
		return 0;
	case NAME_TABLE: return serve_table(r, proc);
	default: return -E_INVAL;
	}
}

/* The answer that has come. */
static void
give_answer(uint32_t client, struct name_message *r)
{
	const struct name_wait *w = &waits[client];

	r->error = w->error;
	r->cluster = w->cluster;
	r->port = w->port;
	r->names = w->names;
	if (listed.client != client)
		return;
	memcpy(r->name, listed.name, sizeof(r->name));
	listed.client = NOBODY;
	rouse_all(WAIT_TO_ASK);
}

bool
names_serve(uint32_t client, const struct name_message *q, struct name_message *r, int proc)
{
	uint32_t state = waits[client].state;

	memset(r, 0, sizeof(*r));
	r->op = q->op;
	if (state != WAIT_NONE && state != WAIT_TO_ASK && state != WAIT_ANSWERED)
		return false;
	waits[client].state = WAIT_NONE;
	waits[client].unlinks = false;
	if (state == WAIT_ANSWERED)
		give_answer(client, r);
	else
		r->error = serve_op(client, q, r, proc);
	if (waits[client].state != WAIT_NONE)
		return false;
	if (listed.client == client) {
		listed.client = NOBODY;
		rouse_all(WAIT_TO_ASK);
	}
	return true;
}

void
names_client_gone(uint32_t client)
{
	if (far.is_open && far.client == client) {
		/* what was not sent yet never will be */
		far.is_open = waits[client].state == WAIT_FAR;
		far.client = NOBODY;
	}
	waits[client] = (struct name_wait){0};
	for (uint32_t i = 0; i < line.count; i++)
		if (line.asked[(line.first + i) % ASKED_MAX] == client)
			line.asked[(line.first + i) % ASKED_MAX] = NOBODY;
	if (listed.client == client)
		listed.client = NOBODY;
	rouse_all(WAIT_TO_ASK);
}

void
names_begin(struct agent *a, struct service *s, struct name_wait *w)
{
	agent = a;
	service = s;
	waits = w;
}
