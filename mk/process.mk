# SPDX-License-Identifier: MIT
#
# Process ranks: libmpi_abi.so.1 and mpiexec for the Linux host, by its own compiler against its own libc. Same sources as the library for
# thread ranks, but for the transport.
#
# Only what mpi.h declares is exported: hidden is the default, and export.h says otherwise for the functions of mpi.h.
# SAN=address,undefined or SAN=thread builds into build/address or build/thread, for the tests.

HOSTCC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
P := $(OUT)/o

P_SAN := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined)
# a message passes many small functions of several files: gcc inlines them when it sees all at once
P_FAST := $(if $(SAN),-fno-omit-frame-pointer,$(if $(findstring gcc,$(HOSTCC)),-flto=auto))
# a sanitizer's code compiles in half the time
P_LEVEL := $(if $(SAN),-O1,-O2)
P_COMMON := $(CSTD) $(WARN) $(P_LEVEL) -g -D_GNU_SOURCE -fPIC -fvisibility=hidden -fno-plt -fno-semantic-interposition $(P_FAST) -MMD -MP -I$(GEN)/include -I$(VIEW)/mpi -Impi/include -Iuser/include $(P_SAN)
PLIB_SRC := $(filter-out mpi/tools/% mpi/transport/atoll/% mpi/exec/% mpi/fortran/%,$(call find_c,mpi))
PLIB_OBJ := $(patsubst %,$(P)/%.o,$(PLIB_SRC)) $(patsubst $(GEN)/%,$(P)/gen/%.o,$(MPI_BIND) $(MPI_MISSING))
EXEC_SRC := $(call find_c,mpi/exec) mpi/transport/process/segment.c mpi/transport/inbox.c
EXEC_OBJ := $(patsubst %,$(P)/%.o,$(EXEC_SRC))
PLIB := $(OUT)/lib/libmpi_abi.so.1
# what programs are linked with: the names of the implemented functions (ADR 0038)
PLINK := $(OUT)/lib/link/libmpi_abi.so
# the routines that Fortran calls: C over the public header, so no Fortran compiler is needed
FLIB := $(OUT)/lib/libmpi_fortran.so.1
FLIB_OBJ := $(patsubst %,$(P)/%.o,$(call find_c,mpi/fortran)) $(P)/gen/fortran/bind.c.o
MPIEXEC := $(OUT)/bin/mpiexec
P_FLAGS_FILE := $(call flags_file,$(P)/flags,$(HOSTCC) $(P_COMMON))

$(P)/mpi/%.o: mpi/% $(P_FLAGS_FILE) | $(PREPARE)
	$(call say,HOSTCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) $(P_COMMON) -c -o $@ $<
# an MPI function keeps its frame while it waits, by which its name is found (function.c there)
$(P)/gen/mpi/%.o: P_COMMON += -fno-optimize-sibling-calls
$(P)/gen/mpi/%.o: $(GEN)/mpi/% $(P_FLAGS_FILE) | $(PREPARE)
	$(call say,HOSTCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) $(P_COMMON) -include mpi/transport/process/export.h -c -o $@ $<
$(FLIB_OBJ): P_COMMON += -fvisibility=default
$(P)/gen/fortran/%.o: $(GEN)/fortran/% $(P_FLAGS_FILE) | $(PREPARE)
	$(call say,HOSTCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) $(P_COMMON) -c -o $@ $<

# loops over operands; at -O2 gcc takes them one by one
$(P)/mpi/core/op_loops.c.o: P_COMMON += -O3

$(PLIB): $(PLIB_OBJ)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) -shared -Wl,-soname,libmpi_abi.so.1 -Wl,-z,defs -Wl,-z,now -Wl,-z,noexecstack -Wl,--hash-style=gnu $(P_LEVEL) $(P_FAST) $(P_SAN) -o $@ $^ -pthread
	$(Q)ln -sf libmpi_abi.so.1 $(@D)/libmpi_abi.so
$(PLINK): $(MPI_LINK) $(P_FLAGS_FILE) | $(PREPARE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) $(CSTD) $(WARN) -shared -fPIC -nostdlib -Wl,-soname,libmpi_abi.so.1 -Wl,-z,noexecstack -Wl,--hash-style=gnu -o $@ $<
$(FLIB): $(FLIB_OBJ) $(PLIB)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) -shared -Wl,-soname,libmpi_fortran.so.1 -Wl,-z,defs -Wl,-z,noexecstack -Wl,--hash-style=gnu -Wl,--enable-new-dtags \
		-Wl,-rpath,'$$ORIGIN' $(P_LEVEL) $(P_FAST) $(P_SAN) -o $@ $(FLIB_OBJ) $(PLIB)
$(MPIEXEC): $(EXEC_OBJ)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) $(P_LEVEL) $(P_FAST) $(P_SAN) -o $@ $^

process: $(PLIB) $(PLINK) $(FLIB) $(MPIEXEC)
# what no other port compiles
process-own: $(patsubst %,$(P)/%.o,$(call find_c,mpi/transport/process)) $(MPIEXEC)
.PHONY: process-own

# the programs of the test list, compiled by the installed mpicc (./atoll install, ./atoll test)
PREFIX := $(OUT)/prefix
PROGRAM_SRC := $(call find_c,tests/mpi)
PROGRAM_MAINS := $(call mains,$(PROGRAM_SRC))
PROGRAMS :=
# a program and the other files of its folder
define program_rule
PROGRAMS += $(OUT)/tests/$(basename $(notdir $(1)))
$(OUT)/tests/$(basename $(notdir $(1))): $(1) $(foreach s,$(filter-out $(PROGRAM_MAINS),$(PROGRAM_SRC)),$(if $(filter $(dir $(1)),$(dir $(s))),$(s))) \
		$(wildcard $(dir $(1))*.h) $(MPI_GEN_H) $(PREFIX)/include/mpi.h | $(PREPARE)
	$$(call say,MPICC,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(PREFIX)/bin/mpicc -cc=$(HOSTCC) $(CSTD) $(WARN) $(P_LEVEL) -g $(P_SAN) -I$(GEN)/include -o $$@ $$(filter %.c,$$^) $$(WHOLE) -lm
endef
$(foreach m,$(PROGRAM_MAINS),$(eval $(call program_rule,$(m))))
# these call what is not implemented, too
$(OUT)/tests/wrong $(OUT)/tests/outside: WHOLE := -L$(PREFIX)/lib
programs: $(PROGRAMS)
.PHONY: programs

-include $(patsubst %.o,%.d,$(PLIB_OBJ) $(FLIB_OBJ) $(EXEC_OBJ))
