#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the targets api, env, flv_seek, output, record and tls: seeds_served.py test/fuzz/corpus"""
import re
import struct
import sys
from pathlib import Path


def get(path, *fields, verb="GET", how=0):
    lines = [f"{verb} {path} HTTP/1.1", "Host: a", *fields, "", ""]
    return bytes([how]) + "\r\n".join(lines).encode()


def tag(kind, time, body):
    head = bytes([kind]) + len(body).to_bytes(3, "big") + time.to_bytes(3, "big") + bytes(4)
    return head + body + struct.pack(">I", len(body) + 11)


RIGHT, WRONG, FAR = "Authorization: Basic dTpw", "Authorization: Basic dTpx", 4
FLV = b"FLV\1\5\0\0\0\x09\0\0\0\0"
META = tag(18, 0, b"\2\0\x0aonMetaData\x08\0\0\0\0\0\0\x09")
CONFIG = tag(9, 0, b"\x17\0\0\0\0\1\x42\xc0\x1e\xff\xe1\0") + tag(8, 0, b"\xaf\0\x12\x10")
MEDIA = tag(9, 0, b"\x17\1\0\0\0kk") + tag(8, 10, b"\xaf\1zz")


def environment(part, most=30):
    """Lines with names of the reference, and some values."""
    rows = re.findall(r"`(SRS_[A-Z0-9_]+)`", Path("doc/config.md").read_text())
    values = ("on", "1935", "127.0.0.1:80", "0", "10s", "auto", "a b", "./x", "-1", "[::1]:8080")
    names = list(dict.fromkeys(rows))[part * most:][:most]
    return "".join(f"{n}={values[i % len(values)]}\n" for i, n in enumerate(names)).encode()


