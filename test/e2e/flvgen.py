# SPDX-License-Identifier: MIT
"""Media that Debian 12's ffmpeg can encode but not put into RTMP: HEVC, AV1, VP9, Opus as enhanced RTMP tags, version 1 and 2
(several tracks, ModEx), and HEVC with the old codec id 12.

The frames come from MP4 files written by ffmpeg; ffprobe reports the position of each."""
import json
import os
import struct

from flv import AUDIO, DATA, VIDEO, Tag
import amf
from tools import run

SEQ_START, CODED, SEQ_END, CODED_X, METADATA = 0, 1, 2, 3, 4
VIDEO_MULTI, AUDIO_MULTI, MODEX = 6, 5, 7
ONE_TRACK, MANY_TRACKS, MANY_CODECS = 0, 1, 2

PICTURE = ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25"]
TONE = ["-f", "lavfi", "-i", "sine=frequency=330:sample_rate=48000"]
RECIPES = {
    "h264": [*PICTURE, "-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "25"],
    "hevc": [*PICTURE, "-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1",
             "-x265-params", "keyint=25:min-keyint=25:scenecut=0:bframes=2:log-level=error"],
    "av1": [*PICTURE, "-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime",
            "-b:v", "200k", "-g", "25", "-row-mt", "1"],
    "vp9": [*PICTURE, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
            "-b:v", "200k", "-g", "25"],
    "opus": [*TONE, "-c:a", "libopus", "-b:a", "32k"],
    "aac": [*TONE, "-c:a", "aac", "-b:a", "32k"],
    "mp3": [*TONE, "-c:a", "libmp3lame", "-b:a", "64k"],
}
CONFIG_BOX = {"h264": b"avcC", "hevc": b"hvcC", "av1": b"av1C", "vp9": b"vpcC", "opus": b"dOps"}
FOURCC = {"h264": b"avc1", "hevc": b"hvc1", "av1": b"av01", "vp9": b"vp09", "opus": b"Opus",
          "aac": b"mp4a", "mp3": b".mp3"}


class Track:
    """codec, config (decoder configuration) and frames: [(dts ms, cts ms, is key, bytes)]."""

    def __init__(self, codec, config, frames):
        self.codec, self.config, self.frames = codec, config, frames
        self.video = codec in ("h264", "hevc", "av1", "vp9")


class Media:
    def __init__(self, folder, seconds=4):
        self.folder, self.seconds, self.tracks = folder, seconds, {}
        os.makedirs(folder, exist_ok=True)

    def track(self, codec):
        if codec not in self.tracks:
            path = os.path.join(self.folder, f"{codec}-{self.seconds}.mp4")
            if not os.path.exists(path):
                tmp = f"{path}.{os.getpid()}.mp4"
                run(["ffmpeg", "-v", "error", "-y", *RECIPES[codec], "-t", str(self.seconds),
                     "-fflags", "+bitexact", tmp], 120)
                os.rename(tmp, path)
            self.tracks[codec] = read_mp4(path, codec)
        return self.tracks[codec]

    def tags(self, *codecs, **how):
        """Returns the tags of one or several tracks in order of time, with metadata before them."""
        tracks = [track_tags(self.track(c), **how) for c in codecs]
        heads = [t for tags in tracks for t in tags if not t.frame]
        body = sorted((t for tags in tracks for t in tags if t.frame), key=lambda t: t.ts)
        return [metadata(width=320.0, height=180.0)] + heads + body


def metadata(**fields):
    return Tag(DATA, 0, amf.encode("onMetaData", amf.EcmaArray(fields)))


def read_mp4(path, codec):
    with open(path, "rb") as f:
        raw = f.read()
    info = json.loads(run(["ffprobe", "-v", "error", "-of", "json", "-show_packets",
                           "-select_streams", "0", path]).stdout)
    first = min(float(p["dts_time"]) for p in info["packets"])
    frames = []
    for p in info["packets"]:
        at, size = int(p["pos"]), int(p["size"])
        dts = round((float(p["dts_time"]) - first) * 1000)
        cts = round((float(p["pts_time"]) - first) * 1000) - dts
        frames.append((dts, cts, "K" in p["flags"], raw[at:at + size]))
    return Track(codec, config_of(raw, codec), frames)


def config_of(raw, codec):
    if codec == "aac":
        return bytes.fromhex("1188")  # LC, 48 kHz, mono
    if codec == "mp3":
        return b""
    at = raw.find(CONFIG_BOX[codec])
    body = raw[at + 4:at - 4 + struct.unpack(">I", raw[at - 4:at])[0]]
    if codec == "opus":  # converts dOps to the OpusHead of enhanced RTMP
        channels, skip, rate, gain = struct.unpack(">BHIh", body[1:10])
        return b"OpusHead" + struct.pack("<BBHIhB", 1, channels, skip, rate, gain, 0)
    return body


def video_head(frame_type, packet_type):
    return bytes([0x80 | frame_type << 4 | packet_type])


def audio_head(packet_type):
    return bytes([0x90 | packet_type])


def modex(nano):
    """Returns the ModEx prelude (TimestampOffsetNano) that precedes the byte with the real packet type."""
    return bytes([2]) + nano.to_bytes(3, "big")


def track_tags(track, style="v1", track_id=None, nano=None):
    """style: "v1" enhanced, "x" enhanced with CodedFramesX if the composition offset is 0, "legacy" (HEVC id 12, H.264 id 7,
    AAC id 10, MP3 id 2). track_id: wraps as OneTrack multitrack; nano: adds a ModEx with this offset."""
    out = []
    if style == "legacy":
        return legacy_tags(track)
    kind, fourcc = (VIDEO if track.video else AUDIO), FOURCC[track.codec]
    if track.config:
        out.append(Tag(kind, 0, enhanced(kind, 1, SEQ_START, fourcc, track.config, track_id, nano)))
    for dts, cts, key, data in track.frames:
        packet, body = CODED, data
        if track.codec in ("hevc", "h264"):
            if style == "x" and cts == 0:
                packet = CODED_X
            else:
                body = (cts & 0xffffff).to_bytes(3, "big") + data
        out.append(Tag(kind, dts, enhanced(kind, 1 if key else 2, packet, fourcc, body, track_id,
                                           nano)))
    return out


def enhanced(kind, frame_type, packet, fourcc, body, track_id=None, nano=None):
    multi = VIDEO_MULTI if kind == VIDEO else AUDIO_MULTI
    outer = packet if track_id is None else multi
    first = MODEX if nano is not None else outer
    out = video_head(frame_type, first) if kind == VIDEO else audio_head(first)
    if nano is not None:
        out += modex(nano) + bytes([0 << 4 | outer])
    if track_id is not None:
        return out + bytes([ONE_TRACK << 4 | packet]) + fourcc + bytes([track_id]) + body
    return out + fourcc + body


def many_tracks(kind, frame_type, packet, parts, nano=None):
    """Returns one message with several tracks; parts: [(fourcc, track id, body)]."""
    multi = VIDEO_MULTI if kind == VIDEO else AUDIO_MULTI
    first = MODEX if nano is not None else multi
    out = video_head(frame_type, first) if kind == VIDEO else audio_head(first)
    if nano is not None:
        out += modex(nano) + bytes([multi])
    same = len({p[0] for p in parts}) == 1
    out += bytes([(MANY_TRACKS if same else MANY_CODECS) << 4 | packet])
    out += parts[0][0] if same else b""
    for fourcc, track_id, body in parts:
        out += (b"" if same else fourcc) + bytes([track_id]) + len(body).to_bytes(3, "big") + body
    return out


def legacy_tags(track):
    out = []
    codec_id = {"h264": 7, "hevc": 12}.get(track.codec)
    if track.codec == "aac":
        out.append(Tag(AUDIO, 0, b"\xaf\x00" + track.config))
        return out + [Tag(AUDIO, d, b"\xaf\x01" + data) for d, _, _, data in track.frames]
    if track.codec == "mp3":
        return [Tag(AUDIO, d, b"\x2f" + data) for d, _, _, data in track.frames]
    out.append(Tag(VIDEO, 0, bytes([0x10 | codec_id, 0, 0, 0, 0]) + track.config))
    for dts, cts, key, data in track.frames:
        head = bytes([(1 if key else 2) << 4 | codec_id, 1]) + (cts & 0xffffff).to_bytes(3, "big")
        out.append(Tag(VIDEO, dts, head + data))
    return out


def avc_annexb(data):
    """Converts length-prefixed NAL units to start codes, so that ffmpeg reads them raw."""
    out, pos = b"", 0
    while pos + 4 <= len(data):
        n = int.from_bytes(data[pos:pos + 4], "big")
        out += b"\0\0\0\1" + data[pos + 4:pos + 4 + n]
        pos += 4 + n
    return out


def hvcc_annexb(config):
    """Returns the parameter sets of an hvcC with start codes."""
    out, pos = b"", 23
    for _ in range(config[22]):
        count = int.from_bytes(config[pos + 1:pos + 3], "big")
        pos += 3
        for _ in range(count):
            n = int.from_bytes(config[pos:pos + 2], "big")
            out += b"\0\0\0\1" + config[pos + 2:pos + 2 + n]
            pos += 2 + n
    return out


def to_raw_hevc(tags):
    """Writes enhanced HEVC tags (v1) to a file that `ffmpeg -f hevc` decodes."""
    out = b""
    for t in (t for t in tags if t.type == VIDEO and t.enhanced):
        packet = t.data[0] & 15
        if packet == SEQ_START:
            out += hvcc_annexb(t.data[5:])
        elif packet in (CODED, CODED_X):
            out += avc_annexb(t.data[8 if packet == CODED else 5:])
    return out


def to_raw_av1(tags):
    """Writes enhanced AV1 tags to an OBU file."""
    out = b""
    for t in (t for t in tags if t.type == VIDEO and t.enhanced):
        if t.data[0] & 15 == SEQ_START:
            continue
        out += b"\x12\x00" + t.data[5:]
    return out


def synthetic(seconds=3, fps=25, gop=25, size=1000, start=0, audio=True, config=b"\0" * 12, seed=1):
    """Makes tags in the form of H.264 and AAC without an encoder, each with a different payload, for tests in which only bytes
    and times matter. size: bytes of a frame, or a function of its number."""
    out = [metadata(width=640.0, height=360.0, framerate=float(fps)),
           Tag(VIDEO, start, b"\x17\x00\x00\x00\x00\x01\x42\xc0\x1e\xff" + config),
           Tag(AUDIO, start, b"\xaf\x00\x12\x10")]
    if not audio:
        out.pop()
    state = seed * 2654435761 & 0xffffffff
    for i in range(int(seconds * fps)):
        key = i % gop == 0
        n = size(i) if callable(size) else size
        state = (state * 1664525 + 1013904223) & 0xffffffff
        word = struct.pack(">II", i, state)
        nal = bytes([0x65 if key else 0x41]) + (word * (n // 8 + 1))[:max(n, 8)]
        head = bytes([0x17 if key else 0x27, 1, 0, 0, 0])
        ts = start + i * 1000 // fps
        out.append(Tag(VIDEO, ts, head + struct.pack(">I", len(nal)) + nal))
        if audio:
            out.append(Tag(AUDIO, ts, b"\xaf\x01" + word * 12))
    return out
