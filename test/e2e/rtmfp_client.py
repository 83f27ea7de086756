# SPDX-License-Identifier: MIT
"""RTMP over RTMFP (RFC 7425 section 5): connect, publish, play, peers and groups, as a client that knows only the public protocol.
One thread drives any number of clients: run(). scripts/rtmfp.py is the command line for it."""
import struct
from collections import namedtuple

import amf
import flv
import rtmfp
import rtmfp_wire as w
from procs import patience
from rtmfp_flow import tc
from rtmpclient import AMF3_CMD, AUDIO, CMD, DATA, USER, VIDEO, Closed, Rejected

FLOW_SYNC, KEEPALIVE = 34, 41
GROUP = b"GC"

Message = namedtuple("Message", "sid type ts data flow")


def message_bytes(kind, ts, data):
    return struct.pack(">BI", kind, ts & 0xffffffff) + data


def amf3_string(text):
    """An AMF3 string after AMF0's marker 11 (hexadecimal), as older clients send the name that they publish."""
    raw = text.encode()
    u29 = len(raw) << 1 | 1
    head = bytes([u29]) if u29 < 128 else bytes([128 | u29 >> 7, u29 & 127])
    return amf.Typed(b"\x11\x06" + head + raw)


def command_of(m):
    """Returns the values of a command; type 17 has an extra byte in front."""
    return amf.decode(m.data[1:] if m.type == AMF3_CMD else m.data)


def run(clients, until, timeout=10.0):
    """Drives all of them until until() is true; returns whether it became true."""
    return rtmfp.run([c.endpoint for c in clients], until, patience(timeout))


def run_for(clients, seconds):
    rtmfp.run([c.endpoint for c in clients], lambda: False, seconds)


class Talk:
    """Messages of one session with the server or a peer, in their original order across flows."""

    def __init__(self, session, on_message):
        self.session, self.tell = session, on_message
        self.syncs, self.held = {}, {}
        self.control = None  # the other side's control flow
        session.accept = lambda metadata, answers: metadata is not None and metadata[:2] in (b"TC", GROUP)
        session.on_message = self.take

    def take(self, flow, raw):
        if flow.id in self.held:
            self.held[flow.id].append((flow, raw))
            return
        if flow.metadata[:2] == GROUP:
            self.tell(Message(None, None, 0, raw, flow))
            return
        if len(raw) < 5:
            return
        sid = w.Reader(flow.metadata[3:]).vlu()
        if sid == 0 and self.control is None:
            self.control = flow
        m = Message(sid, raw[0], int.from_bytes(raw[1:5], "big"), raw[5:], flow)
        if m.type == USER and m.data[:2] == struct.pack(">H", FLOW_SYNC):
            self.sync(flow, *struct.unpack(">II", m.data[2:10]))
        self.tell(m)

    def sync(self, flow, ident, count):
        """Messages after it on this flow wait until n flows have received it."""
        waiting = self.syncs.setdefault(ident, [])
        waiting.append(flow.id)
        self.held[flow.id] = []
        if len(waiting) < count:
            return
        for i in self.syncs.pop(ident):
            for f, raw in self.held.pop(i, []):
                self.take(f, raw)


