#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GStreamer's RTSP server, with doc/source.flv as /s: gst_rtsp_server.py PORT FILE."""
import sys

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory.set_launch(f"( filesrc location={sys.argv[2]} ! flvdemux name=d d.video ! queue ! h264parse config-interval=-1 ! "
                   "rtph264pay name=pay0 pt=96 d.audio ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )")
server.get_mount_points().add_factory("/s", factory)
server.attach(None)
GLib.MainLoop().run()
