# SPDX-License-Identifier: MIT
"""Media whose every picture tells its number, and how to read it back from what a player decoded.

Frame N of a file is at N / RATE seconds and shows N in black and white fields, with a check; a beep begins with each
second. So a test asks a player for a place and sees which frame it was shown. `path(kind)` makes a file once and keeps
it below objs/; KINDS are the ways to write one.
"""
import array
import os
import random
import re
import subprocess

import procs
import tools

FOLDER = os.path.join(procs.ROOT, "objs", "e2e-media", "numbered")
RATE, SECONDS, GROUP = 25, 40, 50  # frames a second; of a file; frames from key to key
WIDTH, HEIGHT, FIELD = 320, 96, 16  # pixels; of a field, that of a macroblock
BITS, CHECK = 16, 4
BRIGHT, DARK = 220, 30
SOUND_RATE, SOUND_STEP = 48000, 128

X264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", GROUP, "-keyint_min", GROUP, "-sc_threshold", 0, "-crf", 26]
X265 = ["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-crf", 28, "-x265-params",
        f"keyint={GROUP}:min-keyint={GROUP}:scenecut=0:open-gop=0:bframes=2:log-level=error"]
ENCODED = {"plain": [*X264, "-bf", 0], "b": [*X264, "-bf", 2], "h265": X265}
KINDS = {  # file: (what was encoded, how it is written)
    "front.mp4": ("plain", ["-movflags", "+faststart"]),
    "end.mp4": ("plain", []),
    "fragments.mp4": ("plain", ["-movflags", "+frag_keyframe+delay_moov+default_base_moof"]),
    "bframes.mp4": ("b", ["-movflags", "+faststart"]),                                # an edit list
    "negative.mp4": ("b", ["-movflags", "+faststart+negative_cts_offsets"]),
    "bfragments.mp4": ("b", ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]),
    "hevc.mp4": ("h265", ["-movflags", "+faststart"]),
    "keys.flv": ("plain", ["-flvflags", "+add_keyframe_index"]),
    "bframes.flv": ("b", []),                                                         # no index
    "sound.mp4": ("plain", ["-map", "0:a", "-movflags", "+faststart"]),
    "mute.mp4": ("plain", ["-map", "0:v", "-movflags", "+faststart"]),
}


# ---- writing

def checked(number):
    """A number with its check behind it, as it is shown: bit 0 is the field on the left."""
    check = sum(number >> 4 * i for i in range(4)) & 15
    return number | (check ^ 10) << BITS


