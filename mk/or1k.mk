# SPDX-License-Identifier: MIT
#
# Kernel images of or1k. Each is linked a second time elsewhere: from what differs tools/rebase.py knows what moves with the image.

KERNEL_LD := hal/cpu/or1k/kernel.ld
OR1K_LINK := $(KCC) $(K_ARCH) -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments -Wl,--no-warn-execstack -Wl,-n -T $(KERNEL_LD)
OR1K_MOVED := 0x1000000
OR1K_IMAGES := $(OUT)/kernel $(OUT)/hal-test

kernel: $(OR1K_IMAGES:%=%.elf) $(OR1K_IMAGES:%=%-moved.elf)

$(OUT)/kernel.elf $(OUT)/kernel-moved.elf: $(K_ALL) $(KERNEL_LD)
$(OUT)/hal-test.elf $(OUT)/hal-test-moved.elf: $(BASE_OBJ) $(HAL_OBJ) $(HALTEST_OBJ) $(KERNEL_LD)
$(OR1K_IMAGES:%=%.elf):
	$(call say,LINK,$@)
	$(Q)$(OR1K_LINK) -Wl,--defsym,IMAGE_AT=0 -Wl,-Map,$(@:.elf=.map) -o $@ $(filter %.o,$^) -lgcc
$(OR1K_IMAGES:%=%-moved.elf):
	$(call say,LINK,$@)
	$(Q)$(OR1K_LINK) -Wl,--defsym,IMAGE_AT=$(OR1K_MOVED) -o $@ $(filter %.o,$^) -lgcc

# one source as a program: make PORT=or1k freestanding SOURCE=x.c PROGRAM=x
.PHONY: freestanding
freestanding: $(LIB)/libatoll.a $(FREE_OBJ) $(INC)/.stamp
	$(Q)$(UCC) $(U_COMMON) $(U_FREE) -I$(INC) -c -o $(PROGRAM).o $(SOURCE)
	$(Q)$(U_LD) $(PROG_LINK) -o $(PROGRAM) $(PROGRAM).o $(FREE_OBJ) $(LIB)/libatoll.a $(U_LIBGCC)
