/* SPDX-License-Identifier: MIT
 *
 * The servers of a cluster: the leader's has most. The process server opens the port of each,
 * before anything else runs, and gives it a handle that reads there. It keeps the port open
 * itself: whatever becomes of a server, no other process can be asked in its place, and what
 * clients say meanwhile waits for its successor, which is started at once.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/service.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/device/protocol.h>
#include <servers/file/protocol.h>
#include <servers/name/protocol.h>
#include <servers/rmem/protocol.h>
#include <servers/proc/agent.h>
#include <servers/proc/client.h>

#define SERVER_STACK (32 * 1024)
#define NOW 0			/* as a deadline: ask without waiting */
#define SPAN_NS 60000000000ull		/* in which SERVER_ENDS ends are too many */
#define VIRTIO_ENTROPY 4		/* numbers of devices: VIRTIO 1.1, section 5 */
#define VIRTIO_9P 9

static struct image image;		/* of the server that is being started */

/*
 * An empty process that is believed as a server is, that no program keeps from working, and whose
 * end is told. Its handle or -E_NAME.
 */
static long
make_server(void)
{
	long proc = kproc_create(), result = proc < 0 ? proc : kproc_badge((int)proc, BADGE_SERVER);

	if (result >= 0)
		result = kproc_priority((int)proc, PRIORITY_SERVER);
	if (result >= 0)
		result = kevent_bind(EVENT_PROC, (int)proc, BIT_SERVER);
	return result < 0 ? result : proc;
}

static uint32_t
kept_pages(const struct agent *a, const struct server *s)
{
	return s->port != FILE_PORT ? 1 :
		(FILE_KEPT_BYTES + a->here.page_bytes - 1) / a->here.page_bytes;
}

/* What all lives of a server have: its port, and pages. 0 or -E_NAME. */
static long
make_lasting(const struct agent *a, struct server *s)
{
	long result = s->in = (int)kmailbox_create(s->port);
	uint64_t at;

	if (result >= 0)
		result = s->kept = (int)kmemory_create((int)kept_pages(a, s));
	if (result < 0 || s->port != FILE_PORT)
		return result;
	result = kmem_alloc(SELF, SERVER_PIECES * sizeof(s->piece[0]), PAGE_READ | PAGE_WRITE, &at);
	if (result < 0)
		return result;
	s->piece = (struct memory_piece *)(uintptr_t)at;
	result = kmem_alloc(SELF, a->here.page_bytes, 0, &at);
	if (result >= 0)
		result = kpage_map(SELF, at, s->kept, 0, 1, PAGE_READ | PAGE_WRITE);
	if (result >= 0)
		s->memory = (struct lasting_memory *)(uintptr_t)at;
	return result;
}

/* --- memory that a server leaves to its successor --- */

/* A piece lies behind those before it. 0 or -E_NAME. */
static long
map_piece(const struct agent *a, const struct server *s, const struct memory_piece *p, uint32_t at)
{
	return kpage_map(s->proc, s->memory->at + (uint64_t)at * a->here.page_bytes, p->handle, 0,
		(int)p->pages, PAGE_READ | PAGE_WRITE);
}

/*
 * A new life has all pieces, in a range where as many pages have room as the cluster has. What the
 * one before wanted is not wanted any more. 0 or -E_NAME.
 */
static long
map_pieces(const struct agent *a, struct server *s)
{
	struct lasting_memory *m = s->memory;
	uint64_t total = 0;
	uint32_t at = 0;
	long result;

	if (m == NULL)
		return 0;
	kstats(STATS_FRAMES_TOTAL, &total);
	result = kmem_alloc(s->proc, total * a->here.page_bytes, 0, &m->at);
	for (uint32_t i = 0; i < s->pieces && result >= 0; i++) {
		result = map_piece(a, s, &s->piece[i], at);
		at += s->piece[i].pages;
	}
	m->wanted = m->pages = at;
	m->answered = m->asked;
	return result;
}