seeds = {
    "api": {
        "root": get("/api/v1/"),
        "streams": get("/api/v1/streams?start=1&count=2"),
        "clients": get("/api/v1/clients/abcdefgh", verb="DELETE", how=FAR),
        "summaries": get("/api/v1/summaries?callback=f") + get("/api/v1/self_proc_stats")[1:],
        "vhosts": get("/api/v1/vhosts/vid-1?count=%31&x=+"),
        "right": get("/api/v1/streams", RIGHT, how=1),
        "wrong": get("/api/v1/streams", WRONG, how=1) * 3,
        "reload": get("/api/v1/raw?rpc=reload-fetch", how=3),
        "page": get("/api/v1/clients/x", "Origin: http://b", "Sec-Fetch-Site: cross-site",
                    verb="DELETE", how=2),
        "preflight": get("/api/v1/streams", "Origin: http://b", "Access-Control-Request-Method: PUT",
                         "Access-Control-Request-Private-Network: true", verb="OPTIONS", how=2),
        "metrics": get("/metrics", how=3),
        "post": get("/api/v1/streams", "Content-Length: 3", verb="POST") + b"abc",
        "tests": get("/api/v1/tests/requests?a=1") + get("/api/v1/tests/redirects")[1:],
    },
    "env": {
        "listen": b"SRS_LISTEN=1935 [::1]:1936\nSRS_DAEMON=off\nSRS_MAX_CONNECTIONS=100\n",
        "wrong": b"SRS_LISTEN=x\n=\nSRS_VHOST_PLAY_GOP_CACHE=${SRS_LISTEN}\nSRS_LISTEN=\n",
        **{f"names_{i}": environment(i) for i in range(10)},
    },
    "flv_seek": {
        "begin": b"\0" + FLV + META + CONFIG + MEDIA,
        "media": b"\x03\1\0\7" + FLV + META + CONFIG + MEDIA,
        "no_config": b"\x02\2\0" + FLV + MEDIA,
        "far": b"\x14" + b"\x09" * 20 + FLV + META,
        "many": b"\x04\1\2\0\0" + FLV + META * 40 + MEDIA,
        "cut": b"\x02\1\4" + (FLV + META + CONFIG)[:60],
        "no_flv": b"\x01\5" + bytes(100),
    },
    "output": {
        "counter": b"\x09ffmpeg version 5\nInput #0\nframe=  10 fps=25 size= 20kB\r"
                   b"frame=  20 fps=25 size= 40kB\rPress [q]\r\nend",
        "control": b"\x02\x1b[31merror\x1b[0m\0\x7f\xff\xfe\n\n\r\r\n",
        "long": b"\xff" + b"x" * 5000 + b"\ry\n",
    },
    "tls": {
        "as_it_is": b"\0\0",
        "old": b"\2\0" + b"\0" * 8 + b"\0\0\1\0\2\0",
        "talk": b"\4\0" + b"\0" * 6 + b"\0\0\1\0\2\0\3\0",
        "split": b"\0\0\5\x20\0\0\0\5\x10\0\0",
        "split_old": b"\2\7\5\x07\0\5\x01",
        "inserted": b"\0\3\6\7\x14\3\3\0\1\1\0\0\6\x06\x15\3\3\0\2\1\0\0\0",
        "empty": b"\2\0\x08\x08\x08\0\0\1\x08",
        "flipped": b"\0\0\3\x40\xff",
        "twice": b"\2\0\2\2\2\2",
        "raw_alert": b"\1\0\x15\3\1\0\2\2\x28",
        "raw_http": b"\1\0GET / HTTP/1.1\r\n\r\n",
        "raw_hello": b"\1\0\x16\3\1\0\x2f\1\0\0\x2b\3\3" + bytes(32) + b"\0\0\2\x13\1\1\0\0\0",
        "raw_large": b"\1\0\x16\3\1\xff\xff\1\0\0\xff" + bytes(100),
        "server": b"\x08\0" + b"\0" * 20,
        "server_old": b"\x0a\0" + b"\0" * 20,
        "server_small": b"\x0c\0" + b"\0" * 20,
        "server_trusted": b"\x18\0" + b"\0" * 20,
        "server_old_trusted": b"\x1a\7" + b"\0" * 20,
        "server_flipped": b"\x1a\0\0\3\x60\x01\0\0\0\0",
        "server_split": b"\x1a\0\5\x20\5\x03\5\x01\0\0",
        "server_lost": b"\x0a\0\0\1\0\0\0",
        "server_twice": b"\x08\0\2\2\2\2\0\0",
        "server_raw": b"\x09\0\x16\3\3\0\x2c\2\0\0\x28\3\3" + bytes(32) + b"\0\x13\1\0\0\0",
        "server_alert": b"\x09\0\x15\3\3\0\2\2\x28",
    },
    "record": {
        "data": b"\xfc\0\x17\5hello\0\x17\1x",
        "bytewise": b"\2\0\x17\5hello\0\x17\0\0\x15\2\1\0",
        "longest": b"\xfd\xe1\x17\1x\xf1\x17\1x\xf1\0\1x",
        "keys": b"\xfc\0\x16\5\x18\0\0\1\1\0\x17\1x\0\x16\5\x18\0\0\1\0\0\x17\1y",
        "keys_twice_in_one": b"\xfc\0\x16\x0a\x18\0\0\1\0\x18\0\0\1\0",
        "old_keys": b"\xfc\4\x16\5\x18\0\0\1\0\0\x17\1y",
        "flipped": b"\xfe\0\x17\1x\x72\x17\5hello\0\x17\1x",
        "head": b"\xfc\x02\x17\1x",
        "length": b"\xfc\x32\x17\1x\x42\x17\1x",
        "padding": b"\xfc\0\0\6x\x17\0\0\0\0\0\0\4\0\0\0\0",
        "hello": b"\xfc\0\x16\4\1\0\0\0",
        "refused": b"\xfc\0\x15\2\2\x28",
        "canceled": b"\xfd\0\x15\2\1\x5a\0\x15\2\1\0\0\x17\1x",
        "quiet": b"\xfc" + b"\0\x17\0" * 40,
        "ends_early": b"\xfc\0\x17\1xy",
    },
}
for kind, rows in seeds.items():
    folder = Path(sys.argv[1]) / kind
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in rows.items():
        (folder / name).write_bytes(data)
