# SPDX-License-Identifier: MIT
"""One address cannot take everything: limits on its connections and their rate."""
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import amf
import flv
import httpapi
import pytest
import webclient
from procs import free_port, never, wait_for
from rtmpclient import ChunkWriter, Rejected


def sockets(port, n, ip):
    """Opens n bare connections from one address, as a rude client does."""
    made = []
    for _ in range(n):
        s = socket.socket()
        s.bind((ip, 0))
        s.settimeout(5)
        s.connect(("127.0.0.1", port))
        s.setblocking(False)
        made.append(s)
    return made


def is_open(s):
    try:
        return s.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def open_ones(made):
    return sum(1 for s in made if is_open(s))


def close(made):
    for s in made:
        s.close()


def refused(api, kind):
    return api.get("summaries")["data"]["refused"][kind]


def limited(srs, limits, **how):
    api = free_port()
    s = srs(glob=httpapi.conf(api, more=f"limits {{ limit_private on; {limits} }}"), **how)
    return s, httpapi.Api(api)


def test_one_address_does_not_take_all(srs, source):
    """40 places, all wanted by one address: it gets five, and others publish and play."""
    s, api = limited(srs, "per_address 5;")
    held = sockets(s.port, 60, "127.0.0.2")
    assert wait_for(lambda: open_ones(held) == 5)
    p = s.push(source, client={"bind": "127.0.0.3"}, loop=True)
    v = s.watch(client={"bind": "127.0.0.4"})
    assert v.wait(lambda got: len(got) > 20, 5) and p.is_alive()
    assert never(lambda: open_ones(held) != 5, 0.3)
    assert refused(api, "per_address") == 55
    assert s.wait_log(r"refused \d+ connections, the last one of 127\.0\.0\.2: per_address is 5", 2)
    assert len([x for x in s.log().splitlines() if "refused" in x]) <= 2, "no line for each"
    close(held)
    again = []
    assert wait_for(lambda: again.extend(sockets(s.port, 1, "127.0.0.2")) or open_ones(again[-1:]))
    close(again)


def test_reload_changes_the_number(srs):
    s, _ = limited(srs, "per_address 3;")
    held = sockets(s.port, 5, "127.0.0.2")
    assert wait_for(lambda: open_ones(held) == 3)
    s.reload(glob="limits { limit_private on; per_address 4; }")
    more = sockets(s.port, 3, "127.0.0.2")
    assert wait_for(lambda: open_ones(more) == 1)
    s.reload(glob="limits { per_address 4; }")
    free = sockets(s.port, 3, "127.0.0.2")
    time.sleep(0.3)
    assert open_ones(free) == 3, "a private address must have no limit by default"
    close(held + more + free)


def test_half_is_for_others(srs):
    """The default: half of max_connections."""
    s = srs(glob="max_connections 20; limits { limit_private on; }")
    held = sockets(s.port, 30, "127.0.0.2")
    assert wait_for(lambda: open_ones(held) == 10)
    close(held)


def test_connects_are_paced(srs, source):
    """3 a second, and those of 10 s at once; slower clients do not notice."""
    s, api = limited(srs, "connects_per_second 3;")
    t0, tries, got = time.monotonic(), 0, 0
    while time.monotonic() - t0 < 1.5:
        one = sockets(s.port, 10, "127.0.0.2")
        tries += len(one)
        time.sleep(0.02)
        got += open_ones(one)
        close(one)
    allowed = 30 + 3 * (time.monotonic() - t0) + 2
    assert wait_for(lambda: refused(api, "connects_per_second") >= tries - allowed)
    assert tries > 60
    p = s.push(source, client={"bind": "127.0.0.3"}, loop=True)
    assert s.watch(client={"bind": "127.0.0.3"}).wait(lambda got: len(got) > 20, 5) and p.is_alive()
    assert s.wait_log(r"the last one of 127\.0\.0\.2: connects_per_second is 3", 2)


def test_who_says_nothing_is_sent_away(srs):
    """Nothing at all, a handshake without connect, a connect without publish or play."""
    s = srs(glob="limits { handshake_timeout 0.5; idle_timeout 0.5; }")
    silent = sockets(s.port, 3, "127.0.0.2")
    half, idle = s.client(), s.client()
    half.handshake()
    idle.connect()
    assert wait_for(lambda: open_ones(silent) == 0)
    assert half.closed(3) and idle.closed(3)
    close(silent)


# ---- names

