/* SPDX-License-Identifier: MIT
 *
 * Active messages: the one way cores of a cluster make each other act. They form a star around the
 * home core.
 *
 * To home: each core has one slot (struct am_call) with up to sizeof(struct kcall_args) bytes of
 * data. The sender fills it, takes a ticket at home's queue and writes its number into the order
 * ring at that ticket; home serves the ring in order, so service is FIFO by ticket. A core has one
 * call in flight, so a ring as long as the number of cores never overflows. The sender waits and
 * serves its own inbox meanwhile; functions that run in an inbox never call.
 *
 * From home: each core has one inbox slot (struct am_post). Home never waits: a busy slot is
 * -E_AGAIN, and whoever posts keeps the message and tries again when the core's doorbell back says
 * so (kernel/mem/sweep.c).
 *
 * Source: seed 000 III-B (remote calls), 004 4 (active messages between cores).
 */
#ifndef KERNEL_AM_AM_H
#define KERNEL_AM_AM_H

#include <stdbool.h>
#include <stdint.h>
#include <hal/atomic.h>
#include <kernel/call/kcall_glue.h>

struct cluster;
struct core;

#define AM_DATA 128

struct am_call {
	/* shared word: the sender sets it, home clears it when the result is there */
	_Alignas(HAL_CACHE_LINE) uint32_t busy;
	uint32_t bytes;
	kcall_serve_fn *fn;
	long result;		/* written by home */
	_Alignas(HAL_CACHE_LINE) struct kcall_args args;
};

/*
 * Runs on the receiving core, may be in the middle of a call of that core: it must not send and
 * must not leave.
 */
typedef void am_post_fn(struct core *core, const void *data);

struct am_post {
	/* shared word: home sets it, the receiver clears it */
	_Alignas(HAL_CACHE_LINE) uint32_t busy;
	uint32_t bytes;
	am_post_fn *fn;
	_Alignas(HAL_CACHE_LINE) unsigned char data[AM_DATA];
};

/* Home's side of the calls. */
struct am_queue {
	_Alignas(HAL_CACHE_LINE) uint32_t ticket;	/* shared word: next ticket */
	/* home: place of the oldest ticket not served */
	_Alignas(HAL_CACHE_LINE) uint32_t *next;
	uint64_t served;	/* home: messages, and calls of home itself */
	/* constant */
	uint32_t *order;	/* shared words: sender + 1, or 0 */
	uint32_t *last;		/* of them */
	uintptr_t mask;		/* slots of the ring - 1 */
};

/* Before anything else: the ring has `slots` (a power of two) places, all 0. */
void am_init(struct cluster *c, uint32_t *order, uint32_t slots);

/* Home: how many messages it has not begun to serve, of fewer senders than slots. */
uint32_t am_waiting(const struct am_queue *q);

/* Home: serve the oldest message. False if there is none. */
bool am_serve_call(struct cluster *c);

/*
 * Every core but home: run the function in the inbox until there is none. False if there was none.
 */
bool am_serve_posts(struct core *core);

/*
 * Serve what there is for this core, whichever it is. Home takes what was sent before it came here,
 * and perhaps not what comes meanwhile: no more messages than there are senders, of which each has
 * one in flight. False if there was nothing.
 */
bool am_serve(struct core *core);

/*
 * Home: have another core run fn on a copy of `bytes` bytes. The core is not interrupted (ring
 * hal_interrupt if it must be). 0; -E_2BIG; -E_AGAIN: its slot is busy.
 */
int am_post(struct core *to, am_post_fn *fn, const void *data, uint32_t bytes);

/*
 * A core sleeps until it is rung, unless `busy` is 0, what it waits for, or `mine` is not: there is
 * a message for it. Whoever changes one of these rings it.
 */
void am_wait(const uint32_t *busy, const uint32_t *mine);

/* Any core: wake home, also out of a user thread if it runs one. */
void am_ring_home(struct cluster *c);

#endif
