/* SPDX-License-Identifier: MIT */
/* handshake.c - the RTMP handshake, over memory and over a pipe: echoes, digests, random bytes. */
#include "proto/rtmp/handshake.h"

#include "base/must.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 3, VERSION_ENCRYPTED = 6, DIGEST = 32, PART = RTMP_HANDSHAKE_PART };

/* Public constants: a name keys the digests of C1 and S1; name and salt key those of C2 and S2. */
static const uint8_t salt[32] = {
    0xf0, 0xee, 0xc2, 0x4a, 0x80, 0x68, 0xbe, 0xe8, 0x2e, 0x00, 0xd0, 0xd1, 0x02, 0x9e, 0x7e, 0x57,
    0x6e, 0xec, 0x5d, 0x2d, 0x29, 0x80, 0x6f, 0xab, 0x93, 0xb8, 0xe6, 0x36, 0xcf, 0xeb, 0x31, 0xae,
};
static const char player_name[] = "Genuine Adobe Flash Player 001";
static const char server_name[] = "Genuine Adobe Flash Media Server 001";

static const uint8_t player_version[4] = { 9, 0, 124, 2 };
/* From version 3 on, clients check the server's digests. */
static const uint8_t server_version[4] = { 4, 5, 0, 1 };

static err_t random_bytes(uint8_t *out, int size)
{
    return RAND_bytes(out, size) == 1 ? NULL : err_new(ERR_SYSTEM, "no random bytes");
}

static void hmac(const void *key, size_t key_size, const uint8_t *data, size_t size, uint8_t *out)
{
    unsigned n = DIGEST;

    HMAC(EVP_sha256(), key, (int)key_size, data, size, out, &n);
}

/* Computes the digest of C1 or S1, over all its bytes except the digest itself. */
static void digest_part(const uint8_t *part, size_t at, bool from_server, uint8_t *out)
{
    const char *name = from_server ? server_name : player_name;
    uint8_t joined[PART - DIGEST];

    memcpy(joined, part, at);
    memcpy(joined + at, part + at + DIGEST, PART - DIGEST - at);
    hmac(name, strlen(name), joined, sizeof(joined), out);
}

/* The sum of four bytes gives the position of the digest in the rest of its block. */
static size_t digest_offset(const uint8_t *part, enum rtmp_scheme scheme)
{
    size_t block = scheme == RTMP_SCHEME_KEY_FIRST ? 8 + 764 : 8;
    size_t sum = (size_t)part[block] + part[block + 1] + part[block + 2] + part[block + 3];

    return block + 4 + sum % (764 - 4 - DIGEST);
}

enum rtmp_scheme rtmp_handshake_scheme(const uint8_t *part, bool from_server)
{
    static const enum rtmp_scheme schemes[] = { RTMP_SCHEME_KEY_FIRST, RTMP_SCHEME_DIGEST_FIRST };
    static const uint8_t no_version[4];

    if (memcmp(part + 4, no_version, 4) == 0) /* zeros: a simple peer, [RTMP 5.2.3] */
        return RTMP_SCHEME_SIMPLE;
    for (size_t i = 0; i < 2; i++) {
        size_t at = digest_offset(part, schemes[i]);
        uint8_t want[DIGEST];

        digest_part(part, at, from_server, want);
        if (memcmp(part + at, want, DIGEST) == 0)
            return schemes[i];
    }
    return RTMP_SCHEME_SIMPLE;
}

/* Writes C1 or S1. */
static err_t first_part(enum rtmp_scheme scheme, bool from_server, uint8_t *out)
{
    err_t err = random_bytes(out, PART);
    size_t at;

    if (err)
        return err;
    memset(out, 0, 8); /* our epoch is 0 */
    if (scheme == RTMP_SCHEME_SIMPLE)
        return NULL;
    memcpy(out + 4, from_server ? server_version : player_version, 4);
    at = digest_offset(out, scheme);
    digest_part(out, at, from_server, out + at);
    return NULL;
}

/* Writes the digest of C2 or S2. Its key derives from the digest in the peer's first part. */
static void digest_answer(const uint8_t *peer_digest, bool from_server, const uint8_t *answer,
                          uint8_t *out)
{
    const char *name = from_server ? server_name : player_name;
    size_t size = strlen(name);
    uint8_t secret[sizeof(server_name) + sizeof(salt)], key[DIGEST];

    memcpy(secret, name, size);
    memcpy(secret + size, salt, sizeof(salt));
    hmac(secret, size + sizeof(salt), peer_digest, DIGEST, key);
    hmac(key, DIGEST, answer, PART - DIGEST, out);
}

/* Writes C2 or S2, in response to the peer's first part. */
static err_t second_part(const uint8_t *peer, enum rtmp_scheme scheme, bool from_server,
                         uint8_t *out)
{
    err_t err;

    if (scheme == RTMP_SCHEME_SIMPLE) { /* an exact echo: old clients compare all bytes */
        memcpy(out, peer, PART);
        return NULL;
    }
    err = random_bytes(out, PART - DIGEST);
    if (err)
        return err;
    digest_answer(peer + digest_offset(peer, scheme), from_server, out, out + PART - DIGEST);
    return NULL;
}

