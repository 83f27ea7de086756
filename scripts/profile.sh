#!/bin/sh
# SPDX-License-Identifier: MIT
# profile.sh cpu|heap|leaks|perf [SECONDS [LOAD]] - builds the variant, runs a load, and writes a report.
#
#   cpu     gperftools' CPU profiler (--gperf=on --gcp=on): flat profile, graph, flame graph
#   heap    gperftools' heap profiler (--gperf=on --gmp=on): memory in use and allocations by caller
#   leaks   gperftools' heap checker (--gperf=on --gmc=on): leaks by caller
#   perf    perf record with call graphs, on a release build, including the kernel
#
# SECONDS is the duration of the load (20). LOAD is one of
#   play      one publisher, PLAYERS players (500)
#   rtsp      the same with RTSP players; RTSP_OPTIONS="--udp" for UDP
#   publish   PUBLISHERS publishers (200), no players
#   both      play and publish (default)
#   churn     both, with sessions that end at random after 2 s and start again
#
# Environment: PLAYERS, PUBLISHERS, INPUT (doc/source.flv), VHOST (lines of configuration for the
# vhost, such as "play { mw_latency 0; }"), OUT (objs/profile/cpu-both, ...), OBJS (objs), NICE (0).
set -eu

cd "$(dirname "$0")/.."
kind=${1:-} seconds=${2:-20} load=${3:-both}
objs=${OBJS:-objs} input=${INPUT:-doc/source.flv}

usage() {
    sed -n '3,/^set -eu/p' scripts/profile.sh | sed '$d; s/^# \{0,1\}//'
    exit 2
}

case $kind in
cpu) variant=gcp switches="--gperf=on --gcp=on" ;;
heap) variant=gmp switches="--gperf=on --gmp=on" ;;
leaks) variant=gmc switches="--gperf=on --gmc=on" ;;
perf) variant=perf switches="" ;;
*) usage ;;
esac
case $seconds in
'' | *[!0-9]* | 0*) usage ;;
esac
churn= player=sb_rtmp_load options=
case $load in
rtsp) players=${PLAYERS:-500} publishers=1 player=sb_rtsp_load options=${RTSP_OPTIONS:-} ;;
play) players=${PLAYERS:-500} publishers=1 ;;
publish) players=0 publishers=${PUBLISHERS:-200} ;;
both) players=${PLAYERS:-500} publishers=${PUBLISHERS:-200} ;;
churn) players=${PLAYERS:-100} publishers=${PUBLISHERS:-20} churn="--churn 2 -d 0.2 -e 0.2" ;;
*) usage ;;
esac
if [ "$kind" = perf ] && ! command -v perf > /dev/null 2>&1; then
    echo "profile.sh: no perf; 3rdparty/install.sh profile installs it" >&2
    exit 1
fi

out=${OUT:-$objs/profile/$kind-$load}
built=$objs/$variant
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)

# ---- build the variant in its folder, and the load tools in the normal one

say() {
    echo "profile.sh: $*"
}

