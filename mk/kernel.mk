# SPDX-License-Identifier: MIT
#
# Kernel side of a port: base + kernel + hal/cpu/CPU + hal/noc/shm + hal/board/BOARD.

CPU_hosted := hosted
CPU_coroutine := coroutine
CPU_riscv64 := riscv64
CPU_or1k := or1k
CPU := $(CPU_$(PORT))
NOC := shm
BOARD_hosted := linux
BOARD_riscv64 := virt
BOARD_or1k := or1k
BOARD := $(BOARD_$(PORT))

CONTEXT_DIR := $(firstword $(wildcard abi/cpu/$(CPU)) abi/cpu/hosted)
HAL_CPU_INC := hal/cpu/$(CPU)/include

K := $(OUT)/k

ifneq ($(filter hosted coroutine,$(PORT)),)
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
KCC := $(CC)
K_ARCH := -fno-stack-protector -fcf-protection=none -fno-omit-frame-pointer
K_LD := $(CC)
HAL_LIBS := -pthread
endif
ifeq ($(PORT),hosted)
ifeq ($(SAN),)
# starts faster, and no symbol is looked up while a user thread's pointer is loaded
HAL_LIBS += -static
else
# SAN=address,undefined or SAN=thread, in build/address or build/thread
K_ARCH += -fsanitize=$(SAN) -fno-sanitize-recover=undefined
HAL_LIBS += -fsanitize=$(SAN) -Wl,-z,now
endif
endif
ifeq ($(PORT),riscv64)
CROSS := riscv64-unknown-elf-
KCC := $(CROSS)gcc
K_ARCH := -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany -msmall-data-limit=0 -fno-stack-protector
# left to itself this compiler takes the library for floating-point registers
K_LIBGCC := $(shell $(KCC) -march=rv64imac -mabi=lp64 -print-libgcc-file-name)
# The kernel's image is optimised as a whole, by the linker: it is 3 % smaller and faster so. Copies of functions for
# some of their callers make it larger.
K_LTO := -flto -flto-partition=none -fno-ipa-cp
endif
ifeq ($(PORT),or1k)
CROSS := or1k-elf-
KCC := $(CROSS)gcc
# this compiler's 32-bit types are long, everybody else's int
INT32_IS_INT := -U__UINT32_TYPE__ -D__UINT32_TYPE__='unsigned int' -U__INT32_TYPE__ -D__INT32_TYPE__=int
# what every core has; a K-Core multiplies and divides by software
include mk/tune.mk
K_ARCH := $(TUNE_FLAGS) -msfimm -mshftimm -mcmov -fno-stack-protector $(INT32_IS_INT)
endif

K_CCINC := $(shell $(KCC) -print-file-name=include)
K_FREE := -ffreestanding -nostdinc -isystem $(K_CCINC)
K_COMMON := $(CSTD) $(WARN) -O2 -g -ffunction-sections -fdata-sections -fno-common -fno-delete-null-pointer-checks \
	$(K_ARCH) -MMD -MP -I$(GEN)/include
K_HALINC := -Ihal/include -I$(HAL_CPU_INC) -I$(CONTEXT_DIR)

# only the folders of the Linux back ends see system headers
SYSTEM_HAL := hal/cpu/hosted hal/cpu/coroutine hal/board/linux
K_SYS := -D_GNU_SOURCE

