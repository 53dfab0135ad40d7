/* SPDX-License-Identifier: MIT
 *
 * Stretches, a part of count.c: how many instructions a kernel core executes from one point to the
 * next. A point is a look at the queue of active messages (the first instruction of a function
 * given by `point`), a wait for an interrupt, and user mode, which an interrupt ends: between two
 * points nobody else is served. What runs before a hart's first point is its start and is no
 * stretch.
 *
 *	,serve=HART:HART...,point=HEX...,part=HEX...
 *
 * `serve` names the harts that are watched; a `part` is the first instruction of a function by
 * which stretches are told apart. A stretch belongs to the part that executed most of its
 * instructions (what it calls counts for it), and to the phase in which it began: the number of the
 * last label marker that any hart executed. One line per phase and part: the longest stretch, with
 * the addresses of its first run of instructions and its last, and with the runs that took most of
 * it.
 */
#define STRETCH_POINTS_MAX 8
#define STRETCH_PARTS_MAX 1024
#define STRETCH_PHASES_MAX 16
#define STRETCH_TRAIL 65536		/* runs of a stretch that are remembered: the last */
#define STRETCH_TOP 64
#define STRETCH_SHARES 8		/* parts of one stretch */

enum stretch_kind { STRETCH_PLAIN, STRETCH_POINT, STRETCH_WAIT, STRETCH_PART };

struct stretch {
	uint64_t insns;
	uint64_t began;
	uint32_t phase;
	uint32_t open;
	uint32_t started;		/* the hart has passed a point */
	uint32_t part;			/* the last that it entered */
	struct { uint32_t part; uint64_t insns; } share[STRETCH_SHARES];
	uint64_t runs;			/* that it executed */
	struct run **trail;
};

struct stretch_worst {
	uint64_t insns, began, ended;
	uint64_t seen;			/* instructions of the runs that are remembered */
	unsigned hart;
	struct { uint64_t pc, insns; } top[STRETCH_TOP];
};

static struct {
	uint64_t point[STRETCH_POINTS_MAX], part[STRETCH_PARTS_MAX];	/* part[0]: none */
	unsigned points, parts;
	uint32_t phase;
	uint32_t label[STRETCH_PHASES_MAX];
	struct stretch *of[HARTS_MAX];
	struct stretch_worst *worst[STRETCH_PHASES_MAX];	/* [parts] */
} stretches = {.parts = 1};

/* What a run means to stretches. */
static void
stretch_classify(struct run *run, uint32_t last_word)
{
	run->stretch_kind = last_word == WFI ? STRETCH_WAIT : STRETCH_PLAIN;
	for (unsigned i = 0; i < stretches.points; i++)
		if (run->vaddr == stretches.point[i])
			run->stretch_kind = STRETCH_POINT;
	for (unsigned i = 1; i < stretches.parts; i++)
		if (run->vaddr == stretches.part[i]) {
			run->stretch_kind = STRETCH_PART;
			run->stretch_part = (uint16_t)i;
		}
}

/* Runs that are alike but lie apart in the emulator's memory stay apart. */
static int
by_address(const void *a, const void *b)
{
	const struct run *x = *(struct run *const *)a, *y = *(struct run *const *)b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->insns != y->insns)
		return x->insns < y->insns ? -1 : 1;
	return (uintptr_t)x < (uintptr_t)y ? -1 : x != y;
}

/* The place of `insns` among the top ones; the least of them goes. */
static void
stretch_rank(struct stretch_worst *w, uint64_t pc, uint64_t insns)
{
	unsigned i = STRETCH_TOP;

	while (i > 0 && w->top[i - 1].insns < insns)
		i--;
	if (i == STRETCH_TOP)
		return;
	memmove(&w->top[i + 1], &w->top[i], (STRETCH_TOP - 1 - i) * sizeof(w->top[0]));
	w->top[i].pc = pc;
	w->top[i].insns = insns;
}

/* Which runs took how much of a stretch; sorts its trail. */
static void
stretch_profile(struct stretch *s, struct stretch_worst *w)
{
	size_t n = s->runs < STRETCH_TRAIL ? (size_t)s->runs : STRETCH_TRAIL;

	memset(w->top, 0, sizeof(w->top));
	w->seen = 0;
	for (size_t i = 0; i < n; i++)
		w->seen += s->trail[i]->insns;
	qsort(s->trail, n, sizeof(s->trail[0]), by_address);
	for (size_t i = 0, first = 0; i < n; i++)
		if (i + 1 == n || s->trail[i + 1] != s->trail[i]) {
			stretch_rank(w, s->trail[i]->vaddr, (i + 1 - first) * s->trail[i]->insns);
			first = i + 1;
		}
}

static uint32_t
stretch_owner(const struct stretch *s)
{
	unsigned most = 0;

	for (unsigned i = 1; i < STRETCH_SHARES; i++)
		if (s->share[i].insns > s->share[most].insns)
			most = i;
	return s->share[most].part;
}

