/* SPDX-License-Identifier: MIT */
/* message.c - parses and writes STUN messages, [STUN] RFC 8489 sections 5 and 14. */
#include "proto/stun/message.h"

#include "base/must.h"
#include "base/rd.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define COOKIE 0x2112a442u
#define FINGERPRINT_XOR 0x5354554eu
enum { BINDING = 1, MAC = 20, TLV = 4 };

enum attribute { /* [STUN] 18.3, RFC 8445 section 20.2 */
    MAPPED_ADDRESS = 0x0001, USERNAME = 0x0006, MESSAGE_INTEGRITY = 0x0008, ERROR_CODE = 0x0009,
    UNKNOWN_ATTRIBUTES = 0x000a, REALM = 0x0014, NONCE = 0x0015, XOR_MAPPED_ADDRESS = 0x0020,
    PRIORITY = 0x0024, USE_CANDIDATE = 0x0025, OPTIONAL = 0x8000, FINGERPRINT = 0x8028,
    ICE_CONTROLLED = 0x8029, ICE_CONTROLLING = 0x802a,
};

/* CRC-32 of ITU V.42, four bits at a time: messages are short, so a small table suffices. */
static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158,
        0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
        0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Computes the MAC of the bytes before `at`, with the header's length set to the end of the MAC. */
static void mac_of(const uint8_t *data, size_t at, const char *password, uint8_t mac[MAC])
{
    uint8_t copy[STUN_MAX];
    size_t length = at + TLV + MAC - STUN_HEADER;

    memcpy(copy, data, at);
    copy[2] = (uint8_t)(length >> 8);
    copy[3] = (uint8_t)length;
    (void)must(HMAC(EVP_sha1(), password, (int)strlen(password), copy, at, mac, NULL));
}

/* ---- reading */

/* [STUN] 14.2: the port is XORed with the cookie, the address with cookie and transaction id. */
static bool read_mapped(struct stun_message *m, struct rd v)
{
    uint8_t family, ip[16], key[16];
    size_t n;
    const uint8_t *p;

    (void)rd_u8(&v);
    family = rd_u8(&v);
    n = family == 1 ? 4 : 16;
    memset(&m->mapped, 0, sizeof(m->mapped));
    m->mapped.port = (uint16_t)(rd_u16(&v) ^ COOKIE >> 16);
    p = rd_take(&v, n);
    if (!p || (family != 1 && family != 2))
        return false;
    memcpy(key, m->data + 4, sizeof(key));
    for (size_t i = 0; i < n; i++)
        ip[i] = p[i] ^ key[i];
    if (n == 4) {
        m->mapped.ip[10] = m->mapped.ip[11] = 0xff;
        memcpy(m->mapped.ip + 12, ip, 4);
    } else {
        memcpy(m->mapped.ip, ip, 16);
    }
    m->has_mapped = true;
    return true;
}

static void note_unknown(struct stun_message *m, uint16_t type)
{
    if (type < OPTIONAL && m->n_unknown < STUN_UNKNOWN_MAX)
        m->unknown[m->n_unknown++] = type;
}

static bool read_number(struct rd *v, size_t size, uint64_t *out)
{
    *out = rd_be(v, size);
    return !v->bad && rd_left(v) == 0;
}

static bool read_role(struct stun_message *m, bool controlling, struct rd v)
{
    *(controlling ? &m->controlling : &m->controlled) = true;
    return read_number(&v, 8, &m->tie);
}

static bool read_error(struct stun_message *m, struct rd v)
{
    unsigned class, number;

    (void)rd_u16(&v);
    class = rd_u8(&v) & 7;
    number = rd_u8(&v);
    m->error = class * 100 + number;
    return !v.bad && number < 100;
}

/* Parses an attribute before MESSAGE-INTEGRITY. */
static bool read_attribute(struct stun_message *m, uint16_t type, struct rd v)
{
    uint64_t n;

    switch (type) {
    case USERNAME:
        m->username = (const char *)v.p;
        m->username_size = rd_left(&v);
        return true;
    case PRIORITY:
        m->has_priority = read_number(&v, 4, &n);
        m->priority = (uint32_t)n;
        return m->has_priority;
    case USE_CANDIDATE:
        m->use_candidate = true;
        return true;
    case ICE_CONTROLLED:
    case ICE_CONTROLLING:
        return read_role(m, type == ICE_CONTROLLING, v);
    case XOR_MAPPED_ADDRESS:
        return read_mapped(m, v);
    case ERROR_CODE:
        return read_error(m, v);
    case MAPPED_ADDRESS:
    case UNKNOWN_ATTRIBUTES:
    case REALM:
    case NONCE:
        return true;
    default:
        note_unknown(m, type);
        return true;
    }
}

/* [STUN] 14.7: it is the last attribute and covers everything before it. */
static bool read_fingerprint(struct stun_message *m, struct rd v, size_t at)
{
    uint64_t crc;

    m->has_fingerprint = read_number(&v, 4, &crc) && at + TLV + 4 == m->size &&
                         crc == (crc32_of(m->data, at) ^ FINGERPRINT_XOR);
    return m->has_fingerprint;
}

/* Attributes after MESSAGE-INTEGRITY are not authenticated, so they are ignored, [STUN] 14.5. */
static bool read_attributes(struct stun_message *m)
{
    struct rd r = rd_init(m->data + STUN_HEADER, m->size - STUN_HEADER);

    while (rd_left(&r) > 0) {
        size_t at = (size_t)(r.p - m->data);
        uint16_t type = rd_u16(&r), size = rd_u16(&r);
        struct rd v = rd_sub(&r, size);

        if (!rd_take(&r, -(size_t)size & 3) || v.bad)
            return false;
        if (type == FINGERPRINT) {
            if (!read_fingerprint(m, v, at))
                return false;
        } else if (m->integrity_at) {
            continue;
        } else if (type == MESSAGE_INTEGRITY) {
            if (size != MAC)
                return false;
            m->integrity_at = at;
        } else if (!read_attribute(m, type, v)) {
            return false;
        }
    }
    return true;
}

