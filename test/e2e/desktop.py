# SPDX-License-Identifier: MIT
"""Desktop programs on a virtual screen (Xvfb), and recognition of what they show: a film of color bars, with a moving white box on
black below, so that a test can recognize it, and whether it moves."""
import itertools
import os
import re
import shlex

import procs
import tools
from procs import Proc, wait_for

WIDTH, HEIGHT = 1280, 800
FILM_WIDTH, FILM_HEIGHT, RATE, STEP = 640, 360, 25, 4
BOX = 20  # pixels, at the bottom; it moves STEP per frame, an even number for 4:2:0
COLOURS = [7, 6, 3, 2, 5, 4, 1]  # from the left: one bit each for red, green, blue


def film(path, seconds=20):
    """With a tone, and a key frame each second; the box returns to its start when the film loops."""
    size = f"{FILM_WIDTH}x{FILM_HEIGHT}"
    picture = f"smptebars=size={size}:rate={RATE},drawbox=y=ih-{2 * BOX}:h={2 * BOX}:color=black:t=fill[bars];color=white:size={BOX}x{BOX}:rate={RATE}[box];" \
              f"[bars][box]overlay=x='mod(n*{STEP},{FILM_WIDTH - BOX})':y={FILM_HEIGHT - BOX}"
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "sine=sample_rate=48000",
               "-t", seconds, "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", RATE, "-pix_fmt", "yuv420p",
               "-c:a", "aac", path])
    return path


# ---- content of a frame: bytes of RGB

def bars_of_row(row):
    """Whether a row of pixels has the bars in order, each at least 16 pixels wide."""
    codes = [(row[i] > 110) << 2 | (row[i + 1] > 110) << 1 | (row[i + 2] > 110) for i in range(0, len(row), 3)]
    wide = [c for c, run in itertools.groupby(codes) if len(list(run)) >= 16]
    return any(wide[i:i + len(COLOURS)] == COLOURS for i in range(len(wide)))


def shows_bars(rgb, width):
    rows = [rgb[i:i + width * 3] for i in range(0, len(rgb), width * 3 * 10)]
    return sum(map(bars_of_row, rows)) >= 5


def box_at(rgb, width, height):
    """Position of the box in pixels from the left, or None."""
    row = rgb[(height - BOX // 2) * width * 3:][:width * 3]
    at = 0
    for white, run in itertools.groupby(min(row[i:i + 3]) > 200 for i in range(0, len(row), 3)):
        size = len(list(run))
        if white and abs(size - BOX) <= 4:
            return at
        at += size
    return None


def watch(url, seconds, *options):
    """Decodes what a player gets in this time: [position of the box] of each frame; all of them must have the bars."""
    r = tools.run(["ffmpeg", "-v", "error", "-nostdin", *options, "-i", url, "-t", seconds, "-map", "0:v", "-fps_mode", "passthrough",
                   "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
    size = FILM_WIDTH * FILM_HEIGHT * 3
    pictures = [r.stdout[i:i + size] for i in range(0, len(r.stdout), size)]
    assert pictures and all(shows_bars(p, FILM_WIDTH) for p in pictures[::RATE]), (len(pictures), r.stderr[-1000:])
    return [box_at(p, FILM_WIDTH, FILM_HEIGHT) for p in pictures]


def moves(boxes):
    """Share of frames in which the box is one step further than in the previous one."""
    way = FILM_WIDTH - BOX
    steps = [abs((b - a) % way - STEP) <= 2 for a, b in zip(boxes, boxes[1:]) if a is not None and b is not None]
    return sum(steps) / len(boxes)


# ---- the screen

class Screen:
    def __init__(self, tmp):
        self.tmp, self.out = str(tmp), os.path.join(str(tmp), "Xvfb.display")
        self.proc = Proc(["Xvfb", "-displayfd", 1, "-screen", 0, f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp", "-ac"],
                         os.path.join(self.tmp, "Xvfb.log"), stdout=open(self.out, "wb"))
        assert wait_for(lambda: open(self.out).read().endswith("\n"), 10), self.proc.text()
        self.name = ":" + open(self.out).read().strip()

    def environment(self):
        """A separate home; no audio device, no bus, software OpenGL."""
        home = os.path.join(self.tmp, "home")
        os.makedirs(os.path.join(home, "run"), mode=0o700, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WAYLAND_", "DBUS_"))}
        return dict(env, DISPLAY=self.name, HOME=home, XDG_RUNTIME_DIR=os.path.join(home, "run"),
                    DBUS_SESSION_BUS_ADDRESS="none", SDL_AUDIODRIVER="dummy", LIBGL_ALWAYS_SOFTWARE="1", QT_QPA_PLATFORM="xcb")

    def picture(self):
        r = tools.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", 0, "-video_size", f"{WIDTH}x{HEIGHT}",
                       "-i", self.name, "-frames:v", 1, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
        assert len(r.stdout) == WIDTH * HEIGHT * 3, r.stderr
        return r.stdout

    def shows_film(self, timeout):
        """Whether the bars are visible and something moves."""
        if not wait_for(lambda: shows_bars(self.picture(), WIDTH), timeout, 0.5):
            return False
        first = self.picture()
        return wait_for(lambda: shows_bars(now := self.picture(), WIDTH) and now != first, 5, 0.2)


# ---- text of the documents

PAGES = ("README.md", "doc/publish-from-obs.md", "doc/play.md")


def readme(pattern, **instead):
    """The first match of the pattern in the README and the pages to publish and play, with a user's own names in it."""
    pages = [open(os.path.join(procs.ROOT, page)).read() for page in PAGES]
    found = next(filter(None, (re.search(pattern, page, re.M) for page in pages)), None)
    assert found, f"none of {PAGES} has {pattern}"
    text = found.group(1)
    for old, new in instead.items():
        assert old in text, (old, text)
        text = text.replace(old, new)
    return text


def command(pattern, **instead):
    return shlex.split(readme(pattern, **instead), comments=True)
