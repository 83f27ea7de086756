#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_sdp_offer, fuzz_sdp_fragment and fuzz_stun: those of the offers are what
test/unit/sdp_offers.h has. Run from the top folder."""
import os
import re
import subprocess

text = subprocess.run(["cc", "-E", "-P", "test/unit/sdp_offers.h"], check=True, capture_output=True, text=True).stdout
os.makedirs("test/fuzz/corpus/sdp_offer", exist_ok=True)
for name, body in re.findall(r"offer_(\w+)\[\]\s*=\s*(.*?);\s*(?=static|$)", text, flags=re.S):
    offer = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', body)).encode().decode("unicode_escape")
    wish = 6 if "recvonly" in offer else 7
    with open(f"test/fuzz/corpus/sdp_offer/{name}", "wb") as f:
        f.write(bytes([wish]) + offer.encode("latin-1"))

os.makedirs("test/fuzz/corpus/sdp_fragment", exist_ok=True)
FRAGMENTS = {
    "restart": "a=ice-ufrag:9uB6\r\na=ice-pwd:YH75Fviy6338Vbrhrlp8Yh\r\n",
    "trickle": "a=ice-ufrag:9uB6\r\na=ice-pwd:YH75Fviy6338Vbrhrlp8Yh\r\nm=audio 9 RTP/AVP 0\r\na=mid:1\r\n"
               "a=candidate:1 1 UDP 1 1.2.3.4 5 typ host\r\na=end-of-candidates\r\n",
}
for name, text in FRAGMENTS.items():
    with open(f"test/fuzz/corpus/sdp_fragment/{name}", "w", newline="") as f:
        f.write(text)

os.makedirs("test/fuzz/corpus/stun", exist_ok=True)
ID = "b7e7a701bc34d686fa87dfae"
STUN = {
    "request": "000100582112a442" + ID + "802200105354554e207465737420636c69656e74002400046e0001ff80290008932ff9b1"
               "51263b360006000965766a743a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf",
    "response": "0101003c2112a442" + ID + "8022000b7465737420766563746f7220002000080001a147e112a643"
                "000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96",
    "attributes": "002400046e0001ff802a0008932ff9b151263b3600250000",
    "unknown": "000300040000000000240004000000018029000801020304050607080009000800000457000000000014000078",
}
for name, text in STUN.items():
    with open(f"test/fuzz/corpus/stun/{name}", "wb") as f:
        f.write(bytes.fromhex(text))
