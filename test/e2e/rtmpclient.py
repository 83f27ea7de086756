# SPDX-License-Identifier: MIT
"""A small RTMP client over a blocking socket. It can send every form of a chunk, valid or not, and keeps every byte of the server."""
import hashlib
import hmac
import os
import socket
import struct
import threading
import time
from collections import namedtuple

import amf
import flv
from procs import PACE, patience

FP_KEY = b"Genuine Adobe Flash Player 001"
FMS_KEY = b"Genuine Adobe Flash Media Server 001"
KEY_TAIL = bytes.fromhex("f0eec24a8068bee82e00d0d1029e7e576eec5d2d29806fab93b8e636cfeb31ae")

SET_CHUNK_SIZE, ABORT, ACK, USER, WIN_ACK, PEER_BW = 1, 2, 3, 4, 5, 6
AUDIO, VIDEO, AMF3_CMD, DATA, CMD, AGGREGATE = 8, 9, 17, 18, 20, 22
STREAM_BEGIN, STREAM_EOF, STREAM_DRY, SET_BUFFER, PING, PONG = 0, 1, 2, 3, 6, 7

Message = namedtuple("Message", "csid fmt type ts sid data")


class Closed(Exception):
    """The server ended the connection."""


class Rejected(Exception):
    """The server answered with an error status; .info is its object."""

    def __init__(self, info):
        super().__init__(str(info))
        self.info = info

    @property
    def code(self):
        return self.info.get("code") if isinstance(self.info, dict) else None


class ChunkWriter:
    """Converts messages to chunks, by default with the shortest header."""

    def __init__(self):
        self.size = 128
        self.last = {}

    @staticmethod
    def basic(fmt, csid, form=None):
        """form: bytes of the basic header (1, 2, 3); None chooses the shortest."""
        form = form or (1 if csid < 64 else 2 if csid < 320 else 3)
        if form == 1:
            return bytes([fmt << 6 | csid])
        if form == 2:
            return bytes([fmt << 6, csid - 64])
        return bytes([fmt << 6 | 1]) + struct.pack("<H", csid - 64)

    def chunks(self, csid, type, ts, sid, data, fmt=None, form=None, ext3=True, length=None):
        """Returns the chunks of one message as a list. ext3: repeats the extended timestamp in fmt 3 chunks, as most clients do;
        length: the length to claim."""
        length = len(data) if length is None else length
        old = self.last.get(csid)
        delta = ts - old["ts"] if old else 0
        if fmt is None:
            fmt = 0
            if old and old["sid"] == sid and delta >= 0:
                fmt = 1
                if (old["type"], old["length"]) == (type, length):
                    fmt = 3 if old["delta"] == delta else 2
        stamp = ts if fmt == 0 else delta
        if fmt == 3:
            stamp = old["stamp"] if old else 0
        ext = struct.pack(">I", stamp & 0xffffffff) if stamp >= 0xffffff else b""
        head = b""
        if fmt < 3:
            head += min(stamp, 0xffffff).to_bytes(3, "big")
        if fmt < 2:
            head += length.to_bytes(3, "big") + bytes([type])
        if fmt == 0:
            head += struct.pack("<I", sid)
        self.last[csid] = {"ts": ts, "sid": sid, "type": type, "length": length, "stamp": stamp,
                           "delta": delta if fmt else (old["delta"] if fmt == 3 else ts)}
        tail = ext if (fmt < 3 or ext3) else b""
        out = [self.basic(fmt, csid, form) + head + tail + data[:self.size]]
        for i in range(self.size, len(data), self.size):
            out.append(self.basic(3, csid, form) + (ext if ext3 else b"") + data[i:i + self.size])
        return out

    def message(self, csid, type, ts, sid, data, **how):
        return b"".join(self.chunks(csid, type, ts, sid, data, **how))


