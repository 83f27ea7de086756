#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh quick|full - measure Sluice and nginx with its RTMP module; see doc/performance-method.md.
#   BENCH="play publish"   only these cases (bench.py --list tells them)
#   BENCH_BEFORE=PROGRAM   another build of the server: each case by it, too, and a table of both
#   BENCH_TURNS=3          so often, one case after the other: medians, and from where to where
#   OBJS=DIR               where the programs are and the results go (objs)
cd "$(dirname "$0")/../.." || exit 1
exec python3 scripts/bench/bench.py "$@"