def said_at_once(port, names):
    """One RTMP connection that requests all of these streams in a row."""
    w = ChunkWriter()
    said = [(0, amf.encode("connect", 1, {"app": "live", "tcUrl": f"rtmp://127.0.0.1:{port}/live"}))]
    for i, name in enumerate(names):
        said += [(0, amf.encode("createStream", 2 + i, None)), (1, amf.encode("play", 0, None, name))]
    return b"\3" + bytes(2 * 1536) + b"".join(w.message(3, 20, 0, sid, data, fmt=0) for sid, data in said)


def test_the_storm_of_names(srs):
    """Players that wait for unpublished streams: one for each connection, whatever it requests, and nothing is left of them."""
    web, port = free_port(), free_port()
    s = srs("http_remux { enabled on; }", f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}" + httpapi.conf(port))
    api, held = httpapi.Api(port), []
    for i in range(20):
        held.append(socket.create_connection(("127.0.0.1", s.port)))
        held[-1].sendall(said_at_once(s.port, [f"a{i}b{k}" for k in range(20)]))
        held.append(socket.create_connection(("127.0.0.1", web)))
        held[-1].sendall("".join(f"GET /live/h{i}c{k}.flv HTTP/1.1\r\nHost: h\r\n\r\n" for k in range(20)).encode())
    assert wait_for(lambda: len(api.clients()) == 40, 5), len(api.clients())
    assert never(lambda: len(api.clients()) > 40 or len(api.streams()) > 40, 0.5)
    close(held)
    assert wait_for(lambda: not api.clients() and not api.streams(), 10)


# ---- bandwidth

def test_a_publisher_is_held(srs, source):
    """A stream of 300 kbit/s pushed twenty times as fast: data over publish_kbps is read late, and no publisher is disconnected."""
    s = srs("bandwidth { publish_kbps 1000; }")
    p = s.push(source, speed=20, loop=True)
    assert s.wait_log(r"publisher of .*live/s sends more than publish_kbps 1000", 5)
    v = s.watch()
    assert v.wait(lambda got: len(got) > 5, 5)
    assert never(lambda: not p.is_alive(), 0.6)
    assert len(s.log().split("sends more than publish_kbps")) == 2, "not one line"


def test_downloads_are_paced(srs, tmp_path):
    """4 MB at 16000 kbit/s take about 2 s; the kernel allows an initial burst."""
    web = free_port()
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "big.bin").write_bytes(b"x" * 4000000)
    s = srs("bandwidth { play_kbps 16000; }",
            f"http_server {{ enabled on; listen 127.0.0.1:{web}; dir {tmp_path}/html; }}")
    t = time.monotonic()
    assert len(webclient.once(web, "/big.bin").body) == 4000000
    assert 1 < time.monotonic() - t < 8
    s.reload("", f"http_server {{ enabled on; listen 127.0.0.1:{web}; dir {tmp_path}/html; }}")
    t = time.monotonic()
    assert len(webclient.once(web, "/big.bin").body) == 4000000
    assert time.monotonic() - t < 1


def test_a_full_vhost_takes_no_more_players(srs, source):
    api = free_port()
    s = srs("bandwidth { out_kbps 1000; }", httpapi.conf(api))
    s.push(source, loop=True)
    a = httpapi.Api(api)
    assert wait_for(lambda: 100 < (a.stream("s") or {"kbps": {"recv_30s": 0}})["kbps"]["recv_30s"] < 800, 10)
    watching = []

    def refused():
        try:
            watching.append(s.watch())
            return None
        except Rejected as e:
            return e
    e = wait_for(lambda: refused() if len(watching) < 30 else AssertionError(), 10, 0)
    assert e.code == "NetStream.Play.Failed" and "is full" in str(e.info), e
    assert 1 <= len(watching) < 10
    assert all(w.wait(lambda got: len(got) > 10, 5) for w in watching)
    assert s.wait_log(r"refused 1 players: vhost __defaultVhost__ sends \d+ kbps, out_kbps", 2)
    assert a.get("summaries")["data"]["refused"]["vhost_out"] == 1


def test_a_full_vhost_takes_no_more_publishers(srs, source):
    """Soon after it is full; at most those of about a second are too many."""
    s = srs("bandwidth { in_kbps 1500; }")
    on, end = [s.push(source, "a", loop=True)], time.monotonic() + 12
    while time.monotonic() < end:
        try:
            on.append(s.push(source, f"s{len(on)}", loop=True))
        except Rejected as e:
            assert e.code == "NetStream.Publish.Denied"
            break
        time.sleep(0.2)  # a stream of 0.3 Mbit/s each
    assert 4 <= len(on) <= 13, len(on)
    assert s.wait_log(r"refused 1 publishers: vhost __defaultVhost__ receives \d+ kbps, in_kbps", 2)


