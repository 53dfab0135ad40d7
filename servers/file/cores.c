/* SPDX-License-Identifier: MIT
 *
 * /dev/cores, /dev/memory, and /proc/N/ctl: see cores.h. Source: seed 004 4 (core roles), 003 3.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/fmt.h>
#include <base/parse.h>
#include <base/str.h>
#include <servers/file/cores.h>
#include <servers/proc/client.h>

#define PATH "dev/cores"
#define MODE 0644
#define MEMORY_PATH "dev/memory"
#define MEMORY_MODE 0444
#define MEMORY_HEAD "cluster domain pages free used near far\n"
#define LINE_MAX 320
#define WORDS_MAX 4
#define HEAD \
	"core cluster role acts threads ticks faults messages shot-down changes calls waiting " \
	"spread crowded gathered released idle-ms tc-ms kc-ms ac-ms xc-ms slept-ms\n"
#define NS_PER_MS 1000000u

static const char *
name_of_role(uint32_t role)
{
	switch (role) {
	case ROLE_TC: return "tc";
	case ROLE_KC: return "kc";
	case ROLE_AC: return "ac";
	case ROLE_XC: return "xc";
	default: return "idle";
	}
}

/* The node of a new file; 0: there is no room for it. */
static uint32_t
file_that_shows(struct tree *t, const char *path, uint32_t mode)
{
	int n;

	t->is_showing = true;
	n = tree_make(t, path, FILE_KIND_FILE, mode);
	t->is_showing = false;
	return n > 0 ? (uint32_t)n : 0;
}

void
cores_begin(struct tree *t)
{
	t->cores = file_that_shows(t, PATH, MODE);
	t->memory = file_that_shows(t, MEMORY_PATH, MEMORY_MODE);
}

/* --- reading --- */

static bool
line_put(struct tree *t, uint32_t node, const char *line, size_t len)
{
	return node_write(t, node, node_of(t, node)->size, line, len) == (long)len;
}

/* Nobody has the file open, who would see it change: it is empty now, but for its first line. */
static bool
show_anew(struct tree *t, uint32_t node, const char *head)
{
	if (node == 0 || node_of(t, node)->opens > 0)
		return false;
	node_resize(t, node, 0);
	return line_put(t, node, head, str_len(head));
}

static uint64_t
slept_ns(const struct core_info *i)
{
	return (uint64_t)i->idle << CORE_IDLE_SHIFT;
}

static bool
put_core(struct tree *t, uint32_t number, uint32_t cluster, const struct core_told *told)
{
	const struct core_info *i = &told->is;
	char line[LINE_MAX];
	int len = fmt_print(line, sizeof(line), "%u %u %s %s %u %u %u %u %u %u %u %u %u %u %u %u",
		number,
		cluster, name_of_role(i->role), name_of_role(i->acts), i->threads, i->ticks,
		i->faults, i->messages, i->shot_down, i->roles, i->calls, i->waiting, i->spread,
		i->crowded, told->gathered, told->released);

	for (uint32_t role = 0; role < ROLE_KINDS; role++)
		len += fmt_print(line + len, sizeof(line) - (size_t)len, " %lu",
			(unsigned long)(i->role_ns[role] / NS_PER_MS));
	len += fmt_print(line + len, sizeof(line) - (size_t)len, " %lu\n",
		(unsigned long)(slept_ns(i) / NS_PER_MS));
	return line_put(t, t->cores, line, (size_t)len);
}

bool
core_next(uint32_t *cluster, uint32_t *core, struct core_told *told)
{
	for (;; ++*cluster, *core = 0) {
		int result = core_ask(*cluster, *core, -1, told);

		*core += result == 0;
		if (result == 0 || result == -E_NOENT)
			return result == 0;
	}
}

void
cores_show(struct tree *t)
{
	uint32_t number = 0, cluster = 0, core = 0;
	struct core_told told;

	if (!show_anew(t, t->cores, HEAD))
		return;
	while (core_next(&cluster, &core, &told) && put_core(t, number++, cluster, &told))
		continue;
}

static bool
put_domain(struct tree *t, uint32_t cluster, uint32_t domain, const uint32_t *word)
{
	char line[LINE_MAX];
	int len = fmt_print(line, sizeof(line), "%u %u %u %u %u %u %u\n", cluster, domain,
		word[DOMAIN_PAGES], word[DOMAIN_FREE], word[DOMAIN_PAGES] - word[DOMAIN_FREE],
		word[DOMAIN_NEAR], word[DOMAIN_FAR]);

	return line_put(t, t->memory, line, (size_t)len);
}

void
memory_show(struct tree *t)
{
	uint32_t word[DOMAIN_WORDS];
	int result = 0;

	if (!show_anew(t, t->memory, MEMORY_HEAD))
		return;
	for (uint32_t cluster = 0; result != -E_NOENT; cluster++) {
		result = 0;
		for (uint32_t domain = 0; result == 0; domain++) {
			result = domain_ask(cluster, domain, word);
			if (result == 0 && !put_domain(t, cluster, domain, word))
				return;
		}
	}
}

