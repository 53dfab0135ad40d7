// SPDX-License-Identifier: MIT
//
// ELF and raw files for the simulator; see image.h.
#include "image.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

static const uint16_t EM_OPENRISC = 92;
static const uint32_t PT_LOAD = 1, SHT_SYMTAB = 2, ENTRY = 0x100;

void
Symbols::sort()
{
	std::sort(list_.begin(), list_.end(), [](const Symbol &a, const Symbol &b) { return a.start < b.start; });
	// an assembler label without a size reaches to the next symbol
	for (size_t i = 0; i < list_.size(); i++)
		if (list_[i].end == list_[i].start)
			list_[i].end = i + 1 < list_.size() ? std::max(list_[i + 1].start, list_[i].start + 4) : list_[i].start + 0x1000;
}

int
Symbols::find(uint32_t address) const
{
	auto it = std::upper_bound(list_.begin(), list_.end(), address, [](uint32_t a, const Symbol &s) { return a < s.start; });
	for (int back = 0; back < 4 && it != list_.begin(); back++) {
		--it;
		if (address < it->end)
			return int(it - list_.begin());
	}
	return -1;
}

std::string
Symbols::text(uint32_t address) const
{
	char buf[32];
	int i = find(address);

	if (i < 0) {
		snprintf(buf, sizeof buf, "0x%08x", address);
		return buf;
	}
	snprintf(buf, sizeof buf, "+0x%x", address - list_[i].start);
	return list_[i].name + buf;
}

static std::string
read_file(const std::string &path, std::vector<uint8_t> &out)
{
	FILE *f = fopen(path.c_str(), "rb");
	uint8_t buf[65536];
	size_t n;

	if (f == nullptr)
		return "cannot read " + path + ": " + strerror(errno);
	while ((n = fread(buf, 1, sizeof buf, f)) > 0)
		out.insert(out.end(), buf, buf + n);
	fclose(f);
	return "";
}

// A checked view of an ELF file.
struct Elf {
	std::string path;
	std::vector<uint8_t> data;

	uint32_t word(size_t at) const
	{
		return at + 4 <= data.size() ? uint32_t(data[at]) << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3] : 0;
	}
	uint32_t half(size_t at) const { return at + 2 <= data.size() ? uint32_t(data[at] << 8 | data[at + 1]) : 0; }
	std::string open()
	{
		std::string trouble = read_file(path, data);

		if (!trouble.empty())
			return trouble;
		if (data.size() < 52 || memcmp(data.data(), "\177ELF\1\2", 6) != 0 || half(18) != EM_OPENRISC)
			return path + " is not a program for OpenRISC (32-bit big-endian ELF)";
		return "";
	}
};

static void
take_symbols(const Elf &elf, uint32_t base, Symbols &symbols)
{
	uint32_t shoff = elf.word(32), shnum = elf.half(48);

	for (uint32_t s = 0; s < shnum; s++) {
		size_t sh = shoff + 40 * s;
		if (elf.word(sh + 4) != SHT_SYMTAB)
			continue;
		uint32_t at = elf.word(sh + 16), size = elf.word(sh + 20), strings = elf.word(shoff + 40 * elf.word(sh + 24) + 16);
		for (uint32_t off = 0; off + 16 <= size; off += 16) {
			size_t sym = at + off, name = strings + elf.word(sym);
			uint32_t type = elf.data.size() > sym + 12 ? elf.data[sym + 12] & 15 : 15, index = elf.half(sym + 14);
			if (type > 2 || type == 1 || index == 0 || index >= 0xff00 || name >= elf.data.size() || elf.data[name] == 0)
				continue;
			uint32_t value = elf.word(sym + 4) + base;
			const char *text = reinterpret_cast<const char *>(&elf.data[name]);
			if (text[0] == '.' || text[0] == '$')
				continue;
			symbols.add({value, value + elf.word(sym + 8), std::string(text, strnlen(text, elf.data.size() - name))});
		}
	}
}

static std::string
too_large(const std::string &path, uint64_t end, const Memory &memory)
{
	char buf[160];

	snprintf(buf, sizeof buf, " does not fit: it reaches to 0x%llx, the cluster has 0x%x bytes of memory", (unsigned long long)end, memory.bytes);
	return path + buf;
}

std::string
load_elf(const std::string &path, Memory &memory, Symbols &symbols)
{
	Elf elf{path, {}};
	std::string trouble = elf.open();
	char buf[96];

	if (!trouble.empty())
		return trouble;
	if (elf.word(24) != ENTRY) {
		snprintf(buf, sizeof buf, " starts at 0x%x; the cores start at 0x%x", elf.word(24), ENTRY);
		return path + buf;
	}
	for (uint32_t p = 0; p < elf.half(44); p++) {
		size_t ph = elf.word(28) + 32 * p;
		if (elf.word(ph) != PT_LOAD)
			continue;
		uint64_t offset = elf.word(ph + 4), address = elf.word(ph + 12), size = elf.word(ph + 16), room = elf.word(ph + 20);
		if (address + room > memory.bytes)
			return too_large(path, address + room, memory);
		if (offset + size > elf.data.size())
			return path + " is cut short";
		for (uint64_t i = 0; i < size; i++)
			memory.put(address + i, elf.data[offset + i]);
	}
	take_symbols(elf, 0, symbols);
	return "";
}

std::string
load_raw(const std::string &path, uint32_t address, Memory &memory)
{
	std::vector<uint8_t> data;
	std::string trouble = read_file(path, data);

	if (!trouble.empty())
		return trouble;
	if (uint64_t(address) + data.size() > memory.bytes)
		return too_large(path, uint64_t(address) + data.size(), memory);
	for (size_t i = 0; i < data.size(); i++)
		memory.put(address + i, data[i]);
	return "";
}

std::string
load_symbols(const std::string &path, uint32_t base, Symbols &symbols)
{
	Elf elf{path, {}};
	std::string trouble = elf.open();

	if (trouble.empty())
		take_symbols(elf, base, symbols);
	return trouble;
}
