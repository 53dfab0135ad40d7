/* SPDX-License-Identifier: MIT
 *
 * The device server: drives the one device that it was given, by the driver for that, and serves
 * requests at the port of its class. A read that has to wait is kept until the device interrupts.
 * An answer that finds its slot full is kept, too, and bulk data leaves through a thread of its
 * own: requests of others wait for no client but, those for bulk data, a little while for one of
 * these.
 */
#include <stdbool.h>
#include <abi/layout.h>
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <atoll/virtio.h>
#include <base/str.h>
#include <servers/device/driver.h>
#include <servers/device/protocol.h>

#define HANDLES 32			/* that are open */
#define WAITING 16			/* requests and answers that are kept */
#define PATIENCE_NS 200000000ull	/* for a client that has asked for bulk data */
#define BULK_STACK 4096
#define LIFE_SHIFT 8

/* An open handle: it is its number and life. */
struct opened {
	struct mail_sender owner;
	uint32_t life;
	bool is_open;
};

/* A read that waits, or an answer that is to go out. Each is in use, or nobody's. */
struct waiting {
	struct mail_sender from;
	struct device_request request;
	struct device_reply reply;
	bool is_read;
	int out;			/* of an answer: mailbox to the client */
	bool is_used;
};

static struct {
	const struct driver *driver;
	struct registers registers;
	uint32_t class;
	struct opened file[HANDLES];
	struct waiting waiting[WAITING];
	char data[DEVICE_DATA];
} server;

/* Data that is on its way to a client: while it is, the thread's. */
static struct {
	int main_thread, thread;	/* handles */
	long portal;
	unsigned long bytes;
	bool is_busy;
	char data[DEVICE_BULK];
} bulk;

/* --- open handles --- */

static struct opened *
file_of(const struct mail_sender *from, uint32_t handle)
{
	uint32_t number = handle & ((1u << LIFE_SHIFT) - 1);
	struct opened *f = &server.file[number];

	if (number >= HANDLES || !f->is_open || f->life << LIFE_SHIFT != handle - number ||
		f->owner.cluster != from->cluster || f->owner.badge != from->badge)
		return NULL;
	return f;
}

static int
serve_open(const struct mail_sender *from, struct device_reply *r)
{
	uint32_t number = 0;

	while (number < HANDLES && server.file[number].is_open)
		number++;
	if (number == HANDLES)
		return -E_MFILE;
	server.file[number].is_open = true;
	server.file[number].owner = *from;
	server.file[number].life++;
	r->handle = number | server.file[number].life << LIFE_SHIFT;
	return 0;
}

/* --- answers --- */

static struct waiting *
waiting_new(const struct mail_sender *from)
{
	for (unsigned i = 0; i < WAITING; i++)
		if (!server.waiting[i].is_used) {
			server.waiting[i] = (struct waiting){.from = *from, .is_used = true};
			return &server.waiting[i];
		}
	return NULL;
}

/* Without room it is dropped: so many unread answers are a client's fault. */
static void
answer(const struct mail_sender *from, const struct device_request *q, struct device_reply *r)
{
	long out = kmailbox_open((int)from->cluster, (int)q->reply_port);
	struct waiting *w;

	r->magic = DEVICE_MAGIC;
	r->id = q->id;
	if (out < 0)
		return;
	if (kmailbox_write((int)out, r) == -E_AGAIN && (w = waiting_new(from)) != NULL) {
		w->out = (int)out;
		w->reply = *r;
		return;
	}
	khandle_close((int)out);
}

static void
bulk_run(void *arg)
{
	uint64_t now;

	(void)arg;
	for (;;) {
		kthread_sleep(WAKE_ANY, FOREVER);
		kclock(&now);
		kportal_write((int)bulk.portal, (unsigned long)(uintptr_t)bulk.data, bulk.bytes,
			now + PATIENCE_NS);
		khandle_close((int)bulk.portal);
		__atomic_store_n(&bulk.is_busy, false, __ATOMIC_RELEASE);
		kthread_wakeup(bulk.main_thread, 1u << BIT_BULK);
	}
}

/* The answer says how much comes. */
static void
answer_bulk(const struct mail_sender *from, const struct device_request *q, struct device_reply *r)
{
	if (r->value > 0) {
		bulk.portal = kportal_open((int)from->cluster, (int)q->bulk_port,
			(int)DEVICE_PORT(server.class));
		bulk.bytes = (unsigned long)r->value;
		bulk.is_busy = bulk.portal >= 0;
		if (!bulk.is_busy) {
			r->error = (int32_t)bulk.portal;
			r->value = 0;
		}
	}
	answer(from, q, r);
	if (r->value > 0)
		kthread_wakeup(bulk.thread, 1);
}

/* --- requests --- */

