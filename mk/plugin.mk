# SPDX-License-Identifier: MIT
#
# Plugins for QEMU: the instruction counter, the tracer and the model of memory domains. They are the
# host's, and need nothing but a C compiler.

PLUGIN := $(patsubst %,$(BUILD)/plugin/lib%.so,count trace domains)
PLUGIN_CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))

.PHONY: plugin
plugin: $(PLUGIN)
$(PLUGIN): $(BUILD)/plugin/lib%.so: tools/plugin/%.c $(wildcard tools/plugin/*.h)
	$(call say,HOSTCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(PLUGIN_CC) $(CSTD) -D_GNU_SOURCE $(WARN) -O2 -fPIC -fvisibility=hidden -shared -o $@ $<
