/* SPDX-License-Identifier: MIT
 *
 * Boot record: what a machine is, written by tools/bootrec.py from machines/NAME.toml, read by
 * every cluster. The writer reads the structures and numbers here. Little-endian or the CPU's own
 * order (the writer knows the port), explicit widths, no pointers but physical addresses.
 */
#ifndef ABI_BOOT_H
#define ABI_BOOT_H

#include <stdint.h>
#include <abi/limits.abi.h>

#define BOOT_MAGIC 0x4c4f5441u		/* "ATOL" */
#define BOOT_VERSION 2
#define BOOT_SEGMENTS_MAX 6
#define BOOT_POLICIES_MAX 4

/* beside the roles of cores: not of the machine, a thread of the host that entered (hal/guest.h) */
#define ROLE_GUEST 5

struct boot_cluster {
	/* physical address of the private memory (0: the back end allocates it) */
	uint64_t mem_base;
	uint64_t mem_bytes;
	uint32_t cores;
	/* index of core 0 of this cluster in the machine (hart number, entry in roles[]) */
	uint32_t first_core;
	uint32_t incarnation;
	/* further cores that threads of the host may become (set by the hosted back end, else 0) */
	uint32_t guests;
	uint32_t policy;		/* of policy[] */
	uint32_t reserved;
};

/*
 * Memory domains of a cluster, equal parts of its memory and of its cores, and in what order those
 * of each domain look for a core and for pages.
 */
struct boot_policy {
	uint32_t last_domain;		/* its number; 0: there is one */
	uint32_t flags;			/* POLICY_* */
	uint32_t core_bits;		/* core >> core_bits is its domain */
	uint32_t pages;			/* of a domain; those that the kernel takes count */
	/* domains, the first choice first: from [d * DOMAINS_MAX] on for processes of domain d */
	uint8_t core_order[DOMAINS_MAX * DOMAINS_MAX];
	uint8_t page_order[DOMAINS_MAX * DOMAINS_MAX];
};

/* one segment of the init image, already laid out: the kernel only maps and copies */
struct boot_segment {
	/* offset from the base at which the kernel maps the image */
	uint64_t addr;
	uint64_t file_offset;		/* in the boot archive area */
	uint64_t file_bytes;
	uint64_t mem_bytes;
	uint32_t prot;			/* PAGE_* */
	uint32_t reserved;
};

struct boot_record {
	uint32_t magic;
	uint32_t version;
	uint32_t bytes;			/* of this record */
	uint32_t clusters;
	/* physical address of window 0 (0: the back end allocates it) */
	uint64_t noc_base;
	uint64_t noc_window_bytes;	/* per cluster */
	uint64_t archive_base;		/* physical address of the boot archive, shared read-only */
	uint64_t archive_bytes;
	uint32_t mailbox_ports;		/* per cluster */
	uint32_t portal_ports;
	uint32_t portal_unit_bytes;	/* one portal slot */
	uint32_t heartbeat_ms;		/* 0: none */
	uint32_t channel_bytes;		/* of each window: pages that processes map (channels) */
	/* per cluster, towards each, shared by its mailbox ports; 0: as many as there are ports */
	uint32_t mailbox_connectors;
	uint64_t init_entry;		/* offset from the image base */
	uint32_t init_segments;
	uint32_t flags;			/* BOOT_* */
	/* per cluster, shared by its portal ports; 0: as many as there are ports */
	uint32_t portal_connectors;
	uint32_t reserved;
	struct boot_segment init[BOOT_SEGMENTS_MAX];
	struct boot_cluster cluster[CLUSTERS_MAX];
	uint8_t roles[CORES_MAX];
	char machine[32];
	struct boot_policy policy[BOOT_POLICIES_MAX];	/* the first: of one domain */
};

#define POLICY_CORE_ORDER 1	/* else threads go to all cores in turn, whatever their domain */
#define POLICY_PAGES_TAKE_TURNS 2	/* pages come from all domains in turn */

#define BOOT_QUIET 1			/* no kernel messages on the console but failures */
#define BOOT_NO_INIT 2			/* kernel tests: do not start init */

#endif
