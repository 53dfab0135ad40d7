# SPDX-License-Identifier: MIT
#
# Unit tests: each *_test.c becomes build/unit/NAME. tools/unitmk.py reads what each needs from the head of the test
# ("needs:", "sanitize:", "cpu:", "flags:") and writes the rules.

ROOMS_WITH_TESTS := $(wildcard abi base hal kernel user servers mpi apps tools/plugin)
UNIT_TESTS := $(if $(ROOMS_WITH_TESTS),$(sort $(shell find $(ROOMS_WITH_TESTS) -name '*_test.c')))
UCC_UNIT := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
# -O0 compiles in half the time of -O1, and the tests run as fast
UNIT_FLAGS := $(CSTD) $(WARN) -O0 -g -fno-omit-frame-pointer -D_GNU_SOURCE -MMD -MP -I. -Ihal/include -Iuser/include -Impi/include \
	-I$(GEN)/include
UNIT_SAN_address := -fsanitize=address,undefined -fno-sanitize-recover=undefined
UNIT_SAN_thread := -fsanitize=thread
UNIT_SAN_none :=
UNIT_FLAGS_FILE := $(call flags_file,$(OUT)/flags,$(UCC_UNIT) $(UNIT_FLAGS))

# the folders: a file more or less changes what a wildcard stands for
$(OUT)/tests.mk: $(UNIT_TESTS) $(sort $(dir $(UNIT_TESTS))) $(wildcard mpi/*/ mpi/*/*/) tools/unitmk.py mk/unit.mk $(PREPARE)
	$(Q)mkdir -p $(@D)
	$(Q)$(PYTHON) tools/unitmk.py --out $@ --gen $(GEN) $(UNIT_TESTS)

# unit-first: each test under the first of its sanitizers
unit unit-first: $(PREPARE)
.PHONY: unit-first
include $(OUT)/tests.mk
