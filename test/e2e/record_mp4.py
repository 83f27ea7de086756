#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the MP4 files of test/data with ffmpeg, and next to each a list of what ffprobe finds in it.

record_mp4.py test/data. A line of a list is a sample: v or a, its position in the file, its size, decoding and presentation time in
1/90000 s, and whether it is a key frame."""
import fractions
import json
import subprocess
import sys
from pathlib import Path

PICTURE = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=3"]
TONE = ["-f", "lavfi", "-i", "sine=frequency=500:sample_rate=16000:duration=3"]
H264 = ["-c:v", "libx264", "-crf", "40", "-g", "10", "-bf", "2"]
H265 = ["-c:v", "libx265", "-crf", "40", "-x265-params", "keyint=10:info=0:log-level=none"]
VP9 = ["-c:v", "libvpx-vp9", "-crf", "60", "-b:v", "0", "-g", "10"]
AAC = ["-c:a", "aac", "-b:a", "16k"]
OPUS = ["-c:a", "libopus", "-b:a", "8k"]
MP3 = ["-c:a", "libmp3lame", "-b:a", "8k"]


def flags(*names):
    return ["-movflags", "+".join(names)] if names else []


FILES = {
    "end.mp4": H264 + AAC,
    "front.mp4": H264 + AAC + flags("faststart"),
    "negative.mp4": H264 + AAC + flags("negative_cts_offsets"),
    "quicktime.mov": H264 + AAC,
    "hevc-opus.mp4": H265 + OPUS,
    "vp9-mp3.mp4": VP9 + MP3,
    "audio.m4a": ["-vn"] + AAC,
    "fragments.mp4": H264 + AAC + flags("frag_keyframe", "empty_moov"),
    "fragments-edits.mp4": H264 + AAC + flags("frag_keyframe", "delay_moov"),
    "fragments-behind.mp4": H264 + AAC + flags("frag_keyframe"),
    "fragments-frames.mp4": H264 + AAC + flags("frag_every_frame", "empty_moov"),
    "fragments-apart.mp4": H264 + AAC + flags("frag_keyframe", "empty_moov", "separate_moof"),
    "fragments-sidx.mp4": H264 + AAC + flags("dash", "global_sidx", "delay_moov")
    + ["-frag_duration", "700000"],
}


def samples(path):
    out = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_packets", "-show_streams",
                          path], check=True, capture_output=True, text=True).stdout
    found = json.loads(out)
    base = [fractions.Fraction(s["time_base"]) * 90000 for s in found["streams"]]
    for p in found["packets"]:
        times = [p[k] * base[p["stream_index"]] // 1 for k in ("dts", "pts")]
        key = "K" in p["flags"] and p["codec_type"] == "video"
        yield f"{p['codec_type'][0]} {p['pos']} {p['size']} {times[0]} {times[1]} {int(key)}\n"


if __name__ == "__main__":
    for name, options in FILES.items():
        at = Path(sys.argv[1]) / f"mp4-ffmpeg-5.1-{name}"
        subprocess.run(["ffmpeg", "-nostdin", "-y", "-loglevel", "error", *PICTURE, *TONE,
                        "-fflags", "+bitexact", "-flags", "+bitexact", *options, str(at)],
                       check=True)
        at.with_name(at.name + ".txt").write_text("".join(samples(at)))
