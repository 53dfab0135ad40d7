/* SPDX-License-Identifier: MIT
 *
 * How the words of a slot are shared: see user/channel_words.h. Words between two looks at the
 * version are read and written whole. slot_read_begins: what is read comes behind the first look;
 * slot_read_ends: and before the second. slot_write_begins: what is written comes behind the odd
 * version; slot_write_ends: and before the even one.
 */
#ifndef SERVERS_NAME_CACHE_WORDS_H
#define SERVERS_NAME_CACHE_WORDS_H

#define slot_look(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define slot_put(word, value) __atomic_store_n((word), (value), __ATOMIC_RELAXED)
#define version_look(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define version_put(word, value) __atomic_store_n((word), (value), __ATOMIC_RELAXED)
#define slot_read_begins(slot) __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define slot_read_ends(slot) __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define slot_write_begins(slot) __atomic_thread_fence(__ATOMIC_RELEASE)
#define slot_write_ends(slot) __atomic_thread_fence(__ATOMIC_RELEASE)

#endif
