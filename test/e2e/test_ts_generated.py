# SPDX-License-Identifier: MIT
"""MPEG-TS that ffmpeg and GStreamer generate in each run with random options: our reader finds what ffprobe finds, wherever the
bytes are split, and only less than that if packets are missing. Without AV1: ffmpeg (8 too) omits its registration descriptor, and
GStreamer 1.22 does not support it.

E2E_SEED repeats a run (each test prints it), E2E_TS_FILES is the number of files per test (12).

"""
import os
import random
import shutil
import subprocess
import time

import pytest

import procs
import record_ts
import tools

pytestmark = [pytest.mark.long, pytest.mark.needs("ffmpeg", "ffprobe")]
READER = os.path.join(os.path.dirname(procs.BINARY), "test", "test_ts_recorded")
FILES = int(os.environ.get("E2E_TS_FILES", 12))
SECONDS = 2


@pytest.fixture
def draw():
    seed = int(os.environ.get("E2E_SEED", time.time_ns() % 1000000))
    print(f"E2E_SEED={seed}")
    return random.Random(seed)


def read_all(folder):
    """Runs test_ts_recorded: whole, split, with gaps, with noise, each packet twice."""
    if not os.path.exists(READER):
        pytest.skip(f"{READER} is not there: make units")
    r = subprocess.run([READER], env={**os.environ, "TS_FOLDER": str(folder)}, capture_output=True, text=True,
                       timeout=600 * procs.SLOW)
    if r.returncode:
        kept = os.path.join(os.environ.get("E2E_KEEP", os.path.join(procs.ROOT, "objs", "e2e")), "ts-anew")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        last = [line for line in r.stdout.splitlines() if line.startswith("  ts-")][-1:]
        lines = (folder / "how.txt").read_text().splitlines()
        raise AssertionError(f"{last} of {kept}\n" + "\n".join(x for x in lines if last and last[0].strip() in x) + "\n"
                             + (r.stdout + r.stderr)[-1500:])


# ---- ffmpeg

def picture(draw):
    rate = draw.choice(["5", "10", "15", "30000/1001"])
    size = f"{draw.randrange(16, 81) * 2}x{draw.randrange(16, 61) * 2}"
    return ["-f", "lavfi", "-i", f"testsrc=size={size}:rate={rate}:duration={SECONDS}"]


def h264(draw):
    params = [f"keyint={draw.randrange(3, 16)}", f"bframes={draw.randrange(4)}", f"slices={draw.randrange(1, 4)}",
              f"aud={draw.randrange(2)}", f"open-gop={draw.randrange(2)}", f"b-pyramid={draw.choice(['none', 'normal'])}"]
    if draw.random() < 0.25:
        params += ["nal-hrd=cbr", "vbv-maxrate=100", "vbv-bufsize=50", "bitrate=100"]  # with filler data
    return ["-c:v", "libx264", "-preset", draw.choice(["ultrafast", "medium"]), "-crf", 38, "-x264-params", ":".join(params)]


def h265(draw):
    params = [f"keyint={draw.randrange(3, 16)}", f"bframes={draw.randrange(5)}", f"open-gop={draw.randrange(2)}",
              f"aud={draw.randrange(2)}", f"slices={draw.randrange(1, 3)}", f"info={draw.randrange(2)}", "log-level=none"]
    return ["-c:v", "libx265", "-preset", "ultrafast", "-crf", 40, "-x265-params", ":".join(params)]


def aac(draw):
    rate = draw.choice([8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000])
    return ["-c:a", "aac", "-ar", rate, "-ac", draw.choice([1, 2, 6] if rate >= 32000 else [1, 2]), "-b:a", f"{draw.choice([16, 48])}k"]


def mp3(draw):
    return ["-c:a", "libmp3lame", "-ar", draw.choice([16000, 22050, 24000, 32000, 44100, 48000]), "-ac", draw.choice([1, 2]),
            "-b:a", "32k"]


def opus(draw):
    return ["-c:a", "libopus", "-ar", 48000, "-ac", draw.choice([1, 2]), "-b:a", "24k",
            "-frame_duration", draw.choice([2.5, 5, 10, 20, 40, 60])]


def mux(draw):
    out = ["-pes_payload_size", draw.choice([0, 170, 2930, 9000]), "-omit_video_pes_length", draw.randrange(2),
           "-mpegts_start_pid", draw.choice([0x100, 0x21, 0x1f00]), "-pat_period", draw.choice([0.1, 0.5])]
    flags = [f for f in ("system_b", "pat_pmt_at_frames", "resend_headers", "initial_discontinuity") if draw.random() < 0.25]
    out += ["-mpegts_flags", "+".join(flags)] if flags else []
    out += ["-muxrate", "600k"] if draw.random() < 0.25 else []  # null packets, stuffing
    if draw.random() < 0.3:  # the 33-bit timestamps wrap
        out += ["-output_ts_offset", round(95443.717 - draw.random() * SECONDS, 3), "-muxdelay", 0, "-muxpreload", 0]
    return out


def run_ffmpeg(folder, name, *options):
    at = folder / name
    exact = ["-fflags", "+bitexact", "-flags:a", "+bitexact", "-threads", 1]
    argv = ["ffmpeg", "-nostdin", "-y", "-v", "error", *options, *exact, at]
    with open(folder / "how.txt", "a") as f:
        f.write(" ".join(map(str, argv)) + "\n")
    tools.run(argv)
    return at


def tone(number=0):
    return ["-f", "lavfi", "-i", f"sine=frequency={500 + 100 * number}:duration={SECONDS}"]


