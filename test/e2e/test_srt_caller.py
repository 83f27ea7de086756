# SPDX-License-Identifier: MIT
"""The server as an SRT caller: it forwards a stream to listeners, and pulls one from them."""
import re

import pytest

import flv
from flv import AUDIO, VIDEO
from httpapi import Api, conf
import procs
from procs import Proc, SOURCE, free_port, wait_for
from tools import run

SECRET = "&passphrase=secret-of-the-tests&pbkeylen="


def forward(port, more=""):
    return f"forward {{ enabled on; destination srt://127.0.0.1:{port}{more}; }}"


def listener(port, out, log, more=""):
    """Writes everything sent to it into a file."""
    return Proc(["srt-live-transmit", "-q", f"srt://127.0.0.1:{port}?mode=listener{more}", "file://con"], log, stdout=open(out, "wb"))


def ffmpeg_listener(port, out, log, more=""):
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-y", "-i", f"srt://127.0.0.1:{port}?mode=listener{more}", "-c", "copy",
                 "-f", "mpegts", "-flush_packets", "1", out], log)


def tracks(path):
    """Number of packets of each kind."""
    got = run(["ffprobe", "-v", "error", "-show_entries", "packet=codec_type", "-of", "csv=p=0", str(path)]).stdout.decode()
    return got.count("video"), got.count("audio")


def size(path):
    return path.stat().st_size if path.exists() else 0


@pytest.mark.needs("srt-live-transmit")
def test_a_listener_takes_it(srs, source, tmp_path):
    port, out = free_port(), tmp_path / "out.ts"
    there = listener(port, out, tmp_path / "slt.log")
    s = srs(forward(port))
    s.push(source, loop=True)
    assert wait_for(lambda: size(out) > 40000, 10), there.text() + s.log()[-2000:]
    there.end()
    assert s.wait_log("forward to srt://.*: publishing, latency 120 ms", 1)
    assert min(tracks(out)) >= 10


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("key", [0, 16, 24, 32])
def test_ffmpeg_takes_it_with_its_names(srs, source, tmp_path, key):
    """ffmpeg's latency is in microseconds, and it shows no stream id; one in our address does not disturb it."""
    port, out, secret = free_port(), tmp_path / "out.ts", SECRET + str(key) if key else ""
    there = ffmpeg_listener(port, out, tmp_path / "ffmpeg.log", "&latency=300000" + secret)
    s = srs(forward(port, "?streamid=#!::r=[app]/[stream],m=publish&latency=250" + secret))
    s.push(source, loop=True)
    assert s.wait_log("forward to srt://.* publishing, latency 300 ms" + (", encrypted" if key else "$"), 5), s.log()[-2000:]
    assert "secret-of" not in s.log()
    assert wait_for(lambda: size(out) > 150000, 15), there.text() + s.log()[-2000:]
    there.end()
    assert min(tracks(out)) >= 30


@pytest.mark.long
@pytest.mark.needs("srt-live-transmit")
def test_why_it_is_refused_is_told_and_it_calls_again(srs, source, tmp_path):
    port, out = free_port(), tmp_path / "out.ts"
    s = srs(forward(port, "?x=1" + SECRET + "16"))
    s.push(source, loop=True)
    assert s.wait_log(r"does not respond", 8), s.log()[-2000:]
    there = listener(port, out, tmp_path / "slt.log", SECRET.replace("tests", "others") + "16")
    assert s.wait_log(r"forward to 127.0.0.1:\d+ fails: .*rejected the call with 1010: wrong passphrase", 15), s.log()[-2000:]
    there.end()
    there = listener(port, out, tmp_path / "slt.log", SECRET + "16")
    assert wait_for(lambda: size(out) > 40000, 30), s.log()[-2000:]
    there.end()
    assert s.wait_log(r"forward to 127.0.0.1:\d+ fails: .*closed the connection", 15), s.log()[-2000:]