class Stream:
    """A stream of the connection: its outgoing flows, and the received tags."""

    def __init__(self, client, sid):
        self.client, self.sid, self.flows = client, sid, {}
        self.tags, self.events, self.statuses = [], [], []

    def flow(self, kind):
        """One flow for commands and data, one for audio, one for video."""
        kind = kind if kind in (AUDIO, VIDEO) else CMD
        if kind not in self.flows:
            self.flows[kind] = self.client.session.flow(tc(self.sid), self.client.far_control())
        return self.flows[kind]

    def command(self, name, *args, tid=0):
        body = message_bytes(CMD, 0, amf.encode(name, tid, None, *args))
        self.flow(CMD).send(body)

    def send_tag(self, tag, ts=None):
        data = tag.data
        if tag.type == DATA and not data.startswith(b"\x02\x00\x0d@setDataFrame"):
            data = amf.encode("@setDataFrame") + data
        self.flow(tag.type).send(message_bytes(tag.type, tag.ts if ts is None else ts, data))

    def sent(self):
        """Whether everything sent has arrived."""
        return all(f.done for f in self.flows.values())

    def status(self, code=None, timeout=10.0):
        """Waits for an onStatus, or for one with this code; an error raises Rejected."""
        def find():
            return next((i for i in self.statuses if i.get("level") == "error" or code in (None, i.get("code"))), None)
        self.client.wait(find, timeout, f"no status {code}")
        info = find()
        self.statuses.remove(info)
        if info.get("level") == "error":
            raise Rejected(info)
        return info

    def in_order(self):
        """Returns the tags in order of time: the order between flows is not preserved in transit."""
        return sorted(self.tags, key=lambda t: (t.ts, t.frame))

    def write(self, path):
        flv.write(path, self.in_order())


