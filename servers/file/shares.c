/* SPDX-License-Identifier: MIT
 *
 * See shares.h.
 */
#include <abi/startup.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <atoll/virtio.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <servers/file/share.h>
#include <servers/file/shares.h>

#define FEATURE_MOUNT_TAG 1
#define TAG_MAX 31

_Static_assert(SHARE_SLOTS <= VIRTIO_SLOTS, "each has one of the device's");
_Static_assert(SHARES_MAX == STARTUP_DEVICES, "a device each");

static struct virtio device[SHARES_MAX];

void
share_send(struct share *s, uint32_t slot, uint32_t bytes)
{
	virtio_put(&device[s->number], slot, &(struct virtio_request){.from = s->slot[slot].request,
		.bytes = bytes, .to = s->slot[slot].answer, .room = SHARE_ANSWER});
}

/* Line `number` of the list, as a path. False: there is none. */
static bool
path_of_line(uint32_t number, char *path)
{
	struct file list;
	size_t at = 0, len = 0;

	if (file_open(FILE_SHARES, &list) != 0)
		return false;
	for (;; at += len + 1, number--) {
		const char *line = (const char *)list.data + at;

		for (len = 0; at + len < list.bytes && line[len] != '\n'; len++)
			continue;
		if (at >= list.bytes || len >= FILE_PATH_MAX)
			return false;
		if (number == 0) {
			memcpy(path, line, len);
			path[len] = 0;
			return len > 0;
		}
	}
}

/* The mount tag is the number of a line. */
static bool
path_of_device(const struct virtio *v, char *path)
{
	unsigned char tag[2 + TAG_MAX];
	uint32_t number = 0, len;

	virtio_configuration(v, 0, tag, 2);
	len = (uint32_t)tag[0] | (uint32_t)tag[1] << 8;
	if (len == 0 || len > 2)
		return false;
	virtio_configuration(v, 2, tag, len);
	for (uint32_t i = 0; i < len; i++) {
		if (tag[i] < '0' || tag[i] > '9')
			return false;
		number = number * 10 + tag[i] - '0';
	}
	return path_of_line(number, path);
}

/* Memory for a share, behind that of its slots. */
static struct share *
share_make(unsigned char *arena)
{
	uint64_t at;
	struct share *sh;

	if (kmem_alloc(SELF, (sizeof(*sh) + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES,
		PAGE_READ | PAGE_WRITE, &at) < 0)
		return NULL;
	sh = (struct share *)(uintptr_t)at;
	for (uint32_t i = 0; i < SHARE_SLOTS; i++) {
		sh->slot[i].request = arena;
		sh->slot[i].answer = arena + SHARE_REQUEST;
		arena += SHARE_REQUEST + SHARE_ANSWER;
	}
	return sh;
}

static int
begin_one(struct tree *t, int handle)
{
	struct virtio *v = &device[t->shares];
	struct virtio_setup setup = {.device = handle, .features = FEATURE_MOUNT_TAG,
		.pages = 1 + SHARE_SLOTS * (SHARE_REQUEST + SHARE_ANSWER) / BLOCK_BYTES};
	char path[FILE_PATH_MAX];
	unsigned char *arena;
	struct share *sh;
	int result = registers_map(handle, BIT_SHARE, &setup.at);

	if (result == 0)
		result = virtio_begin(v, &setup, &arena);
	if (result != 0)
		return result;
	if (!path_of_device(v, path))
		return -E_NOENT;
	sh = share_make(arena);
	return sh == NULL ? -E_NOMEM : share_begin(t, sh, path);
}

void
shares_begin(struct tree *t)
{
	for (int i = 0; i < STARTUP_DEVICES && atoll_startup()->device[i] != 0; i++) {
		int result = begin_one(t, atoll_startup()->device[i]);

		if (result != 0)
			console_print("file: a folder cannot be shared: error %d\n", -result);
	}
}

void
shares_look(struct tree *t, bool is_told)
{
	for (uint32_t i = 0; i < t->shares; i++) {
		uint32_t bytes;
		int slot;

		if (is_told)
			virtio_acknowledge(&device[i]);
		while ((slot = virtio_take(&device[i], &bytes)) >= 0)
			share_answer(t, t->share[i], (uint32_t)slot, bytes);
	}
}
