# SPDX-License-Identifier: MIT
"""AMF0 encoder and decoder, written independently of the server so that a shared mistake cannot hide."""
import struct


class Undefined:
    def __repr__(self):
        return "undefined"


UNDEFINED = Undefined()


class EcmaArray(dict):
    """An object encoded as an ECMA array (onMetaData)."""


class Typed:
    """Raw bytes, inserted unchanged: for invalid values."""

    def __init__(self, raw):
        self.raw = raw


def _utf8(text):
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack(">H", len(raw)) + raw


def encode(*values):
    return b"".join(_encode(v) for v in values)


def _encode(v):
    if isinstance(v, Typed):
        return v.raw
    if v is None:
        return b"\x05"
    if v is UNDEFINED:
        return b"\x06"
    if isinstance(v, bool):
        return b"\x01" + bytes([v])
    if isinstance(v, (int, float)):
        return b"\x00" + struct.pack(">d", v)
    if isinstance(v, (str, bytes)):
        raw = v.encode() if isinstance(v, str) else v
        if len(raw) > 0xffff:
            return b"\x0c" + struct.pack(">I", len(raw)) + raw
        return b"\x02" + _utf8(raw)
    if isinstance(v, EcmaArray):
        return b"\x08" + struct.pack(">I", len(v)) + _members(v)
    if isinstance(v, dict):
        return b"\x03" + _members(v)
    if isinstance(v, (list, tuple)):
        return b"\x0a" + struct.pack(">I", len(v)) + encode(*v)
    raise TypeError(f"no AMF0 for {v!r}")


def _members(d):
    return b"".join(_utf8(k) + _encode(v) for k, v in d.items()) + b"\x00\x00\x09"


def decode(data):
    """Returns all values of a message body; raises ValueError if it is truncated or invalid."""
    out, pos = [], 0
    while pos < len(data):
        value, pos = _decode(data, pos, 0)
        out.append(value)
    return out


def _take(data, pos, n):
    if pos + n > len(data):
        raise ValueError(f"AMF0 ends at {len(data)}, wanted {pos + n}")
    return data[pos:pos + n], pos + n


def _decode(data, pos, depth):
    if depth > 32:
        raise ValueError("AMF0 is nested too deep")
    marker, pos = _take(data, pos, 1)
    m = marker[0]
    if m == 0:
        raw, pos = _take(data, pos, 8)
        return struct.unpack(">d", raw)[0], pos
    if m == 1:
        raw, pos = _take(data, pos, 1)
        return raw != b"\0", pos
    if m in (2, 12):
        raw, pos = _take(data, pos, 2 if m == 2 else 4)
        raw, pos = _take(data, pos, int.from_bytes(raw, "big"))
        return raw.decode(errors="replace"), pos
    if m in (3, 8):
        if m == 8:
            _, pos = _take(data, pos, 4)
        return _decode_members(data, pos, depth, {} if m == 3 else EcmaArray())
    if m == 5:
        return None, pos
    if m == 6:
        return UNDEFINED, pos
    if m == 10:
        raw, pos = _take(data, pos, 4)
        items = []
        for _ in range(int.from_bytes(raw, "big")):
            item, pos = _decode(data, pos, depth + 1)
            items.append(item)
        return items, pos
    if m == 11:
        raw, pos = _take(data, pos, 10)
        return struct.unpack(">d", raw[:8])[0], pos
    raise ValueError(f"AMF0 marker {m} at {pos - 1}")


def _decode_members(data, pos, depth, into):
    while True:
        raw, pos = _take(data, pos, 2)
        key, pos = _take(data, pos, int.from_bytes(raw, "big"))
        if not key:
            end, pos = _take(data, pos, 1)
            if end != b"\x09":
                raise ValueError("AMF0 object without its end")
            return into, pos
        into[key.decode(errors="replace")], pos = _decode(data, pos, depth + 1)
