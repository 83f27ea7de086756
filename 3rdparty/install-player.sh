#!/bin/sh
# SPDX-License-Identifier: MIT
# install-player.sh [--maybe] [DIR] - put the players of the server's pages into DIR (objs/player):
# FLV, HLS and DASH in browsers that do not play them by themselves.
#
# They come from npm, in the versions of 3rdparty/player/package-lock.json, checked against the
# sums in there; nothing of them is run here. With --maybe it is no fault when they are not to be
# had: one line says so, and the pages say it too.
set -eu

maybe=
[ "${1:-}" != --maybe ] || { maybe=1; shift; }
dir=${1:-objs/player}
here=$(cd "$(dirname "$0")" && pwd)
versions=$(cksum < "$here/player/package-lock.json")

is_complete() { [ "$(cat "$1/versions" 2> /dev/null)" = "$versions" ]; }

without() { # why
    echo "players of the web pages: none, $1; the pages work, and play HLS where the browser does" \
        "by itself. To get them: make player" >&2
    [ -n "$maybe" ] && exit 0 || exit 1
}

if is_complete "$dir"; then
    exit 0
elif [ -n "$maybe" ] && is_complete objs/player; then # of another build
    mkdir -p "$dir"
    cp objs/player/* "$dir/"
    exit 0
fi
command -v npm > /dev/null 2>&1 || without "there is no npm (Debian: apt-get install npm)"
# A machine without network is not kept waiting at every build.
if [ -n "$maybe" ] && [ -f "$dir/tried" ]; then
    without "npm could not get them"
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here/player/package.json" "$here/player/package-lock.json" "$tmp/"
mkdir -p "$dir"
[ -z "$maybe" ] || echo "getting the players of the web pages from npm"
(cd "$tmp" && timeout 180 npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error \
    --fetch-retries=1 > log 2>&1) || {
    [ -n "$maybe" ] || cat "$tmp/log" >&2
    touch "$dir/tried"
    without "npm could not get them"
}
# Their maps are for those who work on them.
put() { # package, file, name
    sed '/^\/\/# sourceMappingURL=/d' "$tmp/node_modules/$1/$2" > "$dir/$3"
    cat "$tmp/node_modules/$1"/LICENSE* > "$dir/$3.LICENSE"
}
put mpegts.js dist/mpegts.js mpegts.js
put hls.js dist/hls.light.min.js hls.js
put dashjs dist/dash.mediaplayer.min.js dash.js
cat "$tmp/node_modules/dashjs/dist/dash.mediaplayer.min.js.LICENSE.txt" >> "$dir/dash.js.LICENSE"
rm -f "$dir/tried"
echo "$versions" > "$dir/versions"
echo "players of the web pages: $dir"
