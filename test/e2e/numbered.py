# SPDX-License-Identifier: MIT
"""Media whose frames show their number, and how to read it back from a player's output.

Frame N of a file is at N / RATE seconds and shows N in black and white fields, with a check; each second begins with a beep.
So a test requests a position from a player and sees which frame it displays. `path(kind)` makes a file once and keeps
it below objs/; KINDS lists the variants.

"""
import array
import os
import random
import re
import subprocess

import procs
import tools

FOLDER = os.path.join(procs.ROOT, "objs", "e2e-media", "numbered")
RATE, SECONDS, GROUP = 25, 40, 50  # frames per second; per file; distance of key frames
WIDTH, HEIGHT, FIELD = 320, 96, 16  # pixels; a field has the size of a macroblock
BITS, CHECK = 16, 4
BRIGHT, DARK = 220, 30
SOUND_RATE, SOUND_STEP = 48000, 128

X264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", GROUP, "-keyint_min", GROUP, "-sc_threshold", 0, "-crf", 26]
X265 = ["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-crf", 28, "-x265-params",
        f"keyint={GROUP}:min-keyint={GROUP}:scenecut=0:open-gop=0:bframes=2:log-level=error"]
ENCODED = {"plain": [*X264, "-bf", 0], "b": [*X264, "-bf", 2], "h265": X265}
KINDS = {  # file: (encoded media, muxer options)
    "front.mp4": ("plain", ["-movflags", "+faststart"]),
    "end.mp4": ("plain", []),
    "fragments.mp4": ("plain", ["-movflags", "+frag_keyframe+delay_moov+default_base_moof"]),
    "bframes.mp4": ("b", ["-movflags", "+faststart"]),                                # with an edit list
    "negative.mp4": ("b", ["-movflags", "+faststart+negative_cts_offsets"]),
    "bfragments.mp4": ("b", ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]),
    "hevc.mp4": ("h265", ["-movflags", "+faststart"]),
    "keys.flv": ("plain", ["-flvflags", "+add_keyframe_index"]),
    "bframes.flv": ("b", []),                                                         # without an index
    "sound.mp4": ("plain", ["-map", "0:a", "-movflags", "+faststart"]),
    "mute.mp4": ("plain", ["-map", "0:v", "-movflags", "+faststart"]),
}


# ---- writing

def checked(number):
    """Returns a number followed by its check, as displayed: bit 0 is the leftmost field."""
    check = sum(number >> 4 * i for i in range(4)) & 15
    return number | (check ^ 10) << BITS


def picture(number):
    """A gray frame: the number at the top, noise below so that files have a realistic size."""
    value = checked(number)
    row = b"".join(bytes([BRIGHT if value >> i & 1 else DARK]) * FIELD for i in range(BITS + CHECK))
    rnd = random.Random(number)
    noise = []
    for _ in range(HEIGHT // 2 // 4):
        noise.append(b"".join(bytes([v]) * 4 for v in rnd.randbytes(WIDTH // 4)) * 4)
    return row * (HEIGHT // 2) + b"".join(noise)


def made(path, make):
    """Returns the file; make(temporary path) creates it if it does not exist."""
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
    """Returns the path of a file of KINDS."""
    name, how = KINDS[kind]
    return made(os.path.join(folder, kind), lambda tmp: copy(encoded(name), tmp, *how))


def long_path(kind, times, folder=FOLDER):
    """The same content repeated in one file: frame N is at N / RATE, and shows N modulo RATE * SECONDS."""
    out = os.path.join(folder, f"{times}x-{kind}")
    return made(out, lambda tmp: copy(path(kind), tmp, *KINDS[kind][1], before=["-stream_loop", times - 1]))


# ---- reading

def number(fields):
    """Reads the number from a row of fields (a gray value each); None if it is damaged or not from these media."""
    value = sum(1 << i for i, v in enumerate(fields) if v > 125)
    n = value & (1 << BITS) - 1
    return n if value == checked(n) else None


FIELDS = f"crop=iw:ih/2-4:0:2,scale={BITS + CHECK}:1:flags=area,format=gray"


def frames(source, *options, seconds=None, timeout=60.0, after=()):
    """[(time, number)] of each frame of a file or url, as ffmpeg displays it; options go before -i."""
    limit = ["-t", str(seconds)] if seconds else []
    r = tools.run(["ffmpeg", "-hide_banner", "-nostdin", "-nostats", *options, "-i", source, *limit, *after, "-map", "0:v:0",
                   "-vf", FIELDS + ",showinfo", "-fps_mode", "passthrough", "-f", "rawvideo", "-"], timeout)
    return paired(r.stdout, [float(t) for t in re.findall(rb"showinfo.* n: *\d+ .*?pts_time:([-\d.]+)", r.stderr)])


def paired(raw, times):
    size = BITS + CHECK
    numbers = [number(raw[i:i + size]) for i in range(0, len(raw) - size + 1, size)]
    assert len(numbers) <= len(times) <= len(numbers) + 1, (len(numbers), len(times))  # it may stop one frame later
    return list(zip(times, numbers))


def number_of_gray(data, width, height, stride=None):
    """Number of a decoded frame: its luma plane, of any size."""
    stride, row = stride or width, height // 4
    wide = width / (BITS + CHECK)
    return number([data[row * stride + int((i + 0.5) * wide)] for i in range(BITS + CHECK)])


def check(got, first=None, most_apart=0.002, step=1, loop=RATE * SECONDS):
    """Checks that all frames are there in order, with times that match their numbers. `first`: number of the first one."""
    assert got, "no frame"
    numbers = [n for _, n in got]
    assert None not in numbers, f"frames that cannot be read: {numbers}"
    assert first is None or numbers[0] == first, f"begins with {numbers[:5]}, not {first}"
    for (t, n), (t2, n2) in zip(got, got[1:]):
        assert n2 == (n + step) % loop, f"{n2} comes after {n}"
        assert abs(t2 - t - step / RATE) <= most_apart, f"{n} at {t}, {n2} at {t2}"


def key_before(seconds):
    """Number of the key frame at which playback from this position begins."""
    return int(seconds * RATE + 1e-6) // GROUP * GROUP


def beeps(source, *options, seconds=None, after=()):
    """Times at which the beeps begin, from the timestamps of the audio frames."""
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
    """Delay of each beep relative to its frame in s; in the file both are at a whole second."""
    assert pictures and sounds, (pictures[:3], sounds[:3])
    start = [t - n / RATE for t, n in pictures if n is not None]
    zero = sorted(start)[len(start) // 2]  # time of frame 0
    return [(s - zero + 0.5) % 1 - 0.5 for s in sounds]