say "building $built $switches"
{
    # shellcheck disable=SC2086
    ./configure --objs="$built" $switches && nice make OBJS="$built" "$built/srs" &&
        { [ -f "$objs/config.mk" ] || ./configure --objs="$objs"; } &&
        nice make OBJS="$objs" "$objs/sb_rtmp_publish" "$objs/$player"
} > "$out/build.log" 2>&1 || {
    tail -n 20 "$out/build.log" >&2
    exit 1
}
srs=$(pwd)/$built/srs
tools=$(cd "$objs" && pwd)
case $input in
/*) ;;
*) input=$(pwd)/$input ;;
esac
root=$(pwd)
pprof=$root/$built/pprof

# ---- run in the folder of the report, where the profilers write

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free_port) rtsp= rtsp_host= watch=
if [ "$load" = rtsp ]; then
    watch=rtsp://127.0.0.1:$(free_port)
    rtsp="rtsp_server { enabled on; listen ${watch#rtsp://}; udp_port $(($(free_port) / 2 * 2)); }"
    rtsp_host="rtsp { enabled on; }"
fi
cd "$out"
cat > srs.conf << END
listen 127.0.0.1:$port;
max_connections $((players + publishers * 2 + 100));
daemon off; srs_log_tank console; pid srs.pid;
$rtsp
vhost __defaultVhost__ {
    $rtsp_host
    ${VHOST:-}
}
END
pids=
finish() {
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2> /dev/null || true
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

if [ "$kind" = leaks ]; then
    export HEAPCHECK="${HEAPCHECK:-normal}" PPROF_PATH="$pprof"
fi
: > srs.log
nice -n "${NICE:-0}" "$srs" -c srs.conf > srs.log 2> srs.err &
server=$!
pids=$server
n=0
until grep -q 'listening on' srs.log; do
    n=$((n + 1))
    [ $n -lt 100 ] && kill -0 $server 2> /dev/null || {
        cat srs.log srs.err >&2
        say "the server does not start" >&2
        exit 1
    }
    sleep 0.1
done
unset HEAPCHECK

url=rtmp://127.0.0.1:$port/live/s
watch=${watch:-rtmp://127.0.0.1:$port}/live/s
last=$seconds
[ "$kind" != heap ] || last=$((seconds + 2)) # players are still connected when the server ends
say "$publishers publishers, $players players, $seconds s"
# shellcheck disable=SC2086
"$tools/sb_rtmp_publish" -r "$url{i}" -c "$publishers" -i "$input" -s 1 $churn \
    --duration "$((last + 2))" > publish.txt 2>&1 &
loads=$!
pids="$pids $!"
sleep 2
if [ "$players" -gt 0 ]; then
    # shellcheck disable=SC2086
    "$tools/$player" -r "${watch}0" -c "$players" -s 1 $churn $options --duration "$last" \
        > play.txt 2>&1 &
    loads="$loads $!"
    pids="$pids $!"
fi
if [ "$kind" = perf ]; then # hardware counters if available, otherwise the clock
    event=cycles
    perf stat -e cycles true 2>&1 | grep -q 'not supported' && event=cpu-clock
    skip=$((seconds > 6 ? 3 : 1))
    sleep $skip # until all clients have connected
    perf record -q -e $event -F 997 --call-graph fp -p $server -o perf.data -- \
        sleep $((seconds - skip - 1)) 2> perf.err || {
        cat perf.err >&2
        say "set /proc/sys/kernel/perf_event_paranoid to 1 or less, or run as root" >&2
        exit 1
    }
fi
code=0
if [ "$kind" = heap ]; then # memory in use while clients are connected
    sleep "$seconds"
    kill -INT $server
    wait $server || code=$?
    # shellcheck disable=SC2086
    kill -INT $loads 2> /dev/null || true
fi
for p in $loads; do
    wait "$p" || true
done
if [ "$kind" != heap ]; then
    kill -INT $server
    wait $server || code=$?
fi
pids=

# ---- report

flat() { # from collapsed stacks or perf script
    "$root/scripts/flame.py" --text "$1" > flat.txt
    "$root/scripts/flame.py" --title "srs, $kind, $load" "$1" > flame.svg
}

graph() { # graph by pprof
    command -v dot > /dev/null 2>&1 || {
        say "no graph.svg without graphviz; 3rdparty/install.sh profile installs it"
        return
    }
    "$pprof" --svg "$srs" "$@" > graph.svg 2> /dev/null
}

case $kind in
cpu)
    "$pprof" --text --cum "$srs" gperf.srs.gcp > cumulative.txt 2> /dev/null
    "$pprof" --collapsed "$srs" gperf.srs.gcp > stacks.txt 2> /dev/null
    flat stacks.txt
    graph gperf.srs.gcp
    report=flat.txt
    ;;
heap)
    last=$(ls gperf.srs.gmp.*.heap | tail -n 1)
    "$pprof" --text "$srs" "$last" > held.txt 2> /dev/null
    "$pprof" --text --alloc_space "$srs" "$last" > taken.txt 2> /dev/null
    graph "$last"
    report=held.txt
    ;;
leaks) report=srs.err ;;
perf)
    perf script -i perf.data > stacks.txt 2> /dev/null
    flat stacks.txt
    report=flat.txt
    ;;
esac
echo
head -n "${LINES_SHOWN:-20}" $report
echo
rm -f build.log srs.pid srs.id
say "in $out:" ./*
[ "$kind" = leaks ] || [ $code = 0 ] || say "the server ended with status $code"
exit $code
