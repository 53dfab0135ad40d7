/* SPDX-License-Identifier: MIT
 *
 * Which MPI function the program is in. Calls do not write it down, for that would cost each of
 * them; it is found on the stack when somebody asks.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stddef.h>
#include <string.h>
#include <mpi/transport/process/state.h>

#define FRAMES 64

const char *
transport_function(void)
{
	void *frame[FRAMES];
	const char *name = NULL;
	int frames = backtrace(frame, FRAMES);
	Dl_info info;

	/* the outermost: a tool's MPI_X calls our PMPI_X */
	for (int i = 0; i < frames; i++) {
		const char *found = dladdr(frame[i], &info) != 0 ? info.dli_sname : NULL;

		if (found != NULL && *found == 'P')
			found++;
		if (found != NULL && strncmp(found, "MPI_", 4) == 0)
			name = found;
	}
	return name;
}
