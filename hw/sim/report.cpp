// SPDX-License-Identifier: MIT
//
// See report.h. Numbers and short names only; names of functions are escaped.
#include "report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

static const char *const NAMES[COUNTERS] = {
	"cycles", "instructions", "icache_misses", "mispredicts", "stalls", "loads", "stores", "grants",
	"doze", "branches", "dcache_misses", "buswait", "exceptions", "tlb_misses", "gated", "toggles",
};

static std::string
quoted(const std::string &s)
{
	std::string out = "\"";

	for (char ch : s) {
		if (ch == '"' || ch == '\\')
			out += '\\';
		if (static_cast<unsigned char>(ch) >= 32)
			out += ch;
	}
	return out + "\"";
}

static void
counters(FILE *f, const uint64_t *values)
{
	fprintf(f, "{");
	for (int i = 0; i < COUNTERS; i++)
		fprintf(f, "%s\"%s\": %llu", i ? ", " : "", NAMES[i], (unsigned long long)values[i]);
	fprintf(f, "}");
}

static void
window(FILE *f, int core, uint32_t label, const Window &w)
{
	fprintf(f, "{\"core\": %d, \"label\": %u, ", core, label);
	fprintf(f, "\"times\": %llu, \"cycles\": %llu, \"least\": %llu, \"most\": %llu, \"each\": [", (unsigned long long)w.times,
		(unsigned long long)w.cycles, (unsigned long long)(w.times ? w.least : 0), (unsigned long long)w.most);
	for (size_t i = 0; i < w.each.size(); i++)
		fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)w.each[i]);
	fprintf(f, "], \"cores\": [");
	for (int c = 0; c < CORES; c++) {
		fprintf(f, "%s", c ? ", " : "");
		counters(f, &w.sum[c * COUNTERS]);
	}
	fprintf(f, "]}");
}

static void
one_core(FILE *f, const Model &model, const CoreState &s, int c)
{
	uint64_t values[COUNTERS];

	for (int i = 0; i < COUNTERS; i++)
		values[i] = model.counter(c, i);
	fprintf(f, "{\"counters\": ");
	counters(f, values);
	fprintf(f, ", \"polls\": %llu, \"exceptions\": [", (unsigned long long)s.polls);
	for (int v = 0; v < 16; v++)
		fprintf(f, "%s%llu", v ? ", " : "", (unsigned long long)s.exceptions[v]);
	fprintf(f, "]}");
}

template <typename T>
static void
row(FILE *f, const char *name, const T &values)
{
	fprintf(f, ", \"%s\": [", name);
	for (int c = 0; c < CORES; c++)
		fprintf(f, "%s%llu", c ? ", " : "", (unsigned long long)values[c]);
	fprintf(f, "]");
}

static void
functions(FILE *f, const Watch &watch, const Symbols &symbols)
{
	const char *comma = "";

	fprintf(f, ", \"profile\": [");
	for (const auto &[index, spent] : watch.spent) {
		fprintf(f, "%s\n{\"function\": %s, \"address\": %u, \"bytes\": %u", comma, quoted(index == -2 ? "(doze)" : index < 0 ? "?" : symbols.all()[index].name).c_str(),
			index < 0 ? 0 : symbols.all()[index].start, index < 0 ? 0 : symbols.all()[index].end - symbols.all()[index].start);
		row(f, "cycles", spent.cycles);
		row(f, "instructions", spent.instructions);
		row(f, "icache_misses", spent.misses);
		row(f, "mispredicts", spent.mispredicts);
		fprintf(f, "}");
		comma = ",";
	}
	fprintf(f, "]");
}

std::string
report(const std::string &path, const Outcome &outcome, const Model &model, const Watch &watch, const Symbols &symbols)
{
	FILE *f = fopen(path.c_str(), "w");

	if (f == nullptr)
		return "cannot write " + path + ": " + strerror(errno);
	fprintf(f, "{\"end\": \"%s\", \"status\": %d, \"cycles\": %llu, \"seconds\": %.3f, \"flits\": [", outcome.end.c_str(), outcome.status,
		(unsigned long long)outcome.cycles, outcome.seconds);
	for (size_t t = 0; t < outcome.flits.size(); t++)
		fprintf(f, "%s%llu", t ? ", " : "", (unsigned long long)outcome.flits[t]);
	fprintf(f, "], \"cores\": [");
	for (int c = 0; c < CORES; c++) {
		fprintf(f, "%s\n", c ? "," : "");
		one_core(f, model, watch.core[c], c);
	}
	fprintf(f, "], \"windows\": [");
	const char *comma = "";
	for (const auto &[which, w] : watch.windows) {
		fprintf(f, "%s\n", comma);
		window(f, which.first, which.second, w);
		comma = ",";
	}
	fprintf(f, "]");
	if (!watch.spent.empty())
		functions(f, watch, symbols);
	fprintf(f, "}\n");
	if (fclose(f) != 0)
		return "cannot write " + path + ": " + strerror(errno);
	return "";
}
