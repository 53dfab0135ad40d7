// SPDX-License-Identifier: MIT
//
// The cluster's simulator: loads a program, runs the cores, shows the console, and ends with the program's status; 124 if it does not end by
// itself (out of cycles, or no progress), 125 if an illegal instruction or the simulator itself ends it.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "report.h"

static const int STATUS_NO_END = 124, STATUS_TROUBLE = 125;
static const uint64_t STUCK_CYCLES = 20000;	// without a retired instruction of any core that does not doze
static const uint64_t CHECK_EVERY = 1 << 12;

struct Options {
	std::string program, json;
	std::vector<std::pair<std::string, uint32_t>> raw, symbols;
	uint64_t max_cycles = 0, idle_cycles = 0, trace = 0;
	uint32_t latency = 0, ram = 0, seed = 0;
	uint32_t own = 0, noc_at = 0, window = 0;	// of a chip: a cluster's memory, where the windows are, and their size
	int illegal = 1;
	bool profile = false, windowed = false, quiet = false;
};

static void
die(const std::string &why)
{
	fflush(stdout);
	fprintf(stderr, "cluster: %s\n", why.c_str());
	exit(STATUS_TROUBLE);
}

static uint64_t
number(const std::string &text, const std::string &option)
{
	char *end;
	uint64_t value = strtoull(text.c_str(), &end, 0);

	if (text.empty() || *end != 0)
		die(option + " needs a number, not '" + text + "'");
	return value;
}

// "FILE@ADDRESS"
static std::pair<std::string, uint32_t>
placed(const std::string &text, const std::string &option)
{
	size_t at = text.rfind('@');

	if (at == std::string::npos)
		die(option + " needs FILE@ADDRESS, not '" + text + "'");
	return {text.substr(0, at), uint32_t(number(text.substr(at + 1), option))};
}

static void
take_option(Options &o, const std::string &name, const std::string &value)
{
	if (name == "--load")
		o.raw.push_back(placed(value, name));
	else if (name == "--symbols")
		o.symbols.push_back(placed(value, name));
	else if (name == "--json")
		o.json = value;
	else if (name == "--max-cycles")
		o.max_cycles = number(value, name);
	else if (name == "--idle-cycles")
		o.idle_cycles = number(value, name);
	else if (name == "--latency")
		o.latency = uint32_t(number(value, name));
	else if (name == "--ram")
		o.ram = uint32_t(number(value, name));
	else if (name == "--own")
		o.own = uint32_t(number(value, name));
	else if (name == "--noc-at")
		o.noc_at = uint32_t(number(value, name));
	else if (name == "--window")
		o.window = uint32_t(number(value, name));
	else if (name == "--seed")
		o.seed = uint32_t(number(value, name));
	else if (name == "--trace")
		o.trace = number(value, name);
	else if (name == "--illegal")
		o.illegal = int(number(value, name));
	else
		die("unknown option " + name);
}

static Options
parse(int argc, char **argv)
{
	Options o;

	for (int i = 1; i < argc; i++) {
		std::string a = argv[i];
		if (a == "--profile")
			o.profile = true;
		else if (a == "--profile-windows")
			o.profile = o.windowed = true;
		else if (a == "--quiet")
			o.quiet = true;
		else if (a.rfind("--", 0) == 0 && i + 1 < argc)
			take_option(o, a, argv[++i]);
		else if (a.rfind("--", 0) != 0 && o.program.empty())
			o.program = a;
		else
			die("what is '" + a + "'?");
	}
	if (o.program.empty())
		die("no program given");
	if (o.latency > 255)
		die("--latency is at most 255");
	return o;
}

static void
load(const Options &o, Model &model, Symbols &symbols)
{
	Memory memory{model.memory(), o.ram ? o.ram : model.memory_words() * 4};

	if (memory.bytes > model.memory_words() * 4)
		die("this simulator has " + std::to_string(model.memory_words() * 4) + " bytes of memory at most");
	memset(memory.words, 0, size_t(model.memory_words()) * 4);
	std::string trouble = load_elf(o.program, memory, symbols);
	for (size_t i = 0; trouble.empty() && i < o.raw.size(); i++)
		trouble = load_raw(o.raw[i].first, o.raw[i].second, memory);
	for (size_t i = 0; trouble.empty() && i < o.symbols.size(); i++)
		trouble = load_symbols(o.symbols[i].first, o.symbols[i].second, symbols);
	if (!trouble.empty())
		die(trouble);
	model.spread();
	symbols.sort();
	model.top.ram_bytes = memory.bytes;
}

// A small generator for the phase of the cores: each leaves reset at its own time.
static uint32_t
scatter(uint32_t seed, uint32_t i)
{
	uint32_t x = seed * 0x9e3779b9u + i * 0x85ebca6bu;

	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	return (x ^ x >> 12) & 63;
}

class Run {
public:
	Run(const Options &o, Model &model, Watch &watch) : o_(o), model_(model), watch_(watch) {}
	Outcome go();

private:
	bool over(Outcome &out);
	void listen(Outcome &out);
	void progress();
	void reset();
	void stuck(Outcome &out, const char *what);

