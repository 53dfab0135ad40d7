# SPDX-License-Identifier: MIT
#
# User side of a port: libatoll.a, libmpi_abi.a, servers, programs. Compiled by zig's clang against its own musl, as
# position-independent code: every program is a static-PIE.

TARGET_hosted := x86_64-linux-musl
TARGET_riscv64 := riscv64-linux-musl
CONTEXT_hosted := abi/cpu/hosted
CONTEXT_riscv64 := abi/cpu/riscv64
CONTEXT_or1k := abi/cpu/or1k

UCC := $(ZIG) cc -target $(TARGET_$(PORT))
UAR := $(ZIG) ar
U := $(OUT)/u
BIN := $(OUT)/bin
LIB := $(OUT)/lib
INC := $(OUT)/include

# SAN=undefined: what is not defined is a trap, in build/undefined
U_SAN := $(if $(filter undefined,$(SAN)),-fsanitize=undefined -fsanitize-trap=undefined,-fno-sanitize=undefined)
U_COMMON := $(CSTD) $(WARN) -O2 -g -fPIE $(U_SAN) -fno-stack-protector -ffunction-sections -fdata-sections \
	-fno-omit-frame-pointer -MMD -MP -I$(GEN)/include -I$(CONTEXT_$(PORT)) -Iuser/cpu/$(PORT)
U_FREE := -ffreestanding -nostdlibinc
# the stack size in the program is what its libc gives to further threads
U_LINK := -pie -static -Wl,--gc-sections -Wl,-z,noexecstack -Wl,-z,norelro -Wl,-z,stack-size=131072
U_LD = $(UCC) $(U_LINK)

PROG_DIRS := apps bench tests/mpi $(wildcard tests/jobs) $(wildcard tests/$(PORT))

ifeq ($(PORT),or1k)
# no libc is in reach here: programs are freestanding, and made position-independent by tools/pielink.py
PROG_DIRS := bench/synth
UCC := or1k-elf-gcc
UAR := or1k-elf-ar
U_CCINC := $(shell $(UCC) -print-file-name=include)
U_ARCH := -fPIC -fvisibility=hidden -msfimm -mshftimm -mcmov $(INT32_IS_INT)
U_COMMON := $(filter-out -fPIE -fno-sanitize=undefined -fno-omit-frame-pointer,$(U_COMMON)) $(U_ARCH)
U_FREE := -ffreestanding -nostdinc -isystem $(U_CCINC)
U_LD = $(PYTHON) tools/pielink.py $(UCC) $(U_ARCH) -static -T user/cpu/or1k/program.ld -Wl,--gc-sections -Wl,--build-id=none \
	-Wl,--no-warn-execstack
U_LIBGCC := -lgcc
PROG_LIBS = $(LIB)/libatoll.a
PROG_LINK := -nostdlib -Wl,-e,_start
PROG_SYSTEM_LIBS = $(U_LIBGCC)
PROG_OBJ = $(FREE_OBJ)
U_PROG = $(U_FREE)
else
PROG_LIBS = $(LIB)/libmpi_abi.a $(LIB)/libatoll.a
PROG_SYSTEM_LIBS := -lm
endif

