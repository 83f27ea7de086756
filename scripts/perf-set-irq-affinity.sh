#!/bin/sh
# SPDX-License-Identifier: MIT
# perf-set-irq-affinity.sh [--dry-run] [--rps] INTERFACE CPUS - distributes the interrupts of a network
# interface over these CPUs, one queue after the other.
#
#   --dry-run   print the values and files, change nothing
#   --rps       also distribute received packets over these CPUs (receive packet steering), for
#               interfaces with fewer queues than CPUs
#
# CPUS is a list such as "2,3" or "4-7", without the CPU to which srs is pinned (perf-pin.sh). Stop
# irqbalance first, because it moves interrupts again. To undo: all CPUs, 0-N.
set -eu

usage() {
    sed -n '3,/^set -eu/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
}

dry= rps=
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry=1 ;;
    --rps) rps=1 ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# = 2 ] || usage
interface=$1 cpus=$2
sys=${SYSFS:-/sys}/class/net/$interface
interrupts=${PROCFS:-/proc}/interrupts

die() {
    echo "perf-set-irq-affinity.sh: $*" >&2
    exit 1
}

[ -d "$sys" ] || die "no interface $interface; available: $(ls "${sys%/*}" | tr '\n' ' ')"
case $cpus in
'' | *[!0-9,-]* | -* | ,* | *- | *,) die "$cpus: expected a list of CPUs such as 2,3 or 4-7" ;;
esac

# 2,4-6 -> 2 4 5 6
list=
for part in $(echo "$cpus" | tr , ' '); do
    from=${part%-*} to=${part#*-}
    [ "$from" -le "$to" ] || die "$part: expected the lower CPU first"
    while [ "$from" -le "$to" ]; do
        [ -d "${SYSFS:-/sys}/devices/system/cpu/cpu$from" ] || die "no CPU $from"
        list="$list $from"
        from=$((from + 1))
    done
done

put() { # value, file
    if [ -n "$dry" ]; then
        echo "would write $1 to $2"
    elif echo "$1" > "$2" 2> /dev/null; then
        echo "wrote $1 to $2"
    else
        echo "cannot write $1 to $2$([ "$(id -u)" = 0 ] || echo ' (not root)')" >&2
        failed=1
    fi
}
failed=0

# Interrupts of its device, or those with its name or the name of its virtio device.
irqs=
if [ -d "$sys/device/msi_irqs" ]; then
    irqs=$(ls "$sys/device/msi_irqs" | sort -n)
fi
if [ -z "$irqs" ]; then
    device=$(basename "$(readlink -f "$sys/device" 2> /dev/null || echo none)")
    irqs=$(awk -v a="$interface" -v b="$device" '
        { n = $1; sub(":", "", n) }
        n ~ /^[0-9]+$/ && $NF !~ /-config$/ { for (i = 2; i <= NF; i++)
            if ($i == a || $i == b || index($i, a "-") == 1 || index($i, b "-") == 1) { print n; break } }
        ' "$interrupts")
fi
[ -n "$irqs" ] || [ -n "$rps" ] || die "$interface has no interrupts (if it is virtual, try --rps)"
if pgrep -x irqbalance > /dev/null 2>&1; then
    echo "irqbalance is running and will move them again: systemctl stop irqbalance" >&2
fi

# shellcheck disable=SC2086
set -- $list
for irq in $irqs; do
    [ -d "${PROCFS:-/proc}/irq/$irq" ] || continue
    put "$1" "${PROCFS:-/proc}/irq/$irq/smp_affinity_list"
    first=$1
    shift
    set -- "$@" "$first"
done

if [ -n "$rps" ]; then
    # The mask consists of 32-bit words in hexadecimal, highest first: f0000000,00000001
    mask=$(echo "$list" | awk '{
        for (i = 1; i <= NF; i++) { w = int($i / 32); bits[w] += 2 ^ ($i % 32); if (w > top) top = w }
        for (w = top + 0; w >= 0; w--) printf "%s%0" (w == top ? "" : "8") "x", (w == top ? "" : ","), bits[w]
        print "" }')
    for q in "$sys"/queues/rx-*/rps_cpus; do
        put "$mask" "$q"
    done
fi
exit $failed
