# SPDX-License-Identifier: MIT
"""The log, in the formats that operators grep for."""
import os
import re
import resource
import socket
import statistics
import time

import pytest

import amf
import httpapi
import procs
from flvgen import synthetic
from rtmpclient import Client, Closed, Rejected
from server import LINE

HTTP = """http_server {{ enabled on; listen 127.0.0.1:{web}; }}
"""

NUMBERS = r"\d+,\d+,\d+"


def lines(s):
    return s.log().splitlines()


def well_formed(s):
    """Every line is a log line or belongs to the trace of the error before it."""
    bad, cids = [], {}
    for x in lines(s):
        m = LINE.match(x)
        if m:
            assert int(m.group(2)) == s.pid
            assert (m.group(4) is not None) == (m.group(1) in ("WARN", "ERROR")), x
            cids.setdefault(m.group(3), []).append(x)
        elif not re.match(r"^\s*thread \[\d+\]\[\w*\]: \w+\(\) \[.+:\d+\]\[errno=\d+\]", x):
            bad.append(x)
    assert not bad, bad[:5]
    return cids


@pytest.mark.parametrize("tank", ["file", "console"])
def test_lines(srs, source, tank):
    s = srs(tank=tank)
    s.push(synthetic(1), loop=True)
    c = s.player()
    c.collect(1, count=20)
    c.close()
    s.client().abort()
    assert s.wait_log("client finished", 5, count=2)
    cids = well_formed(s)
    per_connection = [c for c in cids if re.fullmatch(r"\w{7,8}", c)]
    assert len(per_connection) >= 3, cids.keys()


def test_one_connection_one_id(srs):
    """The first line names the client; the last line says why it ended. All have one id."""
    s = srs()
    c = s.client()
    port = c.sock.getsockname()[1]
    c.publish("findme")
    c.close()
    assert s.wait_log(r"findme", 2)
    time.sleep(0.4)
    cids = well_formed(s)
    mine = [v for v in cids.values() if any("findme" in x for x in v)]
    assert len(mine) == 1, mine
    assert "127.0.0.1" in mine[0][0] and str(port) in mine[0][0], mine[0][0]
    assert len(mine[0]) <= 15, f"{len(mine[0])} lines for one short connection"


def test_statistics_lines(srs):
    s = srs(glob="pithy_print_ms 700;")
    s.push(synthetic(3), loop=True, speed=1)
    begin = time.monotonic()
    players = [s.watch() for _ in range(10)]
    pla = s.wait_log(rf"-> PLA time=\d+, (msgs=\d+, )?okbps={NUMBERS}, ikbps={NUMBERS}, mw=\d+/\d+", 5)
    assert pla, s.log()[-1500:]
    cpb = s.wait_log(rf"<- CPB time=\d+, okbps={NUMBERS}, ikbps={NUMBERS}, mr=\d+/\d+, "
                     r"p1stpt=\d+, pnt=\d+", 5)
    assert cpb, s.log()[-1500:]
    assert s.wait_log("-> PLA", count=3)
    n, took = len(re.findall("-> PLA", s.log())), time.monotonic() - begin
    assert n <= 3 * took / 0.7, f"{n} PLA lines in {took:.1f} s: one per kind and period, not one per client"
    assert all(p.ended is None for p in players)


@pytest.mark.long
def test_rates_are_right(srs):
    """ikbps of the publisher, after some seconds, is close to the sent rate."""
    s = srs(glob="pithy_print_ms 1000;")
    s.push(synthetic(4, size=5000), loop=True, speed=1)  # 25 * 5000 * 8 = 1000 kbit/s and audio
    assert s.wait_log("<- CPB", 10, count=4)
    rates = [int(x) for x in re.findall(r"<- CPB .*ikbps=(\d+),", s.log())]
    assert rates and 700 < statistics.median(rates[1:]) < 1600, rates


@pytest.mark.long
def test_process_line(srs):
    """Every five seconds: CPU, memory, lateness of timers."""
    s = srs()
    s.push(synthetic(2), loop=True)
    assert s.wait_log(r"Hybrid cpu=\d+\.\d+%,\d+MB", 8), s.log()[-1500:]
    assert s.wait_log(r"Hybrid cpu=.*", 14, count=2)
    text = s.log()
    assert not re.search(r"Hybrid .*cpu=-", text)


