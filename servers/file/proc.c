/* SPDX-License-Identifier: MIT
 *
 * /proc: see proc.h. Directories and files there are nodes of the tree as all others, which only
 * this file makes and takes away.
 */
#include <abi/errors.h>
#include <base/fmt.h>
#include <base/parse.h>
#include <base/str.h>
#include <servers/file/cores.h>
#include <servers/file/proc.h>
#include <servers/file/share.h>

#define MODE_DIRECTORY 0555
#define MODE_FILE 0444
#define MODE_CTL 0644
#define TEXT_MAX 512
#define KB 1024
#define LINE_MAX 128
#define NS_PER_TICK 10000000u
#define NS_PER_S 1000000000u
#define NAMES "/proc/names"
#define MOUNTS "/proc/mounts"
#define CPUINFO "/proc/cpuinfo"
#define STAT "/proc/stat"
#define SELF_LINK "/proc/self"

enum shown { SHOWN_NOTHING, SHOWN_STAT, SHOWN_STATUS, SHOWN_COMM, SHOWN_CMDLINE, SHOWN_STATM,
	SHOWN_CTL };
enum machine_file { MACHINE_NONE, MACHINE_MEMINFO, MACHINE_UPTIME, MACHINE_LOADAVG, MACHINE_VMSTAT,
	MACHINE_FILESYSTEMS };

/* A name of a path. */
struct part {
	const char *at;
	size_t len;
};

static const char *
name_of_shown(enum shown s)
{
	switch (s) {
	case SHOWN_STAT: return "stat";
	case SHOWN_STATUS: return "status";
	case SHOWN_COMM: return "comm";
	case SHOWN_CTL: return "ctl";
	case SHOWN_STATM: return "statm";
	default: return "cmdline";
	}
}

static const char *
name_of_machine_file(enum machine_file f)
{
	switch (f) {
	case MACHINE_MEMINFO: return "meminfo";
	case MACHINE_UPTIME: return "uptime";
	case MACHINE_LOADAVG: return "loadavg";
	case MACHINE_VMSTAT: return "vmstat";
	default: return "filesystems";
	}
}

/* --- nodes --- */

void
proc_begin(struct tree *t)
{
	int n;

	t->is_showing = true;
	n = tree_make(t, "/proc", FILE_KIND_DIRECTORY, MODE_DIRECTORY);
	t->is_showing = false;
	if (n > 0)
		t->proc = (uint32_t)n;
	t->show = proc_show;
}

/* A node at a path, which is made if there is none. Its number or a negative error. */
static int
show_node(struct tree *t, const char *path, uint32_t mode)
{
	int n = tree_find(t, path);

	if (n >= 0)
		return n;
	t->is_showing = true;
	n = tree_make(t, path, mode == MODE_DIRECTORY ? FILE_KIND_DIRECTORY : FILE_KIND_FILE, mode);
	t->is_showing = false;
	if (n < 0)
		return n;
	t->shown++;
	return n;
}

/* A file with a text; one that is there already has it anew, unless somebody reads it. */
static void
show_file(struct tree *t, const char *path, uint32_t mode, struct text text)
{
	int n = show_node(t, path, mode);

	if (n < 0 || node_of(t, (uint32_t)n)->opens > 0)
		return;
	node_resize(t, (uint32_t)n, 0);
	node_write(t, (uint32_t)n, 0, text.at, text.len);
}

/* /proc/self says who asks: another one each time. */
static void
show_self(struct tree *t, uint32_t client)
{
	char pid[16];
	int len = fmt_print(pid, sizeof(pid), "%d", proc_number(client_from(client)));
	int n = tree_find(t, SELF_LINK);

	if (n >= 0) {
		node_write(t, (uint32_t)n, 0, pid, (size_t)len);
		node_of(t, (uint32_t)n)->size = (uint64_t)len;
		return;
	}
	t->is_showing = true;
	if (tree_symlink(t, SELF_LINK, pid) == 0)
		t->shown++;
	t->is_showing = false;
}

/* Nobody can come to it any more. */
static bool
is_idle(const struct tree *t, uint32_t number)
{
	const struct node *n = node_of(t, number);

	if (n->opens > 0 || node_of(t, n->parent)->opens > 0)
		return false;
	for (uint32_t i = 1; n->kind == FILE_KIND_DIRECTORY && i < t->nodes; i++)
		if (node_of(t, i)->kind != FILE_KIND_NONE && node_of(t, i)->parent == number)
			return false;
	return true;
}

