#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""opus.py VIDEO.mp4 AUDIO.mp4 OUT.flv - H.264 and Opus in enhanced RTMP, which ffmpeg of Debian 12 cannot
write. A separate program, because it uses modules of the tests whose names collide with those of the bench."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test" / "e2e"))
import flv  # noqa: E402
import flvgen  # noqa: E402


def main():
    video, sound, out = sys.argv[1:]
    tags = [flvgen.track_tags(flvgen.read_mp4(video, "h264"), style="legacy"),
            flvgen.track_tags(flvgen.read_mp4(sound, "opus"))]
    heads = [t for of in tags for t in of if not t.frame]
    body = sorted((t for of in tags for t in of if t.frame), key=lambda t: t.ts)
    flv.write(out, [flvgen.metadata(width=640.0, height=360.0), *heads, *body])


if __name__ == "__main__":
    main()
