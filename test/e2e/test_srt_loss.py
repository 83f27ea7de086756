# SPDX-License-Identifier: MIT
"""SRT over networks that lose, duplicate, reorder and break: everything that can be retransmitted in time arrives, and a client that
was cut off gets in again."""
import signal
import time

import pytest

import flv
from flv import AUDIO, VIDEO
from procs import SOURCE, SLOW, Proc, free_port, wait_for
from test_bench_tools import last_object, run, tool
from rtmpclient import Rejected
from test_srt_play import MODES, PASSPHRASE, serve, url
from udprelay import Relay

BAD = {"loss": 0.05, "run": 2, "twice": 0.01, "late": 0.02, "one_way": 0.02}  # round trip 40 ms
WORSE = {"loss": 0.2, "one_way": 0.02}
KEYS = pytest.mark.parametrize("key", [0, 16, 32])


@pytest.fixture
def relay():
    """relay(s, loss=...) starts one to server s; all are ended."""
    them = []

    def begin(s, **how):
        them.append(Relay(s.srt_port, **how))
        return them[-1]
    yield begin
    for r in them:
        r.stop()


def serve_with_api(srs, key=0, latency=400, more=""):
    return serve(srs, key, f"latency {latency}; }} {more} http_server {{ enabled off;")


def serve_vhost(srs, vhost, server=""):
    port = free_port()
    s = srs("srt { enabled on; } " + vhost, f"srt_server {{ enabled on; listen 127.0.0.1:{port}; {server} }}")
    s.srt_port, s.secret = port, ""
    return s


def encoder(s, port, tmp_path, latency=400, name="encoder", secret=None):
    """ffmpeg that publishes a file in a loop."""
    to = url(s, "publish", f"&pkt_size=1316&latency={latency}000")
    if secret is not None:
        to = to.replace(s.secret, secret) if s.secret else to + secret
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "warning", "-re", "-stream_loop", "-1", "-i", SOURCE, "-c",
                 "copy", "-f", "mpegts", to.replace(str(s.srt_port), str(port))], tmp_path / f"{name}.log")


def player(s, port, tmp_path, latency=400):
    out = tmp_path / "out.ts"
    there = url(s, "request", f"&latency={latency}").replace(str(s.srt_port), str(port))
    return out, Proc(["srt-live-transmit", "-q", there, "file://con"], tmp_path / "play.log", stdout=open(out, "wb"))


def figures(s, type):
    """The API's statistics of the only client of this type."""
    mine = [c for c in s.api.clients() if c["type"] == type]
    return mine[0]["srt"] if len(mine) == 1 else None


def whole(s, source, w, seconds):
    """Checks that some seconds of audio arrive over RTMP without a gap."""
    assert w.wait(lambda got: got and got[-1].ts - got[0].ts > seconds * 1000, seconds * 3 + 10), s.log()[-2000:]
    got, all_of_it = flv.hashes(w.stop(), AUDIO), flv.hashes(source, AUDIO)
    rounds = len(got) // len(all_of_it) + 2
    assert len(got) > seconds * 20 and flv.find_run(got, all_of_it * rounds) >= 0, len(got)


def ts_faults(path):
    """Number of TS packets that are invalid, or missing by their counters. One may come twice (tables at a join)."""
    data, last, faults = path.read_bytes(), {}, 0
    for at in range(0, len(data) - 187, 188):
        pid, count = int.from_bytes(data[at + 1:at + 3], "big") & 0x1fff, data[at + 3] & 15
        if data[at] != 0x47:
            faults += 1
            continue
        if data[at + 3] & 16:
            faults += last.get(pid, count) not in (count, count - 1 & 15)
            last[pid] = count
    return faults


def test_lost_packets_of_a_publisher_come_again(srs, source, tmp_path, relay):
    s = serve_with_api(srs, 16)
    r = relay(s, **BAD)
    p = encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), p.text() + s.log()[-2000:]
    whole(s, source, s.watch(), 1.5)
    got = figures(s, "srt-publish")
    assert r.lost > 0 and got["pktRcvLoss"] > 0 and got["pktRcvDrop"] == 0, got