/* Pages that lie together, as many as there are up to `pages`. False: there are none. */
static bool
add_piece(const struct agent *a, struct server *s, uint32_t pages)
{
	struct memory_piece *p = &s->piece[s->pieces];
	long result = -E_NOMEM;

	if (s->pieces == SERVER_PIECES)
		return false;
	for (p->pages = pages; p->pages > 0 && result < 0; p->pages /= result < 0 ? 2 : 1)
		result = kmemory_create((int)p->pages);
	if (result < 0)
		return false;
	p->handle = (int)result;
	if (map_piece(a, s, p, s->memory->pages) < 0) {
		khandle_close(p->handle);
		return false;
	}
	s->pieces++;
	s->memory->pages += p->pages;
	return true;
}

/* The last piece goes, and its addresses stay the range's. */
static void
drop_piece(const struct agent *a, struct server *s)
{
	struct memory_piece *p = &s->piece[--s->pieces];
	uint64_t at, any;

	s->memory->pages -= p->pages;
	at = s->memory->at + (uint64_t)s->memory->pages * a->here.page_bytes;
	kpage_unmap(s->proc, at, (int)p->pages);
	kmem_alloc(s->proc, (uint64_t)p->pages * a->here.page_bytes, 0, &any);
	khandle_close(p->handle);
}

static void
give_memory(const struct agent *a, struct server *s)
{
	struct lasting_memory *m = s->memory;
	uint32_t asked = __atomic_load_n(&m->asked, __ATOMIC_ACQUIRE);
	uint32_t wanted = m->wanted;

	while (m->pages < wanted && add_piece(a, s, wanted - m->pages))
		continue;
	while (s->pieces > 0 && m->pages - s->piece[s->pieces - 1].pages >= wanted)
		drop_piece(a, s);
	m->wanted = m->pages;
	__atomic_store_n(&m->answered, asked, __ATOMIC_RELEASE);
	kfutex_wake((uintptr_t)&m->answered | FUTEX_SHARED, 1);
}

void
servers_give_memory(const struct agent *a)
{
	for (struct server *s = a->server; s < a->server + SERVERS; s++)
		if (s->memory != NULL && s->proc > 0)
			give_memory(a, s);
}

/* --- lives --- */

/* Handles in the server of its port, at which it reads, and of its page. 0 or -E_NAME. */
static long
give_lasting(const struct server *server, struct startup *s)
{
	long result = khandle_duplicate(server->in, server->proc, RIGHT_READ | RIGHT_WAIT);

	s->listens = (int32_t)result;
	if (result >= 0)
		result = s->kept = (int32_t)khandle_duplicate(server->kept, server->proc,
			RIGHT_READ | RIGHT_WRITE);
	return result;
}

/*
 * The devices are the server's alone: each was stopped with the handles and mappings of the one
 * before. 0 or -E_NAME.
 */
static long
give_devices(const struct server *server, struct startup *s)
{
	struct device_info info;

	for (uint32_t i = 0; i < server->devices; i++) {
		long device = kdevice_open(atoll_startup()->authority, server->device[i], &info),
			result = device;

		if (device >= 0)
			result = khandle_duplicate((int)device, server->proc,
				RIGHTS_ALL | HANDLE_MOVE);
		if (result < 0)
			return result;
		s->device[i] = (int32_t)result;
	}
	return 0;
}

/* Load a server into its process and start it on this core. 0 or -E_NAME. */
static long
load_server(const struct agent *a, struct server *server)
{
	struct startup s = {.version = STARTUP_VERSION, .bytes = sizeof(s),
	    .gate = atoll_startup()->gate, .cluster = a->here.cluster,
	    .device_class = server->device_class};
	struct copy c = {.stack_bytes = SERVER_STACK};
	struct stack_place place;
	struct context ctx;
	long result = give_lasting(server, &s);

	if (result >= 0)
		result = map_pieces(a, server);
	if (result >= 0)
		result = give_devices(server, &s);
	if (result >= 0)
		result = copy_make(&c, &image, server->proc);
	if (result < 0)
		return result;
	result = part_fill_stack(&c, &image,
		&(struct words){.program = {image.name, str_len(image.name)}}, &s, &place);
	copy_done(&c);
	if (result != 0)
		return result;
	server->base = c.base;
	context_init(&ctx, (uintptr_t)(c.base + image.plan.entry), (uintptr_t)place.sp, 0, 0);
	return kproc_start(server->proc, &ctx, (int)a->here.core);
}

