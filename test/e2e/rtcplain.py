# SPDX-License-Identifier: MIT
"""A WebRTC client without encryption (?dtls=false, for clients on this machine): ICE checks and RTP, nothing else."""
import binascii
import hashlib
import hmac
import re
import socket
import struct
import threading
import time
import urllib.request

VIDEO, OPUS = 102, 111

OFFER = """v=0
o=- 1 1 IN IP4 0.0.0.0
s=-
t=0 0
a=group:BUNDLE 0 1
m=audio 9 UDP/TLS/RTP/SAVPF {opus}
c=IN IP4 0.0.0.0
a=ice-ufrag:plain
a=ice-pwd:0123456789012345678901
a=fingerprint:sha-256 {print}
a=setup:actpass
a=mid:0
a={way}
a=rtcp-mux
a=rtpmap:{opus} opus/48000/2
m=video 9 UDP/TLS/RTP/SAVPF {video}
c=IN IP4 0.0.0.0
a=ice-ufrag:plain
a=ice-pwd:0123456789012345678901
a=fingerprint:sha-256 {print}
a=setup:actpass
a=mid:1
a={way}
a=rtcp-mux
a=rtpmap:{video} H264/90000
a=fmtp:{video} packetization-mode=1;profile-level-id=42e01f;level-asymmetry-allowed=1
"""
MAGIC = 0x2112A442


def offer(way):
    text = OFFER.format(opus=OPUS, video=VIDEO, way=way, print=":".join(["AB"] * 32))
    return text.replace("\n", "\r\n").encode()


class Client:
    """One session over WHIP or WHEP at this url; calls rtp(type, seq, time, marker, payload) for packets."""

    def __init__(self, url, way):
        r = urllib.request.Request(url + "&dtls=false", data=offer(way), headers={"Content-Type": "application/sdp"})
        with urllib.request.urlopen(r, timeout=10) as got:
            self.where = got.headers["Location"]
            self.answer = got.read().decode()
        self.ufrag = re.search(r"a=ice-ufrag:(\S+)", self.answer)[1]
        self.pwd = re.search(r"a=ice-pwd:(\S+)", self.answer)[1]
        port = int(re.search(r"a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 (\d+)", self.answer)[1])
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.sock.connect(("127.0.0.1", port))
        self.packets, self.checked, self.over = [], 0.0, False
        self.sources, self.reports = {}, {}
        self.check()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def check(self):
        """Sends a binding request, RFC 8489, with integrity and a nomination, RFC 8445."""
        self.checked = time.monotonic()
        user = f"{self.ufrag}:plain".encode()
        body = struct.pack("!HH", 6, len(user)) + user + bytes(-len(user) % 4) + struct.pack("!HHI", 0x24, 4, 1) + \
            struct.pack("!HHQ", 0x802A, 8, 1) + struct.pack("!HH", 0x25, 0)
        head = struct.pack("!HHI", 1, len(body) + 24, MAGIC) + bytes(12)
        body += struct.pack("!HH", 8, 20) + hmac.new(self.pwd.encode(), head + body, hashlib.sha1).digest()
        head = struct.pack("!HHI", 1, len(body) + 8, MAGIC) + bytes(12)
        body += struct.pack("!HHI", 0x8028, 4, binascii.crc32(head + body) ^ 0x5354554E)
        self.sock.send(head + body)

    def run(self):
        self.sock.settimeout(0.2)
        while not self.over:
            if time.monotonic() - self.checked > 2:
                self.check()
            try:
                data = self.sock.recv(2048)
            except (TimeoutError, ConnectionError):
                continue
            if len(data) >= 8 and data[0] >> 6 == 2 and 192 <= data[1] <= 223:
                self.feedback(data)
            elif len(data) >= 12 and data[0] >> 6 == 2:
                self.sources[data[1] & 127] = struct.unpack("!I", data[8:12])[0]
                seq, stamp = struct.unpack("!HI", data[2:8])
                at = 12 + 4 * (data[0] & 15)
                if data[0] & 16:
                    at += 4 + 4 * struct.unpack("!H", data[at + 2:at + 4])[0]
                self.packets.append((data[1] & 127, seq, stamp, data[1] >> 7, data[at:], time.monotonic()))

    def feedback(self, data):
        """Parses the sender reports of a compound packet, RFC 3550 6.4.1."""
        while len(data) >= 28:
            if data[1] == 200:
                self.reports[struct.unpack("!I", data[4:8])[0]] = struct.unpack("!QI", data[8:20])
            data = data[4 + 4 * struct.unpack("!H", data[2:4])[0]:]

    def of(self, kind):
        return [p for p in self.packets if p[0] == kind]

    def moment(self, kind, stamp):
        """Presentation time in seconds, from the newest sender report of this payload type."""
        ntp, at = self.reports[self.sources[kind]]
        return ntp / (1 << 32) + ((stamp - at + (1 << 31)) % (1 << 32) - (1 << 31)) / (48000 if kind == OPUS else 90000)

    def send(self, kind, seq, stamp, marker, payload):
        self.sock.send(struct.pack("!BBHII", 128, marker << 7 | kind, seq & 0xFFFF, stamp & 0xFFFFFFFF, kind) + payload)

    def report(self, kind, stamp, at):
        """Makes a sender report: this timestamp is at this time (seconds since 1970)."""
        ntp = int((at + 2208988800) * (1 << 32))
        self.sock.send(struct.pack("!BBHIQIII", 128, 200, 6, kind, ntp, stamp & 0xFFFFFFFF, 1, 1))

    def close(self):
        self.over = True
        self.thread.join()
        self.sock.close()


