/* SPDX-License-Identifier: MIT
 *
 * Hosts that a job may use: this one.
 */
#ifndef MPI_EXEC_HOSTS_H
#define MPI_EXEC_HOSTS_H

struct hosts {
	int slots;			/* ranks that it takes; 0: no limit */
};

/*
 * HOST[:N],...: a name without a number is one slot more, no limit if it stands alone. Another host
 * is bad usage.
 */
void hosts_of_list(struct hosts *h, const char *option, const char *text);

/*
 * A file: per line HOST, HOST:N or HOST slots=N (other words are passed over); # begins a remark. A
 * host without a number is no limit.
 */
void hosts_of_file(struct hosts *h, const char *option, const char *path);

#endif
