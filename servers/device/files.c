/* SPDX-License-Identifier: MIT
 *
 * Files of a folder of the host: a client of 9P2000.L over the virtio 9P device, which is a server
 * of it. One request at a time; a file that the server has opened is one fid. Names of directories
 * above are refused. Source: the 9P2000.L protocol (diod), VIRTIO transport of QEMU.
 */
#include <base/str.h>
#include <servers/device/files.h>
#include <servers/device/protocol.h>
#include <servers/device/virtio.h>

#define REQUEST_BYTES 4096
#define REPLY_BYTES (DEVICE_BULK + 4096)
#define PAGES 8
#define MESSAGE_MAX (DEVICE_BULK + 24)	/* msize */
#define HEAD 7				/* size, type, tag */
#define ROOT HANDLES			/* the folder's fid; those of files are their numbers */
#define NO_FID 0xffffffffu
#define GETATTR_SIZE 0x200
#define SIZE_IN_ATTR (HEAD + 49)
#define MODE 0644

#define O_READ_WRITE 2			/* Linux's */
#define O_CUT 01000

enum type {
	RLERROR = 7, TLOPEN = 12, TLCREATE = 14, TGETATTR = 24, TVERSION = 100, TATTACH = 104,
	TWALK = 110, TREAD = 116, TWRITE = 118, TCLUNK = 120
};

static struct {
	unsigned char *request, *reply;
	uint32_t bytes;			/* of the request so far */
} p9;

/* --- messages --- */

static void
files_put(uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p9.request[p9.bytes++] = (unsigned char)(value >> 8 * i);
}

static void
put_text(const char *text, size_t len)
{
	files_put(len, 2);
	memcpy(p9.request + p9.bytes, text, len);
	p9.bytes += (uint32_t)len;
}

static void
files_begin(enum type type, uint32_t fid)
{
	p9.bytes = 4;
	files_put(type, 1);
	files_put(0, 2);
	files_put(fid, 4);
}

static uint64_t
files_get(unsigned at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)p9.reply[at + i] << 8 * i;
	return value;
}

/* Ask the host; `least`: bytes of a good answer. 0 or its error. */
static int
files_ask(uint32_t least)
{
	const struct virtio_part part[] = {{p9.request, p9.bytes, false},
		{p9.reply, REPLY_BYTES, true}};
	uint32_t bytes = p9.bytes, got;

	p9.bytes = 0;
	files_put(bytes, 4);
	got = virtio_request(part, 2);
	if (got < HEAD || got > REPLY_BYTES)
		return -E_IO;
	if (p9.reply[4] == RLERROR)
		return -(int)files_get(HEAD, 4);
	return p9.reply[4] == p9.request[4] + 1 && got >= HEAD + least ? 0 : -E_IO;
}

/* --- files --- */

static int
files_start(const struct registers *r)
{
	unsigned char *arena;
	int result = virtio_start(r, PAGES, &arena);

	if (result != 0)
		return result;
	p9.request = arena;
	p9.reply = arena + REQUEST_BYTES;
	files_begin(TVERSION, MESSAGE_MAX);
	put_text("9P2000.L", 8);
	result = files_ask(6);
	if (result == 0 && files_get(HEAD, 4) < MESSAGE_MAX)
		result = -E_IO;
	if (result != 0)
		return result;
	files_begin(TATTACH, ROOT);
	files_put(NO_FID, 4);
	put_text("", 0);
	put_text("", 0);
	files_put(0, 4);
	return files_ask(13);
}

static void
files_close(uint32_t number)
{
	files_begin(TCLUNK, number);
	files_ask(0);
}

/* The fid of a file becomes that of the first `count` names. */
static int
walk(uint32_t number, const struct path_names *names, uint32_t count)
{
	int result;

	files_begin(TWALK, ROOT);
	files_put(number, 4);
	files_put(count, 2);
	for (uint32_t i = 0; i < count; i++)
		put_text(names->name[i], names->bytes[i]);
	result = files_ask(2);
	return result == 0 && files_get(HEAD, 2) != count ? -E_NOENT : result;
}

static int
create(uint32_t number, const struct path_names *names)
{
	uint32_t last = names->count - 1;
	int result = walk(number, names, last);

	if (result != 0)
		return result;
	files_begin(TLCREATE, number);
	put_text(names->name[last], names->bytes[last]);
	files_put(O_READ_WRITE, 4);
	files_put(MODE, 4);
	files_put(0, 4);
	result = files_ask(17);
	if (result != 0)
		files_close(number);
	return result;
}

static int
open_found(uint32_t number, uint32_t how, uint64_t *size)
{
	int result;

	files_begin(TLOPEN, number);
	files_put((how & DEVICE_WRITABLE) != 0 ?
		O_READ_WRITE | ((how & DEVICE_EMPTY) != 0 ? O_CUT : 0) : 0,
		4);
	result = files_ask(17);
	if (result == 0) {
		files_begin(TGETATTR, number);
		files_put(GETATTR_SIZE, 8);
		result = files_ask(SIZE_IN_ATTR + 8 - HEAD);
		*size = files_get(SIZE_IN_ATTR, 8);
	}
	if (result != 0)
		files_close(number);
	return result;
}

static int
files_open(uint32_t number, const char *path, uint32_t how, uint64_t *size)
{
	const uint32_t make = DEVICE_WRITABLE | DEVICE_CREATE;
	struct path_names names;
	int result = path_split(path, &names);

	if (result == 0)
		result = walk(number, &names, names.count);
	if (result == -E_NOENT && (how & make) == make)
		return create(number, &names);
	return result == 0 ? open_found(number, how, size) : result;
}

static long
files_read(uint32_t number, uint64_t offset, void *to, size_t len)
{
	uint64_t count;
	int result;

	files_begin(TREAD, number);
	files_put(offset, 8);
	files_put(len, 4);
	result = files_ask(4);
	if (result != 0)
		return result;
	count = files_get(HEAD, 4);
	if (count > len)
		return -E_IO;
	memcpy(to, p9.reply + HEAD + 4, count);
	return (long)count;
}

static long
files_write(uint32_t number, uint64_t offset, const void *from, size_t len)
{
	int result;

	files_begin(TWRITE, number);
	files_put(offset, 8);
	files_put(len, 4);
	memcpy(p9.request + p9.bytes, from, len);
	p9.bytes += (uint32_t)len;
	result = files_ask(4);
	return result != 0 ? result : (long)files_get(HEAD, 4);
}

const struct driver files_driver = {.start = files_start, .open = files_open,
	.close = files_close, .read = files_read, .write = files_write};
