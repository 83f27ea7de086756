#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write test/unit/rtmfp_vectors.h: keys, secrets, datagrams of RTMFP computed a second way, from
RFC 7425 sections 4.1 to 4.7, by Python's integers and `cryptography`. Run from the top folder."""
from hashlib import sha256

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hmac import HMAC

PI = {  # RFC 2409 and 3526: p = 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) * pi) + k)
    2: (1024, 129093), 5: (1536, 741804), 14: (2048, 124476),
}


def pi_bits(bits):
    """floor(pi * 2^bits), by Machin."""
    one = 1 << (bits + 64)

    def arctan(x):
        term = total = one // x
        n, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total
    return 4 * (4 * arctan(5) - arctan(239)) >> 64


def prime(group):
    n, k = PI[group]
    return 2 ** n - 2 ** (n - 64) - 1 + 2 ** 64 * (pi_bits(n - 130) + k)


def some(name, size):
    """Bytes that are always the same."""
    out = b""
    while len(out) < size:
        out += sha256(f"rtmfp {name} {len(out)}".encode()).digest()
    return out[:size]


def hmac(key, text):
    h = HMAC(key, hashes.SHA256())
    h.update(text)
    return h.finalize()


def bare(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def vlu(v):
    out = bytes([v & 127])
    while v := v >> 7:
        out = bytes([128 | v & 127]) + out
    return out


def checksum(data, odd_is_high):
    if len(data) % 2:
        data = data + b"\0" if odd_is_high else data[:-1] + b"\0" + data[-1:]
    total = sum(data[i] << 8 | data[i + 1] for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return (total ^ 0xffff).to_bytes(2, "big")


def datagram(key, mac_key, size, number, ident, plain, odd_is_high=False):
    """size: bytes of HMAC, 0: a checksum. number: None, or that of the packet."""
    head = b"" if number is None else vlu(number)
    fill = -(len(head) + (0 if size else 2) + len(plain)) % 16
    body = plain + b"\xff" * fill
    text = head + (b"" if size else checksum(body, odd_is_high)) + body
    encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    packet = encryptor.update(text) + encryptor.finalize()
    ident ^= int.from_bytes(packet[:4], "big") ^ int.from_bytes(packet[4:8], "big")
    return ident.to_bytes(4, "big") + packet + hmac(mac_key, packet)[:size]


out = []


def put(line=""):
    out.append(line)


def put_hex(data, end):
    text = data.hex()
    for i in range(0, len(text), 88):
        last = i + 88 >= len(text)
        put(f'      "{text[i:i + 88]}"' + (end if last else ""))
    if not text:
        put(f'      ""{end}')


put("/* SPDX-License-Identifier: MIT */")
put("/* rtmfp_vectors.h - keys, secrets and datagrams, by rtmfp_vectors.py. */")
put("#ifndef RTMFP_VECTORS_H\n#define RTMFP_VECTORS_H\n")
put("#include <stdbool.h>\n#include <stdint.h>\n")

put("/* Exponents, both public keys, the secret without zeros in front, as hex. */")
put("static const struct {\n    unsigned group;\n    const char *x, *y, *public_x, *public_y, *z;")
put("} vector_secrets[] = {")
for group, size, count in ((2, 28, 2), (5, 30, 1), (14, 40, 1)):
    p = prime(group)
    for i in range(count):
        x = int.from_bytes(some(f"x {group} {i}", size), "big")
        y = int.from_bytes(some(f"y {group} {i}", size), "big")
        while i == 1 and len(bare(pow(2, x * y, p))) == len(bare(p)):
            y += 1  # so that the secret is shorter than the group
        length = len(bare(p))
        put(f"    {{ {group},")
        put_hex(x.to_bytes(size, "big"), ",")
        put_hex(y.to_bytes(size, "big"), ",")
        put_hex(pow(2, x, p).to_bytes(length, "big"), ",")
        put_hex(pow(2, y, p).to_bytes(length, "big"), ",")
        put_hex(bare(pow(2, x * y, p)), " },")
put("};\n")

put("/* Secret and both components; keys of packets, of HMACs, and nonces: initiator's, responder's. */")
put("static const struct {\n    const char *z, *skic, *skrc, *aes[2], *mac[2], *nonce[2];")
put("} vector_keys[] = {")
for i, (zs, si, sr) in enumerate(((128, 76, 141), (127, 74, 11), (256, 1, 269), (1, 1024, 76),
                                  (64, 63, 64), (65, 65, 65))):
    z, skic, skrc = some(f"z {i}", zs), some(f"i {i}", si), some(f"r {i}", sr)
    keys = [hmac(z, hmac(skrc, skic)), hmac(z, hmac(skic, skrc))]
    put("    {")
    for data in (z, skic, skrc):
        put_hex(data, ",")
    put("      {")
    put_hex(keys[0][:16], ",")
    put_hex(keys[1][:16], " },")
    put("      {")
    put_hex(hmac(z, keys[0]), ",")
    put_hex(hmac(z, keys[1]), " },")
    put("      {")
    put_hex(hmac(z, skic), ",")
    put_hex(hmac(z, skrc), " } },")
put("};\n")

put("/* Datagrams: key i is the one above of row 0 of that side. number: that it has, if numbered. */")
put("static const struct {\n    int side; /* -1: the default key */\n    uint8_t hmac;\n    bool numbered, odd_is_high;")
put("    uint64_t number;\n    uint32_t id;\n    const char *plain, *datagram;\n} vector_datagrams[] = {")
z, skic, skrc = some("z 0", 128), some("i 0", 76), some("r 0", 141)
sides = [hmac(z, hmac(skrc, skic)), hmac(z, hmac(skic, skrc))]
for side, size, number, ident, length, high in (
        (-1, 0, None, 0, 35, False), (-1, 0, None, 0x80000001, 14, False),
        (0, 0, None, 1, 1, False), (1, 0, None, 0xffffffff, 13, False),
        (0, 0, 0, 7, 20, False), (0, 0, 0, 7, 20, True), (1, 0, 127, 7, 13, True),
        (1, 0, 128, 7, 20, False), (0, 0, 2 ** 64 - 2, 9, 40, False),
        (0, 4, None, 3, 16, False), (1, 10, None, 3, 17, False), (0, 16, 5, 3, 100, False),
        (1, 32, 2 ** 32, 3, 1192, False)):
    key = b"Adobe Systems 02" if side < 0 else sides[side][:16]
    mac = b"" if side < 0 else hmac(z, sides[side])
    plain = some(f"plain {side} {length}", length)
    numbered = "true" if number is not None else "false"
    put(f"    {{ {side}, {size}, {numbered}, {'true' if high else 'false'}, "
        f"UINT64_C({number or 0}), 0x{ident:x},")
    put_hex(plain, ",")
    put_hex(datagram(key, mac, size, number, ident, plain, high), " },")
put("};\n")
put("#endif")
with open("test/unit/rtmfp_vectors.h", "w") as f:
    f.write("\n".join(out) + "\n")
