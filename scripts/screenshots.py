#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""screenshots.py [DIR] - writes the screenshots of the README to DIR (doc), with Chromium: the first page of a
server with conf/srs.conf, if its ports are free; WebRTC pages with conf/rtc.conf; the console with a few
streams and players, on a desktop, and on a phone in dark mode."""
import os
import shutil
import socket
import subprocess
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


def are_free(ports):
    for port in ports:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("0.0.0.0", port))
            except OSError:
                return False
    return True


def first_page(folder, tmp):
    """The first page with conf/srs.conf, playing the stream of the README."""
    if not are_free((1935, 1985, 8080)):
        sys.exit("screenshots.py: the ports of conf/srs.conf are in use")
    home = os.path.join(tmp, "home")
    os.makedirs(os.path.join(home, "objs/nginx/html"))
    shutil.copytree(os.path.join(ROOT, "conf"), os.path.join(home, "conf"))
    s = Server(home, port=1935, tank="console", args=["-c", "conf/srs.conf"],
               env={"SRS_DAEMON": "off", "SRS_LOG_TANK": "console"}).start()
    with browser.Page(tmp) as page:
        page.look(900, 830)
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.open("http://127.0.0.1:8080/")
        push = procs.Proc(["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", procs.SOURCE, "-c", "copy", "-f", "flv",
                           "rtmp://127.0.0.1/live/livestream"], os.path.join(tmp, "ffmpeg.log"))
        assert page.wait("document.querySelector('#streams .go')", 15), page.text()
        page.click("#streams .go")
        assert page.wait("document.querySelector('video').currentTime > 4", 20), (page.text(), page.errors)
        assert page.wait("document.querySelector('#streams').innerText.includes('1 player')"), page.text()
        page.shot(os.path.join(folder, "home.png"))
        assert not page.errors, page.errors
        push.end()
    s.stop()


def from_a_page(folder, tmp):
    """conf/rtc.conf: a page publishes a video file as its camera, another page plays it."""
    if not are_free((1935, 1985, 8080)):
        sys.exit("screenshots.py: the ports of conf/rtc.conf are in use")
    home, film = os.path.join(tmp, "rtc"), os.path.join(tmp, "film.y4m")
    os.makedirs(os.path.join(home, "objs/nginx/html"))
    shutil.copytree(os.path.join(ROOT, "conf"), os.path.join(home, "conf"))
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", procs.SOURCE, "-t", "10", "-an", "-pix_fmt", "yuv420p", film], check=True)
    s = Server(home, port=1935, tank="console", args=["-c", "conf/rtc.conf"]).start()
    flags = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", f"--use-file-for-fake-video-capture={film}"]
    os.makedirs(os.path.join(tmp, "out"))
    with browser.Page(os.path.join(tmp, "out"), flags=flags) as out, browser.Page(tmp) as page:
        for p, name, height in (out, "whip.html", 890), (page, "whep.html", 750):
            p.look(900, height)
            p.call("Emulation.setScrollbarsHidden", hidden=True)
            p.open(f"http://127.0.0.1:8080/players/{name}")
            p.click("#what button")
            assert p.wait("document.querySelector('#stats dd') !== null", 20), p.text()
        assert page.wait("document.querySelector('video').currentTime > 8", 20), (page.text(), page.errors)
        page.shot(os.path.join(folder, "whep.png"))
        out.shot(os.path.join(folder, "whip.png"))
        assert not page.errors and not out.errors, (page.errors, out.errors)
    s.stop()


def console(folder, tmp):
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
        for i in range(20):  # fill the graphs with data
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
            first_page(folder, tmp)
            from_a_page(folder, tmp)
            console(folder, tmp)
        finally:
            procs.end_all()


main()
