/* SPDX-License-Identifier: MIT
 *
 * A virtio device: see atoll/virtio.h. A slot has two descriptors, one for what the device reads
 * and one for what it writes; the number of a request is that of its first one.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/virtio.h>
#include <usercpu/device.h>

enum {
	MAGIC = 0x00, VERSION = 0x04, DRIVER_FEATURES = 0x20, DRIVER_FEATURES_SELECT = 0x24,
	QUEUE_SELECT = 0x30, QUEUE_SIZE_MAX = 0x34, QUEUE_SIZE = 0x38, QUEUE_READY = 0x44,
	QUEUE_NOTIFY = 0x50, INTERRUPT_STATUS = 0x60, INTERRUPT_ACKNOWLEDGE = 0x64, STATUS = 0x70,
	QUEUE_DESCRIPTORS = 0x80, QUEUE_DRIVER = 0x90, QUEUE_DEVICE = 0xa0, CONFIGURATION = 0x100
};

#define VIRTIO_MAGIC 0x74726976
#define VERSION_SPOKEN 2
#define STATUS_ACKNOWLEDGE 1
#define STATUS_DRIVER 2
#define STATUS_DRIVER_OK 4
#define STATUS_FEATURES_OK 8
#define FEATURE_VERSION_1 1		/* of the second word */
#define QUEUE (2 * VIRTIO_SLOTS)	/* descriptors */
#define NEXT 1
#define WRITTEN 2

struct descriptor {
	uint64_t address;
	uint32_t bytes;
	uint16_t flags;
	uint16_t next;
};

/* The first page of the arena. */
struct virtio_queue {
	struct descriptor descriptor[QUEUE];
	struct {
		uint16_t flags, index, ring[QUEUE], event;
	} available;
	_Alignas(64) struct {
		uint16_t flags, index;
		struct {
			uint32_t id, bytes;
		} ring[QUEUE];
	} used;
};

static volatile uint32_t *
word(const struct virtio *v, unsigned offset)
{
	return (volatile uint32_t *)(volatile void *)(v->at + offset);
}

static uint64_t
address_of(const struct virtio *v, const void *in_arena)
{
	return v->address + (uint64_t)((const char *)in_arena - (const char *)v->queue);
}

static void
set_address(const struct virtio *v, unsigned offset, const void *in_queue)
{
	uint64_t at = address_of(v, in_queue);

	*word(v, offset) = (uint32_t)at;
	*word(v, offset + 4) = (uint32_t)(at >> 32);
}

int
registers_map(int device, int bit, volatile unsigned char **at)
{
	struct cluster_info info;
	uint64_t addr;
	long result;

	kcluster_info(&info);
	result = kmem_alloc(SELF, info.page_bytes, 0, &addr);
	if (result >= 0)
		result = kpage_map(SELF, (unsigned long)addr, device, 0, 1, PAGE_READ | PAGE_WRITE);
	if (result >= 0)
		result = kevent_bind(EVENT_INTERRUPT, device, bit);
	if (result < 0)
		return (int)result;
	*at = (volatile unsigned char *)(uintptr_t)addr;
	return 0;
}

/* The arena: memory that lies in one piece. */
static long
make_arena(struct virtio *v, uint32_t pages, size_t page)
{
	long memory = kmemory_create((int)pages), result = memory;
	uint64_t at;

	if (memory >= 0)
		result = kmem_alloc(SELF, pages * page, 0, &at);
	if (result >= 0)
		result = kpage_map(SELF, (unsigned long)at, (int)memory, 0, (int)pages,
			PAGE_READ | PAGE_WRITE);
	if (result >= 0)
		result = kdevice_memory(v->device, (int)memory, &v->address);
	if (result < 0)
		return result;
	khandle_close((int)memory);
	v->queue = (struct virtio_queue *)(uintptr_t)at;
	return 0;
}

