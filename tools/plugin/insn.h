/* SPDX-License-Identifier: MIT
 *
 * Instructions of riscv64 that the plugins look for: the markers of hal/perf.h, and waits.
 */
#ifndef INSN_H
#define INSN_H

#include <stdint.h>
#include <string.h>
#include "qemu_plugin_api.h"

#define MARK_BEGIN 1
#define MARK_END 2
#define MARK_POLL 3
#define MARK_LABEL 16
#define WFI 0x10500073

/* Of a short one the upper half is zero. */
static inline uint32_t
insn_word(const struct qemu_plugin_insn *insn)
{
	uint32_t word = 0;
	size_t size = qemu_plugin_insn_size(insn);

	memcpy(&word, qemu_plugin_insn_data(insn), size < sizeof(word) ? size : sizeof(word));
	return word;
}

/* The number of a marker, else 0. */
static inline uint32_t
mark_of(uint32_t word)
{
	return (word & 0xfffff) == 0x2013 ? word >> 20 : 0;
}

#endif
