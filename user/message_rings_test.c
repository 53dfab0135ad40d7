/* SPDX-License-Identifier: MIT
 *
 * Unit tests of rings of messages: two threads of this host, under the thread sanitizer, and what a
 * bad other side leaves in the memory.
 *
 * sanitize: thread address
 * libs: -lpthread
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <base/test.h>
#include <atoll/kcalls.h>

/* Instead of user/channel_words.h: the sanitizer knows no fences. */
#define USER_CHANNEL_WORDS_H
#define CHANNEL_LOOKS 20
static uint32_t fence_word;
#define word_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define word_put(word, value) __atomic_store_n((word), (value), __ATOMIC_SEQ_CST)
#define words_fence() ((void)__atomic_fetch_add(&fence_word, 0, __ATOMIC_SEQ_CST))
#define bytes_publish(bytes, count) ((void)(bytes), (void)(count))
#define bytes_acquire(bytes, count) ((void)(bytes), (void)(count))
#include <user/channel.c>

#define MESSAGES 20000
#define LONGEST 100
#define BIT 3

static _Alignas(64) unsigned char memory[4096];
static _Thread_local int self;

/* --- the kernel's part: a word of bits per thread --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t bits[2];
static unsigned slept, woken;

long
kthread_sleep(uint32_t mask, uint64_t until)
{
	uint32_t taken;

	pthread_mutex_lock(&lock);
	slept++;
	while (until != 0 && !(bits[self] & mask))
		pthread_cond_wait(&changed, &lock);
	taken = bits[self] & mask;
	bits[self] &= ~taken;
	pthread_mutex_unlock(&lock);
	return taken != 0 ? (long)taken : -E_TIMEDOUT;
}

long
kthread_wakeup(int thread, uint32_t set)
{
	pthread_mutex_lock(&lock);
	woken++;
	bits[thread] |= set;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Kernel channels are tested where there is a kernel. */
#define NONE(name, ...) long name(__VA_ARGS__) { abort(); }
NONE(kevent_bind, int event __attribute__((unused)), int object __attribute__((unused)),
	int bit __attribute__((unused)))
NONE(kchannel_wake, int channel __attribute__((unused)))
NONE(kchannel_create, int mailbox __attribute__((unused)), int count __attribute__((unused)),
	void *number __attribute__((unused)))
NONE(kchannel_open, int mailbox __attribute__((unused)), int cluster __attribute__((unused)),
	uint32_t number __attribute__((unused)))
NONE(kcluster_info, void *info __attribute__((unused)))
NONE(kmem_alloc, int proc __attribute__((unused)), unsigned long len __attribute__((unused)),
	int prot __attribute__((unused)), void *addr __attribute__((unused)))
NONE(kpage_map, int proc __attribute__((unused)), unsigned long addr __attribute__((unused)),
	int m __attribute__((unused)), int first __attribute__((unused)),
	int count __attribute__((unused)), int prot __attribute__((unused)))
NONE(kpage_unmap, int proc __attribute__((unused)), unsigned long addr __attribute__((unused)),
	int count __attribute__((unused)))
NONE(khandle_close, int handle __attribute__((unused)))

/* --- tests --- */

static void
begin(struct channel *ch, int side, size_t bytes, uint32_t message)
{
	expect_eq(channel_begin(ch, &(struct channel_setup){.memory = memory, .bytes = bytes,
		.message = message, .side = side == 0 ? CHANNEL_MADE : CHANNEL_TOOK, .bit = BIT,
		.handle = 1 - side, .bits = 1u << BIT}), 0);
}

static void *
echo(void *arg)
{
	unsigned char text[LONGEST];
	struct channel ch;
	int bytes = 1;

	self = 1;
	begin(&ch, 1, *(size_t *)arg, LONGEST);
	while (bytes > 0) {
		bytes = channel_receive(&ch, text, sizeof(text), FOREVER);
		expect_eq(channel_send(&ch, text, (uint32_t)bytes, FOREVER), 0);
	}
	return NULL;
}

/* So many are on their way that both rings are full at times. */
static void
exchange(size_t bytes)
{
	unsigned char text[LONGEST], back[LONGEST];
	struct channel ch;
	pthread_t other;
	uint32_t sent = 0;

	memset(memory, 0, sizeof(memory));
	begin(&ch, 0, bytes, LONGEST);
	pthread_create(&other, NULL, echo, &bytes);
	for (uint32_t got = 0; got < MESSAGES; got++) {
		uint32_t len = 4 + got % (LONGEST - 4);

		for (; sent < MESSAGES && sent < got + 2 * ch.slots - ch.slots / 2; sent++) {
			memset(text, (int)sent, sizeof(text));
			expect_eq(channel_send(&ch, text, 4 + sent % (LONGEST - 4), FOREVER), 0);
		}
		memset(text, (int)got, sizeof(text));
		if (channel_receive(&ch, back, sizeof(back), FOREVER) != (int)len ||
			memcmp(back, text, len) != 0)
			expect(!"a message is not what was sent");
	}
	expect_eq(channel_send(&ch, text, 0, FOREVER), 0);
	expect_eq(channel_receive(&ch, back, sizeof(back), FOREVER), 0);
	pthread_join(other, NULL);
}

TEST(two_threads_exchange_messages)
{
	exchange(2 * (HEAD + 128));
	exchange(2 * (HEAD + 2 * 128));
	exchange(sizeof(memory));
	expect(slept > 0 && woken > 0);
}

TEST(there_must_be_room_for_one_message)
{
	struct channel_setup s = {.memory = memory, .bytes = 2 * (HEAD + 64), .message = 56,
		.bit = BIT, .bits = 1};
	struct channel ch;

	expect_eq(channel_begin(&ch, &s), 0);
	expect_eq(ch.slots, 1);
	s.message = 57;
	expect_eq(channel_begin(&ch, &s), -E_INVAL);
	s.message = UINT32_MAX;
	expect_eq(channel_begin(&ch, &s), -E_INVAL);
	s.bytes = 0;
	s.message = 0;
	expect_eq(channel_begin(&ch, &s), -E_INVAL);
}

/* Random words in all of the memory: what comes is no longer than a message, and it ends. */
TEST(nothing_that_the_other_side_writes_is_believed)
{
	unsigned char text[LONGEST + 1];
	struct channel ch;
	uint32_t *word = (uint32_t *)(void *)memory;

	memset(memory, 0, sizeof(memory));
	begin(&ch, 0, sizeof(memory), LONGEST);
	srand(1);
	for (int n = 0; n < 200000; n++) {
		uint32_t value = rand() % 3 ? (uint32_t)rand() % 40 :
			(uint32_t)rand() * 2654435761u;
		int got;

		word[(size_t)rand() % (sizeof(memory) / 4)] = value;
		text[LONGEST] = 0x5a;
		got = channel_try_receive(&ch, text, LONGEST);
		expect(got == -E_AGAIN || (got >= 0 && got <= LONGEST));
		got = channel_try_send(&ch, text, LONGEST);
		expect(got == 0 || got == -E_AGAIN);
		expect(text[LONGEST] == 0x5a && ch.out.count - ch.out.seen <= ch.slots);
	}
}

int
main(void)
{
	RUN(there_must_be_room_for_one_message);
	RUN(nothing_that_the_other_side_writes_is_believed);
	RUN(two_threads_exchange_messages);
	return TEST_FAILED;
}
