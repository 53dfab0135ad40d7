# SPDX-License-Identifier: MIT
"""The installed tree: wrappers, header, pkg-config, CMake, configure scripts; that it may be moved;
and the standard ABI against MPICH's.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each test.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probes import AC_CHECK_FUNC, ADDRESS, CHECK_FUNCTION_EXISTS, PROBED  # noqa: E402
from scenario import (
    HERE, MPIEXEC, PREFIX, ROOT, WORK, Skip, Wrong, call, mpiexec, must, must_be, program,
    run_all, tests_of, tool
)  # noqa: E402

LIB = os.path.join(PREFIX, "lib")
MPICC = os.path.join(PREFIX, "bin", "mpicc")
VENV = os.path.join(ROOT, ".venv")
# removed by MPI-3.0, and exported by other libraries of the standard ABI, too
EARLIER = ("Address", "Errhandler_create", "Errhandler_get", "Errhandler_set", "Type_extent",
           "Type_hindexed", "Type_hvector", "Type_lb", "Type_struct",
           "Type_ub")
ONE = "#include <mpi.h>\nint main(int c, char **v)\n{\n\treturn MPI_Init(&c, &v) || MPI_Finalize();\n}\n"

CMAKE = """cmake_minimum_required(VERSION 3.10)
project(try C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_executable(once {here}/once.c)
target_link_libraries(once MPI::MPI_C)
add_executable(hello {here}/hello.cc)
target_link_libraries(hello MPI::MPI_CXX)
enable_testing()
add_test(NAME once COMMAND ${{MPIEXEC_EXECUTABLE}} ${{MPIEXEC_NUMPROC_FLAG}} 2 $<TARGET_FILE:once>)
"""

# what the macros of autoconf-made configure scripts try with a wrapper
CONFIGURE = """set -e
CC=$1
cat > conftest.c <<'X'
#include <mpi.h>
char MPI_Init();
int main(void) { return 0; }
X
sed -i '2d' conftest.c
$CC -c conftest.c && test -f conftest.o
$CC -E conftest.c > conftest.i && grep -q MPI_Init conftest.i
$CC -M conftest.c | grep -q mpi.h
$CC -o conftest conftest.c && ./conftest
$CC -o conftest conftest.o -lm && ./conftest
$CC -g -O2 -o conftest -Wl,--as-needed conftest.c
printf 'char MPI_Init(); int main(void) { return MPI_Init(); }' > link.c
$CC -o link link.c
printf 'char MPI_No_such(); int main(void) { return MPI_No_such(); }' > link.c
if $CC -o link link.c 2>/dev/null; then exit 1; fi
$CC --version > /dev/null
$CC -v > /dev/null 2>&1
$CC -dumpmachine > /dev/null
$CC -print-prog-name=ld > /dev/null
"""

CMAKE_PROBE = """cmake_minimum_required(VERSION 3.10)
project(probe C)
find_package(MPI REQUIRED COMPONENTS C)
include(CheckFunctionExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
{checks}"""

# A tool in a library of its own wraps what is not implemented, and passes it on.
TOOL = """#include <mpi.h>
#ifdef TOOL
int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
	return PMPI_File_open(comm, name, mode, info, file);
}
#else
int main(void)
{
	MPI_Init(0, 0);
	return MPI_Finalize();
}
#endif
"""


def write(path, text):
    """A file in the work folder."""
    full = os.path.join(WORK, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as f:
        f.write(text)
    return full


def test_wrappers_show_what_they_do():
    source = write("one.c", ONE)
    full = must(call([MPICC, "-show", source]), 0).out
    must_be(("-lmpi_abi" in full, PREFIX + "/include" in full), (True, True), full)
    for option in ("-c", "-E", "-M", "-MM", "-S"):
        must_be("-lmpi_abi" in must(call([MPICC, "-show", option, source]), 0).out, False, option)
    for option, wanted in (("-compile-info", "-I"), ("-link-info", "-lmpi_abi"),
                           ("-showme:compile", "-I"), ("-showme:link", "-lmpi_abi")):
        must(call([MPICC, option]), 0, wanted)
    must_be(call([MPICC, "--version"]).out, call(["cc", "--version"]).out, "version")
    must_be(call([os.path.join(PREFIX, "bin", "mpicxx"), "--version"]).out, call(["c++", "--version"]).out, "version")


def test_the_compiler_can_be_chosen():
    for name in ("ATOLL_CC", "OMPI_CC", "MPICH_CC"):
        must(call([MPICC, "-show"], env={name: "my-cc"}), 0, "my-cc ")
    must(call([MPICC, "-cc=other", "-show"]), 0, "other ")
    must(call([os.path.join(PREFIX, "bin", "mpicxx"), "-show"], env={"MPICH_CXX": "my-cxx"}), 0, "my-cxx ")


def test_arguments_with_spaces_and_quotes_survive():
    text = "it's \"so\""
    source = write("quote me.c", '#include <stdio.h>\nint main(void)\n{\n\tputs(TEXT);\n\treturn 0;\n}\n')
    out = os.path.join(WORK, "quoted out")
    define = '-DTEXT="' + text.replace('"', '\\"') + '"'
    must(call([MPICC, define, "-o", out, source]), 0)
    must_be(call([out]).out, text + "\n", "output")


def counted(argv, folder):
    """Programs that a command starts through PATH: each has a stand-in there that writes its name
    down.
    """
    log, words = os.path.join(folder, "log"), ("readlink", "dirname", "basename", "sed", "tail",
                                               "head", "grep", "printf", "echo", "cat", "expr", "tr", "awk")
    os.makedirs(folder, exist_ok=True)
    for word in words:
        with open(os.path.join(folder, word), "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\necho {word} >> {log}\nexec {shutil.which(word)} "$@"\n')
        os.chmod(f.name, 0o755)
    out = must(call(argv, env={"PATH": folder}), 0).out
    with open(log, encoding="ascii") as f:
        started = f.read().split()
    shutil.rmtree(folder)
    return out, started


def test_the_wrapper_starts_no_program_for_an_argument():
    for count in (1, 40):
        options = [f"-DNAME{i}='a b'" for i in range(count)]
        out, started = counted([MPICC, "-show", *options, "x.c"], os.path.join(WORK, "counted"))
        must_be(started, ["readlink"], f"programs started for {count} options")
        must_be(shlex.split(out)[2:count + 3], [*options, "x.c"], "arguments")


def test_what_the_wrapper_shows_can_be_given_to_a_shell():
    words = ["it's", 'a "b"', "back\\slash\\n", "$HOME", "`x`", "", "*", "-DX=a b", "tab\there",
             "line\nbreak", "'", "''x'", "-n", "\\c", "x;y", "~", "é"]
    out = must(call([MPICC, "-show", *words]), 0).out
    must_be(call(["sh", "-c", "for w in " + out.rstrip("\n") +
                  '; do printf "%s\\0" "$w"; done']).out.split("\0")[2:-6], words, "words")
    must(call([MPICC, "-cc=two words", "-show", "-c", "x.c"]), 0, f"two words -I{PREFIX}/include -c x.c\n")


def test_response_files_count_as_what_is_in_them():
    source = write("in one.c", ONE)
    for text, links in ((f"-O1 '{source}'\n", True), (f'-c\n"{source}"', False),
                        (f'"-E" "{source}"', False), ("-O1 -Wall\n", True)):
        path = write("args", text)
        must_be("-lmpi_abi" in must(call([MPICC, "-show", f"@{path}"]), 0).out, links, text)
        nested = write("args of args", f"-g @{path}")
        must_be("-lmpi_abi" in must(call([MPICC, "-show", f"@{nested}"]), 0).out, links, text)
    out = os.path.join(WORK, "by response file")
    must(call([MPICC, "@" + write("args", f"-o '{out}' '{source}'\n")]), 0)
    must(call([out]), 0)
    must_be("-lmpi_abi" in must(call([MPICC, "-show", "@no-such-file"]), 0).out, True, "a file that is not there")


def test_exports_are_the_functions_of_the_standard_and_ten_earlier_ones():
    out = must(call(["nm", "-D", "--defined-only", os.path.join(LIB, "libmpi_abi.so.1")]), 0).out
    rows = [line.split()[-2:] for line in out.splitlines()]
    must_be({kind for kind, _ in rows} - {"T", "W"}, set(), "kinds of symbols")
    with open(os.path.join(PREFIX, "include", "mpi.h"), encoding="utf-8") as f:
        text = f.read()
    declared = set(re.findall(r"\b(P?MPI_\w+)\(",
                              text)) - set(re.findall(r"^static __inline__ [^(]*\b(MPI_\w+)\(", text, re.M))
    names = {name for _, name in rows}
    must_be((names - declared,
             {d for d in declared if not d.endswith("_function")
              and not d.endswith("_fn")} - names - macros(declared)), (set(), set()), "symbols")
    must_be(len(names), 1324 + 2 * len(EARLIER), "number of symbols")
    must_be({prefix + name for prefix in ("MPI_", "PMPI_") for name in EARLIER} - names, set(), "earlier functions")
    must_be("SONAME" in call(["readelf", "-d", os.path.join(LIB, "libmpi_abi.so.1")]).out, True, "soname")


def test_earlier_functions_can_be_linked_by_what_knows_another_header():
    calls = "".join(f"int MPI_{name}(void);\nint PMPI_{name}(void);\n" for name in EARLIER)
    uses = ", ".join(f"(void *)MPI_{name}, (void *)PMPI_{name}" for name in EARLIER)
    source = write("bare.c", f"{calls}int main(void)\n{{\n\tvoid *all[] = {{{uses}}};\n\treturn all[1] == 0;\n}}\n")
    out = os.path.join(WORK, "bare")
    must(call(["cc", "-w", "-o", out, source, os.path.join(LIB, "libmpi_abi.so.1"), "-Wl,-rpath," + LIB]), 0)
    must(call([out]), 0)


def macros(names):
    """Those of some names that are macros of the header."""
    with open(os.path.join(PREFIX, "include", "mpi.h"), encoding="utf-8") as f:
        return set(re.findall(r"#define\s+(\w+)", f.read())) & names


def test_the_header_stands_alone():
    alone = os.path.join(WORK, "alone")
    os.makedirs(alone, exist_ok=True)
    shutil.copy(os.path.join(PREFIX, "include", "mpi.h"), alone)
    for compiler, name in (("cc", "a.c"), ("c++", "a.cc")):
        source = write(name, ONE)
        for flags in (["-Wall", "-Wextra", "-Wpedantic", "-Werror"], ["-std=c99" if name == "a.c" else "-std=c++11"]):
            must(call([compiler, *flags, f"-I{alone}", "-c", "-o", os.path.join(WORK, "a.o"), source]), 0)


def test_a_program_in_cxx():
    done = must(mpiexec("-n", "3", program("hello.cc")), 0)
    must_be(sorted(done.out.splitlines()), [f"hello {r} of 3" for r in range(3)], "output")


def test_the_tree_may_be_moved():
    moved = os.path.join(WORK, "moved here", "tree")
    shutil.copytree(PREFIX, moved, symlinks=True)
    out = os.path.join(WORK, "moved-once")
    must(call([os.path.join(moved, "bin", "mpicc"), "-o", out, os.path.join(HERE, "once.c")]), 0)
    must_be("moved here" in must(call(["ldd", out]), 0).out, True, "library of the moved tree")
    must(call([os.path.join(moved, "bin", "mpirun"), "-n", "2", out]), 0, "rank 1 of 2, sum 1")
    link = os.path.join(WORK, "linked-mpicc")
    os.symlink(os.path.join(moved, "bin", "mpicc"), link)
    must(call([link, "-show"]), 0, "moved here")


def test_pkg_config_finds_it():
    tool("pkg-config")
    source, out = write("pc.c", ONE), os.path.join(WORK, "pc")
    flags = must(call(["pkg-config", "--cflags", "--libs", "mpi"],
                      env={"PKG_CONFIG_PATH": os.path.join(LIB, "pkgconfig")}), 0).out.split()
    must(call(["cc", "-o", out, source, *flags]), 0)
    must(mpiexec("-n", "2", out), 0)


def test_cmake_finds_it():
    tool("cmake")
    write("cm/CMakeLists.txt", CMAKE.format(here=HERE))
    folder, env = os.path.join(WORK, "cm"), {"PATH": os.path.join(PREFIX, "bin") + ":" + os.environ["PATH"]}
    must(call(["cmake", "-S", folder, "-B", folder + "/b"], env=env), 0, "Found MPI_C", "Found MPI_CXX")
    must(call(["cmake", "--build", folder + "/b"], env=env), 0)
    must(call(["ctest", "--test-dir", folder + "/b", "--output-on-failure"], env=env), 0, "100% tests passed")


def test_configure_scripts_are_satisfied():
    folder = os.path.join(WORK, "conf")
    os.makedirs(folder, exist_ok=True)
    must(call(["sh", "-c", CONFIGURE, "configure", MPICC], cwd=folder), 0)


def link_flags():
    """What pkg-config says, if it is there, else what the file does."""
    with open(os.path.join(LIB, "pkgconfig", "mpi.pc"), encoding="utf-8") as f:
        words = re.search(r"^Libs: (.*)", f.read(), re.M).group(1)
    return words.replace("${libdir}", LIB).split()


def links(compiler, source, name, *flags):
    """Does a probe link?"""
    return call([*compiler, "-w", "-o", os.path.join(WORK, name), write(name + ".c", source), *flags]).status == 0


def test_probes_that_only_link_find_what_is_implemented():
    ways = [[MPICC], [MPICC, "-shared-libgcc"], [MPICC, "-cc=clang"]][:3 if shutil.which("clang") else 2]
    for i, (function, there) in enumerate(PROBED):
        for prefix in ("", "P"):
            name = prefix + function
            for text in (AC_CHECK_FUNC, CHECK_FUNCTION_EXISTS):
                for way in ways:
                    must_be(links(way, text.format(name=name), f"probe{i}"), there, f"{name} by {way}")
                must_be(links(["cc"], text.format(name=name), f"probe{i}", *link_flags()), there, f"{name} by mpi.pc")
            must_be(links([MPICC], ADDRESS.format(name=name), f"address{i}"), there, f"address of {name}")
            must_be(links([MPICC], ADDRESS.format(name=name), f"whole{i}", f"-L{LIB}"), True,
                    f"{name} in the whole library")
        if there:
            must(call([os.path.join(WORK, f"address{i}")]), 0)
    must(call([os.path.join(WORK, "whole0")]), 0)


def test_cmake_finds_what_is_implemented():
    tool("cmake")
    checks = "".join(f"check_function_exists({name} HAVE_{name})\n"
                     f"message(STATUS \"{name} is [${{HAVE_{name}}}]\")\n" for name, _ in PROBED)
    write("probe/CMakeLists.txt", CMAKE_PROBE.format(checks=checks))
    folder, env = os.path.join(WORK, "probe"), {"PATH": os.path.join(PREFIX, "bin") + ":" + os.environ["PATH"]}
    must(call(["cmake", "-S", folder, "-B", folder + "/b"], env=env), 0,
         *(f"{name} is [{'1' if there else ''}]" for name, there in PROBED))


def test_what_is_linked_with_has_the_names_of_the_implemented_functions():
    rows = [line.split()[-2:] for line in must(call(["nm", "-D", "--defined-only",
                                                     os.path.join(LIB, "link", "libmpi_abi.so")]), 0).out.splitlines()]
    must_be({kind for kind, _ in rows} - {"T", "W"}, set(), "kinds of symbols")
    with open(os.path.join(ROOT, "docs", "mpi-status.md"), encoding="utf-8") as f:
        done = " ".join(re.findall(r", implemented:\*\* (.*)", re.sub(r"(?<!\n)\n(?!\n)", " ", f.read())))
    names = {f"MPI_{name}{wide}" for name, twin in re.findall(r"`MPI_(\w+)`( `_c`)?", done)
             for wide in (("", "_c") if twin else ("",))}
    must_be({name for _, name in rows}, names | {"P" + name for name in names}, "names")
    said = must(call(["readelf", "-d", os.path.join(LIB, "link", "libmpi_abi.so")]), 0).out
    must_be(("[libmpi_abi.so.1]" in said, "NEEDED" in said), (True, False), said)


def test_a_tool_may_bring_what_is_not_implemented():
    source = write("tool.c", TOOL)
    shared, out = os.path.join(WORK, "libtool.so"), os.path.join(WORK, "with-tool")
    must(call([MPICC, "-shared", "-fPIC", "-DTOOL", "-o", shared, source]), 0)
    must(call([MPICC, "-o", out, source, shared, f"-Wl,-rpath,{WORK}"]), 0)
    must(mpiexec("-n", "2", out), 0)


def mpich(name):
    """A file of MPICH's package, which is there for tests only."""
    path = os.path.join(VENV, name)
    if not os.path.exists(path):
        raise Skip("the Python package mpich is not installed")
    return path


def test_a_program_made_for_mpich_runs_on_ours_without_relinking():
    theirs = program("once.c", mpich("bin/mpicc_abi"))
    done = must(mpiexec("-n", "4", theirs, env={"LD_LIBRARY_PATH": LIB}), 0)
    must_be([x for x in done.out.splitlines() if "of 4, sum 6, Atoll MPI" in x].__len__(), 4, f"ranks of ours: {done}")


def test_a_program_made_for_ours_runs_on_mpich_without_relinking():
    folder = os.path.dirname(os.path.realpath(mpich("lib/libmpi_abi.so.1"))
                             if os.path.exists(os.path.join(VENV, "lib/libmpi_abi.so.1"))
                             else mpich_library())
    done = must(call([mpich("bin/mpiexec"), "-n", "4", program("once.c")], env={"LD_LIBRARY_PATH": folder}), 0)
    must_be(len([x for x in done.out.splitlines() if "of 4, sum 6, MPICH" in x]), 4, f"ranks of MPICH: {done}")


def mpich_library():
    """Path of MPICH's libmpi_abi.so.1."""
    for folder, _, names in os.walk(os.path.join(VENV, "lib")):
        if "libmpi_abi.so.1" in names:
            return os.path.join(folder, "libmpi_abi.so.1")
    raise Skip("the Python package mpich is not installed")


def test_long_messages_are_fetched_or_sent_in_chunks():
    for name, ranks in (("pt2pt_sizes", 4), ("isend_storm", 7), ("collectives", 5), ("pt2pt_order", 3)):
        path = os.path.join(ROOT, "build", "process", "tests", name)
        for fetch in ("no", "yes"):
            must(mpiexec("-n", str(ranks), path, env={"ATOLL_MPI_FETCH": fetch}), 0, "No errors")


def test_installing_says_where_and_refuses_what_it_cannot():
    atoll = os.path.join(ROOT, "atoll")
    must(call([atoll, "install", "--prefix", os.path.join(WORK, "p")]), 0, "installed into")
    for page, text in (("man1/mpiexec.1", "exit status"), ("man1/mpicc.1", "ATOLL_CC"),
                       ("man1/atoll.1", "doctor"), ("man2/kthread_join.2", "DEADLK")):
        with open(os.path.join(WORK, "p", "share", "man", page), encoding="utf-8") as f:
            must_be(text in f.read(), True, page)
    must(call([os.path.join(WORK, "p", "bin", "mpiexec"), "--version"]), 0, "Atoll MPI")
    must(call([atoll, "install"]), 2, "--prefix DIR")
    must(call([atoll, "install", "--prefix", "/proc/nowhere"]), 1, "cannot write")


if __name__ == "__main__":
    subprocess.run(["make", "-s", "-C", ROOT, "PORT=process", "programs"], check=False,
                   stdout=subprocess.DEVNULL) if os.path.exists(MPIEXEC) else None
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
