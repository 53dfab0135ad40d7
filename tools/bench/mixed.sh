# What ./atoll bench --mixed does on the machine: between two markers, processes that compute (c) and that call the kernel and the
# file server (k), started in this order. PLACE: `own`, where the kernel puts them; `turn`, each on the next one of the cores 2 to 7.
# usage: mixed.sh PLACE ALL ROUNDS CALLS KIND...
place=$1 all=$2 rounds=$3 calls=$4 core=8
shift 4
while [ $core -lt $all ]; do echo "core $core role idle" > /dev/cores || exit 1; core=$((core + 1)); done
[ $place = turn ] && for core in 2 3 4 5 6 7; do echo "core $core role tc" > /dev/cores || exit 1; done
echo line > /line
computes() { while [ $rounds -gt 0 ]; do rounds=$((rounds - 1)); done; }
calls() { while [ $calls -gt 0 ]; do read word < /line; calls=$((calls - 1)); done; }
mark begin
i=0
for kind; do
	if [ $kind = c ]; then computes & else calls & fi
	[ $place = own ] || echo "core $((2 + i % 6))" > /proc/$!/ctl || exit 1
	i=$((i + 1))
done
wait
mark end
echo $i
