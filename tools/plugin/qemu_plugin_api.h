/* SPDX-License-Identifier: MIT
 *
 * The part of QEMU's plugin interface, version 1 (QEMU 4.2 to 8.x), that the counter uses. Own
 * declarations: Debian has no package with the header. The functions are found in the QEMU program
 * that loads the plugin.
 */
#ifndef QEMU_PLUGIN_API_H
#define QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VERSION 1
#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;			/* a block of instructions being translated */
struct qemu_plugin_insn;

struct qemu_plugin_info {
	const char *target_name;
	struct { int min, cur; } version;
	bool system_emulation;
	struct { int smp_vcpus, max_vcpus; } system;
};

/* what a callback may do with the registers of the virtual CPU */
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };

enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef uint32_t qemu_plugin_meminfo_t;	/* what kind of access it was */

typedef void qemu_plugin_tb_fn(uint64_t id, struct qemu_plugin_tb *tb);
typedef void qemu_plugin_exec_fn(unsigned vcpu, void *data);
typedef void qemu_plugin_mem_fn(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
	void *data);
typedef void qemu_plugin_exit_fn(uint64_t id, void *data);

/* the plugin defines these two */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info,
	int argc, char **argv);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_plugin_tb_fn *fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_fn *fn,
	enum qemu_plugin_cb_flags flags,
	void *data);
/* before the block's first instruction */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_exec_fn *fn,
	enum qemu_plugin_cb_flags flags, void *data);
/* behind each access of the instruction */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn *fn,
	enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *data);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr;		/* until the callback returns */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *at);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *at);
void qemu_plugin_register_atexit_cb(uint64_t id, qemu_plugin_exit_fn *fn, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_outs(const char *text);

#endif
