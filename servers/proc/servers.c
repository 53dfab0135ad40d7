/* SPDX-License-Identifier: MIT
 *
 * The servers of the leader's cluster. The process server opens the port of each, before anything
 * else runs, and gives it a handle that reads there. It keeps the port open itself: whatever
 * becomes of a server, no other process can be asked in its place.
 */
#include <context.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <base/str.h>
#include <servers/device/protocol.h>
#include <servers/proc/agent.h>

#define SERVER_STACK (32 * 1024)
#define NOW 0			/* as a deadline: ask without waiting */
#define PATIENCE_NS 2000000000ull	/* for a device server */
#define VIRTIO_ENTROPY 4		/* numbers of devices: VIRTIO 1.1, section 5 */
#define VIRTIO_9P 9

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

/* The handle by which a server reads at its port, or -E_NAME. */
static long
give_port(int proc, int port)
{
	long own = kmailbox_create(port);

	return own < 0 ? own : khandle_duplicate((int)own, proc, RIGHT_READ | RIGHT_WAIT);
}

static long
give_devices(const struct server *server, struct startup *s)
{
	for (int i = 0; i < STARTUP_DEVICES && server->device[i] != 0; i++) {
		long result = khandle_duplicate(server->device[i], server->proc,
			RIGHTS_ALL | HANDLE_MOVE);

		if (result < 0)
			return result;
		s->device[i] = (int32_t)result;
	}
	return 0;
}

/* Load a server into its process and start it on this core. 0 or -E_NAME. */
static long
load_server(const struct agent *a, struct image *im, const struct server *server, int port)
{
	struct startup s = {.version = STARTUP_VERSION, .bytes = sizeof(s),
	    .gate = atoll_startup()->gate, .cluster = a->here.cluster};
	struct copy c = {.stack_bytes = SERVER_STACK};
	struct stack_place place;
	struct context ctx;
	int proc = server->proc;
	long result = give_port(proc, port);

	if (result < 0)
		return result;
	s.listens = (int32_t)result;
	s.device_class = server->device_class;
	result = give_devices(server, &s);
	if (result < 0)
		return result;
	result = copy_make(&c, im, proc);
	if (result != 0)
		return result;
	result = part_fill_stack(&c, im,
		&(struct words){.program = {im->name, str_len(im->name)}}, &s, &place);
	copy_done(&c);
	if (result != 0)
		return result;
	context_init(&ctx, (uintptr_t)(c.base + im->plan.entry), (uintptr_t)place.sp, 0, 0);
	return kproc_start(proc, &ctx, (int)a->here.core);
}

int
agent_start_server(struct agent *a, struct server *s, int port)
{
	static struct image im;
	long result = image_open(&im, (struct text){s->name, str_len(s->name)}, true);

	if (result != 0)
		return (int)result;
	result = s->proc = (int)make_server();
	if (result >= 0)
		result = load_server(a, &im, s, port);
	image_close(&im);
	if (result < 0)
		console_print("atoll: cannot start %s: %s\n", s->name, error_text(result));
	return result < 0 ? (int)result : 0;
}

/* Who is to drive a device: a server of its own, or the file server; NULL: nobody here does. */
static struct server *
driver_of(const struct device_info *info, struct server *servers, struct server *files)
{
	if (info->kind == DEVICE_UART_16550)
		return &servers[DEVICE_CONSOLE];
	if (info->kind == DEVICE_VIRTIO && info->id == VIRTIO_ENTROPY)
		return &servers[DEVICE_RANDOM];
	return info->kind == DEVICE_VIRTIO && info->id == VIRTIO_9P ? files : NULL;
}

void
agent_open_devices(struct server *servers, struct server *files)
{
	struct device_info info;
	long device = 0;

	for (int number = 0; device != -E_INVAL; number++) {
		struct server *s;
		int i = 0;

		device = kdevice_open(atoll_startup()->authority, number, &info);
		if (device < 0)
			continue;
		s = driver_of(&info, servers, files);
		while (s != NULL && i < STARTUP_DEVICES && s->device[i] != 0)
			i++;
		if (s == NULL || i == STARTUP_DEVICES || (s != files && i > 0))
			khandle_close((int)device);
		else
			s->device[i] = (int)device;
	}
}

void
agent_start_devices(struct agent *a, struct server *servers)
{
	for (uint32_t class = 0; class < DEVICE_CLASSES; class++) {
		struct server *s = &servers[class];

		if (s->device[0] == 0)
			continue;
		s->name = DEVICE_SERVER;
		s->device_class = class;
		agent_start_server(a, s, (int)DEVICE_PORT(class));
	}
}

/* A device server waits for none but its device: it takes the message soon, or has ended. */
static void
forget_device(uint32_t class, uint32_t badge)
{
	struct device_request q = {.magic = DEVICE_MAGIC, .op = DEVICE_FORGET, .handle = badge};
	long out = kmailbox_open(DEVICE_CLUSTER, (int)DEVICE_PORT(class));
	uint64_t now;

	if (out < 0)
		return;
	kclock(&now);
	while (kmailbox_write((int)out, &q) == -E_AGAIN)
		if (kmailbox_wait((int)out, ANY_SOURCE_CLUSTER, now + PATIENCE_NS) < 0)
			break;
	khandle_close((int)out);
}

void
agent_forget_devices(const struct server *servers, uint32_t badge)
{
	for (uint32_t class = 0; class < DEVICE_CLASSES; class++)
		if (servers[class].proc != 0)
			forget_device(class, badge);
}

bool
agent_server_has_ended(const struct server *s)
{
	struct proc_status status;

	if (s->proc <= 0 || kproc_wait(s->proc, &status, NOW) < 0)
		return false;
	console_print("atoll: the server %s has ended, and with it the machine\n", s->name);
	return true;
}
