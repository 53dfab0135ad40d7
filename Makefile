# SPDX-License-Identifier: MIT
#
# Builds Atoll out of tree, into build/. Sources are found by folder: a new .c file needs no line here.
#
#	make PORT=hosted|riscv64|or1k	kernel, libraries, servers and programs of a port
#	make PORT=coroutine		the tests that run under the seeded scheduler
#	make PORT=process		libmpi_abi.so.1 for process ranks on Linux, and mpiexec
#	make PORT=unit			the unit tests (*_test.c beside the code)
#	make plugin			the plugins for QEMU: counter, tracer
#	make gen | clean
#	make status			docs/mpi-status.md
#
# Each room sees only what it may include: its include path leads to build/view/ROOM, a folder of links to the allowed rooms.

PORT ?= hosted
# what is built under a sanitizer has a folder of its own: build/address, build/thread
comma := ,
BUILD ?= build$(if $(SAN),/$(firstword $(subst $(comma), ,$(SAN))))
PYTHON ?= python3
ZIG ?= $(firstword $(wildcard $(CURDIR)/.venv/lib/python3*/site-packages/ziglang/zig) zig)
V ?= 0
Q := $(if $(filter 0,$(V)),@,)
say = $(if $(filter 0,$(V)),@printf '  %-6s %s\n' '$(1)' '$(2)')

OUT := $(BUILD)/$(PORT)
GEN := $(BUILD)/gen
VIEW := $(BUILD)/view

WARN := -Wall -Wextra -Werror
CSTD := -std=gnu11

# all sources below some folders, without the tests beside them
find_c = $(sort $(foreach d,$(1),$(if $(wildcard $(d)),$(shell find $(d) -name '*.[cS]' ! -name '*_test.c'))))
# of some sources, those that define main
MAIN_RE := ^(int +)?main\(
mains = $(if $(strip $(1)),$(sort $(shell grep -lE '$(MAIN_RE)' $(1))))

all: $(PORT)

.PHONY: all gen view status clean hosted riscv64 coroutine process unit or1k
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

include mk/flags.mk
include mk/gen.mk
include mk/plugin.mk
ifneq ($(filter hosted riscv64 coroutine or1k,$(PORT)),)
include mk/kernel.mk
endif
ifneq ($(filter hosted riscv64 or1k,$(PORT)),)
include mk/user.mk
include mk/kerneltest.mk
endif
ifeq ($(PORT)$(SAN),hosted)
include mk/start.mk
endif
ifeq ($(PORT),process)
include mk/process.mk
include $(if $(SAN),mk/ranks.mk)
endif
ifeq ($(PORT),unit)
include mk/unit.mk
endif
ifeq ($(filter hosted riscv64 coroutine or1k process unit,$(PORT)),)
$(error unknown PORT '$(PORT)': use hosted, riscv64, coroutine, process, unit or or1k)
endif

status: gen
	cp $(GEN)/mpi-status.md docs/mpi-status.md

clean:
	rm -rf $(BUILD)
