# SPDX-License-Identifier: MIT
"""The Python client of RTMFP against itself, over loopback with seeded loss, and against computed bytes, which later tests of the
server rely on."""
import os
import random
import re

import pytest

pytest.importorskip("cryptography")

import rtmfp             # noqa: E402
import rtmfp_flow as fl  # noqa: E402
import rtmfp_wire as w   # noqa: E402
from procs import ROOT   # noqa: E402

ALWAYS, MAY, ASK = 4, 2, 1
VECTORS = os.path.join(ROOT, "test", "unit", "rtmfp_vectors.h")


def pair(loss=0.0, seed=1, static=False, group=2, asks=(w.NONE, w.NONE), answers=(w.NONE, w.NONE)):
    """An open session between two endpoints: (clock, ends, initiator's, responder's)."""
    clock = rtmfp.Clock()
    a = rtmfp.Endpoint(rtmfp.Identity(static, group, False, *asks), clock=clock, loss=loss, seed=seed)
    b = rtmfp.Endpoint(rtmfp.Identity(False, group, False, *answers), clock=clock, loss=loss, seed=seed + 100)
    o = a.connect([b.address], w.to_peer(b.identity.peer_id))
    assert rtmfp.run_together(clock, [a, b], lambda: o.session and b.sessions)
    return clock, [a, b], o.session, next(iter(b.sessions.values()))


def talk(clock, ends, near, far, seed=1):
    """Messages both ways, the answer on an associated flow; all arrive once and in order."""
    rng = random.Random(seed)
    there = [rng.randbytes(n) for n in (1, 10000, 0, 1191)]
    back = [rng.randbytes(n) for n in (20, 5000)]
    got, returned = [], []
    flow = near.flow(fl.tc(0))
    far.on_message = lambda f, m: got.append((f.metadata, m))
    near.on_message = lambda f, m: returned.append((f.answers, m))
    for m in there:
        flow.send(m)
    assert rtmfp.run_together(clock, ends, lambda: len(got) == len(there))
    answer = far.flow(fl.tc(0), answers=flow.id)
    for m in back:
        answer.send(m)
    flow.close()
    answer.close()
    assert rtmfp.run_together(clock, ends, lambda: flow.done and answer.done)
    assert got == [(b"TC\x04\0", m) for m in there]
    assert returned == [(flow.id, m) for m in back]
    assert all(f.is_done for s in (near, far) for f in s.far_flows.values())


SECURED = (w.Wish(ASK | MAY, 10), w.Wish(ASK | MAY, 0))


@pytest.mark.parametrize("static, group, wish", [
    (True, 2, (w.NONE, w.NONE)), (False, 5, (w.NONE, w.NONE)), (False, 14, SECURED),
    (True, 2, SECURED), (False, 2, (w.NONE, SECURED[1])), (False, 2, (SECURED[0], w.NONE))])
def test_two_clients_speak(static, group, wish):
    """With and without HMAC and sequence numbers, without loss and with a tenth lost."""
    for seed, loss in ((1, 0.0), (2, 0.1), (3, 0.1)):
        clock, ends, near, far = pair(loss, seed, static, group, wish, wish)
        assert near.tx.mac_size == far.rx.mac_size == far.tx.mac_size == wish[0].size
        assert near.tx.numbered == far.rx.numbered == bool(wish[1].flags)
        assert far.peer_id == ends[0].identity.peer_id and near.peer_id == ends[1].identity.peer_id
        talk(clock, ends, near, far, seed)
        assert bool(loss) == any(e.lost for e in ends) and not any(e.bad for e in ends)
        near.ping(b"are you there")
        if not loss:
            assert rtmfp.run_together(clock, ends, lambda: near.pongs)
            assert near.pongs == [b"are you there"]
            near.close()
            assert rtmfp.run_together(clock, ends, lambda: not far.is_open)
        for e in ends:
            e.close()


def test_a_client_moves():
    """Its session follows only after a ping to the new address was answered from there."""
    clock, ends, near, far = pair()
    old = far.address
    ends[0].rebind()
    near.ping()
    assert rtmfp.run_together(clock, ends, lambda: far.address != old)
    assert far.address == ends[0].address
    talk(clock, ends, near, far)
    for e in ends:
        e.close()


