// SPDX-License-Identifier: MIT
//
// See watch.h. Markers are the instructions l.nop CD_MARK + n of abi/codesign.h.
#include "watch.h"

#include <cstdio>

#include "../../abi/codesign.h"

static const uint32_t OP_NOP = 0x15, VECTOR_ILLEGAL = 7;
static const size_t EACH_MAX = 100000, CACHE_WORDS = 1 << 20;
static const int UNKNOWN = -3, DOZE = -2;
static const uint32_t MARK_BEGIN = 1, MARK_END = 2, MARK_POLL = 3;

void
Watch::profile(bool on, bool windowed)
{
	profile_ = on;
	windowed_ = windowed;
	if (on)
		cache_.assign(CACHE_WORDS, UNKNOWN);
}

// The text of one address space lies below 4 MB or is looked up slowly.
int
Watch::function(uint32_t pc)
{
	size_t word = pc >> 2;

	if (word >= CACHE_WORDS)
		return symbols_.find(pc);
	if (cache_[word] == UNKNOWN)
		cache_[word] = symbols_.find(pc);
	return cache_[word];
}

void
Watch::open(int c, uint64_t cycle)
{
	Window &w = windows[{c, core[c].label}];

	open_ += core[c].open == nullptr;
	core[c].open = &w;
	w.opened = cycle;
	for (int i = 0; i < CORES * COUNTERS; i++)
		w.start[i] = model_.counter(i / COUNTERS, i % COUNTERS);
}

void
Watch::close(int c, uint64_t cycle)
{
	if (core[c].open == nullptr)
		return;
	Window &w = *core[c].open;
	uint64_t length = cycle - w.opened;
	core[c].open = nullptr;
	open_--;
	w.times++;
	w.cycles += length;
	w.least = std::min(w.least, length);
	w.most = std::max(w.most, length);
	if (w.each.size() < EACH_MAX)
		w.each.push_back(length);
	for (int i = 0; i < CORES * COUNTERS; i++)
		w.sum[i] += model_.counter(i / COUNTERS, i % COUNTERS) - w.start[i];
}

void
Watch::mark(int c, uint32_t number, uint64_t cycle)
{
	if (number == MARK_BEGIN)
		open(c, cycle);
	else if (number == MARK_END)
		close(c, cycle);
	else if (number == MARK_POLL)
		core[c].polls++;
	else if (number >= CD_MARK_LABEL)
		core[c].label = number;
	if (number != MARK_POLL)
		last_event = cycle;
}

// An instruction retired: the cycles since the one before are its function's, but for those in doze.
void
Watch::account(int c, uint32_t pc, uint64_t cycle)
{
	CoreState &s = core[c];

	if (!windowed_ || open_ > 0) {
		Spent &f = spent[function(pc)];
		f.cycles[c] += cycle - s.last_retired - s.dozed;
		if (s.dozed)
			spent[DOZE].cycles[c] += s.dozed;
		f.instructions[c]++;
		f.misses[c] += s.fetched;
	}
	s.dozed = 0;
	s.fetched = 0;
}

void
Watch::retire(int c, uint64_t cycle)
{
	CoreState &s = core[c];
	uint32_t pc = model_.pc(c), insn = model_.insn(c);

	if (cycle <= trace_)
		fprintf(stderr, "%llu core %d: %08x %08x %s\n", (unsigned long long)cycle, c, pc, insn, symbols_.text(pc).c_str());
	if (profile_)
		account(c, pc, cycle);
	s.instructions++;
	s.last_retired = last_any = cycle;
	s.pc = pc;
	s.trail[s.trail_at++ & 15] = pc;
	if (insn >> 24 == OP_NOP && (insn & 0xf000) == CD_MARK)
		mark(c, insn & 0xfff, cycle);
}

bool
Watch::illegal(int c, uint64_t cycle)
{
	bool user = model_.taken_user(c), ends = illegal_ends_ == 2 || (illegal_ends_ == 1 && !user);

	if (illegal_said_++ < 20)
		fprintf(stderr, "cluster: cycle %llu: core %d: illegal instruction 0x%08x at 0x%08x in %s (%s mode)%s\n", (unsigned long long)cycle, c,
			model_.taken_insn(c), model_.taken_pc(c), symbols_.text(model_.taken_pc(c)).c_str(), user ? "user" : "supervisor",
			ends ? "; stopped" : "");
	return !ends;
}

bool
Watch::look(uint64_t cycle)
{
	bool go_on = true;

	for (int c = 0; c < CORES; c++) {
		if (profile_) {
			core[c].fetched += model_.ifill(c);
			core[c].dozed += model_.doze(c);
			if (model_.mispredict(c) && (!windowed_ || open_ > 0))
				spent[function(core[c].pc)].mispredicts[c]++;
		}
		if (model_.retired(c))
			retire(c, cycle);
		if (model_.taken(c)) {
			core[c].exceptions[model_.vector(c)]++;
			last_event = cycle;
			if (cycle <= trace_)
				fprintf(stderr, "%llu core %d: exception 0x%x00 at %08x %08x\n", (unsigned long long)cycle, c, model_.vector(c),
					model_.taken_pc(c), model_.taken_insn(c));
			if (model_.vector(c) == VECTOR_ILLEGAL)
				go_on &= illegal(c, cycle);
		}
	}
	return go_on;
}

bool
Watch::all_stopped() const
{
	for (int c = 0; c < CORES; c++)
		if (!model_.gated(c))
			return false;
	return true;
}

std::string
Watch::dump() const
{
	std::string out;
	char buf[256];

	for (int c = 0; c < CORES; c++) {
		const CoreState &s = core[c];
		snprintf(buf, sizeof buf, "core %d: %s, last retired 0x%08x in %s at cycle %llu, %llu instructions\n", c,
			model_.gated(c) ? "dozes, clock stopped" : model_.doze(c) ? "dozes" : "runs", s.pc, symbols_.text(s.pc).c_str(),
			(unsigned long long)s.last_retired, (unsigned long long)s.instructions);
		out += buf;
		snprintf(buf, sizeof buf, "        misses %llu, mispredictions %llu, loads %llu, stores %llu, grants %llu, doze %llu, exceptions %llu\n",
			(unsigned long long)model_.counter(c, CD_ICACHE_MISSES), (unsigned long long)model_.counter(c, CD_MISPREDICTS),
			(unsigned long long)model_.counter(c, CD_LOADS), (unsigned long long)model_.counter(c, CD_STORES),
			(unsigned long long)model_.counter(c, CD_GRANTS), (unsigned long long)model_.counter(c, CD_DOZE),
			(unsigned long long)model_.counter(c, CD_EXCEPTIONS));
		out += buf;
		out += "        came from";
		std::string last;
		for (int i = 1; i <= 16 && s.trail_at >= unsigned(i); i++) {
			std::string where = symbols_.text(s.trail[(s.trail_at - i) & 15]);
			std::string name = where.substr(0, where.find('+'));
			if (name != last)
				out += " " + where;
			last = name;
		}
		out += "\n";
	}
	return out;
}
