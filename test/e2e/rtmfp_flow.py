# SPDX-License-Identifier: MIT
"""Flows of RTMFP (RFC 7016 section 3.6): messages to numbered fragments and back, acknowledgements, loss."""
from rtmfp_wire import ACK_RANGES, DATA, NEXT_DATA, Reader, chunk, counted, option, vlu

OPTIONS, BEGIN, END, MIDDLE, ABANDONED, FINAL = 0x80, 0x10, 0x20, 0x30, 2, 1
FRAGMENT_SIZE = 1000
CAPACITY = 512 * 1024


class Fragment:
    __slots__ = ("number", "flags", "data", "sent", "overtaken", "flying")

    def __init__(self, number, flags, data):
        self.number, self.flags, self.data = number, flags, data
        self.sent, self.overtaken, self.flying = None, 0, False


class OutFlow:
    """Sending side of a flow. `queue` holds unacknowledged fragments, in order."""

    def __init__(self, ident, metadata, answers=None):
        self.id, self.metadata, self.answers = ident, metadata, answers
        self.last, self.queue, self.known, self.room = 0, [], False, 65536
        self.is_closed, self.rejected = False, None
        self.resent = 0

    def put(self, flags, data):
        self.last += 1
        self.queue.append(Fragment(self.last, flags, data))

    def send(self, message):
        assert not self.is_closed
        parts = [message[i:i + FRAGMENT_SIZE] for i in range(0, len(message), FRAGMENT_SIZE)] or [b""]
        for i, part in enumerate(parts):
            first, last = i == 0, i == len(parts) - 1
            self.put(0 if first and last else BEGIN if first else END if last else MIDDLE, part)

    def close(self):
        if not self.is_closed:
            self.put(ABANDONED | FINAL, b"")
            self.is_closed = True

    def abandon(self):
        """Abandons everything unacknowledged: its data is never sent again."""
        for f in self.queue:
            f.flags, f.data = f.flags | ABANDONED, b""

    @property
    def done(self):
        return not self.queue

    def flying(self):
        return sum(len(f.data) for f in self.queue if f.flying)

    def forward(self):
        """FSN: no fragment at or below this number will be sent (again)."""
        kept = next((f for f in self.queue if not f.flags & ABANDONED or f.flags & FINAL), None)
        return (kept.number if kept else self.last + 1) - 1

    def user_data(self, f, after=None):
        """Returns the chunk; `after`: the previous fragment in the same packet, if it belongs to this flow."""
        if after and after.number + 1 == f.number and not f.flags & ABANDONED:
            return chunk(NEXT_DATA, bytes([f.flags]) + f.data)
        options = b""
        if not self.known and not after:
            options = option(0, self.metadata)
            if self.answers is not None:
                options += option(0x0a, vlu(self.answers))
            options += b"\0"
        flags = f.flags | (OPTIONS if options else 0)
        offset = max(f.number - self.forward(), 0 if f.flags & ABANDONED else 1)
        return chunk(DATA, bytes([flags]) + vlu(self.id) + vlu(f.number) + vlu(offset) + options + f.data)

    def acknowledged(self, ack):
        """Returns how many bytes arrived."""
        self.known, self.room = True, ack.room
        got = [f for f in self.queue if f.sent is not None and f.number in ack]
        self.queue = [f for f in self.queue if f not in got]
        latest = max((f.sent for f in got), default=-1)
        for f in self.queue:
            if f.flying and f.sent < latest:
                f.overtaken += 1
                if f.overtaken >= 3:
                    f.flying = False
        return sum(len(f.data) for f in got)

    def timeout(self):
        for f in self.queue:
            f.flying = False


class Ack:
    """An acknowledgement, 50 or 51, as a set of numbers."""

    def __init__(self, kind, data):
        r = Reader(data)
        self.flow, self.room, self.upto = r.vlu(), r.vlu() * 1024, r.vlu()
        self.ranges, at = [], self.upto + 1
        if kind == ACK_RANGES:
            try:
                while r.left():
                    low = at + r.vlu() + 1
                    at = low + r.vlu() + 1
                    self.ranges.append((low, at - 1))
            except ValueError:
                pass  # a truncated last pair does not count
        else:
            for i, byte in enumerate(r.rest()):
                self.ranges += [(self.upto + 2 + 8 * i + b,) * 2 for b in range(8) if byte >> b & 1]

    def __contains__(self, number):
        return number <= self.upto or any(low <= number <= high for low, high in self.ranges)


class InFlow:
    """Receiving side; calls deliver(message) in order."""

    def __init__(self, ident, metadata, answers, deliver):
        self.id, self.metadata, self.answers, self.deliver = ident, metadata, answers, deliver
        self.upto, self.forward, self.final = 0, 0, None
        self.held, self.partial, self.rejected = {}, None, None
        self.is_done, self.doubles = False, 0

    def take(self, number, forward, flags, data):
        """Returns whether to acknowledge at once."""
        fresh = number > self.upto and number not in self.held
        self.doubles += not fresh
        gap = bool(self.held) or number != self.upto + 1
        if fresh:
            self.held[number] = (flags, data)
        if flags & FINAL:
            self.final = number
        self.forward = max(self.forward, forward)
        while self.upto < self.forward or self.upto + 1 in self.held:
            self.upto += 1
            self.step(*self.held.pop(self.upto, (ABANDONED, b"")))
        if self.final is not None and self.upto >= self.final:
            self.is_done = True
        return gap or not fresh or bool(flags & (ABANDONED | FINAL))

    def step(self, flags, data):
        part = flags & MIDDLE
        if flags & ABANDONED:
            self.partial = None
        elif part in (0, BEGIN):
            self.partial = [data] if part else None
            if not part:
                self.out(data)
        elif self.partial is not None:
            self.partial.append(data)
            if part == END:
                whole, self.partial = b"".join(self.partial), None
                self.out(whole)

    def out(self, message):
        if self.rejected is None:
            self.deliver(self, message)

    def ack(self):
        room = CAPACITY - sum(len(d) for _, d in self.held.values())
        out = vlu(self.id) + vlu(max(1, -(-room // 1024))) + vlu(self.upto)
        at, numbers = self.upto + 1, sorted(self.held)
        while numbers:
            low = high = numbers.pop(0)
            while numbers and numbers[0] == high + 1:
                high = numbers.pop(0)
            out += vlu(low - at - 1) + vlu(high - low)
            at = high + 1
        return chunk(ACK_RANGES, out)


def metadata_of(options):
    """Returns (metadata, return association) of a flow's options."""
    meta = next((o.value for o in options if o.type == 0), None)
    answers = next((Reader(o.value).vlu() for o in options if o.type == 0x0a), None)
    return meta, answers


def tc(stream, flags=4):
    """Metadata of RTMP's flows (P5.1) for this stream id."""
    return b"TC" + bytes([flags]) + vlu(stream)


def forwarded_ihello(epd, where, tag):
    return counted(epd) + where + tag