/* False: it has to wait. */
static bool
serve_read(const struct mail_sender *from, const struct device_request *q)
{
	bool is_bulk = q->bulk_port != DEVICE_NO_BULK;
	uint32_t most = is_bulk ? DEVICE_BULK : DEVICE_DATA;
	char *data = is_bulk ? bulk.data : server.data;
	struct opened *f = file_of(from, q->handle);
	struct device_reply r = {.handle = q->handle};
	long n;

	if (is_bulk && __atomic_load_n(&bulk.is_busy, __ATOMIC_ACQUIRE))
		return false;
	n = f == NULL ? -E_BADF : server.driver->read(data,
		q->count < most ? q->count : most);
	if (n == -E_AGAIN)
		return false;
	r.error = n < 0 ? (int32_t)n : 0;
	r.value = n < 0 ? 0 : (uint64_t)n;
	if (!is_bulk)
		memcpy(r.data, data, r.value);
	(is_bulk ? answer_bulk : answer)(from, q, &r);
	return true;
}

static int
serve_write(const struct mail_sender *from, const struct device_request *q, struct device_reply *r)
{
	struct opened *f = file_of(from, q->handle);
	long n;

	if (f == NULL || q->count > DEVICE_DATA)
		return f == NULL ? -E_BADF : -E_INVAL;
	n = server.driver->write(q->data, q->count);
	r->value = n < 0 ? 0 : (uint64_t)n;
	return n < 0 ? (int)n : 0;
}

static int
serve_close(const struct mail_sender *from, uint32_t handle)
{
	struct opened *f = file_of(from, handle);

	if (f == NULL)
		return -E_BADF;
	f->is_open = false;
	return 0;
}

/* Nobody waits for these any more. */
static void
forget(uint32_t badge)
{
	for (uint32_t i = 0; i < HANDLES; i++)
		if (server.file[i].owner.badge == badge)
			server.file[i].is_open = false;
	for (unsigned i = 0; i < WAITING; i++)
		if (server.waiting[i].is_read && server.waiting[i].from.badge == badge)
			server.waiting[i].is_used = false;
}

static void
device_serve(const struct mail_sender *from, const struct device_request *q)
{
	struct device_reply r = {.handle = q->handle};
	struct waiting *w;

	if (q->magic == DEVICE_MAGIC && q->op == DEVICE_FORGET) {
		if (from->cluster == DEVICE_CLUSTER && from->badge == BADGE_INIT)
			forget(q->handle);
		return;
	}
	if (q->magic != DEVICE_MAGIC)
		r.error = -E_INVAL;
	else if (q->op == DEVICE_OPEN)
		r.error = serve_open(from, &r);
	else if (q->op == DEVICE_CLOSE)
		r.error = serve_close(from, q->handle);
	else if (q->op == DEVICE_WRITE)
		r.error = serve_write(from, q, &r);
	else if (q->op != DEVICE_READ)
		r.error = -E_INVAL;
	else if (serve_read(from, q))
		return;
	else if ((w = waiting_new(from)) != NULL) {
		w->request = *q;
		w->is_read = true;
		return;
	} else
		r.error = -E_BUSY;
	answer(from, q, &r);
}

/* What was kept is tried again. */
static void
retry(void)
{
	for (unsigned i = 0; i < WAITING; i++) {
		struct waiting *w = &server.waiting[i];

		if (!w->is_used)
			continue;
		if (w->is_read) {
			w->is_used = !serve_read(&w->from, &w->request);
		} else if (kmailbox_write(w->out, &w->reply) != -E_AGAIN) {
			khandle_close(w->out);
			w->is_used = false;
		}
	}
}

static int
device_begin(const struct startup *s)
{
	static const struct driver *const drivers[DEVICE_CLASSES] = {&uart_driver, &random_driver};
	struct cluster_info info;
	int result;

	server.class = s->device_class;
	server.driver = drivers[server.class];
	server.registers.device = s->device[0];
	kcluster_info(&info);
	result = registers_map(s->device[0], BIT_INTERRUPT, &server.registers.at);
	if (result != 0)
		return result;
	bulk.main_thread = (int)kthread_self();
	bulk.thread = thread_start(bulk_run, NULL, (int)info.core, BULK_STACK);
	if (bulk.thread < 0)
		return bulk.thread;
	return server.driver->start(&server.registers);
}

int
server_main(int argc, char **argv)
{
	const struct startup *s = atoll_startup();
	struct device_request request;
	struct mail_sender from;
	int result = device_begin(s);

	(void)argc;
	(void)argv;
	if (result != 0) {
		console_print("device: class %u cannot be driven: error %d\n",
			(unsigned)server.class, -result);
		return 1;
	}
	kevent_bind(EVENT_MAILBOX, s->listens, BIT_MAIL);
	kevent_bind(EVENT_ROOM, 0, BIT_ROOM);
	for (long bits = 0;; bits = kthread_sleep(WAKE_ANY, FOREVER)) {
		if ((bits & 1 << BIT_INTERRUPT) != 0 && server.driver->interrupt != NULL) {
			server.driver->interrupt();
			kdevice_done(s->device[0]);
		}
		retry();
		while (kmailbox_read(s->listens, ANY_SOURCE_CLUSTER, &request, &from) >= 0)
			device_serve(&from, &request);
	}
}
