# SPDX-License-Identifier: MIT
"""RTMFP endpoints over a plain socket: handshake from either side, sessions with flows. RFC 7016; P: RFC 7425.
Time comes from `clock`, so a test can run faster than real time."""
import os
import random
import select
import socket
import struct
import time

import rtmfp_wire as w
from rtmfp_flow import Ack, InFlow, OutFlow, metadata_of
from rtmfp_wire import Pair, Reader, Way, chunk, counted, option

RETRY, BURST = 1.5, 6


class Identity:
    """A certificate, and how it opens sessions. Static: like Flash's, with one key of one group."""

    def __init__(self, static=False, group=2, server=False, mac=w.NONE, numbers=w.NONE):
        self.group, self.mac, self.numbers = group, mac, numbers
        self.pair = Pair(group) if static else None
        own = option(0x1d, w.vlu(group) + self.pair.public) if static else \
            option(0x0e, os.urandom(64)) + b"".join(option(0x15, w.vlu(g)) for g in w.PRIMES)
        self.certificate = (option(0x0a) if server else b"") + own
        self.peer_id = w.fingerprint(self.certificate)

    def asks(self):
        """Returns SKIC, and the key pair for it."""
        wishes = option(0x0e, os.urandom(64)) + w.wish_options(self.mac, self.numbers)
        if self.pair:
            return option(0x1d, w.vlu(self.group)) + wishes, self.pair
        pair = Pair(self.group)
        return option(0x0d, w.vlu(self.group) + pair.public) + wishes, pair

    def answers(self, pair):
        """Returns SKRC: the key comes last."""
        return w.wish_options(self.mac, self.numbers) + option(0x0d, w.vlu(pair.group) + pair.public)


def static_key(certificate, group):
    for o in Reader(w.first_part(certificate)).options():
        if o.type == 0x1d:
            r = Reader(o.value)
            if r.vlu() == group:
                return r.rest()
    raise ValueError(f"no key of group {group} in the certificate")


def ephemeral_key(component, group=None):
    """(group, public key), or None."""
    for o in Reader(component).options():
        if o.type == 0x0d:
            r = Reader(o.value)
            found = r.vlu()
            if group in (None, found):
                return found, r.rest()
    return None


class Opening:
    """State of an initiator until the session exists."""

    def __init__(self, endpoint, addresses, epd, ident):
        self.endpoint, self.addresses, self.epd, self.near_id = endpoint, list(addresses), epd, ident
        self.tag, self.cookie, self.session = os.urandom(16), None, None
        self.began = self.wait = self.due = 0.0
        self.redirects, self.packets = [], 0
        self.began = self.due = endpoint.clock()

    def tick(self, now):
        if now < self.due:
            return
        if now - self.began > 95:
            raise TimeoutError("no answer for 95 s")
        self.wait += RETRY
        self.due = now + self.wait
        self.say()

    def say(self):
        if self.cookie is None:
            body = chunk(w.IHELLO, counted(self.epd) + self.tag)
            for to in self.addresses:
                self.endpoint.startup(to, body)
            self.packets += len(self.addresses)
        else:
            body = struct.pack(">I", self.near_id) + counted(self.cookie)
            body += counted(self.endpoint.identity.certificate) + counted(self.skic) + b"X"
            self.endpoint.startup(self.to, chunk(w.IIKEYING, body))
            self.packets += 1

    def on_rhello(self, cookie, certificate, source):
        if self.cookie is None:
            self.cookie, self.certificate, self.to = cookie, certificate, source
            self.skic, self.pair = self.endpoint.identity.asks()
            self.wait, self.due = RETRY, self.endpoint.clock() + RETRY
            self.say()

    def on_redirect(self, where, source):
        if self.cookie is None:
            self.redirects.append(where)
            for _, to in where or [(2, source)]:
                if to not in self.addresses:
                    self.addresses.append(to)
                    self.endpoint.startup(to, chunk(w.IHELLO, counted(self.epd) + self.tag))

    def on_cookie(self, old, new, source):
        if self.cookie == old:
            self.cookie, self.to = new, source
            self.say()

    def on_rikeying(self, r, source):
        if self.cookie is None or self.session:
            return
        far_id, skrc = r.u32(), r.counted()
        found = ephemeral_key(skrc, self.pair.group)
        public = found[1] if found else static_key(self.certificate, self.pair.group)
        keys = w.keys(self.pair.secret(public), self.skic, skrc)
        self.session = Session(self.endpoint, self.near_id, far_id, source, True, self.certificate, keys,
                               w.wishes(Reader(skrc).options()))
        self.endpoint.opened(self.session)


