/* SPDX-License-Identifier: MIT */
/* fuzz_stun.c - any bytes as STUN: read; then signed as the peer's, and ICE's answers
 * are read, too. */
#include "fuzz.h"
#include "proto/stun/ice.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

enum { NAME = 4 + 16, MAC = 24 };

static struct ice session = { .ufrag = "OURUFRAG", .pwd = "ourpasswordourpasswordourpasswor",
                              .peer_ufrag = "them" };
static co_usec now;

static void look(const uint8_t *data, size_t size, const struct ice_path *way)
{
    struct stun_message m, back;
    uint8_t out[STUN_MAX];
    size_t n;
    enum ice_result said;

    if (!stun_parse(&m, data, size))
        return;
    assert(m.n_unknown <= STUN_UNKNOWN_MAX && m.size == size && m.integrity_at < size);
    assert(!m.username || (const uint8_t *)m.username + m.username_size <= data + size);
    said = ice_input(&session, &m, way, now, out, &n);
    assert((said == ICE_DROPPED) == (n == 0) && n <= STUN_MAX);
    assert(n == 0 || (stun_parse(&back, out, n) && stun_is_of(&back, session.pwd)));
    assert(said != ICE_MOVED || ice_path(&session));
    assert(session.n <= ICE_PATHS && session.at < ICE_PATHS);
}

/* The same attributes after the right name, with a MAC: so they are parsed. */
static void look_signed(const uint8_t *data, size_t size, const struct ice_path *way)
{
    static const uint8_t head[] = "\0\x01\0\0\x21\x12\xa4\x42" "123456789012"
                                  "\0\x06\0\x0dOURUFRAG:them\0\0\0";
    uint8_t m[STUN_MAX];
    size_t n = STUN_HEADER + NAME;

    size &= ~(size_t)3;
    if (size > sizeof(m) - n - MAC)
        return;
    memcpy(m, head, n);
    memcpy(m + n, data, size);
    n += size;
    m[2] = (uint8_t)((n + MAC - STUN_HEADER) >> 8);
    m[3] = (uint8_t)(n + MAC - STUN_HEADER);
    memcpy(m + n, "\0\x08\0\x14", 4);
    (void)HMAC(EVP_sha1(), session.pwd, (int)strlen(session.pwd), m, n, m + n + 4, NULL);
    look(m, n + MAC, way);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ice_path way = { .link = size % 5 == 0 ? &session : NULL };

    way.path.peer.port = size > 0 ? data[size - 1] : 0;
    now += CO_MS(size % 7 == 0 ? 6000 : 100);
    look(data, size, &way);
    look_signed(data, size, &way);
    if (size > STUN_HEADER)
        look_signed(data + STUN_HEADER, size - STUN_HEADER, &way);
    if (size % 11 == 0)
        ice_forget(&session, &session);
    (void)ice_received(&session, &way, now);
    return 0;
}
