/* SPDX-License-Identifier: MIT
 *
 * Gaussian filter: noise reduction by a two-dimensional Gaussian mask. Pixels outside the picture
 * are those of its border.
 *
 *	gf --in FILE.pgm --out FILE.pgm [--mask 7] [--sd 0.8]	one picture, cut into bands
 * 	gf [--images N] [--size 256] [--mask 7] [--sd 0.8]	N synthetic pictures (1200 per
 *								cluster), one task each; prints a
 *								checksum
 *
 * The global master gives tasks (bands of pictures with their surroundings) to the local masters of
 * the clusters, one at a time to each; a local master cuts its task into rows for its slaves. The
 * mask has 16-bit fixed-point weights, so that the result is the same on every machine. A file that
 * the libc cannot open is looked for in the boot archive as files/NAME; one that it cannot create
 * is printed, see picture.h. Source: seed 002 6.1 (GF), Table 5.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mask.h"
#include "picture.h"
#include "team.h"

#define TAG_TASK 1
#define TAG_DATA 2
#define TAG_RESULT 3
#define PER_CLUSTER 1200
#define SIZE_MAX_PIXELS 16384
#define NO_TASK (-1)

/*
 * Rows of a picture, with `above` and `below` more rows around them, as many as the mask reaches.
 */
struct task {
	int32_t index;			/* picture or band; NO_TASK: the end */
	int32_t width;
	int32_t rows;			/* to be computed */
	int32_t above;
	int32_t below;
};

#define TASK_WORDS 5

static size_t
input_bytes(const struct task *t)
{
	return (size_t)t->width * (size_t)(t->above + t->rows + t->below);
}

static size_t
output_bytes(const struct task *t)
{
	return (size_t)t->width * (size_t)t->rows;
}

/* --- workers --- */

/* Rows first .. first + rows - 1 of a task as a task of its own. */
static struct task
slice(const struct task *t, long first, long rows, int reach)
{
	long before = t->above + first, after = t->rows - first - rows + t->below;

	return (struct task){t->index, t->width, (int32_t)rows, before < reach ? (int32_t)before
		: reach, after < reach ? (int32_t)after : reach};
}

/* First input byte of a slice whose first row is `first`. */
static const unsigned char *
slice_input(const struct task *t, const struct task *part, long first, const unsigned char *in)
{
	return in + (size_t)t->width * (size_t)(t->above + first - part->above);
}

static void
compute(const struct mask *m, const struct task *t, const unsigned char *in, unsigned char *out)
{
	struct view v = {in, t->width, t->above + t->rows + t->below};

	for (int y = 0; y < t->rows; y++)
		mask_row(m, &v, t->above + y, out + (size_t)y * (size_t)t->width);
}

static void
send_task(const struct task *t, const unsigned char *in, int to, MPI_Comm comm)
{
	MPI_Send(t, TASK_WORDS, MPI_INT32_T, to, TAG_TASK, comm);
	if (t->index != NO_TASK)
		MPI_Send(in, (int)input_bytes(t), MPI_BYTE, to, TAG_DATA, comm);
}

/* The next task and its data, in a buffer that grows; false: the end. */
static bool
receive_task(struct task *t, unsigned char **in, int from, MPI_Comm comm)
{
	MPI_Recv(t, TASK_WORDS, MPI_INT32_T, from, TAG_TASK, comm, MPI_STATUS_IGNORE);
	if (t->index == NO_TASK)
		return false;
	free(*in);
	*in = team_alloc(input_bytes(t));
	MPI_Recv(*in, (int)input_bytes(t), MPI_BYTE, from, TAG_DATA, comm, MPI_STATUS_IGNORE);
	return true;
}

static void
slave(const struct team *t, const struct mask *m)
{
	struct task task;
	unsigned char *in = NULL;

	while (receive_task(&task, &in, 0, t->local)) {
		unsigned char *out = team_alloc(output_bytes(&task));

		compute(m, &task, in, out);
		MPI_Send(out, (int)output_bytes(&task), MPI_BYTE, 0, TAG_RESULT, t->local);
		free(out);
	}
	free(in);
}

