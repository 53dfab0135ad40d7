/* SPDX-License-Identifier: MIT
 *
 * Words of a channel that two cores share, and the bytes beside them: the contract of
 * hal/atomic.h, in programs. A look is behind what it tells of, what is put before a word is there
 * for who sees it. The tests of user/channel.c have other ones.
 */
#ifndef USER_CHANNEL_WORDS_H
#define USER_CHANNEL_WORDS_H

#define CHANNEL_LOOKS 2000		/* before a thread sleeps */

#define word_look(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define word_put(word, value) __atomic_store_n((word), (value), __ATOMIC_RELEASE)
#define words_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Bytes that were written, before a word is put; and those that a look told of. */
#define bytes_publish(bytes, count) ((void)(bytes), (void)(count))
#define bytes_acquire(bytes, count) ((void)(bytes), (void)(count))

#endif
