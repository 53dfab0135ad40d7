# What ./atoll shell runs: dash and the tools of toybox, as they are.
mkdir -p a/b; echo x > a/b/c; cp a/b/c a/d; mv a/d a/e; find a; rm -r a; ls a
touch t; test -f t && echo "a file"
seq 1 100 | sort -rn | head -n 3
echo "a b c" | sed s/b/B/ | grep -c B
for i in 1 2 3; do echo $i; done | tail -n 1
x=$(echo inner; exit 3); echo "$x $?"
(sleep 0.1; echo background) & wait; echo waited
(exit 5) & wait $!; echo "status $?"
printf '%s\n' one two three | while read line; do echo "[$line]"; done
cat /nonexistent
cat << X
here $((6 * 7))
X
echo 1 2 3 | xargs -n 1 echo n
cmp /bin/ls /bin/cat && echo "one program"
cd /bin; pwd; cd -
f() { for n in $(seq 1 $1); do true | false || echo "round $n"; done; }; f 10
trap 'echo trapped' EXIT
cat t t > both; wc -c < both; echo more >> both; cat both
ls /bin | grep -x -e ls -e sh -e toybox
sh -c 'echo $0 $1; kill -9 $$' name arg; echo "status $?"
id; uname -sm
exit 7
