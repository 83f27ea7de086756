#!/bin/sh
# SPDX-License-Identifier: MIT
# install-player.sh [DIR] - put the console's players into DIR (objs/player): FLV and HLS in browsers
# that do not play them by themselves.
#
# They come from npm, in the versions of 3rdparty/player/package-lock.json, checked against the
# sums in there; nothing of them is run here. Without them the console lists all the same.
set -eu

dir=${1:-objs/player}
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v npm > /dev/null 2>&1; then
    echo "install-player.sh: no npm here (Debian: apt-get install npm); the console has no player" >&2
    exit 1
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here/player/package.json" "$here/player/package-lock.json" "$tmp/"
(cd "$tmp" && npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error > log 2>&1) || {
    cat "$tmp/log" >&2
    exit 1
}
mkdir -p "$dir"
# Their maps are for those who work on them.
for f in mpegts.js/dist/mpegts.js hls.js/dist/hls.light.min.js; do
    name=${f%%/*}
    sed '/^\/\/# sourceMappingURL=/d' "$tmp/node_modules/$f" > "$dir/$name"
    cp "$tmp/node_modules/$name/LICENSE" "$dir/$name.LICENSE"
done
echo "players for the console: $dir"
