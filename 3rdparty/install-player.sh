#!/bin/sh
# SPDX-License-Identifier: MIT
# install-player.sh [--copy] [DIR] - installs the optional players of the web pages to DIR (objs/player):
# mpegts.js, hls.js and dash.js for FLV, HLS and DASH. The pages' own player does not need them.
#
# They come from npm, in the versions and with the checksums of 3rdparty/player/package-lock.json. No code of
# the packages runs here. --copy uses the files in objs/player for another build, without a network.
set -eu

copy=
[ "${1:-}" != --copy ] || { copy=1; shift; }
dir=${1:-objs/player}
here=$(cd "$(dirname "$0")" && pwd)
versions=$(cksum < "$here/player/package-lock.json")

is_complete() { [ "$(cat "$1/versions" 2> /dev/null)" = "$versions" ]; }

without() { # why
    echo "install-player.sh: mpegts.js, hls.js and dash.js are not installed, $1. The pages work without them" >&2
    exit 1
}

if is_complete "$dir"; then
    exit 0
elif is_complete objs/player; then # from another build
    mkdir -p "$dir"
    cp objs/player/* "$dir/"
    exit 0
fi
[ -z "$copy" ] || exit 0
command -v npm > /dev/null 2>&1 || without "there is no npm (Debian: apt-get install npm)"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here/player/package.json" "$here/player/package-lock.json" "$tmp/"
(cd "$tmp" && timeout 180 npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error \
    --fetch-retries=1 > log 2>&1) || {
    cat "$tmp/log" >&2
    without "npm could not get them"
}
mkdir -p "$dir"
# Source maps are only useful to develop the players.
put() { # package, file, name
    sed '/^\/\/# sourceMappingURL=/d' "$tmp/node_modules/$1/$2" > "$dir/$3"
    cat "$tmp/node_modules/$1"/LICENSE* > "$dir/$3.LICENSE"
}
put mpegts.js dist/mpegts.js mpegts.js
put hls.js dist/hls.light.min.js hls.js
put dashjs dist/dash.mediaplayer.min.js dash.js
cat "$tmp/node_modules/dashjs/dist/dash.mediaplayer.min.js.LICENSE.txt" >> "$dir/dash.js.LICENSE"
echo "$versions" > "$dir/versions"
echo "optional players of the web pages: $dir"
