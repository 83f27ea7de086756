# SPDX-License-Identifier: MIT
"""Films whose frames show their number, and which of them a browser displays, in which order and when."""
import contextlib
import os
import threading
import time

import tools
from browser import BARCODE
from procs import Proc

RATE = 25

STRIP, WIDTH, HEIGHT = 32, 640, 352 # pixels: the number, above a moving film

# Each displayed frame: its number, time of display (ms since 1970), RTP time, time of arrival.
WATCH = """
(function () {
    const v = %(video)s, c = new OffscreenCanvas(160, 4);
    const g = c.getContext('2d', { willReadFrequently: true }), shown = window.shown = [];
    function each(_, about) {
        const at = Date.now();
        const strip = v.videoHeight * 32 / (32 + 352);
        g.drawImage(v, 0, 0, v.videoWidth, strip, 0, 0, 160, 4);
        const d = g.getImageData(0, 2, 160, 1).data;
        let n = 0;
        for (let i = 0; i < 16; i++)
            if (d[(i * 10 + 5) * 4] > 120) n |= 1 << i;
        shown.push([n, at, about.rtpTimestamp ?? 0, about.receiveTime ?? 0]);
        v.requestVideoFrameCallback(each);
    }
    v.requestVideoFrameCallback(each);
})()
"""


def film_options(group=4.0, b=None, seconds=3600, rate=RATE):
    """ffmpeg options for a film whose frame N shows N, encoded as for WebRTC, or with B-frames: `b` are x264 options about them."""
    keyint = int(group * rate)
    params = f"keyint={keyint}:min-keyint={keyint}:scenecut=0:" + (b or "bframes=0")
    return ["-f", "lavfi", "-i", f"color=s={WIDTH}x{STRIP}:r={rate}:d={seconds},{BARCODE}",
            "-f", "lavfi", "-i", f"testsrc2=s={WIDTH}x{HEIGHT}:r={rate}:d={seconds}",
            "-f", "lavfi", "-i", f"sine=frequency=300:sample_rate=44100:d={seconds}",
            "-filter_complex", "[0:v][1:v]vstack", "-map", "2:a", "-c:v", "libx264", "-preset", "veryfast",
            *([] if b else ["-tune", "zerolatency"]), "-x264-params", params, "-pix_fmt", "yuv420p", "-b:v", "900k",
            "-maxrate", "900k", "-bufsize", "450k", "-c:a", "aac", "-b:a", "64k", "-f", "flv"]


def film(path, seconds=12, **how):
    tools.run(["ffmpeg", "-v", "error", "-y", *film_options(seconds=seconds, **how), path], timeout=120)
    return str(path)


def watch(b, video="window.peers.in.video"):
    b.run(WATCH % {"video": video})


def shown(b):
    return b.run("window.shown")


def gaps(seen):
    """Milliseconds between frames."""
    return [b[1] - a[1] for a, b in zip(seen, seen[1:])]


# A camera whose frames show their capture time in ms, with the audio of the fake microphone.
CLOCK = """
async function clock() {
    const c = document.createElement('canvas'), g = c.getContext('2d');
    c.width = %d; c.height = %d;
    document.body.append(c);
    let turn = 0;
    setInterval(() => {
        const now = Date.now();
        g.fillStyle = `hsl(${turn++ %% 360} 60%% 50%%)`;
        g.fillRect(0, %d, c.width, c.height);
        g.fillStyle = 'white';
        g.fillRect(turn * 7 %% c.width, 100, 60, 60);
        for (let i = 0; i < 16; i++) {
            g.fillStyle = now >> i & 1 ? '#ddd' : '#111';
            g.fillRect(i * c.width / 16, 0, c.width / 16, %d);
        }
    }, 40);
    const media = c.captureStream(25), sound = await navigator.mediaDevices.getUserMedia({ audio: true });
    sound.getAudioTracks().forEach(t => media.addTrack(t));
    return media;
}
""" % (WIDTH, STRIP + HEIGHT, STRIP, STRIP)


class LiveClock(threading.Thread):
    """ffmpeg that gets frames as from a camera, each with the time in ms, encodes them and sends them at once with a tone."""

    def __init__(self, url, tmp):
        super().__init__(daemon=True)
        self.fifo, self.halt = os.path.join(tmp, "camera"), False
        os.mkfifo(self.fifo)
        self.proc = Proc(["ffmpeg", "-v", "error", "-nostdin", "-probesize", "32", "-analyzeduration", "0", "-f", "rawvideo",
                          "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{STRIP + HEIGHT}", "-r", RATE, "-i", self.fifo, "-re", "-f", "lavfi", "-i",
                          "sine=frequency=300:sample_rate=48000", "-c:a", "aac", "-c:v", "libx264", "-preset", "ultrafast", "-tune",
                          "zerolatency", "-g", 4 * RATE, "-b:v", "900k", "-flush_packets", "1", "-f", "flv", url], os.path.join(tmp, "camera.log"))
        self.start()

    def run(self):
        chroma = bytes([128]) * (WIDTH * (STRIP + HEIGHT) // 2)
        ramp, begin, n = bytes(range(16, 236)) * 8, time.monotonic(), 0
        with open(self.fifo, "wb", buffering=0) as f:
            os.unlink(self.fifo)
            while not self.halt:
                now = int(time.time() * 1000)
                row = b"".join(bytes([220 if now >> i & 1 else 30]) * (WIDTH // 16) for i in range(16))
                with contextlib.suppress(BrokenPipeError):
                    f.write(row * STRIP + ramp[n * 3 % 220:][:WIDTH] * HEIGHT + chroma)
                n += 1
                time.sleep(max(0.0, begin + n / RATE - time.monotonic()))

    def stop(self):
        self.halt = True
        self.proc.end()


def delays(seen):
    """Milliseconds from capture to display of a clock's frames, sorted."""
    return sorted((int(at) - n) % 65536 for n, at, *_ in seen)
