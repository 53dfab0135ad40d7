/* SPDX-License-Identifier: MIT
 *
 * Random bytes of the host: the virtio entropy device. Source: VIRTIO 1.1, section 5.4.
 */
#include <base/str.h>
#include <atoll/kcalls.h>
#include <atoll/virtio.h>
#include <servers/device/driver.h>

#define BYTES 4096			/* asked for at a time, at most */
#define PAGES 2

static unsigned char *bytes;
static struct virtio virtio;

static int
random_start(const struct registers *r)
{
	return virtio_begin(&virtio, &(struct virtio_setup){.device = r->device, .at = r->at,
		.pages = PAGES}, &bytes);
}

/* The device serves at once: nobody else is kept waiting. How many bytes it wrote. */
static uint32_t
ask_for(uint32_t most)
{
	uint32_t n = 0;

	virtio_put(&virtio, 0, &(struct virtio_request){.to = bytes, .room = most});
	do {
		kthread_sleep(1u << BIT_INTERRUPT, FOREVER);
		virtio_acknowledge(&virtio);
	} while (virtio_take(&virtio, &n) < 0);
	return n;
}

static long
random_read(void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t most = len - done < BYTES ? len - done : BYTES;
		uint32_t n = ask_for((uint32_t)most);

		if (n == 0 || n > most)
			return -E_IO;
		memcpy((char *)to + done, bytes, n);
		done += n;
	}
	return (long)done;
}

static long
random_write(const void *from, size_t len)
{
	(void)from;
	(void)len;
	return -E_ACCES;
}

const struct driver random_driver = {.start = random_start, .read = random_read,
	.write = random_write};
