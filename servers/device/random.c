/* SPDX-License-Identifier: MIT
 *
 * Random bytes of the host: the virtio entropy device. Source: VIRTIO 1.1, section 5.4. A page of
 * them is asked for when one is wanted and none is left, and nobody gets a byte twice.
 */
#include <base/str.h>
#include <atoll/virtio.h>
#include <servers/device/driver.h>

#define BYTES 4096			/* asked for at a time */
#define PAGES 2

static struct virtio virtio;
static struct {
	unsigned char *bytes;
	uint32_t used;			/* of them */
	uint32_t have;
	bool is_wrong;			/* the device says what cannot be: the next read fails */
} pool;

static int
random_start(const struct registers *r)
{
	return virtio_begin(&virtio, &(struct virtio_setup){.device = r->device, .at = r->at,
		.pages = PAGES}, &pool.bytes);
}

static bool
random_look(bool has_interrupted)
{
	uint32_t n = 0;

	if (has_interrupted)
		virtio_acknowledge(&virtio);
	if (virtio_take(&virtio, &n) >= 0) {
		pool.is_wrong = n == 0 || n > BYTES;
		pool.have = pool.is_wrong ? 0 : n;
		pool.used = 0;
	}
	return pool.is_wrong || pool.used < pool.have;
}

static long
random_read(void *to, size_t len)
{
	size_t left = pool.have - pool.used;

	if (len == 0)
		return 0;
	if (pool.is_wrong) {
		pool.is_wrong = false;
		return -E_IO;
	}
	if (left == 0) {
		if (virtio.busy == 0)
			virtio_put(&virtio, 0, &(struct virtio_request){.to = pool.bytes,
				.room = BYTES});
		return -E_AGAIN;
	}
	if (len > left)
		len = left;
	memcpy(to, pool.bytes + pool.used, len);
	pool.used += (uint32_t)len;
	return (long)len;
}

static long
random_write(const void *from, size_t len)
{
	(void)from;
	(void)len;
	return -E_ACCES;
}

const struct driver random_driver = {.start = random_start, .look = random_look,
	.read = random_read, .write = random_write};
