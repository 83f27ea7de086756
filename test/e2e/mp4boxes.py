# SPDX-License-Identifier: MIT
"""Takes MP4 files apart box by box and puts them together wrongly."""
import struct

CONTAINERS = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"moof", b"traf", b"mvex", b"dinf")


def box(kind, body=b"", size=None, large=None):
    """`size`: the size to claim; `large`: a 64-bit size, with size 1."""
    if large is not None:
        return struct.pack(">I4sQ", 1, kind, large) + body
    return struct.pack(">I4s", 8 + len(body) if size is None else size, kind) + body


def walk(data, at=0, end=None):
    """Yields (kind, position, size) of each box, nested boxes included."""
    end = len(data) if end is None else end
    while at + 8 <= end:
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        size = size if size >= 8 else end - at
        yield kind, at, size
        if kind in CONTAINERS:
            yield from walk(data, at + 8, min(at + size, end))
        at += size


def find(data, kind):
    return [(at, size) for k, at, size in walk(data) if k == kind]


def patched(data, kind, offset, value):
    """Returns the file with `value` at this offset of the body of each box of the kind."""
    out = bytearray(data)
    places = find(data, kind)
    assert places, f"no {kind}"
    for at, _ in places:
        out[at + 8 + offset:at + 8 + offset + len(value)] = value
    return bytes(out)


def all_of(data, kind, offset, value, width=4, head=8):
    """Each entry of the tables of a kind, which begin with version, flags and count."""
    out = bytearray(data)
    for at, size in find(data, kind):
        for p in range(at + 8 + head + offset, at + size - len(value) + 1, width):
            out[p:p + len(value)] = value
    return bytes(out)


def resized(data, kind, size=None, large=None):
    """Changes the size that a box claims. A large size takes 8 bytes of the body."""
    out = bytearray(data)
    at, _ = find(data, kind)[0]
    out[at:at + 4] = struct.pack(">I", 1 if large is not None else size)
    if large is not None:
        out[at + 8:at + 16] = struct.pack(">Q", large)
    return bytes(out)


U32 = struct.Struct(">I").pack
MOST = b"\xff" * 4


def broken(front, fragments):
    """Returns {name: bytes}: `front` has its moov in front, `fragments` consists of fragments."""
    moov, moov_size = find(front, b"moov")[0]
    deep = b""
    for _ in range(40):
        deep = box(b"trak", deep)
    wide = box(b"moov", box(b"trak") * 20000)
    half = len(fragments) // 2
    return {
        "empty": b"",
        "short": b"\0\0\0",
        "only-ftyp": box(b"ftyp", b"isom\0\0\0\0isom"),
        "text": b"not a film\n" * 500,
        "zeros": bytes(100000),
        "moov-cut": front[:moov + moov_size // 2],
        "moov-head-only": front[:moov + 8],
        "moov-size-0": resized(front, b"moov", 0),
        "moov-size-1": resized(front, b"moov", 1),
        "moov-size-7": resized(front, b"moov", 7),
        "moov-size-most": resized(front, b"moov", 0xffffffff),
        "moov-size-64": resized(front, b"moov", large=1 << 63),
        "moov-size-64-2": resized(front, b"moov", large=(1 << 64) - 1),
        "trak-size-0": resized(front, b"trak", 0),
        "stbl-size-most": resized(front, b"stbl", 0x7fffffff),
        "deep": box(b"ftyp", b"isom\0\0\0\0") + box(b"moov", deep) + front[moov + moov_size:],
        "wide": box(b"ftyp", b"isom\0\0\0\0") + wide,
        "no-track": box(b"ftyp", b"isom\0\0\0\0") + box(b"moov", box(b"mvhd", bytes(100))),
        "timescale-0": patched(patched(front, b"mdhd", 12, bytes(4)), b"mvhd", 12, bytes(4)),
        "stts-rows": patched(front, b"stts", 4, MOST),
        "stsz-rows": patched(front, b"stsz", 8, MOST),
        "stsz-rows-one-size": patched(patched(front, b"stsz", 8, MOST), b"stsz", 4, U32(1)),
        "stco-rows": patched(front, b"stco", 4, MOST),
        "stsc-rows": patched(front, b"stsc", 4, MOST),
        "stss-rows": patched(front, b"stss", 4, MOST),
        "stts-one-row-of-all": all_of(front, b"stts", 0, MOST, 8),
        "stts-deltas-most": all_of(front, b"stts", 4, MOST, 8),
        "stsc-chunks-most": all_of(front, b"stsc", 4, MOST, 12),
        "sizes-most": all_of(front, b"stsz", 0, MOST, 4, 12),
        "sizes-2g": all_of(front, b"stsz", 0, U32(1 << 31), 4, 12),
        "samples-outside": all_of(front, b"stco", 0, U32(0xfffffff0), 4),
        "samples-in-moov": all_of(front, b"stco", 0, U32(moov), 4),
        "no-samples": patched(patched(front, b"stsz", 8, bytes(4)), b"stts", 4, bytes(4)),
        "stsd-rows": patched(front, b"stsd", 4, MOST),
        "stsd-garbage": all_of(front, b"stsd", 0, b"\xa5\x5a\xff\x00", 4),
        "avcc-garbage": front.replace(b"avcC\x01", b"avcC\xff"),
        "mdat-cut": front[:moov + moov_size + (len(front) - moov - moov_size) // 3],
        "no-mdat": front[:moov + moov_size],
        "trun-rows": patched(fragments, b"trun", 4, MOST),
        "trun-flags": patched(fragments, b"trun", 0, b"\0\xff\xff\xff"),
        "tfhd-track": patched(fragments, b"tfhd", 4, U32(77)),
        "tfdt-most": patched(fragments, b"tfdt", 4, b"\xff" * 8),
        "moof-size-0": resized(fragments, b"moof", 0),
        "fragment-cut": fragments[:half],
        "fragment-noise": fragments[:half] + bytes((i * 37 + 11) & 255 for i in range(200000)),
    }


def broken_flv(good):
    """Returns {name: bytes} of broken FLV files with an index of key frames."""
    second = 13 + 11 + int.from_bytes(good[14:17], "big") + 4
    at = good.find(b"filepositions")
    return {
        "flv-empty": good[:9],
        "flv-13": good[:13],
        "flv-cut-in-tag": good[:len(good) // 2 + 3],
        "flv-size-most": good[:14] + b"\xff\xff\xff" + good[17:],
        "flv-second-most": good[:second + 1] + b"\xff\xff\xff" + good[second + 4:],
        "flv-noise": good[:13] + bytes((i * 31 + 7) & 255 for i in range(50000)),
        "flv-offset": good[:5] + b"\xff\xff\xff\xff" + good[9:],
        "flv-index-outside": good[:at] + good[at:at + 4000].replace(b"\x00\x41", b"\x00\x7e") + good[at + 4000:] if at > 0 else good[:9],
        "flv-types": good[:13] + bytes([255]) + good[14:],
        "flv-zero-tags": good[:13] + bytes(60000),
    }