class ChunkReader:
    """Converts chunks to messages. read(n) returns exactly n bytes; begin() marks all bytes so far as used, and a failed read
    returns to that point."""

    def __init__(self, read, begin):
        self.read, self.begin = read, begin
        self.size = 128
        self.streams = {}

    def message(self):
        while True:
            self.begin()
            m = self._chunk()
            if m:
                return m

    def _chunk(self):
        # the state changes only after the whole chunk is here: a read may time out
        first = self.read(1)[0]
        fmt, csid = first >> 6, first & 63
        if csid == 0:
            csid = self.read(1)[0] + 64
        elif csid == 1:
            csid = struct.unpack("<H", self.read(2))[0] + 64
        s = self.streams.get(csid)
        assert s or fmt < 2, f"a fresh chunk stream {csid} begins with fmt {fmt}"
        n = dict(s) if s else {"ts": 0, "delta": 0, "ext": False, "data": b"", "sid": 0,
                               "fmt": fmt, "length": 0, "type": 0, "stamp": 0}
        fresh = not n["data"]
        if fmt < 3:
            n["stamp"] = int.from_bytes(self.read(3), "big")
            if fmt < 2:
                n["length"] = int.from_bytes(self.read(3), "big")
                n["type"] = self.read(1)[0]
            if fmt == 0:
                n["sid"] = struct.unpack("<I", self.read(4))[0]
            n["ext"] = n["stamp"] == 0xffffff
        if n["ext"]:
            n["stamp"] = struct.unpack(">I", self.read(4))[0]
        if fresh:
            if fmt < 3:
                n["delta"] = n["stamp"]
            n["ts"] = n["stamp"] if fmt == 0 else (n["ts"] + n["delta"]) & 0xffffffff
            n["fmt"] = fmt
        n["data"] += self.read(min(self.size, n["length"] - len(n["data"])))
        self.streams[csid] = n
        if len(n["data"]) < n["length"]:
            return None
        data, n["data"] = n["data"], b""
        return Message(csid, n["fmt"], n["type"], n["ts"], n["sid"], data)


def digest_at(block, scheme):
    """Position of the 32 digest bytes in a C1 or S1. Scheme 0: key first; scheme 1: digest first."""
    base = 772 if scheme == 0 else 8
    return base + 4 + sum(block[base:base + 4]) % 728


def digest_of(block, at, key):
    return hmac.new(key, block[:at] + block[at + 32:], hashlib.sha256).digest()


def make_c1(kind):
    """kind: "simple", or "complex0" / "complex1" for the two digest schemes."""
    c1 = struct.pack(">I", int(time.monotonic() * 1000) & 0x7fffffff)
    c1 += b"\0\0\0\0" if kind == "simple" else bytes([128, 0, 7, 2])
    c1 += os.urandom(1528)
    if kind != "simple":
        at = digest_at(c1, int(kind[-1]))
        c1 = c1[:at] + digest_of(c1, at, FP_KEY) + c1[at + 32:]
    return c1


