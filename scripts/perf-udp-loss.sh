#!/bin/sh
# SPDX-License-Identifier: MIT
# perf-udp-loss.sh [--dry-run] [--buffers BYTES] [SECONDS [TIMES]] - shows datagrams that this machine
# dropped because a socket buffer was full, and the sockets that dropped them.
#
#   --dry-run         print files and settings, do nothing
#   --buffers BYTES   first allow socket buffers of this size (needs root)
#
# Prints a line every SECONDS (5), TIMES times (endless): datagrams in and out, and drops on receiving (receive
# buffer full: the server was too slow for a moment) and on sending (send buffer full). The field
# loss=(r:N,s:N) in the server's log counts the same. Loss in the network is not included.
set -eu

usage() {
    sed -n '3,/^set -eu/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
}

dry= buffers=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry=1 ;;
    --buffers)
        [ $# -gt 1 ] || usage
        buffers=$2
        shift
        ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# -le 2 ] || usage
case ${1:-5}${2:-1}${buffers:-1} in
*[!0-9]*) usage ;;
esac
seconds=${1:-5} times=${2:-}
proc=${PROCFS:-/proc}

if [ -n "$buffers" ]; then
    for what in rmem wmem; do
        if [ -n "$dry" ]; then
            echo "would run: sysctl -w net.core.${what}_max=$buffers"
        else
            sysctl -w "net.core.${what}_max=$buffers"
        fi
    done
fi
if [ -n "$dry" ]; then
    echo "would read: $proc/net/snmp every $seconds s${times:+, $times times}"
    echo "would read: $proc/net/udp, $proc/net/udp6"
    echo "now: net.core.rmem_max=$(cat "$proc/sys/net/core/rmem_max") net.core.wmem_max=$(cat "$proc/sys/net/core/wmem_max")"
    exit 0
fi

# in, out, drops on receiving, drops on sending
counters() {
    awk '$1 == "Udp:" && !head { for (i = 2; i <= NF; i++) at[$i] = i; head = 1; next }
         $1 == "Udp:" { print $at["InDatagrams"], $at["OutDatagrams"], $at["RcvbufErrors"], $at["SndbufErrors"] }' \
        "$proc/net/snmp"
}

# inode and drops of each socket with drops
drops() {
    awk 'FNR > 1 && $NF > 0 { split($2, a, ":"); print $10, a[2], $NF }' "$proc/net/udp" "$proc/net/udp6" 2> /dev/null
}

old=$(counters)
n=0
while [ -z "$times" ] || [ $n -lt "$times" ]; do
    sleep "$seconds"
    new=$(counters)
    echo "$old $new" | awk -v at="$(date +%H:%M:%S)" '{
        printf "%s  in %d  out %d  lost when received %d, when sent %d\n", at, $5 - $1, $6 - $2, $7 - $3, $8 - $4 }'
    old=$new
    n=$((n + 1))
done
drops | while read -r inode port lost; do
    printf 'socket of port %d (inode %s) lost %s since it was opened\n' "0x$port" "$inode" "$lost"
done
