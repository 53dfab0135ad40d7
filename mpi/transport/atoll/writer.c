/* SPDX-License-Identifier: MIT
 *
 * Bulk data to other clusters is written by a thread beside the rank, made when it is first needed:
 * a portal write waits for its reader, and the rank must go on to serve others meanwhile. It runs
 * on the rank's own core and does nothing but kernel calls, so it needs neither thread-local data
 * nor libc. On the hosted port, where the rank's other threads do not run on its core and must not
 * wait for that, it is one of the program's kind instead.
 */
#include <pthread.h>
#include <stdlib.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/guest.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/shared.h>

#define STACK_BYTES 8192

enum { WRITER_FREE, WRITER_BUSY, WRITER_OVER, WRITER_EXIT };

struct writer {
	uint32_t state;			/* shared word: who owns the rest */
	int portal;
	const void *data;
	size_t len;
	long result;
	struct inbox *box;		/* of the rank: whom to wake */
	uint32_t tid;			/* 0: not known yet */
	bool is_guest;
	pthread_t guest;
};

#pragma weak pthread_create
#pragma weak pthread_join

static void
write_all(struct writer *w)
{
	long put = kportal_write(w->portal, (unsigned long)w->data, w->len, FOREVER);

	w->result = put < 0 ? put : (size_t)put == w->len ? 0 : -E_IO;
	/* in total order with whoever is about to sleep: it has said so, then looks at the state */
	store_total(&w->state, WRITER_OVER);
	kthread_wakeup((int)load_total((const uint32_t *)&w->box->tid), WOKEN_BY_PEER);
}

static void
writer_main(void *arg)
{
	struct writer *w = arg;

	for (;;) {
		uint32_t state = load_acquire(&w->state);

		if (state == WRITER_EXIT)
			return;
		if (state == WRITER_BUSY)
			write_all(w);
		else
			kthread_sleep(WAKE_ANY, FOREVER);
	}
}

static void *
guest_main(void *arg)
{
	struct writer *w = arg;

	if (guest_enter() != 0)
		abort();
	/*
	 * from here on it is woken: whoever gave it something to do before that is seen by the
	 * first look
	 */
	store_total(&w->tid, (uint32_t)kthread_self());
	writer_main(w);
	return NULL;
}

static int
spawn_guest(struct writer *w)
{
	w->is_guest = true;
	return pthread_create(&w->guest, NULL, guest_main, w) == 0 ? 0 : -E_NOMEM;
}

static int
spawn(struct transport *t, struct writer *w)
{
	struct cluster_info info;
	long err = kcluster_info(&info);
	int tid;

	if (err < 0)
		return (int)err;
	w->box = t->inbox.box;
	if (t->threads && t->startup->gate != 0 && pthread_create != NULL)
		return spawn_guest(w);
	tid = thread_start(writer_main, w, (int)info.core, STACK_BYTES);
	w->tid = (uint32_t)tid;
	return tid < 0 ? tid : 0;
}

static int
writer_create(struct transport *t)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err;

	if (w == NULL)
		return -E_NOMEM;
	err = spawn(t, w);
	if (err != 0) {
		free(w);
		return err;
	}
	t->writer = w;
	return 0;
}

static void
wake_writer(struct writer *w, uint32_t state)
{
	uint32_t tid;

	store_total(&w->state, state);
	tid = load_total(&w->tid);
	if (tid != 0)
		kthread_wakeup((int)tid, WOKEN_BY_PEER);
}

int
transport_writer_start(struct transport *t, int portal, const void *data, size_t len)
{
	struct writer *w;
	int err = t->writer == NULL ? writer_create(t) : 0;

	if (err != 0)
		return err;
	w = t->writer;
	w->portal = portal;
	w->data = data;
	w->len = len;
	wake_writer(w, WRITER_BUSY);
	return 0;
}

bool
transport_writer_is_busy(const struct transport *t)
{
	return t->writer != NULL && load_relaxed(&t->writer->state) == WRITER_BUSY;
}

bool
transport_writer_is_over(const struct transport *t)
{
	return t->writer != NULL && load_total(&t->writer->state) == WRITER_OVER;
}

bool
transport_writer_done(struct transport *t, int *result)
{
	struct writer *w = t->writer;

	if (load_acquire(&w->state) != WRITER_OVER)
		return false;
	*result = (int)w->result;
	store_relaxed(&w->state, WRITER_FREE);
	return true;
}

void
transport_writer_exit(struct transport *t)
{
	struct writer *w = t->writer;
	uint64_t value;

	if (w == NULL)
		return;
	wake_writer(w, WRITER_EXIT);
	if (w->is_guest)
		pthread_join(w->guest, NULL);
	else
		kthread_join((int)w->tid, &value, FOREVER);
	free(w);
}
