#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the MPEG-TS files of test/data with ffmpeg and GStreamer, and next to each a list of what ffprobe finds.

record_ts.py test/data. A line of a list is a frame: v or a, decoding and presentation time in 1/90000 s, whether it is a key frame,
and size and hash (FNV-1a) of its form in a stream's log: units after lengths without delimiters, fillers and parameter sets; raw
audio frames."""
import fractions
import json
import subprocess
import sys
from pathlib import Path

PICTURE = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=3"]
TONE = ["-f", "lavfi", "-i", "sine=frequency=500:sample_rate=16000:duration=3"]
H264 = ["-c:v", "libx264", "-crf", "40", "-g", "10", "-bf", "2"]
H265 = ["-c:v", "libx265", "-crf", "40", "-x265-params", "keyint=10:info=0:log-level=none"]
AAC = ["-c:a", "aac", "-b:a", "16k"]
OPUS = ["-c:a", "libopus", "-b:a", "8k"]
MP3 = ["-c:a", "libmp3lame", "-b:a", "8k"]
LATM = AAC + ["-mpegts_flags", "latm"]

FFMPEG = {
    "h264-aac": H264 + AAC,
    "h265-opus": H265 + OPUS,
    "h264-mp3": H264 + MP3,
    "latm": ["-vn"] + LATM,
    "slices": ["-an"] + H264 + ["-x264-params", "slices=3"],
    "fields": ["-an"] + H264 + ["-flags", "+ildct+ilme"],
    "refresh": ["-an"] + H264 + ["-x264-params", "intra-refresh=1:keyint=10", "-bf", "0"],
    "open": ["-an"] + H264 + ["-x264-params", "open-gop=1"],
    # 2 s before the 33-bit timestamps wrap
    "wrap": H264 + AAC + ["-output_ts_offset", "95440.3", "-muxdelay", "0", "-muxpreload", "0"],
    "large": ["-c:v", "libx264", "-crf", "18", "-g", "10", "-vf", "scale=320:240,noise=alls=12", "-r", "1"] + AAC,
    "alone": ["-vn"] + AAC + ["-pes_payload_size", "0"],
}
VIDEO = "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=48,framerate=10/1 ! "
SOUND = "audiotestsrc num-buffers=46 samplesperbuffer=1024 ! audio/x-raw,rate=16000,channels=1 ! "
GSTREAMER = {
    "h264-aac": VIDEO + "x264enc key-int-max=10 bframes=2 quantizer=40 pass=quant ! h264parse ! m. " + SOUND
    + "avenc_aac bitrate=16000 ! aacparse ! m.",
    "h264-mp3": VIDEO + "x264enc key-int-max=10 tune=zerolatency ! m. " + SOUND + "lamemp3enc ! mpegaudioparse ! m.",
    "h265": VIDEO + "x265enc key-int-max=10 ! h265parse ! m.",
    "opus": SOUND.replace("rate=16000", "rate=48000") + "opusenc ! opusparse ! m.",
}
LEFT_OUT = {"h264": (7, 8, 9, 12), "hevc": (32, 33, 34, 35, 38)}


def fnv(data):
    h = 0xcbf29ce484222325
    for b in data:
        h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    return h


def units(data):
    """Yields the units of an Annex B stream."""
    at = data.find(b"\0\0\1")
    while at >= 0:
        end = data.find(b"\0\0\1", at + 3)
        unit = data[at + 3:end if end >= 0 else len(data)].rstrip(b"\0")
        if unit:
            yield unit
        at = end


def payload(codec, data):
    if codec in LEFT_OUT:
        kinds = ((u, u[0] & 0x1f if codec == "h264" else u[0] >> 1 & 0x3f) for u in units(data))
        return b"".join(len(u).to_bytes(4, "big") + u for u, t in kinds if t not in LEFT_OUT[codec])
    if codec == "aac" and data[0] == 0xff:
        return data[7 if data[1] & 1 else 9:]
    return data


def hexdump(text):
    return bytes.fromhex("".join(line[10:49].replace(" ", "") for line in text.splitlines()))


def first_of_each(path):
    """Indexes of the first video and the first audio track of the first program of the PAT."""
    found = json.loads(subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_programs", path], check=True,
                                      capture_output=True, text=True).stdout)
    streams = found["programs"][0]["streams"]
    return [next(s["index"] for s in streams if s["codec_type"] == kind) for kind in ("video", "audio")]


def probe(path, only=None):
    out = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_packets", "-show_streams", "-show_data",
                          path], check=True, capture_output=True, text=True).stdout
    found = json.loads(out)
    streams = {s["index"]: s for s in found["streams"]}
    for p in found["packets"]:
        if only and p["stream_index"] not in only:
            continue
        s = streams[p["stream_index"]]
        base = fractions.Fraction(s["time_base"]) * 90000
        times = [p.get(k, 0) * base // 1 for k in ("dts", "pts")]
        yield s["codec_type"][0], times, "K" in p["flags"], payload(s["codec_name"], hexdump(p["data"]))


def frames(path, raw=None, only=None):
    """ffprobe returns LATM elements undecoded: the raw frames are those of the same media in MP4."""
    raw = raw and [f[3] for f in probe(raw)]
    for i, (kind, times, key, data) in enumerate(probe(path, only)):
        if raw:
            data = raw[i]
        yield f"{kind} {times[0]} {times[1]} {int(key and kind == 'v')} {len(data)} {fnv(data):016x}\n"


def open_end(lines):
    """The same with further data after it: whether the last frame is complete depends on data that follows."""
    last = max((i for i, line in enumerate(lines) if line.startswith("v")), default=None)
    return [f"?{line}" if i == last else line for i, line in enumerate(lines)] + ["-- 0 0 0 0 0\n"]


def write_list(at, raw=None, only=None):
    Path(f"{at}.txt").write_text("".join(frames(at, raw, only)))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, options in FFMPEG.items():
        at = folder / f"ts-ffmpeg-5.1-{name}.ts"
        quiet = ["ffmpeg", "-nostdin", "-y", "-loglevel", "error"]
        exact = ["-fflags", "+bitexact", "-flags:a", "+bitexact"]
        subprocess.run([*quiet, *PICTURE, *TONE, *exact, *options, "-f", "mpegts", str(at)], check=True)
        mp4 = None
        if "latm" in name:
            mp4 = Path("/tmp") / "record-ts.m4a"
            subprocess.run([*quiet, *PICTURE, *TONE, *exact, "-vn", *AAC, str(mp4)], check=True)
        write_list(at, mp4)
        if mp4:
            mp4.unlink()
    for name, line in GSTREAMER.items():
        at = folder / f"ts-gstreamer-1.22-{name}.ts"
        subprocess.run(["gst-launch-1.0", "-q", *f"mpegtsmux name=m alignment=7 ! filesink location={at} {line}".split()],
                       check=True)
        write_list(at)
