/* SPDX-License-Identifier: MIT
 *
 * /proc: what is shown there is true when it is opened, stays as it was for who reads it, and
 * leaves nothing behind.
 *
 * needs: servers/file/share*.c -servers/file/shares.c servers/file/ninep.c
 * needs: servers/file/tree.c servers/file/contents.c servers/file/serve.c servers/file/handles.c
 * needs: servers/file/places.c servers/file/links.c servers/file/status.c
 * needs: servers/file/event.c
 * needs: servers/file/lasting.c servers/file/locks.c servers/file/cores.c base/fmt.c base/parse.c
 * servers/file/offer.c servers/file/bytes.c servers/file/pipe.c servers/file/zio.c
 * servers/file/message.c servers/file/socket.c servers/file/queue.c servers/file/serve_message.c
 * servers/file/token.c servers/file/proc.c base/str.c
 */
#include <base/parse.h>
#include <servers/file/proc.h>
#include <servers/file/test_ask.h>

#define PIDS 40

/* Those that there are. */
static struct proc_process process[PIDS];

bool
proc_next(int32_t after, struct proc_process *p)
{
	const struct proc_process *found = NULL;

	for (int i = 0; i < PIDS; i++)
		if (process[i].pid > after && (found == NULL || process[i].pid < found->pid))
			found = &process[i];
	if (found != NULL)
		*p = *found;
	return found != NULL;
}

static uint32_t names;			/* that there are */

bool
proc_next_name(uint32_t *at, struct proc_name *n)
{
	*n = (struct proc_name){.place = {*at, 10 + *at}};
	snprintf(n->name, sizeof(n->name), "name%u", *at);
	return (*at)++ < names;
}

void
proc_look(struct proc_machine *m)
{
	*m = (struct proc_machine){.now = 12040000000, .bytes = 8 << 20, .free_bytes = 3 << 20,
		.cores = 3};
}

/* Client 1 is process 9, client 2 is process 2, and nobody else is one. */
int32_t
proc_number(struct mail_sender who)
{
	return who.badge == 101 ? 9 : who.badge == 102 ? 2 : 0;
}

static void
begin(void)
{
	reset();
	memset(process, 0, sizeof(process));
	process[0] = (struct proc_process){.pid = 2, .ranks = 1, .listed.name = "sh"};
	process[1] = (struct proc_process){.pid = 9, .parent = 2, .cluster = 3, .ranks = 4,
		.since = 1150, .page_bytes = 4096, .listed = {.name = "ring", .counts = {
			.run_ns = 12345678901, .switches = 8, .calls = 77, .preempted = 5,
			.faults = 6, .moves = 3, .core = 13, .threads = 5, .pages = 50}}};
	proc_begin(&t);
}

/* As the server's loop: a request about a path. */
static struct file_reply
ask_shown(enum file_op op, const char *path, uint32_t how)
{
	struct file_reply r = ask_path(op, path, how);

	proc_settle(&t);
	return r;
}

static void
close_shown(uint32_t handle)
{
	expect_eq(asked(1, (struct file_request){.op = FILE_CLOSE, .handle = handle}, "", 0).error,
		0);
	proc_settle(&t);
}

static void
expect_file(const char *path, const char *text)
{
	struct file_reply r = ask_shown(FILE_OPEN, path, FILE_READABLE);

	expect_eq(r.error, 0);
	expect_text(r.handle, 0, text, str_len(text));
	close_shown(r.handle);
}

/* How many nodes there are. */
static uint32_t
nodes(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t.nodes; i++)
		n += node_of(&t, i)->kind != FILE_KIND_NONE;
	return n;
}

