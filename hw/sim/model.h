// SPDX-License-Identifier: MIT
//
// The generated model behind plain accessors: Verilator gives vectors of up to 64 bits as integers and longer ones as arrays of words,
// so the same port has another type in a cluster of one, two or more cores. CORES (of all clusters) is a constant of the build, and
// CLUSTERS, which is 2 for a chip: tiles.h then has Verilator's headers, whose names nobody knows before.
#ifndef HW_SIM_MODEL_H
#define HW_SIM_MODEL_H

#ifdef HW_CHIP
#include "Vchip.h"
#include "tiles.h"
const int CLUSTERS = 2;
typedef Vchip Top;
#else
#include "Vcluster.h"
#include "Vcluster___024root.h"
#ifndef HW_FLAT
#include "Vcluster_cluster.h"
#endif
const int CLUSTERS = 1;
typedef Vcluster Top;
#endif
#include "verilated.h"

#include <cstring>

#include "image.h"

const int COUNTERS = 16;

// Where Verilator put what is inside the module cluster: a class of its own, or the root.
#ifdef HW_CHIP
#define HW_ROOT(name) top.rootp->chip->tiles__BRA__0__KET____DOT__tile->name
#define HW_OTHER(name) top.rootp->chip->tiles__BRA__1__KET____DOT__tile->name
#elif !defined(HW_FLAT)
#define HW_ROOT(name) top.rootp->cluster->name
#else
#define HW_ROOT(name) top.rootp->cluster__DOT__##name
#endif

template <typename T>
inline uint32_t
word_of(const T &v, int i)
{
	if constexpr (std::is_integral_v<T>)
		return uint32_t(v >> (32 * i));
	else
		return v[i];
}

template <typename T>
inline uint32_t
nibble_of(const T &v, int i)
{
	return uint32_t(v >> (4 * i)) & 15;
}

class Model {
public:
	Model(VerilatedContext &context) : top(&context) {}
	bool retired(int c) const { return top.retired >> c & 1; }
	uint32_t pc(int c) const { return word_of(top.retired_pc, c); }
	uint32_t insn(int c) const { return word_of(top.retired_insn, c); }
	bool taken(int c) const { return top.taken >> c & 1; }
	uint32_t vector(int c) const { return nibble_of(top.taken_vector, c); }
	uint32_t taken_pc(int c) const { return word_of(top.taken_pc, c); }
	uint32_t taken_insn(int c) const { return word_of(top.taken_insn, c); }
	bool taken_user(int c) const { return top.taken_user >> c & 1; }
	bool doze(int c) const { return top.doze >> c & 1; }
	bool gated(int c) const { return top.gated >> c & 1; }
	bool mispredict(int c) const { return top.mispredict >> c & 1; }
	bool ifill(int c) const { return top.ifill >> c & 1; }
	// the clusters' consoles and exits
	bool speaks(int t) const { return top.char_valid >> t & 1; }
	uint8_t said(int t) const { return uint8_t(top.char_code >> 8 * t); }
	bool ended(int t) const { return top.exit_valid >> t & 1; }
	int status(int t) const { return top.exit_status >> 16 * t & 255; }
#ifdef HW_CHIP
	bool flit(int t) const { return top.flits >> t & 1; }
	uint64_t counter(int c, int n) const
	{
		int i = c % (CORES / CLUSTERS) * COUNTERS + n;
		return c < CORES / CLUSTERS ? HW_ROOT(perf__DOT__count)[i] : HW_OTHER(perf__DOT__count)[i];
	}
	// what was loaded is in every cluster's memory
	void spread() { memcpy(&HW_OTHER(memory__DOT__mem)[0], memory(), size_t(memory_words()) * 4); }
#else
	bool flit(int) const { return false; }
	uint64_t counter(int c, int n) const { return HW_ROOT(perf__DOT__count)[c * COUNTERS + n]; }
	void spread() {}
#endif
	uint32_t *memory() { return &HW_ROOT(memory__DOT__mem)[0]; }
	uint32_t memory_words() const { return sizeof(HW_ROOT(memory__DOT__mem)) / 4; }

	// one clock cycle: low, then high
	void cycle()
	{
		top.clk = 0;
		top.eval();
		top.clk = 1;
		top.eval();
	}

	Top top;
};

#endif
