/* SPDX-License-Identifier: MIT
 *
 * Starting a program in a process of its own: a job of one rank, whose data nobody else sees.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/proc/child.h>
#include <servers/proc/images.h>
#include <servers/proc/limits.h>
#include <servers/proc/personality.h>
#include <servers/proc/ranks.h>

#define FILES "files/"		/* of the archive, that programs find in the root */
#define NS_PER_US 1000
#define NOW 0			/* as a deadline: ask without waiting */
#define STACK_TOP (8 * 1024)	/* of the stack, that is there from the start */
#define STACK_LEAST (56 * 1024)	/* of the rest, which comes when it is touched */
#define STACK_MOST (2048 * 1024 - STACK_TOP)
#define STACK_PART 8		/* of the free memory */
#define SHARED_BYTES (12 * 1024)	/* the MPI library's, of its only rank */

/* What is being started. */
struct birth {
	struct agent *a;
	struct member *member;
	const struct spawn *q;
	int proc;
	struct image *image;
	/* struct job_control, its rank, its place, what it inherits, its path */
	struct window control;
	struct startup startup;
};

static uint64_t
page_up(const struct birth *b, uint64_t bytes)
{
	uint64_t page = b->a->here.page_bytes;

	return (bytes + page - 1) / page * page;
}

static struct job_control *
control_of(const struct birth *b)
{
	return (struct job_control *)(void *)b->control.memory;
}

#define TABLES (sizeof(struct job_control) + sizeof(struct job_rank) + sizeof(struct placement))

static int
make_control(struct birth *b, struct personality_info *info)
{
	uint64_t table = sizeof(struct job_control) + sizeof(struct job_rank),
		page = b->a->here.page_bytes;
	size_t path = str_len(b->q->path) + 1, bytes = TABLES + b->q->inherit_bytes + path;
	const struct placement place = {.cluster = (uint16_t)b->a->here.cluster};
	int result = personality_place(b->proc, page_up(b, bytes), info);

	b->control.addr = info->control;
	if (result == 0)
		result = window_open(&b->control, b->proc, page_up(b, bytes) / page, page);
	if (result != 0)
		return result;
	*control_of(b) = (struct job_control){.ranks = 1};
	memcpy(b->control.memory + table, &place, sizeof(place));
	memcpy(b->control.memory + TABLES, b->q->inherit, b->q->inherit_bytes);
	memcpy(b->control.memory + bytes - path, b->q->path, path);
	b->startup.control = b->control.addr;
	b->startup.placement = b->control.addr + table;
	return 0;
}

/* What the process has beside the program. */
static long
make_surroundings(struct birth *b)
{
	struct personality_info info = {.stacks = 1, .pid = b->member->pid, .parent = b->q->parent,
		.inherit_bytes = b->q->inherit_bytes, .is_child = 1};
	long result = make_control(b, &info);

	b->startup.shared_bytes = page_up(b, SHARED_BYTES);
	if (result >= 0)
		result = kmem_alloc(b->proc, b->startup.shared_bytes,
			PAGE_READ | PAGE_WRITE | (b->q->is_prepaged ? 0 : PAGE_LAZY),
			&b->startup.shared);
	info.control = b->control.addr;
	info.program = b->control.addr + TABLES + info.inherit_bytes;
	info.inherit = info.inherit_bytes > 0 ? b->control.addr + TABLES : 0;
	return result < 0 ? result : personality_map(b->proc, &info);
}

static uint64_t
lazy_stack(const struct birth *b)
{
	uint64_t page = b->a->here.page_bytes, share = part_share_of_memory(STACK_PART, page);

	share = share < STACK_LEAST ? STACK_LEAST : share > STACK_MOST ? STACK_MOST : share;
	return page_up(b, share);
}

/* The stack that the program begins with; *sp is where that begins. */
static int
fill_stack(struct birth *b, struct copy *c, uint64_t *sp)
{
	struct stack_place place;
	int result = part_fill_stack(c, b->image, &b->q->words, &b->startup, &place);

	*sp = place.sp;
	control_of(b)->rank[0] = (struct job_rank){.stack_first = c->stack - c->lazy_bytes,
		.stack_limit = c->stack + c->stack_bytes, .startup = place.startup};
	return result;
}

static long
start(const struct birth *b, const struct copy *c, uint64_t sp)
{
	struct context ctx;

	context_init(&ctx, (uintptr_t)(c->base + b->image->plan.entry), (uintptr_t)sp, 0, 0);
	return kproc_start(b->proc, &ctx, ANY_CORE);
}

/*
 * A process that is counted from its start, as are all that a process makes that has been asked
 * for: of us this is asked when a program starts the first, and of none of our threads.
 */
static long
create_counted(void)
{
	static bool is_asked;
	struct thread_counts counts;

	if (!is_asked)
		kthread_stats(SELF, UINT32_MAX, &counts);
	is_asked = true;
	return kproc_create();
}

long
child_admit(struct agent *a, struct member *m, int proc)
{
	long result = kevent_bind(EVENT_PROC, proc, BIT_CHILD);

	m->since = agent_hundredths();
	if (result >= 0)
		result = kproc_badge(proc, m->badge);
	return result < 0 ? result : agent_limit_process(a, m, proc);
}

