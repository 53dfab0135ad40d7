# SPDX-License-Identifier: MIT
#
# The instruction counter for QEMU: a plugin for the host, needs nothing but a C compiler.

PLUGIN := $(BUILD)/plugin/libcount.so
PLUGIN_CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))

.PHONY: plugin
plugin: $(PLUGIN)
$(PLUGIN): $(wildcard tools/plugin/*.[ch])
	$(call say,HOSTCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(PLUGIN_CC) $(CSTD) -D_GNU_SOURCE $(WARN) -O2 -fPIC -fvisibility=hidden -shared -o $@ $<
