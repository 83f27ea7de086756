# SPDX-License-Identifier: MIT
"""HLS as caches and players fetch it: what caches are told, compressed lists, and updates of lists."""
import os

import pytest

import flv
import hls
from procs import wait_for
from test_hls import FMP4, conf, html, listed, push, with_http  # noqa: F401

KEYS = "hls_keys on; hls_fragments_per_key 1;"


def cached(url):
    status, headers, _ = hls.get(url)
    assert status == 200, f"{status} for {url}"
    return headers["Cache-Control"]


def on_disk_alone(s, html, source, more, ctx, window=4):
    """A stream whose first segments have left memory. The url of its list."""
    port, glob = with_http(html)
    s = s(conf(html, f"{more} hls_key_file_path {html};", fragment=1, window=window, ctx=ctx), glob)
    p = s.push(flv.cut(source, 12000), speed=20)
    p.join(20)
    listed(html, 1)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    assert wait_for(lambda: hls.get(url)[0] == 200, 5)
    return url


@pytest.mark.parametrize("more", ["", FMP4, KEYS], ids=["ts", "fmp4", "keys"])
@pytest.mark.parametrize("ctx", ["on", "off"])
def test_what_caches_are_told(srs, html, source, more, ctx):
    url = on_disk_alone(srs, html, source, more, ctx)
    if ctx == "on":
        assert cached(url) == "no-store", "a master list has the key of one player"
        url = hls.join(url, hls.get(url)[2].decode().split("\n")[-2])
    got = hls.get_list(url)
    want = "private, max-age=60" if ctx == "on" else "max-age=60"
    assert cached(url) == "no-cache"
    for x in got.segments:
        assert cached(hls.join(url, x.uri)) == want, x
        assert not x.map or cached(hls.join(url, x.map)) == want
        assert not x.key or cached(hls.join(url, x.key)) == "no-store"
        bare = hls.join(url, x.uri).split("?")[0]
        assert cached(bare) == "max-age=60", "it has the key of no player"
        status, headers, _ = hls.get(bare, headers={"Range": "bytes=0-9"})
        assert status == 206 and headers["Cache-Control"] == "max-age=60"
        status, headers, _ = hls.get(bare, headers={"If-None-Match": hls.get(bare)[1]["ETag"]})
        assert status == 304 and headers["Cache-Control"] == "max-age=60"
    for gone in (bare.replace("s-", "s-9999"), hls.join(url, "none.m3u8")):
        status, headers, _ = hls.get(gone)
        assert status == 404 and not headers["Cache-Control"], "it may come"


def test_what_caches_are_told_of_an_ended_stream(srs, html):
    """Files of a stream that this process knows nothing of."""
    port, glob = with_http(html)
    srs(conf(html), glob)
    os.mkdir(os.path.join(html, "live"))
    for name, want in (("s-0.ts", "max-age=60"), ("s-0.m4s", "max-age=60"), ("s.m3u8", "no-cache"),
                       ("s.mpd", "no-cache"), ("s-0.key", "no-store"), ("s.html", None)):
        with open(os.path.join(html, "live", name), "w") as f:
            f.write("#EXTM3U\n")
        assert cached(f"http://127.0.0.1:{port}/live/{name}") == want, name
