/* SPDX-License-Identifier: MIT
 *
 * Random bytes of the host: the virtio entropy device. Source: VIRTIO 1.1, section 5.4.
 */
#include <base/str.h>
#include <servers/device/virtio.h>

#define BYTES 4096			/* asked for at a time, at most */
#define PAGES 2

static unsigned char *bytes;

static int
random_start(const struct registers *r)
{
	return virtio_start(r, PAGES, &bytes);
}

static long
random_read(uint32_t number, uint64_t offset, void *to, size_t len)
{
	size_t done = 0;

	(void)number;
	(void)offset;
	while (done < len) {
		size_t most = len - done < BYTES ? len - done : BYTES;
		uint32_t n = virtio_request(&(struct virtio_part){bytes, (uint32_t)most, true}, 1);

		if (n == 0 || n > most)
			return -E_IO;
		memcpy((char *)to + done, bytes, n);
		done += n;
	}
	return (long)done;
}

static long
random_write(uint32_t number, uint64_t offset, const void *from, size_t len)
{
	(void)number;
	(void)offset;
	(void)from;
	(void)len;
	return -E_ACCES;
}

const struct driver random_driver = {.start = random_start, .open = stream_open,
	.close = stream_close, .read = random_read, .write = random_write};
