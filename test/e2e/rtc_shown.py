# SPDX-License-Identifier: MIT
"""Films whose frames say their number, and what a browser shows of them: which, in what order, when."""
import tools
from browser import BARCODE

RATE = 25

STRIP, WIDTH, HEIGHT = 32, 640, 352 # pixels: the number, above a film that moves

# Each picture that is put on the screen: its number, when (ms), its RTP time, when it came.
WATCH = """
(function () {
    const v = %(video)s, c = new OffscreenCanvas(160, 4);
    const g = c.getContext('2d', { willReadFrequently: true }), shown = window.shown = [];
    function each(now, about) {
        const strip = v.videoHeight * 32 / (32 + 352);
        g.drawImage(v, 0, 0, v.videoWidth, strip, 0, 0, 160, 4);
        const d = g.getImageData(0, 2, 160, 1).data;
        let n = 0;
        for (let i = 0; i < 16; i++)
            if (d[(i * 10 + 5) * 4] > 120) n |= 1 << i;
        shown.push([n, performance.timeOrigin + now, about.rtpTimestamp ?? 0, about.receiveTime ?? 0]);
        v.requestVideoFrameCallback(each);
    }
    v.requestVideoFrameCallback(each);
})()
"""


def film_options(group=4.0, b=None, seconds=3600, rate=RATE):
    """Of ffmpeg, for a film whose frame N shows N, as encoders make it that are set up for WebRTC, or with
    B frames: `b` are options of x264 about them."""
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
