# SPDX-License-Identifier: MIT
"""RTMFP's bytes: numbers, options, addresses, packets, encryption, keys. RFC 7016 and, as P, RFC 7425. Written independently of the
server so that a shared mistake cannot hide."""
import hashlib
import hmac
import os
import socket
import struct
from collections import namedtuple

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

IHELLO, RHELLO, REDIRECT, IIKEYING, RIKEYING, COOKIE_CHANGE = 0x30, 0x70, 0x71, 0x38, 0x78, 0x79
PING, PING_REPLY, DATA, NEXT_DATA, CLOSE, CLOSE_ACK = 0x01, 0x41, 0x10, 0x11, 0x0c, 0x4c
ACK_BITS, ACK_RANGES, PROBE, EXCEPTION, FORWARDED, FRAGMENT = 0x50, 0x51, 0x18, 0x5e, 0x0f, 0x7f
STARTUP_CHUNKS = (IHELLO, RHELLO, REDIRECT, IIKEYING, RIKEYING, COOKIE_CHANGE)
FROM_INITIATOR, FROM_RESPONDER, STARTUP = 1, 2, 3
DEFAULT_KEY = b"Adobe Systems 02"
MAX_PLAIN = 1192

Chunk = namedtuple("Chunk", "type data")
Packet = namedtuple("Packet", "mode time echo chunks")
Option = namedtuple("Option", "type value")
MARKER = Option(None, b"")


def vlu(v):
    """2.1.2"""
    out = bytes([v & 127])
    while v > 127:
        v >>= 7
        out = bytes([128 | v & 127]) + out
    return out


class Reader:
    """Parses a payload; raises ValueError if it is truncated."""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def left(self):
        return len(self.data) - self.pos

    def take(self, n):
        if n > self.left():
            raise ValueError(f"cut: {n} bytes wanted, {self.left()} left")
        self.pos += n
        return self.data[self.pos - n:self.pos]

    def rest(self):
        return self.take(self.left())

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return int.from_bytes(self.take(2), "big")

    def u32(self):
        return int.from_bytes(self.take(4), "big")

    def vlu(self):
        v = 0
        while True:
            byte = self.u8()
            v = v << 7 | byte & 127
            if v >> 64:
                raise ValueError("a number of more than 64 bits")
            if byte < 128:
                return v

    def counted(self):
        return self.take(self.vlu())

    def option(self):
        size = self.vlu()
        if not size:
            return MARKER
        r = Reader(self.take(size))
        kind = r.vlu()
        return Option(kind, r.rest())

    def option_list(self):
        """Parses options up to their end marker."""
        out = []
        while (o := self.option()) is not MARKER:
            out.append(o)
        return out

    def options(self):
        """Parses all options, markers included."""
        out = []
        while self.left():
            out.append(self.option())
        return out

    def address(self):
        flags = self.u8()
        host = self.take(16 if flags & 0x80 else 4)
        family = socket.AF_INET6 if flags & 0x80 else socket.AF_INET
        return flags & 3, (socket.inet_ntop(family, host), self.u16())


def counted(data):
    return vlu(len(data)) + data


def option(kind, value=b""):
    return counted(vlu(kind) + value)


def address(where, origin=2):
    six = ":" in where[0]
    host = socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET, where[0])
    return bytes([(0x80 if six else 0) | origin]) + host + struct.pack(">H", where[1])


def chunk(kind, data=b""):
    return struct.pack(">BH", kind, len(data)) + data


def plain(mode, chunks, time=None, echo=None, flags=0):
    """2.2.4"""
    flags |= mode | (8 if time is not None else 0) | (4 if echo is not None else 0)
    head = bytes([flags]) + b"".join(struct.pack(">H", t) for t in (time, echo) if t is not None)
    return head + b"".join(chunks)


def parse(data):
    r = Reader(data)
    flags = r.u8()
    time = r.u16() if flags & 8 else None
    echo = r.u16() if flags & 4 else None
    chunks = []
    while r.left() >= 3:
        kind, size = r.u8(), r.u16()
        if size > r.left():
            break
        chunks.append(Chunk(kind, r.take(size)))
    return Packet(flags & 3, time, echo, chunks)


def checksum(data, odd_is_high=False):
    """P4.7.3.1"""
    if len(data) % 2:
        data = data + b"\0" if odd_is_high else data[:-1] + b"\0" + data[-1:]
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", total ^ 0xffff)


