/* SPDX-License-Identifier: MIT
 *
 * A virtio device: see virtio.h. The server sleeps for the interrupt before it looks at the used
 * ring, so that none is left over.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <servers/device/virtio.h>
#include <usercpu/device.h>

enum {
	MAGIC = 0x00, VERSION = 0x04, DRIVER_FEATURES = 0x20, DRIVER_FEATURES_SELECT = 0x24,
	QUEUE_SELECT = 0x30, QUEUE_SIZE_MAX = 0x34, QUEUE_SIZE = 0x38, QUEUE_READY = 0x44,
	QUEUE_NOTIFY = 0x50, INTERRUPT_STATUS = 0x60, INTERRUPT_ACKNOWLEDGE = 0x64, STATUS = 0x70,
	QUEUE_DESCRIPTORS = 0x80, QUEUE_DRIVER = 0x90, QUEUE_DEVICE = 0xa0
};

#define VIRTIO_MAGIC 0x74726976
#define VERSION_SPOKEN 2
#define STATUS_ACKNOWLEDGE 1
#define STATUS_DRIVER 2
#define STATUS_DRIVER_OK 4
#define STATUS_FEATURES_OK 8
#define FEATURE_VERSION_1 1		/* of the second word */
#define QUEUE 8				/* descriptors */
#define NEXT 1
#define WRITTEN 2

struct descriptor {
	uint64_t address;
	uint32_t bytes;
	uint16_t flags;
	uint16_t next;
};

/* The first page of the arena. */
struct queue {
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

static struct {
	struct registers registers;
	struct queue *queue;
	uint64_t address;		/* where the device finds it */
	uint16_t used;			/* how many requests it has served */
} virtio;

static volatile uint32_t *
word(unsigned offset)
{
	return (volatile uint32_t *)(volatile void *)(virtio.registers.at + offset);
}

static void
set_address(unsigned offset, const void *in_queue)
{
	uint64_t at = virtio.address +
		(uint64_t)((const char *)in_queue - (const char *)virtio.queue);

	*word(offset) = (uint32_t)at;
	*word(offset + 4) = (uint32_t)(at >> 32);
}

/* The arena: memory that lies in one piece. 0 or -E_NAME. */
static int
make_arena(uint32_t pages, size_t page)
{
	long memory = kmemory_create((int)pages), result = memory;
	uint64_t at;

	if (memory >= 0)
		result = kmem_alloc(SELF, pages * page, 0, &at);
	if (result >= 0)
		result = kpage_map(SELF, (unsigned long)at, (int)memory, 0, (int)pages,
			PAGE_READ | PAGE_WRITE);
	if (result >= 0)
		result = kdevice_memory(virtio.registers.device, (int)memory, &virtio.address);
	if (result < 0)
		return (int)result;
	khandle_close((int)memory);
	virtio.queue = (struct queue *)(uintptr_t)at;
	return 0;
}

static int
negotiate(void)
{
	*word(STATUS) = 0;
	*word(STATUS) = STATUS_ACKNOWLEDGE;
	*word(STATUS) = STATUS_ACKNOWLEDGE | STATUS_DRIVER;
	*word(DRIVER_FEATURES_SELECT) = 0;
	*word(DRIVER_FEATURES) = 0;
	*word(DRIVER_FEATURES_SELECT) = 1;
	*word(DRIVER_FEATURES) = FEATURE_VERSION_1;
	*word(STATUS) = STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK;
	*word(QUEUE_SELECT) = 0;
	return (*word(STATUS) & STATUS_FEATURES_OK) != 0 && *word(QUEUE_SIZE_MAX) >= QUEUE ? 0 :
		-E_NOENT;
}

int
virtio_start(const struct registers *r, uint32_t pages, unsigned char **arena)
{
	struct cluster_info info;
	int result;

	virtio.registers = *r;
	if (*word(MAGIC) != VIRTIO_MAGIC || *word(VERSION) != VERSION_SPOKEN)
		return -E_NOENT;
	kcluster_info(&info);
	result = negotiate();
	if (result == 0)
		result = make_arena(pages, info.page_bytes);
	if (result != 0)
		return result;
	*word(QUEUE_SIZE) = QUEUE;
	set_address(QUEUE_DESCRIPTORS, virtio.queue->descriptor);
	set_address(QUEUE_DRIVER, &virtio.queue->available);
	set_address(QUEUE_DEVICE, &virtio.queue->used);
	*word(QUEUE_READY) = 1;
	*word(STATUS) = STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK;
	*arena = (unsigned char *)virtio.queue + info.page_bytes;
	return 0;
}

static void
await_interrupt(void)
{
	kthread_sleep(1u << BIT_INTERRUPT, FOREVER);
	*word(INTERRUPT_ACKNOWLEDGE) = *word(INTERRUPT_STATUS);
	kdevice_done(virtio.registers.device);
	device_fence();
}

uint32_t
virtio_request(const struct virtio_part *part, unsigned parts)
{
	struct queue *q = virtio.queue;

	for (unsigned i = 0; i < parts; i++)
		q->descriptor[i] = (struct descriptor){
			.address = virtio.address +
				(uint64_t)((const char *)part[i].at - (const char *)q),
			.bytes = part[i].bytes,
			.flags = (uint16_t)((i + 1 < parts ? NEXT : 0) |
				(part[i].is_written ? WRITTEN : 0)),
			.next = (uint16_t)(i + 1)};
	q->available.ring[q->available.index % QUEUE] = 0;
	device_fence();
	*(volatile uint16_t *)&q->available.index = (uint16_t)(q->available.index + 1);
	device_fence();
	*word(QUEUE_NOTIFY) = 0;
	do
		await_interrupt();
	while (*(volatile uint16_t *)&q->used.index == virtio.used);
	return q->used.ring[virtio.used++ % QUEUE].bytes;
}
