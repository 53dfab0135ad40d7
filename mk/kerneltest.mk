# SPDX-License-Identifier: MIT
#
# tests/kernel: programs that stand in for init and try every kernel call from user mode. Built like servers.

KT := $(OUT)/tests/kernel
KT_SRC := $(wildcard tests/kernel/*.c)
KT_SHARED := tests/kernel/ktest.c
# what a test runs on a core without a kernel below it
KT_CPU := $(firstword $(wildcard tests/kernel/cpu/$(PORT)/lent.S) tests/kernel/cpu/generic/lent.S)
KT_MAINS := $(filter-out $(KT_SHARED),$(KT_SRC))
KT_BINS := $(patsubst tests/kernel/%.c,$(KT)/%,$(KT_MAINS))

$(U)/tests/kernel/%.o: tests/kernel/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(U_FREE) -I. -I$(VIEW)/server -Iuser/include -Ihal/include -Ihal/cpu/$(PORT)/include -c -o $@ $<
$(KT_BINS): $(KT)/%: $(U)/tests/kernel/%.c.o $(patsubst %,$(U)/%.o,$(KT_SHARED) $(KT_CPU)) $(FREE_OBJ) $(LIB)/libatoll.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(U_LD) -nostdlib -Wl,-e,_start -o $@ $(filter %.o,$^) $(LIB)/libatoll.a $(U_LIBGCC)

KT_KERNEL_hosted := $(OUT)/atoll-host
KT_KERNEL_riscv64 := $(OUT)/boot.elf $(OUT)/kernel.bin
KT_KERNEL_or1k := $(OUT)/kernel.elf $(OUT)/kernel-moved.elf
KT_KERNEL := $(KT_KERNEL_$(PORT))
kerneltest: $(KT_KERNEL) $(KT_BINS)
.PHONY: kerneltest

-include $(patsubst %,$(U)/%.d,$(KT_SRC))