static int
negotiate(const struct virtio *v, uint32_t features)
{
	if (*word(v, MAGIC) != VIRTIO_MAGIC || *word(v, VERSION) != VERSION_SPOKEN)
		return -E_NOENT;
	*word(v, STATUS) = 0;
	*word(v, STATUS) = STATUS_ACKNOWLEDGE;
	*word(v, STATUS) = STATUS_ACKNOWLEDGE | STATUS_DRIVER;
	*word(v, DRIVER_FEATURES_SELECT) = 0;
	*word(v, DRIVER_FEATURES) = features;
	*word(v, DRIVER_FEATURES_SELECT) = 1;
	*word(v, DRIVER_FEATURES) = FEATURE_VERSION_1;
	*word(v, STATUS) = STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK;
	*word(v, QUEUE_SELECT) = 0;
	return (*word(v, STATUS) & STATUS_FEATURES_OK) != 0 && *word(v, QUEUE_SIZE_MAX) >= QUEUE ?
		0 : -E_NOENT;
}

int
virtio_begin(struct virtio *v, const struct virtio_setup *setup, unsigned char **arena)
{
	struct cluster_info info;
	long result;

	kcluster_info(&info);
	*v = (struct virtio){.device = setup->device, .at = setup->at};
	result = negotiate(v, setup->features);
	if (result >= 0)
		result = make_arena(v, setup->pages, info.page_bytes);
	if (result < 0)
		return (int)result;
	*word(v, QUEUE_SIZE) = QUEUE;
	set_address(v, QUEUE_DESCRIPTORS, v->queue->descriptor);
	set_address(v, QUEUE_DRIVER, &v->queue->available);
	set_address(v, QUEUE_DEVICE, &v->queue->used);
	*word(v, QUEUE_READY) = 1;
	*word(v, STATUS) = STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK |
		STATUS_DRIVER_OK;
	*arena = (unsigned char *)v->queue + info.page_bytes;
	return 0;
}

void
virtio_configuration(const struct virtio *v, unsigned offset, void *to, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		((unsigned char *)to)[i] = v->at[CONFIGURATION + offset + i];
}

void
virtio_put(struct virtio *v, unsigned slot, const struct virtio_request *q)
{
	struct virtio_queue *queue = v->queue;
	unsigned first = 2 * slot, last = first;

	if (q->bytes > 0) {
		last = first + 1;
		queue->descriptor[first] = (struct descriptor){.address = address_of(v, q->from),
			.bytes = q->bytes, .flags = NEXT, .next = (uint16_t)last};
	}
	queue->descriptor[last] = (struct descriptor){.address = address_of(v, q->to),
		.bytes = q->room, .flags = WRITTEN};
	v->busy |= 1u << slot;
	queue->available.ring[queue->available.index % QUEUE] = (uint16_t)first;
	device_fence();
	*(volatile uint16_t *)&queue->available.index = (uint16_t)(queue->available.index + 1);
	device_fence();
	*word(v, QUEUE_NOTIFY) = 0;
}

int
virtio_take(struct virtio *v, uint32_t *bytes)
{
	const struct virtio_queue *queue = v->queue;

	/* as many looks as there are requests: what comes besides is nothing that was asked for */
	for (unsigned n = 0; v->busy != 0 && n < VIRTIO_SLOTS; n++) {
		uint32_t id, at = v->served % QUEUE;

		if (*(const volatile uint16_t *)&queue->used.index == v->served)
			break;
		device_fence();
		id = *(const volatile uint32_t *)&queue->used.ring[at].id;
		*bytes = *(const volatile uint32_t *)&queue->used.ring[at].bytes;
		v->served++;
		if (id >= QUEUE || id % 2 != 0 || (v->busy >> id / 2 & 1) == 0)
			continue;
		v->busy &= ~(1u << id / 2);
		return (int)(id / 2);
	}
	return -1;
}

void
virtio_acknowledge(const struct virtio *v)
{
	*word(v, INTERRUPT_ACKNOWLEDGE) = *word(v, INTERRUPT_STATUS);
	kdevice_done(v->device);
	device_fence();
}