@pytest.mark.long
@KEYS
def test_nothing_of_a_publisher_is_lost(srs, source, tmp_path, relay, key):
    s = serve_with_api(srs, key)
    r = relay(s, **BAD)
    p = encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), p.text() + s.log()[-2000:]
    whole(s, source, s.watch(), 15)
    got = figures(s, "srt-publish")
    print(got)
    assert got["pktRcvLoss"] > 10 and got["pktRcvDrop"] == got["pktRcvUndecrypt"] == 0, got
    assert got["keyLength"] == key and got["msRcvTsbPdDelay"] == 400


@pytest.mark.long
@KEYS
@pytest.mark.needs("srt-live-transmit")
def test_nothing_for_a_player_is_lost(srs, source, tmp_path, relay, key):
    s = serve_with_api(srs, key)
    s.push(source, loop=True, ahead=1)
    r = relay(s, **BAD)
    out, p = player(s, r.port, tmp_path)
    assert wait_for(lambda: (figures(s, "srt-play") or {}).get("pktSent", 0) > 1500, 25), p.text() + s.log()[-2000:]
    got = figures(s, "srt-play")
    p.end()
    print(got)
    assert got["pktSndLoss"] > 10 and got["pktSndDrop"] == 0, got
    assert ts_faults(out) == 0 and out.stat().st_size > 1000000


@pytest.mark.long
@pytest.mark.needs("gst-launch-1.0")
def test_gstreamer_both_ways(srs, tmp_path, relay):
    """It sends through one bad network, and plays through another."""
    s = serve_with_api(srs, 16)
    there = ["streamid=" + MODES.format("publish"), "passphrase=" + PASSPHRASE, "pbkeylen=16", "latency=400"]
    words = (f"filesrc location={SOURCE} ! flvdemux name=d mpegtsmux alignment=7 name=m ! srtsink wait-for-connection=false "
             f"uri=srt://127.0.0.1:{relay(s, **BAD).port}").split()
    p = Proc(["gst-launch-1.0", *words, *there, "d.video", "!", "queue", "!", "h264parse", "!", "m.", "d.audio", "!", "queue",
              "!", "aacparse", "!", "m."], tmp_path / "gst.log")
    assert s.wait_log("SRT publisher of .*live/s", 5), p.text() + s.log()[-2000:]
    out, there[0] = tmp_path / "out.ts", "streamid=" + MODES.format("request")
    Proc(["gst-launch-1.0", "-q", "srtsrc", f"uri=srt://127.0.0.1:{relay(s, seed=2, **BAD).port}", *there, "!", "filesink",
          f"location={out}", "buffer-mode=unbuffered"], tmp_path / "play.log")
    got = far_enough(s, "srt-play", "pktSent", 400)
    assert got["pktSndLoss"] > 5 and got["pktSndDrop"] == 0, got
    got = figures(s, "srt-publish")
    assert got["pktRcvLoss"] > 5 and got["pktRcvDrop"] == 0, got
    assert out.stat().st_size > 200000 and ts_faults(out) == 0


def far_enough(s, type, what, packets):
    """Its statistics once enough packets went through."""
    assert wait_for(lambda: (figures(s, type) or {}).get(what, 0) > packets, 60, 0.2), s.log()[-2000:]
    got = figures(s, type)
    print(got)
    return got


@pytest.mark.long
def test_much_is_lost_of_a_publisher(srs, tmp_path, relay):
    s = serve_with_api(srs, 0, 1000)
    encoder(s, relay(s, **WORSE).port, tmp_path, 1000)
    got = far_enough(s, "srt-publish", "pktRecv", 1200)
    assert got["pktRcvLoss"] > 150 and got["pktRcvDrop"] <= got["pktRecv"] / 1000, got
    assert got["pktRcvRetrans"] <= 1.5 * got["pktRcvLoss"], got