def test_banner(srs):
    """The first lines have version and configuration; the last says that the server ended."""
    s = srs()
    assert s.wait_log(rf"listening on .*{s.port}", 3)
    text = s.log()
    head = "\n".join(text.splitlines()[:30])
    assert re.search(r"\d+\.\d+\.\d+", head)
    assert str(s.port) in head
    assert s.conf_path in head or "srs.conf" in head


def test_level(srs):
    s = srs(level="warn")
    s.push(synthetic(1), speed=0)
    s.client().abort()
    c = s.client()
    c.send(b"\x09" * 1537)
    time.sleep(0.3)
    for x in lines(s):
        m = LINE.match(x)
        assert not m or m.group(1) in ("WARN", "ERROR"), x


def test_old_level_names(srs):
    s = srs(begin=False)
    s.write(conf=f"listen 127.0.0.1:{s.port};\ndaemon off;\nsrs_log_tank file;\n"
            f"srs_log_level error;\nsrs_log_file {s.log_path};\npid {s.pid_path};\n"
            "vhost __defaultVhost__ {\n}\n")
    s.start()
    s.client().connect().close()
    time.sleep(0.3)
    assert not [x for x in lines(s) if "[TRACE]" in x or "[WARN]" in x]


def test_utc_time(srs):
    s = srs(glob="utc_time on;", env={"TZ": "Asia/Shanghai"})
    assert s.wait_log(r"listening on", 3)
    now = time.gmtime()
    first = LINE.match(lines(s)[0])
    hour = int(first.group(0)[12:14])
    assert hour in (now.tm_hour, (now.tm_hour - 1) % 24)


def test_errors_have_a_code_and_a_reason(srs):
    s = srs()
    c = s.client().handshake()
    c.send(b"\x03\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00" + b"\x02\x00\x07connect\xff")
    c.send(b"\xff" * 3000)
    c.closed(3)
    m = s.wait_log(r"\[(WARN|INFO|ERROR)\].*code=(\d+)\(\w+\)\(.+\) : .+", 3)
    assert m, s.log()[-1000:]


def bytes_of(c, name, *args, sid=0, obj=None):
    """An encoded command, to be sent many times."""
    return c.w.message(3, 20, 0, sid, amf.encode(name, 9, obj, *args), fmt=0)


@pytest.mark.long
def test_a_player_that_pauses_without_end_fills_no_log(srs, source):
    s = srs()
    s.push(source, loop=True)
    c = s.player()
    flood = b"".join(bytes_of(c, "pause", bool(i % 2), 0, sid=c.sid) for i in range(500))
    before, end = s.mark(), time.monotonic() + 2
    sent = 0
    while time.monotonic() < end:
        c.sock.sendall(flood)
        c.sock.recv(1 << 20)
        sent += 500
    lines_then = s.log()[before:].count("\n")
    assert sent > 5000 and lines_then < 120, f"{lines_then} lines for {sent} pauses"
    c.close()
    assert s.wait_log(r"\[WARN\].* \d+ lines more of (this client|clients that neither) .*left out", 8), s.log()[-1500:]
    assert s.wait_log(r"Hybrid cpu=", 8, before), "lines of the server itself are missing"


@pytest.mark.long
def test_who_connects_without_end_fills_no_log(srs, source):
    s = srs()
    watcher = s.watch()
    s.push(source, loop=True)
    before, end = s.mark(), time.monotonic() + 2
    made = 0
    hello = Client(s.port)
    connect = bytes_of(hello, "connect", obj={"app": "live", "tcUrl": f"rtmp://127.0.0.1:{s.port}/live"})
    one = b"\3" + bytes(1536) + bytes(1536) + connect
    while time.monotonic() < end:
        with socket.create_connection(("127.0.0.1", s.port)) as sock:
            sock.sendall(one if made % 2 else b"GET / HTTP/1.1\r\n\r\n" * 100)
            made += 1
    assert made > 500
    assert s.log()[before:].count("\n") < 500, f"{s.log()[before:].count(chr(10))} lines for {made} connections"
    assert s.wait_log(r"\[WARN\]\[\d+\]\[-\]\[0\] \d+ lines more of clients that neither publish nor play were left out",
                      8, before), s.log()[-1500:]
    assert s.wait_log(r"Hybrid cpu=", 8, before)
    at = s.mark()
    s.reload(glob="pithy_print_ms 2000;")
    assert "reload: done" in s.log()[at:]
    watcher.stop()


FORGED = "\r\n[2026-01-02 03:04:05.678][ERROR][1][-][0] forged \x1b[2J\u009b2J\u2028\u202e"