static long
make_process(struct birth *b)
{
	struct copy c = {.stack_bytes = page_up(b, STACK_TOP), .lazy_bytes = lazy_stack(b),
		.is_prepaged = b->q->is_prepaged};
	uint64_t sp = 0;
	long result = child_admit(b->a, b->member, b->proc);

	if (result >= 0)
		result = copy_make(&c, b->image, b->proc);
	if (result < 0)
		return result;
	result = make_surroundings(b);
	if (result >= 0)
		result = fill_stack(b, &c, &sp);
	copy_done(&c);
	if (result >= 0)
		result = start(b, &c, sp);
	if (b->control.pages != 0)
		window_close(&b->control);
	return result;
}

void
child_name(struct member *m, const char *path)
{
	const char *name = path;

	for (const char *p = path; *p != 0; p++)
		if (*p == '/')
			name = p + 1;
	str_copy(m->name, sizeof(m->name), name);
}

int
child_find_image(const char *path, struct image **image)
{
	char name[IMAGE_NAME_MAX + 1];
	int result = images_get(path, image);

	if (result == -E_NOENT && str_len(path) <= IMAGE_NAME_MAX - str_len(FILES)) {
		str_copy(name, sizeof(name), FILES);
		str_copy(name + str_len(FILES), sizeof(name) - str_len(FILES), path);
		result = images_get(name, image);
	}
	return result == -E_INVAL ? -PROCESS_ENOEXEC : result;
}

static int
try_start(struct agent *a, struct member *m, const struct spawn *q)
{
	const struct startup *own = atoll_startup();
	struct birth b = {.a = a, .member = m, .q = q,
		.startup = {.version = STARTUP_VERSION, .bytes = sizeof(struct startup),
			.gate = own->gate, .cluster = a->here.cluster, .job = m->job, .ranks = 1,
			.policy = MAP_COMPACT, .local_ranks = 1, .base_port = NO_PORTS}};
	long result = q->brought != NULL ? brought_open(q->brought, &b.image) :
		child_find_image(q->path, &b.image);

	if (result != 0)
		return result == -E_INVAL ? -PROCESS_ENOEXEC : (int)result;
	result = b.proc = (int)create_counted();
	if (result >= 0)
		result = make_process(&b);
	if (q->brought != NULL)
		brought_close(q->brought);
	if (result < 0) {
		/* nothing else names it: it ends */
		if (b.proc >= 0)
			khandle_close(b.proc);
		return (int)result;
	}
	m->proc = b.proc;
	child_name(m, q->path);
	return 0;
}

/* What it would have had is for the others. */
static int
limited(int result)
{
	if (result < 0)
		limits_divide(0);
	return result;
}

int
child_start(struct agent *a, struct member *m, const struct spawn *q)
{
	int result = try_start(a, m, q);

	if (result == -E_NOMEM && images_drop())
		result = try_start(a, m, q);
	return limited(result);
}

static int
try_form(struct agent *a, struct member *m, int parent)
{
	long proc = create_counted(), result;

	if (proc < 0)
		return (int)proc;
	result = child_admit(a, m, (int)proc);
	if (result >= 0)
		result = khandle_duplicate((int)proc, parent, RIGHT_WRITE);
	if (result < 0)
		khandle_close((int)proc);
	else
		m->proc = (int)proc;
	return (int)result;
}

int
child_form(struct agent *a, struct member *m, int parent)
{
	int result = try_form(a, m, parent);

	if (result == -E_NOMEM && images_drop())
		result = try_form(a, m, parent);
	return limited(result);
}

void
child_end_bound(struct agent *a, const struct member *parent)
{
	const struct mail_sender who = {a->here.cluster, parent->badge};
	struct member *m = a->family.member;

	while ((m = family_bound(&a->family, m, &who)) != NULL)
		kproc_kill(m++->proc, 0);
}

/* A time in some bits and a shift above these. */
static uint64_t
unpacked(uint32_t packed, uint32_t bits)
{
	return (uint64_t)(packed & ((1u << bits) - 1)) << (packed >> bits);
}

/* The time that it ran, which the kernel knows, and what it has said of its children. */
static void
used_split(const struct member *m, struct proc_status *status)
{
	uint32_t said = m->status.used, shift = 0;
	uint64_t us = unpacked(status->used, PROC_USED_BITS) / NS_PER_US;

	if (status->cause == CRASH_NONE) {
		said = status->status > 0 ? (uint32_t)status->status >> PROCESS_STATUS_BITS : 0;
		status->status &= PROCESS_STATUS;
	}
	for (us += unpacked(said, PROCESS_USED_BITS); us >> PROCESS_USED_BITS != 0; us >>= 1)
		shift++;
	status->used = shift << PROCESS_USED_BITS | (uint32_t)us;
}

void
child_reap(struct agent *a,
	void (*ended)(struct member *m, const struct mail_sender *parent))
{
	struct proc_status status;

	for (struct member *m = a->family.member; m < a->family.member + a->family.used; m++) {
		struct mail_sender parent = m->parent;

		if (m->state != MEMBER_RUNS || m->is_part || kproc_wait(m->proc, &status, NOW) < 0)
			continue;
		used_split(m, &status);
		if (m->part != NULL)
			ranks_end(a, m, &status);
		else
			khandle_close(m->proc);
		child_end_bound(a, m);
		family_end(&a->family, m, &status);
		limits_divide(0);
		ended(m, &parent);
	}
}

void
child_end_all(struct agent *a, const struct mail_sender *root)
{
	struct member *m = a->family.member;

	while ((m = family_of_root(&a->family, m, root)) != NULL)
		kproc_kill(m++->proc, 0);
}
