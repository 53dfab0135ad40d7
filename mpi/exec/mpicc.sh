#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mpicc and mpicxx: the compiler with the MPI library of the tree that this file stands in, wherever that is.
#
# The compiler is cc (c++ for mpicxx), or what -cc=NAME (-cxx=NAME) or the environment says: ATOLL_CC, OMPI_CC or MPICH_CC
# (ATOLL_CXX, OMPI_CXX or MPICH_CXX). What links gets a run path to the library; LD_LIBRARY_PATH comes before it.
set -f
self=$(readlink -f "$0")
prefix=$(dirname "$(dirname "$self")")
case ${0##*/} in
mpicxx|mpic++|mpiCC) compiler=${ATOLL_CXX:-${OMPI_CXX:-${MPICH_CXX:-c++}}} ;;
*) compiler=${ATOLL_CC:-${OMPI_CC:-${MPICH_CC:-cc}}} ;;
esac

quote() {
	printf '%s' "$1" | sed "s/'/'\\\\''/g; s/.*/'&'/"
}

compile="-I$(quote "$prefix/include")"
link="-L$(quote "$prefix/lib") -Wl,-rpath,$(quote "$prefix/lib") -Wl,--enable-new-dtags -lmpi_abi"
show= links=yes files= rest=
for word; do
	case $word in
	-cc=*|-cxx=*) compiler=${word#*=}; continue ;;
	-show|-showme|--showme) show=all; continue ;;
	-compile-info|-compile_info|-show-compile-info|-showme:compile|--showme:compile) show=compile; continue ;;
	-link-info|-link_info|-show-link-info|-showme:link|--showme:link) show=link; continue ;;
	-showme:command|--showme:command) echo "$compiler"; exit 0 ;;
	-showme:incdirs|--showme:incdirs) echo "$prefix/include"; exit 0 ;;
	-showme:libdirs|--showme:libdirs) echo "$prefix/lib"; exit 0 ;;
	-showme:libs|--showme:libs) echo mpi_abi; exit 0 ;;
	-showme:version|--showme:version) echo "${0##*/}: Atoll MPI, standard ABI 1.0"; exit 0 ;;
	-help|--help)
		if [ $# = 1 ]; then
			echo "usage: ${0##*/} [COMPILER OPTION...] FILE..."
			echo "  -show, -compile-info, -link-info    print the command, or what compiling or linking adds"
			echo "  -cc=NAME                            the compiler to use"
			sed -n 's/^# \(.*\)/\1/p' "$self" | tail -n +3
			exit 0
		fi ;;
	-c|-E|-S|-M|-MM|-fsyntax-only) links= ;;
	-) files=yes ;;
	-*) ;;
	*) files=yes ;;
	esac
	rest="$rest $(quote "$word")"
done
case $show in
compile) eval "set -- $compile"; echo "$compiler $*"; exit 0 ;;
link) eval "set -- $compile $link"; echo "$compiler $*"; exit 0 ;;
esac
[ -n "$links" ] && { [ -n "$files" ] || [ -n "$show" ]; } || link=
eval "set -- $compiler $compile $rest $link"
if [ -n "$show" ]; then
	echo "$*"
	exit 0
fi
exec "$@"
