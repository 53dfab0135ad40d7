#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mpicc, mpicxx and mpifort: the compiler with the MPI library of the tree that this file stands in, wherever that is.
#
# The compiler is cc (c++ for mpicxx), or what -cc=NAME (-cxx=NAME) or the environment says: ATOLL_CC, OMPI_CC or MPICH_CC
# (ATOLL_CXX, OMPI_CXX or MPICH_CXX). That of mpifort is gfortran, or what -fc=NAME, ATOLL_FC, OMPI_FC or MPICH_FC says.
# What links gets a run path to the library; LD_LIBRARY_PATH comes before it. It is linked with the names of the functions that are
# implemented (lib/link), so that a configure script finds no others; -L of lib, given before, has all.
set -f
fortran=
self=$(readlink -f "$0")
prefix=${self%/*}
prefix=${prefix%/*}
case ${0##*/} in
mpicxx|mpic++|mpiCC) compiler=${ATOLL_CXX:-${OMPI_CXX:-${MPICH_CXX:-c++}}} ;;
mpifort|mpif77|mpif90) compiler=${ATOLL_FC:-${OMPI_FC:-${MPICH_FC:-gfortran}}} fortran=yes ;;
*) compiler=${ATOLL_CC:-${OMPI_CC:-${MPICH_CC:-cc}}} ;;
esac

# Put into `quoted` what a shell reads as the argument. Quoting starts no process: builds ask often.
quote() {
	case $1 in
	''|*[!A-Za-z0-9_@%+=:,./-]*) ;;
	*) quoted=$1; return ;;
	esac
	quoted= tail=$1
	while [ "$tail" != "${tail#*\'}" ]; do
		quoted="$quoted${tail%%\'*}'\\''"
		tail=${tail#*\'}
	done
	quoted="'$quoted$tail'"
}

print_command() {
	line=
	for word; do
		quote "$word"
		line="$line${line:+ }$quoted"
	done
	printf '%s\n' "$line"
}

usage() {
	echo "usage: ${0##*/} [COMPILER OPTION...] FILE..."
	echo "  -show, -compile-info, -link-info    print the command, or what compiling or linking adds"
	echo "  -cc=NAME                            the compiler to use"
	sed -n 's/^# \(.*\)/\1/p' "$self" | tail -n +3 | head -n 4
}

# What an argument says about linking: nothing is linked without files, nor if the compiler is to stop before.
look_at() {
	case $1 in
	-c|-E|-S|-M|-MM|-fsyntax-only) links= ;;
	-) files=yes ;;
	-*) ;;
	@*) files=yes; look_into "${1#@}" ;;
	*) files=yes ;;
	esac
}

# A response file has more arguments.
look_into() {
	[ -r "$1" ] && [ -f "$1" ] || return 0
	while read -r line || [ -n "$line" ]; do
		for word in $line; do
			word=${word#[\"\']}
			look_at "${word%[\"\']}"
		done
	done < "$1"
}

# The arguments in their order, without those that are for us: `ours` counts them.
show= links=yes link= files= ours=0
for word; do
	case $word in
	-cc=*|-cxx=*|-fc=*) compiler=${word#*=}; ours=$((ours + 1)) ;;
	-show|-showme|--showme) show=all; ours=$((ours + 1)) ;;
	-compile-info|-compile_info|-show-compile-info|-showme:compile|--showme:compile) show=compile ;;
	-link-info|-link_info|-show-link-info|-showme:link|--showme:link) show=link ;;
	-showme:command|--showme:command) echo "$compiler"; exit 0 ;;
	-showme:incdirs|--showme:incdirs) echo "$prefix/include"; exit 0 ;;
	-showme:libdirs|--showme:libdirs) echo "$prefix/lib/link $prefix/lib"; exit 0 ;;
	-showme:libs|--showme:libs) echo "${fortran:+mpi_fortran }mpi_abi"; exit 0 ;;
	-showme:version|--showme:version) echo "${0##*/}: Atoll MPI, standard ABI 1.0"; exit 0 ;;
	-help|--help) [ $# -gt 1 ] || { usage; exit 0; } ;;
	*) look_at "$word" ;;
	esac
done
if [ $ours -gt 0 ]; then
	for word; do
		shift
		case $word in
		-cc=*|-cxx=*|-fc=*|-show|-showme|--showme) ;;
		*) set -- "$@" "$word" ;;
		esac
	done
fi
[ -n "$links" ] && { [ -n "$files" ] || [ -n "$show" ]; } || link=no

# what has no interface in Fortran may be called with other types each time
mismatch=${fortran:+-fallow-argument-mismatch}
libraries="${fortran:+-lmpi_fortran }-lmpi_abi"
case $show in
compile) set -- $mismatch "-I$prefix/include" ;;
link) set -- $mismatch "-I$prefix/include" "-L$prefix/lib/link" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" -Wl,--enable-new-dtags $libraries ;;
*)
	set -- $mismatch "-I$prefix/include" "$@"
	[ -n "$link" ] || set -- "$@" "-L$prefix/lib/link" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" -Wl,--enable-new-dtags $libraries ;;
esac
# a compiler may be several words: ccache gcc
[ -z "$show" ] || { print_command $compiler "$@"; exit 0; }
exec $compiler "$@"
