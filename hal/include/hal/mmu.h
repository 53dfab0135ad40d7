/* SPDX-License-Identifier: MIT
 *
 * HAL contract: address spaces. Only the home core (kernel core) changes a space. <cpu/page.h>
 * defines HAL_PAGE_SHIFT, HAL_LARGE_SHIFT, and struct hal_space with at least the fields `uintptr_t
 * first, limit`: user addresses of that space are in [first, limit). Where one hardware address
 * space holds several processes (hosted), spaces get disjoint ranges. It also defines
 * HAL_STEP_PAGES, a power of two: a change of so many pages in a row keeps others waiting for about
 * as long as a few messages do. On the hosted port, where a run of pages is one call of the host
 * and a message may cost two changes of the host's thread, these are many. And HAL_REMAP_IS_SEEN:
 * what hal_remap has changed no core of the cluster can use any more, without hal_tlb_flush.
 */
#ifndef HAL_MMU_H
#define HAL_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cpu/page.h>

#define HAL_PAGE_BYTES ((size_t)1 << HAL_PAGE_SHIFT)
#define HAL_LARGE_BYTES ((size_t)1 << HAL_LARGE_SHIFT)

/* Where a space gets page-table pages from: zero-filled page or NULL; and gives them back. */
struct hal_page_source {
	void *(*take)(void *ctx);
	void (*give)(void *ctx, void *page);
	void *ctx;
};

/*
 * Physical address of kernel memory of this cluster, and back. hal_kaddr also reaches the boot
 * archive.
 */
uint64_t hal_paddr(const void *kernel);
void *hal_kaddr(uint64_t paddr);

/* Make an empty space. 0 or -E_NOMEM. */
int hal_space_init(struct hal_space *s, const struct hal_page_source *src);

/*
 * Give back some page-table pages (and, hosted, all mappings): a bounded number, looking at a
 * bounded number of entries. True: that was all. False: call it again, and nothing else on this
 * space. The space must not be in use by any core.
 */
bool hal_space_destroy(struct hal_space *s);

/*
 * In `prot` of hal_map: rights that hal_protect may give these pages later, besides those that they
 * get now.
 */
#define HAL_MAY(rights) ((rights) << 5)
#define HAL_MAY_ALL HAL_MAY(PAGE_READ | PAGE_WRITE | PAGE_EXEC)

/*
 * Map `count` pages (large: of the large size) of physical memory at `addr` with
 * PAGE_READ|WRITE|EXEC of abi/limits.abi.h; these rights and those in HAL_MAY stay the mapping's
 * maximum; with none no thread can reach them. The range must be unmapped (-E_EXIST), aligned and
 * inside the user range (-E_INVAL). Maps all or nothing (-E_NOMEM): no core has seen a table or a
 * page of a mapping that failed. Gives no table back.
 */
int hal_map(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot);

/*
 * Remove mappings, or change their protection below the maximum of each (-E_ACCES); every page must
 * be mapped (-E_INVAL). `count` is in pages of the small size; a large page must lie inside the
 * range as a whole (-E_INVAL). An error changes nothing. hal_unmap gives the tables of small pages
 * back that it leaves empty; those above them may stay until the space ends. TLBs are the caller's
 * affair. -E_NOMEM: a host has no room to split its own mappings; hal_unmap does not fail so where
 * hal_unmap_ready has succeeded for a range around it.
 */
int hal_unmap_ready(struct hal_space *s, uintptr_t addr, size_t count);
int hal_unmap(struct hal_space *s, uintptr_t addr, size_t count);
int hal_protect(struct hal_space *s, uintptr_t addr, size_t count, int prot);

/*
 * The page `paddr`, with these rights, in the place of the small one `was`, which is mapped without
 * the right to write: no core ever finds none there. The maximum stays. 0; -E_EXIST: another page,
 * or none, is mapped there, or may be written to; -E_NOMEM: a host has no room. An error changes
 * nothing.
 */
int hal_remap(struct hal_space *s, uintptr_t addr, uint64_t was, uint64_t paddr, int prot);

/*
 * The same memory in pages of the other size. hal_split: small pages instead of the large one that
 * maps addr. hal_join: a large page at addr instead of the small ones, if each is mapped, all have
 * the same rights and the same maximum, and what they map is one large page's memory; the table
 * goes back to the source, and cores may walk it until they have been told to forget translations.
 * 0; -E_INVAL: nothing of the kind is there, or the port has no such change (or1k, which feeds its
 * TLB with small pages in any case); -E_NOMEM: no table. An error changes nothing.
 */
int hal_split(struct hal_space *s, uintptr_t addr);
int hal_join(struct hal_space *s, uintptr_t addr);

/*
 * Look one address up: 0 and paddr of its page (where it lies in a large page, of that), its prot
 * with PAGE_LARGE and its maximum in HAL_MAY; or -E_INVAL.
 */
int hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot);

/*
 * Of the small pages from addr on, at most `count`, as many as are mapped in a row and all have, or
 * all lack, each of the rights `alike`, and have one maximum unless that is 0: their addresses, and
 * in *prot the rights that one of them has. How many; it may be fewer, but 0 only if no small page
 * is at addr.
 *
 * hal_share: these pages, of one such run, appear at `at` in another space, too, where none is and
 * in the room of one large page, with their rights but that to write, which they lose at addr as
 * well. Their maximum stays. 0 or -E_NOMEM, and then none appears. Both may work page by page
 * (hal/each.h).
 */
size_t hal_query_run(struct hal_space *s, uintptr_t addr, size_t count, int alike, uint64_t *paddr,
	int *prot);
int hal_share(struct hal_space *s, uintptr_t addr, size_t count, struct hal_space *to,
	uintptr_t at);

/*
 * How many bytes from addr on, an address of the space at which a page begins, are not mapped: as
 * many as so many looks at tables find. They may reach beyond the space. 0: addr is mapped.
 */
size_t hal_hole(const struct hal_space *s, uintptr_t addr, unsigned looks);

/*
 * Make `s` the space that hal_copy_in, hal_copy_out and hal_user_load32 reach on this core, as
 * hal_user_enter does. NULL: none; after it the core refers to no user space, so that the one it
 * had may be destroyed. A core that uses another space forgets the translations of the one that it
 * had: when it comes back it needs no shoot-down for what was changed there meanwhile.
 */
void hal_space_use(struct hal_space *s);

/* Fill whole pages of the cluster's memory with zeros; a port may do it lazily. */
void hal_zero_pages(void *kernel, size_t bytes);

/* Forget this core's cached translations of the whole space (shoot-down, on the core itself). */
void hal_tlb_flush(void);

#endif