def test_a_session_of_a_wrong_cookie_is_not_there():
    clock, ends, near, far = pair()
    cookie = ends[1].cookie(("127.0.0.1", 9))
    asked, far_count = rtmfp.Opening(ends[0], [], b"", 7), len(ends[1].sessions)
    ends[0].openings[7] = asked
    asked.tag = os.urandom(16)
    asked.on_rhello(cookie[:-1] + bytes([cookie[-1] ^ 1]), ends[1].identity.certificate, ends[1].address)
    changed = asked.cookie
    assert rtmfp.run_together(clock, ends, lambda: asked.session), "a cookie for another address is not replaced"
    assert asked.cookie != changed and len(ends[1].sessions) == far_count + 1
    for e in ends:
        e.close()


def test_examples():
    """Those of the RFC: ranges, bitmap, user data and the next."""
    ack = fl.Ack(w.ACK_RANGES, bytes.fromhex("057f1000000103"))
    assert (ack.flow, ack.room) == (5, 127 * 1024)
    assert [n for n in range(40) if n in ack] == [*range(17), 18, *range(21, 25)]
    bits = fl.Ack(w.ACK_BITS, bytes.fromhex("057f10") + bytes([0b01111001, 0b00000001]))
    assert [n for n in range(17, 40) if n in bits] == [18, 21, 22, 23, 24, 26]
    f = fl.OutFlow(2, b"")
    f.known, f.last = True, 4
    f.send(b"\0\1\2")
    f.send(b"\3\4\5")
    f.queue.insert(0, fl.Fragment(3, 0, b""))  # so FSN is 2
    assert f.user_data(f.queue[1]).hex() == "10000700020503000102"
    assert f.user_data(f.queue[2], f.queue[1]).hex() == "11000400030405"
    for v in (0, 127, 128, 16383, 16384, 2 ** 64 - 1):
        assert w.Reader(w.vlu(v)).vlu() == v
    with pytest.raises(ValueError):
        w.Reader(b"\x82" + b"\x80" * 8 + b"\0").vlu()


def vectors():
    """The tables of the header: rows of numbers and texts in their order."""
    with open(VECTORS, encoding="ascii") as f:
        text = re.sub(r'"\s*"', "", re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S))
    return {name: re.findall(r'"([0-9a-f]*)"|\b(-?0x[0-9a-f]+|-?\d+|true|false)\b', body)
            for name, body in re.findall(r"(vector_\w+)\[\] = \{(.*?)\n\};", text, re.S)}


def test_vectors():
    """Secrets, keys and datagrams that the unit tests' script computed in a third way."""
    tables = vectors()
    secrets = tables["vector_secrets"]
    for i in range(0, len(secrets), 6):
        group = int(secrets[i][1])
        x, y, public_x, public_y, z = (bytes.fromhex(c[0]) for c in secrets[i + 1:i + 6])
        p = w.Pair(group, int.from_bytes(x, "big"))
        assert p.public == public_x and p.secret(public_y) == z
    rows = [bytes.fromhex(c[0]) for c in tables["vector_keys"]]
    assert len(rows) % 9 == 0
    for i in range(0, len(rows), 9):
        assert list(w.keys(*rows[i:i + 3])) == rows[i + 3:i + 9]
    check_datagrams(w.keys(*rows[:3]))


def check_datagrams(keys):
    with open(VECTORS, encoding="ascii") as f:
        text = re.sub(r'"\s*"', "", f.read()).split("vector_datagrams[]")[-1]
    text = text.split("= {", 1)[-1]
    found = re.findall(r'\{ (-?\d), (\d+), (true|false), (true|false), UINT64_C\((\d+)\), 0x([0-9a-f]+),\s*'
                       r'"([0-9a-f]*)",\s*"([0-9a-f]*)" \}', text)
    assert len(found) > 10
    for side, size, numbered, high, number, ident, plain, datagram in found:
        key, mac_key = {"-1": (w.DEFAULT_KEY, b""), "0": (keys.i2r, keys.mac_i2r),
                        "1": (keys.r2i, keys.mac_r2i)}[side]
        way = w.Way(key, mac_key, int(size), numbered == "true")
        way.next, plain, datagram = int(number), bytes.fromhex(plain), bytes.fromhex(datagram)
        assert way.seal(int(ident, 16), plain, high == "true") == datagram
        assert w.ident_of(datagram) == int(ident, 16)
        assert w.Way(key, mac_key, int(size), numbered == "true").open(datagram)[:len(plain)] == plain
