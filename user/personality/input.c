/* SPDX-License-Identifier: MIT
 *
 * Standard input: rank 0 asks for it on the console, and the answer is written into a piece of memory that every cluster can read, the
 * boot archive. So nothing is read that nobody wants. Everybody else's input is at its end.
 *
 * Who waits for the answer looks for it on its own core, lets the other threads of that core run in between, and naps if there are none;
 * the kernel core has nothing to do with it.
 */
#include <abi/board_calls.h>
#include <abi/startup.h>
#include <atoll/server.h>
#include <base/fmt.h>
#include <base/str.h>
#include <servers/file/client.h>
#include <user/personality/frames.h>
#include <user/personality/personality.h>

#define ALONE_NS 5000		/* a yield that takes so much longer than twice the shortest has let somebody run */
#define LOOKS_AWAKE 64		/* before the first nap: input that is there comes soon */
#define LOOKS_LIGHT 512		/* before the naps become longer: somebody types */
#define NAP_LIGHT_NS 1000000

/* What one thread at a time uses. */
static struct {
	uint32_t lock;		/* 0 free, 1 taken, 2 taken and somebody waits */
	uint32_t sequence;	/* of the last question */
	const struct frame_input *answer;
	uint32_t room;		/* of its data */
	uint64_t yield_ns;	/* the shortest so far */
} input;

static void
lock(void)
{
	uint32_t free = 0;

	if (__atomic_compare_exchange_n(&input.lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&input.lock, 2, __ATOMIC_ACQUIRE) != 0)
		kfutex_wait((unsigned long)&input.lock, 2);
}

static void
unlock(void)
{
	if (__atomic_exchange_n(&input.lock, 0, __ATOMIC_RELEASE) == 2)
		kfutex_wake((unsigned long)&input.lock, 1);
}

static void
nap(uint64_t ns)
{
	register unsigned long a0 __asm__("a0") = ns;

	__asm__ volatile(".4byte %1" : : "r"(a0), "i"(BOARD_CALL_NAP) : "memory");
}

/* Let others run; if there are none for a while, sleep a little. */
static void
wait_a_little(unsigned looks)
{
	uint64_t before = 0, after = 0, took;

	kclock(&before);
	kthread_yield();
	kclock(&after);
	took = after - before;
	if (input.yield_ns == 0 || took < input.yield_ns)
		input.yield_ns = took;
	if (took <= 2 * input.yield_ns + ALONE_NS && looks > LOOKS_AWAKE)
		nap(looks > LOOKS_LIGHT ? BOARD_NAP_MAX_NS : NAP_LIGHT_NS);
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
ask(uint64_t len)
{
	struct frame f;
	char question[32];

	input.sequence++;
	frame_begin(&f, 'r', "");
	frame_add(&f, question, (size_t)fmt_print(question, sizeof(question), "%x.%lx", input.sequence, (unsigned long)len));
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
	ask(len < input.room ? len : input.room);
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
has_input(const struct context *c)
{
	const struct job_control *j = (const struct job_control *)personality_info.control;
	const struct thread_record *r = thread_record(c);

	return j != NULL && r->rank >= 0 && ((const struct startup *)j->rank[r->rank].startup)->rank == 0;
}

long
input_read(const struct context *c, uint64_t to, uint64_t len)
{
	long result;

	if (len == 0 || !has_input(c))
		return 0;
	lock();
	result = read_answer((void *)to, len);
	unlock();
	return result;
}
