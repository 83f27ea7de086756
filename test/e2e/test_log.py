# SPDX-License-Identifier: MIT
"""The log, in the shapes that operators grep for."""
import re
import statistics
import time

import pytest

from flvgen import synthetic
from server import LINE

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
    time.sleep(0.5)
    cids = well_formed(s)
    per_connection = [c for c in cids if re.fullmatch(r"\w{7,8}", c)]
    assert len(per_connection) >= 3, cids.keys()


def test_one_connection_one_id(srs):
    """First line: who and where; last line: why it ended. All with one id."""
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


def test_rates_are_right(srs):
    """ikbps of the publisher, after some seconds, is near what is sent."""
    s = srs(glob="pithy_print_ms 1000;")
    s.push(synthetic(4, size=5000), loop=True, speed=1)  # 25 * 5000 * 8 = 1000 kbit/s and audio
    assert s.wait_log("<- CPB", 10, count=4)
    rates = [int(x) for x in re.findall(r"<- CPB .*ikbps=(\d+),", s.log())]
    assert rates and 700 < statistics.median(rates[1:]) < 1600, rates


@pytest.mark.long
def test_process_line(srs):
    """Every five seconds: processor, memory, lateness of timers."""
    s = srs()
    s.push(synthetic(2), loop=True)
    assert s.wait_log(r"Hybrid cpu=\d+\.\d+%,\d+MB", 8), s.log()[-1500:]
    assert s.wait_log(r"Hybrid cpu=.*", 14, count=2)
    text = s.log()
    assert not re.search(r"Hybrid .*cpu=-", text)


def test_banner(srs):
    """The first lines say version and configuration; the last that it ended."""
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
    time.sleep(0.6)
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
