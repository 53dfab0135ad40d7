# SPDX-License-Identifier: MIT
#
# Generated sources (from the tables in abi/) and the include views of the rooms.

GEN_STAMP := $(GEN)/.stamp
GEN_TOOL := $(wildcard tools/kcallgen.py)
GEN_USER_SRC := $(GEN)/kcall_user.c
GEN_KERNEL_SRC := $(GEN)/kcall_kernel.c

MPIGEN_TOOL := $(wildcard mpi/tools/mpigen.py)
FORTRANGEN_TOOL := $(wildcard mpi/tools/mpifortran.py)
COLLGEN_TOOL := $(wildcard mpi/tools/colltable.py)
# the bindings of the MPI functions, a file per chapter
MPI_BIND := $(addprefix $(GEN)/mpi/bind_,$(addsuffix .c,$(shell sed -n 's/^\([a-z0-9]*\) .*/\1/p' mpi/functions.tbl | sort -u)))
# those that only answer that they are not supported, and the names of all others (ADR 0038)
MPI_MISSING := $(GEN)/mpi/missing.c
MPI_LINK := $(GEN)/link/mpi_abi.c

$(GEN_STAMP): $(wildcard tools/kcall*.py tools/cheader.py mpi/tools/mpi*.py mpi/tools/coll*.py) $(wildcard abi/*.tbl abi/limits.abi.h mpi/*.tbl mpi/include/mpi.h mpi/api/*.c mpi/api/direct*.h) \
		$(wildcard mpi/coll/*.tbl mpi/coll/*.c)
	$(call say,GEN,$(GEN))
	$(Q)mkdir -p $(GEN)/include
	$(Q)$(if $(GEN_TOOL),$(PYTHON) $(GEN_TOOL) --out $(GEN))
	$(Q)$(if $(MPIGEN_TOOL),$(PYTHON) $(MPIGEN_TOOL) --out $(GEN))
	$(Q)$(if $(FORTRANGEN_TOOL),$(PYTHON) $(FORTRANGEN_TOOL) --out $(GEN))
	$(Q)$(if $(COLLGEN_TOOL),$(PYTHON) $(COLLGEN_TOOL) --out $(GEN))
	$(Q)touch $@

# an empty recipe: make looks again when the files were written
# what programs of the test list include
MPI_GEN_H := $(addprefix $(GEN)/include/,mpi_wrong.h mpi_outside.h mpi_coll_names.h)
$(GEN_USER_SRC) $(GEN_KERNEL_SRC) $(MPI_BIND) $(MPI_MISSING) $(MPI_LINK) $(GEN)/fortran/bind.c $(MPI_GEN_H): $(GEN_STAMP) ;

gen: $(GEN_STAMP)

# VIEW_room: the top-level names that the room may include. hal/include, the CPU's headers and user/include come by -I.
# The links are relative: a copy of the tree, with what was built there, is compiled with its own headers.
VIEW_base := abi base
VIEW_hal := abi base
VIEW_kernel := abi base kernel
VIEW_user := abi base user
VIEW_server := abi base user
VIEW_mpi := abi base user mpi
VIEW_app := abi
VIEW_ROOMS := base hal kernel user server mpi app

empty :=
VIEW_STAMP := $(VIEW)/.stamp-$(subst $(empty) $(empty),-,$(strip $(notdir $(wildcard servers/*))))
$(VIEW_STAMP): mk/gen.mk
	$(Q)rm -rf $(VIEW)
	$(Q)$(foreach r,$(VIEW_ROOMS),mkdir -p $(VIEW)/$(r); \
		$(foreach d,$(VIEW_$(r)),ln -sr $(CURDIR)/$(d) $(VIEW)/$(r)/$(d);))true
	$(Q)ln -sr $(CURDIR)/servers $(VIEW)/server/servers
	$(Q)for s in $(notdir $(wildcard servers/*)); do for r in mpi app user; do mkdir -p $(VIEW)/$$r/servers/$$s; \
		for h in client.h protocol.h; do ln -sr $(CURDIR)/servers/$$s/$$h $(VIEW)/$$r/servers/$$s/$$h; done; done; done
	$(Q)touch $@

view: $(VIEW_STAMP)
PREPARE := $(GEN_STAMP) $(VIEW_STAMP)
