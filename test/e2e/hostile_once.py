# SPDX-License-Identifier: MIT
"""The most expensive legal requests, handshakes and bodies of untrusted clients, one each: preparation first, then the single message."""
import itertools
import socket
from collections import namedtuple

import amf
import hostile
import hostile_rtc as rtc
import hostile_rtmfp
import hostile_rtsp as rtsp
import hostile_srt as srt
import rtmfp
from hostile import get, publishing, said
from hostile_all import API, BODIES, HELLO, OFFERS, SDP, address
from hostile_bytes import avc_config, avc_frame, hevc_config, post
from rtmpclient import AMF3_CMD, AUDIO, CMD, DATA, VIDEO

# make(site, n): prepares the connection and returns say(), which sends the message
Once = namedtuple("Once", "name make")


serial = itertools.count()


def tcp(port, request, first=b""):
    """Connects from an address of its own, because each address is limited."""
    def make(site, n):
        s = socket.socket()
        s.bind((address(next(serial)), 0))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        s.settimeout(20)
        s.connect(("127.0.0.1", site.ports[port]))
        s.sendall(first(n) if callable(first) else first)
        return s, lambda: s.sendall(request(n) if callable(request) else request)
    return make


def srt_caller(more=b"", host="", **how):
    def make(site, n):
        p = srt.Peer(site.ports["srt"], address(n)).induct()
        ask = p.conclusion(srt.hsreq() + srt.streamid(f"#!::{host}r=live/innocent,m=request") + more, **how)
        return p, lambda: p.say(ask)
    return make


def rtmfp_hello(site, n):
    p = hostile_rtmfp.Stranger(site.ports["rtmfp"], address(n))
    return p.sock, lambda: p.say(hostile_rtmfp.hello())


def rtmfp_key(group):
    def make(site, n):
        p = hostile_rtmfp.Stranger(site.ports["rtmfp"], address(n))
        me, cookie = rtmfp.Identity(group=group), p.cookie()
        asked = hostile_rtmfp.datagram([hostile_rtmfp.keying(cookie, me, 1 + n)])
        return p.sock, lambda: p.raw(asked)
    return make


def webrtc(packet, **how):
    def make(site, n):
        c = rtc.Client(site.ports["http"], site.ports["rtc"], "innocent", ip=address(n), **how).connect()
        return c, lambda: c.say(packet(c))
    return make


def frames_of_rtp(packets):
    """A publisher that sends these at once."""
    def make(site, n):
        c = rtc.Client(site.ports["http"], site.ports["rtc"], f"once{n}", True, ip=address(n)).connect()

        def say():
            for i, (payload, marker) in enumerate(packets):
                c.say(rtc.rtp(i, 3000, c.ssrc, payload, rtc.VIDEO, marker))
        return c, say
    return make


def rtmp(*messages):
    return tcp("rtmp", said(*messages), hostile.connected)


def keys(n):
    return {f"{i:x}": 1.0 for i in range(n)}


AV1 = b"\x90av01\x81\0\x0c\0\x0a\x0b\0\0\0\x04\x3c\xff\xbc\xff\xf2\x80\x40"


def broadcast(config, frame):
    """A publisher with a player of each kind; its frame is the message."""
    def make(site, n):
        s, say = tcp("rtmp", said((6, VIDEO, 1, frame)), publishing)(site, n)
        s.sendall(said((6, VIDEO, 1, config)))
        name = f"hostile{n}"
        for sock, words in ((site.ports["http"], get(f"/live/{name}.flv")), (site.ports["rtsp"], rtsp.ask("DESCRIBE", name) +
                                                                            rtsp.setup(name) + rtsp.ask("PLAY", name))):
            s2 = socket.create_connection(("127.0.0.1", sock))
            s2.sendall(words)
            site.kept.append(s2)
        return s, say
    return make