static void
settle_kind(struct tree *t, enum file_kind kind)
{
	for (uint32_t i = 1; i < t->nodes; i++) {
		struct node *n = node_of(t, i);

		if (n->kind != kind || !n->is_shown || i == t->proc || cores_have(t, i))
			continue;
		if (is_idle(t, i)) {
			n->is_unlinked = true;
			node_settle(t, i);
		} else {
			t->shown++;
		}
	}
}

void
proc_settle(struct tree *t)
{
	if (t->shown == 0)
		return;
	t->shown = 0;
	settle_kind(t, FILE_KIND_FILE);
	settle_kind(t, FILE_KIND_SYMLINK);
	settle_kind(t, FILE_KIND_DIRECTORY);
}

/* --- texts --- */

/* Threads: those that are counted; of a process that has ended, or cannot be counted, its ranks. */
static uint32_t
threads_of(const struct proc_process *p)
{
	return p->listed.counts.threads != 0 ? p->listed.counts.threads : p->ranks;
}

/* Linux's letter for what it does. */
static int
state_of(const struct proc_process *p)
{
	return p->has_ended ? 'Z' : p->listed.runs != 0 ? 'R' : 'S';
}

/* As Linux's, with zeros for what there is not: times in hundredths of a second, rss in pages. */
static int
text_of_stat(const struct proc_process *p, char *to)
{
	const struct thread_counts *c = &p->listed.counts;

	return fmt_print(to, TEXT_MAX, "%d (%s) %c %d 0 0 0 -1 0 %u 0 0 0 %lu 0 0 0 20 0 %u 0 %u "
		"%lu %u 0 0 0 0 0 0 0 0 0 0 0 0 0 17 %u 0 0 0 0 0\n", p->pid, p->listed.name,
		state_of(p), p->parent, c->faults,
		(unsigned long)(c->run_ns / NS_PER_TICK), threads_of(p), p->since,
		(unsigned long)c->pages * p->page_bytes, c->pages, c->core);
}

static int
text_of_status(const struct proc_process *p, char *to)
{
	const struct thread_counts *c = &p->listed.counts;
	uint32_t kb = c->pages * (p->page_bytes / KB);

	return fmt_print(to, TEXT_MAX, "Name:\t%s\nState:\t%c\nPid:\t%d\nPPid:\t%d\n"
		"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmSize:\t%u kB\nVmRSS:\t%u kB\n"
		"Threads:\t%u\nvoluntary_ctxt_switches:\t%u\n"
		"nonvoluntary_ctxt_switches:\t%u\nCluster:\t%u\nCore:\t%u\nCalls:\t%u\n"
		"Faults:\t%u\nMoves:\t%u\n", p->listed.name, state_of(p), p->pid,
		p->parent, kb, kb, threads_of(p), c->switches, c->preempted, p->cluster, c->core,
		c->calls, c->faults, c->moves);
}

static int
text_of_process(enum shown s, const struct proc_process *p, char *to)
{
	switch (s) {
	case SHOWN_STAT: return text_of_stat(p, to);
	case SHOWN_STATUS: return text_of_status(p, to);
	case SHOWN_COMM: return fmt_print(to, TEXT_MAX, "%s\n", p->listed.name);
	case SHOWN_STATM:
		return fmt_print(to, TEXT_MAX, "%u %u 0 0 0 0 0\n", p->listed.counts.pages,
			p->listed.counts.pages);
	case SHOWN_CTL:
		return p->core == 0 ? fmt_print(to, TEXT_MAX, "core any\n") :
			fmt_print(to, TEXT_MAX, "core %u\n", p->core - 1);
	default:
		return p->has_ended ? 0 : fmt_print(to, TEXT_MAX, "%s", p->listed.name) + 1;
	}
}

/* What is true of all processes together. */
struct all {
	uint32_t processes, running, switches;
	int32_t last;			/* pid */
};

static struct all
look_at_all(void)
{
	struct all a = {0};
	struct proc_process p;

	for (; proc_next(a.last, &p); a.last = p.pid) {
		a.processes++;
		a.running += !p.has_ended && p.listed.runs != 0;
		a.switches += p.listed.counts.switches + p.listed.counts.preempted;
	}
	return a;
}

/* Times in seconds and hundredths; of idle cores all together. */
static int
text_of_uptime(uint64_t now, char *to)
{
	uint64_t busy, idle;

	cores_time(&busy, &idle);
	now /= NS_PER_TICK;
	idle /= NS_PER_TICK;
	return fmt_print(to, TEXT_MAX, "%lu.%02u %lu.%02u\n", (unsigned long)(now / 100),
		(uint32_t)(now % 100), (unsigned long)(idle / 100), (uint32_t)(idle % 100));
}

