#!/bin/sh
# SPDX-License-Identifier: MIT
# make-source-flv.sh - creates doc/source.flv: 30 s of a test pattern and a tone, about 1 MB.
#
# H.264 main profile 640x360, 25 frames per second, a key frame every 2 s, no B-frames, which browsers cannot
# show over WebRTC. AAC 44.1 kHz stereo with a beep every second, to check synchronization of audio and video.
# "bitexact" keeps the versions of the tools out of the file.
#
# Usage: scripts/make-source-flv.sh [FILE [B]]     (default: doc/source.flv 0)
#   B      maximum consecutive B-frames; test/data/bframes.flv, the usual clip of tests, has 2 and b-pyramid
set -eu

out=${1:-$(dirname "$0")/../doc/source.flv} b_frames=${2:-0}

exec ffmpeg -hide_banner -loglevel warning -y \
    -f lavfi -i testsrc2=size=640x360:rate=25 \
    -f lavfi -i sine=frequency=220:beep_factor=4:sample_rate=44100 \
    -t 30 -fflags +bitexact \
    -c:v libx264 -preset slow -profile:v main -pix_fmt yuv420p -bf "$b_frames" -threads 1 \
    -b:v 220k -maxrate 260k -bufsize 520k -g 50 -keyint_min 50 -sc_threshold 0 -flags:v +bitexact \
    -c:a aac -b:a 40k -ac 2 -flags:a +bitexact \
    -map_metadata -1 -f flv "$out"
