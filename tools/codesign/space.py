# SPDX-License-Identifier: MIT
"""The 192 configurations of a core (seed 001, Table I), their names, and the core parameters that
make them.

A configuration's name is its six choices joined by dashes, in the order of UNITS:
`simple-barrel-div-mul-nofpu-2way`. The paper's three cores have names of their own: i-core, k-core,
u-core.

    python3 tools/codesign/space.py k-core      prints the parameters of the mor1kx core, one NAME=VALUE per line
    python3 tools/codesign/space.py --list      prints all names
"""

import itertools
import sys

# unit -> {choice: parameters of the core}. The I-cache has 8 kB and lines of 32 bytes; SET_WIDTH
# counts lines per way in bits.
UNITS = {
    "predictor": {"simple": {"FEATURE_BRANCH_PREDICTOR": "SIMPLE"},
                  "satcounter": {"FEATURE_BRANCH_PREDICTOR": "SAT_COUNTER"},
                  "gshare": {"FEATURE_BRANCH_PREDICTOR": "GSHARE"}},
    "shifter": {"barrel": {"OPTION_SHIFTER": "BARREL"}, "serial": {"OPTION_SHIFTER": "SERIAL"}},
    "divider": {"div": {"FEATURE_DIVIDER": "SERIAL"}, "nodiv": {"FEATURE_DIVIDER": "NONE"}},
    "multiplier": {"mul": {"FEATURE_MULTIPLIER": "THREESTAGE"}, "nomul": {"FEATURE_MULTIPLIER": "NONE"}},
    "fpu": {"nofpu": {"FEATURE_FPU": "NONE"}, "fpu": {"FEATURE_FPU": "ENABLED"}},
    "icache": {"1way": {"OPTION_ICACHE_WAYS": 1, "OPTION_ICACHE_SET_WIDTH": 8},
               "2way": {"OPTION_ICACHE_WAYS": 2, "OPTION_ICACHE_SET_WIDTH": 7},
               "4way": {"OPTION_ICACHE_WAYS": 4, "OPTION_ICACHE_SET_WIDTH": 6},
               "8way": {"OPTION_ICACHE_WAYS": 8, "OPTION_ICACHE_SET_WIDTH": 5}},
}

# what every configuration has: the paper's cluster is OpTiMSoC's, which instantiates the core like
# this
COMMON = {
    "OPTION_CPU0": "CAPPUCCINO", "OPTION_OPERAND_WIDTH": 32, "OPTION_RF_NUM_SHADOW_GPR": 1,
    "FEATURE_INSTRUCTIONCACHE": "ENABLED", "OPTION_ICACHE_BLOCK_WIDTH": 5, "OPTION_ICACHE_LIMIT_WIDTH": 32,
    "FEATURE_IMMU": "ENABLED", "FEATURE_DMMU": "ENABLED", "FEATURE_DATACACHE": "NONE", "OPTION_DCACHE_SNOOP": "ENABLED",
    "FEATURE_MULTICORE": "ENABLED", "FEATURE_TRACEPORT_EXEC": "ENABLED",
    "IBUS_WB_TYPE": "B3_REGISTERED_FEEDBACK", "DBUS_WB_TYPE": "B3_REGISTERED_FEEDBACK",
}

NAMED = {
    "i-core": "simple-barrel-div-mul-nofpu-2way",
    "k-core": "simple-barrel-nodiv-nomul-nofpu-1way",
    "u-core": "gshare-barrel-div-mul-fpu-2way",
}


class OutsideSpace(Exception):
    """A configuration that Table I does not have; the message says which choices there are."""


def names():
    """The 192 names, the I-Core's choice of each unit varying last."""
    return ["-".join(c) for c in itertools.product(*UNITS.values())]


def choices(name):
    """{unit: choice} of a configuration's name; OutsideSpace if it is none."""
    words = NAMED.get(name, name).split("-")
    if len(words) != len(UNITS):
        form = "-".join(unit.upper() for unit in UNITS)
        raise OutsideSpace(f"'{name}' is no configuration: use {', '.join(NAMED)} or {form}")
    for (unit, known), word in zip(UNITS.items(), words):
        if word not in known:
            raise OutsideSpace(f"'{name}' is outside the space: '{word}' is no {unit}; use one of {', '.join(known)}")
    return dict(zip(UNITS, words))


def canonical(name):
    """The six choices joined by dashes."""
    return "-".join(choices(name).values())


def nickname(name):
    """The paper's name of a configuration if it has one, else its own."""
    full = canonical(name)
    return next((short for short, known in NAMED.items() if known == full), full)


def title(name):
    """As the paper writes it: K-Core; a configuration without such a name stays as it is."""
    short = nickname(name)
    return short[0].upper() + "-Core" if short in NAMED else short


def parameters(name):
    """{parameter: value} of the core."""
    out = dict(COMMON)
    for unit, choice in choices(name).items():
        out.update(UNITS[unit][choice])
    return out


def changed(name, **units):
    """The configuration with some units chosen differently."""
    return canonical("-".join({**choices(name), **units}.values()))


def as_the_kernel_sees(name):
    """The configuration without divider, multiplier and FPU: the kernel has no instruction for
    them, so its cycles are the same. 24 of the 192 differ.
    """
    return changed(name, divider="nodiv", multiplier="nomul", fpu="nofpu")


def single_changes(base="i-core"):
    """[(unit, choice, name)]: every configuration that differs from the base in one unit."""
    own = choices(base)
    return [(unit, choice, changed(base, **{unit: choice})) for unit,
            known in UNITS.items() for choice in known if choice != own[unit]]


def main(argv):
    """Exit status 2 for a configuration outside the space."""
    if argv == ["--list"]:
        print("\n".join(names()))
        return 0
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for key, value in parameters(argv[0]).items():
            print(f"{key}={value}")
    except OutsideSpace as e:
        print(e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
