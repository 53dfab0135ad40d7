/* SPDX-License-Identifier: MIT
 *
 * Process groups, sessions, and what is typed. A machine has one terminal, which is that of all
 * sessions; one group is in the foreground. Once a shell has said which, keys that are signals come
 * to that group: they are counted from outside in the machine's memory (user/personality/frames.h),
 * and looked at now and then.
 */
#ifndef SERVERS_PROC_GROUPS_H
#define SERVERS_PROC_GROUPS_H

#include <servers/proc/agent.h>

void groups_begin(struct agent *a);

/* A new member: its group (process_request), and whether that comes to the foreground. */
void group_begin(struct member *m, int32_t group, bool is_front);

/* PROCESS_GROUP, of a member or NULL. What is asked for, or a negative error. */
int group_ask(struct member *asks, uint32_t op, int32_t pid, int32_t value);

/* It is time (BIT_TYPED). */
void groups_look(void);

/* Is it time every now and then? */
bool groups_are_looking(void);

#endif
