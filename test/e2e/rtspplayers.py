# SPDX-License-Identifier: MIT
"""Real RTSP clients that play into a file, and a comparison of their output with what was published."""
import functools
import hashlib
import os

import flvgen
import procs
import tools
from camera_rtp import tracks_of, units
from procs import Proc, wait_for

TRANSPORTS = ("tcp", "udp", "http")
# Conversions of GStreamer for each codec on the way into Matroska.
GST_VIDEO = {"h264": "rtph264depay ! h264parse", "hevc": "rtph265depay ! h265parse", "vp9": "rtpvp9depay ! vp9parse"}
GST_AUDIO = {"aac": "rtpmp4gdepay ! aacparse", "opus": "rtpopusdepay", "mp3": "rtpmpadepay ! mpegaudioparse",
             "pcma": "rtppcmadepay ! audio/x-alaw,rate=8000,channels=1",
             "pcmu": "rtppcmudepay ! audio/x-mulaw,rate=8000,channels=1"}
# One line for each decoded video frame and each encoded audio frame. With RTSP, FFmpeg 7.1 marks no
# audio packet as a key frame, and copies from the first key frame on: -copyinkf copies all.
MD5 = {"video": ["-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5"],
       "audio": ["-map", "0:a:0", "-c", "copy", "-copyinkf", "-f", "framemd5"]}
# Skipped at both ends of the recording: an open GOP, frames out of order.
EDGE = 5


def ffmpeg(url, transport, out, log, seconds=2.0, options=(), video=True, audio=True):
    """ffmpeg that ends on its own; out.video has the decoded frames, out.audio the audio as received."""
    argv = ["ffmpeg", "-hide_banner", "-loglevel", "verbose", "-nostdin", "-y", "-rtsp_transport", transport,
            *options, "-i", url]
    for kind, wanted in (("video", video), ("audio", audio)):
        argv += ["-t", seconds, *MD5[kind], f"{out}.{kind}"] if wanted else []
    return Proc(argv, log)


class Gst:
    """GStreamer that plays until it is ended; without its estimate of times, which a burst at the start misleads."""

    def __init__(self, url, transport, out, log, video, audio, options="buffer-mode=none"):
        if transport == "http":
            url, transport = url.replace("rtsp:", "rtsph:"), "http+tcp"
        pipe = f"rtspsrc location={url} protocols={transport} name=s {options} matroskamux name=m streamable=true ! " \
               f"filesink location={out} buffer-mode=2"
        for kind, codec, table in (("video", video, GST_VIDEO), ("audio", audio, GST_AUDIO)):
            if codec:
                pipe += f" s. ! application/x-rtp,media={kind} ! {table[codec]} ! queue ! m."
        self.argv, self.log = ["gst-launch-1.0", "-e", *pipe.split()], str(log)
        self.proc = Proc(self.argv, self.log)

    def text(self):
        return self.proc.text()

    def running(self):
        return self.proc.running()

    def end(self):
        return self.proc.end()

    def wait_for(self, enough, timeout=10):
        """Waits until enough() is true; False on timeout. Retries: threads of gst-launch disturb each other when linking pads."""
        tries = 3

        def look():
            nonlocal tries
            if tries > 1 and "Delayed linking failed" in self.text():
                tries -= 1
                self.end()
                os.truncate(self.log, 0)
                self.proc = Proc(self.argv, self.log)
            return enough()
        return wait_for(look, timeout, 0.2)


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


class Track:
    """Frames of one track: times in seconds, hashes of decoded video frames or encoded audio frames."""

    def __init__(self, frames, data=b""):
        self.times = [t for t, _ in frames]
        self.hashes = [h for _, h in frames]

    def __len__(self):
        return len(self.times)

    def at(self, played, edge=0):
        """Finds where in this track, which is repeated, the other one begins: (own time, other's time) of one frame.
        Raises AssertionError unless all of its frames are here, in order and without a gap."""
        got = played.hashes[edge:len(played) - edge]
        assert len(got) >= 10, f"only {len(played)} frames"
        whole = self.hashes * 3
        for i in range(len(self)):
            if whole[i] == got[0] and whole[i:i + len(got)] == got:
                return self.times[i], played.times[edge]
        strange = [i for i, h in enumerate(got) if h not in set(self.hashes)]
        raise AssertionError(f"frames are wrong or missing: {len(strange)} of {len(got)} were never published, "
                             f"the first ones {strange[:8]}")