class Publisher(Client):
    """Publishes H.264 tags of an FLV file and Opus packets of 20 ms in real time."""

    def __init__(self, url, tags, sounds):
        super().__init__(url, "sendonly")
        self.seq = {VIDEO: 65000, OPUS: 65500}
        self.begun = time.time()
        self.list = sorted([(t.ts / 1000, VIDEO, t.data) for t in tags if t.type == 9] +
                           [(i * 0.02, OPUS, data) for i, data in enumerate(sounds)], key=lambda x: x[0])
        self.sender = threading.Thread(target=self.publish, daemon=True)
        self.sender.start()

    def publish(self):
        begun, told = time.monotonic(), -1.0
        for at, kind, data in self.list:
            wait = begun + at - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            if self.over:
                return
            if at - told >= 0.5:
                told = at
                self.report(VIDEO, int(at * 90000) + 777, self.begun + at)
                self.report(OPUS, int(at * 48000) + 999, self.begun + at)
            try:
                self.picture(at, data) if kind == VIDEO else self.sound(at, data)
            except OSError:
                return

    def sound(self, at, data):
        self.send(OPUS, self.seq[OPUS], round(at * 50) * 960 + 999, 1, data)
        self.seq[OPUS] += 1

    def picture(self, at, data):
        if data[1] == 0:
            n = struct.unpack("!H", data[11:13])[0]
            self.sets = [data[13:13 + n], data[16 + n:]]
            return
        units, pos = list(self.sets) if data[0] >> 4 == 1 else [], 5
        while pos + 4 <= len(data):
            size = struct.unpack("!I", data[pos:pos + 4])[0]
            units.append(data[pos + 4:pos + 4 + size])
            pos += 4 + size
        for i, unit in enumerate(units):
            for j in range(0, len(unit), 1100):
                part, last = unit[j:j + 1100], j + 1100 >= len(unit)
                if len(unit) > 1100: # FU-A, RFC 6184 5.8
                    part = bytes([unit[0] & 0xE0 | 28, (j == 0) << 7 | last << 6 | unit[0] & 31]) + part[j == 0:]
                self.send(VIDEO, self.seq[VIDEO], int(at * 90000) + 777, last and i == len(units) - 1, part)
                self.seq[VIDEO] += 1


def crc(data):
    """CRC of Ogg, RFC 3533: polynomial 0x04c11db7, initial value 0, not reflected."""
    c = 0
    for byte in data:
        c ^= byte << 24
        for _ in range(8):
            c = (c << 1 ^ 0x04C11DB7) & 0xFFFFFFFF if c & 0x80000000 else c << 1
    return c


def ogg(path, packets):
    """Makes a file of Opus packets of 20 ms, RFC 7845: one per page."""
    def page(n, flags, granule, data):
        lacing = bytes([255] * (len(data) // 255) + [len(data) % 255])
        head = struct.pack("<4sBBqIII", b"OggS", 0, flags, granule, 7, n, 0) + bytes([len(lacing)]) + lacing
        return head[:22] + struct.pack("<I", crc(head + data)) + head[26:] + data
    with open(path, "wb") as f:
        f.write(page(0, 2, 0, b"OpusHead\1\2\x38\1\x80\xbb\0\0\0\0\0"))
        f.write(page(1, 0, 0, b"OpusTags\0\0\0\0\0\0\0\0"))
        for i, data in enumerate(packets):
            f.write(page(i + 2, 0, 960 * (i + 1), data))
    return str(path)


def ogg_packets(path):
    """Returns the Opus packets of a file."""
    data, at, out, part = open(path, "rb").read(), 0, [], b""
    while at < len(data):
        n = data[at + 26]
        lacing, at = data[at + 27:at + 27 + n], at + 27 + n
        for size in lacing:
            part, at = part + data[at:at + size], at + size
            if size < 255:
                out.append(part)
                part = b""
    return out[2:]
