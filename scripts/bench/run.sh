#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh quick|full - measure our server beside nginx with its RTMP module; see doc/performance.md.
#   BENCH="play publish"   only these cases (bench.py --list tells them)
#   OBJS=DIR               where the programs are and the results go (objs)
cd "$(dirname "$0")/../.." || exit 1
exec python3 scripts/bench/bench.py "$@"
