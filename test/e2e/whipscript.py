# SPDX-License-Identifier: MIT
"""A WHIP publisher that imitates FFmpeg's muxer step by step: it is the DTLS server, its ICE checks are minimal, it uses only the first
candidate, offers no feedback and no extensions, and waits for a datagram before each frame.

DTLS and AES come from OpenSSL's library; SRTP (RFC 3711) and STUN (RFC 8489) are below.

"""
import ctypes
import hashlib
import hmac
import os
import re
import socket
import ssl
import struct
import urllib.parse
import urllib.request
import zlib

from camera_rtp import fragments
from procs import patience
from webclient import Cert

OFFER = """v=0
o=FFmpeg 4489045141692799359 2 IN IP4 127.0.0.1
s=FFmpegPublishSession
t=0 0
a=group:BUNDLE 0 1
a=extmap-allow-mixed
a=msid-semantic: WMS
m=audio 9 UDP/TLS/RTP/SAVPF 111
{ice}a=mid:0
a=sendonly
a=msid:FFmpeg audio
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=ssrc:1001 cname:FFmpeg
m=video 9 UDP/TLS/RTP/SAVPF 106
{ice}a=mid:1
a=sendonly
a=msid:FFmpeg video
a=rtcp-mux
a=rtcp-rsize
a=rtpmap:106 H264/90000
a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
a=ssrc:1002 cname:FFmpeg
"""
ICE = """c=IN IP4 0.0.0.0
a=ice-ufrag:{ufrag}
a=ice-pwd:{pwd}
a=fingerprint:sha-256 {fingerprint}
a=setup:passive
"""
SILENCE = b"\xf8\xff\xfe"  # 20 ms of Opus
SOUND, VIDEO = (111, 1001, 960), (106, 1002, 3600)  # payload type, SSRC, ticks of a frame

P, I, S = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
VERIFY = ctypes.CFUNCTYPE(I, I, P)
anybody = VERIFY(lambda ok, store: 1)


def library(name, **functions):
    lib = ctypes.CDLL(name)
    for f, (result, *args) in functions.items():
        getattr(lib, f).restype, getattr(lib, f).argtypes = result, args
    return lib


def load():
    tls = library("libssl.so.3", DTLS_method=[P], SSL_CTX_new=[P, P], SSL_CTX_free=[None, P], SSL_CTX_use_certificate_file=[I, P, S, I],
                  SSL_CTX_use_PrivateKey_file=[I, P, S, I], SSL_CTX_set_tlsext_use_srtp=[I, P, S], SSL_CTX_set_verify=[None, P, I, VERIFY],
                  SSL_new=[P, P], SSL_free=[None, P], SSL_set_bio=[None, P, P, P], SSL_set_accept_state=[None, P],
                  SSL_set_connect_state=[None, P], SSL_do_handshake=[I, P],
                  SSL_set_options=[ctypes.c_uint64, P, ctypes.c_uint64], SSL_ctrl=[ctypes.c_long, P, I, ctypes.c_long, P],
                  SSL_export_keying_material=[I, P, S, ctypes.c_size_t, S, ctypes.c_size_t, P, ctypes.c_size_t, I])
    crypto = library("libcrypto.so.3", BIO_s_mem=[P], BIO_new=[P, P], BIO_write=[I, P, S, I], BIO_read=[I, P, S, I], EVP_CIPHER_CTX_new=[P],
                     EVP_CIPHER_CTX_free=[None, P], EVP_aes_128_ctr=[P], EVP_EncryptInit_ex=[I, P, P, P, S, S],
                     EVP_EncryptUpdate=[I, P, S, ctypes.POINTER(I), S, I])
    return tls, crypto


TLS, CRYPTO = load()


class Dtls:
    """The server's or the client's end: take() accepts datagrams, and returns those to be sent."""

    def __init__(self, cert, client=False):
        c = self.context = TLS.SSL_CTX_new(TLS.DTLS_method())
        assert TLS.SSL_CTX_use_certificate_file(c, cert.cert.encode(), 1) == 1 and TLS.SSL_CTX_use_PrivateKey_file(c, cert.key.encode(), 1) == 1
        assert TLS.SSL_CTX_set_tlsext_use_srtp(c, b"SRTP_AES128_CM_SHA1_80") == 0
        TLS.SSL_CTX_set_verify(c, 1, anybody)
        self.ssl = TLS.SSL_new(c)
        self.into, self.out = (CRYPTO.BIO_new(CRYPTO.BIO_s_mem()) for _ in range(2))
        TLS.SSL_set_bio(self.ssl, self.into, self.out)
        TLS.SSL_set_options(self.ssl, 1 << 12)    # no MTU discovery
        TLS.SSL_ctrl(self.ssl, 17, 1200, None)    # sets the MTU
        (TLS.SSL_set_connect_state if client else TLS.SSL_set_accept_state)(self.ssl)
        self.client, self.done = client, False

    def take(self, datagram):
        if datagram:
            CRYPTO.BIO_write(self.into, datagram, len(datagram))
        self.done = TLS.SSL_do_handshake(self.ssl) == 1
        buf = ctypes.create_string_buffer(16384)
        size = CRYPTO.BIO_read(self.out, buf, 16384)
        return buf.raw[:max(0, size)]

    def keys(self):
        """Key and salt of this end's packets (RFC 5764, section 4.2)."""
        out = ctypes.create_string_buffer(60)
        name = b"EXTRACTOR-dtls_srtp"
        assert TLS.SSL_export_keying_material(self.ssl, out, 60, name, len(name), None, 0, 0) == 1
        return (out.raw[:16], out.raw[32:46]) if self.client else (out.raw[16:32], out.raw[46:60])

    def close(self):
        TLS.SSL_free(self.ssl)
        TLS.SSL_CTX_free(self.context)