bool stun_parse(struct stun_message *m, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    unsigned type = rd_u16(&r), length = rd_u16(&r);
    uint32_t cookie = rd_u32(&r);

    memset(m, 0, sizeof(*m));
    if (size < STUN_HEADER || size > STUN_MAX || type & 0xc000 || cookie != COOKIE ||
        length % 4 != 0 || length + STUN_HEADER != size)
        return false;
    m->class = (enum stun_class)((type >> 4 & 1) | (type >> 7 & 2));
    m->method = (uint16_t)((type & 0x000f) | (type >> 1 & 0x0070) | (type >> 2 & 0x0f80));
    m->id = data + 8;
    m->data = data;
    m->size = size;
    return read_attributes(m);
}

bool stun_is_of(const struct stun_message *m, const char *password)
{
    uint8_t mac[MAC];

    if (!m->integrity_at)
        return false;
    mac_of(m->data, m->integrity_at, password, mac);
    return CRYPTO_memcmp(mac, m->data + m->integrity_at + TLV, MAC) == 0;
}

/* ---- writing */

struct out {
    uint8_t *p;
    size_t n;
    bool full;
};

static void put(struct out *o, uint64_t v, size_t n)
{
    o->full |= STUN_MAX - o->n < n;
    for (size_t i = 0; i < n && !o->full; i++)
        o->p[o->n++] = (uint8_t)(v >> 8 * (n - 1 - i));
}

static void put_bytes(struct out *o, const void *p, size_t n)
{
    o->full |= STUN_MAX - o->n < n;
    if (o->full)
        return;
    memcpy(o->p + o->n, p, n);
    o->n += n;
}

static void put_head(struct out *o, enum attribute type, size_t size)
{
    put(o, type, 2);
    put(o, size, 2);
}

static struct out begin(uint8_t *out, enum stun_class class, const uint8_t *id)
{
    struct out o = { .p = out };

    put(&o, BINDING | (class & 1) << 4 | (class & 2) << 7, 2);
    put(&o, 0, 2);
    put(&o, COOKIE, 4);
    put_bytes(&o, id, STUN_ID);
    return o;
}

static void put_length(struct out *o, size_t more)
{
    size_t length = o->n + more - STUN_HEADER;

    o->p[2] = (uint8_t)(length >> 8);
    o->p[3] = (uint8_t)length;
}

static size_t end(struct out *o, const char *password)
{
    uint8_t mac[MAC];

    if (o->full || STUN_MAX - o->n < TLV + MAC + TLV + 4)
        return 0;
    if (password) {
        mac_of(o->p, o->n, password, mac);
        put_head(o, MESSAGE_INTEGRITY, MAC);
        put_bytes(o, mac, MAC);
    }
    put_length(o, TLV + 4);
    put(o, (uint64_t)FINGERPRINT << 16 | 4, 4);
    put(o, crc32_of(o->p, o->n - TLV) ^ FINGERPRINT_XOR, 4);
    return o->n;
}

size_t stun_write_success(uint8_t *out, const struct stun_message *to, const struct udp_addr *from,
                          const char *password)
{
    struct out o = begin(out, STUN_SUCCESS, to->id);
    bool v4 = udp_addr_is_v4(from);
    size_t n = v4 ? 4 : 16;
    const uint8_t *ip = from->ip + 16 - n;

    put_head(&o, XOR_MAPPED_ADDRESS, 4 + n);
    put(&o, v4 ? 1 : 2, 2);
    put(&o, (uint16_t)(from->port ^ COOKIE >> 16), 2);
    for (size_t i = 0; i < n; i++)
        put(&o, ip[i] ^ out[4 + i], 1);
    return end(&o, password);
}

size_t stun_write_error(uint8_t *out, const struct stun_message *to, unsigned code,
                        const char *password)
{
    const char *reason = code == 420 ? "Unknown Attribute" : code == 487 ? "Role Conflict" : "";
    struct out o = begin(out, STUN_ERROR, to->id);
    size_t n = strlen(reason);

    put_head(&o, ERROR_CODE, 4 + n);
    put(&o, code / 100 << 8 | code % 100, 4);
    put_bytes(&o, reason, n);
    put(&o, 0, -n & 3);
    if (code == 420) {
        put_head(&o, UNKNOWN_ATTRIBUTES, 2 * (size_t)to->n_unknown);
        for (unsigned i = 0; i < to->n_unknown; i++)
            put(&o, to->unknown[i], 2);
        put(&o, 0, to->n_unknown % 2 * 2);
    }
    return end(&o, password);
}

size_t stun_write_check(uint8_t *out, const struct stun_check *c)
{
    struct out o = begin(out, STUN_REQUEST, c->id);
    size_t n = strlen(c->username);

    if (n > STUN_MAX)
        return 0;
    put_head(&o, USERNAME, n);
    put_bytes(&o, c->username, n);
    put(&o, 0, -n & 3);
    if (c->has_priority) {
        put_head(&o, PRIORITY, 4);
        put(&o, c->priority, 4);
    }
    if (c->controlling || c->controlled) {
        put_head(&o, c->controlling ? ICE_CONTROLLING : ICE_CONTROLLED, 8);
        put(&o, c->tie, 8);
    }
    if (c->use_candidate)
        put_head(&o, USE_CANDIDATE, 0);
    return end(&o, c->password);
}
