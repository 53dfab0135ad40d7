/* SPDX-License-Identifier: MIT
 *
 * Bulk data to other clusters is written by a thread beside the rank, made when it is first needed: a portal write waits for its reader,
 * and the rank must go on to serve others meanwhile. It runs on the rank's own core and does nothing but kernel calls, so it needs
 * neither thread-local data nor libc.
 */
#include <stdlib.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <mpi/core/shared.h>
#include <mpi/transport/atoll/state.h>

#define STACK_BYTES 16384

enum { WRITER_FREE, WRITER_BUSY, WRITER_OVER, WRITER_EXIT };

struct writer {
	uint32_t state;			/* shared word: who owns the rest */
	int portal;
	const void *data;
	size_t len;
	long result;
	struct inbox *box;		/* of the rank: whom to wake */
	int tid;
};

static void
write_all(struct writer *w)
{
	long put = kportal_write(w->portal, (unsigned long)w->data, w->len);

	w->result = put < 0 ? put : (size_t)put == w->len ? 0 : -E_IO;
	store_release(&w->state, WRITER_OVER);
	kthread_wakeup((int)load_relaxed((const uint32_t *)&w->box->tid));
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
			kthread_sleep();
	}
}

static int
spawn(struct transport *t, struct writer *w)
{
	struct cluster_info info;
	long err = kcluster_info(&info);

	if (err < 0)
		return (int)err;
	w->box = t->inbox.box;
	w->tid = thread_start(writer_main, w, (int)info.core, STACK_BYTES);
	return w->tid < 0 ? w->tid : 0;
}

static int
create(struct transport *t)
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

int
transport_writer_start(struct transport *t, int portal, const void *data, size_t len)
{
	struct writer *w;
	int err = t->writer == NULL ? create(t) : 0;

	if (err != 0)
		return err;
	w = t->writer;
	w->portal = portal;
	w->data = data;
	w->len = len;
	store_release(&w->state, WRITER_BUSY);
	kthread_wakeup(w->tid);
	return 0;
}

bool
transport_writer_is_busy(const struct transport *t)
{
	return t->writer != NULL && load_relaxed(&t->writer->state) == WRITER_BUSY;
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
	store_release(&w->state, WRITER_EXIT);
	kthread_wakeup(w->tid);
	kthread_join(w->tid, &value);
	free(w);
}
