/* SPDX-License-Identifier: MIT
 *
 * What the machine is given to read: the file server alone asks for it on the console, one question
 * at a time, and for no more than its clients want. Whatever of that the client who wanted it does
 * not take is there for others, so nothing is lost with a process that ends. The answer appears in
 * the boot archive (user/personality/frames.h), and is looked for now and then.
 */
#ifndef SERVERS_FILE_INPUT_H
#define SERVERS_FILE_INPUT_H

#include <servers/file/tree.h>

#define BIT_INPUT 1		/* of the server's notification: it is time to look */

void input_begin(struct tree *t, uint32_t *sequence);

/* It is (BIT_INPUT). */
void input_look(void);

#endif