def one_of_ffmpeg(draw, folder, i):
    """ffmpeg 5.1 with x265 sometimes crashes: then another file is generated."""
    for _ in range(5):
        try:
            return draw_one(draw, folder, i)
        except AssertionError as e:
            if "ffmpeg ended with -" not in str(e):
                raise
    raise AssertionError("ffmpeg died five times")


def draw_one(draw, folder, i):
    video = draw.choice([h264, h264, h265, None])
    audio = draw.choice([aac, mp3, opus, None] if video else [aac, mp3, opus])
    sources = picture(draw) if video else []
    sources += tone() if audio else []
    coded = (video(draw) if video else []) + (audio(draw) if audio else [])
    name = f"ts-{i:02}-{video.__name__ if video else 'no'}-{audio.__name__ if audio else 'no'}.ts"
    return run_ffmpeg(folder, name, *sources, *coded, *mux(draw), "-f", "mpegts")


def test_of_ffmpeg(draw, tmp_path):
    """At most one video and one audio track."""
    for i in range(FILES):
        record_ts.write_list(one_of_ffmpeg(draw, tmp_path, i))
    read_all(tmp_path)


def test_latm(draw, tmp_path):
    """ffprobe shows its elements undecoded: the raw frames are those of the same media in MP4."""
    for i in range(3):
        coded = aac(draw)
        raw = run_ffmpeg(tmp_path, f"{i}.m4a", *tone(), *coded)
        at = run_ffmpeg(tmp_path, f"ts-{i:02}-latm.ts", *tone(), *coded, "-mpegts_flags", "latm", "-f", "mpegts")
        record_ts.write_list(at, raw)
    read_all(tmp_path)


def test_several_tracks_and_programs(draw, tmp_path):
    """The first video and audio track of the first program are read."""
    for i in range(max(4, FILES // 3)):
        options = [*picture(draw), *tone(), *tone(1), *picture(draw)]
        options += ["-map", 0, "-map", 1, "-map", 2, "-map", 3] if i % 2 else ["-map", 3, "-map", 2, "-map", 1, "-map", 0]
        options += ["-c:a:1", "libmp3lame", *h264(draw), "-c:a:0", "aac", "-ar", draw.choice([16000, 48000]), *mux(draw)]
        if i >= 2:
            first = draw.sample([0, 1], 2)
            programs = [f"program_num={n + 1}" + "".join(f":st={s}" for s in ((0, 1) if n == 0 else (3, 2))) for n in first]
            options += ["-program", programs[0], "-program", programs[1]]
        at = run_ffmpeg(tmp_path, f"ts-{i:02}-many.ts", *options, "-f", "mpegts")
        record_ts.write_list(at, only=record_ts.first_of_each(at))
    read_all(tmp_path)


# ---- GStreamer

GST_VIDEO = {
    "h264": lambda d: f"x264enc key-int-max={d.randrange(3, 16)} bframes={d.randrange(4)} quantizer=40 pass=quant threads=1 ! h264parse",
    "h265": lambda d: f"x265enc key-int-max={d.randrange(3, 16)} qp=40 ! h265parse",
}
GST_AUDIO = {
    "aac": (16000, lambda d: "avenc_aac bitrate=16000 ! aacparse"), "mp3": (44100, lambda d: "lamemp3enc ! mpegaudioparse"),
    "opus": (48000, lambda d: f"opusenc frame-size={d.choice([5, 10, 20, 40, 60])} ! opusparse"),
}


@pytest.mark.needs("gst-launch-1.0")
def test_of_gstreamer(draw, tmp_path):
    for i in range(max(4, FILES // 2)):
        video, audio = draw.choice([*GST_VIDEO, None]), draw.choice(list(GST_AUDIO))
        at = tmp_path / f"ts-{i:02}-gst-{video}-{audio}.ts"
        line = f"mpegtsmux name=m alignment={draw.choice([0, 1, 7])} pat-interval={draw.choice([9000, 45000])} ! filesink location={at} "
        if video:
            rate = draw.choice(["10/1", "15/1", "30000/1001"])
            line += f"videotestsrc num-buffers=20 ! video/x-raw,width=96,height=64,framerate={rate} ! {GST_VIDEO[video](draw)} ! m. "
        rate, encoder = GST_AUDIO[audio]
        line += f"audiotestsrc num-buffers=40 samplesperbuffer=1024 ! audio/x-raw,rate={rate},channels={draw.choice([1, 2])} ! " \
                f"audioconvert ! {encoder(draw)} ! m."
        with open(tmp_path / "how.txt", "a") as f:
            f.write(f"gst-launch-1.0 {line}\n")
        tools.run(["gst-launch-1.0", "-q", *line.split()])
        record_ts.write_list(at)
    read_all(tmp_path)


# ---- one after the other

def test_tables_that_change(draw, tmp_path):
    """Streams of other codecs follow on the same PIDs: earlier output stays correct, and new streams are read from their start.
    Whether the last frame of the first one was complete is unknown."""
    for i in range(max(4, FILES // 2)):
        parts = tmp_path / f"parts{i}"
        parts.mkdir()
        paths = [one_of_ffmpeg(draw, parts, k) for k in range(draw.randrange(2, 4))]
        at = tmp_path / f"ts-{i:02}-{len(paths)}-in-turn.ts"
        at.write_bytes(b"".join(p.read_bytes() for p in paths))
        lists = [list(record_ts.frames(p)) for p in paths]
        lines = sum((record_ts.open_end(x) for x in lists[:-1]), []) + lists[-1]
        (tmp_path / (at.name + ".txt")).write_text("".join(lines))
        with open(tmp_path / "how.txt", "a") as f:
            f.write(f"{at.name}: " + (parts / "how.txt").read_text().replace("\n", "; ") + "\n")
    read_all(tmp_path)