# hal/generic: for CPUs that have no file of that name
HAL_DIRS := $(wildcard hal/cpu/$(CPU) hal/noc/$(NOC) $(if $(BOARD),hal/board/$(BOARD)))
HAL_SRC := $(filter-out $(wildcard hal/*/*/boot/*),$(call find_c,$(HAL_DIRS))) \
	$(foreach f,$(call find_c,hal/generic),$(if $(wildcard hal/cpu/$(CPU)/$(notdir $(f))),,$(f)))
BOOT_SRC := $(filter $(wildcard hal/*/*/boot/*),$(call find_c,$(HAL_DIRS)))
# base/mem.c (memcpy and its like) is for code without a libc, base/soft.c for a CPU that may lack multiply and divide
BASE_SRC := $(filter-out $(if $(HAL_LIBS),base/mem.c) $(filter-out $(SOFT),base/soft.c base/soft32.c),$(call find_c,base))
KERNEL_SRC := $(call find_c,kernel)
KGEN_SRC := $(if $(GEN_TOOL),$(GEN_KERNEL_SRC))

k_obj = $(patsubst %,$(K)/%.o,$(1))
BASE_OBJ := $(call k_obj,$(BASE_SRC))
HAL_OBJ := $(call k_obj,$(HAL_SRC))
KERNEL_OBJ := $(call k_obj,$(KERNEL_SRC))
KGEN_OBJ := $(if $(KGEN_SRC),$(K)/gen/kcall_kernel.c.o)
BOOT_OBJ := $(call k_obj,$(BOOT_SRC))
K_ALL := $(BASE_OBJ) $(HAL_OBJ) $(KERNEL_OBJ) $(KGEN_OBJ)

# Files without a hot path are made small where the size of the kernel is bounded; the others are made fast.
K_SMALL_riscv64 := $(addsuffix %,base/elf base/cpio base/fmt base/parse base/str hal/board/ \
	hal/cpu/riscv64/boot/ hal/cpu/riscv64/early hal/cpu/riscv64/lend hal/cpu/riscv64/panic hal/noc/shm/ kernel/boot/ \
	kernel/call/enter kernel/dev/ kernel/ikc/ kernel/mem/a kernel/mem/c kernel/mem/frame kernel/mem/m \
	kernel/mem/q kernel/mem/s kernel/proc/ kernel/object/calls kernel/object/object kernel/object/quota \
	kernel/object/slab \
	kernel/thread/alarm kernel/thread/calls kernel/thread/counts kernel/thread/futex kernel/thread/guest \
	kernel/thread/lend kernel/thread/move kernel/thread/role)
# What runs seldom saves its registers by functions of the compiler's library: a call for what is a row of
# instructions elsewhere. The linker's optimisation knows that option for all files or for none: these files are without.
K_SELDOM_riscv64 := $(addsuffix %,base/elf base/cpio base/fmt base/parse base/str hal/board/ hal/cpu/riscv64/boot/ \
	hal/cpu/riscv64/early hal/cpu/riscv64/lend hal/cpu/riscv64/panic hal/noc/shm/console kernel/boot/ kernel/dev/ \
	kernel/call/enter kernel/call/fault kernel/ikc/channel kernel/ikc/endpoint kernel/ikc/mail_credit kernel/ikc/mail_in \
	kernel/ikc/mail_out kernel/ikc/portal. kernel/ikc/portal_event kernel/ikc/portal_move kernel/ikc/stats \
	kernel/ikc/sync kernel/ikc/watch kernel/mem/alloc kernel/mem/clear kernel/mem/copy kernel/mem/demand \
	kernel/mem/memory kernel/mem/query kernel/mem/sweep kernel/object/slab kernel/proc/calls kernel/proc/init \
	kernel/thread/alarm kernel/thread/counts kernel/thread/guest kernel/thread/lend kernel/thread/move \
	kernel/thread/role)
k_size = $(if $(filter $(K_SMALL_$(PORT)),$(1)),-Os) $(if $(filter $(K_SELDOM_$(PORT)),$(1)),-msave-restore)
# nor is what the compiler itself calls, or what tests or the machine start share with the kernel
K_APART := $(K_SELDOM_$(PORT)) base/mem% tests/%
k_lto = $(if $(filter $(K_APART),$(1)),,$(K_LTO))
k_flags = $(K_COMMON) $(call k_size,$(1)) $(call k_lto,$(1)) $(if $(filter $(addsuffix /%,$(SYSTEM_HAL)),$(1)),$(K_SYS),$(K_FREE)) $(2)
K_FLAGS_FILE := $(call flags_file,$(K)/flags,$(KCC) $(K_COMMON) $(K_SYS) $(K_FREE) $(K_HALINC) $(K_LTO) small: $(K_SMALL_$(PORT)) seldom: $(K_SELDOM_$(PORT)))

$(K)/base/%.o: base/% $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(KCC) $(call k_flags,$<,-I$(VIEW)/base) -c -o $@ $<
$(K)/hal/%.o: hal/% $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(KCC) $(call k_flags,$<,-I$(VIEW)/hal $(K_HALINC)) -c -o $@ $<
$(K)/kernel/%.o: kernel/% $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(KCC) $(call k_flags,$<,-I$(VIEW)/kernel $(K_HALINC)) -c -o $@ $<
$(K)/gen/%.o: $(GEN)/% $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(KCC) $(call k_flags,$<,-I$(VIEW)/kernel $(K_HALINC)) -c -o $@ $<
# test code of the kernel side sees the tree
$(K)/tests/%.o: tests/% $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(KCC) $(call k_flags,$<,-I. $(K_HALINC) $(K_TEST_FLAGS)) -c -o $@ $<

# the contract tests of the HAL: they stand in for the kernel
HALTEST_SRC := $(filter-out $(filter-out tests/hal/cpu/$(CPU)/%,$(call find_c,$(wildcard tests/hal/cpu))),$(call find_c,tests/hal))
HALTEST_OBJ := $(call k_obj,$(HALTEST_SRC))

# where the kernel's words lie, for who looks at them from outside
$(OUT)/offsets: tools/plugin/offsets.c $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)$(KCC) $(K_COMMON) $(K_FREE) -I$(VIEW)/kernel $(K_HALINC) -MF $@.d -MT $@ -S -o $@.s $<
	$(Q)sed -n 's/.*\.ident[^"]*"@ \([a-z_]*\) [$$]*\([0-9]*\)".*/\1 \2/p' $@.s > $@
-include $(OUT)/offsets.d

ifeq ($(PORT),hosted)
HOSTED_OUT := $(if $(and $(KERNEL_SRC),$(HAL_SRC)),$(OUT)/atoll-host)
HOSTED_OUT += $(if $(and $(HALTEST_SRC),$(HAL_SRC)),$(OUT)/hal-test)
$(OUT)/atoll-host: $(K_ALL)
	$(call say,LINK,$@)
	$(Q)$(K_LD) -o $@ $^ $(HAL_LIBS)
# the same with a tracer between the kernel and the HAL (run --trace)
ifeq ($(SAN),)
HOSTED_OUT += $(OUT)/offsets $(OUT)/atoll-host-trace
TRACED := kernel_trap hal_user_enter hal_frame_resume hal_wait am_call_kernel am_call_last am_post
$(OUT)/atoll-host-trace: $(K_ALL) $(K)/trace_hosted.o
	$(call say,LINK,$@)
	$(Q)$(K_LD) -o $@ $^ $(HAL_LIBS) $(addprefix -Wl$(comma)--wrap=,$(TRACED))
$(K)/trace_hosted.o: tools/plugin/trace_hosted.c $(K_FLAGS_FILE) | $(PREPARE)
	$(call say,CC,$<)
	$(Q)$(KCC) $(K_COMMON) $(K_SYS) -I$(VIEW)/kernel $(K_HALINC) -c -o $@ $<
-include $(K)/trace_hosted.d
endif
kernel: $(HOSTED_OUT)
$(OUT)/hal-test: $(BASE_OBJ) $(HAL_OBJ) $(HALTEST_OBJ)
	$(call say,LINK,$@)
	$(Q)$(K_LD) -o $@ $^ $(HAL_LIBS)
endif

ifeq ($(PORT),coroutine)
SYSTEM_HAL += tests/coroutine
K_TEST_FLAGS := -Iuser/include
CORO_SRC := $(call find_c,tests/coroutine)
CORO_MAINS := $(call mains,$(CORO_SRC))
CORO_SHARED := $(call k_obj,$(filter-out $(CORO_MAINS),$(CORO_SRC)))
CORO_TESTS := $(if $(HAL_SRC),$(patsubst %.c,$(OUT)/%,$(notdir $(CORO_MAINS))))
coroutine: kernel
kernel: $(CORO_TESTS) $(if $(and $(HALTEST_SRC),$(HAL_SRC)),$(OUT)/hal-test)
$(OUT)/hal-test: $(BASE_OBJ) $(HAL_OBJ) $(HALTEST_OBJ)
	$(call say,LINK,$@)
	$(Q)$(K_LD) -o $@ $^ $(HAL_LIBS)
$(CORO_TESTS): $(OUT)/%: $(K)/tests/coroutine/%.c.o $(CORO_SHARED) $(K_ALL)
	$(call say,LINK,$@)
	$(Q)$(K_LD) -Wl,--gc-sections -o $@ $^ $(HAL_LIBS)
endif

ifeq ($(PORT),riscv64)
KERNEL_LD := $(firstword $(wildcard hal/cpu/riscv64/kernel.ld hal/board/virt/kernel.ld))
BOOT_LD := $(firstword $(wildcard hal/cpu/riscv64/boot/boot.ld hal/cpu/riscv64/boot.ld hal/board/virt/boot/boot.ld hal/board/virt/boot.ld))
K_LINK := -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments
K_LINK_LTO := $(K_LINK) $(K_LTO) -O2 -ffunction-sections -fdata-sections
RV_OUT := $(if $(BOOT_LD),$(OUT)/boot.elf) $(if $(and $(KERNEL_LD),$(KERNEL_SRC)),$(OUT)/kernel.bin)
RV_OUT += $(if $(and $(KERNEL_LD),$(HALTEST_SRC)),$(OUT)/hal-test.bin)
# the stand-in kernel of the boot scenarios
PROBE_OBJ := $(call k_obj,$(wildcard tests/boot/*.c))
RV_OUT += $(if $(and $(KERNEL_LD),$(PROBE_OBJ)),$(OUT)/boot-probe.bin)
RV_OUT += $(OUT)/offsets
kernel: $(RV_OUT)
$(OUT)/boot.elf: $(BOOT_OBJ) $(BOOT_LD)
	$(call say,LINK,$@)
	$(Q)$(KCC) $(K_ARCH) $(K_LINK) -Wl,--no-gc-sections -T $(BOOT_LD) -o $@ $(BOOT_OBJ) $(K_LIBGCC)
$(OUT)/kernel.elf: $(K_ALL) $(KERNEL_LD)
	$(call say,LINK,$@)
	$(Q)$(KCC) $(K_ARCH) $(K_LINK_LTO) -T $(KERNEL_LD) -Wl,-Map,$(OUT)/kernel.map -o $@ $(K_ALL) $(K_LIBGCC)
$(OUT)/hal-test.elf: $(BASE_OBJ) $(HAL_OBJ) $(HALTEST_OBJ) $(KERNEL_LD)
	$(call say,LINK,$@)
	$(Q)$(KCC) $(K_ARCH) $(K_LINK_LTO) -T $(KERNEL_LD) -o $@ $(filter %.o,$^) $(K_LIBGCC)
$(OUT)/boot-probe.elf: $(BASE_OBJ) $(HAL_OBJ) $(PROBE_OBJ) $(KERNEL_LD)
	$(call say,LINK,$@)
	$(Q)$(KCC) $(K_ARCH) $(K_LINK_LTO) -T $(KERNEL_LD) -o $@ $(filter %.o,$^) $(K_LIBGCC)
$(OUT)/%.bin: $(OUT)/%.elf
	$(call say,BIN,$@)
	$(Q)$(CROSS)objcopy -O binary $< $@
endif

ifeq ($(PORT),or1k)
include mk/or1k.mk
endif

-include $(patsubst %.o,%.d,$(K_ALL) $(BOOT_OBJ) $(HALTEST_OBJ) $(PROBE_OBJ) $(CORO_SHARED) $(call k_obj,$(CORO_MAINS)))
