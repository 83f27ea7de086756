# SPDX-License-Identifier: MIT
"""hls.js in a real Chromium plays HLS: MPEG-TS, fragmented MP4, low latency. Time advances, frames are decoded, and latency is as
expected."""
import shutil
import time

import pytest

import browser
import flv
import hls
from procs import SLOW, free_port, wait_for

PAGE = """<!DOCTYPE html><html><body><video id="v" muted autoplay width="320"></video>
<script src="/hls.js"></script><script>
const v = document.getElementById('v');
window.problems = [];
function play(url, how) {
    const p = new Hls(how);
    p.on(Hls.Events.ERROR, (e, d) => window.problems.push([d.type, d.details, d.fatal, d.reason || (d.error && d.error.message)]));
    p.on(Hls.Events.MANIFEST_PARSED, () => v.play());
    p.loadSource(url);
    p.attachMedia(v);
    window.player = p;
}
</script></body></html>"""
STATE = "[v.currentTime, v.getVideoPlaybackQuality().totalVideoFrames]"

# vhost directives, player options, maximum latency in seconds
KINDS = {
    "ts": ("", "{}", 8.0),
    "ts, near": ("", "{liveSyncDurationCount: 2}", 6.0),
    "fmp4": ("hls_use_fmp4 on;", "{liveSyncDurationCount: 2}", 6.0),
    # a stalled machine makes it fall behind: it must catch up
    "ll": ("hls_use_fmp4 on; hls_ll on;",
           "{lowLatencyMode: true, maxLiveSyncPlaybackRate: 1.5, liveSyncOnStallIncrease: 0}", 2.0),
}


@pytest.fixture(scope="module")
def barcode(tmp_path_factory):
    return flv.read(browser.barcode_flv(tmp_path_factory.mktemp("barcode") / "barcode.flv", 75))


def problems(page):
    """Errors that are not part of normal playback."""
    usual = ("bufferStalledError", "bufferNudgeOnStall", "bufferSeekOverHole")
    return [p for p in page.run("window.problems") if p[2] or p[1] not in usual]


@pytest.mark.long
@pytest.mark.parametrize("kind", list(KINDS))
def test_hls_js(srs, tmp_path, barcode, kind):
    package = browser.need("hls.js")
    more, how, old = KINDS[kind]
    root = tmp_path / "html"
    root.mkdir()
    shutil.copy(package + "/dist/hls.js", root)
    (root / "play.html").write_text(PAGE)
    port = free_port()
    s = srs(f"hls {{ enabled on; hls_path {root}; hls_fragment 2; hls_window 20; {more} }}",
            f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {root}; }}")
    list_url = f"http://127.0.0.1:{port}/live/s.m3u8"
    page = browser.Page(tmp_path, f"http://127.0.0.1:{port}/play.html")
    try:
        assert page.wait("typeof Hls === 'function' && Hls.isSupported()")
        began = time.time()
        pusher = s.push(barcode)
        assert wait_for(lambda: hls.get(list_url)[0] == 200, 8)
        if kind != "ll":
            assert wait_for(lambda: (root / "live/s-2.ts").exists() or (root / "live/s-2.m4s").exists(), 10)
        page.run(f"play('{list_url}', {how})")
        assert page.wait("v.currentTime > 0 && v.getVideoPlaybackQuality().totalVideoFrames > 25", 15), \
            (page.run("window.problems"), s.log()[-1500:])
        time.sleep(3)
        first = page.run(STATE)
        time.sleep(3)
        then = page.run(STATE)
        assert 2.0 < then[0] - first[0] < 5 * SLOW, (first, then)
        assert then[1] - first[1] > 40, (first, then)
        delay = []

        def is_near():
            delay[:] = browser.latency(page, began)
            return delay[6] < old * SLOW + (SLOW - 1)
        near = wait_for(is_near, 20 if kind == "ll" else 1)
        print(f"{kind}: glass to glass {delay[0]:.2f} to {delay[-1]:.2f} s, median {delay[6]:.2f}")
        assert near, delay
        assert problems(page) == []
        if kind == "ll":
            assert page.wait("performance.getEntriesByType('resource')"
                             ".filter(e => e.name.includes('_HLS_skip=YES')).length > 5", 30), "no delta updates"
            first = page.run(STATE)
            assert page.wait(f"v.currentTime > {first[0]} + 3", 15) and problems(page) == [], "they did not"
        # the publisher leaves and returns: playback continues automatically
        pusher.stop()
        pusher.client.close()
        time.sleep(12 if kind == "ll" else 1)  # longer than hls.js waits for a playlist
        at = page.run(STATE)
        s.push(barcode)
        assert page.wait(f"v.currentTime > {at[0]} + 5 && "
                         f"v.getVideoPlaybackQuality().totalVideoFrames > {at[1]} + 75", 25), \
            (page.run("window.problems"), at, page.run(STATE))
        assert not [p for p in problems(page) if p[2]]
        page.run("window.player.destroy()")
    finally:
        page.close()
