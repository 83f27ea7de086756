# SPDX-License-Identifier: MIT
"""A server with files on demand, and its urls.

    s = vod_server(srs)               files of numbered.py; vod_server(srs, folder) of that folder
    s.rtsp_file("a.mp4")  s.rtmp_file("a.mp4")  s.flv_file("a.mp4", start=12.5)
"""
import shutil
import urllib.parse

import numbered
from procs import free_port
from rtspclient import rtsp_server


def vod_server(srs, folder=numbered.FOLDER, vod="", vhost="", html=None, **how):
    port = free_port()
    glob = how.pop("glob", "") + f"\nhttp_server {{ enabled on; listen 127.0.0.1:{port}; {f'dir {html};' if html else ''} }}"
    s = rtsp_server(srs, vhost=f"vod {{ enabled on; dir {folder}; {vod} }} http_remux {{ enabled on; }} {vhost}", glob=glob, **how)
    s.http_port = port
    s.rtsp_file = lambda name: f"rtsp://127.0.0.1:{s.rtsp_port}/vod/{urllib.parse.quote(name)}"
    s.rtmp_file = lambda name: f"rtmp://127.0.0.1:{s.port}/vod/{name}"
    s.flv_file = lambda name, start=None, kind="http": \
        f"{kind}://127.0.0.1:{port}/vod/{urllib.parse.quote(name)}.flv" + ("" if start is None else f"?start={start}")
    return s


def folder_of(tmp_path, *kinds):
    """Makes a folder of the test with these files of numbered.py. Its name is not kept when a test fails, because it can
    contain devices."""
    folder = tmp_path / "work"
    folder.mkdir()
    for kind in kinds:
        shutil.copy(numbered.path(kind), folder / kind)
    return folder
