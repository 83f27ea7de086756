# SPDX-License-Identifier: MIT
"""The streams that are sent: made once by ffmpeg, of a constant bit rate, 30 frames a second, a key
frame every 2 s, and AAC of 43 frames a second."""
import subprocess

SECONDS = 20
SIZES = {200: "320x180", 500: "480x270", 900: "640x360", 2000: "960x540", 8000: "1280x720"}
AUDIO_KBPS = 64


def make(folder, kbps):
    """The path of the FLV file of that bit rate, audio included."""
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
