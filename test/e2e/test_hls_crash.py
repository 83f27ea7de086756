# SPDX-License-Identifier: MIT
"""HLS after the server was killed: the playlist continues, and unneeded files are removed from disk."""
import os
import signal
import subprocess
import time

import pytest

import dash
import flv
import hls
import test_dash
from procs import never, wait_for
from test_hls import FMP4, conf, html, listed, push  # noqa: F401

KEYS = "hls_keys on; hls_fragments_per_key 3;"


def killed(s):
    s.proc.kill(signal.SIGKILL)
    s.proc.wait(5)
    s.proc.end()
    s.proc = None


def crash(s, source, path, at=5):
    """Publishes until segments have left the playlist, then kills the server."""
    p = s.push(source, speed=4, loop=True, ahead=20)
    assert wait_for(lambda: hls.load(path) and hls.load(path).sequence >= at, 10)
    killed(s)
    p.stop()
    return hls.load(path)


def names(html, end):
    return {f for _, _, fs in os.walk(html) for f in fs if f.endswith(end)}


@pytest.mark.parametrize("more, end", [("", ".ts"), (FMP4, ".m4s"), (KEYS, ".ts")], ids=["ts", "fmp4", "keys"])
def test_what_left_the_list_is_removed(srs, html, source, more, end):
    path = os.path.join(html, "live", "s.m3u8")
    first = crash(srs(conf(html, more, window=8)), source, path)
    had = names(html, end)
    assert len(had) > len(first.segments), "none was to be removed later"
    s = srs(conf(html, more, window=8))
    push(s, flv.cut(source, 3000))
    went_on = s.wait_log(r"continues at segment \d+, with (\d+) previous segments")
    assert len(first.segments) <= int(went_on.group(1)) <= len(had), "the journal may be ahead of the playlist"
    assert wait_for(lambda: hls.load(path).segments[-1].seq > first.segments[-1].seq)

    def beside():
        left = {x.uri for x in first.segments + hls.load(path).segments}
        return names(html, end) ^ left
    assert wait_for(lambda: beside() <= {x.uri for x in first.segments[:2]}), beside()
    if more == KEYS:
        keys = {x.key for x in hls.load(path).segments}
        assert wait_for(lambda: names(html, ".key") <= keys | {x.key for x in first.segments})
        assert keys <= names(html, ".key"), "a listed segment is missing"
        key = open(os.path.join(html, "live", hls.load(path).segments[0].key), "rb").read().hex()
        x = hls.load(path).segments[0]
        r = subprocess.run(["openssl", "enc", "-d", "-aes-128-cbc", "-K", key, "-iv", x.iv, "-in",
                            os.path.join(html, "live", x.uri)], capture_output=True, timeout=20)
        assert r.returncode == 0 and r.stdout[:1] == b"\x47"


def test_keys_of_before_go_with_their_segments(srs, html, source):
    """Even if their urls point elsewhere."""
    more = KEYS + f"hls_key_file_path {html}/keys; hls_key_url https://keys.example/k?a=b;"
    path = os.path.join(html, "live", "s.m3u8")
    first = crash(srs(conf(html, more, window=8)), source, path)
    before = names(html, ".key")
    s = srs(conf(html, more, window=8))
    p = s.push(source, speed=4, loop=True, ahead=12)
    assert wait_for(lambda: hls.load(path).sequence > first.segments[-1].seq)
    assert wait_for(lambda: not names(html, ".key") & before), names(html, ".key")
    p.stop()


def test_names_of_wall_clock_are_not_used_again(srs, html, source):
    """hls_ts_floor: the next server begins in the same fragment of the wall clock."""
    set = conf(html, "hls_ts_floor on; hls_ts_file [app]/[stream]-[timestamp].ts;", fragment=600)
    for count in (1, 2):
        s = srs(set)
        push(s, flv.cut(source, 2500))
        got = hls.load(listed(html, count)).segments
        s.stop()
    assert len({x.uri for x in got}) == 2
    assert all(2 < len(p) for p in hls.packets_of([os.path.join(html, "live", x.uri) for x in got], "v"))


def test_a_list_without_a_journal(srs, html, source):
    """It is not ours: a new playlist begins, and its files stay unchanged."""
    s = srs(conf(html))
    push(s, flv.cut(source, 5000))
    first = hls.load(listed(html, 3))
    s.stop()
    os.remove(os.path.join(html, "live", ".s.m3u8.journal"))
    s = srs(conf(html, "hls_dispose 2; hls_ts_file [app]/[stream]-new-[seq].ts;", fragment=1))
    push(s, flv.cut(source, 3000))
    assert s.wait_log("no journal describes the existing playlist: a new one begins, the old files remain")
    assert wait_for(lambda: "s-new-1.ts" in [x.uri for x in hls.load(listed(html, 2)).segments])
    second = hls.load(listed(html, 2))
    assert second.sequence == 0 and [x.uri for x in second.segments][:2] == ["s-new-0.ts", "s-new-1.ts"]
    assert wait_for(lambda: names(html, ".ts") == {x.uri for x in first.segments}), names(html, ".ts")


