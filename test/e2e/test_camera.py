# SPDX-License-Identifier: MIT
"""ffmpeg can play the camera of the tests; otherwise tests with it prove nothing about the server."""
import pytest

import tools
from camera import Camera, Quirks
from camera_rtp import tracks_of

ROWS = {
    "usual": {},
    "login": {"user": "u", "password": "p"},
    "basic": {"user": "u", "password": "p", "auth": "basic"},
    "no marker": {"marker": "none"},
    "sets in the stream": {"sprop": False, "sets_in_stream": True},
}


@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("row, transport", [pytest.param(row, transport, marks=[pytest.mark.long] if (i + k) % 2 else [])
                                            for i, row in enumerate(ROWS) for k, transport in enumerate(("tcp", "udp"))])
def test_ffmpeg_plays_it(source, row, transport):
    cam = Camera(tracks_of(source), Quirks(**ROWS[row], speed=4))
    got = tools.run(["ffmpeg", "-v", "error", "-rtsp_transport", transport, "-i", cam.url(), "-t", "2", "-c", "copy",
                     "-copyinkf", "-f", "framemd5", "-"]).stdout.decode()
    cam.close()
    want = {x[4] for x in tools.source_frames()}
    sound = [x for x in got.splitlines() if x.startswith("1,")]
    assert len(sound) > 50 and {x.split(",")[5].strip() for x in sound} <= want
    assert len([x for x in got.splitlines() if x.startswith("0,")]) >= 30
