# SPDX-License-Identifier: MIT
"""whip_muxer.py URL FILE SECONDS CERT KEY: FFmpeg's own muxer of WHIP, by PyAV, in real time; with CERT it is the client of DTLS."""
import sys
import time

import av

url, path, seconds, cert, key = sys.argv[1:]
options = {"whip_flags": "dtls_active", "cert_file": cert, "key_file": key} if cert else {}
source, out = av.open(path), av.open(url, "w", format="whip", options=options)
pictures, sound = source.streams.video[0], source.streams.audio[0]
v = out.add_stream("libx264", rate=25, options={"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline", "g": "50", "bf": "0"})
v.width, v.height, v.pix_fmt = pictures.codec_context.width, pictures.codec_context.height, "yuv420p"
a = out.add_stream("libopus", rate=48000)
a.layout = "stereo"
samples = av.AudioResampler("s16", "stereo", 48000, frame_size=960)
began = time.monotonic()
for f in source.decode(pictures, sound):
    if f.time > float(seconds):
        break
    time.sleep(max(0, began + f.time - time.monotonic()))
    if isinstance(f, av.VideoFrame):
        f.pict_type = 0
        out.mux(v.encode(f))
    else:
        for g in samples.resample(f):
            out.mux(a.encode(g))
out.close()
print("{}")