def mac(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


class Way:
    """One direction of a session: seals or opens packets with its key."""

    def __init__(self, key=DEFAULT_KEY, mac_key=b"", mac_size=0, numbered=False):
        self.key, self.mac_key, self.mac_size, self.numbered = key[:16], mac_key, mac_size, numbered
        self.next, self.highest, self.seen = 0, -1, set()

    def cipher(self):
        return Cipher(algorithms.AES(self.key), modes.CBC(bytes(16)))

    def seal(self, ident, body, odd_is_high=False):
        head = vlu(self.next) if self.numbered else b""
        self.next += 1
        check = 0 if self.mac_size else 2
        body += b"\xff" * (-(len(head) + check + len(body)) % 16)
        text = head + (checksum(body, odd_is_high) if check else b"") + body
        e = self.cipher().encryptor()
        packet = e.update(text) + e.finalize()
        return scramble(ident, packet) + packet + mac(self.mac_key, packet)[:self.mac_size]

    def open(self, datagram):
        """Returns the plain packet; raises ValueError for a wrong key or a repeated packet."""
        packet = datagram[4:]
        blocks = (len(packet) - self.mac_size) // 16 * 16
        if blocks < 16 or len(packet) - blocks != self.mac_size:
            raise ValueError("no whole blocks")
        packet, tail = packet[:blocks], packet[blocks:]
        if tail != mac(self.mac_key, packet)[:self.mac_size]:
            raise ValueError("another HMAC")
        d = self.cipher().decryptor()
        r = Reader(d.update(packet) + d.finalize())
        number = r.vlu() if self.numbered else None
        if not self.mac_size:
            said, body = r.take(2), r.data[r.pos:]
            if said not in (checksum(body), checksum(body, True)):
                raise ValueError("another checksum")
        if number is not None:
            if number in self.seen or number + 64 <= self.highest:
                raise ValueError("a repeat")
            self.highest = max(self.highest, number)
            self.seen = {n for n in self.seen if n + 64 > self.highest} | {number}
        return r.rest()


def scramble(ident, packet):
    first, second = struct.unpack(">II", packet[:8].ljust(8, b"\0"))
    return struct.pack(">I", ident ^ first ^ second)


def ident_of(datagram):
    return int.from_bytes(scramble(int.from_bytes(datagram[:4], "big"), datagram[4:]), "big")


def pi_bits(bits):
    """floor(pi * 2^bits), with the Gauss-Legendre algorithm in integers."""
    from math import isqrt
    one = 1 << (bits + 64)
    a, b, t, x = one, isqrt(one * one // 2), one // 4, 1
    while abs(a - b) > 1:
        mean = (a + b) // 2
        b = isqrt(a * b)
        t -= x * (a - mean) ** 2 // one
        a, x = mean, 2 * x
    return (a + b) ** 2 // (4 * t) >> 64


def _prime(n, k):
    return 2 ** n - 2 ** (n - 64) - 1 + 2 ** 64 * (pi_bits(n - 130) + k)


PRIMES = {2: _prime(1024, 129093), 5: _prime(1536, 741804), 14: _prime(2048, 124476)}
EXPONENT_BYTES = {2: 28, 5: 30, 14: 40}


class Pair:
    """A key pair of a group (P4.2)."""

    def __init__(self, group=2, exponent=None):
        self.group = group
        self.x = exponent or int.from_bytes(os.urandom(EXPONENT_BYTES[group]), "big") | 1
        self.public = bare(pow(2, self.x, PRIMES[group])).rjust((PRIMES[group].bit_length() + 7) // 8, b"\0")

    def secret(self, public):
        """Returns Z without leading zero bytes; raises ValueError for an unacceptable key (P4.6.2)."""
        p, y = PRIMES[self.group], int.from_bytes(public, "big")
        ones = bin(y).count("1")
        if not 2 ** 24 <= y <= p - 2 ** 24 or ones < 16 or y.bit_length() - ones < 16:
            raise ValueError("a public key that is not to be taken")
        return bare(pow(y, self.x, p))


def bare(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


Keys = namedtuple("Keys", "i2r r2i mac_i2r mac_r2i nonce_i nonce_r")


def keys(z, skic, skrc):
    """P4.6.4"""
    i2r, r2i = mac(z, mac(skrc, skic)), mac(z, mac(skic, skrc))
    return Keys(i2r[:16], r2i[:16], mac(z, i2r), mac(z, r2i), mac(z, skic), mac(z, skrc))


def first_part(certificate):
    """Parses up to the first marker (P4.3)."""
    r = Reader(certificate)
    while r.left():
        at = r.pos
        if r.option() is MARKER:
            return certificate[:at]
    return certificate


def fingerprint(certificate):
    return hashlib.sha256(first_part(certificate)).digest()


def to_peer(peer_id):
    """Canonical endpoint discriminator that selects a peer by id."""
    return b"\x21\x0f" + peer_id


def to_uri(uri):
    return option(0x0a, uri.encode() if isinstance(uri, str) else uri)


Wish = namedtuple("Wish", "flags size")  # size of the HMAC; 0 for sequence numbers
NONE = Wish(0, 0)


def wish_options(mac_wish, number_wish):
    return option(0x1a, bytes([mac_wish.flags]) + vlu(mac_wish.size)) + option(0x1e, bytes([number_wish.flags]))


def wishes(options):
    mac_wish = number_wish = NONE
    for o in options:
        if o.type == 0x1a:
            r = Reader(o.value)
            mac_wish = Wish(r.u8(), r.vlu())
        if o.type == 0x1e:
            number_wish = Wish(o.value[0], 0)
    return mac_wish, number_wish


def sends(mine, yours):
    """P4.5: sends always, or if it supports it and the peer requests it."""
    return bool(mine.flags & 4 or mine.flags & 2 and yours.flags & 1)