static err_t check_version(uint8_t c0)
{
    switch (c0) {
    case VERSION:
        return NULL;
    case VERSION_ENCRYPTED:
        return err_new(ERR_RTMP_PLAIN, "peer requests encrypted RTMP (rtmpe); use rtmp or rtmps");
    case 0x16:
        return err_new(ERR_RTMP_HANDSHAKE, "TLS on the port of plain rtmp");
    case 'G': case 'P': case 'H': case 'O': case 'D':
        return err_new(ERR_RTMP_HANDSHAKE, "HTTP on the port of rtmp");
    default:
        return err_new(ERR_RTMP_HANDSHAKE, "first byte is 0x%02x, expected 0x03", c0);
    }
}

err_t rtmp_handshake_s0s1s2(const uint8_t *c0c1, uint8_t *out, enum rtmp_scheme *scheme)
{
    err_t err = check_version(c0c1[0]);
    enum rtmp_scheme found;

    if (err)
        return err;
    found = rtmp_handshake_scheme(c0c1 + 1, false);
    if (scheme)
        *scheme = found;
    out[0] = VERSION;
    err = first_part(found, true, out + 1);
    if (err)
        return err;
    return second_part(c0c1 + 1, found, true, out + 1 + PART);
}

err_t rtmp_handshake_c0c1(enum rtmp_scheme scheme, uint8_t *out)
{
    out[0] = VERSION;
    return first_part(scheme, false, out + 1);
}

err_t rtmp_handshake_c2(const uint8_t *s1, enum rtmp_scheme scheme, uint8_t *out)
{
    return second_part(s1, scheme, false, out);
}

bool rtmp_handshake_s2_ok(const uint8_t *c1, const uint8_t *s2)
{
    enum rtmp_scheme scheme = rtmp_handshake_scheme(c1, false);
    uint8_t want[DIGEST];

    if (scheme == RTMP_SCHEME_SIMPLE)
        return memcmp(c1, s2, PART) == 0;
    digest_answer(c1 + digest_offset(c1, scheme), true, s2, want);
    return memcmp(s2 + PART - DIGEST, want, DIGEST) == 0;
}

/* ---- the RTMP handshake over a pipe
 * The buffers are on the heap: a coroutine's stack is small, and pages that it touched stay
 * allocated. */

static uint8_t *buffer(size_t size)
{
    uint8_t *p = must(malloc(size));

    return p;
}

/* Reads C0 first, so garbage is refused at its first byte, not after 1537 bytes or a timeout. */
static err_t read_c0c1(struct io *io, uint8_t *c0c1)
{
    size_t n;
    err_t err = io_read(io, c0c1, RTMP_HANDSHAKE_C0C1, &n);

    if (err)
        return err_wrap(err, "C0");
    if (c0c1[0] != 3 || n == RTMP_HANDSHAKE_C0C1)
        return NULL; /* the caller reports what is wrong when it builds the response */
    err = io_read_full(io, c0c1 + n, RTMP_HANDSHAKE_C0C1 - n);
    return err ? err_wrap(err, "C1") : NULL;
}

static err_t answer(struct io *io, const uint8_t *c0c1)
{
    uint8_t *out = buffer(RTMP_HANDSHAKE_S0S1S2);
    err_t err = rtmp_handshake_s0s1s2(c0c1, out, NULL);

    if (!err) {
        err = io_write(io, out, RTMP_HANDSHAKE_S0S1S2);
        if (err)
            err = err_wrap(err, "S0 S1 S2");
    }
    free(out);
    return err;
}

err_t rtmp_handshake_server(struct io *io)
{
    uint8_t *in = buffer(RTMP_HANDSHAKE_C0C1);
    err_t err = read_c0c1(io, in);

    if (!err)
        err = answer(io, in);
    if (!err) { /* C2 is not checked */
        err = io_read_full(io, in, RTMP_HANDSHAKE_PART);
        if (err)
            err = err_wrap(err, "C2");
    }
    free(in);
    return err ? err_wrap(err, "handshake") : NULL;
}

static err_t client(struct io *io, uint8_t *buf)
{
    err_t err = rtmp_handshake_c0c1(RTMP_SCHEME_SIMPLE, buf);

    if (err)
        return err;
    err = io_write(io, buf, RTMP_HANDSHAKE_C0C1);
    if (err)
        return err_wrap(err, "C0 C1");
    err = io_read_full(io, buf, RTMP_HANDSHAKE_C0C1);
    if (err)
        return err_wrap(err, "S0 S1");
    if (buf[0] != 3)
        return err_new(ERR_RTMP_HANDSHAKE, "server's first byte is 0x%02x, expected 0x03", buf[0]);
    err = io_write(io, buf + 1, RTMP_HANDSHAKE_PART); /* the echo of S1 */
    if (err)
        return err_wrap(err, "C2");
    err = io_read_full(io, buf, RTMP_HANDSHAKE_PART);
    return err ? err_wrap(err, "S2") : NULL;
}

err_t rtmp_handshake_client(struct io *io)
{
    uint8_t *buf = buffer(RTMP_HANDSHAKE_C0C1);
    err_t err = client(io, buf);

    free(buf);
    return err ? err_wrap(err, "handshake") : NULL;
}