/* The program is in `image`. 0 or -E_NAME, which is said. */
static long
begin_life(const struct agent *a, struct server *s)
{
	long result = make_server();

	s->proc = result < 0 ? 0 : (int)result;
	if (result >= 0)
		result = load_server(a, s);
	if (result < 0)
		console_print("atoll: cannot start %s: %s\n", s->name, error_text((int)result));
	else
		s->lives++;
	return result;
}

static long
open_program(const struct server *s)
{
	return image_open(&image, (struct text){s->name, str_len(s->name)}, true);
}

static long
start_server(const struct agent *a, struct server *s)
{
	long result = make_lasting(a, s);

	if (result >= 0)
		result = open_program(s);
	if (result < 0) {
		console_print("atoll: cannot start %s: %s\n", s->name, error_text((int)result));
		return result;
	}
	result = begin_life(a, s);
	image_close(&image);
	return result;
}

/*
 * Who asks for one that this machine does not have is to hear that (refuse_askers), and not to wait
 * for ever. 0 or -E_NAME.
 */
static long
stand_in(struct server *s)
{
	long result = s->in = (int)kmailbox_create(s->port);

	return result < 0 ? result : kevent_bind(EVENT_MAILBOX, s->in, BIT_SERVER);
}

/* --- devices --- */

/* Who is to drive a device: a server of its own, or the file server; NULL: nobody here does. */
static struct server *
driver_of(const struct device_info *info, struct server *servers)
{
	if (info->kind == DEVICE_UART_16550)
		return &servers[PROCESS_DEVICE_SERVER + DEVICE_CONSOLE];
	if (info->kind == DEVICE_VIRTIO && info->id == VIRTIO_ENTROPY)
		return &servers[PROCESS_DEVICE_SERVER + DEVICE_RANDOM];
	return info->kind == DEVICE_VIRTIO && info->id == VIRTIO_9P ?
		&servers[PROCESS_FILE_SERVER] : NULL;
}

/* Which devices there are for whom. */
static void
find_devices(struct server *servers)
{
	struct device_info info;
	long device = 0;

	for (int number = 0; device != -E_INVAL; number++) {
		struct server *s;
		uint32_t most;

		device = kdevice_open(atoll_startup()->authority, number, &info);
		if (device < 0)
			continue;
		khandle_close((int)device);
		s = driver_of(&info, servers);
		most = s == &servers[PROCESS_FILE_SERVER] ? STARTUP_DEVICES : 1;
		if (s != NULL && s->devices < most)
			s->device[s->devices++] = (uint8_t)number;
	}
}

static bool
archive_has(const char *name)
{
	struct file f;

	return file_open(name, &f) == 0;
}

/* What the leader's cluster has, by the files of the archive. */
static void
name_leaders(const struct agent *a, struct server *servers)
{
	bool has_devices = archive_has(DEVICE_SERVER);

	servers[PROCESS_NAME_SERVER].port = NAME_PORT;
	servers[PROCESS_NAME_SERVER].name = a->has_names ? NAME_SERVER : NULL;
	if (has_devices || archive_has(FILE_SHARES))
		find_devices(servers);
	for (uint32_t class = 0; class < DEVICE_CLASSES; class++) {
		struct server *s = &servers[PROCESS_DEVICE_SERVER + class];

		s->port = (int)DEVICE_PORT(class);
		s->device_class = class;
		s->name = has_devices && s->devices > 0 ? DEVICE_SERVER : NULL;
		s->is_refused = s->name == NULL;
	}
}

