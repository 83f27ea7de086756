# SPDX-License-Identifier: MIT
"""Third-party RTSP players: ffmpeg and GStreamer over each transport, with each codec."""
import os

import pytest

import flv
import flvgen
import procs
import rtspplayers as players
import tools
from rtspclient import rtsp_server

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")

# Published material, and transports.
ROWS = {
    "b-frames-aac-tcp": ("source", "source", ("tcp",)),
    "b-frames-aac-udp": ("source", "source", ("udp",)),
    "b-frames-aac-http": ("source", "source", ("http",)),
    "hevc-opus": ("hevc", "opus", ("tcp",)),
    "hevc-opus-udp": ("hevc", "opus", ("udp",)),
    "h264-mp3": ("h264", "mp3", ("tcp", "udp")),
    "h264-pcma": ("h264", "pcma", ("tcp", "udp")),
    "vp9-aac": ("vp9", "aac", ("tcp", "udp")),
    "hevc": ("hevc", None, ("tcp",)),
    "pcmu": (None, "pcmu", ("tcp", "udp")),
}
QUICK = ("b-frames-aac-udp", "hevc-opus")
G711 = {"pcma": "pcm_alaw", "pcmu": "pcm_mulaw"}


def g711_file(media, codec):
    path = os.path.join(media.folder, f"{codec}-{media.seconds}.flv")
    if not os.path.exists(path):
        tmp = f"{path}.{os.getpid()}.flv"
        tools.run(["ffmpeg", "-v", "error", "-y", *flvgen.TONE, "-c:a", G711[codec], "-ar", "8000", "-ac", "1",
                   "-t", media.seconds, tmp])
        os.rename(tmp, path)
    return path


def material(media, source, video, audio):
    """Tags to publish, and {kind: the path of a file with the same frames}."""
    if video == "source":
        return source, {"video": procs.SOURCE, "audio": procs.SOURCE}
    tags, files = [flvgen.metadata(width=320.0, height=180.0)], {}
    for kind, codec in (("video", video), ("audio", audio)):
        if codec in G711:
            files[kind] = g711_file(media, codec)
            tags += [t for t in flv.read(files[kind]) if t.type == flv.AUDIO]
        elif codec:
            files[kind] = players.file_of(media, codec)
            tags += flvgen.track_tags(media.track(codec), "legacy" if codec in ("h264", "mp3", "aac") else "v1")
    return [t for t in tags if not t.frame] + sorted((t for t in tags if t.frame), key=lambda t: t.ts), files


def play_all(s, tmp_path, files, codecs, transports, seconds=1.6):
    """Both clients over each transport at once; the output files are named after both."""
    started = {}
    for how in transports:
        started[f"ffmpeg-{how}"] = players.ffmpeg(
            s.rtsp_url(), how, tmp_path / f"ffmpeg-{how}", tmp_path / f"ffmpeg-{how}.log", seconds,
            video="video" in files, audio="audio" in files)
        started[f"gst-{how}"] = players.Gst(
            s.rtsp_url(), how, tmp_path / f"gst-{how}", tmp_path / f"gst-{how}.log", *codecs)
    for name, p in started.items():
        if name.startswith("ffmpeg"):
            assert p.wait(15) == 0, f"{name}:\n{p.text()[-3000:]}"
        else:
            enough = p.wait_for(lambda n=name: played_enough(tmp_path / n, files))
            assert enough, f"{name}:\n{p.text()[-3000:]}"
            p.end()
    return list(started)


def played_enough(path, files, frames=30):
    if players.size(path) < 4000:
        return False
    try:
        return all(len(players.read(path, kind)) >= frames for kind in files)
    except AssertionError:
        return False


@pytest.mark.needs("gst-launch-1.0")
@pytest.mark.parametrize("row", [pytest.param(r, marks=[] if r in QUICK else [pytest.mark.long]) for r in ROWS])
def test_plays(srs, media, source, tmp_path, row):
    """Each client over each transport gets both tracks, correct and in sync."""
    video, audio, transports = ROWS[row]
    tags, files = material(media, source, video, audio)
    s = rtsp_server(srs)
    s.push(tags, loop=True, ahead=1)
    codecs = ("h264", "aac") if video == "source" else (video, audio)
    for name in play_all(s, tmp_path, files, codecs, transports):
        tracks = players.same(files, tmp_path / name)
        for kind, t in tracks.items():
            times = sorted(t.times)
            assert max(b - a for a, b in zip(times, times[1:])) < 0.2, f"{name}: a hole in {kind}"


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_both_tracks_start_together(srs, media, transport):
    s = rtsp_server(srs)
    s.push(media.tags("h264", "aac", style="legacy"), loop=True, ahead=1)
    info = tools.ffprobe(s.rtsp_url(), "-rtsp_transport", transport, "-show_streams")
    start = {x["codec_name"]: float(x["start_time"]) for x in info["streams"]}
    assert set(start) == {"h264", "aac"}
    assert abs(start["h264"] - start["aac"]) <= 0.040, start
