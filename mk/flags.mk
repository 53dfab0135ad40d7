# SPDX-License-Identifier: MIT
#
# Objects are made anew when how they are compiled changes: they depend on a file that holds the compiler and its flags, and that is
# written when these are not what it holds.

same = $(and $(findstring $(strip $(1)),$(strip $(2))),$(findstring $(strip $(2)),$(strip $(1))))
# $(call flags_file,FILE,TEXT): FILE, holding TEXT
flags_file = $(if $(call same,$(if $(wildcard $(1)),$(file <$(1))),$(2)),,$(shell mkdir -p $(dir $(1)))$(file >$(1),$(2)))$(1)