class Client:
    """One endpoint with its sessions to the server and to peers."""

    def __init__(self, port, host="127.0.0.1", identity=None, timeout=10.0, bind=None, **how):
        self.server, self.timeout = (host, port), timeout
        bind = bind or ("127.0.0.1" if host.startswith("127.") else "::" if ":" in host else "0.0.0.0")
        self.endpoint = rtmfp.Endpoint(identity or rtmfp.Identity(static=True), bind, **how)
        self.endpoint.on_session = self.on_session
        self.session, self.opening, self.tid = None, None, 0
        self.streams, self.messages, self.results, self.keepalive = {}, [], {}, None
        self.talks, self.peers, self.members, self.peer_messages = {}, [], [], []
        self.control = self.group_flow = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.endpoint.close()

    @property
    def peer_id(self):
        return self.endpoint.identity.peer_id

    def wait(self, until, timeout=None, why="it did not come"):
        """Raises TimeoutError, or Closed if the session ends meanwhile."""
        def now():
            return until() or self.session is not None and not self.session.is_open
        run([self], now, timeout or self.timeout)
        if not until():
            if self.session is not None and not self.session.is_open:
                raise Closed(self.session.why)
            raise TimeoutError(why)

    # sessions

    def begin(self, app="live"):
        """Sends IHello to the server; the session opens while run() runs."""
        host, port = self.server
        uri = f"rtmfp://[{host}]:{port}/{app}" if ":" in host else f"rtmfp://{host}:{port}/{app}"
        self.app, self.uri = app, uri
        self.opening = self.endpoint.connect([self.server], w.to_uri(uri))
        return self

    def open(self, app="live", timeout=None):
        self.begin(app)
        self.wait(lambda: self.session, timeout, "no session with the server")
        return self

    def on_session(self, session):
        is_server = self.opening is not None and session is self.opening.session
        if is_server:
            self.session = session
        else:
            self.peers.append(session)
        self.talks[session.near_id] = Talk(session, self.on_message if is_server else self.on_peer_message(session))

    # messages in

    def on_peer_message(self, session):
        return lambda m: self.peer_messages.append((session.peer_id, m))

    def on_message(self, m):
        if m.type is None:
            if m.data[:1] == b"\x0b" and len(m.data) == 33:
                self.members.append(m.data[1:])
            return
        self.messages.append(m)
        stream = self.streams.get(m.sid)
        if m.type in (CMD, AMF3_CMD):
            self.on_command(m, stream)
        elif m.type in (AUDIO, VIDEO, DATA) and stream:
            stream.tags.append(flv.Tag(m.type, m.ts, m.data))
        elif m.type == USER and len(m.data) >= 2:
            event = int.from_bytes(m.data[:2], "big")
            if event == KEEPALIVE:
                self.keepalive = struct.unpack(">II", m.data[2:10])
            elif stream:
                stream.events.append(event)

    def on_command(self, m, stream):
        values = command_of(m)
        if values[0] in ("_result", "_error"):
            self.results[int(values[1])] = values
        elif values[0] == "onStatus" and stream:
            stream.statuses.append(values[3])

    def far_control(self):
        control = self.talks[self.session.near_id].control
        assert control is not None, "the server has no control flow yet"
        return control.id

    # commands out

    def call(self, name, *args, obj=None, tid=None, kind=CMD):
        """Sends a command on the control flow; returns its transaction id."""
        if self.control is None:
            self.control = self.session.flow(tc(0))
        if tid is None:
            self.tid += 1
            tid = self.tid
        head = b"\0" if kind == AMF3_CMD else b""
        self.control.send(message_bytes(kind, 0, head + amf.encode(name, tid, obj, *args)))
        return tid

    def result(self, tid, timeout=None):
        self.wait(lambda: tid in self.results, timeout, f"no answer to {tid}")
        values = self.results.pop(tid)
        if values[0] == "_error":
            raise Rejected(values[3] if len(values) > 3 else {})
        return values

    def connect(self, app="live", **fields):
        if self.session is None:
            self.open(app)
        obj = {"app": app, "flashVer": "LNX 11,2,202,235", "fpad": False, "capabilities": 235.0, "audioCodecs": 3575,
               "videoCodecs": 252, "videoFunction": 1, "tcUrl": self.uri, "objectEncoding": 0}
        obj.update(fields)
        self.connect_result = self.result(self.call("connect", obj={k: v for k, v in obj.items() if v is not None}))
        return self

    def set_peer_info(self, *addresses):
        """Sends the addresses, by default those of this endpoint."""
        host, port = self.endpoint.address
        self.call("setPeerInfo", *(addresses or (f"{host}:{port}",)), tid=0)
        self.wait(lambda: self.control.done, None, "setPeerInfo was not acknowledged")

    def create_stream(self):
        sid = int(self.result(self.call("createStream"))[3])
        self.streams[sid] = Stream(self, sid)
        return self.streams[sid]

    def publish(self, name="s", how="live", amf3=False):
        stream = self.create_stream()
        stream.command("publish", amf3_string(name) if amf3 else name, how)
        stream.status("NetStream.Publish.Start")
        return stream

    def play(self, name="s", start=-2):
        stream = self.create_stream()
        stream.command("play", name, start)
        stream.status("NetStream.Play.Start")
        return stream

    def delete(self, stream):
        self.call("deleteStream", stream.sid, tid=0)

    # peers

    def find(self, peer_id):
        """Asks the server for a peer; returns the opening, whose session is with that peer."""
        return self.endpoint.connect([self.server], w.to_peer(peer_id))

    def say(self, session, kind, data):
        """Sends a message to a peer on a separate flow."""
        flow = session.flow(tc(1))
        flow.send(message_bytes(kind, 0, data))
        return flow

    def join(self, specifier=None, ident=None):
        """Joins a group by its specifier, or by its hashed id (32 bytes)."""
        body = b"\x10" + specifier.encode() if ident is None else b"\x15" + ident
        self.group_flow = self.session.flow(GROUP, self.far_control())
        self.group_flow.send(b"\x01" + w.counted(body))
        return self.group_flow

    def leave(self):
        self.group_flow.close()


def pump(client, stream, tags, until=None, others=(), speed=1.0, timeout=60.0):
    """Sends tags when they are due, and drives the others meanwhile."""
    clock, at = client.endpoint.clock, 0
    begun = clock()

    def step():
        nonlocal at
        while at < len(tags) and (not speed or tags[at].ts <= (clock() - begun) * 1000 * speed):
            stream.send_tag(tags[at])
            at += 1
        return at == len(tags) and stream.sent() or bool(until and until())

    everyone = [client, *others]
    while not step():
        if clock() - begun > patience(timeout):
            raise TimeoutError(f"{at} of {len(tags)} tags were sent, {stream.sent()=}")
        if not client.session.is_open:
            raise Closed(client.session.why)
        run_for(everyone, 0.01)
