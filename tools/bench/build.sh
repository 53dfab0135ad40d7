# What ./atoll bench --build does on the machine: make GOAL between two markers, by compilers on the first CORES of ALL cores, in
# an order that SEED chooses; then it says how many object files there are.
# usage: build.sh CORES ALL SEED GOAL [NAME=VALUE]
cores=$1 core=$1 all=$2 seed=$3 goal=$4
shift 4
echo provision off > /dev/cores || exit 1
while [ $core -lt $all ]; do echo "core $core role idle" > /dev/cores || exit 1; core=$((core + 1)); done
mark begin
make -s -f /build.mk -j$cores --shuffle=$seed $goal "$@" || exit 1
mark end
set -- *.o
echo $#
