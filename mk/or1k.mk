# SPDX-License-Identifier: MIT
#
# Kernel images of or1k. Each is linked a second time elsewhere: from what differs tools/rebase.py knows what moves with the image.

KERNEL_LD := hal/cpu/or1k/kernel.ld
OR1K_LINK := $(KCC) $(K_ARCH) -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments -Wl,--no-warn-execstack \
	-Wl,-n -L $(TUNE_ORDER) -T $(KERNEL_LD)
OR1K_MOVED := 0x1000000
OR1K_KERNEL := $(OUT)/kernel
OR1K_IMAGES := $(OR1K_KERNEL) $(OUT)/hal-test

kernel: $(OR1K_IMAGES:%=%.elf) $(OR1K_IMAGES:%=%-moved.elf)
image: $(OR1K_KERNEL).elf
.PHONY: image

$(OR1K_KERNEL).elf $(OR1K_KERNEL)-moved.elf: $(K_ALL) $(KERNEL_LD) $(TUNE_ORDER)/order.ld
$(OUT)/hal-test.elf $(OUT)/hal-test-moved.elf: $(BASE_OBJ) $(HAL_OBJ) $(HALTEST_OBJ) $(KERNEL_LD) $(TUNE_ORDER)/order.ld
$(OR1K_IMAGES:%=%.elf):
	$(call say,LINK,$@)
	$(Q)$(OR1K_LINK) -Wl,--defsym,IMAGE_AT=0 -Wl,-Map,$(@:.elf=.map) -o $@ $(filter %.o,$^) -lgcc
$(OR1K_IMAGES:%=%-moved.elf):
	$(call say,LINK,$@)
	$(Q)$(OR1K_LINK) -Wl,--defsym,IMAGE_AT=$(OR1K_MOVED) -o $@ $(filter %.o,$^) -lgcc

# `loose` makes kernel-loose.o: the kernel in one relocatable file, each function in a section of its own. tools/codesign/layout.py links it with the
# functions in other orders, for measurements.
OR1K_LOOSE := $(OUT)/kernel-loose.o
loose: $(OR1K_LOOSE)
.PHONY: loose
$(OR1K_LOOSE): $(K_ALL)
	$(call say,LINK,$@)
	$(Q)$(KCC) $(K_ARCH) -nostdlib -r -o $@ $^ -lgcc
