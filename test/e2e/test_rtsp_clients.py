# SPDX-License-Identifier: MIT
"""Other people's RTSP players: ffmpeg and GStreamer over each transport, each codec, and all that they do."""
import json
import os

import pytest

import flv
import flvgen
import procs
import rtspplayers as players
import tools
from procs import wait_for
from rtspclient import rtsp_server

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")

# What is published, and who plays it besides ffmpeg.
ROWS = {
    "b-frames-aac": ("source", "source", ("gst",)),
    "hevc-opus": ("hevc", "opus", ("gst",)),
    "h264-mp3": ("h264", "mp3", ("gst",)),
    "h264-pcma": ("h264", "pcma", ("gst",)),
    "vp9-aac": ("vp9", "aac", ("gst",)),
    "hevc": ("hevc", None, ("gst",)),
    "pcmu": (None, "pcmu", ("gst",)),
}
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


def play_all(s, tmp_path, files, codecs, clients, transports, seconds=1.6):
    """All clients at once; {name: what each wrote}."""
    started = {}
    for how in transports:
        started[f"ffmpeg-{how}"] = players.ffmpeg(
            s.rtsp_url(), how, tmp_path / f"ffmpeg-{how}", tmp_path / f"ffmpeg-{how}.log", seconds,
            video="video" in files, audio="audio" in files)
        if "gst" in clients:
            started[f"gst-{how}"] = players.gst(
                s.rtsp_url(), how, tmp_path / f"gst-{how}", tmp_path / f"gst-{how}.log", *codecs)
    for name, p in started.items():
        if name.startswith("ffmpeg"):
            assert p.wait(15) == 0, f"{name}:\n{p.text()[-3000:]}"
    for name, p in started.items():
        if name.startswith("gst"):
            enough = wait_for(lambda n=name: played_enough(tmp_path / n, files), 10, 0.2)
            assert enough, f"{name}:\n{p.text()[-3000:]}"
            p.end()
    return started


def played_enough(path, files, frames=30):
    if players.size(path) < 4000:
        return False
    try:
        return all(len(players.read(path, kind)) >= frames for kind in files)
    except AssertionError:
        return False


@pytest.mark.needs("gst-launch-1.0")
@pytest.mark.parametrize("row", ROWS)
def test_plays(srs, media, source, tmp_path, row):
    """Each client over each transport has both tracks, right, and together."""
    video, audio, clients = ROWS[row]
    tags, files = material(media, source, video, audio)
    s = rtsp_server(srs)
    s.push(tags, loop=True, ahead=1)
    codecs = ("h264", "aac") if video == "source" else (video, audio)
    for name in play_all(s, tmp_path, files, codecs, clients, ("tcp",)):
        tracks = players.same(files, tmp_path / name)
        for kind, t in tracks.items():
            assert max(b - a for a, b in zip(sorted(t.times), sorted(t.times)[1:])) < 0.2, f"{name}: a hole in {kind}"