# user/: freestanding, but for user/libc (what leans on the program's own libc)
USER_SRC := $(filter-out $(call find_c,$(wildcard user/personality)),$(filter-out $(foreach o,hosted riscv64 or1k,$(if $(filter $(PORT),$(o)),,$(call find_c,$(wildcard user/cpu/$(o))))),$(call find_c,user)))
# user/libc/PORT is that port's
USER_SRC := $(filter-out $(if $(filter or1k,$(PORT)),user/libc/%) $(foreach o,hosted riscv64,$(if $(filter $(PORT),$(o)),,user/libc/$(o)/%)),$(USER_SRC))
CLIENT_SRC := $(wildcard servers/*/client.c servers/*/cache.c)
# base/mem.c (memcpy and its like) is for what has no libc
FREE_OBJ := $(if $(wildcard base/mem.c),$(U)/base/mem.c.o)
# memcpy and its like come from the libc in programs, from base/mem.c in servers
MEM_OBJ := $(U)/base/mem.c.o
LIBATOLL_OBJ := $(patsubst %,$(U)/%.o,$(USER_SRC) $(filter-out base/mem.c $(filter-out $(if $(filter or1k,$(PORT)),base/soft.c),base/soft.c base/soft32.c),$(call find_c,base)) $(CLIENT_SRC)) $(if $(GEN_TOOL),$(U)/gen/kcall_user.c.o)
# what is for process ranks on Linux is built by mk/process.mk
# channels between ranks of two clusters are for clusters that have processors of their own
MPI_NOT_HERE := $(if $(filter hosted,$(PORT)),mpi/transport/atoll/no_channel.c,mpi/transport/atoll/channel/%)
MPI_SRC := $(if $(filter or1k,$(PORT)),,$(filter-out $(MPI_NOT_HERE) mpi/tools/% mpi/transport/process/% mpi/exec/% mpi/fortran/%,$(call find_c,mpi)))
MPI_OBJ := $(patsubst %,$(U)/%.o,$(MPI_SRC)) $(patsubst $(GEN)/%,$(U)/gen/%.o,$(MPI_BIND))
# what is not implemented is not found by who only links; programs that name it all the same are linked with this, too (ADR 0038)
MPI_REST := $(if $(MPI_SRC),$(LIB)/libmpi_missing.a)
MPI_REST_OBJ := $(patsubst $(GEN)/%,$(U)/gen/%.o,$(MPI_MISSING))
MPI_INC := $(wildcard mpi/include)
# Each cluster has both, which share 2 MB with its ranks on the smallest machines.
U_SMALL_riscv64 := servers/proc/% user/personality/% servers/file/% base/fmt.c base/cpio.c base/parse.c user/console.c
# Nobody walks their stacks by frame pointers, and few of their switches are large enough for a table.
U_SMALLER := -Os -fomit-frame-pointer -fno-jump-tables
# Each process maps all of the personality: as few pages as there can be. `zig cc` takes -Oz for -Os.
U_SMALLEST := -Xclang -Oz -msave-restore
u_size = $(if $(filter $(U_SMALL_$(PORT)),$(1)),$(U_SMALLER)) $(if $(filter-out $(PERS_HOT),$(filter user/personality/%,$(1))),$(U_SMALLEST)) $(if $(filter $(SELDOM_$(PORT)),$(1)),-Xclang -Oz)
# what each call, request or fork goes through
PERS_HOT := $(addprefix user/personality/,file_server.c fork.c io.c lock.c main.c reach.c)
# what a process server does once for a job, or for one with limits or a list; what /proc and /dev show; folders of the host
SELDOM_riscv64 := $(addprefix servers/proc/,job.c plan_job.c ledger.c limits.c lead.c agent.c listing.c) \
	$(addprefix servers/file/,proc.c cores.c processes.c share.c share_walk.c share_stage.c shares.c input.c links.c)
# what calls nothing where nobody sleeps, in some twenty instructions, of which a frame would be a third
U_FLAT := user/call_queue.c user/sem.c user/tube.c
u_flat = $(if $(filter $(U_FLAT),$(1)),-fomit-frame-pointer)
U_FLAGS_FILE := $(call flags_file,$(U)/flags,$(UCC) $(U_COMMON) $(U_FREE) $(U_PROG) small: $(U_SMALLER) $(U_SMALL_$(PORT)) $(U_SMALLEST) but: $(PERS_HOT) seldom: $(SELDOM_$(PORT)) flat: $(U_FLAT))

