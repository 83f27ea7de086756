#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the fuzzer of MP4 files: seeds_demux_mp4.py test/fuzz/corpus"""
import struct
import sys
from pathlib import Path

AVCC = bytes.fromhex("0164000cffe100196764000cacd941419f9f016c8000000300800000190"
                     "78a14cb01000668ebe3cb22c0")
ESDS = bytes.fromhex("00000000038080801900010004808080114015" + "00" * 11 + "05021190")
WAVE = struct.pack(">I8s", 12, b"frmamp4a") + struct.pack(">I4s", 8 + len(ESDS), b"esds") + ESDS
FTYP = struct.pack(">I12s", 16, b"ftypisom\0\0\0\0")


def box(kind, *body):
    data = b"".join(body)
    return struct.pack(">I", len(data) + 8) + kind.encode() + data


def full(kind, *body, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags), *body)


def words(*v):
    return b"".join(struct.pack(">I", x & 0xffffffff) for x in v)


def table(kind, *rows):
    return full(kind, words(len(rows)), *(words(*r) for r in rows))


def description(audio, entry="", config=b"", version=0):
    if audio:
        return full("stsd", words(1), box(entry or "mp4a", bytes(9), bytes([version]), bytes(18), config or box("esds", ESDS)))
    return full("stsd", words(1), box(entry or "avc1", bytes(78), config or box("avcC", AVCC)))


def trak(audio, stbl, scale, edits=()):
    elst = box("edts", full("elst", words(len(edits)), *(words(*e, 0x10000) for e in edits)))
    return box("trak", full("tkhd", bytes(8), words(2 if audio else 1), bytes(68), flags=1),
               elst if edits else b"",
               box("mdia", full("mdhd", bytes(8), words(scale), bytes(8)),
                   full("hdlr", bytes(4), b"soun" if audio else b"vide", bytes(13)),
                   box("minf", box("stbl", stbl))))


def moov(*traks):
    return box("moov", full("mvhd", bytes(8), words(1000), bytes(84)), *traks)


def stbl(audio, n, size, at, more=b"", sizes=b"", chunks=b"", kind=b""):
    return ((kind or description(audio)) + table("stts", (n, 1))
            + (sizes or full("stsz", words(0, n), words(*[size] * n)))
            + table("stsc", (1, n // 2, 1), (2, n - n // 2, 1))
            + (chunks or table("stco", (at,), (at + n // 2 * size,))) + more)


def tables(video=b"", audio=b"", edits=(), **more):
    mdat = box("mdat", bytes(20 * 9 + 40 * 3))
    at = len(FTYP) + 8
    keys = table("stss", (1,), (6,), (11,), (16,))
    return FTYP + mdat + moov(trak(False, stbl(False, 20, 9, at, keys + video, **more), 5, edits),
                              trak(True, stbl(True, 40, 3, at + 180, audio), 10))


def trex(number):
    return full("trex", words(number, 1, 1, 0, 0))


def fragment(begin, base=0x20000, offset=True, tfdt=True):
    def made(at):
        video = box("traf", full("tfhd", words(1), flags=base),
                    full("tfdt", words(begin)) if tfdt else b"",
                    full("trun", words(5, at) if offset else words(5),
                         *(words(1, 9, 0x10000 if i else 0, i % 3) for i in range(5)),
                         version=1, flags=0xf00 | int(offset)))
        audio = box("traf", full("tfhd", words(2, 3), flags=base | 0x10),
                    full("tfdt", words(begin * 2)) if tfdt else b"",
                    full("trun", words(10, at + 45) if offset else words(10),
                         flags=int(offset)))
        return box("moof", full("mfhd", words(1)), video, audio)
    return made(len(made(0)) + 8) + box("mdat", bytes(75))


EMPTY = (table("stts") + table("stsc") + full("stsz", words(0, 0)) + table("stco"))
INIT = FTYP + box("moov", trak(False, description(False) + EMPTY, 5),
                  trak(True, description(True) + EMPTY, 10), box("mvex", trex(1), trex(2)))


def hybrid():
    file = tables()
    at = file.index(b"moov") - 4
    body = file[at + 8:] + box("mvex", trex(1), trex(2))
    return file[:at] + box("moov", body) + fragment(20) + fragment(25)


def sidx(file):
    refs = [len(fragment(0))] * 4
    return file + full("sidx", words(1, 5, 0, 0, len(refs)),
                       *(words(r, 5, 0x90000000) for r in refs))


def mfra(file):
    at, rows = len(INIT), []
    while at < len(file):
        rows.append(struct.pack(">IIBBB", len(rows) * 5, at, 1, 1, 1))
        at += len(fragment(0))
    tfra = full("tfra", words(1, 0, len(rows)), *rows)
    return file + box("mfra", tfra, full("mfro", words(len(tfra) + 24)))


FRAGMENTS = INIT + b"".join(fragment(i * 5) for i in range(4))

SEEDS = {
    "tables": tables(),
    "tables_of_many_kinds": tables(table("ctts", (19, 2), (1, -1)), edits=((500, -1), (9000, 2)),
                                   sizes=full("stz2", words(8, 20), bytes([9] * 20)),
                                   chunks=table("co64", (0, 24), (0, 114))),
    "one_size": tables(sizes=full("stsz", words(9, 20))),
    "halves": tables(sizes=full("stz2", words(4, 20), bytes([0x99] * 10))),
    "audio": FTYP + box("mdat", bytes(120)) + moov(trak(True, stbl(True, 40, 3, 24), 10)),
    "quicktime": FTYP + box("mdat", bytes(120)) + moov(trak(True, stbl(
        True, 40, 3, 24, kind=description(True, config=bytes(16) + box("wave", WAVE), version=1)), 10)),
    "opus": FTYP + box("mdat", bytes(120)) + moov(trak(True, stbl(
        True, 40, 3, 24, kind=description(True, "Opus", box(
            "dOps", bytes.fromhex("0002013800000bb80000000000")))), 10)),
    "fragments": FRAGMENTS,
    "fragments_by_order": INIT + b"".join(fragment(0, 0, False, False) for i in range(3)),
    "fragments_behind": hybrid(),
    "fragments_listed": INIT[:len(FTYP)] + INIT[len(FTYP):] + sidx(b"") + FRAGMENTS[len(INIT):],
    "fragments_listed_behind": mfra(FRAGMENTS),
    "cut": FRAGMENTS[:-20],
    "deep": FTYP + box("moov", box("trak", box("mdia", box("minf", box("stbl", box("stbl")))))),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) / "demux_mp4"
    folder.mkdir(parents=True, exist_ok=True)
    for text, data in SEEDS.items():
        (folder / text).write_bytes(data)
