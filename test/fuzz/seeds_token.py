#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the fuzzer of tokens: seeds_token.py test/fuzz/corpus"""
import sys
from pathlib import Path

X, Y = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
EC = f'"kty":"EC","crv":"P-256","x":"{X}","y":"{Y}"'
N = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4" \
    "QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBY" \
    "UsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmo" \
    "udF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
HEAD = '{"alg":"HS256","typ":"JWT"}\n'
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjk5OTk5OTk5OTksInBsYXkiOiIqIn0." + "A" * 43

SEEDS = {
    "link": (0, "?expires=9999999999&sign=" + "0" * 64),
    "link-ip": (0, "?a=b&expires=9999999999&sign=" + "A" * 43 + "&ip=10.0.0.7"),
    "jwt": (0, "?token=" + JWT),
    "jwt-rs": (0, "?jwt=eyJhbGciOiJSUzI1NiJ9.e30." + "A" * 342),
    "bearer": (0, "\nBearer " + JWT),
    "key": (0, "?key=k&secret=x"),
    "claims": (1, HEAD + '{"exp":1000060,"nbf":1,"publish":["live/s"],"play":["x","live/*"]}'),
    "whom": (1, HEAD + '{"exp":1000060.5,"iss":"me","aud":["us"],"vhost":"v","ip":["::1","10.0.0.7"],'
                '"play":"*"}'),
    "crit": (1, '{"alg":"HS256","crit":["exp"],"kid":"1"}\n{"exp":1000060}'),
    "none": (1, '{"alg":"none"}\n{"exp":1000060,"play":"*"}'),
    "deep": (1, HEAD + "[" * 30),
    "ec": (2, '{"keys":[{%s,"kid":"1","use":"sig","alg":"ES256","key_ops":["verify"]}]}' % EC),
    "rsa": (2, '{"keys":[{"kty":"RSA","n":"%s","e":"AQAB","x5c":["..."]}]}' % N),
    "odd": (2, '{"keys":[{"kty":"oct","k":"AA"},{%s,"d":"AA"},{"kty":"RSA","use":"enc"},7]}' % EC),
}

folder = Path(sys.argv[1]) / "token"
folder.mkdir(parents=True, exist_ok=True)
for name, (kind, text) in SEEDS.items():
    (folder / name).write_bytes(bytes([kind]) + text.encode())