	const Options &o_;
	Model &model_;
	Watch &watch_;
	uint64_t cycle_ = 0, last_char_ = 0;
	std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), said_ = start_;
	uint64_t said_cycle_ = 0;
	bool tty_ = false;
};

void
Run::reset()
{
	uint32_t hold = (1u << CORES) - 1;

	model_.top.latency = o_.latency;
	model_.top.seed = o_.seed;
	model_.top.own_bytes = o_.own;
	model_.top.noc_at = o_.noc_at;
	model_.top.window_bytes = o_.window;
	model_.top.rst = 1;
	model_.top.hold = hold;
	for (int i = 0; i < 8; i++)
		model_.cycle();
	model_.top.rst = 0;
	for (uint32_t t = 0; hold != 0; t++) {
		for (int c = 0; c < CORES; c++)
			if (t >= (o_.seed ? scatter(o_.seed, c) : 0))
				hold &= ~(1u << c);
		model_.top.hold = hold;
		model_.cycle();
		cycle_++;
	}
}

void
Run::progress()
{
	auto now = std::chrono::steady_clock::now();
	double s = std::chrono::duration<double>(now - said_).count();

	if (s < 1)
		return;
	fprintf(stderr, "\r%.1f M cycles, %.2f M cycles/s ", cycle_ / 1e6, (cycle_ - said_cycle_) / 1e6 / s);
	said_ = now;
	said_cycle_ = cycle_;
}

void
Run::stuck(Outcome &out, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "cluster: cycle %llu: no progress: %s\n%s", (unsigned long long)cycle_, what, watch_.dump().c_str());
	out.end = "stuck";
	out.status = STATUS_NO_END;
}

// Looked at now and then: limits and progress.
bool
Run::over(Outcome &out)
{
	uint64_t event = std::max(last_char_, watch_.last_event);

	if (tty_)
		progress();
	if (watch_.all_stopped())
		stuck(out, "every core dozes with its clock stopped");
	else if (cycle_ - watch_.last_any > STUCK_CYCLES) {
		bool doze = true;
		for (int c = 0; c < CORES; c++)
			doze &= model_.doze(c);
		if (!doze)
			stuck(out, "no core retires an instruction");
		else if (o_.idle_cycles && cycle_ - event > o_.idle_cycles)
			stuck(out, "every core dozes");
	} else if (o_.idle_cycles && cycle_ - event > o_.idle_cycles)
		stuck(out, "no output, no exception and no marker for too long");
	if (out.end.empty() && o_.max_cycles && cycle_ >= o_.max_cycles) {
		fflush(stdout);
		fprintf(stderr, "cluster: no end after %llu cycles\n%s", (unsigned long long)cycle_, watch_.dump().c_str());
		out.end = "cycles";
		out.status = STATUS_NO_END;
	}
	return !out.end.empty();
}

// Console, end and network of every cluster in the cycle that was just simulated. The first end counts.
void
Run::listen(Outcome &out)
{
	for (int t = 0; t < CLUSTERS; t++) {
		out.flits[t] += model_.flit(t);
		if (model_.speaks(t)) {
			putchar(model_.said(t));
			last_char_ = cycle_;
			if (model_.said(t) == '\n')
				fflush(stdout);
		}
		if (model_.ended(t) && out.end.empty()) {
			out.end = "exit";
			out.status = model_.status(t);
		}
	}
}

Outcome
Run::go()
{
	Outcome out{"", 0, 0, 0, std::vector<uint64_t>(CLUSTERS)};

	tty_ = !o_.quiet && isatty(2);
	reset();
	while (out.end.empty()) {
		model_.cycle();
		cycle_++;
		bool legal = watch_.look(cycle_);
		listen(out);
		if (!legal) {
			out.end = "illegal";
			out.status = STATUS_TROUBLE;
		} else if (out.end.empty() && cycle_ % CHECK_EVERY == 0)
			over(out);
	}
	if (tty_ && said_cycle_)
		fprintf(stderr, "\r%40s\r", "");
	fflush(stdout);
	out.cycles = cycle_;
	out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
	return out;
}

int
main(int argc, char **argv)
{
	Options o = parse(argc, argv);
	VerilatedContext context;
	Symbols symbols;

	context.randReset(0);	// as on an FPGA: not every register of the core is reset
	context.randSeed(o.seed + 1);
	auto owned = std::make_unique<Model>(context);
	Model &model = *owned;
	load(o, model, symbols);
	Watch watch(model, symbols);
	watch.profile(o.profile, o.windowed);
	watch.illegal_ends(o.illegal);
	watch.trace_until(o.trace);
	Outcome out = Run(o, model, watch).go();
	if (out.end == "illegal")
		fprintf(stderr, "%s", watch.dump().c_str());
	if (!o.json.empty()) {
		std::string trouble = report(o.json, out, model, watch, symbols);
		if (!trouble.empty())
			die(trouble);
	}
	model.top.final();
	return out.status;
}
