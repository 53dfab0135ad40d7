# SPDX-License-Identifier: MIT
#
# The quick start of ./atoll run (tools/start): static, for it lives some milliseconds only.

START := $(OUT)/atoll-start
START_OBJ := $(patsubst %,$(OUT)/o/%.o,$(call find_c,tools/start))
START_FLAGS := $(CSTD) $(WARN) -O2 -g -D_GNU_SOURCE -MMD -MP
START_FLAGS_FILE := $(call flags_file,$(OUT)/o/tools/flags,$(CC) $(START_FLAGS))

kernel run: $(START)
$(START): $(START_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -static -o $@ $^
$(OUT)/o/tools/%.o: tools/% $(START_FLAGS_FILE)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(START_FLAGS) -c -o $@ $<
-include $(START_OBJ:.o=.d)
