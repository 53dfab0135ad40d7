/* SPDX-License-Identifier: MIT
 *
 * Console: lines of different writers stay whole, nothing is taken that cannot go on its way.
 *
 * needs: kernel/dev/console.c base/fmt.c base/str.c
 */
#include <abi/errors.h>
#include <base/test.h>
#include <kernel/cluster.h>

#define STEP 64	/* bytes that one step takes */

static struct cluster c;
static struct boot_record record;
static char out[16384];			/* what the console of last resort got */
static size_t out_len;
static char way[4096];			/* what went to cluster 0 */
static size_t way_len, way_room;
static size_t device_room;		/* what the device takes without waiting */
static char ring[CONSOLE_RING];
static uint32_t activity;		/* doorbell word */
static bool spoilt, chatty;		/* cluster 2's ring; cluster 1 */
static unsigned condemned;

void
check_failed(const char *file, int line)
{
	printf("%s:%d: a check has failed\n", file, line);
	abort();
}

void
hal_console_write(const char *text, size_t len)
{
	memcpy(out + out_len, text, len);
	out[out_len += len] = 0;
}

size_t
hal_console_put(const char *text, size_t len)
{
	size_t n = len < device_room ? len : device_room;

	hal_console_write(text, n);
	device_room -= n;
	return n;
}

uint64_t
hal_clock_ns(void)
{
	return 1000;
}

int
hal_noc_console_write(const char *text, size_t len)
{
	if (len > way_room)
		return -E_AGAIN;
	memcpy(way + way_len, text, len);
	way[way_len += len] = 0;
	way_room -= len;
	return 0;
}

int
hal_noc_console_ready(unsigned cluster)
{
	if (cluster == 2 && spoilt)
		return -E_INVAL;
	return cluster == 1 ? (int)way_len : 0;
}

void
ikc_condemn(struct cluster *who, uint32_t peer, const char *what)
{
	expect(who == &c && peer == 2);
	expect_str(what, "has spoilt its console ring");
	condemned++;
}

size_t
hal_noc_console_read(unsigned cluster, char *text, size_t len)
{
	size_t n = way_len < len ? way_len : len;

	if (cluster != 1)
		return 0;
	memcpy(text, way, n);
	memmove(way, way + n, way_len - n);
	way_len -= n;
	if (chatty && n > 0)
		way[way_len++] = '.';		/* it writes on while we print */
	return n;
}

static void
begin(uint32_t id)
{
	memset(&c, 0, sizeof(c));
	c.id = id;
	c.record = &record;
	c.ikc.activity = &activity;
	activity = 0;
	record.clusters = 3;
	out_len = way_len = 0;
	out[0] = way[0] = 0;
	way_room = sizeof(way);
	spoilt = chatty = false;
	condemned = 0;
	device_room = sizeof(out);
	console_init(&c, ring);
}

/* Home's loop: as long as there is something to do. */
static unsigned
polls(void)
{
	unsigned n = 0;

	while (n < 1000 && console_poll(&c))
		n++;
	return n;
}

static const char *
printed(void)
{
	polls();
	return out;
}

static int
put(int32_t owner, const char *text)
{
	return console_append(&c, owner, text, strlen(text));
}

TEST(a_line_goes_out_when_it_is_complete)
{
	begin(0);
	expect_eq(put(1, "one "), 0);
	expect_str(printed(), "");
	expect_eq(put(1, "line\nand "), 0);
	expect_str(printed(), "one line\n");
	expect_eq(put(1, "more\n"), 0);
	expect_str(printed(), "one line\nand more\n");
}

TEST(an_interrupted_line_is_ended_not_mixed)
{
	begin(0);
	put(1, "first");
	put(2, "second\n");
	expect_str(printed(), "first\nsecond\n");
	put(1, " rest\n");
	expect_str(printed(), "first\nsecond\n rest\n");
}

TEST(a_line_longer_than_the_buffer_goes_out_in_pieces)
{
	char piece[CONSOLE_WRITE_MAX + 1];

	begin(0);
	memset(piece, 'x', sizeof(piece));
	piece[CONSOLE_WRITE_MAX] = 0;
	for (int i = 0; i < 5; i++)
		expect_eq(put(1, piece), 0);
	expect_eq(put(2, "x\n"), 0);
	polls();
	expect_eq(out_len, 5 * CONSOLE_WRITE_MAX + 3);
}

TEST(a_full_way_takes_nothing)
{
	begin(1);
	way_room = 7;
	expect_eq(put(1, "12345\n"), 0);
	expect_eq(put(1, "67890\n"), -E_AGAIN);
	expect_eq(put(1, "a"), 0);
	expect_eq(put(2, "other\n"), -E_AGAIN);
	way_room = 100;
	expect_eq(put(1, "b\n"), 0);
	expect_str(way, "12345\nab\n");
}

TEST(cluster_0_prints_what_the_others_sent)
{
	begin(0);
	strcpy(way, "from one\n");
	way_len = strlen(way);
	activity++;
	put(7, "open");
	expect(console_poll(&c));
	expect_str(printed(), "open\nfrom one\n");
	expect(!console_poll(&c));
}

TEST(who_writes_without_end_does_not_hold_cluster_0)
{
	begin(0);
	strcpy(way, "once\n");
	way_len = strlen(way);
	chatty = true;
	activity++;
	expect(console_poll(&c));
	expect_str(printed(), "once\n");
	expect_eq(way_len, 1);
}