def test_a_journal_that_others_may_have_written(srs, html, source):
    """Files that it names are not removed, and its playlist is not continued."""
    path = os.path.join(html, "live", "s.m3u8")
    first = crash(srs(conf(html, window=8)), source, path, at=2)
    had = names(html, ".ts")
    os.chmod(os.path.join(html, "live", ".s.m3u8.journal"), 0o666)
    s = srs(conf(html, "hls_dispose 1; hls_ts_file [app]/[stream]-new-[seq].ts;", fragment=0.3, window=8))
    assert never(lambda: "its files were removed" in s.text(), 3), "test_no_publisher_returns waits for 2 s"
    push(s, flv.cut(source, 3000))
    assert s.wait_log("the journal .* is ignored, because another user may have written it")
    assert wait_for(lambda: "s-new-0.ts" in [x.uri for x in hls.load(path).segments])
    assert hls.load(path).sequence == 0 < first.sequence
    assert s.wait_log("its files were removed, it had no publisher for 1 s")
    assert names(html, ".ts") == had


def about_to_be_written(html, seq, end):
    """Simulates a server that died before writing two more segments: returns their names."""
    with open(os.path.join(html, "live", ".s.m3u8.journal"), "r+") as f:
        fields = [x for x in f.read().splitlines() if x.startswith("segment ")][-1].split()
        for k in range(2):
            fields[1:4] = [str(int(fields[1]) + 100), f"live/s-{seq + k}.{end}", str(seq + k)]
            f.write(" ".join(fields) + "\n")
        f.write("segment 12345678 live/s-")
    return [f"s-{seq}.{end}", f"s-{seq + 1}.{end}.tmp"]


@pytest.mark.parametrize("more", [FMP4, pytest.param(KEYS, marks=pytest.mark.long)], ids=["fmp4", "keys"])
def test_no_publisher_returns(srs, html, source, more):
    """hls_dispose counts from the start of the next server; files of others stay, also those that another server is writing."""
    path = os.path.join(html, "live", "s.m3u8")
    n = crash(srs(conf(html, more, window=8)), source, path, at=2).segments[-1].seq + 1
    end = "m4s" if more == FMP4 else "ts"
    for name in about_to_be_written(html, n, end):
        open(os.path.join(html, "live", name), "w").close()
    others = {"live/vod.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nvod-0.ts\n#EXT-X-ENDLIST\n",
              "live/vod-0.ts": "x", "live/else.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\ns1.ts\n",
              "live/s1.ts": "y", "live/odd.m3u8": "no list", "live/t-3.ts": "z", "live/t.m3u8":
              "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXT-X-MEDIA-SEQUENCE:3\n#EXTINF:5,\nt-3.ts\n"}
    for name, text in others.items():
        with open(os.path.join(html, name), "w") as f:
            f.write(text)
    os.utime(os.path.join(html, "live", "t.m3u8"), (time.time() + 60,) * 2)  # as if it were being written now
    s = srs(conf(html, more + " hls_dispose 1;", fragment=0.3, window=8))
    assert s.wait_log("HLS of live/s: its files were removed, it had no publisher since the server started")
    assert wait_for(lambda: sorted(os.listdir(os.path.join(html, "live"))) ==
                    sorted(n.split("/")[1] for n in others)), os.listdir(os.path.join(html, "live"))
    push(s, flv.cut(source, 3000))
    assert hls.load(listed(html, 1)).sequence == 0, "it was not forgotten"


@pytest.mark.long
def test_a_publisher_returns(srs, html, source):
    path = os.path.join(html, "live", "s.m3u8")
    first = crash(srs(conf(html, window=8)), source, path, at=2)
    s = srs(conf(html, "hls_dispose 3;", fragment=1, window=8))
    p = s.push(source, loop=True)
    assert never(lambda: not os.path.exists(path), 5)
    assert wait_for(lambda: hls.load(path).segments[-1].seq > first.segments[-1].seq)
    p.stop()
    p.client.close()
    assert s.wait_log("its files were removed, it had no publisher for 3 s")
    assert wait_for(lambda: not [f for _, _, fs in os.walk(html) for f in fs])


@pytest.mark.long
def test_another_server_in_the_same_folder(srs, html, source):
    """Its files are not orphans, and stay."""
    path = os.path.join(html, "live", "s.m3u8")
    one, two = srs(conf(html, window=8)), srs(conf(html, "hls_dispose 1;", window=8))
    p = one.push(source, loop=True)
    assert wait_for(lambda: os.path.exists(path))
    assert never(lambda: not os.path.exists(path), 10)
    assert "its files were removed" not in two.text()
    at = hls.load(path).segments[-1].seq
    assert wait_for(lambda: hls.load(path).segments[-1].seq > at)
    p.stop()


@pytest.mark.long
def test_dash_without_a_returning_publisher(srs, html, source):
    path = os.path.join(html, "live", "s.mpd")
    s = srs(test_dash.conf(html))
    p = s.push(source, speed=4, loop=True, ahead=12)
    assert wait_for(lambda: dash.load(path) and dash.load(path).count >= 4)
    killed(s)
    p.stop()
    other = os.path.join(html, "live", "other.mpd")
    with open(path) as f, open(other, "w") as to:
        to.write(f.read())  # its segments are not those of a stream with this name
    kept = os.path.join(html, "live", "s", "of-others.m4s")
    open(kept, "w").close()
    s = srs(test_dash.conf(html, "dash_dispose 2;", fragment=1))
    assert s.wait_log("DASH of live/s: its files were removed, it had no publisher since the server started")
    assert wait_for(lambda: {os.path.join(d, f) for d, _, fs in os.walk(html) for f in fs} == {other, kept})
