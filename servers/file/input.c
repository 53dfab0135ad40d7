/* SPDX-License-Identifier: MIT
 *
 * See input.h.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <base/fmt.h>
#include <servers/file/client.h>
#include <servers/file/input.h>
#include <user/personality/frames.h>

/* until the next look: input that is there comes soon, then somebody types */
#define SOON_NS 100000
#define LIGHT_NS 1000000
#define NS 10000000
#define LOOKS_SOON 20
#define LOOKS_LIGHT 500

static struct {
	struct tree *tree;
	const struct frame_input *answer;	/* NULL: nobody gives us anything */
	uint32_t room;			/* of its data */
	uint32_t *sequence;		/* of the last question, of whichever server */
	uint32_t looks;			/* since then */
	uint32_t asked;			/* bytes; 0: there is no question */
} input;

void
input_begin(struct tree *t, uint32_t *sequence)
{
	struct file f;

	input.tree = t;
	input.sequence = sequence;
	if (file_open(FRAME_INPUT, &f) != 0 || f.bytes <= sizeof(*input.answer))
		return;
	input.room = (uint32_t)(f.bytes - sizeof(*input.answer));
	input.answer = f.data;
	t->began = frame_began(input.answer);
}

static void
look_later(void)
{
	uint64_t now = 0, span = input.looks < LOOKS_SOON ? SOON_NS :
		input.looks < LOOKS_LIGHT ? LIGHT_NS : NS;

	input.looks++;
	kclock(&now);
	kalarm_set(BIT_INPUT, &(struct alarm_times){.first = now + span});
}

void
input_want(uint32_t bytes)
{
	char question[32];

	if (input.answer == NULL) {
		input_give(input.tree, NULL, 0);
		return;
	}
	if (input.asked != 0)
		return;
	input.asked = bytes < input.room ? bytes : input.room;
	++*input.sequence;
	input.looks = 0;
	fmt_print(question, sizeof(question), "%cr%x.%x%c\n", FRAME_DLE, *input.sequence,
		input.asked, FRAME_DLE);
	console_print("%s", question);
	look_later();
}

void
input_look(void)
{
	uint32_t bytes;

	if (input.asked == 0)
		return;
	if (__atomic_load_n(&input.answer->sequence, __ATOMIC_ACQUIRE) != *input.sequence) {
		look_later();
		return;
	}
	bytes = input.answer->bytes;
	if (bytes > input.asked)
		bytes = input.asked;
	input.asked = 0;
	input_give(input.tree, input.answer->data, bytes);
}
