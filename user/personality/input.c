/* SPDX-License-Identifier: MIT
 *
 * Standard input: rank 0 asks for it on the console, and the answer is written into a piece of
 * memory that every cluster can read, the boot archive. So nothing is read that nobody wants.
 * Everybody else's input is at its end.
 *
 * Who waits for the answer looks for it now and then and sleeps in between.
 */
#include <abi/startup.h>
#include <atoll/server.h>
#include <base/fmt.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <user/personality/frames.h>
#include <user/personality/lock.h>
#include <user/personality/personality.h>

#define LOOKS_AWAKE 64		/* before the first sleep: input that is there comes soon */
#define LOOKS_LIGHT 512		/* before the sleeps become longer: somebody types */
#define SLEEP_LIGHT_NS 1000000
#define SLEEP_NS 10000000

/* What one thread at a time uses. */
static struct {
	struct lock lock;
	uint32_t sequence;	/* of the last question */
	const struct frame_input *answer;
	uint32_t room;		/* of its data */
} input;

static void
wait_a_little(unsigned looks)
{
	uint64_t now = 0;

	if (looks <= LOOKS_AWAKE) {
		kthread_yield();
		return;
	}
	kclock(&now);
	time_sleep_until(now + (looks > LOOKS_LIGHT ? SLEEP_NS : SLEEP_LIGHT_NS));
}

/* Where the answers will be. False: the machine was started without. */
static bool
open_input(void)
{
	struct file f;

	if (input.answer != NULL)
		return true;
	if (file_open(FRAME_INPUT, &f) != 0 || f.bytes <= sizeof(*input.answer))
		return false;
	input.room = (uint32_t)(f.bytes - sizeof(*input.answer));
	input.answer = f.data;
	return true;
}

static void
input_ask(uint64_t len)
{
	struct frame f;
	char question[32];

	input.sequence++;
	frame_begin(&f, 'r', "");
	frame_add(&f, question, (size_t)fmt_print(question, sizeof(question), "%x.%lx",
		input.sequence, (unsigned long)len));
	frame_end(&f);
	console_put(f.text, f.len);
}

/* At least one byte, or 0 at the end of the input. */
static long
read_answer(void *to, uint64_t len)
{
	unsigned looks = 0;
	uint64_t n;

	if (!open_input())
		return 0;
	input_ask(len < input.room ? len : input.room);
	while (__atomic_load_n(&input.answer->sequence, __ATOMIC_ACQUIRE) != input.sequence)
		wait_a_little(looks++);
	n = input.answer->bytes;
	if (n > len || n > input.room)
		return -E_IO;
	memcpy(to, input.answer->data, n);
	return (long)n;
}

/* Is the caller a thread of the rank that has the standard input? */
static bool
has_input(const struct handler_event *c)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;
	const struct thread_record *r = thread_record(c);

	return j != NULL && r->rank >= 0 &&
		((const struct startup *)j->rank[r->rank].startup)->rank == 0;
}

long
input_read(const struct handler_event *c, uint64_t to, uint64_t len)
{
	long result;

	if (len == 0 || !has_input(c))
		return 0;
	lock_take(&input.lock);
	result = read_answer((void *)to, len);
	lock_give(&input.lock);
	return result;
}
