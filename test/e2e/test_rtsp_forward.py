# SPDX-License-Identifier: MIT
"""Forward over RTSP: to ffmpeg as a listener, to servers that reject at first."""
import os
import re
import socket
import threading

import pytest

import flv
from httpapi import Api, conf
from procs import Proc, free_port, wait_for
from tools import frame_list, source_frames


def forward(port, path="/[app]/[stream]", user=""):
    return f"forward {{ enabled on; destination rtsp://{user}127.0.0.1:{port}{path}; }}"


def listener(port, out, log, path="/live/s"):
    """ffmpeg as an RTSP server: accepts one stream, and writes a hash of each packet."""
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-y", "-rtsp_flags", "listen", "-i", f"rtsp://127.0.0.1:{port}{path}",
                 "-c", "copy", "-copyinkf", "-f", "framemd5", "-flush_packets", "1", out], log)


@pytest.mark.needs("ffmpeg")
def test_ffmpeg_takes_it(srs, source, tmp_path):
    port, out = free_port(), tmp_path / "frames"
    there = listener(port, out, tmp_path / "ffmpeg.log")
    s = srs(forward(port))
    p = s.push(source, loop=True)
    assert wait_for(lambda: len(frame_list(out, "audio")) > 100, 20), there.text() + s.log()[-2000:]
    p.stop()
    p.client.close()
    there.wait(20)
    got = [x[4] for x in frame_list(out, "audio")]
    want = [x[4] for x in source_frames() if x[0] == "audio"]
    assert flv.find_run(got[:90], want * 2) >= 0
    assert len(frame_list(out, "video")) > 50
    assert s.wait_log("forward .*: ended", 5)


class Server:
    """Sends the responses of `script` in turn, and records the requests."""

    def __init__(self, script):
        self.script, self.asked, self.frames, self.last = list(script), [], 0, b""
        self.sock = socket.socket()
        self.port = free_port()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("127.0.0.1", self.port))
        self.sock.listen(8)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            while True:
                c = self.sock.accept()[0]
                try:
                    self.serve(c)
                except OSError:
                    pass
                c.close()
        except OSError:
            pass

    def serve(self, c):
        buf = b""
        while True:
            got = c.recv(65536)
            if not got:
                return
            buf += got
            while buf:
                if buf[:1] == b"$":
                    size = int.from_bytes(buf[2:4], "big") + 4
                    if len(buf) < max(size, 4):
                        break
                    self.frames += 1
                    buf = buf[size:]
                    continue
                head, end, rest = buf.partition(b"\r\n\r\n")
                body = re.search(rb"Content-Length: (\d+)", head)
                size = int(body[1]) if body else 0
                if not end or len(rest) < size:
                    break
                self.last, buf = rest[:size], rest[size:]
                method, url = head.decode().split(" ")[:2]
                status, more = 200, ""
                if self.script and self.script[0][0] == method:
                    _, status, more = self.script.pop(0)
                self.asked.append((method, url, status, head.decode()))
                cseq = re.search(r"CSeq: (\d+)", head.decode())[1]
                session = "Session: 12345678\r\n" if method != "OPTIONS" else ""
                transport = re.search(r"Transport: (.*?)\r\n", head.decode() + "\r\n")
                more += f"Transport: {transport[1]}\r\n" if transport else ""
                c.sendall(f"RTSP/1.0 {status} x\r\nCSeq: {cseq}\r\n{session}{more}\r\n".encode())

    def close(self):
        self.sock.close()


@pytest.mark.long
def test_busy_then_taken(srs, source):
    """406 while the name has another publisher there: the forward retries."""
    there = Server([("ANNOUNCE", 406, ""), ("ANNOUNCE", 406, "")])
    s = srs(forward(there.port))
    p = s.push(source, loop=True)
    assert wait_for(lambda: there.frames > 100, 20), s.log()[-2000:]
    assert [x[2] for x in there.asked if x[0] == "ANNOUNCE"] == [406, 406, 200]
    assert [x[0] for x in there.asked][-4:] == ["ANNOUNCE", "SETUP", "SETUP", "RECORD"]
    setups = [x for x in there.asked if x[0] == "SETUP"]
    assert [x[1].rpartition("/")[2] for x in setups] == ["trackID=0", "trackID=1"]
    assert "interleaved=0-1" in setups[0][3] and "interleaved=2-3" in setups[1][3]
    assert all(re.search("mode=.?record", x[3], re.I) for x in setups)
    p.stop()
    p.client.close()
    assert wait_for(lambda: there.asked[-1][0] == "TEARDOWN", 10)
    there.close()


def test_login_and_names(srs, source):
    """It logs in, shows its url in the API without the password, and escapes special characters in names."""
    ask = 'WWW-Authenticate: Digest realm="r", nonce="1"\r\n'
    there = Server([("ANNOUNCE", 401, ask)])
    port = free_port()
    s = srs(forward(there.port, "/x/[vhost]/[app]-[stream]", "u:secret1@"), conf(port))
    p = s.push(source, loop=True, stream="a#c")
    assert wait_for(lambda: there.frames > 50, 20), s.log()[-2000:]
    assert there.asked[-1][1] == f"rtsp://127.0.0.1:{there.port}/x/__defaultVhost__/live-a%23c"
    assert "Authorization: Digest" in there.asked[-1][3] and "secret1" not in str(there.asked)
    shown = Api(port).get("forwards")
    assert "secret1" not in str(shown) and "live-a%23c" in str(shown)
    p.stop()
    assert "secret1" not in s.log()
    there.close()


def test_dead_and_back(srs, source):
    """The destination dies in the middle: players notice nothing, and the forward reconnects."""
    there = Server([])
    s = srs(forward(there.port))
    own = s.watch()
    p = s.push(source, loop=True)
    assert wait_for(lambda: there.frames > 100, 20)
    there.sock.shutdown(socket.SHUT_RDWR)
    there.close()
    back = Server([])
    s.reload(forward(back.port))
    assert wait_for(lambda: back.frames > 100, 20), s.log()[-2000:]
    assert p.error is None and own.ended is None
    p.stop()
    own.stop()
    back.close()


@pytest.mark.parametrize("takeover", [pytest.param("off", marks=pytest.mark.long), "on"])
def test_to_our_own(srs, source, takeover):
    """From one of our servers to another that already has a publisher, until it leaves or is replaced."""
    port = free_port()
    there = srs(f"rtsp {{ enabled on; }} publish {{ takeover {takeover}; }}", f"rtsp_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    before = there.push(flv.cut(source, 3000), loop=True)
    seen = there.watch()
    assert seen.wait(lambda got: flv.frames(got, flv.VIDEO), 10)
    here = srs(forward(port))
    p = here.push(source, loop=True)
    if takeover == "off":
        assert here.wait_log("ANNOUNCE: 406", 10)
        assert before.error is None
        before.stop()
        before.client.close()
    assert here.wait_log(r"forward to rtsp://127.0.0.1:\d+/live/s: publishing", 20)
    n = len(seen.tags)
    assert seen.wait(lambda got: len(flv.frames(got[n:], flv.VIDEO)) >= 30, 20), there.log()[-2000:]
    got = seen.stop()
    flv.check_monotonic(got)
    want = [t.data[2:] for t in flv.frames(source, flv.AUDIO)]
    sound = [t.data[2:] for t in flv.frames(got, flv.AUDIO)][-40:]
    assert flv.find_run(sound, want * 2) >= 0
    p.stop()
