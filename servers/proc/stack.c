/* SPDX-License-Identifier: MIT
 *
 * The first stack of a program. Texts are pushed from the top down, then the words that point to
 * them in one piece.
 */
#include <stdbool.h>
#include <abi/errors.h>
#include <base/str.h>
#include <servers/proc/stack.h>

#define AT_NULL 0
#define AT_PHDR 3
#define AT_PHENT 4
#define AT_PHNUM 5
#define AT_PAGESZ 6
#define AT_ENTRY 9
#define AT_UID 11
#define AT_EUID 12
#define AT_GID 13
#define AT_EGID 14
#define AT_SECURE 23
#define AT_RANDOM 25
#define AT_EXECFN 31

#define AUX_WORDS 28

struct pile {
	struct stack_place *place;
	size_t top;		/* offset of the lowest byte in use */
	size_t words;		/* offset of the next word */
};

static uint64_t
push(struct pile *p, const void *data, size_t len, size_t align)
{
	p->top = (p->top - len) & ~(align - 1);
	memcpy(p->place->memory + p->top, data, len);
	return p->place->addr + p->top;
}

static uint64_t
push_text(struct pile *p, struct text t)
{
	push(p, "", 1, 1);
	return push(p, t.at, t.len, 1);
}

/* A word of the CPU. */
static void
word(struct pile *p, uint64_t value)
{
	unsigned long word = (unsigned long)value;

	memcpy(p->place->memory + p->words, &word, sizeof(word));
	p->words += sizeof(word);
}

static void
aux(struct pile *p, uint64_t type, uint64_t value)
{
	word(p, type);
	word(p, value);
}

static size_t
text_bytes(const struct text *list, uint32_t count)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++)
		bytes += list[i].len + 1;
	return bytes;
}

static size_t
word_count(const struct stack_input *in)
{
	return 1 + (1 + in->args + 1) + (in->envs + 1) + AUX_WORDS;
}

static bool
fits(const struct stack_place *place, const struct stack_input *in)
{
	size_t bytes = in->program.len + 1 + text_bytes(in->arg, in->args) + text_bytes(in->env,
		in->envs);

	bytes += word_count(in) * sizeof(unsigned long) + sizeof(struct startup) +
		sizeof(in->random) + 64;
	return bytes <= place->bytes / 2;
}

static void
write_aux(struct pile *p, const struct stack_input *in, uint64_t random, uint64_t name)
{
	aux(p, AT_PHDR, in->headers);
	aux(p, AT_PHENT, in->header_bytes);
	aux(p, AT_PHNUM, in->header_count);
	aux(p, AT_PAGESZ, in->page_bytes);
	aux(p, AT_ENTRY, in->entry);
	aux(p, AT_UID, 0);
	aux(p, AT_EUID, 0);
	aux(p, AT_GID, 0);
	aux(p, AT_EGID, 0);
	aux(p, AT_SECURE, 0);
	aux(p, AT_RANDOM, random);
	aux(p, AT_EXECFN, name);
	aux(p, AT_ATOLL, p->place->startup);
	aux(p, AT_NULL, 0);
}

int
stack_build(struct stack_place *place, const struct stack_input *in)
{
	struct pile p = {.place = place, .top = place->bytes};
	uint64_t random, name;

	if (!fits(place, in))
		return -E_2BIG;
	place->startup = push(&p, in->startup, sizeof(*in->startup), 16);
	random = push(&p, in->random, sizeof(in->random), 16);
	name = push_text(&p, in->program);
	/*
	 * room for the words below all texts, so that each text can be pushed where its word is
	 * written
	 */
	p.words = (p.top - text_bytes(in->arg, in->args) - text_bytes(in->env, in->envs) -
		      word_count(in) * sizeof(unsigned long)) &
	    ~(size_t)15;
	place->sp = place->addr + p.words;
	word(&p, 1 + in->args);
	word(&p, name);
	for (uint32_t i = 0; i < in->args; i++)
		word(&p, push_text(&p, in->arg[i]));
	word(&p, 0);
	for (uint32_t i = 0; i < in->envs; i++)
		word(&p, push_text(&p, in->env[i]));
	word(&p, 0);
	write_aux(&p, in, random, name);
	return 0;
}
