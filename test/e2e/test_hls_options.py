# SPDX-License-Identifier: MIT
"""The effect of each directive of hls, if no other test covers it."""
import os
import urllib.parse

import pytest

import flv
import hls
from procs import wait_for
from test_hls import FMP4, conf, html, listed, push, with_http  # noqa: F401


def folder(html):
    return os.path.join(html, "live")


def test_target_duration(srs, html, source):
    s = srs(conf(html, "hls_td_ratio 2.5;"))
    push(s, flv.cut(source, 5000))
    assert hls.load(listed(html, 3)).target == 5


def test_names_of_fragmented_mp4(srs, html, source, tmp_path):
    s = srs(conf(html, FMP4 + "hls_fmp4_file [app]/[stream]/seg-[seq]-[duration].m4s;"
                              "hls_init_file [app]/[stream]/head.mp4;"))
    push(s, flv.cut(source, 5000))
    path = listed(html, 3)
    p = hls.load(path)
    assert p.segments[1].uri == "s/seg-1-2000.m4s" and {x.map for x in p.segments} == {"s/head.mp4"}
    assert len(hls.packets(hls.whole(path, str(tmp_path / "whole")), "v")) > 100


def test_cleanup_off(srs, html, source):
    s = srs(conf(html, "hls_cleanup off;", window=4))
    push(s, flv.cut(source, 20000), speed=20)
    path = os.path.join(folder(html), "s.m3u8")
    assert wait_for(lambda: hls.load(path) and hls.load(path).sequence >= 6, 8)
    assert len(hls.load(path).segments) < 5
    for i in range(6):
        assert os.path.getsize(os.path.join(folder(html), f"s-{i}.ts")) > 0


@pytest.mark.parametrize("key", ["on", "off"])
def test_wait_for_key_frames(srs, html, source, key):
    """They are 2 s apart."""
    s = srs(conf(html, f"hls_wait_keyframe {key};", fragment=0.5))
    push(s, flv.cut(source, 6000))
    p = hls.load(listed(html, 3 if key == "on" else 12))
    assert p.target == (2 if key == "on" else 1), p.text
    assert abs(p.seconds - 6) < 0.1 and all(x.duration > 0.43 for x in p.segments), p.text


def test_names_of_keys(srs, html, source, tmp_path):
    keys = tmp_path / "keys"
    s = srs(conf(html, f"hls_keys on; hls_fragments_per_key 1; hls_key_file [app]/[stream]/[seq].key;"
                       f"hls_key_file_path {keys}; hls_key_url https://keys.example/all?token=1;"))
    push(s, flv.cut(source, 5000))
    p = hls.load(listed(html, 3))
    assert [x.key for x in p.segments] == [f"https://keys.example/all/live/s/{i}.key?token=1" for i in range(3)]
    for i in range(3):
        assert (keys / "live" / "s" / f"{i}.key").stat().st_size == 16
    assert not [f for _, _, fs in os.walk(html) for f in fs if f.endswith(".key")]


@pytest.mark.parametrize("relative", ["on", "off"])
def test_sessions_without_ids_of_segments(srs, html, source, relative):
    port, glob = with_http(html)
    s = srs(conf(html, f"hls_ts_ctx off; hls_master_m3u8_path_relative {relative};", ctx="on"), glob)
    push(s, flv.cut(source, 7000))
    listed(html, 3)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    child = hls.get(url)[2].decode().strip().split("\n")[-1]
    assert child.startswith("s.m3u8?hls_ctx=" if relative == "on" else "/live/s.m3u8?hls_ctx=")
    got = hls.get_list(urllib.parse.urljoin(url, child))
    assert [x.uri for x in got.segments][:3] == ["s-0.ts", "s-1.ts", "s-2.ts"]


def test_parts(srs, html, source):
    port, glob = with_http(html)
    s = srs(conf(html, "hls_ll on; hls_part 0.5;"), glob)
    s.push(source, loop=True, speed=2)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    assert wait_for(lambda: hls.get(url)[0] == 200, 6)
    p = hls.get_list(url)
    assert 0.45 < p.part_target < 0.56 and len(p.segments[-1].parts) == 4, p.text