# ---- disks

def files(folder, end):
    return [os.path.join(top, n) for top, _, names in os.walk(folder) for n in names
            if n.endswith(end)]


def size_of(folder, *ends):
    return sum(os.path.getsize(f) for end in ends for f in files(folder, end))


def test_recordings_keep_a_quota(srs, source, tmp_path):
    """Endless publishing: recordings end at the quota, complete, and continue when there is room; the stream and its players notice
    nothing."""
    rec, api = tmp_path / "rec", free_port()
    s = srs(f"dvr {{ enabled on; dvr_path {rec}/[app]/[stream].[timestamp].flv; dvr_quota 1m; }}",
            httpapi.conf(api))
    p = s.push(source, speed=20, loop=True)
    v = s.watch()
    assert s.wait_log(r"1 recordings stop, the last one of live/s: .*/rec/ has \d MB of recordings, "
                      r"dvr_quota is 1 MB", 15)
    assert wait_for(lambda: files(rec, ".flv") and not files(rec, ".tmp"))
    got = size_of(rec, ".flv")
    assert 1 << 19 < got < 3 << 19, got
    assert flv.read(files(rec, ".flv")[0]), "not a complete file"
    assert never(lambda: size_of(rec, ".flv", ".tmp") != got, 0.5)
    n = len(v.tags)
    assert v.wait(lambda t: len(t) > n + 100, 5) and p.is_alive()
    assert httpapi.Api(api).get("summaries")["data"]["refused"]["dvr_disk"] == 1
    os.remove(files(rec, ".flv")[0])
    assert wait_for(lambda: files(rec, ".tmp"), 10), "it does not continue"


def test_segments_keep_a_quota(srs, source, tmp_path):
    """Segments over the quota stay in memory, and players get them from there."""
    web, html = free_port(), tmp_path / "html"
    s = srs(f"hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 20; "
            "hls_quota 500k; hls_ctx off; hls_ts_ctx off; }",
            f"http_server {{ enabled on; listen 127.0.0.1:{web}; dir {html}; }}")
    p = s.push(source, speed=10, loop=True)
    assert s.wait_log(r"segments of 1 streams stay in memory, the last one is HLS of live/s: the quota "
                      r"is exhausted", 15)

    def newest():
        text = webclient.once(web, "/live/s.m3u8").body.decode()
        return [x for x in text.splitlines() if x and not x.startswith("#")][-1]
    first = newest()
    assert wait_for(lambda: newest() != first, 5)
    name = newest().split("?")[0]
    assert len(webclient.once(web, "/live/" + name).body) > 10000
    assert not (html / "live" / name).exists(), "it is not only in memory"
    assert size_of(html, ".ts") < 800000 and p.is_alive()


# ---- many clients that come and go

def come_and_go(s, tags, first, count):
    """Publishers of new streams that leave in every possible way."""
    for i in range(first, first + count):
        c = s.publisher(f"s{i}", flow=("fmle", "flash")[i % 2])
        for tag in tags:
            c.send_tag(tag)
        if i % 4 == 0:
            c.unpublish()
        elif i % 4 == 1:
            c.send(b"\x04\0\0\0\0\xff\0\x09\x01\0\0\0half of a message")
        if i % 4 == 2:
            c.abort()
        c.close()


@pytest.mark.long
def test_ten_thousand_publishers(srs, source, tmp_path):
    """Memory, descriptors, streams and coroutines are freed when they have gone."""
    api, html = free_port(), tmp_path / "html"
    s = srs(f"hls {{ enabled on; hls_path {html}; hls_dispose 1; hls_quota 1g; }}\n"
            f"dvr {{ enabled on; dvr_path {html}/[stream].flv; dvr_quota 1g; }}",
            httpapi.conf(api))
    a = httpapi.Api(api)

    def rest():
        assert wait_for(lambda: not a.streams() and not a.clients(), 30, 0.5)
        assert wait_for(lambda: not files(html, ".m3u8"), 30, 0.5), "segments are not deleted"
        return len(os.listdir(f"/proc/{s.pid}/fd")), s.rss()

    def wave(first, count):
        with ThreadPoolExecutor(4) as pool:
            for f in [pool.submit(come_and_go, s, source[:30], first + count // 4 * k, count // 4)
                      for k in range(4)]:
                f.result()
        return rest()
    fds, rss = wave(0, 1000)
    for n in range(1, 10):
        more_fds, more_rss = wave(n * 1000, 1000)
    assert more_fds <= fds + 4
    assert more_rss < rss + 8192, f"{rss} kB after 1,000, {more_rss} kB after 10,000"
