# Processes as ps, top, pgrep and kill see them, in all clusters, and cores.
ls /proc | grep -v '^[0-9]'
cat /proc/meminfo | cut -d : -f 1 | head -n 2
cat /proc/self/comm
echo $(ls /proc/$$)
test $(sh -c 'readlink /proc/self & wait; echo $!' | sort -u | wc -l) = 1 && echo "itself"
echo $(cut -d ' ' -f 1 /proc/stat)
echo $(toybox vmstat | wc -l) lines of vmstat
touch /proc/x 2> /dev/null || echo "nobody writes there"
cat /proc/4711/stat 2> /dev/null || echo "no such process"
mpiexec -n 8 mpijob wait &
sleep 0.5
# of ps itself it depends on when it is asked for
ps -A -o S,CMD > out; grep -v ' ps$' out | sort
cat /proc/[0-9]*/status | grep Cluster | sort -u
mine=$(pgrep -o mpijob)
grep -e Name -e Threads -e Cluster /proc/$mine/status
test $(pgrep mpijob | wc -l) = 3 && echo "three parts"
toybox top -b -n 1 -m 20 -o PID,CMD > out; grep -c mpijob out
top > out; sed -n 2p out; grep -c mpijob out
ps -A -o PID,PPID,CMD > out
while read pid parent name; do test "$name" = mpijob && echo "child of $(grep -c "^ *$parent .*mpiexec" out)"; done < out
kill $mine; wait $!; echo "status $?"
mpiexec -n 8 mpijob wait &
sleep 0.5
for p in $(pgrep mpijob); do grep -q Cluster:.2 /proc/$p/status && other=$p; done
kill -0 $other && grep Cluster /proc/$other/status
kill -12 $other; wait $!; echo "status $?"
kill -0 $other 2> /dev/null || echo "gone"
pgrep mpijob || echo "none is left"
# A process that computes is told where to run.
(while :; do :; done) & one=$!
cat /proc/$one/ctl; echo "core 2" > /proc/$one/ctl; cat /proc/$one/ctl
(while :; do :; done) & other=$!
(echo "core 2" > /proc/$other/ctl) 2> /dev/null || echo "core 2 is taken"
echo "core 0" > /proc/$other/ctl; cat /proc/$other/ctl
echo "core any" > /proc/$one/ctl; echo "core -1" > /proc/$other/ctl; cat /proc/$one/ctl
(echo "core 4711" > /proc/$one/ctl) 2> /dev/null || echo "no such core"
# What it takes is counted.
ticks() { set -- $(cat /proc/$1/stat); echo ${14}; }
while test $(ticks $one) -lt 5; do :; done
while ! grep -q 'State:.R' /proc/$one/status; do :; done
state() { set -- $(cat /proc/$1/stat); echo $3; }
while test $(state $one) != R; do :; done; echo "it runs, and who asks waits: $(state $$)"
echo "core 2" > /proc/$one/ctl
while ! grep -q 'Core:.2$' /proc/$one/status; do :; done
before=$(ticks $one)
top -b -n 2 -d 0.3 > out
test $(ticks $one) -gt $before && echo "it takes time"
set -- $(grep "^ *$one " out | tail -n 1)
case $7 in ac|tc) test ${2%.*} -gt 0 && echo "a share, on core $6" ;; esac
set -- $(grep "^busy" out | tail -n 1); test $8 = 2 && echo "core 2 is busy: ${10}"
set -- $(head -n 1 /proc/stat); test $2 -gt 0 && test $5 -gt 0 && echo "cores were busy and idle"
top -b -d 0 | head -n 2 | cut -d ' ' -f 1-5
for wrong in "-d x" "-n 0" "-n" "-d -1" "-x" here; do top $wrong > out 2>&1 || echo "top $wrong: status $?"; done
kill $one $other; wait
(echo "core 1" > /proc/$one/ctl) 2> /dev/null || echo "no such process"
# Memory of each cluster, by its domains.
while read -r cluster domain pages free used near far; do
	test $cluster = cluster || echo "$cluster $domain: $((pages - free - used)) $((free > 0)) $((near > 0))"
done < /dev/memory
(echo more > /dev/memory) 2> /dev/null || echo "memory is as it is"
# Cores and their roles, while as many processes compute as programs have cores, and more.
echo provision off > /dev/cores
cut -d ' ' -f 1-3 /dev/cores | head -n 5
for i in 1 2 3 4; do (while :; do :; done) & all="$all $!"; done
for role in ac kc idle tc; do for n in 1 2 3; do echo "core $n role $role" > /dev/cores; done; done
cut -d ' ' -f 1-3 /dev/cores | head -n 5 | tail -n 4
(echo core 0 role ac > /dev/cores) 2> /dev/null || echo "core 0 is the kernel's"
printf 'core 1 role ac\ncore 2 role ac\n' > /dev/cores
kill $all; wait; cut -d ' ' -f 1-3 /dev/cores | head -n 5 | tail -n 4