/* Cut a task into rows for the slaves and the caller, put the result together. */
static void
lead_cluster(const struct team *t, const struct mask *m, const struct task *task,
	const unsigned char *in)
{
	unsigned char *out = team_alloc(output_bytes(task));
	struct task part;
	long first, rows;

	for (int i = t->local_ranks - 1; i >= 0; i--) {
		rows = team_part(task->rows, t->local_ranks, i, &first);
		part = slice(task, first, rows, m->reach);
		if (i > 0)
			send_task(&part, slice_input(task, &part, first, in), i, t->local);
	}
	compute(m, &part, in, out);
	for (int i = 1; i < t->local_ranks; i++) {
		rows = team_part(task->rows, t->local_ranks, i, &first);
		MPI_Recv(out + first * task->width, (int)(rows * task->width), MPI_BYTE, i,
			TAG_RESULT, t->local, MPI_STATUS_IGNORE);
	}
	MPI_Send(task, TASK_WORDS, MPI_INT32_T, 0, TAG_RESULT, MPI_COMM_WORLD);
	MPI_Send(out, (int)output_bytes(task), MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
	free(out);
}

static void
local_master(const struct team *t, const struct mask *m)
{
	static const struct task end = {.index = NO_TASK};
	struct task task;
	unsigned char *in = NULL;

	while (receive_task(&task, &in, 0, MPI_COMM_WORLD))
		lead_cluster(t, m, &task, in);
	for (int i = 1; i < t->local_ranks; i++)
		send_task(&end, NULL, i, t->local);
	free(in);
}

/* --- global master --- */

/* Where tasks come from and results go. */
struct work {
	int tasks;
	int reach;
	/* the input of a task; its memory is valid until the next call */
	const unsigned char *(*input)(struct work *w, int index, struct task *t);
	void (*result)(struct work *w, const struct task *t, const unsigned char *out);
	struct picture *picture, *filtered;	/* one picture */
	unsigned char *synthetic;		/* many */
	int size;
	uint64_t checksum;
};

static const unsigned char *
band_input(struct work *w, int index, struct task *t)
{
	struct task all = {0, w->picture->width, w->picture->height, 0, 0};
	long first, rows = team_part(w->picture->height, w->tasks, index, &first);

	*t = slice(&all, first, rows, w->reach);
	t->index = index;
	return slice_input(&all, t, first, w->picture->pixels);
}

static void
band_result(struct work *w, const struct task *t, const unsigned char *out)
{
	long first;

	team_part(w->picture->height, w->tasks, t->index, &first);
	memcpy(w->filtered->pixels + first * t->width, out, output_bytes(t));
}

/* Synthetic picture number `index`: noise over a gradient, the same everywhere. */
static const unsigned char *
synthetic_input(struct work *w, int index, struct task *t)
{
	uint32_t x = (uint32_t)index * 2654435761u + 12345;
	size_t pixels = (size_t)w->size * (size_t)w->size;

	*t = (struct task){index, w->size, w->size, 0, 0};
	for (size_t i = 0; i < pixels; i++) {
		x = x * 1664525u + 1013904223u;
		w->synthetic[i] =
			(unsigned char)(((uint32_t)i * 255 / (uint32_t)pixels + (x >> 25)) & 255);
	}
	return w->synthetic;
}

/* Order of arrival does not matter: pictures are added up. */
static void
synthetic_result(struct work *w, const struct task *t, const unsigned char *out)
{
	uint64_t sum = 14695981039346656037u;

	for (size_t i = 0; i < output_bytes(t); i++)
		sum = (sum ^ out[i]) * 1099511628211u;
	w->checksum += sum * (uint64_t)(t->index + 1);
}

static void
alone(const struct mask *m, struct work *w)
{
	for (int i = 0; i < w->tasks; i++) {
		struct task t;
		const unsigned char *in = w->input(w, i, &t);
		unsigned char *out = team_alloc(output_bytes(&t));

		compute(m, &t, in, out);
		w->result(w, &t, out);
		free(out);
	}
}

/* Take one result of any local master, give the next task to it. */
static void
take_result(struct work *w, int *next)
{
	static const struct task end = {.index = NO_TASK};
	struct task t;
	MPI_Status status;
	unsigned char *out;
	const unsigned char *in;
	int from;

	MPI_Recv(&t, TASK_WORDS, MPI_INT32_T, MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD, &status);
	from = status.MPI_SOURCE;
	out = team_alloc(output_bytes(&t));
	MPI_Recv(out, (int)output_bytes(&t), MPI_BYTE, from, TAG_DATA, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	w->result(w, &t, out);
	free(out);
	if (*next >= w->tasks) {
		send_task(&end, NULL, from, MPI_COMM_WORLD);
		return;
	}
	in = w->input(w, (*next)++, &t);
	send_task(&t, in, from, MPI_COMM_WORLD);
}

static void
global_master(const struct team *t, struct work *w)
{
	static const struct task end = {.index = NO_TASK};
	int next = 0;

	for (int m = 0; m < t->masters; m++) {
		struct task task;
		const unsigned char *in;

		if (next >= w->tasks) {
			send_task(&end, NULL, t->master[m], MPI_COMM_WORLD);
			continue;
		}
		in = w->input(w, next++, &task);
		send_task(&task, in, t->master[m], MPI_COMM_WORLD);
	}
	for (int n = 0; n < w->tasks; n++)
		take_result(w, &next);
}

/* --- the two ways to run --- */

static double
run(const struct team *t, const struct mask *m, struct work *w)
{
	double start = MPI_Wtime();

	if (t->ranks == 1)
		alone(m, w);
	else
		global_master(t, w);
	return MPI_Wtime() - start;
}

static void
filter_file(const struct team *t, const struct mask *m, const char *in, const char *out)
{
	struct picture picture, filtered;
	struct work w = {.reach = m->reach, .input = band_input, .result = band_result,
		.picture = &picture, .filtered = &filtered};
	double seconds;

	if (!picture_read(in, &picture))
		MPI_Abort(MPI_COMM_WORLD, 1);
	filtered = picture;
	filtered.pixels = team_alloc((size_t)picture.width * (size_t)picture.height);
	w.tasks = t->masters < picture.height ? t->masters : picture.height;
	seconds = run(t, m, &w);
	if (!picture_write(out, &filtered))
		MPI_Abort(MPI_COMM_WORLD, 1);
	fflush(stdout);
	fprintf(stderr, "gf: %d x %d pixels in %.3f s on %d ranks in %d clusters\n", picture.width,
		picture.height, seconds, t->ranks, t->masters);
	free(picture.pixels);
	free(filtered.pixels);
}

static void
filter_synthetic(const struct team *t, const struct mask *m, int images, int size)
{
	struct work w = {.tasks = images, .reach = m->reach, .input = synthetic_input,
		.result = synthetic_result, .size = size};
	double seconds;

	w.synthetic = team_alloc((size_t)size * (size_t)size);
	seconds = run(t, m, &w);
	printf("gf: %d images of %d x %d, checksum %016llx\n", images, size, size,
		(unsigned long long)w.checksum);
	fflush(stdout);
	fprintf(stderr, "gf: %.3f s on %d ranks in %d clusters\n", seconds, t->ranks, t->masters);
	free(w.synthetic);
}

struct options {
	const char *in, *out, *sd;
	long images, size, mask;
};

static bool
parse(int argc, char **argv, struct options *o, struct mask *m)
{
	char *end;
	double sd;

	o->in = team_text(argc, argv, "--in");
	o->out = team_text(argc, argv, "--out");
	o->sd = team_text(argc, argv, "--sd");
	o->size = team_number(argc, argv, "--size", 256);
	o->images = team_number(argc, argv, "--images", 0);
	o->mask = team_number(argc, argv, "--mask", 7);
	sd = o->sd != NULL ? strtod(o->sd, &end) : 0.8;
	if ((o->sd != NULL && (*o->sd == '\0' || *end != '\0')) ||
		(o->in == NULL) != (o->out == NULL))
		return false;
	return o->size > 0 && o->size <= SIZE_MAX_PIXELS && o->images >= 0 &&
		o->images <= 1000000 && mask_make(m, o->mask, sd);
}

int
main(int argc, char **argv)
{
	struct options o;
	struct team t;
	struct mask m;

	MPI_Init(&argc, &argv);
	team_make(&t);
	if (!parse(argc, argv, &o, &m))
		team_usage(&t, "usage: gf --in FILE.pgm --out FILE.pgm [--mask N] [--sd D]\n       "
			"gf [--images N] [--size N] [--mask N] [--sd D]\n"
			"  mask: odd, 1 .. 31; sd: above 0\n");
	if (!t.is_global_master && t.is_local_master)
		local_master(&t, &m);
	else if (!t.is_global_master)
		slave(&t, &m);
	else if (o.in != NULL)
		filter_file(&t, &m, o.in, o.out);
	else
		filter_synthetic(&t, &m,
			(int)(o.images > 0 ? o.images : (long)PER_CLUSTER * t.masters),
			(int)o.size);
	team_free(&t);
	MPI_Finalize();
	return 0;
}
