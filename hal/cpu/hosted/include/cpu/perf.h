/* SPDX-License-Identifier: MIT
 *
 * Markers for an instruction counter outside: there is none on the hosted port.
 */
#ifndef CPU_PERF_H
#define CPU_PERF_H

#define hal_mark(n) ((void)(n))

#define hal_refills(code) ((void)(code), (uint32_t)0)

#endif
