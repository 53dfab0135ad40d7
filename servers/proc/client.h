/* SPDX-License-Identifier: MIT
 *
 * Client of the process server.
 */
#ifndef SERVERS_PROC_CLIENT_H
#define SERVERS_PROC_CLIENT_H

/*
 * Ask the leader to end the running job, from any cluster, with an exit status of 1..255 (0 counts as 1). Returns at once: the caller
 * is ended too if it belongs to the job. 0 or -E_NAME of the mailbox.
 */
int proc_job_kill(int status);

#endif