class Session:
    """One session. `on_message(flow, message)` gets the messages of flows that `accept(metadata, answers)` accepted."""

    def __init__(self, endpoint, near_id, far_id, address, initiator, certificate, keys, far_wishes):
        self.endpoint, self.near_id, self.far_id, self.address = endpoint, near_id, far_id, address
        self.is_initiator, self.certificate, self.keys = initiator, certificate, keys
        self.peer_id = w.fingerprint(certificate)
        me = endpoint.identity
        (far_mac, far_numbers), out, back = far_wishes, (keys.i2r, keys.mac_i2r), (keys.r2i, keys.mac_r2i)
        if not initiator:
            out, back = back, out
        self.tx = Way(*out, me.mac.size if w.sends(me.mac, far_mac) else 0, w.sends(me.numbers, far_numbers))
        self.rx = Way(*back, far_mac.size if w.sends(far_mac, me.mac) else 0, w.sends(far_numbers, me.numbers))
        self.flows, self.far_flows, self.next_flow = {}, {}, 2
        self.chunks, self.acks, self.ack_due, self.data_packets = [], set(), None, 0
        self.srtt = self.rttvar = None
        self.erto, self.sent_at, self.count, self.burst, self.window = 3.0, None, 0, 0, 4380
        self.their_time = self.their_time_at = self.echoed = self.taken = None
        self.pongs, self.pings, self.forwarded, self.moved, self.mac_of_moves = [], [], [], {}, os.urandom(16)
        self.is_open, self.why = True, None
        self.accept = lambda metadata, answers: metadata is not None
        self.on_message = lambda flow, message: None
        self.first_packet = None  # the RIKeying, until the first packet of the session arrives

    # sending

    def flow(self, metadata, answers=None):
        f = OutFlow(self.next_flow, metadata, answers)
        self.next_flow += 1
        self.flows[f.id] = f
        return f

    def packet(self, chunks, to=None):
        now = self.endpoint.clock()
        stamp, echo = int(now * 250) & 0xffff, None
        if self.their_time is not None and self.their_time != self.echoed and now - self.their_time_at < 128:
            echo = self.their_time + int((now - self.their_time_at) * 250) & 0xffff
            self.echoed = self.their_time
        mode = w.FROM_INITIATOR if self.is_initiator else w.FROM_RESPONDER
        body = w.plain(mode, chunks, stamp, echo)
        self.endpoint.raw(to or self.address, self.tx.seal(self.far_id, body))

    def ping(self, data=b"", to=None):
        self.packet([chunk(w.PING, data)], to)

    def close(self):
        if self.is_open:
            self.packet([chunk(w.CLOSE)])
            self.end("closed by us")

    def end(self, why):
        self.is_open, self.why = False, why

    def flush(self):
        """Sends acknowledgements first, then as much of the flows as window and burst allow."""
        if not self.is_open:
            return
        if self.ack_due is not None and self.ack_due <= self.endpoint.clock():
            for ident in sorted(self.acks):
                f = self.far_flows[ident]
                if f.rejected is not None:
                    self.chunks.append(chunk(w.EXCEPTION, w.vlu(ident) + w.vlu(f.rejected)))
                self.chunks.append(f.ack())
            self.acks, self.ack_due, self.data_packets = set(), None, 0
        while True:
            group, self.chunks = self.chunks, []
            has_data = self.burst < BURST and self.fill(group)
            self.burst += has_data
            if group:
                self.packet(group)
            if not has_data:
                return

    def fill(self, group):
        """Adds user data to a packet's chunks; returns whether there was any."""
        size, any_data = 8 + sum(map(len, group)), False
        flying = sum(f.flying() for f in self.flows.values())
        for flow in self.flows.values():
            after, on_way = None, flow.flying()
            for f in flow.queue:
                if f.flying:
                    continue
                if flying and flying + len(f.data) > self.window or on_way and on_way + len(f.data) > flow.room:
                    break
                c = flow.user_data(f, after)
                if size + len(c) > w.MAX_PLAIN:
                    return any_data
                group.append(c)
                size, flying, on_way = size + len(c), flying + len(f.data), on_way + len(f.data)
                flow.resent += f.sent is not None
                self.count += 1
                f.sent, f.flying, f.overtaken, after, any_data = self.count, True, 0, f, True
                self.sent_at = self.endpoint.clock()
        return any_data

    def deadline(self):
        """Time of the next tick() with work to do."""
        times = [self.ack_due] if self.ack_due is not None else []
        if any(f.queue for f in self.flows.values()) and self.sent_at is not None:
            times.append(self.sent_at + self.erto)
        return min(times, default=None)

    def tick(self, now):
        flying = any(f.flying for flow in self.flows.values() for f in flow.queue)
        if flying and now >= self.sent_at + self.erto:
            for flow in self.flows.values():
                flow.timeout()
            self.erto, self.window, self.burst = min(self.erto * 1.4142, 10.0), 1200, 0
        elif not flying:
            self.burst = 0
        self.flush()

    # receiving

    def times(self, p):
        now = self.endpoint.clock()
        if p.time is not None and p.time != self.their_time:
            self.their_time, self.their_time_at = p.time, now
        if p.echo is None or p.echo == self.taken:
            return
        self.taken = p.echo
        ticks = (int(now * 250) - p.echo) & 0xffff
        if ticks > 32767:
            return
        rtt = ticks / 250
        if self.srtt is None:
            self.srtt, self.rttvar = rtt, rtt / 2
        else:
            self.rttvar += (abs(self.srtt - rtt) - self.rttvar) / 4
            self.srtt += (rtt - self.srtt) / 8
        self.erto = max(self.srtt + 4 * self.rttvar + 0.2, 0.25)

    def input(self, body, source):
        p = w.parse(body)
        if p.mode != (w.FROM_RESPONDER if self.is_initiator else w.FROM_INITIATOR):
            return
        self.first_packet = None
        self.times(p)
        if source != self.address:
            self.from_elsewhere(source)
        self.last_data, had_data = None, False
        for c in p.chunks:
            had_data |= c.type in (w.DATA, w.NEXT_DATA)
            try:
                self.take(c, source)
            except ValueError:
                self.last_data = None  # only this chunk is dropped
        if had_data:
            self.data_packets += 1
            if self.data_packets >= 2:
                self.ack_due = self.endpoint.clock()
        self.flush()

    def from_elsewhere(self, source):
        now = self.endpoint.clock()
        if now - self.moved.get(source, -9) >= 1:
            self.moved[source] = now
            self.ping(b"M" + w.mac(self.mac_of_moves, repr(source).encode()), source)

    def take(self, c, source):
        r = Reader(c.data)
        if c.type == w.PING:
            self.pings.append(c.data)
            self.packet([chunk(w.PING_REPLY, c.data)], source)
        elif c.type == w.PING_REPLY:
            self.pongs.append(c.data)
            if source != self.address and c.data == b"M" + w.mac(self.mac_of_moves, repr(source).encode()):
                self.address = source
        elif c.type == w.CLOSE:
            self.packet([chunk(w.CLOSE_ACK)])
            self.end("closed by the other side")
        elif c.type == w.CLOSE_ACK:
            self.end("ended by the other side")
        elif c.type in (w.ACK_RANGES, w.ACK_BITS):
            self.on_ack(Ack(c.type, c.data))
        elif c.type == w.DATA:
            self.on_data(r)
        elif c.type == w.NEXT_DATA and self.last_data:
            flow, number, forward = self.last_data
            self.last_data = (flow, number + 1, forward)
            flags = r.u8()
            if flags & 0x80:
                r.option_list()
            self.to_flow(flow, number + 1, forward, flags, r.rest())
        elif c.type == w.PROBE:
            self.acks.add(r.vlu())
            self.ack_due = self.endpoint.clock()
        elif c.type == w.EXCEPTION:
            flow, code = self.flows.get(r.vlu()), r.vlu()
            if flow and flow.rejected is None:
                flow.rejected = code
                flow.abandon()
                flow.close()
        elif c.type == w.FORWARDED:
            epd, (_, where) = r.counted(), r.address()
            self.forwarded.append((epd, where))
            self.endpoint.introduced(epd, where, r.rest())

    def on_ack(self, ack):
        flow = self.flows.get(ack.flow)
        if flow:
            before = flow.flying()
            got = flow.acknowledged(ack)
            lost = before - got - flow.flying() > 0
            self.window = max(self.window // 2, 2400) if lost else self.window + min(got, 1200)
            self.burst = 0

    def on_data(self, r):
        flags, ident, number, offset = r.u8(), r.vlu(), r.vlu(), r.vlu()
        if offset > number or offset == 0 and not flags & 2 or number == 0:
            raise ValueError("numbers that cannot be")
        options = r.option_list() if flags & 0x80 else []
        flow = self.far_flows.get(ident)
        if not flow:
            meta, answers = metadata_of(options)
            flow = InFlow(ident, meta, answers, lambda f, m: self.on_message(f, m))
            if meta is None or answers is not None and answers not in self.flows or not self.accept(meta, answers):
                flow.rejected = 0
            self.far_flows[ident] = flow
            self.ack_due = self.endpoint.clock()
        self.last_data = (flow, number, number - offset)
        self.to_flow(flow, number, number - offset, flags, r.rest())

    def to_flow(self, flow, number, forward, flags, data):
        at_once = flow.take(number, forward, flags & 0x7f, data)
        self.acks.add(flow.id)
        due = self.endpoint.clock() + (0 if at_once else 0.2)
        self.ack_due = due if self.ack_due is None else min(due, self.ack_due)


class Endpoint:
    """A socket with sessions. `loss`: share of sent packets that are lost, from `seed`."""

    def __init__(self, identity=None, host="127.0.0.1", clock=time.monotonic, loss=0.0, seed=1):
        self.identity, self.clock, self.loss, self.rng = identity or Identity(), clock, loss, random.Random(seed)
        self.host, self.sock = host, None
        self.rebind()
        self.secret, self.openings, self.sessions = os.urandom(32), {}, {}
        self.bad = self.lost = self.sent = 0
        self.on_session = lambda session: None
        self.default = Way()

    def rebind(self):
        """Changes the port, as a NAT does that forgets a mapping."""
        if self.sock:
            self.sock.close()
        self.sock = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.sock.bind((self.host, 0))
        self.sock.setblocking(False)
        self.address = self.sock.getsockname()[:2]

    def close(self):
        for s in self.sessions.values():
            s.close()
        self.sock.close()

    def ident(self):
        while (i := int.from_bytes(os.urandom(4), "big")) in self.sessions or i in self.openings or not i:
            pass
        return i

    def connect(self, addresses, epd):
        o = Opening(self, addresses, epd, self.ident())
        self.openings[o.near_id] = o
        o.tick(self.clock())
        return o

    def opened(self, session):
        self.openings.pop(session.near_id, None)
        self.sessions[session.near_id] = session
        self.on_session(session)

    def raw(self, to, datagram):
        self.sent += 1
        if self.loss and self.rng.random() < self.loss:
            self.lost += 1
            return
        try:
            self.sock.sendto(datagram, to)
        except OSError:
            self.lost += 1

    def startup(self, to, chunks, ident=0):
        body = w.plain(w.STARTUP, [chunks], int(self.clock() * 250) & 0xffff)
        self.raw(to, Way().seal(ident, body))

    def introduced(self, epd, where, tag):
        """0F: the peer at this address wants to connect."""
        if self.is_me(epd):
            self.startup(where, self.rhello(tag, where))

    # input

    def receive(self):
        """Receives one datagram; returns whether there was one."""
        try:
            datagram, source = self.sock.recvfrom(65536)
        except (BlockingIOError, ConnectionRefusedError):
            return False
        self.input(datagram, source[:2])
        return True

    def input(self, datagram, source):
        try:
            ident = w.ident_of(datagram)
            if ident in self.sessions:
                s = self.sessions[ident]
                body = s.rx.open(datagram)
                s.input(body, source)
            elif ident == 0 or ident in self.openings:
                p = w.parse(self.default.open(datagram))
                if p.mode == w.STARTUP:
                    for c in p.chunks:
                        self.take(c, ident, source)
        except ValueError:
            self.bad += 1

    def take(self, c, ident, source):
        r = Reader(c.data)
        if ident == 0 and c.type == w.IHELLO:
            epd, tag = r.counted(), r.rest()
            if self.is_me(epd):
                self.startup(source, self.rhello(tag, source))
        elif ident == 0 and c.type in (w.RHELLO, w.REDIRECT):
            tag = r.counted()
            opening = next((o for o in self.openings.values() if o.tag == tag), None)
            if opening and c.type == w.RHELLO:
                opening.on_rhello(r.counted(), r.rest(), source)
            elif opening:
                where = []
                while r.left():
                    where.append(r.address())
                opening.on_redirect(where, source)
        elif ident == 0 and c.type == w.IIKEYING:
            self.on_iikeying(r, source)
        elif c.type == w.COOKIE_CHANGE and ident:
            self.openings[ident].on_cookie(r.counted(), r.rest(), source)
        elif c.type == w.RIKEYING and ident:
            self.openings[ident].on_rikeying(r, source)

    # as responder

    def is_me(self, epd):
        options = {o.type: o.value for o in Reader(epd).options()}
        if 0x0f in options:
            return options[0x0f] == self.identity.peer_id
        return 0x0a in options and self.identity.certificate.startswith(option(0x0a))

    def cookie(self, source, when=None):
        head = struct.pack(">Q", int(self.clock() * 1000) if when is None else when)
        first = head + w.mac(self.secret, head)[:24]
        return first + w.mac(self.secret, first + repr(source).encode())

    def rhello(self, tag, source):
        return chunk(w.RHELLO, counted(tag) + counted(self.cookie(source)) + self.identity.certificate)

    def on_iikeying(self, r, source):
        far_id, cookie, certificate, skic = r.u32(), r.counted(), r.counted(), r.counted()
        when = int.from_bytes(cookie[:8], "big")
        right = self.cookie(source, when)
        if len(cookie) != 64 or cookie[:32] != right[:32] or self.clock() - when / 1000 > 120:
            raise ValueError("no cookie of ours")
        if cookie != right:
            changed = chunk(w.COOKIE_CHANGE, counted(cookie) + self.cookie(source))
            return self.startup(source, changed, far_id)
        for s in self.sessions.values():
            if s.is_open and s.address == source and s.far_id == far_id:
                if s.first_packet and s.asked == skic:
                    self.startup(source, s.first_packet, far_id)
                return None
        found = ephemeral_key(skic)
        group = found[0] if found else next(Reader(o.value).vlu() for o in Reader(skic).options() if o.type == 0x1d)
        pair = Pair(group)
        skrc = self.identity.answers(pair)
        keys = w.keys(pair.secret(found[1] if found else static_key(certificate, group)), skic, skrc)
        s = Session(self, self.ident(), far_id, source, False, certificate, keys, w.wishes(Reader(skic).options()))
        s.asked = skic
        s.first_packet = chunk(w.RIKEYING, struct.pack(">I", s.near_id) + counted(skrc) + b"X")
        self.startup(source, s.first_packet, far_id)
        return self.opened(s)

    # time

    def tick(self):
        now = self.clock()
        for o in list(self.openings.values()):
            o.tick(now)
        for s in list(self.sessions.values()):
            if s.is_open:
                s.tick(now)

    def deadline(self):
        times = [o.due for o in self.openings.values()]
        times += [s.deadline() for s in self.sessions.values() if s.is_open]
        return min((t for t in times if t is not None), default=None)

    def run(self, until, timeout=10.0):
        return run([self], until, timeout)


def run(ends, until, timeout=10.0):
    """Runs several endpoints in real time until until() is true; returns whether it became true."""
    end = time.monotonic() + timeout
    while True:
        for e in ends:
            e.tick()
        if until():
            return True
        now = time.monotonic()
        if now >= end:
            return False
        due = min((d for d in (e.deadline() for e in ends) if d is not None), default=end)
        wait = min(end, max(due, now + 0.001), now + 0.1) - now  # until() may depend on other things than datagrams
        poll = select.poll()  # select() accepts no descriptors above 1023
        for e in ends:
            poll.register(e.sock, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(1000 * wait)}
        for e in ends:
            while e.sock.fileno() in ready and e.receive():
                pass


class Clock:
    """A clock that advances only when no packet is in flight."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now


def run_together(clock, ends, until, seconds=120.0):
    """Runs several endpoints with one Clock until until() is true; returns whether it became true."""
    end = clock.now + seconds
    while clock.now < end:
        for e in ends:
            e.tick()
        if any([e.receive() for e in ends]):
            continue
        if until():
            return True
        due = min((d for d in (e.deadline() for e in ends) if d is not None), default=end)
        clock.now = max(clock.now + 0.001, due)
    return False
