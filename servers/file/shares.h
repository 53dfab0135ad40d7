/* SPDX-License-Identifier: MIT
 *
 * The devices that carry the messages of shares (share.h), and where the shares begin in the tree.
 */
#ifndef SERVERS_FILE_SHARES_H
#define SERVERS_FILE_SHARES_H

#include <servers/file/tree.h>

#define BIT_SHARE 2		/* of the server's notification: a host has answered */

/* Begin with the devices that the server was given. */
void shares_begin(struct tree *t);

/* Take what hosts have answered; with the bit set, let the devices interrupt again. */
void shares_look(struct tree *t, bool is_told);

#endif
