# SPDX-License-Identifier: MIT
# What ./atoll bench --build makes on the machine: Lua from its C files, in each of several ways.
SOURCE := /src/lua
WAYS := plain compat bare
FLAGS_plain := -DLUA_USE_POSIX
FLAGS_compat := -DLUA_USE_POSIX -DLUA_COMPAT_5_3
FLAGS_bare :=
FILES := 99
NAMES := $(wordlist 1,$(FILES),$(patsubst $(SOURCE)/%.c,%,$(wildcard $(SOURCE)/*.c)))

define rules
$(1)-%.o: $(SOURCE)/%.c
	@tcc -c $$(FLAGS_$(1)) -I$(SOURCE) -o $$@ $$<
$(1)-program: $(patsubst %,$(1)-%.o,$(filter-out luac,$(NAMES)))
	@tcc -static -o $$@ $$^ -lm
endef

all: $(WAYS:%=%-program) $(WAYS:%=%-luac.o)
objects: $(foreach way,$(WAYS),$(NAMES:%=$(way)-%.o))
$(foreach way,$(WAYS),$(eval $(call rules,$(way))))
