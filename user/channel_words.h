/* SPDX-License-Identifier: MIT
 *
 * Words that two cores share, of a channel or a segment, and the bytes beside them: the contract of
 * hal/atomic.h, in programs. A look is behind what it tells of, what is put before a word is there
 * for who sees it. The tests of user/channel.c and user/sem.c have other ones.
 */
#ifndef USER_CHANNEL_WORDS_H
#define USER_CHANNEL_WORDS_H

#define CHANNEL_LOOKS 2000		/* before a thread sleeps */
#define TUBE_PLACES_ALIGNED 16		/* places for messages */

#define word_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define word_put(word, value) __atomic_store_n((word), (value), __ATOMIC_RELEASE)
/* Both are looks, too, and full order; the quick one may fail without a reason. */
#define word_swap(word, old, value) \
	__extension__({ uint32_t expected_ = (old); __atomic_compare_exchange_n((word), \
		&expected_, (value), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); })
#define word_swap_quickly(word, old, value) \
	__extension__({ uint32_t expected_ = (old); __atomic_compare_exchange_n((word), \
		&expected_, (value), 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED); })
#define word_exchange(word, value) __atomic_exchange_n((word), (value), __ATOMIC_ACQ_REL)
/* a look behind which nothing has to wait */
#define word_peek(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define words_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Bytes that were written, before a word is put; and those that a look told of. */
#define bytes_publish(bytes, count) ((void)(bytes), (void)(count))
#define bytes_acquire(bytes, count) ((void)(bytes), (void)(count))

#endif