def picture(number):
    """Gray: the number above, noise below so that files have a size."""
    value = checked(number)
    row = b"".join(bytes([BRIGHT if value >> i & 1 else DARK]) * FIELD for i in range(BITS + CHECK))
    rnd = random.Random(number)
    noise = []
    for _ in range(HEIGHT // 2 // 4):
        noise.append(b"".join(bytes([v]) * 4 for v in rnd.randbytes(WIDTH // 4)) * 4)
    return row * (HEIGHT // 2) + b"".join(noise)


def made(path, make):
    """The file; made by make(temporary path) if it is not there."""
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        stem, end = os.path.splitext(path)
        tmp = f"{stem}.{os.getpid()}{end}"
        make(tmp)
        os.rename(tmp, path)
    return path


def encode(out, how):
    beep = f"aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,1),0.2)':sample_rate={SOUND_RATE}"
    argv = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}", "-r", RATE,
            "-i", "-", "-f", "lavfi", "-i", beep, "-t", SECONDS, *how, "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "48k",
            "-fflags", "+bitexact", out]
    frames = b"".join(picture(n) for n in range(RATE * SECONDS))
    subprocess.run([str(a) for a in argv], input=frames, check=True, timeout=120 * procs.SLOW)


def encoded(name):
    return made(os.path.join(FOLDER, "encoded", f"{name}.mp4"), lambda tmp: encode(tmp, ENCODED[name]))


def copy(source, out, *how, before=()):
    tools.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *before, "-i", source, "-c", "copy", *how, out], 120)


def path(kind, folder=FOLDER):
    """Of a file of KINDS."""
    name, how = KINDS[kind]
    return made(os.path.join(folder, kind), lambda tmp: copy(encoded(name), tmp, *how))


def long_path(kind, times, folder=FOLDER):
    """The same again and again in one file: frame N is at N / RATE, and shows N modulo RATE * SECONDS."""
    out = os.path.join(folder, f"{times}x-{kind}")
    return made(out, lambda tmp: copy(path(kind), tmp, *KINDS[kind][1], before=["-stream_loop", times - 1]))


# ---- reading

def number(fields):
    """What a row of fields says (a gray value each), or None: it is none of ours, or damaged."""
    value = sum(1 << i for i, v in enumerate(fields) if v > 125)
    n = value & (1 << BITS) - 1
    return n if value == checked(n) else None


FIELDS = f"crop=iw:ih/2-4:0:2,scale={BITS + CHECK}:1:flags=area,format=gray"


def frames(source, *options, seconds=None, timeout=60.0, after=()):
    """[(time, number)] of each picture of a file or url, as ffmpeg shows it; options go before -i."""
    limit = ["-t", str(seconds)] if seconds else []
    r = tools.run(["ffmpeg", "-hide_banner", "-nostdin", "-nostats", *options, "-i", source, *limit, *after, "-map", "0:v:0",
                   "-vf", FIELDS + ",showinfo", "-fps_mode", "passthrough", "-f", "rawvideo", "-"], timeout)
    return paired(r.stdout, [float(t) for t in re.findall(rb"showinfo.* n: *\d+ .*?pts_time:([-\d.]+)", r.stderr)])


def paired(raw, times):
    size = BITS + CHECK
    numbers = [number(raw[i:i + size]) for i in range(0, len(raw) - size + 1, size)]
    assert len(numbers) <= len(times) <= len(numbers) + 1, (len(numbers), len(times))  # it may stop behind one more
    return list(zip(times, numbers))


def number_of_gray(data, width, height, stride=None):
    """Of one whole decoded picture: its plane of gray, whatever its size."""
    stride, row = stride or width, height // 4
    wide = width / (BITS + CHECK)
    return number([data[row * stride + int((i + 0.5) * wide)] for i in range(BITS + CHECK)])


def check(got, first=None, most_apart=0.002, step=1, loop=RATE * SECONDS):
    """All frames are there, in order, and their times go on as their numbers do. `first`: that of the first one."""
    assert got, "no picture"
    numbers = [n for _, n in got]
    assert None not in numbers, f"pictures that cannot be read: {numbers}"
    assert first is None or numbers[0] == first, f"begins with {numbers[:5]}, not {first}"
    for (t, n), (t2, n2) in zip(got, got[1:]):
        assert n2 == (n + step) % loop, f"{n2} comes after {n}"
        assert abs(t2 - t - step / RATE) <= most_apart, f"{n} at {t}, {n2} at {t2}"


def key_before(seconds):
    """Number of the key frame where play from there begins."""
    return int(seconds * RATE + 1e-6) // GROUP * GROUP


def beeps(source, *options, seconds=None, after=()):
    """When each beep begins, by the stamps of the frames of sound."""
    limit = ["-t", str(seconds)] if seconds else []
    r = tools.run(["ffmpeg", "-hide_banner", "-nostdin", "-nostats", *options, "-i", source, *limit, *after, "-map", "0:a:0", "-af",
                   f"aresample={SOUND_RATE},aformat=s16:channel_layouts=mono,ashowinfo", "-f", "s16le", "-"], 60)
    samples, out, at, loud = array.array("h", r.stdout[:len(r.stdout) // 2 * 2]), [], 0, True
    for pts, n in re.findall(rb"ashowinfo.*? pts_time:([-\d.]+) .*?nb_samples:(\d+)", r.stderr):
        for i in range(0, int(n), SOUND_STEP):
            level = max(map(abs, samples[at + i:at + i + SOUND_STEP]), default=0)
            if level >= 4000 and not loud:
                out.append(float(pts) + i / SOUND_RATE)
            loud = level >= 4000
        at += int(n)
    return out


def sound_behind(pictures, sounds):
    """How much later than its picture each beep is, s: in the file both are of a whole second."""
    assert pictures and sounds, (pictures[:3], sounds[:3])
    start = [t - n / RATE for t, n in pictures if n is not None]
    zero = sorted(start)[len(start) // 2]  # when frame 0 would have been
    return [(s - zero + 0.5) % 1 - 0.5 for s in sounds]
