# What ./atoll bench --mixed does on the machine: between two markers, processes that compute (c), until the last has ended, and
# beside them others that call the kernel and the file server (k), started in this order. PLACE: `own`, where the kernel puts them;
# `auto`, and the process server gathers those that call; `turn`, each on the next one of the cores 2 to 7.
# usage: mixed.sh PLACE ALL ROUNDS KIND...
place=$1 all=$2 rounds=$3 core=8
shift 3
[ $place = auto ] || echo provision off > /dev/cores || exit 1
while [ $core -lt $all ]; do echo "core $core role idle" > /dev/cores || exit 1; core=$((core + 1)); done
[ $place = turn ] && for core in 2 3 4 5 6 7; do echo "core $core role tc" > /dev/cores || exit 1; done
echo line > /line
computes() { while [ $rounds -gt 0 ]; do rounds=$((rounds - 1)); done; }
calls() { while :; do read word < /line; done; }
mark begin
i=0 computing= calling=
for kind; do
	if [ $kind = c ]; then computes & computing="$computing $!"; else calls & calling="$calling $!"; fi
	[ $place = turn ] && { echo "core $((2 + i % 6))" > /proc/$!/ctl || exit 1; }
	i=$((i + 1))
done
wait $computing
mark end
kill $calling
wait
echo $i
