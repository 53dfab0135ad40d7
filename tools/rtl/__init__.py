# SPDX-License-Identifier: MIT
"""Simulators of the co-designed cluster: which clusters there are (config), how they are built
(build), run (simulator) and tested (units).
"""
