# SPDX-License-Identifier: MIT
"""Third-party RTSP servers that we pull from: GStreamer's, and live555's proxy of one of our servers."""
import subprocess
import sys

import pytest

import live555
import procs
import rtspplayers as players
from procs import Proc, free_port, wait_for, wait_port
from rtspclient import rtsp_server

pytestmark = [pytest.mark.long, pytest.mark.needs("ffmpeg")]

SOURCE = {"video": procs.SOURCE, "audio": procs.SOURCE}
PIPE = ("filesrc location={src} ! flvdemux name=d d.video ! queue ! h264parse ! rtph264pay name=pay0 pt=96 "
        "d.audio ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97")
GST_SERVER = """
import sys, gi
gi.require_version("Gst", "1.0"); gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1"); server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch("( " + sys.argv[2] + " )"); factory.set_shared(True)
server.get_mount_points().add_factory("/cam/1", factory)
if len(sys.argv) > 3:
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken(); token.set_string("media.factory.role", "user")
    auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
    auth.add_digest(sys.argv[3], sys.argv[4], token)
    server.set_auth(auth)
    factory.add_role_from_structure(Gst.Structure.new_from_string("user,media.factory.access=(boolean)true,"
                                                                  "media.factory.construct=(boolean)true"))
server.attach(None)
GLib.MainLoop().run()
"""


def gst_server(tmp_path, s, port, *login):
    """Version 1.22 sometimes fails an assertion when a player connects: then it is restarted."""
    found = [p for p in (sys.executable, "/usr/bin/python3")
             if subprocess.run([p, "-c", "import gi; gi.require_version('GstRtspServer', '1.0')"],
                               capture_output=True).returncode == 0]
    if not found:
        pytest.skip("no python3-gi and gir1.2-gst-rtsp-server-1.0")
    for turn in range(5):
        p = Proc([found[0], "-c", GST_SERVER, str(port), PIPE.format(src=procs.SOURCE), *login],
                 tmp_path / f"gst{turn}.log")
        assert wait_port(port, 10, proc=p), p.text()
        if wait_for(lambda p=p: not p.running() or "video sh" in s.log(), 20) and p.running():
            return
        assert "gst_rtsp_media_get_rates" in p.text(), p.text()


def check(s, tmp_path, apart=0.040):
    f = Proc(["ffmpeg", "-hide_banner", "-nostdin", "-y", "-i", s.url(), "-t", "3", *players.MD5["video"],
              f"{tmp_path}/got.video", "-t", "3", *players.MD5["audio"], f"{tmp_path}/got.audio"], tmp_path / "f.log")
    assert f.wait(30) == 0, f.text()[-2000:] + s.log()[-2000:]
    players.same(SOURCE, tmp_path / "got", apart)


@pytest.mark.parametrize("login", [(), ("anna", "secret")], ids=["", "login"])
def test_of_gstreamer(srs, tmp_path, login):
    port = free_port()
    user = ":".join(login) + "@" if login else ""
    s = srs(f"rtsp {{ enabled on; pull {{ stream live/s; url rtsp://{user}127.0.0.1:{port}/cam/1; }} }}")
    gst_server(tmp_path, s, port, *login)
    check(s, tmp_path, 0.120)  # like its publishers, it sends reports some seconds later
    assert "secret" not in s.log()


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_of_live555(srs, source, tmp_path, transport):
    """Published to one of our servers, pulled by live555, pulled from it by another of ours."""
    proxy, port = live555.need("live555_proxy"), free_port()
    a = rtsp_server(srs)
    a.push(source, loop=True, ahead=1)
    p = Proc([proxy, str(port), a.rtsp_url()], tmp_path / "proxy.log")
    assert wait_port(port, 10, proc=p), p.text()
    b = srs(f"rtsp {{ enabled on; pull {{ stream live/s; url rtsp://127.0.0.1:{port}/s; transport {transport}; }} }}")
    check(b, tmp_path, 2.0)  # its times are estimated until it knows those of the other side