TEST(who_finds_the_ring_full_comes_again)
{
	char line[CONSOLE_WRITE_MAX + 1];
	unsigned taken = 0;

	begin(0);
	device_room = 0;
	memset(line, 'x', sizeof(line) - 2);
	strcpy(line + sizeof(line) - 2, "\n");
	while (put(1, line) == 0)
		taken++;
	expect_eq(taken, CONSOLE_RING / CONSOLE_WRITE_MAX);
	expect_eq(put(1, line), -E_AGAIN);
	expect_eq(out_len, 0);
	expect(c.chores == 1 && !console_poll(&c));
	expect(console_deadline(&c) > 1000 && console_deadline(&c) != HAL_FOREVER);
	device_room = sizeof(out);
	expect(polls() >= CONSOLE_RING / 512);	/* each step is short */
	expect_eq(out_len, CONSOLE_RING);
	expect(c.chores == 0 && console_deadline(&c) == HAL_FOREVER);
	expect_eq(put(1, line), 0);
}

TEST(messages_that_find_no_room_are_counted)
{
	begin(0);
	device_room = 0;
	while (put(0, "012345678901234567890123456789012345678\n") == 0)
		;
	for (int i = 0; i < 3; i++)
		console_message(&c, "a message that is lost");
	expect_eq(c.console.lost, 3);
	device_room = sizeof(out);
	polls();
	expect(strstr(out, "atoll: cluster 0: 3 messages lost\n") != NULL);
	expect(strstr(out, "a message") == NULL);
	expect_eq(c.console.lost, 0);
	console_message(&c, "%s", "here");
	expect(strstr(printed(), "atoll: cluster 0: here\n") != NULL);
}

/* A text of many steps: what others write comes before or after a line of it, never into one. */
TEST(a_long_text_of_another_cluster_is_not_cut_by_threads)
{
	unsigned tries = 0;

	begin(0);
	for (int i = 0; i < 20; i++)
		way_len += (size_t)sprintf(way + way_len,
			"from one: line %d, longer than the others\n", i);
	activity++;
	expect(console_poll(&c));
	while (put(7, "own\n") == -E_AGAIN && ++tries < 100)
		console_poll(&c);
	expect(tries > 0 && tries < 100);
	expect_eq(put(7, "open"), 0);
	polls();
	expect(strstr(out, "\nown\n") != NULL);
	for (char *at = out; (at = strstr(at, "from one")) != NULL; at++)
		expect(strncmp(strchr(at, '\n') - 6, "others", 6) == 0);
	expect(strstr(out, "line 19,") != NULL);
}

/* A step can end behind a newline, and what was written in one call goes on behind it. */
TEST(lines_that_were_written_together_are_not_cut)
{
	unsigned tries = 0;

	begin(0);
	way_len = (size_t)sprintf(way, "%0*d\nrest\n", STEP - 1, 0);
	activity++;
	expect(console_poll(&c));
	while (put(7, "own\n") == -E_AGAIN && ++tries < 100)
		console_poll(&c);
	expect_eq(tries, 1);
	expect(strstr(printed(), "0\nrest\nown\n") != NULL);
}

TEST(a_message_of_the_kernel_does_not_wait_for_the_end_of_a_line)
{
	begin(0);
	way_len = (size_t)sprintf(way, "%0200d\n", 0);
	activity++;
	expect(console_poll(&c));
	expect_eq(put(7, "own\n"), -E_AGAIN);
	console_message(&c, "now");
	polls();
	expect(strstr(out, "0\natoll: cluster 0: now\n0") != NULL);
}

/* Each of the other clusters writes as fast as it can: own text finds room all the same. */
TEST(a_flood_from_others_leaves_room)
{
	char line[CONSOLE_WRITE_MAX + 1];
	unsigned tries = 0;

	begin(0);
	memset(line, 'x', sizeof(line) - 2);
	strcpy(line + sizeof(line) - 2, "\n");
	while (tries++ < 1000) {
		if (way_len + 60 < sizeof(way))
			way_len += (size_t)sprintf(way + way_len, "a line of the other cluster\n");
		activity++;
		device_room = 16;
		out_len = 0;
		console_poll(&c);
		if (put(7, line) == 0)
			break;
	}
	expect(tries < 100);
}

TEST(a_spoilt_ring_is_told_and_the_others_are_read)
{
	begin(0);
	strcpy(way, "from one\n");
	way_len = strlen(way);
	spoilt = true;
	activity++;
	expect(console_poll(&c));
	expect_str(printed(), "from one\n");
	expect_eq(condemned, 1);
}

TEST(flush_lets_everything_out)
{
	begin(0);
	put(7, "unfinished");
	console_flush(&c);
	expect_str(printed(), "unfinished\n");
}

TEST(a_message_of_the_kernel_is_one_line)
{
	begin(0);
	console_message(&c, "%u of %s", 3u, "them");
	expect_str(printed(), "atoll: cluster 0: 3 of them\n");
}

int
main(void)
{
	RUN(a_line_goes_out_when_it_is_complete);
	RUN(an_interrupted_line_is_ended_not_mixed);
	RUN(a_line_longer_than_the_buffer_goes_out_in_pieces);
	RUN(a_full_way_takes_nothing);
	RUN(cluster_0_prints_what_the_others_sent);
	RUN(who_writes_without_end_does_not_hold_cluster_0);
	RUN(who_finds_the_ring_full_comes_again);
	RUN(messages_that_find_no_room_are_counted);
	RUN(a_long_text_of_another_cluster_is_not_cut_by_threads);
	RUN(lines_that_were_written_together_are_not_cut);
	RUN(a_message_of_the_kernel_does_not_wait_for_the_end_of_a_line);
	RUN(a_flood_from_others_leaves_room);
	RUN(a_spoilt_ring_is_told_and_the_others_are_read);
	RUN(flush_lets_everything_out);
	RUN(a_message_of_the_kernel_is_one_line);
	return TEST_FAILED;
}