@pytest.mark.long
@pytest.mark.needs("srt-live-transmit")
def test_much_is_lost_for_a_player(srs, source, tmp_path, relay):
    s = serve_with_api(srs, 0, 1000)
    s.push(source, loop=True, ahead=1)
    r = relay(s, **WORSE)
    out, _ = player(s, r.port, tmp_path, 1000)
    got = far_enough(s, "srt-play", "pktSent", 2000)
    assert got["pktSndLoss"] > 200 and got["pktSndDrop"] <= got["pktSent"] / 1000, got
    assert got["pktRetrans"] <= 1.5 * got["pktSndLoss"], got
    assert ts_faults(out) <= 3


def gaps(w, since, longest=0.5):
    """Long gaps in what arrived over RTMP: (from, to)."""
    at = [t for t, tag in w.arrivals if tag.type == VIDEO and t >= since]
    return [(a, b) for a, b in zip(at, at[1:]) if b - a > longest]


@pytest.mark.long
def test_all_is_lost_for_three_seconds(srs, tmp_path, relay):
    """An encoder stays connected, and continues as soon as it can."""
    s = serve_with_api(srs)
    r = relay(s, one_way=0.02)
    encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), s.log()[-2000:]
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) > 60, 10)
    r.is_cut = True
    time.sleep(3)
    back, r.is_cut = time.monotonic(), False
    assert wait_for(lambda: w.arrivals and w.arrivals[-1][0] > back + 3, 10)
    assert w.ended is None
    seen = gaps(w, back - 3.5)
    print([(round(a - back, 2), round(b - back, 2)) for a, b in seen])
    assert len(seen) == 1 and seen[0][1] - back <= 1.0 * SLOW, seen
    w.stop()
    assert s.log().count("SRT publisher of") == 1, s.log()[-3000:]


@pytest.mark.long
@pytest.mark.needs("srt-live-transmit")
def test_a_player_stays_when_all_is_lost_for_three_seconds(srs, source, tmp_path, relay):
    s = serve_with_api(srs)
    s.push(source, loop=True, ahead=1)
    r = relay(s, one_way=0.02)
    out, p = player(s, r.port, tmp_path)
    assert wait_for(lambda: out.stat().st_size > 300000, 12), p.text() + s.log()[-2000:]
    r.is_cut = True
    time.sleep(3)
    at, back, r.is_cut = out.stat().st_size, time.monotonic(), False
    assert wait_for(lambda: out.stat().st_size > at + 20000, 10)
    took = time.monotonic() - back
    print("back after", took)
    assert took <= 1.0 * SLOW and p.running() and len(s.api.clients()) == 2


def plays_on(s, w, n=20, seconds=10):
    at = len(flv.frames(w.tags, VIDEO))
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) > at + n, seconds), s.log()[-3000:]
    assert w.ended is None


@pytest.mark.long
@pytest.mark.parametrize("how", ["cut", "moved", "killed"])
def test_an_encoder_that_was_cut_off_gets_in_again(srs, tmp_path, relay, how):
    """Its old connection still exists: it does not keep the name. Players stay."""
    s = serve_with_api(srs)
    r = relay(s)
    first = encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), s.log()[-2000:]
    w = s.watch()
    plays_on(s, w)
    if how == "moved":
        r.move()
    else:
        r.is_cut = how == "cut"
        first.end(signal.SIGKILL)
    began = time.monotonic()
    r2 = relay(s)
    again = encoder(s, r2.port, tmp_path, name="again")
    plays_on(s, w, seconds=8)
    print("plays on after", time.monotonic() - began)
    assert time.monotonic() - began < 8 * SLOW and again.running()
    assert s.wait_log("(?i)takes? over", 2), s.log()[-3000:]
    assert len([c for c in s.api.clients() if c["publish"]]) == 1


@pytest.mark.long
def test_one_that_vanishes_is_ended(srs, tmp_path, relay):
    s = serve_with_api(srs)
    r = relay(s)
    p = encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), s.log()[-2000:]
    r.is_cut = True
    p.end(signal.SIGKILL)
    assert s.wait_log("no packet from .* for peer_idle_timeout|client finished", 15), s.log()[-2000:]
    s.api.wait_clients(0)


