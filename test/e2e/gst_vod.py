# SPDX-License-Identifier: MIT
"""GStreamer's playbin plays numbered media under remote control: `gst_vod.py URL STEP...`

play:S          for S seconds             seek:T[:S]      to T seconds, then play for S (1)
pause:S         for S seconds             rate:R[:S]      from the current position at this speed, then play for S

Prints `frame POSITION NUMBER` for each displayed frame: the player's position in the file, and the frame's number.
Also prints each step as it begins, `eos` at the end, `error TEXT`.

"""
import os
import sys

import gi

gi.require_version("Gst", "1.0")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gi.repository import Gst  # noqa: E402

import numbered  # noqa: E402

STEP_NS = 50 * 1000 * 1000
TCP = 4


class Ended(Exception):
    pass


class Play:
    def __init__(self, url):
        self.bin = Gst.ElementFactory.make("playbin")
        video = Gst.parse_bin_from_description("videoconvert ! video/x-raw,format=GRAY8 ! appsink name=a max-buffers=2", True)
        self.sink = video.get_by_name("a")
        self.bin.set_property("video-sink", video)
        sound = Gst.ElementFactory.make("fakesink")
        sound.set_property("sync", True)
        self.bin.set_property("audio-sink", sound)
        self.bin.connect("source-setup", self.setup)
        self.bin.set_property("uri", url)

    @staticmethod
    def setup(_, source):
        if source.find_property("protocols") and source.find_property("do-rtsp-keep-alive"):
            source.set_property("protocols", TCP)
            source.set_property("latency", 100)
            source.set_property("buffer-mode", 0)  # none: bursts mislead its estimate

    def state(self, state):
        self.bin.set_state(state)
        result = self.bin.get_state(20 * Gst.SECOND)[0]
        if result == Gst.StateChangeReturn.FAILURE:
            self.look_at_bus()
            raise Ended(f"error no {state}")

    def look_at_bus(self):
        message = self.bin.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
        if message and message.type == Gst.MessageType.EOS:
            raise Ended("eos")
        if message:
            raise Ended("error " + " ".join(map(str, message.parse_error())).replace("\n", " "))

    def take(self, signal):
        sample = self.sink.emit(signal, STEP_NS)
        if not sample:
            return False
        caps = sample.get_caps().get_structure(0)
        width, height = caps.get_value("width"), caps.get_value("height")
        buf = sample.get_buffer()
        ok, info = buf.map(Gst.MapFlags.READ)
        n = numbered.number_of_gray(info.data, width, height, (width + 3) // 4 * 4) if ok else None
        buf.unmap(info)
        place = sample.get_segment().to_stream_time(Gst.Format.TIME, buf.pts)
        print(f"frame {place / Gst.SECOND:.3f} {n}", flush=True)
        return True

    def run(self, seconds):
        self.state(Gst.State.PLAYING)
        end = Gst.util_get_timestamp() + int(seconds * Gst.SECOND)
        while Gst.util_get_timestamp() < end:
            self.take("try-pull-sample")
            self.look_at_bus()

    def pause(self, seconds):
        self.state(Gst.State.PAUSED)
        end = Gst.util_get_timestamp() + int(seconds * Gst.SECOND)
        while Gst.util_get_timestamp() < end:
            self.bin.get_bus().timed_pop_filtered(STEP_NS, Gst.MessageType.ERROR)

    def seek(self, to, rate=1.0):
        """Requests another speed from the server (Scale); by default GStreamer would request faster delivery (Speed)."""
        flags = Gst.SeekFlags.FLUSH | (Gst.SeekFlags.SKIP if rate != 1.0 else Gst.SeekFlags.KEY_UNIT)
        if not self.bin.seek(rate, Gst.Format.TIME, flags, Gst.SeekType.SET, int(to * Gst.SECOND), Gst.SeekType.NONE, 0):
            raise Ended("error it cannot seek")

    def step(self, word):
        what, first, *more = word.split(":")
        if what == "play":
            self.run(float(first))
        elif what == "pause":
            self.pause(float(first))
        elif what == "seek":
            self.seek(float(first))
            self.run(float(more[0]) if more else 1)
        elif what == "rate":
            self.seek(self.bin.query_position(Gst.Format.TIME)[1] / Gst.SECOND, float(first))
            self.run(float(more[0]) if more else 1)


def main():
    Gst.init(None)
    p = Play(sys.argv[1])
    try:
        for word in sys.argv[2:]:
            print(word, flush=True)
            p.step(word)
    except Ended as e:
        print(e, flush=True)
    p.bin.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
