#!/usr/bin/env bash
# One of four ranks fails: does everybody end in time, with the right exit code, naming the rank?
# usage: mpi_faults.sh MPI_FAULT HOW MPIRUN…
set -u
program=$1 how=$2
shift 2

timeout_ms=1500
limit=12        # seconds: start, timeout, a second that mpirun gives its children, a busy machine
ranks=4
# What the job exits with, what some rank says, and how many ranks say so at least.
case $how in
  well)   code=0 says='' count=0 ;;
  throws) code=1 says='rank 1 failed: the disk is full' count=1 ;;
  refuses) code=2 says='rank 1 failed: tile 0 is not in 1..4' count=1 ;;
  exits)  code=7 says='Process name: .*,1\],1\]' count=1 ;;
  killed) code=137 says='process rank 1 with PID .* exited on signal 9' count=1 ;;
  sleeps | silent)
    code=3 says='rank 1 did not come to #21 all_reduce float32 \[300000\] within 1500 ms' count=1 ;;
  differs)
    code=3 count=1
    says='rank 0 issues #21 all_reduce float32 \[300000\], rank 1 issues #21 all_reduce float32 \[3\]' ;;
  leaves) code=3 says='rank 1 has ended and will not come to #21 all_reduce' count=1 ;;
  terminated) code=3 says='the launcher is ending this job (SIGTERM)' count=1 ;;
  unnoticed)  # a launcher that lets the others run on; what it exits with is its own affair
    code=any says='rank 1 did not come to #21 all_reduce float32 \[300000\] within 1500 ms' count=3 ;;
  *) echo "no such fault: $how"; exit 2 ;;
esac
launcher=("$@")
fault=$how
if [ "$how" = unnoticed ]; then
  launcher=("${launcher[0]}" --mca orte_abort_on_non_zero_status 0 "${launcher[@]:1}")
  fault=exits
fi

start=$(date +%s%N)
output=$(timeout --kill-after=5 60 "${launcher[@]}" $ranks "$program" "$fault" $timeout_ms 2>&1)
got=$?
took=$((($(date +%s%N) - start) / 1000000))
said=$(grep -c -- "$says" <<<"$output")

echo "$output"
echo "mpi_faults: $how: exit code $got (expected $code) after $took ms, said $said times"
failed=0
[ "$code" = any ] || [ "$got" = "$code" ] || { echo "FAILED: exit code"; failed=1; }
[ "$took" -lt $((limit * 1000)) ] || { echo "FAILED: not within $limit s"; failed=1; }
[ "$said" -ge "$count" ] || { echo "FAILED: nobody says: $says"; failed=1; }
exit $failed
