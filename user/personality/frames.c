/* SPDX-License-Identifier: MIT
 *
 * Frames on the console: see frames.h. No kernel calls: tested on its own.
 */
#include <base/str.h>
#include <user/personality/frames.h>

void
frame_begin(struct frame *f, char kind, const char *head)
{
	size_t len = str_len(head);

	f->text[0] = FRAME_DLE;
	f->text[1] = kind;
	memcpy(f->text + 2, head, len);
	f->head = f->len = (uint32_t)(2 + len);
}

size_t
frame_add(struct frame *f, const char *text, size_t len)
{
	size_t taken = 0;

	while (taken < len && f->len + 2 + FRAME_END_BYTES <= sizeof(f->text)) {
		if (text[taken] == FRAME_DLE)
			f->text[f->len++] = FRAME_DLE;
		f->text[f->len++] = text[taken++];
	}
	return taken;
}

void
frame_end(struct frame *f)
{
	f->text[f->len++] = FRAME_DLE;
	f->text[f->len++] = '\n';
}

bool
frame_needed(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == FRAME_DLE)
			return true;
	return false;
}
