/* SPDX-License-Identifier: MIT
 *
 * HAL contract: the network-on-chip. Reliable, ordered per slot; a put is visible before the notify
 * that follows it. Loss exists only as the death of a cluster. Every call runs on any core of the
 * cluster unless it says "home core".
 *
 * A slot is a piece of the owner's NoC window: the owner publishes it, a peer puts one block into
 * it, the owner reads it in place. Who may put when is the protocol's affair (kernel/ikc); the HAL
 * only checks owner, incarnation and length.
 */
#ifndef HAL_NOC_H
#define HAL_NOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boot_record;

/*
 * Peers are not trusted: every cluster can write to every window. Whatever lies there, these
 * functions reach nothing but windows and end after a number of steps that only the machine's size
 * bounds. What is read out of a slot may change under the reader at any time.
 */

/*
 * Set up this cluster's window (home core, once, at boot): slots, event rings, doorbells,
 * incarnation, state alive.
 */
void hal_noc_init(const struct boot_record *record);

/*
 * Home core: from now on events interrupt a user thread that runs here, or they need not, which is
 * at first as the boot record says of this core. Who sends may have looked already: of what came
 * before this call in hal_noc_activity the home core is sure, behind a fence.
 */
void hal_noc_home_runs_users(bool yes);

/*
 * Slots of every window: the mailbox slots, one for each connector and sending cluster; where there
 * are fewer connectors than ports, MAILBOX_CREDITS for each mailbox port; then the portal slots,
 * one for each connector of portals: if those are as many as ports, a port's has its number. Each
 * holds HAL_NOC_HEADER_BYTES for the protocol's header and its payload: MAILBOX_MSG_SIZE or the
 * record's portal_unit_bytes.
 */
#define HAL_NOC_HEADER_BYTES 64

unsigned hal_noc_mailbox_slot(unsigned connector, unsigned sender);
unsigned hal_noc_credit_slot(unsigned port, unsigned credit);
unsigned hal_noc_portal_slot(unsigned connector);
size_t hal_noc_slot_bytes(unsigned slot);

/*
 * Put a block into a slot of another (or the own) cluster's window. `incarnation` is what the
 * caller knows of the owner. 0; -E_STALE: the owner has restarted; -E_HOSTDOWN: it is dead;
 * -E_INVAL: no such slot, or len too large.
 */
int hal_noc_put(unsigned cluster, unsigned slot, uint32_t incarnation, const void *block,
	size_t len);

/* A block whose end is memory of the running thread's process. */
struct hal_noc_block {
	const void *head;
	size_t head_bytes;
	uintptr_t user;			/* address of what follows the head */
	size_t user_bytes;
};

/*
 * The same for such a block, which goes from the user's memory into the slot without a copy
 * between. Also -E_FAULT: that memory cannot be read; the slot then holds nothing that the peer may
 * be told of.
 */
int hal_noc_put_user(unsigned cluster, unsigned slot, uint32_t incarnation,
	const struct hal_noc_block *block);

/* The owner's view of a slot, acquired, valid until the peer is told that it may put again. */
const void *hal_noc_slot(unsigned slot);

/*
 * Send a small event to a cluster's home core and ring its doorbell. Ordered per pair. 0,
 * -E_HOSTDOWN, or -E_AGAIN if the pair's ring is full (the protocols keep fewer events in flight
 * than a ring holds; home core only).
 */
int hal_noc_notify(unsigned cluster, uint32_t event);

/*
 * Take the next event (home core). True and its sender, the incarnation of the sender that sent it,
 * and its value; or false if there is none. The sender may be in another incarnation when the
 * caller looks. HAL_NOC_NONSENSE, which no protocol sends: the sender's ring cannot be as it is;
 * what it held was dropped.
 */
#define HAL_NOC_NONSENSE 0
bool hal_noc_poll(unsigned *cluster, uint32_t *incarnation, uint32_t *event);

/*
 * A word that changes whenever something came for this cluster: an event, a death, text for the
 * console (cluster 0). Home core: read it with hal_load32 before looking further; what it announces
 * is there already, and the doorbell rings after it.
 */
const volatile uint32_t *hal_noc_activity(void);

/*
 * Where the running core finds the pages of a cluster's window that processes map (channel_bytes of
 * the boot record): the windows' owners give them away, hal_paddr says what to map. The HAL looks
 * at nothing there.
 */
void *hal_noc_channels(unsigned cluster);

/* Life and death. */
/* state word says up and incarnation is set */
bool hal_noc_alive(unsigned cluster);
uint32_t hal_noc_incarnation(unsigned cluster);		/* 0: not up yet */
/* whoever notices it; idempotent; tells every cluster (hal_noc_deaths, doorbell) */
void hal_noc_mark_dead(unsigned cluster);
bool hal_noc_is_dead(unsigned cluster);			/* marked dead, and not restarted since */
/*
 * home core, of one that is dead and stopped: forget what its ring holds, and what its console
 * holds that cannot be; its next life begins with them as they are
 */
void hal_noc_forget(unsigned cluster);
/* cluster 0, of one that is stopped and about to start: it is neither dead nor up */
void hal_noc_mark_down(unsigned cluster);
/* how many deaths this cluster was told of: look at all peers when it changes */
uint32_t hal_noc_deaths(void);
void hal_noc_heartbeat(void);				/* advance the own counter (home core) */
uint32_t hal_noc_heartbeat_of(unsigned cluster);

/*
 * Byte stream from each cluster to cluster 0's console. Write: whole text or -E_AGAIN. Cluster 0's
 * home core: ready: bytes that lie there, or -E_INVAL: the ring cannot be as it is, what it held
 * was dropped. Read: bytes taken.
 */
int hal_noc_console_write(const char *text, size_t len);
int hal_noc_console_ready(unsigned cluster);
size_t hal_noc_console_read(unsigned cluster, char *text, size_t len);

/*
 * For the back ends under hal/cpu and hal/board, not for the kernel.
 *
 * hal_noc_window is theirs: where the running core finds the window of a cluster (noc_base +
 * cluster * noc_window_bytes, or wherever the back end mapped it). The area is zero when the
 * machine starts. hal_noc_private is theirs, too: HAL_NOC_PRIVATE_BYTES of memory that only this
 * cluster can reach, zero at its start, aligned to a cache line. hal_noc_attach is the part of
 * hal_noc_init that touches no window: enough to mark clusters dead from outside. hal_noc_doorbell
 * gives the words with which a back end may build hal_wait and hal_notify. It works before
 * hal_noc_init, which resets the own cluster's doorbells.
 */
struct hal_doorbell {
	uint32_t waiting;		/* set by the core that is about to wait */
	uint32_t rung;			/* set by whoever rings */
	uint32_t reserved[14];		/* a cache line each */
};

#define HAL_NOC_PRIVATE_BYTES 384

void *hal_noc_window(unsigned cluster);
void *hal_noc_private(void);
void hal_noc_attach(const struct boot_record *record);
struct hal_doorbell *hal_noc_doorbell(unsigned cluster, unsigned core);

#endif
