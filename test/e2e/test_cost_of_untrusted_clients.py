# SPDX-License-Identifier: MIT
"""What one request, handshake or body of an untrusted client costs the shared thread over SRT, RTSP and RTMFP, and how long a player
waits when a hundred arrive together."""
import base64
import socket
import time

import pytest

pytest.importorskip("cryptography")

import hostile_rtmfp as rtmfp_peers     # noqa: E402
import hostile_rtsp as hr               # noqa: E402
import rtmfp                            # noqa: E402
import rtmfp_wire as w                  # noqa: E402
from flvgen import synthetic            # noqa: E402
from hostile_srt import Peer, extension, hsreq, key_message, streamid  # noqa: E402
from procs import SLOW, free_port, patience, wait_for  # noqa: E402
from rtspclient import rtsp_server      # noqa: E402

MOST_CPU, MOST_GAP, TOGETHER = 0.005, 0.150, 100


def cpu_of(s):
    """Seconds of CPU time of the event loop's thread, without helper threads."""
    with open(f"/proc/{s.pid}/task/{s.pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e9


def rtsp_bodies(make):
    """Each on its own connection; all are open before the first sends."""
    def prepare(s):
        return [socket.create_connection(("127.0.0.1", s.rtsp_port), patience(10)) for _ in range(TOGETHER)]

    def say(s, socks):
        for i, sock in enumerate(socks):
            sock.sendall(make(i))
        for sock in socks:
            sock.recv(4096)
            sock.close()
    return prepare, say


def digest(i):
    return hr.ask("DESCRIBE", "x?vhost=guess", "Authorization: Digest " + f'realm="SRS",username="u{i}",' * 120 + 'uri="/live/x"')


def tunnelled(i):
    return (b"POST /live/x HTTP/1.0\r\nx-sessioncookie: c%d\r\nContent-Type: application/x-rtsp-tunnelled\r\n"
            b"Content-Length: 32767\r\n\r\n" % i + base64.b64encode(hr.ask("OPTIONS") * 300))


def tunnels():
    """One downstream half per upstream half, which sends a batch of requests."""
    def prepare(s):
        out = []
        for i in range(TOGETHER):
            down, up = (socket.create_connection(("127.0.0.1", s.rtsp_port), patience(10)) for _ in range(2))
            down.sendall(hr.get(i, f"c{i}"))
            assert b" 200 " in down.recv(4096)
            out.append((down, up))
        return out

    def say(s, pairs):
        for i, (_, up) in enumerate(pairs):
            up.sendall(tunnelled(i))
        for down, up in pairs:
            heard = b""
            while heard.count(b"CSeq") < 300:
                got = down.recv(65536)
                if not got:
                    break
                heard += got
            down.close()
            up.close()
    return prepare, say


def srt_handshakes(extensions, **how):
    def prepare(s):
        return [Peer(s.srt_port, f"127.0.{1 + i // 50}.{1 + i % 50}").induct() for i in range(TOGETHER)]

    def say(s, peers):
        for i, p in enumerate(peers):
            p.say(p.conclusion(extensions(i), **how))
        answered = sum(p.hear_handshake(1.0) is not None for p in peers)
        assert answered > TOGETHER * 0.6, answered
        for p in peers:
            p.close()
    return prepare, say


def with_key(i):
    return hsreq() + streamid(f"#!::h=keys.com,r=live/{i}") + extension(3, key_message(32, 3))


def rtmfp_handshakes(keyed):
    def prepare(s):
        peers = [rtmfp_peers.Stranger(s.rtmfp_port, f"127.0.{1 + i // 50}.{1 + i % 50}") for i in range(TOGETHER)]
        me = rtmfp.Identity(group=14)
        skic = rtmfp_peers.with_key(w.Pair(14).public, 14)
        if not keyed:
            return [(p, rtmfp_peers.datagram([rtmfp_peers.hello()])) for p in peers]
        return [(p, rtmfp_peers.datagram([rtmfp_peers.keying(p.cookie(), me, 1 + i, skic=skic)])) for i, p in enumerate(peers)]

    def say(s, peers):
        for p, said in peers:
            p.raw(said)
        answered = sum(p.hear(2.0) is not None for p, _ in peers)
        assert answered > TOGETHER * 0.6, answered
    return prepare, say


KINDS = {
    "RTSP: 64 fields": rtsp_bodies(lambda i: hr.ask("OPTIONS", "x", *[f"X-{n}: " + "y" * 200 for n in range(60)])),
    "RTSP: an SDP of 2,000 tracks": rtsp_bodies(lambda i: hr.announce(f"sdp{i}", "v=0\r\n" + hr.fields(2000))),
    "RTSP: an SDP of base64": rtsp_bodies(lambda i: hr.announce(f"sprop{i}", hr.SDP.replace("Z2QA", "Z2QA" * 12000))),
    "RTSP: an SDP of formats": rtsp_bodies(lambda i: hr.announce(f"fmt{i}", "v=0\r\nm=video 0 RTP/AVP " + " ".join(["96"] * 500) + "\r\n" + "".join(
        f"a=rtpmap:{n % 128} H264/90000\r\na=fmtp:{n % 128} x=1;y=2;z=3\r\n" for n in range(1100)))),
    "RTSP: an SDP of parameters": rtsp_bodies(lambda i: hr.announce(f"par{i}", "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 "
                                                                     + "a=b;" * 14000 + "\r\n")),
    "RTSP: a digest of 4 KB": rtsp_bodies(digest),
    "RTSP: requests in tunnels": tunnels(),
    "SRT: handshakes": srt_handshakes(lambda i: hsreq() + streamid(f"#!::r=live/none{i}," + "k=v," * 100)),
    "SRT: handshakes with keys": srt_handshakes(with_key, encryption=4, field=7),
    "RTMFP: hellos": rtmfp_handshakes(False),
    "RTMFP: keyings": rtmfp_handshakes(True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_cost_of_an_untrusted_client(srs, kind):
    srt, rtm = free_port(), free_port()
    s = rtsp_server(srs, vhost="""vhost __defaultVhost__ { rtsp { enabled on; } srt { enabled on; } rtmfp { enabled on; } tcp_nodelay on;
min_latency on; publish { mr off; } play { mw_latency 0; } } vhost keys.com { srt { enabled on; passphrase 0123456789abc; } }
vhost guess { rtsp { enabled on; auth { enabled on; user u secret; } } }""", glob=f"""max_connections 2000;
srt_server {{ enabled on; listen 127.0.0.1:{srt}; }} rtmfp_server {{ enabled on; listen 127.0.0.1:{rtm}; }}""", server="describe_wait 0;")
    s.srt_port, s.rtmfp_port = srt, rtm
    pusher = s.push(synthetic(2), "bystander", loop=True, ahead=1)
    player = s.watch("bystander")
    assert player.wait(lambda tags: len(tags) > 20)
    prepare, say = KINDS[kind]
    said = prepare(s)
    time.sleep(0.3)  # all work is done by now
    idle, begin = cpu_of(s), time.monotonic()
    time.sleep(0.3)
    idle = (cpu_of(s) - idle) / (time.monotonic() - begin)
    before, begin = cpu_of(s), time.monotonic()
    say(s, said)
    took = time.monotonic() - begin
    each = (cpu_of(s) - before - idle * took) / TOGETHER
    n = len(player.arrivals)
    assert wait_for(lambda: len(player.arrivals) > n + 3, 5)
    at = [begin] + [t for t, _ in list(player.arrivals) if t > begin]
    gap = max(b - a for a, b in zip(at, at[1:]))
    player.stop()
    pusher.stop()
    print(f"{kind}: {1000 * each:.3f} ms each, the player waited {1000 * gap:.0f} ms")
    assert each <= MOST_CPU * SLOW, f"{1000 * each:.1f} ms of the thread for one"
    assert gap <= MOST_GAP * SLOW, f"the player waited {1000 * gap:.0f} ms"
