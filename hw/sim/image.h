// SPDX-License-Identifier: MIT
//
// Programs as the simulator sees them: ELF files for OpenRISC (32 bits, big-endian) or raw bytes, put into the cluster's memory, and the
// functions that their symbols name.
#ifndef HW_SIM_IMAGE_H
#define HW_SIM_IMAGE_H

#include <cstdint>
#include <string>
#include <vector>

struct Symbol {
	uint32_t start, end;
	std::string name;
};

// Functions by address. Several programs may be added; a later one does not hide an earlier one.
class Symbols {
public:
	void add(const Symbol &s) { list_.push_back(s); }
	void sort();
	// Index of the function that holds an address, or -1.
	int find(uint32_t address) const;
	// "name+0x12", or the bare address.
	std::string text(uint32_t address) const;
	const std::vector<Symbol> &all() const { return list_; }

private:
	std::vector<Symbol> list_;
};

// Where bytes go: the cluster's memory as big-endian words.
struct Memory {
	uint32_t *words;
	uint32_t bytes;
	void put(uint32_t address, uint8_t value)
	{
		uint32_t shift = 24 - 8 * (address & 3), &w = words[address >> 2];
		w = (w & ~(0xffu << shift)) | (uint32_t(value) << shift);
	}
};

// Load an ELF file (its segments at their physical addresses) and its symbols. Returns "" or what is wrong, in one line.
std::string load_elf(const std::string &path, Memory &memory, Symbols &symbols);
// Load a raw file.
std::string load_raw(const std::string &path, uint32_t address, Memory &memory);
// Only the symbols of an ELF file, moved by `base`.
std::string load_symbols(const std::string &path, uint32_t base, Symbols &symbols);

#endif
