# SPDX-License-Identifier: MIT
"""The streams, made once by ffmpeg: constant bit rate, 30 frames per second, a key frame every 2 s, and
AAC with 43 frames per second."""
import subprocess
import sys
from pathlib import Path

SECONDS = 20
SIZES = {200: "320x180", 500: "480x270", 900: "640x360", 2000: "960x540", 8000: "1280x720"}
AUDIO_KBPS = 64


def make(folder, kbps):
    """Path of the FLV file of a bit rate, audio included."""
    path = folder / f"{kbps}k.flv"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    video = kbps - AUDIO_KBPS
    part = path.with_suffix(".part")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y",
         "-f", "lavfi", "-i", f"testsrc2=s={SIZES[kbps]}:r=30,noise=alls=20:allf=t",
         "-f", "lavfi", "-i", "sine=f=440:r=44100", "-t", str(SECONDS),
         "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-pix_fmt", "yuv420p",
         "-g", "60", "-keyint_min", "60", "-sc_threshold", "0",
         "-b:v", f"{video}k", "-minrate", f"{video}k", "-maxrate", f"{video}k",
         "-bufsize", f"{video}k", "-x264-params", "nal-hrd=cbr:force-cfr=1",
         "-c:a", "aac", "-b:a", f"{AUDIO_KBPS}k", "-f", "flv", str(part)],
        check=True, stdin=subprocess.DEVNULL)
    part.rename(path)
    return path


def make_opus(folder):
    """Path of an FLV file with H.264 of about 900 kbit/s, 25 frames per second, a key frame every 4 s and one slice per
    frame, and Opus with 50 packets per second."""
    path = folder / "900k-opus.flv"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    video, sound, part = (folder / f"900k-opus.{what}" for what in ("video.mp4", "sound.mp4", "part"))
    ffmpeg = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi"]
    rest = ["-t", str(SECONDS), "-fflags", "+bitexact"]
    subprocess.run([*ffmpeg, "-i", "testsrc2=s=640x360:r=25,noise=alls=20:allf=t", *rest, "-c:v", "libx264", "-preset", "veryfast",
                    "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "100", "-keyint_min", "100", "-sc_threshold", "0",
                    "-b:v", "900k", "-maxrate", "900k", "-bufsize", "900k", "-x264-params", "sliced-threads=0", str(video)],
                   check=True, stdin=subprocess.DEVNULL)
    subprocess.run([*ffmpeg, "-i", "sine=f=440:r=48000", *rest, "-c:a", "libopus", "-b:a", "48k", str(sound)],
                   check=True, stdin=subprocess.DEVNULL)
    subprocess.run([sys.executable, Path(__file__).parent / "opus.py", video, sound, part], check=True)
    part.rename(path)
    return path
