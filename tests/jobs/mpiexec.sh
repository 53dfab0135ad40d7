# MPI jobs at the shell's prompt, what becomes of them, and that nothing of them is left.
mpiexec -n 12 hello | sort -n -k 4
mpiexec -n 4 ring > out; echo "status $?"; cat out
mpiexec -n 2 ring 2> /dev/null > out 3< out; wc -l < out
echo "one line" | mpiexec -n 5 cat
cd /etc; mpiexec -n 2 ../bin/pi; mpiexec -n 3 ./nothing; echo "status $?"; cd /
mpiexec -n 4 echo no MPI at all
mpiexec -n 2 /etc/passwd; echo "status $?"
mpiexec -n 0 hello; echo "status $?"
mpiexec -n hello; echo "status $?"
mpiexec; echo "status $?"
mpiexec -n 1000 hello; echo "status $?"
mpiexec -n 90 --map scatter pi
echo "--- ends"
mpiexec -n 8 mpijob abort 5 7; echo "status $?"
mpiexec -n 8 mpijob crash 7; echo "status $?"
mpiexec -n 8 mpijob leave 4 3; echo "status $?"
mpiexec -n 8 mpijob return 6 4; echo "status $?"
mpiexec -n 8 mpijob wait & sleep 0.3; kill $!; wait $!; echo "status $?"
echo "--- several at once"
for i in 1 2 3; do mpiexec -n 9 mpijob sum 2 & done; wait
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mpiexec -n 3 mpijob sum 1 & done; wait
# all at the same time, for certain: a job says that its ranks wait
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	MPIEXEC_ON_DEADLOCK=report mpiexec -n 3 mpijob wait > said.$i 2>&1 &
	pids="$pids $!"
done
until [ $(cat said.* | grep -c -e "^MPI: deadlock" -e "^mpiexec:") -eq 12 ]; do sleep 0.1; done
kill $pids; for p in $pids; do wait $p; echo $?; done > said; sort said | uniq -c
grep -h "^mpiexec:" said.*; rm said*
stray & mpiexec -n 8 mpijob sum 20; kill $!; wait $!
mpiexec -n 8 mpijob wait & mpiexec -n 7 mpijob sum 3; kill -9 $!; wait $!
echo "--- nothing is left"
# of the shell's cluster not the memory: which programs are kept there, and over how many pages the
# kernel's pieces lie, depends on what else runs
counts() {
	mpiexec -n 4 --map scatter counts > $1.raw
	sort $1.raw | sed '/cluster 0/s/free [0-9]* //; /cluster 0/s/pieces [0-9]* //' > $1
}
begin_and_end() {
	i=0
	while [ $i -lt $1 ]; do
		mpiexec -n 12 hello > /dev/null || echo "job $i fails"
		i=$((i + 1))
	done
	for i in 1 2 3 4 5 6; do
		mpiexec -n 12 mpijob wait &
		kill -9 $!
		wait $!
	done
	for i in 1 2 3; do mpiexec -n 20 mpijob abort $i 1 2> /dev/null; done
	mpiexec -n 12 mpijob wait & sleep 0.2; kill -9 $!; wait $!
	sleep 0.3
}
# the servers keep the programs that were started last
for i in 1 2; do begin_and_end 2 2> /dev/null; counts a; done
begin_and_end 50 2> /dev/null; counts b
cmp a b && echo balanced || cat a b
