/* SPDX-License-Identifier: MIT
 *
 * What a server without libc has: its entry, threads, messages that wait, console output.
 */
#ifndef ATOLL_SERVER_H
#define ATOLL_SERVER_H

#include <stddef.h>
#include <stdint.h>

/* The server's main. The process ends when it returns. */
int server_main(int argc, char **argv);

/*
 * Map `bytes` that this server leaves to the one that is started when it has ended, whole pages;
 * zeros at first. 0 or -E_NAME.
 */
int kept_map(void **to, size_t bytes);

/*
 * Print a line or a part of one on the machine's console, as printf does; at most CONSOLE_WRITE_MAX
 * bytes, the rest is cut.
 */
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Write at most CONSOLE_WRITE_MAX bytes to the console; waits while it is full. 0, -E_INVAL or
 * -E_FAULT.
 */
long console_put(const void *text, uint32_t len);

/*
 * Start a thread of this process at fn(arg) on `core`, with a stack of `stack_bytes` for its own
 * use. When fn returns the thread ends. Returns its number or -E_NAME of kthread_create or
 * kmem_alloc.
 */
int thread_start(void (*fn)(void *arg), void *arg, int core, size_t stack_bytes);

/*
 * The same with a stack of the caller's, CONTEXT_INTERRUPT_BYTES of it for interrupts, which the
 * thread has until it was joined.
 */
int thread_start_on(void (*fn)(void *arg), void *arg, int core, void *stack, size_t stack_bytes);

/*
 * Send one message of MAILBOX_MSG_SIZE bytes; waits while the peer's slot is full. 0 or -E_NAME of
 * kmailbox_write.
 */
int mailbox_send(int id, const void *msg);

/* Receive one message; waits for it. 0 or -E_NAME of kmailbox_read. */
int mailbox_receive(int id, int source, void *msg);

/* Signal all partners of a sync point; waits until that may be. 0 or -E_NAME of ksync_signal. */
int sync_give(int sync);

#endif
