# SPDX-License-Identifier: MIT
"""webrtcbin.py publish URL SECONDS, webrtcbin.py play URL SECONDS: GStreamer's webrtcbin, with WHIP and WHEP around it.
What was decoded is written as JSON."""
import json
import sys
import time
import urllib.parse
import urllib.request

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

VIDEO = "application/x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000"
SOUND = "application/x-rtp,media=audio,encoding-name=OPUS,payload=97,clock-rate=48000"
ENCODE = "videotestsrc is-live=true ! video/x-raw,width=640,height=360,framerate=25/1 ! " \
    "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=50 bitrate=900 ! video/x-h264,profile=constrained-baseline ! " \
    f"rtph264pay config-interval=-1 aggregate-mode=zero-latency ! {VIDEO} ! w. " \
    f"audiotestsrc is-live=true ! opusenc ! rtpopuspay ! {SOUND} ! w."
DECODE = {"video": "queue ! rtph264depay ! avdec_h264 ! fakesink name=s signal-handoffs=true sync=false",
          "audio": "queue ! rtpopusdepay ! opusdec ! fakesink name=s signal-handoffs=true sync=false"}


def ask(method, url, body=None):
    q = urllib.request.Request(url, body, {"Content-Type": "application/sdp"}, method=method)
    with urllib.request.urlopen(q, timeout=10) as r:
        return r.status, r.headers.get("Location"), r.read().decode()


class Peer:
    def __init__(self, what, url):
        self.url, self.where, self.frames, self.samples = url, None, [], 0
        if what == "publish":
            self.pipe = Gst.parse_launch("webrtcbin name=w bundle-policy=max-bundle " + ENCODE)
            self.bin = self.pipe.get_by_name("w")
        else:
            self.pipe, self.bin = Gst.Pipeline.new("p"), Gst.ElementFactory.make("webrtcbin", "w")
            self.bin.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
            self.pipe.add(self.bin)
            for caps in (VIDEO, SOUND):
                self.bin.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
        self.bin.connect("on-negotiation-needed", self.negotiate)
        self.bin.connect("pad-added", self.decode)
        self.bin.connect("notify::ice-gathering-state", self.gathered)

    def negotiate(self, *_):
        self.bin.emit("create-offer", None, Gst.Promise.new_with_change_func(self.offered))

    def offered(self, promise, *_):
        promise.wait()
        reply = promise.get_reply()  # it owns what it has
        self.bin.emit("set-local-description", reply.get_value("offer"), Gst.Promise.new())

    def gathered(self, *_):
        if self.bin.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE and not self.where:
            GLib.idle_add(self.post)

    def post(self):
        status, where, answer = ask("POST", self.url, self.bin.get_property("local-description").sdp.as_text().encode())
        assert status == 201, answer
        self.where = urllib.parse.urljoin(self.url, where)
        _, sdp = GstSdp.SDPMessage.new_from_text(answer)
        self.bin.emit("set-remote-description", GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, sdp), Gst.Promise.new())
        return False

    def decode(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        part = Gst.parse_bin_from_description(DECODE[kind], True)
        part.get_by_name("s").connect("handoff", self.frame if kind == "video" else self.sound)
        self.pipe.add(part)
        part.sync_state_with_parent()
        pad.link(part.get_static_pad("sink"))

    def frame(self, *_):
        self.frames.append(time.monotonic())

    def sound(self, _, buf, pad):
        caps = pad.get_current_caps().get_structure(0)
        self.samples += buf.get_size() // 2 // caps.get_value("channels") * 48000 // caps.get_value("rate")

    def run(self, seconds):
        loop = GLib.MainLoop()
        self.pipe.set_state(Gst.State.PLAYING)
        GLib.timeout_add(int(seconds * 1000), loop.quit)
        loop.run()
        state = self.bin.get_property("connection-state").value_nick
        print(json.dumps({"state": state, "deleted": ask("DELETE", self.where)[0], "frames": self.frames, "samples": self.samples}))
        self.pipe.set_state(Gst.State.NULL)


Gst.init(None)
Peer(sys.argv[1], sys.argv[2]).run(float(sys.argv[3]))