@pytest.mark.parametrize("where", ["tcUrl", "pageUrl", "swfUrl", "app", "stream", "command",
                                   pytest.param("http", marks=pytest.mark.long)])
def test_log_lines_cannot_be_forged(srs, source, where):
    s = srs("http_remux { enabled on; }", glob=HTTP.format(web=(web := procs.free_port())))
    s.allow_errors = True  # it looks for the word; this looks for the level of a line
    c = Client(s.port)
    try:
        if where in ("tcUrl", "pageUrl", "swfUrl", "app"):
            c.connect(**{where if where != "tcUrl" else "tcurl": ("rtmp://127.0.0.1/live" if where == "tcUrl" else "") + FORGED})
            c.create_stream()
            c.call("play", "x", sid=c.sid)
        elif where == "http":
            with socket.create_connection(("127.0.0.1", web)) as sock:
                sock.sendall(b"GET /live/x%0a%1b%5bforged.flv?forged=%0d%0a HTTP/1.1\r\nHost: a\r\n\r\n")
                assert s.wait_log("HTTP client identified", 3)
        else:
            c.handshake()
            if where == "command":
                c.call("x" + FORGED[:20])
            else:
                c.publish("x" + FORGED, wait=False)
        c.command(timeout=0.3)
    except (Closed, Rejected, TimeoutError, socket.timeout, OSError):
        pass
    c.close()
    assert s.wait_log("client finished", 5), s.log()
    well_formed(s)
    with open(s.log_path, "rb") as f:
        text = f.read()
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert "\u009b" not in text.decode() and "\u202e" not in text.decode()
    assert not re.search(rb"^.{25}\[ERROR\]", text, re.M)


def test_the_log_keeps_tokens_to_itself(srs, source):
    hook = "http_remux { enabled on; } exec { enabled on; publish sh -c 'sleep 9' sh [url]; }"
    api = httpapi.Api(procs.free_port())
    glob = HTTP.format(web=(web := procs.free_port())) + httpapi.conf(api.port)
    s = srs(hook, glob=glob)
    assert oct(os.stat(s.log_path).st_mode & 0o777) == "0o640"
    s.push(source, "cam?token=hush", loop=True, tcurl=f"rtmp://127.0.0.1:{s.port}/live?key=hush")
    s.client().play("cam?token=hush", tcurl=f"rtmp://127.0.0.1:{s.port}/live?vhost=a.b&key=hush", wait=False)
    with socket.create_connection(("127.0.0.1", web)) as sock:
        sock.sendall(b"GET /live/cam.flv?token=hush HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer hush\r\n\r\n")
        assert s.wait_log(r"HTTP client identified, .*param=\?\*\*\*$", 3)
    assert s.wait_log(r"client identified, type=.*publish.*param=\?\*\*\*$", 3)
    assert s.wait_log(r"exec sh: started.*/cam\?\*\*\*", 3), s.log()
    assert re.search(r"tcUrl=rtmp://127.0.0.1:\d+/live\?\*\*\*, pageUrl", s.log())
    assert "hush" not in s.log()
    told = str([api.get(path) for path in ("streams/", "clients/", "children")])
    assert told.count("?***") >= 3 and "hush" not in told, told
    s.reload(hook, glob=glob + "log_secrets on;")
    assert "key=hush" in str(api.streams())
    s.client().play("cam?token=hush", wait=False)
    assert s.wait_log(r"client identified, type=Play.*param=\?token=hush$", 3)


def test_who_has_the_password_sees_parameters(srs, source):
    api = httpapi.Api(procs.free_port(), "me:secret")
    s = srs(glob=httpapi.conf(api.port, "auth { enabled on; username me; password secret; }"))
    s.push(source, "cam", loop=True, tcurl=f"rtmp://127.0.0.1:{s.port}/live?key=hush")
    assert procs.wait_for(lambda: "key=hush" in str(api.streams()), 3)
    assert "key=hush" in str(api.clients()) and "hush" not in s.log()


def test_a_crash_leaves_no_core(srs, tmp_path):
    """A limit of 1 prevents a core file and a core dump to a program."""
    for wanted in ("off", "on"):
        s = srs(glob=f"core_dump {wanted};", begin=False, name=wanted)
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        s.start()
        with open(f"/proc/{s.pid}/limits") as f:
            line = [x for x in f if x.startswith("Max core file size")][0].split("size")[1].split()
        if wanted == "off":
            assert line[0] in ("1", "0"), line
        else:
            assert line[0] == line[1] == ("unlimited" if hard < 0 else str(hard)), line