$(U)/base/%.o: base/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(call u_size,$<) $(U_FREE) -I$(VIEW)/base -c -o $@ $<
$(U)/user/libc/%.o: user/libc/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) -D_GNU_SOURCE -I$(VIEW)/user $(U_CPU) -Iuser/include -c -o $@ $<
$(U)/user/%.o: user/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(call u_size,$<) $(call u_flat,$<) $(U_FREE) -I$(VIEW)/user $(U_CPU) -Iuser/include -c -o $@ $<
$(U)/gen/mpi/%.o: $(GEN)/mpi/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) -D_GNU_SOURCE -I$(VIEW)/mpi $(addprefix -I,$(MPI_INC)) -Iuser/include -c -o $@ $<
$(U)/gen/%.o: $(GEN)/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(U_FREE) -I$(VIEW)/user $(U_CPU) -Iuser/include -c -o $@ $<
$(U)/servers/%.o: servers/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(call u_size,$<) $(U_FREE) -I$(VIEW)/server -Iuser/include -c -o $@ $<
$(U)/mpi/%.o: mpi/% $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) -D_GNU_SOURCE -I$(VIEW)/mpi $(addprefix -I,$(MPI_INC)) -Iuser/include -c -o $@ $<
# programs see what mpicc gives to everybody, nothing else
$(U)/apps/%.o: apps/% $(U_FLAGS_FILE) | $(PREPARE) $(INC)/.stamp
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(U_PROG) -I$(INC) -c -o $@ $<
$(U)/bench/%.o: bench/% $(U_FLAGS_FILE) | $(PREPARE) $(INC)/.stamp
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) $(U_PROG) -DWINDOW_BASE=0 -I$(INC) -Ibench/roles/port/$(PORT) -c -o $@ $<
$(U)/tests/%.o: tests/% $(U_FLAGS_FILE) | $(PREPARE) $(INC)/.stamp
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(UCC) $(U_COMMON) -I$(INC) -Iuser/include -c -o $@ $<

$(LIB)/libatoll.a: $(LIBATOLL_OBJ)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(UAR) rcs $@ $^
$(LIB)/libmpi_abi.a: $(MPI_OBJ)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(UAR) rcs $@ $^
$(LIB)/libmpi_missing.a: $(MPI_REST_OBJ)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(UAR) rcs $@ $^

