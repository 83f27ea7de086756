# SPDX-License-Identifier: MIT
"""aiortc_peer.py publish URL FILE SECONDS, aiortc_peer.py play URL SECONDS: aiortc as a client of WHIP and WHEP.
What it sent, or got and decoded, is written as JSON."""
import asyncio
import json
import sys
import time
import urllib.parse
import urllib.request

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer
from aiortc.mediastreams import MediaStreamError


def ask(method, url, body=None):
    q = urllib.request.Request(url, body, {"Content-Type": "application/sdp"}, method=method)
    with urllib.request.urlopen(q, timeout=10) as r:
        return r.status, r.headers.get("Location"), r.read().decode()


async def exchange(pc, url):
    up = asyncio.Event()
    pc.on("connectionstatechange", lambda: pc.connectionState == "connected" and up.set())
    await pc.setLocalDescription(await pc.createOffer())
    status, where, answer = await asyncio.to_thread(ask, "POST", url, pc.localDescription.sdp.encode())
    assert status == 201, (status, answer)
    await pc.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await asyncio.wait_for(up.wait(), 15)
    return urllib.parse.urljoin(url, where)


async def leave(pc, where, more):
    status, _, _ = await asyncio.to_thread(ask, "DELETE", where)
    print(json.dumps({"deleted": status, **more}))
    await pc.close()


async def publish(url, path, seconds):
    pc, media = RTCPeerConnection(), MediaPlayer(path)
    for track in (media.audio, media.video):
        pc.addTrack(track)
    where = await exchange(pc, url)
    await asyncio.sleep(float(seconds))
    stats = (await pc.getStats()).values()
    await leave(pc, where, {"sent": {s.kind: s.packetsSent for s in stats if s.type == "outbound-rtp"},
                            "lost": {s.kind: s.packetsLost for s in stats if s.type == "remote-inbound-rtp"}})


async def play(url, seconds):
    pc, got, tasks = RTCPeerConnection(), {"frames": [], "samples": 0}, []

    async def count(track):
        while True:
            try:
                f = await track.recv()
            except MediaStreamError:
                return
            if track.kind == "video":
                got["frames"].append(time.monotonic())
                got["size"] = [f.width, f.height]
            else:
                got["samples"] += f.samples
    pc.on("track", lambda track: tasks.append(asyncio.ensure_future(count(track))))
    for kind in ("audio", "video"):
        pc.addTransceiver(kind, direction="recvonly")
    where = await exchange(pc, url)
    await asyncio.sleep(float(seconds))
    stats = (await pc.getStats()).values()
    await leave(pc, where, {**got, "lost": {s.kind: s.packetsLost for s in stats if s.type == "inbound-rtp"}})


asyncio.run({"publish": publish, "play": play}[sys.argv[1]](*sys.argv[2:]))
