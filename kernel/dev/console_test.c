/* SPDX-License-Identifier: MIT
 *
 * Console: lines of different writers stay whole, nothing is taken that cannot go on its way.
 *
 * needs: kernel/dev/console.c base/fmt.c base/str.c
 */
#include <abi/errors.h>
#include <base/test.h>
#include <kernel/cluster.h>

static struct cluster c;
static struct boot_record record;
static char out[4096];			/* what the console of last resort got */
static size_t out_len;
static char way[4096];			/* what went to cluster 0 */
static size_t way_len, way_room;
static uint32_t activity;		/* doorbell word */
static bool spoilt, chatty;		/* cluster 2's ring; cluster 1 */
static unsigned condemned;

void
check_failed(const char *file, int line, const char *what)
{
	printf("%s:%d: %s\n", file, line, what);
	abort();
}

void
hal_console_write(const char *text, size_t len)
{
	memcpy(out + out_len, text, len);
	out[out_len += len] = 0;
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
	record.clusters = 3;
	out_len = way_len = 0;
	out[0] = way[0] = 0;
	way_room = sizeof(way);
	spoilt = chatty = false;
	condemned = 0;
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
	expect_str(out, "");
	expect_eq(put(1, "line\nand "), 0);
	expect_str(out, "one line\n");
	expect_eq(put(1, "more\n"), 0);
	expect_str(out, "one line\nand more\n");
}

TEST(an_interrupted_line_is_ended_not_mixed)
{
	begin(0);
	put(1, "first");
	put(2, "second\n");
	expect_str(out, "first\nsecond\n");
	put(1, " rest\n");
	expect_str(out, "first\nsecond\n rest\n");
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
	expect(console_drain(&c));
	expect_str(out, "open\nfrom one\n");
	expect(!console_drain(&c));
}

TEST(who_writes_without_end_does_not_hold_cluster_0)
{
	begin(0);
	strcpy(way, "once\n");
	way_len = strlen(way);
	chatty = true;
	activity++;
	expect(console_drain(&c));
	expect_str(out, "once\n");
	expect_eq(way_len, 1);
}

TEST(a_spoilt_ring_is_told_and_the_others_are_read)
{
	begin(0);
	strcpy(way, "from one\n");
	way_len = strlen(way);
	spoilt = true;
	activity++;
	expect(console_drain(&c));
	expect_str(out, "from one\n");
	expect_eq(condemned, 1);
}

TEST(flush_lets_everything_out)
{
	begin(0);
	put(7, "unfinished");
	console_flush(&c);
	expect_str(out, "unfinished\n");
}

TEST(a_message_of_the_kernel_is_one_line)
{
	begin(0);
	console_message(&c, "%u of %s", 3u, "them");
	expect_str(out, "atoll: cluster 0: 3 of them\n");
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
	RUN(a_spoilt_ring_is_told_and_the_others_are_read);
	RUN(flush_lets_everything_out);
	RUN(a_message_of_the_kernel_is_one_line);
	return TEST_FAILED;
}
