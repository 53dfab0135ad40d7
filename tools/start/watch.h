/* SPDX-License-Identifier: MIT
 *
 * A machine that was started from a prepared start.
 */
#ifndef WATCH_H
#define WATCH_H

#include "prepared.h"

/*
 * Start the machine as a process group of its own, which dies with us, and wait for its end.
 * Returns the exit status if it ends by itself soon and with a plain status; whatever else happens
 * becomes the front command's: this process becomes it, with the machine as its child.
 */
int watch_machine(const struct prepared *p, char **args);

#endif
