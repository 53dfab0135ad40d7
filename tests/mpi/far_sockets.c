/* SPDX-License-Identifier: MIT
 *
 * Sockets and message queues between ranks of all clusters: one listens, the others connect and
 * ask; then all send datagrams, and messages of a queue.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "check.h"

#define BYTES 30000

static struct check state;

#define check(condition) CHECK(&state, condition)

static const struct sockaddr_un name = {AF_UNIX, "/sockets"}, other = {AF_UNIX, "/datagrams"};

static unsigned char
byte_of(int rank, int i)
{
	return (unsigned char)(rank * 31 + i * 7 + i / 251);
}

/* What one rank asks, byte by byte. */
static void
answer(int s)
{
	static unsigned char text[BYTES];
	unsigned char rank;

	check(recv(s, &rank, 1, 0) == 1 && recv(s, text, BYTES, MSG_WAITALL) == BYTES);
	for (int i = 0; i < BYTES; i++)
		if (text[i] != byte_of(rank, i)) {
			check(text[i] == byte_of(rank, i));
			break;
		}
	check(send(s, text, BYTES, 0) == BYTES && close(s) == 0);
}

static void
serve(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	check(bind(s, (const struct sockaddr *)&name, sizeof(name)) == 0 && listen(s, 1) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 1; i < state.size; i++)
		answer(accept(s, NULL, NULL));
	check(close(s) == 0 && unlink(name.sun_path) == 0);
}

static void
ask(void)
{
	unsigned char text[BYTES], got[BYTES], rank = (unsigned char)state.rank;
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	for (int i = 0; i < BYTES; i++)
		text[i] = byte_of(state.rank, i);
	MPI_Barrier(MPI_COMM_WORLD);
	check(connect(s, (const struct sockaddr *)&name, sizeof(name)) == 0);
	check(send(s, &rank, 1, 0) == 1 && send(s, text, BYTES, 0) == BYTES);
	check(recv(s, got, BYTES, MSG_WAITALL) == BYTES && memcmp(text, got, BYTES) == 0);
	check(recv(s, got, 1, 0) == 0 && close(s) == 0);
}

/* Each rank's come in their order. */
static void
take_messages(int s, mqd_t q)
{
	int next[2][64] = {{0}}, m[2];

	for (int i = 0; i < 20 * (state.size - 1); i++) {
		check(recv(s, m, sizeof(m), 0) == sizeof(m) && m[1] == next[0][m[0]]++);
		check(mq_receive(q, (char *)m, sizeof(m), NULL) == sizeof(m) &&
			m[1] == next[1][m[0]]++);
	}
}

static void
messages(void)
{
	struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 2 * sizeof(int)};
	int s = socket(AF_UNIX, SOCK_DGRAM, 0);
	mqd_t q;

	if (state.rank == 0) {
		check(bind(s, (const struct sockaddr *)&other, sizeof(other)) == 0);
		q = mq_open("/messages", O_RDWR | O_CREAT | O_EXCL, 0600, &a);
		MPI_Barrier(MPI_COMM_WORLD);
		take_messages(s, q);
		check(unlink(other.sun_path) == 0 && mq_unlink("/messages") == 0);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		q = mq_open("/messages", O_WRONLY);
		check(connect(s, (const struct sockaddr *)&other, sizeof(other)) == 0);
		for (int i = 0; i < 20; i++) {
			int m[2] = {state.rank, i};

			check(send(s, m, sizeof(m), 0) == sizeof(m));
			check(mq_send(q, (const char *)m, sizeof(m), 0) == 0);
		}
	}
	check(mq_close(q) == 0 && close(s) == 0);
}

int
main(int argc, char **argv)
{
	state = check_begin(&argc, &argv);
	if (state.rank == 0)
		serve();
	else
		ask();
	messages();
	return check_end(&state);
}
