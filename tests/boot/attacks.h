/* SPDX-License-Identifier: MIT
 *
 * What a cluster's kernel on bare metal tries that it must not: accesses to all that is not its
 * own, at the borders of what is, and to the registers of machine mode.
 */
#ifndef TESTS_BOOT_ATTACKS_H
#define TESTS_BOOT_ATTACKS_H

#include <abi/boot.h>

#define ATTACK_TARGETS 25	/* each is loaded, stored, added to atomically, and jumped to */
#define ATTACK_WAYS 4
#define ATTACK_MORE 5			/* at what may be read, or not be executed */
#define ATTACK_REGISTERS 12
#define ATTACKS (ATTACK_TARGETS * ATTACK_WAYS + ATTACK_MORE + ATTACK_REGISTERS)

/* The running core makes one of them. It should not survive that. */
void attack(const struct boot_record *record, unsigned number);
const char *attack_name(unsigned number);

/*
 * What the last cluster may do at the same borders: it survives that, or the fence is too
 * narrow.
 */
void attack_nothing(const struct boot_record *record);

#endif
