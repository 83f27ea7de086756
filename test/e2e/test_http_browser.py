# SPDX-License-Identifier: MIT
"""mpegts.js in a real Chromium plays HTTP-FLV and WebSocket-FLV: time advances, frames are decoded, and latency is low."""
import shutil
import time

import pytest

import browser
import flv
import procs
from procs import free_port, wait_for

PAGE = """<!DOCTYPE html><html><body><video id="v" muted autoplay width="320"></video>
<script src="/mpegts.js"></script><script>
const v = document.getElementById('v');
window.problems = [];
function play(url) {
    const p = mpegts.createPlayer({ type: 'flv', isLive: true, url: url },
        { enableStashBuffer: false, liveBufferLatencyChasing: true,
          liveBufferLatencyMaxLatency: 0.6, liveBufferLatencyMinRemain: 0.15 });
    p.on(mpegts.Events.ERROR, (a, b, c) => window.problems.push([a, b, c && c.msg]));
    p.attachMediaElement(v);
    p.load();
    p.play();
    window.player = p;
}
</script></body></html>"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["http", "ws"])
def test_mpegts_js(srs, tmp_path, kind):
    package = browser.need("mpegts.js")
    root = tmp_path / "html"
    root.mkdir()
    shutil.copy(package + "/dist/mpegts.js", root)
    (root / "play.html").write_text(PAGE)
    port = free_port()
    s = srs("http_remux { enabled on; } play { mw_latency 0; }",
            f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {root}; }}")
    tags = flv.read(browser.barcode_flv(tmp_path / "barcode.flv", 30))
    page = browser.Page(tmp_path, f"http://127.0.0.1:{port}/play.html")
    try:
        assert page.wait("typeof mpegts === 'object' && mpegts.isSupported()")
        began = time.time()
        pusher = s.push(tags)
        time.sleep(1)
        page.run(f"play('{kind}://127.0.0.1:{port}/live/s.flv')")
        assert page.wait("v.currentTime > 0.5", 8), (page.run("window.problems"), s.log()[-1500:])
        time.sleep(2)
        first = page.run("[v.currentTime, v.getVideoPlaybackQuality().totalVideoFrames]")
        time.sleep(3)
        then = page.run("[v.currentTime, v.getVideoPlaybackQuality().totalVideoFrames]")
        assert 2.3 < then[0] - first[0] < 4.5, (first, then)
        assert then[1] - first[1] > 40, (first, then)
        delay = browser.latency(page, began)
        print(f"{kind}: glass to glass {delay[0]:.2f} to {delay[-1]:.2f} s, median {delay[6]:.2f}")
        assert delay[6] < 0.6 * procs.SLOW + 0.2, delay
        assert page.run("window.problems") == []
        # the publisher leaves and returns: playback continues automatically
        pusher.stop()
        pusher.client.close()
        time.sleep(1)
        at = page.run("v.currentTime")
        s.push(tags)
        assert page.wait(f"v.currentTime > {at} + 2", 10), (page.run("window.problems"),
                                                          page.run("v.currentTime"), at)
        page.run("window.player.destroy()")
        assert wait_for(lambda: "client finished: HTTP player" in s.log(), 3)
    finally:
        page.close()
