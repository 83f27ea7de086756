#!/bin/sh
# SPDX-License-Identifier: MIT
# perf-pin.sh [--dry-run] [--nice N] CPU [PID] - runs srs on one CPU only, with high priority.
#
#   --dry-run   print the commands, change nothing
#   --nice N    priority, -20 (highest) .. 19 (lowest); use -10 on a machine with other tasks
#
# One thread runs all coroutines of a worker, so it does not profit from several CPUs, and a CPU of its own
# keeps its memory in the cache. The log writer's thread is not pinned. PID: default is the only running srs.
# To undo: CPU 0-N.
set -eu

usage() {
    sed -n '3,/^set -eu/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
}

dry= nice=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry=1 ;;
    --nice)
        [ $# -gt 1 ] || usage
        nice=$2
        shift
        ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# = 1 ] || [ $# = 2 ] || usage
cpu=$1 pid=${2:-}

die() {
    echo "perf-pin.sh: $*" >&2
    exit 1
}

case $cpu in
*[!0-9,-]*) die "$cpu: expected a CPU such as 3, or a list" ;;
esac
case $nice in
-[0-9] | -1[0-9] | -20 | [0-9] | 1[0-9] | '') ;;
*) die "--nice $nice: expected -20 to 19" ;;
esac
if [ -z "$pid" ]; then
    pid=$(pgrep -x srs || true)
    case $pid in
    '') die "srs does not run" ;;
    *[!0-9]*) die "several srs run: $(echo "$pid" | tr '\n' ' '); pass a PID" ;;
    esac
fi
[ -d "/proc/$pid" ] || die "no process $pid"

do_it() {
    if [ -n "$dry" ]; then
        echo "would run: $*"
    else
        "$@"
    fi
}

# The first thread of the process runs the coroutines; -p with its id applies to this thread only.
do_it taskset -cp "$cpu" "$pid"
[ -z "$nice" ] || do_it renice -n "$nice" -p "$pid"
