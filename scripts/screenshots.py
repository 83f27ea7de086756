#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""screenshots.py [DIR] - make the console's pictures of the README anew, in DIR (doc): a server with a
few streams and players, seen by Chromium on a desktop, and on a phone in the dark."""
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "e2e"))

import browser  # noqa: E402
import flv      # noqa: E402
import procs    # noqa: E402
from server import Server  # noqa: E402

VHOST = """http_remux {{ enabled on; }}
hls {{ enabled on; hls_fragment 2; hls_path ./; }}
dash {{ enabled on; dash_path ./; }}
ingest news {{ enabled on; input {{ type file; url {clip}; }}
    engine {{ enabled off; perfile {{ stream_loop -1; }} output rtmp://127.0.0.1:[port]/live/news; }} }}
transcode live/livestream {{ enabled on; engine sd {{ enabled on; vcodec libx264; vbitrate 300; vfps 15; vwidth 320;
    vheight 180; vpreset ultrafast; acodec copy; output rtmp://127.0.0.1:[port]/[app]/[stream]_sd; }} }}
forward {{ enabled on; destination 127.0.0.1:{far}; }}
"""


def take(folder, tmp):
    api, web = procs.free_port(), procs.free_port()
    far = Server(tmp, name="far").start()
    s = Server(tmp, VHOST.format(clip=procs.SOURCE, far=far.port), glob=f"""
http_api {{ enabled on; listen 127.0.0.1:{api}; }}
http_server {{ enabled on; listen 127.0.0.1:{web}; dir ./; }}""").start()
    with browser.Page(tmp) as page:
        page.look()
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.open(f"http://127.0.0.1:{api}/console/")
        s.push(flv.read(procs.SOURCE), "livestream", loop=True)
        players = []
        for i in range(20):  # so that the graphs have something to show
            if i % 4 == 0:
                players.append(s.watch("livestream"))
            elif i in (13, 18):
                players.pop().stop()
            time.sleep(2)
        page.run("document.querySelector('.stream').open = true")
        time.sleep(3)
        page.shot(os.path.join(folder, "console.png"))
        page.look(390, 844, mobile=True, dark=True, scale=1.5)
        page.run("document.querySelector('.stream').open = false")
        page.click(".stream .act button")
        time.sleep(5)
        page.shot(os.path.join(folder, "console-phone.png"))
        assert not page.errors, page.errors


def main():
    if not browser.chromium():
        sys.exit("screenshots.py: no Chromium (Debian: apt-get install chromium)")
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "doc")
    with tempfile.TemporaryDirectory() as tmp:
        try:
            take(folder, tmp)
        finally:
            procs.end_all()


main()
