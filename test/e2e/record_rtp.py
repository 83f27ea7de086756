#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records what ffmpeg sends as RTP: test/data/rtp-ffmpeg-VERSION-CODEC.rtp. Run from the top folder.

A file is a line "encoding clock type fmtp", then packets, each after a length of two bytes.

"""
import re
import socket
import struct
import subprocess
import sys
import tempfile

FFMPEG = ["ffmpeg", "-v", "error", "-y"]
VIDEO = ["-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-t", "1"]
SOUND = ["-f", "lavfi", "-i", "sine=r=48000", "-t", "1"]
CODECS = {
    "h264": ("mp4", VIDEO + ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12", "-bf", "3", "-x264-params", "slices=2"]),
    "h265": ("mp4", VIDEO + ["-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params", "keyint=12:log-level=none"]),
    "vp9": ("webm", VIDEO + ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-g", "12"]),
    "aac": ("mp4", SOUND + ["-c:a", "aac", "-b:a", "32k"]),
    "latm": ("mp4", SOUND + ["-c:a", "aac", "-b:a", "32k"]),
    "mp3": ("mp3", SOUND + ["-c:a", "libmp3lame", "-b:a", "32k", "-write_xing", "0"]),
    "opus": ("ogg", SOUND + ["-c:a", "libopus", "-b:a", "24k"]),
}


def record(codec, ext, encode, version):
    with tempfile.TemporaryDirectory() as tmp:
        source, sdp = f"{tmp}/a.{ext}", f"{tmp}/a.sdp"
        subprocess.run([*FFMPEG, *encode, source], check=True)
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 0))
        s.settimeout(2)
        latm = ["-rtpflags", "latm"] if codec == "latm" else []
        subprocess.run([*FFMPEG, "-re", "-i", source, "-c", "copy", "-strict", "experimental", "-f", "rtp", *latm,
                        "-sdp_file", sdp, f"rtp://127.0.0.1:{s.getsockname()[1]}?pkt_size=600"], check=True)
        packets = []
        try:
            while True:
                packets.append(s.recv(65536))
        except socket.timeout:
            pass
        text = open(sdp).read()
    m = re.search(r"a=rtpmap:(\d+) ([^/]+)/(\d+)", text) or [None, "14", "MPA", "90000"]
    fmtp = re.search(r"a=fmtp:\d+ (.*?)\s*$", text, re.M)
    with open(f"test/data/rtp-ffmpeg-{version}-{codec}.rtp", "wb") as f:
        f.write(f"{m[2]} {m[3]} {m[1]} {fmtp[1] if fmtp else ''}\n".encode())
        for p in packets:
            f.write(struct.pack(">H", len(p)) + p)


found = re.search(r"version (\d+\.\d+)", subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=True).stdout)
for name, (kind, args) in CODECS.items():
    if len(sys.argv) < 2 or name in sys.argv[1:]:
        record(name, kind, args, found[1])
