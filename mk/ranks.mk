# SPDX-License-Identifier: MIT
#
# The library of thread ranks under a sanitizer, and the test list's programs as threads of one ordinary process (tests/process/ranks.c):
# make PORT=process SAN=thread ranks, in build/thread/process/ranks. For the whole test list; ./atoll test has the unit tests.

R := $(OUT)/ranks
# what differs from the library of process ranks: the transport, and how a rank finds its state.
# All other objects are that library's.
R_SRC := $(filter-out mpi/transport/atoll/channel/%,$(call find_c,mpi/transport/atoll)) tests/process/ranks.c
R_OBJ := $(patsubst %,$(R)/%.o,$(R_SRC))
R_SHARED := $(filter-out $(P)/mpi/core/rank.c.o $(P)/mpi/transport/process/%,$(PLIB_OBJ))
R_COMMON := $(CSTD) $(WARN) -O1 -g -fno-omit-frame-pointer -D_GNU_SOURCE -fPIC -MMD -MP -I. -Impi/include -Iuser/include -Iuser/cpu/hosted -Iabi/cpu/hosted -I$(GEN)/include $(P_SAN)

$(R)/%.o: % $(P_FLAGS_FILE) | $(PREPARE)
	$(call say,HOSTCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOSTCC) $(R_COMMON) -c -o $@ $<
$(R)/run: $(R_OBJ) $(R_SHARED)
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) -rdynamic $(P_SAN) -o $@ $^ -ldl -lm -pthread

R_PROGRAMS :=
define ranks_program_rule
R_PROGRAMS += $(R)/$(basename $(notdir $(1))).so
$(R)/$(basename $(notdir $(1))).so: $(1) $(foreach s,$(filter-out $(PROGRAM_MAINS),$(PROGRAM_SRC)),$(if $(filter $(dir $(1)),$(dir $(s))),$(s))) \
		$(wildcard $(dir $(1))*.h) $(MPI_GEN_H) mpi/include/mpi.h $(P_FLAGS_FILE) | $(PREPARE)
	$$(call say,HOSTCC,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(HOSTCC) $(filter-out -D_GNU_SOURCE,$(R_COMMON)) -Dpthread_create=ranks_thread_create -shared -Wl,-Bsymbolic -o $$@ $$(filter %.c,$$^) -lm
endef
$(foreach m,$(PROGRAM_MAINS),$(eval $(call ranks_program_rule,$(m))))
ranks: $(R)/run $(R_PROGRAMS)
.PHONY: ranks

-include $(patsubst %.o,%.d,$(R_OBJ))