TEST(files_say_what_is_true_when_they_are_opened)
{
	begin();
	expect_file("/proc/9/stat", "9 (ring) S 2 0 0 0 -1 0 6 0 0 0 1234 0 0 0 20 0 5 0 1150 "
		"204800 50 0 0 0 0 0 0 0 0 0 0 0 0 0 17 13 0 0 0 0 0\n");
	expect_file("proc/9/status", "Name:\tring\nState:\tS\nPid:\t9\nPPid:\t2\n"
		"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmSize:\t200 kB\nVmRSS:\t200 kB\n"
		"Threads:\t5\nvoluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t5\n"
		"Cluster:\t3\nCore:\t13\nCalls:\t77\nFaults:\t6\nMoves:\t3\n");
	process[0].listed.runs = 1;
	expect_file("/proc/2/stat", "2 (sh) R 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 "
		"0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
	process[1].has_ended = true;
	process[1].listed.counts = (struct thread_counts){0};
	expect_file("proc//9/./status", "Name:\tring\nState:\tZ\nPid:\t9\nPPid:\t2\n"
		"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nVmSize:\t0 kB\nVmRSS:\t0 kB\n"
		"Threads:\t4\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n"
		"Cluster:\t3\nCore:\t0\nCalls:\t0\nFaults:\t0\nMoves:\t0\n");
	expect_file("/proc/2/comm", "sh\n");
	expect_file("/proc/2/statm", "0 0 0 0 0 0 0\n");
	memset(core_of, 0, sizeof(core_of));
	core_of[1][2].is.role_ns[ROLE_IDLE] = 3070000000;
	expect_file("/proc/uptime", "12.04 3.07\n");
	expect_file("/proc/loadavg", "0.00 0.00 0.00 1/2 9\n");
	expect_file("/proc/vmstat", "nr_free_pages 768\npgpgin 0\npgpgout 0\npswpin 0\n"
		"pswpout 0\n");
	expect_file("/proc/filesystems", "nodev\tramfs\nnodev\t9p\n");
	expect_file("/proc/cpuinfo", "processor\t: 0\ncluster\t\t: 0\n\n"
		"processor\t: 1\ncluster\t\t: 0\n\nprocessor\t: 2\ncluster\t\t: 1\n\n"
		"processor\t: 3\ncluster\t\t: 1\n\nprocessor\t: 4\ncluster\t\t: 1\n\n");
	expect_file("/proc/names", "");
	names = 2;
	expect_file("/proc/names", "0 10 name0\n1 11 name1\n");
	names = 0;
	expect_eq(ask_shown(FILE_STAT, "/proc/9", 0).kind, FILE_KIND_DIRECTORY);
	expect_eq(ask_shown(FILE_STAT, "/proc/meminfo", 0).kind, FILE_KIND_FILE);
	expect_eq(nodes(), 2);
	expect_sound();
}

TEST(a_process_finds_itself)
{
	struct file_reply link, dir;

	begin();
	expect_file("/proc/self/comm", "ring\n");
	expect_eq(ask_shown(FILE_STAT, "/proc/self", 0).kind, FILE_KIND_DIRECTORY);
	expect_eq(ask_shown(FILE_STAT, "/proc/self", FILE_NO_FOLLOW).kind, FILE_KIND_SYMLINK);
	expect_eq(ask_shown(FILE_STAT, "/proc/selfish", 0).error, -E_NOENT);
	expect_eq(ask_shown(FILE_READ_LINK, "/proc/self", 0).count, 1);
	expect_eq(answer.data[0], '9');
	/* also where somebody else has the link itself, or finds it in a list */
	link = ask_shown(FILE_OPEN, "/proc/self", FILE_NO_FOLLOW);
	dir = ask_shown(FILE_OPEN, "/proc", FILE_READABLE | FILE_DIRECTORY);
	expect_eq(link.error | dir.error, 0);
	expect_eq(asked(2, (struct file_request){.op = FILE_READ_LINK}, "/proc/self", 11).count,
		1);
	expect_eq(answer.data[0], '2');
	expect_eq(asked(3, (struct file_request){.op = FILE_STAT}, "/proc/self", 11).error,
		-E_NOENT);
	expect_file("/proc/self/comm", "ring\n");
	expect_eq(ask_shown(FILE_REMOVE, "/proc/self", 0).error, -E_ACCES);
	close_shown(link.handle);
	close_shown(dir.handle);
	/* a link of somebody's leads there, too */
	expect_eq(asked(1, (struct file_request){.op = FILE_SYMLINK}, "l\0/proc/self/stat",
		18).error, 0);
	expect_eq(ask_shown(FILE_STAT, "l", 0).kind, FILE_KIND_FILE);
	expect_eq(ask_shown(FILE_REMOVE, "l", 0).error, 0);
	expect_eq(nodes(), 2);
	expect_sound();
}

/* What a line that is written there says: the bytes that it took, or an error. */
static long
told_file(const char *path, const char *text)
{
	struct file_reply r = ask_shown(FILE_OPEN, path, FILE_WRITABLE | FILE_EMPTY);
	struct file_reply w;

	expect_eq(r.error, 0);
	w = asked(1, (struct file_request){.op = FILE_WRITE, .handle = r.handle,
		.arg = (uint32_t)str_len(text), .offset = 0}, text, (uint32_t)str_len(text));
	close_shown(r.handle);
	return w.error != 0 ? w.error : (long)w.count;
}

static long
told_cores(const char *text)
{
	return told_file("/dev/cores", text);
}

TEST(a_process_is_told_where_to_run)
{
	static const struct { const char *text; int32_t to; } wishes[] = {
		{"core 3", 3}, {" core\t0x4\n", 4}, {"core 0", -2}, {"core -0", -2},
		{"core -1", -1}, {"core -77\n", -1}, {"core any\n", 0}, {"core 1\ncore 2", 2}};
	static const char *const wrong[] = {"core", "core x", "core -", "core --1", "core 1 2",
		"cores 1", "core 4294967296", "core 1x", "1", "core any more", "role 1"};

	begin();
	expect_file("/proc/9/ctl", "core any\n");
	process[1].core = 4;
	expect_file("/proc/9/ctl", "core 3\n");
	for (unsigned i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		expect_eq(told_file("/proc/9/ctl", wishes[i].text), (long)str_len(wishes[i].text));
		expect_eq(moved_to, wishes[i].to);
		expect(moved_by.cluster == 0 && moved_by.badge == 101);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_eq(told_file("/proc/9/ctl", wrong[i]), -E_INVAL);
	expect_eq(moved_to, 2);
	expect_eq(told_file("/proc/9/ctl", "core 6"), -FILE_ENODEV);
	expect_eq(told_file("/proc/9/ctl", "core 1\ncore x\n"), 7);
	expect_eq(told_file("/proc/2/ctl", "core 1"), -E_SRCH);
	expect_eq(told_file("/proc/9/comm", "core 4"), 6);
	expect_eq(moved_to, 1);
	expect_eq(told_file("/proc/9/ctl", ""), 0);
	expect_eq(ask_shown(FILE_OPEN, "/proc/8/ctl", FILE_WRITABLE).error, -E_NOENT);
	expect_sound();
}

#define CORES_HEAD \
	"core cluster role acts threads ticks faults messages shot-down changes calls waiting " \
	"spread crowded gathered released idle-ms tc-ms kc-ms ac-ms xc-ms slept-ms\n"

TEST(cores_are_shown_and_get_roles)
{
	begin();
	tree_make(&t, "dev", FILE_KIND_DIRECTORY, 0755);
	cores_begin(&t);
	memset(core_of, 0, sizeof(core_of));
	core_of[0][0].is.role = ROLE_KC;
	core_of[1][2].gathered = 15;
	core_of[1][2].released = 16;
	core_of[1][2].is = (struct core_info){.role = ROLE_AC, .acts = ROLE_TC, .threads = 4,
		.ticks = 5, .faults = 7, .messages = 8, .shot_down = 9, .roles = 1,
		.calls = 11, .waiting = 12, .spread = 13, .crowded = 14,
		.idle = 122071, .role_ns = {[ROLE_TC] = 2999999, [ROLE_AC] = 4000000000}};
	expect_file("/dev/cores",
		CORES_HEAD
		"0 0 kc idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"1 0 idle idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"2 1 idle idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"3 1 idle idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"4 1 ac tc 4 5 7 8 9 1 11 12 13 14 15 16 0 2 0 4000 0 1000\n");
	expect_file("/proc/stat", "cpu  300 0 0 100 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"
		"cpu1 0 0 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0 0 0\n"
		"cpu3 0 0 0 0 0 0 0 0 0 0\ncpu4 300 0 0 100 0 0 0 0 0 0\nintr 5\nctxt 13\n"
		"btime 0\nprocesses 2\nprocs_running 1\nprocs_blocked 0\n");
	expect_eq(told_cores("core 4 role tc\n"), 15);
	expect_eq(core_of[1][2].is.role, ROLE_TC);
	expect_eq(told_cores("\n core 1  role kc \ncore 3 role ac"), 33);
	expect_eq(core_of[0][1].is.role, ROLE_KC);
	expect_eq(core_of[1][1].is.role, ROLE_AC);
	expect_eq(told_cores("core 2 role ac"), -E_BUSY);
	expect_eq(told_cores("core 1 role tc\ncore 2 role ac\n"), 15);
	expect_eq(core_of[0][1].is.role, ROLE_TC);
	expect_eq(told_cores("core 5 role tc"), -FILE_ENODEV);
	expect_eq(told_cores("core 99999999999999999999 role tc"), -E_INVAL);
	expect_eq(told_cores("core 1 role xc"), -E_INVAL);
	expect_eq(told_cores("core 1 role tc now"), -E_INVAL);
	expect_eq(told_cores("core -1 role tc"), -E_INVAL);
	expect_eq(told_cores("core"), -E_INVAL);
	expect_eq(told_cores("role tc core 1"), -E_INVAL);
	expect_eq(provisioned[0], -1);
	expect_eq(told_cores("provision off\n"), 14);
	expect(provisioned[0] == 0 && provisioned[1] == 0);
	expect_eq(told_cores("core 1 role tc\nprovision on"), 27);
	expect(provisioned[0] == 1 && provisioned[1] == 1);
	expect_eq(told_cores("provision"), -E_INVAL);
	expect_eq(told_cores("provision offer"), -E_INVAL);
	expect_eq(told_cores("provision on on"), -E_INVAL);
	expect_eq(asked(1, (struct file_request){.op = FILE_REMOVE}, "/dev/cores", 11).error != 0,
		true);
	expect_file("/dev/cores",
		CORES_HEAD
		"0 0 kc idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"1 0 tc idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"2 1 idle idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"3 1 ac idle 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		"4 1 tc tc 4 5 7 8 9 1 11 12 13 14 15 16 0 2 0 4000 0 1000\n");
	expect_sound();
}

TEST(memory_domains_are_shown_and_nobody_writes_there)
{
	static const char all[] = "cluster domain pages free used near far\n0 0 100 90 10 7 0\n"
		"1 0 1100 90 1010 7 0\n1 1 1100 89 1011 8 1\n";

	begin();
	tree_make(&t, "dev", FILE_KIND_DIRECTORY, 0755);
	cores_begin(&t);
	expect_file("/dev/memory", all);
	expect_eq(told_file("/dev/memory", "pages 1\n"), -E_ACCES);
	expect_eq(asked(1, (struct file_request){.op = FILE_REMOVE}, "/dev/memory", 12).error != 0,
		true);
	expect_file("/dev/memory", all);
	expect_sound();
}

TEST(what_is_not_there_is_not_shown)
{
	static const char *const wrong[] = {"/proc/3", "/proc/9/what", "/proc/99999999999",
		"/proc/0", "/proc/-1", "/proc/stats", "/proc/9/stat/x", "/proc/ 9"};

	begin();
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect(ask_shown(FILE_OPEN, wrong[i], FILE_READABLE).error < 0);
	expect_eq(nodes(), 2);
	expect_sound();
}

TEST(a_reader_keeps_what_it_has_opened)
{
	struct file_reply dir, file;

	begin();
	dir = ask_shown(FILE_OPEN, "/proc/9", FILE_READABLE | FILE_DIRECTORY);
	/* with all that is in it */
	expect_eq(nodes(), 9);
	file = ask_shown(FILE_OPEN, "/proc/9/comm", FILE_READABLE);
	expect_eq(dir.error | file.error, 0);
	process[1].pid = 0;
	expect(ask_shown(FILE_OPEN, "/proc/2/comm", FILE_READABLE).handle != 0);
	expect_text(file.handle, 0, "ring\n", 5);
	close_shown(dir.handle);
	expect_text(file.handle, 0, "ring\n", 5);
	/* of whoever is gone */
	file_forget(&t, 1);
	proc_settle(&t);
	expect_eq(nodes(), 2);
	expect_sound();
}

TEST(all_processes_are_listed_in_order)
{
	int32_t last = 0;
	uint64_t from = 0;
	uint32_t found = 0, at;
	const struct file_entry *e;
	struct file_reply dir;

	begin();
	for (int i = 2; i < PIDS; i++)
		process[i] = (struct proc_process){.pid = 300 - i * 3, .ranks = 1,
			.listed.name = "x"};
	dir = ask_shown(FILE_OPEN, "/proc", FILE_READABLE | FILE_DIRECTORY);
	do {
		asked(1, (struct file_request){.op = FILE_LIST, .handle = dir.handle,
			.offset = from, .arg = 200}, "", 0);
		proc_settle(&t);
		from = answer.head.value;
		for (at = 0; (e = listed(&at)) != NULL;) {
			uint64_t pid;

			if (!text_number((struct text){e->name, str_len(e->name)}, &pid))
				continue;
			expect((int32_t)pid > last);
			last = (int32_t)pid;
			found++;
		}
	} while (answer.head.count > 0);
	expect_eq(found, PIDS);
	close_shown(dir.handle);
	expect_eq(nodes(), 2);
	expect_sound();
}

TEST(nobody_else_changes_it)
{
	struct file_reply dir;

	begin();
	dir = ask_shown(FILE_OPEN, "/proc/9", FILE_READABLE | FILE_DIRECTORY);
	expect_eq(ask_shown(FILE_OPEN, "/proc/x", FILE_CREATE | FILE_WRITABLE).error, -E_ACCES);
	expect_eq(ask_shown(FILE_MAKE_DIRECTORY, "/proc/9/x", 0).error, -E_ACCES);
	expect_eq(ask_shown(FILE_REMOVE, "/proc/9", FILE_DIRECTORY).error, -E_ACCES);
	expect_eq(ask_shown(FILE_REMOVE, "/proc", FILE_DIRECTORY).error, -E_ACCES);
	opened("f", FILE_CREATE | FILE_WRITABLE);
	expect_eq(asked(1, (struct file_request){.op = FILE_RENAME}, "f\0/proc/9/f", 12).error,
		-E_ACCES);
	expect_eq(asked(1, (struct file_request){.op = FILE_RENAME}, "/proc\0p", 8).error,
		-E_ACCES);
	close_shown(dir.handle);
	expect_eq(nodes(), 3);
	expect_sound();
}

TEST(where_memory_ends_less_is_shown)
{
	struct file_reply r;

	begin();
	blocks_left = 0;
	r = ask_shown(FILE_OPEN, "/proc/9/stat", FILE_READABLE);
	expect_eq(r.error, 0);
	expect_text(r.handle, 0, "", 0);
	close_shown(r.handle);
	expect_eq(nodes(), 2);
}

int
main(void)
{
	RUN(files_say_what_is_true_when_they_are_opened);
	RUN(a_process_finds_itself);
	RUN(a_process_is_told_where_to_run);
	RUN(cores_are_shown_and_get_roles);
	RUN(memory_domains_are_shown_and_nobody_writes_there);
	RUN(what_is_not_there_is_not_shown);
	RUN(a_reader_keeps_what_it_has_opened);
	RUN(all_processes_are_listed_in_order);
	RUN(nobody_else_changes_it);
	RUN(where_memory_ends_less_is_shown);
	return TEST_FAILED;
}