void
core_time(const struct core_info *of, uint64_t *busy_ns, uint64_t *idle_ns)
{
	*idle_ns = of->role_ns[ROLE_IDLE] + slept_ns(of);
	*busy_ns = 0 - slept_ns(of);
	for (uint32_t role = ROLE_IDLE + 1; role < ROLE_KINDS; role++)
		*busy_ns += of->role_ns[role];
}

void
cores_time(uint64_t *busy_ns, uint64_t *idle_ns)
{
	uint32_t cluster = 0, core = 0;
	struct core_told told;
	uint64_t busy, idle;

	*busy_ns = *idle_ns = 0;
	while (core_next(&cluster, &core, &told)) {
		core_time(&told.is, &busy, &idle);
		*busy_ns += busy;
		*idle_ns += idle;
	}
}

/* --- writing --- */

/* Which core of which cluster has a number. False: none. */
static bool
core_find(uint64_t number, uint32_t *cluster, uint32_t *core)
{
	struct core_told told;

	for (*cluster = 0;; ++*cluster) {
		int result = 0;

		for (*core = 0; result == 0; ++*core) {
			result = core_ask(*cluster, *core, -1, &told);
			if (result == 0 && number-- == 0)
				return true;
		}
		if (result == -E_NOENT)
			return false;
	}
}

/* The role with this name; -1: none has it. */
static int
role_of(struct text word)
{
	for (uint32_t role = ROLE_IDLE; role <= ROLE_AC; role++)
		if (text_is(word, name_of_role(role)))
			return (int)role;
	return -1;
}

/* provision on, or off: in all clusters that are up. */
static int
switch_provision(struct text word)
{
	bool on = text_is(word, "on");
	int result = on || text_is(word, "off") ? 0 : -E_INVAL;

	for (uint32_t cluster = 0; result == 0 || result == -E_HOSTDOWN; cluster++)
		result = core_provision(cluster, on);
	return result == -E_NOENT ? 0 : result;
}

/* core N role ROLE; provision WORD. */
static int
do_word(void *of, const struct text *word, uint32_t words)
{
	uint32_t cluster, core;
	struct core_told told;
	uint64_t number;

	(void)of;
	if (words == 2 && text_is(word[0], "provision"))
		return switch_provision(word[1]);
	if (words != 4 || !text_is(word[0], "core") || !text_number(word[1], &number) ||
		!text_is(word[2], "role") || role_of(word[3]) < 0)
		return -E_INVAL;
	if (!core_find(number, &cluster, &core))
		return -FILE_ENODEV;
	return core_ask(cluster, core, role_of(word[3]), &told);
}

/* A line without a word says nothing. */
static int
do_line(struct text line, int (*act)(void *of, const struct text *word, uint32_t words), void *of)
{
	struct text word[WORDS_MAX + 1] = {0};
	uint32_t words = 0;

	while (words <= WORDS_MAX && text_word(&line, &word[words]))
		words++;
	return words > 0 ? act(of, word, words) : 0;
}

/* The bytes of the lines that were done; of the first, what it is, if that is an error. */
static long
do_lines(struct text text, int (*act)(void *of, const struct text *word, uint32_t words), void *of)
{
	struct text rest = text, line;
	size_t done = 0;
	int result = 0;

	while (result == 0 && text_line(&rest, &line)) {
		result = do_line(line, act, of);
		if (result == 0)
			done = text.len - rest.len;
	}
	return done > 0 || result == 0 ? (long)done : result;
}

long
cores_write(struct text text)
{
	return do_lines(text, do_word, NULL);
}

/* --- /proc/N/ctl --- */

struct mover {
	int32_t pid;
	struct mail_sender who;
};

int32_t
ctl_of(struct tree *t, uint32_t node)
{
	const struct node *n = node_of(t, node), *of = node_of(t, n->parent);
	uint64_t pid;

	return n->is_shown && n->kind == FILE_KIND_FILE && of->parent == t->proc &&
		str_is_equal(n->name, "ctl") &&
		text_number((struct text){of->name, str_len(of->name)}, &pid) ? (int32_t)pid : 0;
}

/* What process_move takes for a word. False: it is none. */
static bool
wish_of(struct text word, int32_t *wish)
{
	bool is_negative = word.len > 0 && word.at[0] == '-';
	uint64_t number;

	if (text_is(word, "any")) {
		*wish = PROCESS_CORE_ANY;
		return true;
	}
	if (is_negative)
		word = (struct text){word.at + 1, word.len - 1};
	if (!text_number(word, &number) || number > INT32_MAX)
		return false;
	*wish = number == 0 ? PROCESS_CORE_TC : is_negative ? PROCESS_CORE_AC : (int32_t)number;
	return true;
}

/* core N, or core any. */
static int
move_process(void *of, const struct text *word, uint32_t words)
{
	const struct mover *m = of;
	int32_t wish;

	return words != 2 || !text_is(word[0], "core") || !wish_of(word[1], &wish) ? -E_INVAL :
		proc_move(m->pid, wish, m->who);
}

long
ctl_write(int32_t pid, struct mail_sender who, struct text text)
{
	struct mover m = {pid, who};

	return do_lines(text, move_process, &m);
}
