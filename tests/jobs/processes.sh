# Processes as ps, top, pgrep and kill see them, in all clusters.
ls /proc | grep -v '^[0-9]'
cat /proc/meminfo | cut -d : -f 1 | head -n 2
touch /proc/x 2> /dev/null || echo "nobody writes there"
cat /proc/4711/stat 2> /dev/null || echo "no such process"
mpiexec -n 8 mpijob wait &
sleep 0.5
ps -A -o S,CPU,CMD > out; sort out
mine=$(pgrep -o mpijob)
grep -e Name -e Threads -e Cluster /proc/$mine/status
test $(pgrep mpijob | wc -l) = 3 && echo "three parts"
top -b -n 1 -m 20 -o PID,CMD > out; grep -c mpijob out
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