static void
stretch_end(struct stretch *s, unsigned hart)
{
	struct stretch_worst *w;

	if (!s->open)
		return;
	s->open = 0;
	if (!s->started)
		return;
	w = &stretches.worst[s->phase][stretch_owner(s)];
	if (s->insns <= w->insns)
		return;
	w->insns = s->insns;
	w->began = s->began;
	w->ended = s->trail[(s->runs - 1) % STRETCH_TRAIL]->vaddr;
	w->hart = hart;
	stretch_profile(s, w);
}

static void
stretch_begin(struct stretch *s, const struct run *run)
{
	memset(s->share, 0, sizeof(s->share));
	s->open = 1;
	s->insns = s->runs = s->part = 0;
	s->began = run->vaddr;
	s->phase = stretches.phase;
}

/* The instructions of a run belong to the part that was entered last. */
static void
stretch_share(struct stretch *s, uint32_t insns)
{
	unsigned i = 0;

	while (i < STRETCH_SHARES - 1 && s->share[i].part != s->part && s->share[i].insns != 0)
		i++;
	s->share[i].part = s->share[i].insns == 0 ? s->part : s->share[i].part;
	s->share[i].insns += insns;
}

static void
stretch_run(struct stretch *s, unsigned hart, struct run *run)
{
	if (!run->kernel || run->stretch_kind == STRETCH_POINT)
		stretch_end(s, hart);
	if (!run->kernel)
		return;
	if (!s->open)
		stretch_begin(s, run);
	s->started |= run->stretch_kind == STRETCH_POINT;
	if (run->stretch_kind == STRETCH_PART)
		s->part = run->stretch_part;
	s->insns += run->insns;
	stretch_share(s, run->insns);
	s->trail[s->runs++ % STRETCH_TRAIL] = run;
	if (run->stretch_kind == STRETCH_WAIT)
		stretch_end(s, hart);
}

/* A label marker begins a phase of the whole machine. */
static void
stretch_phase(uint32_t label)
{
	uint32_t now = __atomic_load_n(&stretches.phase, __ATOMIC_RELAXED);

	if (stretches.label[now] == label || now + 1 == STRETCH_PHASES_MAX)
		return;
	stretches.label[now + 1] = label;
	__atomic_store_n(&stretches.phase, now + 1, __ATOMIC_RELAXED);
}

static void
stretch_print(uint32_t phase, uint32_t part)
{
	const struct stretch_worst *w = &stretches.worst[phase][part];

	fprintf(out, "{\"stretch\":%llu,\"label\":%u,\"part\":\"%llx\",\"began\":\"%llx\","
		"\"ended\":\"%llx\",\"hart\":%u,\"seen\":%llu,\"top\":[",
		(unsigned long long)w->insns, stretches.label[phase],
		(unsigned long long)stretches.part[part], (unsigned long long)w->began,
		(unsigned long long)w->ended, w->hart, (unsigned long long)w->seen);
	for (unsigned i = 0; i < STRETCH_TOP && w->top[i].insns != 0; i++)
		fprintf(out, "%s[\"%llx\",%llu]", i ? "," : "", (unsigned long long)w->top[i].pc,
			(unsigned long long)w->top[i].insns);
	fprintf(out, "]}\n");
}

static void
stretches_print(void)
{
	for (uint32_t phase = 0; phase <= stretches.phase; phase++)
		for (uint32_t part = 0; stretches.worst[phase] != NULL && part < stretches.parts;
			part++)
			if (stretches.worst[phase][part].insns != 0)
				stretch_print(phase, part);
}

static void
stretch_watch(const char *harts)
{
	for (const char *at = harts; *at != 0; at += strcspn(at, ":"), at += *at == ':') {
		unsigned long hart = strtoul(at, NULL, 10);

		if (hart >= HARTS_MAX || stretches.of[hart] != NULL)
			continue;
		stretches.of[hart] = calloc(1, sizeof(struct stretch));
		if (stretches.of[hart] == NULL ||
			(stretches.of[hart]->trail = calloc(STRETCH_TRAIL, sizeof(struct run *))) ==
			NULL)
			abort();
	}
	for (unsigned i = 0; i < STRETCH_PHASES_MAX; i++)
		if (stretches.worst[i] == NULL &&
			(stretches.worst[i] =
			calloc(STRETCH_PARTS_MAX, sizeof(struct stretch_worst))) == NULL)
			abort();
}

static void
stretch_option(const char *option)
{
	if (strncmp(option, "point=", 6) == 0 && stretches.points < STRETCH_POINTS_MAX)
		stretches.point[stretches.points++] = strtoull(option + 6, NULL, 16);
	if (strncmp(option, "part=", 5) == 0 && stretches.parts < STRETCH_PARTS_MAX)
		stretches.part[stretches.parts++] = strtoull(option + 5, NULL, 16);
	if (strncmp(option, "serve=", 6) == 0)
		stretch_watch(option + 6);
}