# public headers: mpi.h, <atoll/...>, <abi/...>, clients of the servers
PUBLIC_HDR := $(wildcard mpi/include/*.h mpi/include/*/*.h user/include/atoll/*.h abi/*.h $(CONTEXT_$(PORT))/*.h servers/*/client.h \
	servers/*/protocol.h hal/include/hal/perf.h hal/cpu/$(PORT)/include/cpu/perf.h)
$(INC)/.stamp: $(PUBLIC_HDR) $(GEN_STAMP)
	$(call say,COPY,$(INC))
	$(Q)rm -rf $(INC) && mkdir -p $(INC)/atoll $(INC)/abi $(INC)/servers
	$(Q)cp -r $(GEN)/include/. $(INC)/ && rm -rf $(INC)/kernel
	$(Q)for f in $(PUBLIC_HDR); do case $$f in \
		mpi/include/*) d=$${f#mpi/include/};; user/include/*) d=$${f#user/include/};; abi/cpu/*) d=$$(basename $$f);; \
		hal/include/*) d=$${f#hal/include/};; hal/cpu/*) d=cpu/$$(basename $$f);; *) d=$$f;; esac; \
		mkdir -p $(INC)/$$(dirname $$d); cp $$f $(INC)/$$d; done
	$(Q)touch $@
# a copy is as new as this rule made it: what includes it is compiled again in the same run
$(INC)/%.h: $(INC)/.stamp ;

# servers: freestanding, start-up code from libatoll.a; each cluster has some, and the personality, in as few pages as possible
U_IMAGE := $(if $(filter riscv64,$(PORT)),user/cpu/riscv64/image.ld)
SERVERS := $(foreach s,$(notdir $(wildcard servers/*)),$(if $(filter-out %/client.c %/cache.c,$(call find_c,servers/$(s))),$(s)))
SERVER_BINS := $(addprefix $(BIN)/,$(SERVERS))
define server_rule
$(BIN)/$(1): $(patsubst %,$(U)/%.o,$(filter-out %/client.c %/cache.c,$(call find_c,servers/$(1)))) $(FREE_OBJ) $(LIB)/libatoll.a $(U_IMAGE)
	$$(call say,LINK,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(U_LD) -nostdlib $(U_IMAGE:%=-Wl$(comma)-T$(comma)%) -Wl,-e,_start -o $$@ $$(filter %.o,$$^) $(LIB)/libatoll.a $(U_LIBGCC)
endef
$(foreach s,$(SERVERS),$(eval $(call server_rule,$(s))))

# programs that stand in for init in the boot scenarios
BOOT_USERS := $(patsubst tests/boot/user/%.c,$(BIN)/boot-%,$(if $(filter riscv64,$(PORT)),$(wildcard tests/boot/user/*.c)))
.PHONY: boot-tests
boot-tests: $(BOOT_USERS)
$(BOOT_USERS): $(BIN)/boot-%: $(U)/tests/boot/user/%.c.o $(FREE_OBJ) $(LIB)/libatoll.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(U_LD) -nostdlib -Wl,-e,_start -o $@ $(filter %.o,$^) $(LIB)/libatoll.a $(U_LIBGCC)

# the personality: an image of its own, mapped beside each program on ports whose traps are reflected
PERS_SRC := $(call find_c,$(wildcard user/personality))
# and its own copy of what it has of the libraries
PERS_LIB := $(addprefix base/,cpio.c fmt.c parse.c str.c) $(addprefix user/,console.c mailbox.c) \
	servers/file/client.c servers/proc/client.c
PERS_OBJ := $(patsubst %,$(U)/%.o,$(PERS_SRC)) $(patsubst %,$(U)/small/%.o,$(PERS_LIB)) $(U)/small/kcall_user.c.o
PERS_CC = $(UCC) $(U_COMMON) $(U_SMALLER) $(U_SMALLEST) $(U_FREE) -I$(VIEW)/server $(U_CPU) -Iuser/include -c -o $@ $<
$(U)/small/%.c.o: %.c $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(PERS_CC)
$(U)/small/%.c.o: $(GEN)/%.c $(U_FLAGS_FILE) | $(PREPARE)
	$(call say,UCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(PERS_CC)
PERS_BIN := $(if $(and $(PERS_SRC),$(filter riscv64,$(PORT))),$(BIN)/personality)
$(BIN)/personality: $(PERS_OBJ) $(FREE_OBJ) $(LIB)/libatoll.a $(U_IMAGE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(U_LD) -nostdlib $(U_IMAGE:%=-Wl$(comma)-T$(comma)%) -Wl,-e,_start -o $@ $(filter %.o,$^) $(LIB)/libatoll.a $(U_LIBGCC)

# programs: every .c with a main; the other .c files of its folder are linked to all programs of the folder
PROG_SRC := $(call find_c,$(PROG_DIRS))
PROG_MAINS := $(call mains,$(PROG_SRC))
PROG_REST := $(filter-out $(PROG_MAINS),$(PROG_SRC))
PROGS :=
define prog_rule
PROGS += $(2)/$(basename $(notdir $(1)))
$(2)/$(basename $(notdir $(1))): $(U)/$(1).o $(patsubst %,$(U)/%.o,$(foreach r,$(PROG_REST),$(if $(filter $(dir $(1)),$(dir $(r))),$(r)))) \
		$(PROG_OBJ) $(PROG_LIBS)
	$$(call say,LINK,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(U_LD) $(PROG_LINK) $$(PROG_MORE) -o $$@ $$(filter %.o $(MPI_REST),$$^) $(PROG_LIBS) $(PROG_SYSTEM_LIBS)
endef
# these find ranks by names
$(BIN)/names $(OUT)/tests/mpinames: PROG_MORE := -Wl,-u,transport_names_begin
# these call what is not implemented, too
$(OUT)/tests/wrong $(OUT)/tests/outside: $(MPI_REST)
$(foreach m,$(filter-out tests/%,$(PROG_MAINS)),$(eval $(call prog_rule,$(m),$(BIN))))
$(foreach m,$(filter tests/%,$(PROG_MAINS)),$(eval $(call prog_rule,$(m),$(OUT)/tests)))

# several benchmarks in one program: their objects once more, with another name for main and window labels of their own (bench/synth/suite.c)
SUITE_PARTS := kcalls:0 fork_join:8 buffer:16 server:24 knoise:32 mailbox:40 pages:48
define suite_rule
$(BIN)/suite: $(U)/bench/synth/$(1).part.o
$(U)/bench/synth/$(1).part.o: bench/synth/$(1).c $(U_FLAGS_FILE) | $(PREPARE) $(INC)/.stamp
	$$(call say,UCC,$$< (part of suite))
	$(Q)mkdir -p $$(@D)
	$(Q)$(UCC) $(U_COMMON) $(U_PROG) -Dmain=$(1)_part -DWINDOW_BASE=$(2) -I$(INC) -c -o $$@ $$<
endef
$(foreach p,$(SUITE_PARTS),$(eval $(call suite_rule,$(word 1,$(subst :, ,$(p))),$(word 2,$(subst :, ,$(p))))))

# one source as a program: make PORT=or1k freestanding SOURCE=x.c PROGRAM=x
.PHONY: freestanding
freestanding: $(LIB)/libatoll.a $(FREE_OBJ) $(INC)/.stamp
	$(Q)$(UCC) $(U_COMMON) $(U_FREE) -I$(INC) -c -o $(PROGRAM).o $(SOURCE)
	$(Q)$(U_LD) $(PROG_LINK) -o $(PROGRAM) $(PROGRAM).o $(FREE_OBJ) $(LIB)/libatoll.a $(U_LIBGCC)

user: $(if $(USER_SRC),$(LIB)/libatoll.a) $(if $(MPI_SRC),$(LIB)/libmpi_abi.a) $(MPI_REST) $(INC)/.stamp $(SERVER_BINS) $(PERS_BIN) $(BOOT_USERS) $(PROGS)
libs: $(if $(USER_SRC),$(LIB)/libatoll.a) $(if $(MPI_SRC),$(LIB)/libmpi_abi.a) $(MPI_REST) $(INC)/.stamp
servers: $(LIB)/libatoll.a $(SERVER_BINS)
# what `./atoll run` needs of a port: the kernel, servers, libraries and headers; programs are targets of their own
RUN_KERNEL_hosted := $(OUT)/atoll-host
RUN_KERNEL_riscv64 := $(OUT)/boot.elf $(OUT)/kernel.bin
RUN_KERNEL_or1k := $(OUT)/kernel.elf $(OUT)/kernel-moved.elf
# the first link for a target builds zig's C library into its cache, half a minute of CPU time: begun first, it goes on beside all else
LIBC := $(if $(TARGET_$(PORT)),$(U)/libc)
$(LIBC):
	$(call say,LIBC,$(TARGET_$(PORT)))
	$(Q)mkdir -p $(@D)
	$(Q)echo 'int main(void) { return 0; }' >$@.c
	$(Q)$(U_LD) -o $@ $@.c $(PROG_SYSTEM_LIBS)
libc: $(LIBC)
run: libc $(RUN_KERNEL_$(PORT)) libs $(SERVER_BINS) $(PERS_BIN)
.PHONY: user libs servers libc kernel run

$(PORT): kernel user

-include $(patsubst %.o,%.d,$(LIBATOLL_OBJ) $(FREE_OBJ) $(PERS_OBJ) $(MPI_OBJ) $(MPI_REST_OBJ)) \
	$(foreach p,$(SUITE_PARTS),$(U)/bench/synth/$(word 1,$(subst :, ,$(p))).part.d) \
	$(patsubst %,$(U)/%.d,$(PROG_SRC) $(PERS_SRC) $(foreach s,$(SERVERS),$(call find_c,servers/$(s))))
