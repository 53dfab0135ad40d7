/* SPDX-License-Identifier: MIT
 *
 * See ninep.h.
 */
#include <abi/errors.h>
#include <base/str.h>
#include <servers/file/ninep.h>

#define SIZE_BYTES 4
#define NS_PER_S 1000000000ull
#define SECONDS_MAX (INT64_MAX / 1000000000)

void
ninep_put(struct ninep_out *m, uint64_t value, unsigned bytes)
{
	if (m->is_wrong || bytes > m->room - m->bytes) {
		m->is_wrong = true;
		return;
	}
	for (unsigned i = 0; i < bytes; i++)
		m->at[m->bytes++] = (unsigned char)(value >> 8 * i);
}

void
ninep_begin(struct ninep_out *m, enum ninep_type type, uint32_t tag)
{
	m->bytes = 0;
	m->is_wrong = false;
	ninep_put(m, 0, SIZE_BYTES);
	ninep_put(m, type, 1);
	ninep_put(m, tag, 2);
}

void
ninep_put_data(struct ninep_out *m, const void *from, uint32_t bytes)
{
	if (m->is_wrong || bytes > m->room - m->bytes) {
		m->is_wrong = true;
		return;
	}
	memcpy(m->at + m->bytes, from, bytes);
	m->bytes += bytes;
}

void
ninep_put_text(struct ninep_out *m, const char *text, size_t len)
{
	ninep_put(m, len, 2);
	if (len > UINT16_MAX)
		m->is_wrong = true;
	ninep_put_data(m, text, (uint32_t)len);
}

uint32_t
ninep_end(struct ninep_out *m)
{
	if (m->is_wrong)
		return 0;
	for (unsigned i = 0; i < SIZE_BYTES; i++)
		m->at[i] = (unsigned char)(m->bytes >> 8 * i);
	return m->bytes;
}

/* --- answers --- */

const void *
ninep_get_data(struct ninep_in *m, uint32_t bytes)
{
	const void *at = m->at;

	if (m->is_wrong || bytes > m->bytes) {
		m->is_wrong = true;
		return NULL;
	}
	m->at += bytes;
	m->bytes -= bytes;
	return at;
}

uint64_t
ninep_get(struct ninep_in *m, unsigned bytes)
{
	const unsigned char *at = ninep_get_data(m, bytes);
	uint64_t value = 0;

	for (unsigned i = 0; at != NULL && i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

const char *
ninep_get_text(struct ninep_in *m, size_t most, size_t *len)
{
	uint32_t bytes = (uint32_t)ninep_get(m, 2);
	const char *text = ninep_get_data(m, bytes);

	*len = bytes;
	if (text == NULL || bytes > most || str_len_max(text, bytes) < bytes) {
		m->is_wrong = true;
		return NULL;
	}
	return text;
}

struct ninep_qid
ninep_get_qid(struct ninep_in *m)
{
	struct ninep_qid qid = {.type = (uint8_t)ninep_get(m, 1)};

	ninep_get(m, 4);
	qid.path = ninep_get(m, 8);
	return qid;
}

static uint64_t
get_time(struct ninep_in *m)
{
	uint64_t seconds = ninep_get(m, 8), ns = ninep_get(m, 8);

	return seconds > SECONDS_MAX || ns >= NS_PER_S ? 0 : seconds * NS_PER_S + ns;
}

void
ninep_get_attributes(struct ninep_in *m, struct ninep_attributes *a)
{
	ninep_get(m, 8);		/* which of them are there: the basic ones always */
	a->qid = ninep_get_qid(m);
	a->mode = (uint32_t)ninep_get(m, 4);
	ninep_get(m, 8);		/* user and group */
	a->links = ninep_get(m, 8);
	ninep_get(m, 8);		/* number of a device */
	a->size = ninep_get(m, 8);
	ninep_get(m, 8);		/* bytes of a block */
	a->blocks = ninep_get(m, 8);
	a->accessed = get_time(m);
	a->modified = get_time(m);
	a->changed = get_time(m);
	ninep_get_data(m, 32);		/* when it came into being, and two versions */
	if (a->size > INT64_MAX)
		m->is_wrong = true;
}

int
ninep_answer(struct ninep_in *m, const void *at, uint32_t bytes, enum ninep_type type, uint32_t tag)
{
	uint32_t size, has_type, has_tag, error;

	*m = (struct ninep_in){.at = at, .bytes = bytes};
	size = (uint32_t)ninep_get(m, SIZE_BYTES);
	has_type = (uint32_t)ninep_get(m, 1);
	has_tag = (uint32_t)ninep_get(m, 2);
	if (m->is_wrong || size > bytes || size < NINEP_HEAD || has_tag != tag)
		return -E_IO;
	m->bytes = size - NINEP_HEAD;
	if (has_type != NINEP_ERROR + 1)
		return has_type == (uint32_t)type + 1 ? 0 : -E_IO;
	error = (uint32_t)ninep_get(m, 4);
	return m->is_wrong || error == 0 || error > NINEP_ERROR_MAX ? -E_IO : -(int)error;
}