static int
text_of_machine(enum machine_file f, char *to)
{
	struct proc_machine m = {0};
	struct all all;

	proc_look(&m);
	switch (f) {
	case MACHINE_MEMINFO:
		return fmt_print(to, TEXT_MAX, "MemTotal: %lu kB\nMemFree: %lu kB\nMemAvailable: "
			"%lu kB\nBuffers: 0 kB\nCached: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
			(unsigned long)(m.bytes / KB), (unsigned long)(m.free_bytes / KB),
			(unsigned long)(m.free_bytes / KB));
	case MACHINE_UPTIME: return text_of_uptime(m.now, to);
	case MACHINE_LOADAVG:
		all = look_at_all();
		return fmt_print(to, TEXT_MAX, "0.00 0.00 0.00 %u/%u %d\n", all.running,
			all.processes, all.last);
	case MACHINE_VMSTAT:
		return fmt_print(to, TEXT_MAX, "nr_free_pages %lu\npgpgin 0\npgpgout 0\n"
			"pswpin 0\npswpout 0\n", (unsigned long)(m.free_bytes / SHARED_PAGE));
	default: return fmt_print(to, TEXT_MAX, "nodev\tramfs\nnodev\t9p\n");
	}
}

/* --- what a path names --- */

static bool
path_cut(const char **path, struct part *p)
{
	do {
		while (**path == '/')
			++*path;
		*p = (struct part){*path, 0};
		while ((*path)[p->len] != 0 && (*path)[p->len] != '/')
			p->len++;
		*path += p->len;
	} while (p->len == 1 && p->at[0] == '.');
	return p->len > 0;
}

static bool
part_is(const struct part *p, const char *name)
{
	return str_len(name) == p->len && memcmp(p->at, name, p->len) == 0;
}

static void
show_process(struct tree *t, const struct proc_process *p, const struct part *name)
{
	char path[48], text[TEXT_MAX];

	fmt_print(path, sizeof(path), "/proc/%d", p->pid);
	if (show_node(t, path, MODE_DIRECTORY) < 0 || name == NULL)
		return;
	for (enum shown s = SHOWN_STAT; s <= SHOWN_CTL; s++) {
		if (name->len > 0 && !part_is(name, name_of_shown(s)))
			continue;
		fmt_print(path, sizeof(path), "/proc/%d/%s", p->pid, name_of_shown(s));
		show_file(t, path, s == SHOWN_CTL ? MODE_CTL : MODE_FILE,
			(struct text){text, (size_t)text_of_process(s, p, text)});
	}
}

/* All processes, and names of files whose text comes when they are opened. */
static void
show_all(struct tree *t, uint32_t client)
{
	struct proc_process p = {0};
	char path[48];

	for (enum machine_file f = MACHINE_MEMINFO; f <= MACHINE_FILESYSTEMS; f++) {
		fmt_print(path, sizeof(path), "/proc/%s", name_of_machine_file(f));
		show_node(t, path, MODE_FILE);
	}
	show_node(t, STAT, MODE_FILE);
	show_node(t, CPUINFO, MODE_FILE);
	show_node(t, NAMES, MODE_FILE);
	show_node(t, MOUNTS, MODE_FILE);
	show_self(t, client);
	while (proc_next(p.pid, &p))
		show_process(t, &p, NULL);
}

/* A file that is made of lines: it is empty now. -1: somebody reads it, or the memory ends. */
static int
show_empty(struct tree *t, const char *path)
{
	int n = show_node(t, path, MODE_FILE);

	if (n < 0 || node_of(t, (uint32_t)n)->opens > 0)
		return -1;
	node_resize(t, (uint32_t)n, 0);
	return n;
}

/* One more line of a file; false: it has no room for it. */
static bool
add_line(struct tree *t, int node, const char *line, int bytes)
{
	return node_write(t, (uint32_t)node, node_of(t, (uint32_t)node)->size, line,
		(size_t)bytes) == bytes;
}

/* --- cores --- */

static bool
add_cpu(struct tree *t, int node, const char *name, const uint64_t ns[2])
{
	char line[LINE_MAX];

	return add_line(t, node, line, fmt_print(line, sizeof(line),
		"%s %lu 0 0 %lu 0 0 0 0 0 0\n", name, (unsigned long)(ns[0] / NS_PER_TICK),
		(unsigned long)(ns[1] / NS_PER_TICK)));
}