def aes_ctr(key, iv, data):
    c, out, n = CRYPTO.EVP_CIPHER_CTX_new(), ctypes.create_string_buffer(len(data) + 16), I()
    CRYPTO.EVP_EncryptInit_ex(c, CRYPTO.EVP_aes_128_ctr(), None, key, iv)
    CRYPTO.EVP_EncryptUpdate(c, out, ctypes.byref(n), data, len(data))
    CRYPTO.EVP_CIPHER_CTX_free(c)
    return out.raw[:n.value]


class Srtp:
    """AES128_CM_SHA1_80, sending side (RFC 3711, sections 4.1.1, 4.2.1, 4.3)."""

    def __init__(self, key, salt):
        def derived(label, size):
            return aes_ctr(key, (int.from_bytes(salt, "big") ^ label << 48).to_bytes(14, "big") + b"\0\0", bytes(size))
        self.key, self.auth, self.salt = derived(0, 16), derived(1, 20), derived(2, 14)

    def protect(self, packet):
        """Sequence numbers do not wrap here, so the rollover counter stays 0."""
        sequence, ssrc = struct.unpack_from(">H", packet, 2)[0], struct.unpack_from(">I", packet, 8)[0]
        iv = (int.from_bytes(self.salt, "big") << 16) ^ (ssrc << 64) ^ (sequence << 16)
        sealed = packet[:12] + aes_ctr(self.key, iv.to_bytes(16, "big"), packet[12:])
        return sealed + hmac.new(self.auth, sealed + bytes(4), hashlib.sha1).digest()[:10]


def check(theirs, ours, password):
    """A binding request with user name, nomination and integrity only."""
    name = f"{theirs}:{ours}".encode()
    attributes = struct.pack(">HH", 0x0006, len(name)) + name + bytes(-len(name) % 4) + struct.pack(">HH", 0x0025, 0)

    def head(more):
        return struct.pack(">HHI", 1, len(attributes) + more, 0x2112A442) + transaction
    transaction = os.urandom(12)
    attributes += struct.pack(">HH", 0x0008, 20) + hmac.new(password.encode(), head(24) + attributes, hashlib.sha1).digest()
    crc = zlib.crc32(head(8) + attributes) ^ 0x5354554e
    attributes += struct.pack(">HHI", 0x8028, 4, crc)
    return head(0) + attributes


class Publisher:
    """Connected after construction."""

    def __init__(self, folder, url, token="x", cert=None, client=False):
        self.token, self.ufrag, self.numbers = token, "5fce6c03", {}
        cert = cert or Cert(folder, "whip")
        with open(cert.cert) as f:
            digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(f.read())).hexdigest().upper()
        ice = ICE.format(ufrag=self.ufrag, pwd="5200a82320dae034f00fce75c82c9973", fingerprint=re.sub("..(?!$)", r"\g<0>:", digest))
        if client:
            ice = ice.replace("setup:passive", "setup:active")
        status, fields, self.answer = self.ask("POST", url, OFFER.format(ice=ice).replace("\n", "\r\n"))
        assert status == 201, self.answer
        self.where = urllib.parse.urljoin(url, fields["Location"])
        place = re.search(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host", self.answer, re.I)
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.settimeout(patience(5))
        self.sock.connect((place[1], int(place[2])))
        self.connect(Dtls(cert, client))

    def ask(self, method, url, body=""):
        q = urllib.request.Request(url, body.encode() or None, {"Content-Type": "application/sdp", "Authorization": "Bearer " + self.token}, method=method)
        with urllib.request.urlopen(q, timeout=patience(5)) as r:
            return r.status, r.headers, r.read().decode()

    def said(self, name):
        return re.search(rf"a={name}:(\S+)", self.answer)[1]

    def connect(self, dtls):
        self.sock.send(check(self.said("ice-ufrag"), self.ufrag, self.said("ice-pwd")))
        assert self.sock.recv(2048)[:2] == b"\x01\x01"  # Binding success
        self.fly(dtls.take(b"") if dtls.client else b"")
        while not dtls.done:
            got = self.sock.recv(2048)
            assert got[0] != 21, "the server ends the handshake with an alert"
            self.fly(dtls.take(got))
        self.srtp = Srtp(*dtls.keys())
        dtls.close()

    def fly(self, flight):
        """One datagram per record: all together may exceed a datagram."""
        while flight:
            size = 13 + int.from_bytes(flight[11:13], "big")
            self.sock.send(flight[:size])
            flight = flight[size:]

    def packet(self, medium, payload, n, marker):
        kind, ssrc, ticks = medium
        number = self.numbers[ssrc] = self.numbers.get(ssrc, 99) + 1
        head = struct.pack(">BBHII", 0x80, kind | marker << 7, number, 5000 + n * ticks, ssrc)
        self.sock.send(self.srtp.protect(head + payload))

    def sound(self, n):
        self.sock.recv(2048)
        self.packet(SOUND, SILENCE, n, 0)

    def video(self, n, units):
        self.sock.recv(2048)
        pieces = [p for u in units for p in fragments(u, False)]
        for i, piece in enumerate(pieces):
            self.packet(VIDEO, piece, n, int(i == len(pieces) - 1))

    def leave(self):
        self.sock.close()
        return self.ask("DELETE", self.where)[0]
