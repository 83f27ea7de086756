#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - installs missing packages, builds, and starts the server in the foreground.
#
# Needs only a shell and the package manager. OBJS: build folder (objs).
set -eu
cd "$(dirname "$0")/.."

objs=${OBJS:-objs}
3rdparty/install.sh build
[ -f "$objs/config.mk" ] || ./configure --objs="$objs" > /dev/null
"${MAKE:-make}" --no-print-directory OBJS="$objs" server
srs=$objs/srs conf=conf/srs.conf
case $srs in
/*) ;;
*) srs=./$srs ;;
esac
port=$(sed -n 's/^listen[[:space:]]\{1,\}\([0-9]\{1,\}\).*/\1/p' $conf | head -n 1)
url=rtmp://127.0.0.1${port:+:$port}/live/livestream
case $url in
*:1935/*) url=rtmp://127.0.0.1/live/livestream ;;
esac
cat << END

The server starts now. In another terminal:

  publish    ffmpeg -re -stream_loop -1 -i doc/source.flv -c copy -f flv $url
  look       http://127.0.0.1:8080/ in a browser: what is on, a player, where to publish to
  play       ffplay $url          (or VLC: Media, Open Network Stream)
             ffplay http://127.0.0.1:8080/live/livestream.flv
  log        here
  load tools make (objs/sb_*)
  stop       Ctrl+C

END
SRS_DAEMON=off SRS_LOG_TANK=console exec "$srs" -c $conf
