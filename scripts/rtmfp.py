#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtmfp.py - a command line client for RTMFP (Debian: apt-get install python3-cryptography).

  rtmfp.py play rtmfp://HOST/live/livestream OUT.flv     write the stream to a file; -: standard output, for ffplay
  rtmfp.py publish rtmfp://HOST/live/livestream IN.flv   publish a file at its own pace; --loop: repeat it
  rtmfp.py peer rtmfp://HOST/live                        print the own id and messages of other peers
  rtmfp.py peer rtmfp://HOST/live --to ID --say TEXT     send a message to this peer directly
  rtmfp.py group rtmfp://HOST/live NAME                  join a group and print its members

It ends after --seconds, or on Ctrl-C. --hmac and --sequence authenticate and number packets."""
import argparse
import atexit
import os
import socket
import sys
import time
from urllib.parse import urlsplit

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "rtmfp"), os.path.join(os.path.dirname(HERE), "test", "e2e")]  # installed, in the tree
try:
    import flv
    import rtmfp
    import rtmfp_client as rc
    import rtmfp_wire as w
    from rtmpclient import DATA, Closed, Rejected
except ModuleNotFoundError as missing:
    sys.exit(f"rtmfp.py: no module {missing.name} (Debian: apt-get install python3-cryptography)")

LATE = 500   # ms: audio and video use separate flows, so they may arrive out of order
HELLO = 10   # seconds to wait for a response
TURN = 0.02


def say(text):
    print(text, file=sys.stderr, flush=True)


class Away(Exception):
    pass


def place(url):
    """Returns the address, app and stream of a URL. The app is the first part of the path."""
    u = urlsplit(url)
    parts = u.path.strip("/").split("/", 1)
    if u.scheme != "rtmfp" or not u.hostname or not parts[0]:
        raise Away(f"{url}: expected rtmfp://HOST[:PORT]/APP/STREAM")
    try:
        address = socket.getaddrinfo(u.hostname, u.port or 1935, type=socket.SOCK_DGRAM)[0][4][:2]
    except OSError as e:
        raise Away(f"{u.hostname}: {e.strerror}") from e
    return address, parts[0], (parts[1] if len(parts) > 1 else "") + (f"?{u.query}" if u.query else "")


def our_address(server):
    """Returns the local address used to reach the server; other peers get it."""
    with socket.socket(socket.AF_INET6 if ":" in server[0] else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(server)
        return s.getsockname()[0]


def connected(a):
    server, app, name = place(a.url)
    identity = rtmfp.Identity(static=True, group=a.group, mac=w.Wish(7, 16) if a.hmac else w.NONE,
                              numbers=w.Wish(7, 0) if a.sequence else w.NONE)
    c = rc.Client(server[1], host=server[0], identity=identity)
    c.endpoint.host = our_address(server)
    c.endpoint.rebind()
    atexit.register(c.close)  # close on every exit, so that the server does not wait for its timeout
    c.begin(app)
    if not rtmfp.run([c.endpoint], lambda: c.session, HELLO):
        if c.opening.redirects:
            raise Away("it sent us on, and none of these answers: " + ", ".join(f"{h}:{p}" for _, (h, p) in c.opening.redirects[0]))
        raise Away("no answer: is rtmfp_server on there, and does UDP get through?" if c.opening.cookie is None else
                   "it answered, and then made no session: keys, hmac and sequence do not fit, or it is full")
    c.connect(app, fourCcList=["*"] if a.opus else None)
    say(f"connected to {c.session.address[0]}:{c.session.address[1]}")
    return c, name


class Until:
    """Runs a client for a given time. Raises Closed if the server closes the session."""

    def __init__(self, c, seconds):
        self.c, self.end = c, time.monotonic() + seconds if seconds else None

    def turn(self):
        """Runs a turn. Returns False after the given time."""
        rtmfp.run([self.c.endpoint], lambda: False, TURN)
        if not self.c.session.is_open:
            raise Closed(self.c.session.why)
        return self.end is None or time.monotonic() < self.end


def play(a):
    c, name = connected(a)
    stream, until = c.play(name), Until(c, a.seconds)
    say(f"playing {name}")
    with open(sys.stdout.fileno() if a.file == "-" else a.file, "wb", closefd=a.file != "-") as out:
        out.write(flv.to_bytes([]))
        goes_on, count = True, 0
        while goes_on:
            goes_on = until.turn()
            newest = max((t.ts for t in stream.tags), default=0)
            due = [t for t in stream.in_order() if not goes_on or t.ts <= newest - LATE]
            stream.tags[:] = [t for t in stream.tags if goes_on and t.ts > newest - LATE]
            out.write(b"".join(map(flv.tag_bytes, due)))
            out.flush()
            count += len(flv.frames(due))
    say(f"{count} frames")


def publish(a):
    tags = flv.read(a.file)
    frames = [t for t in tags if t.frame]
    if not frames:
        raise Away(f"{a.file}: the file contains no media")
    c, name = connected(a)
    stream, until = c.publish(name), Until(c, a.seconds)
    say(f"publishing {name}")
    for t in tags:
        if not t.frame:
            stream.send_tag(t, 0 if t.type != DATA else None)
    begun, shift, at = time.monotonic(), -frames[0].ts, 0
    length = frames[-1].ts - frames[0].ts + 40
    while until.turn() and (at < len(frames) or not stream.sent()):
        while at < len(frames) and frames[at].ts + shift <= (time.monotonic() - begun) * 1000:
            stream.send_tag(frames[at], frames[at].ts + shift)
            at += 1
        if at == len(frames) and a.loop:
            at, shift = 0, shift + length


def peer(a):
    c, _ = connected(a)
    c.set_peer_info()
    say(f"our id is {c.peer_id.hex()}")
    until, told, found = Until(c, a.seconds), 0, None
    if a.to:
        found = c.find(bytes.fromhex(a.to))
        if not rtmfp.run([c.endpoint], lambda: found.session, HELLO):
            raise Away("no response: the peer has left or is unreachable" if found.redirects else
                       "the server does not know this peer id")
        say(f"connected to the peer at {found.session.address[0]}:{found.session.address[1]}")
        sent = c.say(found.session, DATA, a.say.encode())
        rtmfp.run([c.endpoint], lambda: sent.done, HELLO)
        say("message delivered" if sent.done else "message not acknowledged")
    while not a.to and until.turn():
        for who, m in c.peer_messages[told:]:
            print(f"{who.hex()} says: {m.data.decode(errors='replace')}", flush=True)
        told = len(c.peer_messages)


def group(a):
    c, _ = connected(a)
    c.set_peer_info()
    c.join(a.name)
    say(f"joined {a.name} as {c.peer_id.hex()}")
    until, told = Until(c, a.seconds), 0
    while until.turn():
        for one in c.members[told:]:
            print(f"member {one.hex()}", flush=True)
        told = len(c.members)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = p.add_subparsers(required=True, metavar="play|publish|peer|group")
    for run, more in (play, "file"), (publish, "file"), (peer, None), (group, "name"):
        one = ways.add_parser(run.__name__)
        one.set_defaults(run=run)
        one.add_argument("url")
        if more:
            one.add_argument(more)
        one.add_argument("--seconds", type=float, default=0)
        one.add_argument("--group", type=int, choices=(2, 5, 14), default=2, help="Diffie-Hellman group: 1024, 1536, 2048 bits")
        one.add_argument("--hmac", action="store_true")
        one.add_argument("--sequence", action="store_true")
        one.add_argument("--opus", action="store_true", help="announce support for Opus, which FFmpeg before 8.0 cannot read")
        if run is publish:
            one.add_argument("--loop", action="store_true")
        if run is peer:
            one.add_argument("--to", metavar="ID")
            one.add_argument("--say", metavar="TEXT", default="hello")
    a = p.parse_args()
    try:
        a.run(a)
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Rejected as e:
        sys.exit(f"rtmfp.py: rejected: {e.info.get('code', '')} {e.info.get('description', '')}".rstrip())
    except (Away, Closed, TimeoutError, OSError, ValueError) as e:
        sys.exit(f"rtmfp.py: {e or 'the session has ended'}")


if __name__ == "__main__":
    main()
