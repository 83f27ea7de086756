# SPDX-License-Identifier: MIT
"""Audio and video over RTSP: in sync from the first frame on, at once, and with correct reports about their times."""
import os
import signal
import struct
import time

import pytest

import flv
import procs
import tools
from procs import free_port, wait_for
from test_rtsp_conf import Rtsp

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")

# A flash of 200 ms and a beep of the same length, at the same time once a second; a key frame every two seconds.
FLASH = ["-f", "lavfi", "-i", "color=black:size=160x90:rate=25,drawbox=color=white:t=fill:enable='lt(mod(t,1),0.2)'"]
BEEP = ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,1),0.2)':sample_rate=48000"]
PICTURE = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "50"]
RATE, STEP = 48000, 128


@pytest.fixture(scope="module")
def flashes():
    folder = os.path.join(procs.ROOT, "objs", "e2e-media")
    path = os.path.join(folder, "flash-beep.flv")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        tmp = f"{path}.{os.getpid()}.flv"
        tools.run(["ffmpeg", "-v", "error", "-y", *FLASH, *BEEP, *PICTURE, "-c:a", "aac", "-t", "8", tmp])
        os.rename(tmp, path)
    return path


@pytest.fixture
def site(srs):
    port = free_port()
    s = srs("rtsp { enabled on; }", f"rtsp_server {{ enabled on; transports tcp; listen 127.0.0.1:{port}; }}")
    s.rtsp_port, s.rtsp_url = port, f"rtsp://127.0.0.1:{port}/live/s"
    return s


def push(s, tags, enough=60):
    p = s.push(tags, speed=1, loop=True, ahead=1)
    assert wait_for(lambda: len(p.pushed) >= enough, 10)
    return p


# ---- as a player plays it

def ups(levels, times, threshold):
    """Times at which it becomes bright, or loud: the first such frame after others."""
    return [t for a, b, t in zip(levels, levels[1:], times[1:]) if a < threshold <= b]


def flash_times(path):
    times = [float(x) for x in tools.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries",
                                          "frame=pts_time", "-of", "csv=p=0", path]).stdout.replace(b",", b"").split()]
    raw = tools.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-vf", "scale=1:1,format=gray",
                     "-fps_mode", "passthrough", "-f", "rawvideo", "-"]).stdout
    assert abs(len(raw) - len(times)) <= 1
    return ups(list(raw), times, 128)


def beep_times(path):
    """From the timestamps of the frames, as a player does: GStreamer's may be closer than a frame's duration."""
    lines = tools.run(["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "frame=pts_time,nb_samples",
                       "-of", "csv=p=0", path]).stdout.decode().split()
    raw = tools.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-f", "s16le", "-"]).stdout
    level, times, at = [], [], 0
    for line in lines:
        pts, n = float(line.split(",")[0]), int(line.split(",")[1])
        for i in range(0, n, STEP):
            piece = raw[2 * (at + i):2 * (at + i + STEP)]
            if len(piece) == 2 * STEP:
                level.append(max(map(abs, struct.unpack(f"<{STEP}h", piece))))
                times.append(pts + i / RATE)
        at += n
    return ups(level, times, 4000)


def apart(path):
    """Delay of the audio relative to the video of each flash, in seconds."""
    flash, beep = flash_times(path), beep_times(path)
    near = [(min(beep, key=lambda b: abs(b - f)) - f) for f in flash if flash and beep]
    assert len(near) >= 2, (flash, beep)
    return near


@pytest.mark.long
def test_a_flash_and_its_beep(site, flashes, tmp_path):
    """Played for some seconds, over several reports, from a moment in the middle on."""
    push(site, flv.read(flashes), enough=150)
    published, played = apart(flashes), tmp_path / "played.mkv"
    tools.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-rtsp_transport", "tcp", "-i", site.rtsp_url, "-t", "6",
               "-c", "copy", "-copyinkf", played])
    got = apart(played)
    print("published", published, "played", got)
    assert max(abs(x) for x in got) <= 0.040 and len(got) >= 4


