# SPDX-License-Identifier: MIT
"""Reload: applied or rejected as a whole, while streams run."""
import time

import pytest

import flv
from flv import VIDEO
from flvgen import synthetic
from procs import comes_to_rest, free_port, wait_for, wait_port
from rtmpclient import Client, Closed, Rejected


def test_reload_under_load(srs):
    """20 reloads with various changes; no frame is lost or changed."""
    s = srs("play { queue_length 10; }")
    watchers = [s.watch() for _ in range(5)]
    p = s.push(synthetic(12), speed=1)
    for i in range(20):
        s.reload(f"chunk_size {128 + i * 1000};\n play {{ queue_length {5 + i % 3}; "
                 f"mw_latency {100 + 50 * (i % 4)}; }} publish {{ mr {'on' if i % 2 else 'off'}; }}",
                 glob=f"pithy_print_ms {5000 + i};\nmax_connections {500 + i};")
        time.sleep(0.05)
    p.stop()
    assert p.error is None
    want = flv.hashes(p.pushed, VIDEO)
    for w in watchers:
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= len(want), 3)
        assert flv.hashes(w.stop(), VIDEO) == want


BROKEN = {
    "syntax": "listen 127.0.0.1:{port};\nvhost a {{\n",
    "unknown": "listen 127.0.0.1:{port};\nno_such_thing on;\n",
    "empty": "",
    "bad value": "listen 127.0.0.1:{port};\nmax_connections -7;\n",
    "listener": "listen 127.0.0.1:{port} 127.0.0.1:{taken};\nchunk_size 3333;\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_failing_reload_keeps_the_old_one_whole(srs, name):
    import socket
    s = srs("chunk_size 4000;")
    with socket.socket() as blocker:
        blocker.bind(("127.0.0.1", free_port()))
        blocker.listen(1)
        p = s.push(synthetic(2), loop=True)
        w = s.watch()
        with open(s.conf_path) as f:
            old = f.read()
        s.write(conf=BROKEN[name].format(port=s.port, taken=blocker.getsockname()[1]))
        log = s.reload(ok=False)
        assert "[WARN]" in log or "[ERROR]" in log
    n = len(w.tags)
    assert w.wait(lambda got: len(got) > n + 20, 3), "the stream stopped"
    assert p.error is None
    c = s.client().connect()
    c.create_stream()
    assert [int.from_bytes(m.data, "big") for m in c.seen if m.type == 1] == [4000]
    with open(s.conf_path, "w") as f:
        f.write(old.replace("chunk_size 4000", "chunk_size 5000"))
    s.reload()
    c = s.client().connect()
    c.create_stream()
    assert [int.from_bytes(m.data, "big") for m in c.seen if m.type == 1] == [5000]
    s.allow_errors = True


def test_listeners_move(srs):
    """A new port opens, an old one closes, connected clients stay."""
    s = srs()
    p = s.push(synthetic(2), loop=True)
    w = s.watch()
    old, new = s.port, free_port()
    s.port = new
    s.reload("")
    assert wait_port(new, 3)
    w2 = s.watch()
    assert w2.wait(lambda got: len(flv.frames(got)) > 10, 3)
    n = len(w.tags)
    assert w.wait(lambda got: len(got) > n + 20, 3)
    assert p.error is None
    with pytest.raises(OSError):
        Client(old)


def test_vhost_is_added_and_removed(srs):
    base = "vhost __defaultVhost__ {\n}\n"
    s = srs("vhost one {\n}\n")
    url = f"rtmp://two:{s.port}/live"
    with pytest.raises((Rejected, Closed)):
        s.publisher(tcurl=url)
    s.reload(base + "vhost one {\n}\nvhost two {\n chunk_size 1234;\n}\n")
    c = s.publisher(tcurl=url)
    c.close()
    s.reload(base.replace("__defaultVhost__", "zero") + "vhost one {\n}\n")
    with pytest.raises((Rejected, Closed)):
        s.publisher(tcurl=url)
    s.publisher(tcurl=f"rtmp://one:{s.port}/live")


def test_vhost_is_removed_while_it_is_used(srs, source):
    """Its clients are disconnected properly; those of other vhosts stay."""
    s = srs("vhost one {\n}\nvhost two {\n}\n")
    pushers, watchers = [], []
    for name in ("one", "two"):
        tcurl = f"rtmp://{name}/live"
        pushers.append(s.push(source, loop=True, tcurl=tcurl))
        watchers.append(s.watch(tcurl=tcurl))
        assert watchers[-1].wait(lambda got: len(got) > 10)
    s.reload("vhost two {\n}\n")
    assert wait_for(lambda: watchers[0].ended and pushers[0].error, 10)
    n = len(watchers[1].tags)
    assert watchers[1].wait(lambda got: len(got) > n + 20)
    for p in pushers:
        p.stop()


def test_vhost_options_reach_players_that_are_there(srs):
    """queue_length and mw_latency of a running stream."""
    s = srs("play { mw_latency 1800; mw_msgs 128; }")
    p = s.push(synthetic(2, audio=False), loop=True)
    w = s.watch()
    time.sleep(0.5)
    s.reload("play { mw_latency 50; mw_msgs 1; }")
    time.sleep(2)
    n = len(w.arrivals)

    def wakes():
        late = [at for at, t in w.arrivals[n:] if t.type == VIDEO]
        return sum(b - a > 0.02 for a, b in zip(late, late[1:]))
    began = time.monotonic()
    assert wait_for(lambda: wakes() >= 8)
    assert time.monotonic() - began < 8, "8 wakeups, 1.8 s apart as before, would take 14 s"
    w.stop()
    assert p.error is None


def test_report_says_what_was_applied_and_what_needs_a_restart(srs):
    s = srs(glob="utc_time off;\nmax_connections 100;")
    log = s.reload(glob="utc_time off;\nmax_connections 200;\nwork_dir /tmp;")
    assert "max_connections" in log
    assert "work_dir" in log and "restart" in log


def test_max_connections_is_reloaded(srs):
    s = srs(glob="max_connections 2;")
    held = [s.client().connect() for _ in range(2)]
    s.reload(glob="max_connections 10;")
    held += [s.client().connect() for _ in range(5)]
    assert len(held) == 7
    s.allow_errors = True


def test_security_is_reloaded(srs):
    s = srs()
    s.publisher("a").close()
    s.reload("security { enabled on; deny publish all; }")
    with pytest.raises((Rejected, Closed)):
        s.publisher("b")
    s.player("a").close()


def test_forward_is_switched_on_while_the_stream_runs(srs, tmp_path):
    far = srs()
    s = srs()
    p = s.push(synthetic(2), loop=True)
    w = far.watch()
    s.reload(f"forward {{ enabled on; destination 127.0.0.1:{far.port}; }}")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 6), s.log()[-1500:]
    s.reload("")
    assert comes_to_rest(lambda: len(w.tags), 0.6), "switched off again"
    assert p.error is None


def test_nothing_changed(srs):
    s = srs()
    p = s.push(synthetic(2), loop=True)
    s.reload()
    s.reload()
    assert p.error is None


@pytest.mark.parametrize("what", ["pithy_print_ms 700;"])
def test_pithy_print_is_reloaded(srs, what):
    s = srs(glob="pithy_print_ms 60000;")
    s.push(synthetic(2), loop=True)
    time.sleep(0.5)
    at = s.mark()
    s.reload(glob=what)
    assert s.wait_log(r"<- CPB", 4, at)