class Client:
    """One connection. All waits are limited to `timeout` seconds."""

    def __init__(self, port, host="127.0.0.1", timeout=20.0, bind=None, rcvbuf=None, sndbuf=None,
                 acks=True):
        self.sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if rcvbuf:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        if sndbuf:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
        if bind:
            self.sock.bind((bind, 0))
        self.sock.settimeout(timeout)
        self.sock.connect((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = f"[{host}]" if ":" in host else host
        self.port, self.timeout, self.acks = port, timeout, acks
        self.w = ChunkWriter()
        self.r = ChunkReader(self._read, self._begin)
        self.buf = b""
        self.pos = self.mark = 0
        self.bytes_in = self.bytes_acked = 0
        self.window = 0
        self.sid = 0
        self.tid = 0
        self.amf3 = False
        self.seen = []     # every message from the server, in order
        self.tags = []     # media and data messages, aggregates split
        self.sent = b""    # all bytes sent when .record is set
        self.record = False
        self.lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        try:
            self.sock.close()
        except OSError:
            pass

    def abort(self):
        """Closes with RST, as the host of a crashed peer does."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    # -- bytes

    def send(self, data):
        with self.lock:
            if self.record:
                self.sent += data
            try:
                self.sock.sendall(data)
            except (BrokenPipeError, ConnectionResetError) as e:
                raise Closed(str(e)) from e

    def _begin(self):
        if self.pos > 1 << 16:
            self.buf = self.buf[self.pos:]
            self.pos = 0
        self.mark = self.pos

    def _read(self, n):
        while len(self.buf) - self.pos < n:
            try:
                more = self.sock.recv(65536)
            except socket.timeout:
                self.pos = self.mark
                raise
            except ConnectionResetError as e:
                raise Closed("reset") from e
            if not more:
                raise Closed(f"end of stream, {len(self.buf) - self.pos} bytes left over")
            self.buf += more
            self.bytes_in += len(more)
        out = self.buf[self.pos:self.pos + n]
        self.pos += n
        return out

    # -- handshake

    def handshake(self, kind="simple", c0=b"\x03", c1=None, c2=None):
        self.c1 = c1 or make_c1(kind)
        self.send(c0 + self.c1)
        self.s0 = self._read(1)
        self.s1 = self._read(1536)
        self.s2 = self._read(1536)
        assert self.s0 == b"\x03", f"S0 is {self.s0.hex()}"
        self.complex = None
        if kind != "simple":
            self.complex = next((s for s in (0, 1) if self._s1_digest(s)), None)
        if c2 is None and self.complex is not None:
            at = digest_at(self.s1, self.complex)
            key = hmac.new(FP_KEY + KEY_TAIL, self.s1[at:at + 32], hashlib.sha256).digest()
            c2 = os.urandom(1504)
            c2 += hmac.new(key, c2, hashlib.sha256).digest()
        self.send(self.s1 if c2 is None else c2)
        return self

    def _s1_digest(self, scheme):
        at = digest_at(self.s1, scheme)
        return self.s1[at:at + 32] == digest_of(self.s1, at, FMS_KEY)

    def s2_is_signed(self, scheme):
        """Whether S2 ends in the digest derived from C1's."""
        at = digest_at(self.c1, scheme)
        key = hmac.new(FMS_KEY + KEY_TAIL, self.c1[at:at + 32], hashlib.sha256).digest()
        return self.s2[1504:] == hmac.new(key, self.s2[:1504], hashlib.sha256).digest()

    # -- sending messages

    def message(self, csid, type, ts, sid, data, **how):
        self.send(self.w.message(csid, type, ts, sid, data, **how))

    def set_chunk_size(self, n):
        self.message(2, SET_CHUNK_SIZE, 0, 0, struct.pack(">I", n))
        self.w.size = n

    def user(self, event, *values):
        self.message(2, USER, 0, 0, struct.pack(">H", event) + b"".join(
            struct.pack(">I", v) for v in values), fmt=0)

    def call(self, name, *args, sid=0, csid=3, tid=None, obj=None):
        """Send a command; returns its transaction id."""
        if tid is None:
            self.tid += 1
            tid = self.tid
        body = amf.encode(name, tid, obj, *args)
        if self.amf3:
            self.message(csid, AMF3_CMD, 0, sid, b"\0" + body)
        else:
            self.message(csid, CMD, 0, sid, body)
        return tid

    def send_tag(self, tag, ts=None, **how):
        csid = {AUDIO: 4, VIDEO: 6}.get(tag.type, 5)
        data = tag.data
        if tag.type == DATA and not data.startswith(b"\x02\x00\x0d@setDataFrame"):
            data = amf.encode("@setDataFrame") + data
        self.message(how.pop("csid", csid), tag.type, tag.ts if ts is None else ts, self.sid, data,
                     **how)

    # -- receiving messages

    def read_message(self, timeout=None):
        """Returns the next message and obeys protocol control messages. Raises socket.timeout or Closed."""
        self.sock.settimeout(self.timeout if timeout is None else max(timeout, 0.001))
        m = self.r.message()
        self.seen.append(m)
        if m.type == SET_CHUNK_SIZE:
            self.r.size = struct.unpack(">I", m.data)[0]
        elif m.type == WIN_ACK:
            self.window = struct.unpack(">I", m.data)[0]
        elif m.type == USER and m.data[:2] == b"\0\6":
            self.user(PONG, struct.unpack(">I", m.data[2:6])[0])
        elif m.type in (AUDIO, VIDEO, DATA):
            self.tags.append(flv.Tag(m.type, m.ts, m.data))
        elif m.type == AGGREGATE:
            self.tags += split_aggregate(m)
        if self.acks and self.window and self.bytes_in - self.bytes_acked >= self.window // 2:
            self.bytes_acked = self.bytes_in
            self.message(2, ACK, 0, 0, struct.pack(">I", self.bytes_in & 0xffffffff), fmt=0)
        return m

    def until(self, want, timeout=None):
        """Reads until want(message) is true; returns that message. Raises TimeoutError or Closed."""
        end = time.monotonic() + (self.timeout if timeout is None else patience(timeout))
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError("the server did not send what was waited for")
            m = self.read_message(left)
            if want(m):
                return m

    def command(self, want=None, timeout=None):
        """Returns the next command (decoded) whose name is in `want`."""
        def is_command(m):
            return m.type in (CMD, AMF3_CMD) and (want is None or decode_command(m)[0] in want)
        return decode_command(self.until(is_command, timeout))

    def result(self, tid, timeout=None):
        """Returns the _result of a call; raises Rejected on _error."""
        while True:
            c = self.command(("_result", "_error"), timeout)
            if c[1] != tid:
                continue
            if c[0] == "_error":
                raise Rejected(c[3] if len(c) > 3 else {})
            return c

    def status(self, code=None, timeout=None):
        """Waits for an onStatus, or exactly the one with this code; an error status raises Rejected."""
        while True:
            c = self.command(("onStatus",), timeout)
            info = c[3]
            if info.get("level") == "error":
                raise Rejected(info)
            if code is None or info.get("code") == code:
                return info

    def collect(self, seconds, count=None, want=None):
        """Reads media for some time, or until there are `count` frames or want(self) is true. The latter two may take longer on a
        loaded machine. Stops at the end of the connection. Returns all tags so far."""
        end = time.monotonic() + (seconds if count is None and want is None else patience(seconds))
        frames = looked_at = 0
        while time.monotonic() < end:
            frames += sum(t.frame for t in self.tags[looked_at:])
            looked_at = len(self.tags)
            if count is not None and frames >= count:
                break
            if want and want(self):
                break
            try:
                self.read_message(end - time.monotonic())
            except (TimeoutError, socket.timeout, Closed):
                break
        return self.tags

    def closed(self, timeout=5.0):
        """Returns True if the server ends the connection in time."""
        end = time.monotonic() + patience(timeout)
        while time.monotonic() < end:
            try:
                self.read_message(end - time.monotonic())
            except Closed:
                return True
            except (TimeoutError, socket.timeout):
                return False
        return False

    # -- conversations

    def connect(self, app="live", tcurl=None, handshake="simple", **fields):
        if not hasattr(self, "s1"):
            self.handshake(handshake)
        obj = {"app": app, "flashVer": "LNX 9,0,124,2", "fpad": False, "capabilities": 15,
               "audioCodecs": 4071, "videoCodecs": 252, "videoFunction": 1,
               "tcUrl": tcurl or f"rtmp://{self.host}:{self.port}/{app}"}
        obj.update(fields)
        obj = {k: v for k, v in obj.items() if v is not None}
        self.connect_result = self.result(self.call("connect", obj=obj))
        return self

    def create_stream(self):
        self.sid = int(self.result(self.call("createStream"))[3])
        return self.sid

    def publish(self, stream, flow="fmle", app="live", tcurl=None, wait=True, chunk=4096, **fields):
        """Runs the whole sequence to publish, with the commands of one kind of encoder."""
        if flow == "obs":
            fields = {"type": "nonprivate", "flashVer": "FMLE/3.0 (compatible; FMSc/1.0)",
                      "fourCcList": ["av01", "vp09", "hvc1"], **fields}
        if flow == "ffmpeg":
            fields = {"type": "nonprivate", "flashVer": "FMLE/3.0 (compatible; Lavf59.27.100)",
                      **fields}
        if flow == "flash3":
            fields = {"objectEncoding": 3, **fields}
        if not hasattr(self, "connect_result"):
            self.connect(app, tcurl, **fields)
        if flow == "flash3":
            self.amf3 = True
        if flow in ("fmle", "obs", "ffmpeg"):
            self.call("releaseStream", stream)
            self.call("FCPublish", stream)
        self.create_stream()
        if flow == "haivision":
            self.call("FCPublish", stream)
        if flow == "obs":
            self.call("_checkbw")
        self.stream = stream
        self.call("publish", stream, "live", sid=self.sid, csid=4 if flow == "obs" else 8)
        if wait:
            self.status("NetStream.Publish.Start")
        if chunk:
            self.set_chunk_size(chunk)
        return self

    def unpublish(self, flow="fmle"):
        if flow == "fmle":
            self.call("FCUnpublish", self.stream)
        if flow == "flash":
            self.call("closeStream", sid=self.sid)
        else:
            self.call("deleteStream", self.sid)

    def play(self, stream, flow="flash", app="live", tcurl=None, wait=True, create=True, **fields):
        """Runs the whole sequence to play, with the commands of one kind of player."""
        if not hasattr(self, "connect_result"):  # announces every codec by default (None: announces nothing)
            self.connect(app, tcurl, **{"fourCcList": ["*"], **fields})
        if flow in ("ffmpeg", "librtmp"):
            self.message(2, WIN_ACK, 0, 0, struct.pack(">I", 2500000))
        if flow == "librtmp":
            # librtmp starts the new chunk stream 2 with a header without a stream id
            self.message(2, USER, 0, 0, struct.pack(">HII", SET_BUFFER, 0, 300), fmt=1)
        if create:
            self.create_stream()
        if flow == "ffmpeg":
            self.call("getStreamLength", stream)
        if flow == "librtmp":
            self.call("_checkbw")
        self.stream = stream
        self.call("play", stream, *([-2000.0] if flow in ("ffmpeg", "librtmp") else []),
                  sid=self.sid, csid=8)
        if flow in ("ffmpeg", "flash"):
            self.user(SET_BUFFER, self.sid, 3000)
        if wait:
            self.status("NetStream.Play.Start")
        return self


def decode_command(m):
    return amf.decode(m.data[1:] if m.type == AMF3_CMD and m.data[:1] == b"\0" else m.data)


def split_aggregate(m):
    tags, pos, first = [], 0, None
    while pos + 11 <= len(m.data):
        size = int.from_bytes(m.data[pos + 1:pos + 4], "big")
        ts = int.from_bytes(m.data[pos + 4:pos + 7], "big") | m.data[pos + 7] << 24
        first = ts if first is None else first
        tags.append(flv.Tag(m.data[pos], m.ts + ts - first, m.data[pos + 11:pos + 11 + size]))
        pos += 11 + size + 4
    return tags


def make_aggregate(tags):
    """Returns the body of a type 22 message."""
    return b"".join(flv.tag_bytes(t) for t in tags)


class Pusher(threading.Thread):
    """Pushes tags through a publishing client from a thread, in real time times `speed` (0: at once; PACE); `.error` is why it
    ended early. With `loop` it repeats them on a growing timeline. The first `ahead` seconds are sent at once, as by an encoder
    with a buffer, so that tests need not wait for them."""

    def __init__(self, client, tags, speed=PACE, loop=False, start_ts=0, ahead=0, **how):
        super().__init__(daemon=True)
        self.client, self.list, self.speed, self.loop, self.how = client, tags, speed, loop, how
        self.start_ts, self.ahead = start_ts, ahead
        self.error = None
        self.halt = threading.Event()
        self.pushed = []
        self.drain = threading.Thread(target=self._drain, daemon=True)

    def _drain(self):
        try:
            while not self.halt.is_set():
                try:
                    self.client.read_message(0.2)
                except (TimeoutError, socket.timeout):
                    pass
        except (Closed, OSError, ValueError, AssertionError):
            pass

    def run(self):
        begin = time.monotonic()
        span = max(t.ts for t in self.list) + 40
        base = self.start_ts
        self.drain.start()
        try:
            while True:
                for t in self.list:
                    if base > self.start_ts and not t.frame:
                        continue
                    ts = base + t.ts
                    if self.speed:
                        due = max(0, (ts - self.start_ts) / 1000 - self.ahead) / self.speed
                        wait = due - (time.monotonic() - begin)
                        if wait > 0 and self.halt.wait(wait):
                            return
                    if self.halt.is_set():
                        return
                    self.client.send_tag(t, ts=ts, **self.how)
                    self.pushed.append(flv.Tag(t.type, ts, t.data))
                if not self.loop:
                    return
                base += span
        except (Closed, OSError) as e:
            self.error = e

    def stop(self):
        self.halt.set()
        self.join(5)
        return self


class Watcher(threading.Thread):
    """Plays in a thread and keeps what arrives with the time of arrival."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client = client
        self.halt = threading.Event()
        self.arrivals = []
        self.ended = None

    @property
    def tags(self):
        return list(self.client.tags)

    def run(self):
        done = 0
        while not self.halt.is_set():
            try:
                self.client.read_message(0.05)  # maximum wait of stop()
            except (TimeoutError, socket.timeout):
                continue
            except (Closed, OSError) as e:
                self.ended = e
                return
            now = time.monotonic()
            for t in self.client.tags[done:]:
                self.arrivals.append((now, t))
            done = len(self.client.tags)

    def wait(self, want, timeout=5.0):
        """Waits until want(tags) is true."""
        end = time.monotonic() + patience(timeout)
        while time.monotonic() < end:
            if want(self.tags):
                return True
            if self.ended:
                return want(self.tags)
            time.sleep(0.02)
        return False

    def stop(self):
        self.halt.set()
        self.join(5)
        return self.tags