@pytest.mark.long
@pytest.mark.needs("gst-launch-1.0")
def test_a_flash_and_its_beep_in_gstreamer(site, flashes, tmp_path):
    push(site, flv.read(flashes), enough=150)
    played = tmp_path / "played.mkv"
    pipe = f"rtspsrc location={site.rtsp_url} protocols=tcp name=s matroskamux name=m streamable=true ! " \
           f"filesink location={played} buffer-mode=2 s. ! application/x-rtp,media=video ! rtph264depay ! h264parse ! queue ! m. " \
           "s. ! application/x-rtp,media=audio ! rtpmp4gdepay ! aacparse ! queue ! m."
    p = procs.Proc(["gst-launch-1.0", "-e", *pipe.split()], tmp_path / "gst.log")
    enough = os.path.getsize(flashes) / 2
    assert wait_for(lambda: played.exists() and played.stat().st_size > enough, 15, 0.1), p.text()
    p.end(signal.SIGINT, grace=5.0)
    got = apart(played)[1:]  # it estimates timestamps of the initial burst
    print("played", got)
    assert max(abs(x) for x in got) <= 0.040


def test_both_tracks_start_together(site, flashes):
    push(site, flv.read(flashes))
    got = tools.ffprobe(site.rtsp_url, "-rtsp_transport", "tcp", "-show_streams", "-show_packets", "-read_intervals", "%+1")
    starts = {}
    for p in got["packets"]:
        if "pts_time" in p:
            starts.setdefault(p["codec_type"], float(p["pts_time"]))
    assert {x["codec_type"] for x in got["streams"]} == {"video", "audio"}
    assert abs(starts["video"] - starts["audio"]) <= 0.040, starts
    assert abs(starts["video"]) <= 0.040, "RTP-Info does not have the start of the timeline"


# ---- a player that checks each byte

class Ear(Rtsp):
    def frame(self):
        self.need(4)
        size = struct.unpack(">H", self.buf[2:4])[0]
        self.need(4 + size)
        channel, data = self.buf[1], self.buf[4:4 + size]
        self.buf, self.frames = self.buf[4 + size:], self.frames + 1
        return channel, data

    def begin(self):
        """PLAY of both tracks: {track: (seq, rtptime)} of RTP-Info."""
        assert self.ask("DESCRIBE", None, "Accept: application/sdp")[0] == 200
        session = ()
        for track in range(2):
            _, got, _ = self.ask("SETUP", self.url(track=track), "Transport: RTP/AVP/TCP;unicast", *session)
            session = ("Session: " + got["session"].split(";")[0],)
        status, got, _ = self.ask("PLAY", None, *session)
        assert status == 200
        info = {}
        for entry in got["rtp-info"].split(","):
            word = dict(x.split("=", 1) for x in entry.split(";"))
            info[int(word["url"][-1])] = int(word["seq"]), int(word["rtptime"])
        return info


def test_first_video_frame(site, flashes):
    """From connect to the last packet of a video frame, with two seconds between key frames."""
    push(site, flv.read(flashes))
    took = []
    for _ in range(5):
        began = time.monotonic()
        with Ear(site.rtsp_port) as c:
            c.begin()
            while True:
                channel, data = c.frame()
                if channel == 0 and data[1] & 0x80:
                    break
            took.append(time.monotonic() - began)
    print("first frame after", took)
    assert sorted(took)[1] <= 0.100 * procs.SLOW, took


def test_reports_and_first_packets(site, flashes):
    """Reports come first, have the same moment, match the clock; RTP-Info announces the next packets."""
    push(site, flv.read(flashes))
    with Ear(site.rtsp_port) as c:
        info, first, reports = c.begin(), {}, []
        while len(reports) < 6:
            channel, data = c.frame()
            if channel & 1:
                _, kind, _, ssrc, high, low, moment = struct.unpack(">BBHIIII", data[:20])
                assert kind == 200
                reports.append((channel >> 1, ssrc, high - 2208988800 + low / 2**32, moment, time.time()))
            elif channel >> 1 not in first:
                assert reports[channel >> 1][0] == channel >> 1, "its report does not come first"
                first[channel >> 1] = struct.unpack(">HI", data[2:8])
    for track in (0, 1):
        assert info[track] == (first[track][0], reports[track][3])
        clock = 90000 if track == 0 else 48000
        assert abs(first[track][1] - info[track][1]) / clock <= 0.040
        of = [r for r in reports if r[0] == track]
        assert len({r[1] for r in of}) == 1
        for a, b in zip(of, of[1:]):
            assert abs((b[2] - a[2]) - (b[3] - a[3]) / clock) < 0.001, "times of both clocks diverge"
        assert abs(of[-1][2] - of[-1][4]) < 1.5, "the wall clock; a publisher that is a second ahead"
    for a, b in zip(reports[::2], reports[1::2]):
        assert a[2] == b[2], "not one moment"
