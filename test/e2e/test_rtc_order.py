# SPDX-License-Identifier: MIT
"""WebRTC players never decode a broken frame: each is bit for bit a decoded frame of the publisher's film."""
import json
import re
import struct
import urllib.request

import pytest

import tools
from httpapi import Api
import procs
from procs import Proc, wait_for
from rtc import rtc_server
from rtcplain import VIDEO, Client

pytestmark = pytest.mark.needs("ffmpeg")

GROUP = 25
B = "bframes=3:b-adapt=0:b-pyramid="
FILMS = {  # x264 options; minimum frames per second for players; expected log line
    "none": ("bframes=0", 24, ""),
    "b": (B + "none", 6, "fewer frames per second"),
    "pyramid": (B + "normal:ref=4", 1, "little more than key frames"),
    "defaults": ("bframes=3", 1, "little more than key frames"),
    "open-gop": (B + "normal:open-gop=1", 0.4, "little more than key frames"),
}


def pictures(path, *options):
    """Returns the hash of each frame, and the messages of the decoder."""
    r = tools.run(["ffmpeg", "-v", "error", *options, "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
    # a command to drop a frame that was left out is harmless (open GOP)
    complaints = [line for line in r.stderr.decode().splitlines() if "mmco: unref short failure" not in line]
    return [line.split(b",")[5].strip() for line in r.stdout.splitlines() if line[:1] == b"0"], complaints


def annexb(packets):
    """Extracts H.264 from RTP, RFC 6184: single units, STAP-A, FU-A; nothing may be lost."""
    out = b""
    for i, (_, seq, _, _, data, _) in enumerate(packets):
        assert i == 0 or seq == (packets[i - 1][1] + 1) & 0xFFFF, "a packet is missing"
        if data[0] & 31 == 24:
            at = 1
            while at + 2 <= len(data):
                n = struct.unpack_from(">H", data, at)[0]
                out += b"\0\0\0\1" + data[at + 2:at + 2 + n]
                at += 2 + n
        elif data[0] & 31 == 28:
            if data[1] & 0x80:
                out += b"\0\0\0\1" + bytes([data[0] & 0xE0 | data[1] & 31])
            out += data[2:]
        else:
            out += b"\0\0\0\1" + data
    return out


def status_of(s, where):
    """Status of a session as the server reports it to its client, over a new connection: any worker answers."""
    with urllib.request.urlopen(f"http://127.0.0.1:{s.api_port}{where.replace('action=delete', 'action=status')}", timeout=5) as got:
        assert got.headers["Content-Type"] == "application/json" and got.headers["Cache-Control"] == "no-store"
        assert got.headers["Access-Control-Allow-Origin"] == "*"
        return json.load(got)


OFTEN = ("open-gop",)  # the hardest one; the others are long tests


@pytest.mark.parametrize("name", [n if n in OFTEN else pytest.param(n, marks=pytest.mark.long) for n in FILMS])
def test_no_video_frame_is_broken(srs, tmp_path, name):
    options, least, says = FILMS[name]
    film, got = tmp_path / "film.flv", tmp_path / "got.h264"
    tools.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25,noise=alls=20:allf=t", "-t", 4, "-c:v", "libx264",
               "-preset", "medium", "-b:v", "400k", "-x264-params", f"keyint={GROUP}:min-keyint={GROUP}:scenecut=0:" + options,
               "-pix_fmt", "yuv420p", film])
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    p = Proc(["ffmpeg", "-v", "error", "-nostdin", "-readrate", str(procs.PACE), "-i", film, "-c", "copy", "-f", "flv", s.url()], tmp_path / "push.log")
    assert s.wait_log("start publish|client identified", 5), p.text()
    c = Client(s.whep(), "recvonly")
    assert wait_for(lambda: c.of(VIDEO), 5)
    p.wait(20)
    if says:
        rows = [x["rtc"].get("video_left_out", "") for x in Api(s.api_port).get("clients/")["clients"] if "rtc" in x]
        assert any(row.startswith("B-frames: ") and row.endswith(" frames left out") for row in rows), rows
    told = [status_of(s, c.where) for _ in range(8)]
    assert {(t["state"], t["video"]) for t in told} == {("connected", "H264")}, told
    wanted = r"B-frames: [1-9]\d* of \d+ frames left out" if says else ""
    assert all(re.fullmatch(wanted, t.get("video_left_out", "")) for t in told), told
    packets = c.of(VIDEO)
    c.close()
    got.write_bytes(annexb(packets))
    whole, _ = pictures(film)
    seen, complaints = pictures(got, "-r", 25)
    seconds = (packets[-1][5] - packets[0][5])
    print(f"{name}: {len(seen)} of {len(whole)} frames in {seconds:.1f} s")
    broken = [i for i, picture in enumerate(seen) if picture not in set(whole)]
    assert not broken and not complaints, f"{len(broken)} of {len(seen)} frames are broken: {broken[:20]} {complaints[:5]}"
    assert len(seen) >= least * seconds * 0.8 and (says in s.log()) and (bool(says) == ("no B frames" in s.log())), len(seen)