def many_sets(n=31):
    """An AVCDecoderConfigurationRecord full of parameter sets."""
    sps, pps = avc_config(1)[13:13 + 30], b"\x68\xeb\xe3\xcb\x22\xc0"
    return (b"\x17\0\0\0\0\1\x64\0\x0b\xff" + bytes([0xe0 | n]) + b"".join(b"\0\x1e" + sps for _ in range(n)) + bytes([255]) +
            b"".join(b"\0\6" + pps for _ in range(255)))


ALL = [
    *(Once(f"JSON: {name}", tcp("http", post("/rtc/v1/publish/", body))) for name, body in BODIES.items()),
    *(Once(f"offers: {name}", tcp("http", post("/rtc/v1/whep/?app=live&stream=innocent", body, SDP))) for name, body in OFFERS.items()),
    *(Once(f"to publish: {name}", tcp("http", lambda n, body=OFFERS[name]: post(f"/rtc/v1/whip/?app=live&stream=x{n}", body, SDP)))
      for name in ("good", "types", "formats", "rids", "sections")),
    Once("JSON to the API", tcp("http", post("/api/v1/clients/", BODIES["objects"]))),
    *(Once(r.split()[1].decode(), tcp("http", r)) for r in API),
    Once("a list of HLS", tcp("http", get("/live/innocent.m3u8"))),
    Once("a list of DASH", tcp("http", get("/live/innocent.mpd"))),
    Once("HTTP-FLV", tcp("http", get("/live/innocent.flv"))),
    Once("WebSocket", tcp("http", hostile.WS)),
    Once("a text", tcp("http", get("/big.js", "Accept-Encoding: gzip"))),
    Once("ranges", tcp("http", get("/big.bin", "Range: bytes=" + ",".join(f"{i}-{i}" for i in range(0, 3000, 2))))),
    Once("a long head", tcp("http", get("/" + "%41" * 2600, *(f"X-{i}: " + "y" * 230 for i in range(95))))),
    Once("a body in chunks", tcp("http", b"POST /rtc/v1/play/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                 b"1\r\n[\r\n" * 60000 + b"0\r\n\r\n")),
    Once("TLS of HTTPS", tcp("https", HELLO)), Once("TLS of RTMPS", tcp("rtmps", HELLO)),
    # -- RTMP
    Once("connect", tcp("rtmp", hostile.connected)), Once("play", tcp("rtmp", hostile.playing)),
    Once("publish", tcp("rtmp", publishing)),
    Once("a command of 64 KB", rtmp((3, CMD, 0, amf.encode("call", 0.0, keys(5000))[:65000]))),
    Once("a nested command", rtmp((3, CMD, 0, (amf.encode("call", 0.0) + b"\x03\x00\x01a" * 16000)[:65000]))),
    Once("AMF0 keys alike", rtmp((3, CMD, 0, hostile.same_keys_amf0(120)))),
    Once("AMF3 keys by reference", rtmp((3, AMF3_CMD, 0, hostile.same_keys_amf3(9000, 120)))),
    Once("connect of 64 KB", tcp("rtmp", b"\x03" + hostile.make_c1("simple") + bytes(1536) + said(
        (2, 1, 0, b"\0\0\xea\x60"), size=128) + said((3, CMD, 0, amf.encode("connect", 1.0, {"app": "live", "tcUrl": "rtmp://h/live", **keys(4000)}))))),
    Once("a handshake with digests", tcp("rtmp", b"\x03" + hostile.make_c1("complex1") + bytes(1536))),
    Once("metadata of 1 MB", tcp("rtmp", said((4, DATA, 1, amf.encode("@setDataFrame", "onMetaData", keys(60000))[:1000000])), publishing)),
    Once("metadata of many strings", tcp("rtmp", said((4, DATA, 1, amf.encode("@setDataFrame", "onMetaData", {
        f"k{i}": "v" * 50 for i in range(15000)}))), publishing)),
    Once("many sets of AVC", tcp("rtmp", said((6, VIDEO, 1, many_sets()), (6, VIDEO, 1, avc_frame())), publishing)),
    Once("HEVC", tcp("rtmp", said((6, VIDEO, 1, hevc_config(1)), (6, VIDEO, 1, avc_frame())), publishing)),
    Once("a key frame of 256 KB", tcp("rtmp", said((6, VIDEO, 1, avc_config(1)), (6, VIDEO, 1, hostile.video(256 << 10))), publishing)),
    Once("a frame of many units", broadcast(avc_config(1), b"\x17\1\0\0\0" + b"\0\0\0\1\x65" * 50000)),
    Once("a frame of many units of two bytes", broadcast(avc_config(1), b"\x17\1\0\0\0" + b"\0\0\0\2\x65\x88" * 45000)),
    Once("a frame of many units of HEVC", broadcast(hevc_config(1), b"\x93hvc1" + b"\0\0\0\3\x26\1\x80" * 40000)),
    Once("a frame of many OBUs", broadcast(AV1, b"\x91av01" + b"\x12\0\x0a\0" * 65000)),
    Once("a frame of many tiles", broadcast(AV1, b"\x91av01" + b"\x22\1x" * 85000)),
    Once("a message of many tracks", broadcast(avc_config(1), b"\x96\x11avc1" + b"\1\0\0\1x" * 50000)),
    Once("a message of many codecs", broadcast(avc_config(1), b"\x96\x21" + b"avc1\1\0\0\1x" * 29000)),
    Once("many audio tracks", tcp("rtmp", said((4, AUDIO, 1, b"\x95\x11Opus" + b"\1\0\0\1x" * 50000)), publishing)),
    Once("an aggregate", tcp("rtmp", said((4, 22, 1, (b"\x09\0\0\1" + bytes(7) + b"\x27" + b"\0\0\0\x0c") * 4000)), publishing)),
    # -- RTSP
    Once("DESCRIBE", tcp("rtsp", rtsp.ask("DESCRIBE"))), Once("SETUP", tcp("rtsp", rtsp.ask("DESCRIBE") + rtsp.setup())),
    Once("ANNOUNCE", tcp("rtsp", lambda n: rtsp.announce(f"once{n}"))),
    Once("ANNOUNCE of sections", tcp("rtsp", lambda n: rtsp.announce(f"once{n}", "v=0\r\n" + rtsp.fields(2300)))),
    Once("ANNOUNCE of base64", tcp("rtsp", lambda n: rtsp.announce(f"once{n}", rtsp.SDP.replace("Z2QA", "Z2QA" * 15000)))),
    Once("ANNOUNCE of sets", tcp("rtsp", lambda n: rtsp.announce(f"once{n}", rtsp.SDP.replace("aOvjyyLA", ",".join(["aOvjyyLA"] * 6500))))),
    Once("a long line of RTSP", tcp("rtsp", rtsp.ask("OPTIONS", "x" * 4000, *(f"X: {'y' * 200}" for _ in range(60))))),
    Once("a wrong password", tcp("rtsp", rtsp.ask("DESCRIBE", "x", "Authorization: Basic YTpi").replace(b"127.0.0.1/", b"locked.com/"))),
    Once("a half of a tunnel", tcp("rtsp", rtsp.get)),
    # -- datagrams
    Once("SRT", srt_caller()), Once("SRT with a key", srt_caller(srt.extension(3, srt.key_message(32)), "h=locked.com,", encryption=4, field=7)),
    Once("RTMFP hello", rtmfp_hello), Once("RTMFP key of 1024 bits", rtmfp_key(2)), Once("RTMFP key of 2048 bits", rtmfp_key(14)),
    Once("a check of STUN", webrtc(lambda c: rtc.binding("abcd", c.theirs, c.pwd))),
    Once("DTLS", webrtc(lambda c: rtc.record(22, rtc.message(1, 0, rtc.HELLO)), query="")),
    Once("NACK of all", webrtc(lambda c: rtc.rtcp(205, 1, rtc.words(c.ssrc, c.ssrcs[0]) + b"\0\0\xff\xff" * 250))),
    *(Once(f"RTP, bomb {i}", frames_of_rtp(v[:1000])) for i, v in enumerate(rtc.bombs("H264"))),
]
BY_NAME = {o.name: o for o in ALL}
assert len(BY_NAME) == len(ALL), "two have the same name"