@pytest.mark.long
def test_takeover_across_protocols(srs, source, tmp_path, relay):
    """RTMP takes over from an SRT encoder that was cut off, and SRT from a silent RTMP publisher."""
    s = serve_with_api(srs)
    r = relay(s)
    encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), s.log()[-2000:]
    w = s.watch()
    plays_on(s, w)
    r.is_cut = True
    pusher = s.push(source, loop=True)
    plays_on(s, w)
    pusher.stop()  # it stays connected
    encoder(s, s.srt_port, tmp_path, name="again")
    plays_on(s, w)
    flv.check_monotonic(w.stop())
    assert s.wait_log("(?i)takes? over", 2, count=2), s.log()[-3000:]


def gets_in(s, address):
    try:
        return s.publisher(client={"bind": address})
    except Rejected:
        return None


@pytest.mark.long
def test_another_address_gets_in_when_an_encoder_is_silent(srs, source, tmp_path, relay):
    """A publisher from another address is admitted after takeover_silence, long before the connection times out."""
    s = serve_vhost(srs, "publish { takeover_silence 2000; }")
    r = relay(s)
    p = encoder(s, r.port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), p.text() + s.log()[-2000:]
    assert not gets_in(s, "127.0.0.2")
    r.is_cut, began = True, time.monotonic()
    assert wait_for(lambda: gets_in(s, "127.0.0.2"), 5, 0.2)
    assert 1.5 < time.monotonic() - began < 5 * SLOW


@pytest.mark.long
def test_an_encoder_that_sends_keeps_its_place(srs, tmp_path):
    s = serve_with_api(srs)
    first = encoder(s, s.srt_port, tmp_path)
    assert s.wait_log("SRT publisher of .*live/s", 5), s.log()[-2000:]
    w = s.watch()
    plays_on(s, w)
    second = encoder(s, s.srt_port, tmp_path, name="second")
    assert second.wait(10) != 0
    assert s.wait_log("is refused with 2409", 2), s.log()[-2000:]
    plays_on(s, w)
    assert first.running()


@pytest.mark.long
@pytest.mark.parametrize("secret,code", [("", 1011), (f"&passphrase={PASSPHRASE}x&pbkeylen=16", 1010)], ids=["none", "wrong"])
def test_passphrases_that_do_not_fit(srs, tmp_path, secret, code):
    s = serve_with_api(srs, 16)
    p = encoder(s, s.srt_port, tmp_path, secret=secret)
    assert p.wait(10) != 0
    assert s.wait_log(f"is refused with {code}", 2), p.text() + s.log()[-2000:]
    assert not s.api.clients() and PASSPHRASE not in s.log()


@pytest.mark.long
@pytest.mark.needs("srt-file-transmit")
def test_files_are_refused_with_the_reason(srs, tmp_path):
    s = serve_with_api(srs)
    p = Proc(["srt-file-transmit", SOURCE, f"srt://127.0.0.1:{s.srt_port}?streamid={MODES.format('publish')}"],
             tmp_path / "file.log")
    assert s.wait_log("is refused with 1012: .*live mode", 10), p.text() + s.log()[-2000:]
    p.end()
    assert not s.api.clients()


@pytest.mark.long
@pytest.mark.alone
def test_latency_that_is_added(srs, tmp_path):
    """From the publisher's send of a frame to an RTMP player's read: the video contains the publisher's clock."""
    s = serve_vhost(srs, "min_latency on; play { mw_latency 0; }", "latency 120; sei_filter off;")
    to = url(s, "publish")
    p = Proc([tool("sb_srt_load"), "-r", to, "-i", SOURCE, "-s", "0", "--latency", "120", "--duration", "12"], tmp_path / "pub.log")
    assert s.wait_log("SRT publisher of .*live/s", 5), p.text() + s.log()[-2000:]
    code, text = run("sb_rtmp_load", "-r", s.url(), "-s", 0, "--json", "--duration", 8, "--warmup", 2)
    assert code == 0, text
    got = last_object(text)["latency_ms"]
    print(got)
    assert got["count"] > 100 and got["p99"] <= 140 * SLOW, got
