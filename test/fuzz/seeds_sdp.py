#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_sdp: test/fuzz/corpus/sdp. Run from the top folder."""
import os

HEAD = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\na=range:npt=0-1.5\r\n"
SETS = "Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA"
HEVC = ("sprop-vps=QAEMAf//AWAAAAMAkAAAAwAAAwA8lZgJ;sprop-sps=QgEBAWAAAAMAkAAAAwAAAwA8oApIC5yVllZpJMrw"
        "FoCAAAADAIAAAAyE;sprop-pps=RAHBcrRiQA==")
SEEDS = {
    "h264-aac": HEAD + "m=video 0 RTP/AVP 96\r\nb=AS:800\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1; "
                f"sprop-parameter-sets={SETS}; profile-level-id=64000C\r\na=control:trackID=0\r\n"
                "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\na=fmtp:97 mode=AAC-hbr;sizelength=13;"
                "indexlength=3;indexdeltalength=3;config=1190\r\na=control:trackID=1\r\n",
    "h265-opus": HEAD + f"m=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=fmtp:96 {HEVC}\nm=audio 0 RTP/AVP 111\n"
                 "a=rtpmap:111 opus/48000/2\na=fmtp:111 sprop-stereo=1\na=sendonly\n",
    "fixed": "m=audio 0 RTP/AVP 0 8 14\0m=video 0 RTP/AVP 33\ra=control\r",
    "latm": "m=audio 0 RTP/AVP 97\na=rtpmap:97 MP4A-LATM/48000/2\na=fmtp:97 cpresent=0;config=400023203FC0\n",
    "others": HEAD + "m=video 0 RTP/AVP 98 99\na=rtpmap:98 AV1/90000\na=fmtp:98 profile=0\na=rtpmap:99 VP9/90000\n"
              "m=application 0 RTP/AVP 107\na=rtpmap:107 vnd.onvif.metadata/90000\nm=text -1 x y\n",
}

os.makedirs("test/fuzz/corpus/sdp", exist_ok=True)
for name, text in SEEDS.items():
    with open(f"test/fuzz/corpus/sdp/{name}", "w", newline="") as f:
        f.write(text)