@pytest.mark.long
@pytest.mark.needs("srt-live-transmit")
def test_lists_know_it_and_it_ends_with_its_stream(srs, source, tmp_path):
    port, out = free_port(), tmp_path / "out.ts"
    there = listener(port, out, tmp_path / "slt.log")
    api = Api(free_port())
    s = srs(forward(port), glob=conf(api.port))
    pushing = s.push(source, loop=True)
    assert wait_for(lambda: size(out) > 40000, 10), there.text() + s.log()[-2000:]
    mine = api.get("forwards")["forwards"]
    assert len(mine) == 1 and mine[0]["state"] == "publishing" and mine[0]["send_bytes"] > 40000, mine
    there.end()
    assert s.wait_log(r"forward to 127.0.0.1:\d+ fails: ", 5), s.log()[-2000:]
    there, before = listener(port, out, tmp_path / "slt.log"), len(s.log())
    assert s.wait_log("forward to srt://.*publishing", 15, start=before), s.log()[-2000:]
    pushing.stop()
    pushing.client.close()
    assert s.wait_log("forward .* to srt://.*: ended", 5), s.log()[-2000:]


def ingest(port, more=""):
    return f"""ingest i {{ enabled on; input {{ type stream; url srt://127.0.0.1:{port}{more}; }}
        engine {{ enabled off; output rtmp://127.0.0.1:[port]/live/in; }} }}"""


def sender(port, log, more=""):
    """A listener that sends a film to each caller."""
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-readrate", str(procs.PACE), "-stream_loop", "-1", "-i", SOURCE, "-c", "copy", "-f", "mpegts",
                 f"srt://127.0.0.1:{port}?mode=listener{more}"], log)


def plays(s, source, there, n=15, seconds=10):
    own = s.watch("in")
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= n, seconds), there.text() + s.log()[-2000:]
    got = own.stop()
    assert flv.find_run(flv.hashes(got, AUDIO), flv.hashes(source, AUDIO)) >= 0


@pytest.mark.needs("ffmpeg")
def test_a_listener_is_published(srs, source, tmp_path):
    port = free_port()
    there = sender(port, tmp_path / "ffmpeg.log")
    s = srs(ingest(port))
    plays(s, source, there)


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
def test_a_listener_that_comes_late_and_goes(srs, source, tmp_path):
    port, api = free_port(), Api(free_port())
    s = srs(ingest(port, "?latency=200" + SECRET + "32"), glob=conf(api.port))
    assert s.wait_log("ingest i of .*srt://.*again in 3 s.*does not respond", 8), s.log()[-2000:]
    there = sender(port, tmp_path / "ffmpeg.log", SECRET + "32")
    plays(s, source, there, seconds=20)
    assert s.wait_log("ingest i: latency 200 ms, encrypted", 1)
    mine = [c for c in api.clients() if c["publish"]]
    assert [c["type"] for c in mine] == ["srt-publish"], mine
    assert not re.search("secret-of", s.log())
    there.end()
    assert s.wait_log("ingest i of .*again in", 15, count=2), s.log()[-2000:]
    there = sender(port, tmp_path / "ffmpeg2.log", SECRET + "32")
    plays(s, source, there, seconds=30)
    s.reload("", glob=conf(api.port))
    assert s.wait_log("ingest i: ended", 5), s.log()[-2000:]


@pytest.mark.long
@pytest.mark.parametrize("key", [0, 24])
def test_between_servers(srs, source, key):
    """One forwards to the next, a third one pulls from there: the output equals the input."""
    port, secret = free_port(), SECRET + str(key) if key else ""
    glob = f"srt_server {{ enabled on; listen 127.0.0.1:{port}; " + (f"passphrase secret-of-the-tests; pbkeylen {key};" if key else "") + " }"
    b = srs("srt { enabled on; }", glob=glob, name="b")
    a = srs(forward(port, "?streamid=#!::r=[app]/[stream],m=publish" + secret), name="a")
    c = srs(ingest(port, "?streamid=#!::r=live/s,m=request" + secret), name="c")
    a.push(source, loop=True)
    for s, stream in ((b, "s"), (c, "in")):
        own = s.watch(stream)
        assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 50, 20), stream + s.log()[-3000:]
        got = own.stop()
        assert flv.find_run(flv.hashes(got, AUDIO), flv.hashes(source, AUDIO) * 2) >= 0, stream


@pytest.mark.long
def test_a_server_says_why_not(srs, source):
    port = free_port()
    b = srs("srt { enabled on; } security { enabled on; deny publish all; }", name="b",
            glob=f"srt_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    a = srs(forward(port, "?streamid=#!::r=[app]/[stream],m=publish"), name="a")
    a.push(source, loop=True)
    assert a.wait_log(r"forward to 127.0.0.1:\d+ fails: .*says 2403", 10), a.log()[-2000:] + b.log()[-2000:]
