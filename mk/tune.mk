# SPDX-License-Identifier: MIT
#
# Optimisations of the or1k kernel (base/tune.h), each on or off. A build with other switches than these goes into a BUILD of its own.
#
#	TUNE_HARD=1	with multiply and divide instructions: a kernel for a U-Core only, to compare with
#	TUNE_O=3	compiled at -O3 instead of -O2; inlined further, the compiler warns of values that are never read uninitialised
#	CACHES=...	whole, flash, lines or drop: for data caches that nobody keeps coherent (hal/cpu/or1k/include/cpu/caches.h); LEAVE_OUT=N: with a defect

TUNE_SOFT ?= 1
TUNE_INLINE ?= 1
TUNE_HINTS ?= 1
TUNE_LAYOUT ?= 1
TUNE_HARD ?= 0
TUNE_O ?= 2

TUNE_FLAGS := -O$(TUNE_O) $(if $(filter-out 2,$(TUNE_O)),-Wno-maybe-uninitialized) $(if $(filter 0,$(TUNE_HARD)),-msoft-mul -msoft-div) -DTUNE_INLINE=$(TUNE_INLINE) -DTUNE_HINTS=$(TUNE_HINTS)
CACHES ?= none
CACHES_whole := -DHAL_CACHES=1
CACHES_flash := -DHAL_CACHES=1 -DHAL_FLASH=1
CACHES_lines := -DHAL_CACHES=2
CACHES_drop := -DHAL_CACHES=3
TUNE_FLAGS += $(CACHES_$(CACHES)) $(if $(LEAVE_OUT),-DHAL_CACHES_LEAVE_OUT=$(LEAVE_OUT))
SOFT := base/soft.c $(if $(filter 10,$(TUNE_SOFT)$(TUNE_HARD)),base/soft32.c)
TUNE_ORDER := hal/cpu/or1k/order/$(if $(filter 0,$(TUNE_LAYOUT)),files,hot)