def read(path, kind):
    """Returns the track of a file, from a cache if possible."""
    if os.path.exists(f"{path}.{kind}"):
        with open(f"{path}.{kind}") as f:
            return parse(f.read())
    return parse(tools.run(["ffmpeg", "-v", "error", "-nostdin", "-copyts", "-i", path, *MD5[kind], "-"]).stdout.decode())


@functools.lru_cache
def published_track(path, kind):
    """read() of a file that never changes."""
    return read(path, kind)


def parse(text):
    base, frames = 1.0, []
    for line in text.splitlines():
        if line.startswith("#tb"):
            a, b = line.split(":")[1].strip().split("/")
            base = int(a) / int(b)
        elif line[:1] not in ("#", ""):
            word = [x.strip() for x in line.split(",")]
            frames.append((int(word[2]) * base, word[5]))
    return Track(frames)


def same(published, played, apart=0.040):
    """Checks that everything played was published, in order, with the same offset between audio and video, to `apart` seconds.
    published: {kind: path, or path and its delay}. Returns {kind: Track}."""
    off, tracks, length = [], {}, 0
    for kind, path in published.items():
        path, later = path if isinstance(path, tuple) else (path, 0)
        source, got = published_track(path, kind), read(played, kind)
        try:
            own, other = source.at(got, EDGE)
        except AssertionError as e:
            raise AssertionError(f"{os.path.basename(str(played))}, {kind}: {e}") from None
        off.append(other - own - later)
        length = max(length, max(source.times) - min(source.times) + 0.04)
        tracks[kind] = got
    if len(off) == 2:
        d = (off[0] - off[1]) % length
        d = min(d, length - d)
        assert d <= apart, f"{os.path.basename(str(played))}: audio and video are {d * 1000:.0f} ms apart"
    return tracks


def nal_hashes(track):
    """Hashes of the NAL units of a flvgen.Track."""
    out = []
    for _, _, _, data in track.frames:
        at = 0
        while at + 4 <= len(data):
            n = int.from_bytes(data[at:at + 4], "big")
            out.append(hashlib.md5(data[at + 4:at + 4 + n]).hexdigest())
            at += 4 + n
    return out


def file_of(media, codec):
    """Path of the file in flvgen.Media, and the offset of its times: the first dts becomes 0."""
    media.track(codec)
    path = os.path.join(media.folder, f"{codec}-{media.seconds}.mp4")
    packets = tools.ffprobe(path, "-show_packets", "-select_streams", "0", "-read_intervals", "%+#2")["packets"]
    return path, -float(packets[0]["dts_time"])


def units_of(source):
    """{kind: {hash: time in seconds}} of NAL units and audio frames."""
    video, audio = tracks_of(source)
    out = {"video": {}, "audio": {}}
    for dts, cts, _, data in video.frames:
        for n in units(data):
            out["video"][hashlib.md5(n).hexdigest()] = (dts + cts) / 1000
    for dts, _, _, data in audio.frames:
        out["audio"][hashlib.md5(data).hexdigest()] = dts / 1000
    return out


def same_units(p, source, length=30.08):
    """All that came was published, and sound and picture are as far from each other as they were.

    p.frames(kind): [(seconds, synchronized by a sender report, bytes, hash)]"""
    want = units_of(source)
    off = {}
    for kind in ("video", "audio"):
        frames = p.frames(kind)
        known = [(at, want[kind][h]) for at, synced, size, h in frames if synced and h in want[kind]]
        assert len(known) >= 20, f"{kind}: {len(known)} known of {len(frames)}"
        strange = [size for _, _, size, h in frames if h not in want[kind] and size > 60]
        assert len(strange) <= len(frames) // 20 + 1, f"{kind}: {len(strange)} of {len(frames)} were never published"
        off[kind] = {round((at - own) % length, 2) for at, own in known}
        assert max(off[kind]) - min(off[kind]) < 0.05, f"{kind}: its times move, {sorted(off[kind])}"
    d = abs(max(off["video"]) - max(off["audio"]))
    assert min(d, length - d) <= 0.040, f"audio and video are {d * 1000:.0f} ms apart"
