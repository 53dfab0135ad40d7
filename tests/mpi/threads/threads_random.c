/* SPDX-License-Identifier: MIT
 *
 * Two to seven workers and a clerk in each rank use MPI in random ways (stress.h). The thread that
 * opened the library begins alone, and is in the middle of something when the others come. If no
 * worker of a rank gets any further, the rank says what each of them is doing, and ends the job.
 * usage: threads_random [SEED [STEPS [PATIENCE_S]]]
 */
#include <stdarg.h>
#include <time.h>
#include <unistd.h>
#include "stress.h"

#define ERRORS_SHOWN 5
#define PATIENCE_S 60

static struct stress stress;

/* sees that workers go on */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t over;
	int is_over;
	int patience_s;
	pthread_t thread;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

uint32_t
draw(uint64_t *dice, uint32_t below)
{
	*dice = *dice * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*dice >> 33) % below;
}

int
draw_length(struct worker *w)
{
	static const int lengths[] = {0, 1, 8, 32, 33, 64, 700, 5000, LONG};

	return lengths[draw(&w->common, sizeof(lengths) / sizeof(lengths[0]))];
}

void
wrong(struct worker *w, const char *what, long is, long should)
{
	if (w->errors++ < ERRORS_SHOWN)
		fprintf(stderr, "seed %llu, rank %d, worker %d, step %d, %s, %s: %s: %ld not %ld\n",
			(unsigned long long)w->all->seed, w->all->rank, w->number, w->step,
			w->action, w->call, what, is, should);
}

static void
mix(struct worker *w)
{
	for (uint32_t n = draw(&w->common, 3); n > 0; n--)
		add_collective(w);
	if (draw(&w->common, 3))
		add_messages(w);
	if (w->all->clerk.runs && draw(&w->common, 3) == 0)
		add_parts(w);
	for (uint32_t n = w->all->clerk.runs ? draw(&w->own, 3) : 0; n > 0; n--)
		add_general(w);
	for (uint32_t n = w->all->clerk.runs ? draw(&w->own, 2) : 0; n > 0; n--)
		add_cancelled(w);
	flight_end(w);
	if (w->all->clerk.runs)
		clerk_wait(w, &w->left);
}

static void
messages(struct worker *w)
{
	add_messages(w);
	flight_end(w);
}

static const struct {
	const char *name;
	void (*run)(struct worker *w);
	int needs_clerk;
} actions[] = {
	{"mixed flight", mix, 0}, {"messages", messages, 0}, {"turns", take_turns, 0},
	{"collectives", collectives, 0}, {"numbers", numbers, 0}, {"mixed flight", mix, 0},
	{"duplicate", duplicate, 1}, {"from the clerk", from_clerk, 1},
};

static void *
work(void *arg)
{
	struct worker *w = arg;

	for (int step = 0; step < w->steps; step++) {
		uint32_t i = draw(&w->common, sizeof(actions) / sizeof(actions[0]));

		w->step++;
		w->action = actions[i].name;
		if (!actions[i].needs_clerk || w->all->clerk.runs)
			actions[i].run(w);
		__atomic_fetch_add(&w->finished, 1, __ATOMIC_RELAXED);
	}
	w->action = "over";
	return NULL;
}

static void
say_flight(const struct flight *f)
{
	static const char *const names[] = {"send", "receive", "generalised request",
		"cancelled receive", "barrier", "bcast", "allreduce", "allgather",
		"partitioned send", "partitioned receive"};

	for (int i = 0; i < f->count; i++) {
		const struct entry *e = &f->entry[i];

		if (!e->ended)
			fprintf(stderr, "\trequest %d: %s%s, source %d, tag %d, channel %d, "
				"number %u, %d bytes\n", i, e->persistent ? "persistent " : "",
				names[e->kind], e->source, e->tag, e->channel, e->number,
				e->length);
	}
}

static void
say_who_waits(void)
{
	const struct clerk *c = &stress.clerk;

	fprintf(stderr, "seed %llu, rank %d: no worker has finished a step for %d s\n",
		(unsigned long long)stress.seed, stress.rank, watch.patience_s);
	for (int i = 0; i < stress.workers; i++) {
		const struct worker *w = &stress.worker[i];

		fprintf(stderr, "rank %d, worker %d, step %d: %s, in %s; %d jobs at the clerk\n",
			stress.rank, i, w->step, w->action, w->call, w->left);
		say_flight(&w->flight);
	}
	for (int i = 0; i < c->jobs; i++) {
		const struct job *j = &c->job[(c->first + i) % JOBS_MAX];

		fprintf(stderr, "rank %d, clerk: job of kind %d, value %d\n", stress.rank, j->kind,
			j->value);
	}
}

static uint32_t
steps_finished(void)
{
	uint32_t n = 0;

	for (int i = 0; i < stress.workers; i++)
		n += __atomic_load_n(&stress.worker[i].finished, __ATOMIC_RELAXED);
	return n;
}

static void *
watch_main(void *arg)
{
	uint32_t before = 0, now;
	struct timespec until;
	int waited = 0;

	pthread_mutex_lock(&watch.lock);
	while (!watch.is_over) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		pthread_cond_timedwait(&watch.over, &watch.lock, &until);
		now = steps_finished();
		waited = now == before ? waited + 1 : 0;
		before = now;
		if (waited < watch.patience_s || watch.is_over)
			continue;
		say_who_waits();
		sleep(1);	/* other ranks say it, too */
		_exit(3);
	}
	pthread_mutex_unlock(&watch.lock);
	return arg;
}

static void
watch_end(void)
{
	pthread_mutex_lock(&watch.lock);
	watch.is_over = 1;
	pthread_cond_signal(&watch.over);
	pthread_mutex_unlock(&watch.lock);
	pthread_join(watch.thread, NULL);
}

static void
prepare(struct worker *w, int number)
{
	*w = (struct worker){.all = &stress, .number = number, .action = "nothing", .call = ""};
	w->common = stress.seed * 1000003 + (uint64_t)number;
	w->own = w->common * 31 + (uint64_t)stress.rank + 1;
	MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
}

/* The first thread is one of the workers. */
static int
run(int steps)
{
	struct worker *w = stress.worker;
	int errors = 0;

	work(&w[0]);
	clerk_begin(&stress);
	for (int i = 1; i < stress.workers; i++) {
		w[i].steps = steps;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	w[0].steps = steps;
	work(&w[0]);
	for (int i = 0; i < stress.workers; i++) {
		if (i > 0)
			pthread_join(w[i].thread, NULL);
		errors += w[i].errors;
		MPI_Comm_free(&w[i].comm);
	}
	clerk_end(&stress);
	return errors;
}

int
main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 60, provided, errors, all = 0;

	stress.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	watch.patience_s = argc > 3 ? atoi(argv[3]) : PATIENCE_S;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &stress.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &stress.size);
	if (provided != MPI_THREAD_MULTIPLE || stress.size > RANKS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	stress.workers = 2 + (int)(stress.seed % (WORKERS_MAX - 1));
	for (int i = 0; i < stress.workers; i++)
		prepare(&stress.worker[i], i);
	stress.worker[0].steps = steps / 4;
	if (pthread_create(&watch.thread, NULL, watch_main, NULL) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	errors = run(steps);
	watch_end();
	MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	if (stress.rank == 0 && all == 0)
		printf("No errors\n");
	else if (stress.rank == 0)
		printf("seed %llu: %d errors\n", (unsigned long long)stress.seed, all);
	return all != 0;
}
