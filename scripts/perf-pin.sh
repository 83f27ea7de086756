#!/bin/sh
# SPDX-License-Identifier: MIT
# perf-pin.sh [--dry-run] [--nice N] CPU [PID] - let srs run on one processor only, and first.
#
#   --dry-run   say what would be done, change nothing
#   --nice N    its priority, -20 (first) .. 19 (last); -10 is a good one for a machine that does
#               other things too
#
# Its coroutines are one thread: more than one processor helps it nothing, and one of its own keeps
# its memory in that one's caches. The thread that writes the log may go where it wants. PID is that
# of the one srs that runs, when not given. To undo: CPU as 0-N.
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
*[!0-9,-]*) die "$cpu: a processor, as 3, or a list" ;;
esac
case $nice in
-[0-9] | -1[0-9] | -20 | [0-9] | 1[0-9] | '') ;;
*) die "--nice $nice: -20 to 19" ;;
esac
if [ -z "$pid" ]; then
    pid=$(pgrep -x srs || true)
    case $pid in
    '') die "no srs runs" ;;
    *[!0-9]*) die "several run: $(echo "$pid" | tr '\n' ' '); say which" ;;
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

# The first thread of the process runs the coroutines; -p of one thread is that thread alone.
do_it taskset -cp "$cpu" "$pid"
[ -z "$nice" ] || do_it renice -n "$nice" -p "$pid"