/* A line for all cores, and one for each: for how long they had something to run, and nothing. */
static void
show_stat(struct tree *t)
{
	uint32_t cluster = 0, core = 0, number = 0, ticks = 0;
	int node = show_empty(t, STAT);
	struct core_told told;
	char line[LINE_MAX];
	struct all all;
	uint64_t ns[2];

	if (node < 0)
		return;
	cores_time(&ns[0], &ns[1]);
	add_cpu(t, node, "cpu ", ns);
	for (; core_next(&cluster, &core, &told); number++) {
		fmt_print(line, sizeof(line), "cpu%u", number);
		core_time(&told.is, &ns[0], &ns[1]);
		add_cpu(t, node, line, ns);
		ticks += told.is.ticks;
	}
	all = look_at_all();
	add_line(t, node, line, fmt_print(line, sizeof(line), "intr %u\nctxt %u\nbtime %lu\n"
		"processes %u\nprocs_running %u\nprocs_blocked 0\n", ticks, all.switches,
		(unsigned long)(t->began / NS_PER_S), all.processes,
		all.running > 0 ? all.running : 1));
}

static void
show_cpuinfo(struct tree *t)
{
	uint32_t cluster = 0, core = 0;
	int node = show_empty(t, CPUINFO);
	struct core_told told;
	char line[LINE_MAX];

	for (uint32_t n = 0; node >= 0 && core_next(&cluster, &core, &told); n++)
		add_line(t, node, line, fmt_print(line, sizeof(line),
			"processor\t: %u\ncluster\t\t: %u\n\n", n, cluster));
}

/* Who has what of the tree: memory, folders of the host, servers of other clusters. */
static void
show_mounts(struct tree *t)
{
	static const char all[] = "memory / ramfs rw 0 0\n";
	char line[FILE_PATH_MAX + 48], path[FILE_PATH_MAX];
	int node = show_empty(t, MOUNTS);

	if (node < 0 || !add_line(t, node, all, (int)sizeof(all) - 1))
		return;
	for (uint32_t i = 0; i < t->shares + t->place.count; i++) {
		const struct file_place *p = i < t->shares ? NULL : t->place.at[i - t->shares];
		int end = p != NULL ? 1 : node_path(t, t->share[i]->node, path) - 2;

		path[end] = 0;
		end = fmt_print(line, sizeof(line), p != NULL ? "cluster%u %s ramfs rw 0 0\n" :
			"host%u %s 9p rw 0 0\n", p != NULL ? p->cluster : i,
			p != NULL ? p->path : path);
		if (!add_line(t, node, line, end))
			return;
	}
}

/* All names that are linked: cluster, port and name. */
static void
show_names(struct tree *t)
{
	int node = show_empty(t, NAMES);
	struct proc_name n;
	char line[NAME_LENGTH_MAX + 32];
	uint32_t at = 0;

	while (node >= 0 && proc_next_name(&at, &n)) {
		int bytes = fmt_print(line, sizeof(line), "%u %u %s\n", n.place.cluster,
			n.place.port, n.name);

		if (!add_line(t, node, line, bytes))
			return;
	}
}

static void
show_in_proc(struct tree *t, uint32_t client, const struct part *first, const struct part *second)
{
	struct text number = {first->at, first->len};
	char path[48], text[TEXT_MAX];
	struct proc_process p;
	uint64_t pid;

	if (text_number(number, &pid)) {
		if (pid <= INT32_MAX && pid > 0 && proc_next((int32_t)pid - 1, &p) &&
			p.pid == (int32_t)pid)
			show_process(t, &p, second);
		return;
	}
	if (part_is(first, "names"))
		show_names(t);
	if (part_is(first, "mounts"))
		show_mounts(t);
	if (part_is(first, "stat"))
		show_stat(t);
	if (part_is(first, "cpuinfo"))
		show_cpuinfo(t);
	if (part_is(first, "self"))
		show_self(t, client);
	for (enum machine_file f = MACHINE_MEMINFO; f <= MACHINE_FILESYSTEMS; f++)
		if (part_is(first, name_of_machine_file(f))) {
			fmt_print(path, sizeof(path), "/proc/%s", name_of_machine_file(f));
			show_file(t, path, MODE_FILE,
				(struct text){text, (size_t)text_of_machine(f, text)});
		}
}

void
proc_show(struct tree *t, uint32_t client, enum file_op op, const char *path)
{
	struct part part[3] = {0};

	if ((op != FILE_OPEN && op != FILE_STAT && op != FILE_READ_LINK) ||
		!path_cut(&path, &part[0]))
		return;
	if (part_is(&part[0], "dev") && path_cut(&path, &part[1])) {
		if (part_is(&part[1], "cores"))
			cores_show(t);
		else if (part_is(&part[1], "memory"))
			memory_show(t);
	}
	if (!part_is(&part[0], "proc") || t->proc == 0)
		return;
	if (!path_cut(&path, &part[1])) {
		if (op == FILE_OPEN)
			show_all(t, client);
		return;
	}
	path_cut(&path, &part[2]);
	show_in_proc(t, client, &part[1], &part[2]);
}