int
servers_start(struct agent *a)
{
	static struct server servers[SERVERS];
	const struct file_place *place;
	long result = 0;

	a->server = servers;
	for (uint32_t i = 0; (place = file_place(i)) != NULL; i++)
		if (place->cluster < CLUSTERS_MAX)
			a->parts |= (uint64_t)1 << place->cluster;
	if (a->here.cluster == PROC_LEADER)
		name_leaders(a, servers);
	servers[PROCESS_FILE_SERVER].port = FILE_PORT;
	servers[PROCESS_FILE_SERVER].name = a->has_files && (a->here.cluster == PROC_LEADER ||
		(a->parts >> a->here.cluster & 1) != 0) ? FILE_SERVER : NULL;
	servers[PROCESS_RMEM_SERVER].port = RMEM_PORT;
	servers[PROCESS_RMEM_SERVER].name = archive_has(RMEM_SERVER) ? RMEM_SERVER : NULL;
	servers[PROCESS_RMEM_SERVER].is_refused = servers[PROCESS_RMEM_SERVER].name == NULL;
	for (int i = 0; i < SERVERS && result >= 0; i++)
		if (servers[i].name != NULL)
			result = start_server(a, &servers[i]);
		else if (servers[i].is_refused)
			result = stand_in(&servers[i]);
	return result < 0 ? (int)result : 0;
}

/* --- ends --- */

/* Why it has ended, and where, if the kernel has ended it. */
static void
say_end(const struct server *s, const struct proc_status *status, const char *then)
{
	char place[CRASH_PLACE];
	struct crash_info i = {0};

	if (status->cause == CRASH_NONE || status->cause == CRASH_KILLED ||
		kcrash_info(s->proc, &i) < 0) {
		console_print("atoll: the server %s %s %d, %s\n", s->name, status->cause ==
			CRASH_KILLED ? "was ended by signal" : "has ended with status",
			status->status & 255, then);
		return;
	}
	crash_place(place, &image, s->base, i.pc);
	console_print("atoll: the server %s crashed: %s, address 0x%lx, %s, %s\n", s->name,
		crash_text(&i), (unsigned long)i.addr, place, then);
}

/* It has ended by itself. Too often? */
static bool
has_ended_too_often(struct server *s)
{
	uint64_t now = 0;

	kclock(&now);
	s->ended[s->ends++ % SERVER_ENDS] = now;
	return s->ends >= SERVER_ENDS && now - s->ended[s->ends % SERVER_ENDS] < SPAN_NS;
}

/* Its end is taken from the kernel, and its successor begins. False: it has none. */
static bool
begin_next_life(const struct agent *a, struct server *s, const struct proc_status *status)
{
	bool is_last = !s->is_asked_to_end && has_ended_too_often(s), is_open;

	s->is_asked_to_end = false;
	is_open = open_program(s) == 0;
	say_end(s, status, is_last ? "and with it the machine" :
		"and is started again");
	khandle_close(s->proc);
	s->proc = 0;
	if (is_open && !is_last)
		is_open = begin_life(a, s) >= 0;
	image_close(&image);
	return is_open && !is_last;
}

static void
refuse_askers(const struct server *s)
{
	const struct service_kind memory = RMEM_SERVICE(0);
	const struct service_kind device = DEVICE_SERVICE(s->device_class);
	bool is_memory = s->port == RMEM_PORT;

	service_refuse(s->in, is_memory ? &memory : &device, is_memory ? -E_NOENT : -DEVICE_ENXIO,
		BIT_SERVER);
}

bool
servers_look(struct agent *a)
{
	struct proc_status status;
	bool is_well = true;

	for (struct server *s = a->server; s < a->server + SERVERS && is_well; s++)
		if (s->proc > 0 && kproc_wait(s->proc, &status, NOW) >= 0)
			is_well = begin_next_life(a, s, &status);
		else if (s->is_refused)
			refuse_askers(s);
	return is_well;
}

int
servers_kill(const struct agent *a, int number, int signal)
{
	struct server *s = a->server != NULL && number >= 0 && number < SERVERS ?
		&a->server[number] : NULL;

	if (s == NULL || s->proc == 0)
		return -E_SRCH;
	if (signal != 0) {
		s->is_asked_to_end = true;
		kproc_kill(s->proc, signal);
	}
	return (int)s->lives;
}
