/* SPDX-License-Identifier: MIT */
/* test_srtp.c - encrypted RTP and RTCP packets: vectors of RFC 3711 and RFC 7714, of a second
 * implementation, and everything that is not a packet of the peer.
 *
 * The rows of `vectors` are SHA-256 of whole packets, made by Python's `cryptography` and `hmac`
 * from sections 4.1 to 4.3 of RFC 3711 and 8 to 11 of RFC 7714. Values of row n: digest = SHA-256("srtp n"),
 * key digest[:16], salt digest[16:30], timestamp and SSRC digest[24:32] (of RTCP the SSRC is
 * digest[28:32]), payload bytes (i * 7 + n) & 255.
 */
#include "base/be.h"
#include "hex.h"
#include "proto/srtp/crypt.h"

#include <openssl/sha.h>
#include <stdlib.h>

enum { ROOM = 1600 };

static const struct {
    enum srtp_profile profile;
    size_t size;
    uint64_t index;
    uint8_t extension; /* words */
    const char *rtp, *rtcp;
} vectors[] = {
    { 1, 0, 0x0, 0,
      "dec15b5566a280b7a9f3e4fc3e7732ab940a47607c50d4ed47484970286aa37f",
      "944a4128b367ac527c03e2bea6ff62d0078f7fa17e66d5b83e06432f46515be3" },
    { 1, 1, 0x1, 0,
      "da8fff996491bece5c8829f6fad3e8f0e6920f94d03980958e7fa4ebf916052a",
      "7bb61af5e66b80296a213da864f3e28c383c54d525505a6d1d2b4099d7e3a32d" },
    { 1, 15, 0xffff, 0,
      "55f0f8b2038cb45b721cfa9084fbee3ca992f3b0439d265fec0bbbff04429475",
      "01f98a7e427aa2cd307097ab10670b99ce2f3f95d810c8ffc97fbcb77aeb0db6" },
    { 1, 16, 0x10000, 2,
      "0b54d0e11f2bc8e5563fe2298a16ed8a3d1ce6b7fcd8b9fcafc90ea03c6c61f7",
      "6addd78a3009523a464aa6359b58f22041a1e13833625b6ae9e7a9040571d222" },
    { 1, 17, 0x123456789abc, 0,
      "181d98164300e173510af9a9ecf5b6b61de9cab86d36617ab4fb1c4073adb6c0",
      "b22396c9cb1e0655abb99056b88aabf58f41fa302dd1b6ffdbca716b8c46ff84" },
    { 1, 160, 0xffffffff, 3,
      "69624307af5ca1084e7a500ebf08e90fdf894147605eefc1ba861ae697f5ff4a",
      "4bb0c512b7eaf021b8434a355c8c27374359d15b38168af4d0db35ff50e567de" },
    { 1, 1200, 0xffffffffffff, 0,
      "55a0446d3849ab0cdd40d6e5bdd70251c3e6942b5cb4e4d25ad55a314047b6da",
      "18d89c59da45dfc4d90ee557d99c2c3b9d200b9821b71e67ef13d9dcde6a2fca" },
    { 1, 1460, 0x4d, 1,
      "fdc84febc561850092b432edd28b757d927e0b4b52f4a5bdb1e832cc829a0a87",
      "f92ea26cebc806c184a0840fa8830273c3d509cd7f65cdf8367c94395461eee9" },
    { 7, 0, 0x0, 0,
      "78f06a3b2d5b0e613196a8283533cd9dc409f8ab42b4fb19369081c1c01e92df",
      "06ecf873d5a9148f86818eb92a6806b1fade481a5f5b9c0965cfe84cef379d62" },
    { 7, 1, 0x1, 0,
      "199d9b8edaacc66d6e8a79c0efd2e0874551ac354f67bca194ed87c4dfdcb034",
      "864541fb00697742ce815e34737d4d830575507643d98be8095f7c2e11cebb42" },
    { 7, 15, 0xffff, 0,
      "681862e150c243bf4a3d98dd495eec7ea20e848872d37c7e536edf8def729bd8",
      "5271b3b8b749a29fdd4324111d9c959ea307ef42a92445f21ff5deef40715ae7" },
    { 7, 16, 0x10000, 2,
      "8d01d48816569fde4c28a6a71efd882364ac156d87eacda4e246b4917bb1a11e",
      "91be053e7d266ad2041ffe2b416dd06faa83e04b63bab6b3ee727920a91ad064" },
    { 7, 17, 0x123456789abc, 0,
      "11c9e3526ac7509adff2c37c960382c655d7887b34b51633cb3af94a65128274",
      "bb513b49051bf67cc3aa305df4a67bad3171b9275bbf9b7eaf6c2c99b999dda8" },
    { 7, 160, 0xffffffff, 3,
      "484ab372cba2c1ebae19e76c7aee99f9324774f3c5e31aafae07c2be1681cc3a",
      "9147394a9ab42f6cebcf0dcadda65be0a404d505caf1eecaf39032b9b11b6c25" },
    { 7, 1200, 0xffffffffffff, 0,
      "8e6b9585fc8ee7a9ff5e5ac2972358b0920a41e01bf92b29bca386d3a9eab640",
      "5078afc5d2d3153da1a4d74ae550a5a5361f19b95e6675209cf303f7081cfa25" },
    { 7, 1460, 0x4d, 1,
      "f0f5ab8d837a7dd4de00b4f2e02ee47088317c24c8a28885f5bc1ea58af6144d",
      "a0febd35aa352003d5b85ad6e090ab33ec30bedd00ff96a5a005e5ea91af20f6" },
};

static const enum srtp_profile profiles[] = { SRTP_AES128_CM_SHA1_80, SRTP_AEAD_AES_128_GCM };

static struct srtp_keys some_keys(enum srtp_profile profile, uint8_t first)
{
    struct srtp_keys k = { .profile = profile };

    for (int i = 0; i < SRTP_KEY; i++)
        k.key[i] = (uint8_t)(first + i);
    for (int i = 0; i < SRTP_SALT; i++)
        k.salt[i] = (uint8_t)(first * 3 + i);
    return k;
}

/* Both ends of a direction. */
struct pair {
    struct srtp_out *out;
    struct srtp_in *in;
};

static struct pair pair_of(enum srtp_profile profile)
{
    struct srtp_keys k = some_keys(profile, 1);
    struct pair p;

    assert_ok(srtp_out_new(&p.out, &k));
    assert_ok(srtp_in_new(&p.in, &k));
    assert_true(srtp_out_source(p.out, 7, 4096));
    return p;
}

static void pair_end(struct pair *p)
{
    srtp_out_free(p->out);
    srtp_in_free(p->in);
}

static void put_header(uint8_t head[12], uint16_t seq, uint32_t ssrc)
{
    head[0] = 0x80;
    head[1] = 96;
    head[2] = (uint8_t)(seq >> 8);
    head[3] = (uint8_t)seq;
    (void)be_put32(head + 4, 0x01020304);
    (void)be_put32(head + 8, ssrc);
}

/* A packet of 5 bytes of payload with this index. */
static size_t packet(struct pair *p, uint32_t ssrc, uint64_t index, uint8_t out[ROOM])
{
    uint8_t head[12];

    put_header(head, (uint16_t)index, ssrc);
    return srtp_protect(p->out, out, head, sizeof(head), (const uint8_t *)"hello", 5, index);
}

static bool comes(struct pair *p, uint32_t ssrc, uint64_t index)
{
    uint8_t data[ROOM];
    size_t size = packet(p, ssrc, index, data);
    bool taken = srtp_unprotect(p->in, data, &size);

    if (taken) {
        assert_int_equal(size, 17);
        assert_memory_equal(data + 12, "hello", 5);
    }
    return taken;
}

static size_t report(struct pair *p, uint32_t ssrc, uint8_t out[ROOM])
{
    uint8_t rtcp[12] = { 0x80, 201, 0, 2 };

    (void)be_put32(rtcp + 4, ssrc);
    memcpy(rtcp + 8, "rtcp", 4);
    return srtcp_protect(p->out, out, rtcp, sizeof(rtcp));
}

/* ---- vectors */

static void keys_of_rfc_3711(void **state) /* appendix B.3 */
{
    struct srtp_keys k = { .profile = SRTP_AES128_CM_SHA1_80 };
    struct srtp_session s;

    (void)state;
    hex_bytes("E1F97A0D3E018BE0D64FA32C06DE4139", k.key, sizeof(k.key));
    hex_bytes("0EC675AD498AFEEBB6960B3AABE6", k.salt, sizeof(k.salt));
    assert_true(srtp_derive(&s, &k, SRTP_LABEL_RTP));
    assert_hex(s.key, sizeof(s.key), "C61E7A93744F39EE10734AFE3FF7A087");
    assert_hex(s.salt, sizeof(s.salt), "30CBBC08863D8C85D49DB34A9AE1");
    assert_hex(s.auth, sizeof(s.auth), "CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4");
}

static void key_stream_of_rfc_3711(void **state) /* appendix B.2 */
{
    struct srtp_session s = { .auth = { 0 } };
    struct srtp_nonce n = { 0 };
    struct srtp_crypt c;
    uint8_t data[48] = { 0 };

    (void)state;
    hex_bytes("2B7E151628AED2A6ABF7158809CF4F3C", s.key, sizeof(s.key));
    hex_bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD", s.salt, sizeof(s.salt));
    assert_true(srtp_crypt_init(&c, SRTP_AES128_CM_SHA1_80, &s, true));
    assert_true(srtp_cm_run(&c, &n, data, data, sizeof(data)));
    assert_hex(data, sizeof(data), "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB"
                                   "41E95B3BB0A2E8DD477901E4FCA894C0");
    srtp_crypt_fini(&c);
}

/* In both directions, with session keys "00 01 02 ..", "Quid pro quo". */
static void assert_gcm(const struct srtp_nonce *n, const char *head, const char *more,
                       const char *plain, const char *sealed)
{
    struct srtp_session s = { .salt = "Quid pro quo" };
    uint8_t known[16], word[4], data[64], was[64];
    struct srtp_known k = { .head = known, .more = word };
    size_t size = hex_bytes(plain, was, sizeof(was));
    struct srtp_crypt c;

    k.head_size = hex_bytes(head, known, sizeof(known));
    k.more_size = hex_bytes(more, word, sizeof(word));
    for (uint8_t i = 0; i < SRTP_KEY; i++)
        s.key[i] = i;
    memcpy(data, was, size);
    assert_true(srtp_crypt_init(&c, SRTP_AEAD_AES_128_GCM, &s, true));
    assert_true(srtp_gcm_seal(&c, n, &k, data, data, size));
    assert_hex(data, size + SRTP_TAG_GCM, sealed);
    srtp_crypt_fini(&c);
    assert_true(srtp_crypt_init(&c, SRTP_AEAD_AES_128_GCM, &s, false));
    assert_true(srtp_gcm_open(&c, n, &k, data, size));
    assert_memory_equal(data, was, size);
    srtp_crypt_fini(&c);
}

static void packets_of_rfc_7714(void **state) /* sections 16.1 and 17.1 */
{
    struct srtp_nonce rtp = { .ssrc = 0x5501a0b2, .index = 0xf17b };
    struct srtp_nonce rtcp = { .ssrc = 0x4d617273, .index = 0x5d4 };

    (void)state;
    assert_gcm(&rtp, "8040f17b8041f8d35501a0b2", "",
               "47616c6c696120657374206f6d6e697320646976697361 20696e2070617274657320747265 73",
               "f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833"
               "899d7f27beb16a9152cf765ee4390cce");
    assert_gcm(&rtcp, "81c8000d4d617273", "800005d4",
               "4e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeef"
               "deadbeef",
               "63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded"
               "0bb9275bc84aa45896cf4d2fc5abf87245d9eade");
}

static void assert_digest(const uint8_t *data, size_t size, const char *want)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];

    SHA256(data, size, digest);
    assert_hex(digest, sizeof(digest), want);
}

struct made { /* parts of a row's packets */
    struct srtp_keys keys;
    uint8_t head[64], payload[ROOM], rtcp[ROOM];
    size_t head_size;
};

static void make(struct made *m, unsigned n)
{
    size_t words = vectors[n].extension, size = vectors[n].size;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    char name[16];

    (void)snprintf(name, sizeof(name), "srtp %u", n);
    SHA256((const uint8_t *)name, strlen(name), digest);
    *m = (struct made){ .keys.profile = vectors[n].profile, .head_size = 12 };
    memcpy(m->keys.key, digest, SRTP_KEY);
    memcpy(m->keys.salt, digest + SRTP_KEY, SRTP_SALT);
    put_header(m->head, (uint16_t)vectors[n].index, 0);
    m->head[1] = (uint8_t)(0x60 | n);
    memcpy(m->head + 4, digest + 24, 8);
    if (words > 0) {
        m->head[0] |= 0x10;
        memcpy(m->head + 12, (uint8_t[]){ 0xbe, 0xde, 0, (uint8_t)words }, 4);
        for (uint8_t i = 0; i < 4 * words; i++)
            m->head[16 + i] = i;
        m->head_size += 4 + 4 * words;
    }
    for (size_t i = 0; i < size; i++)
        m->payload[i] = (uint8_t)(i * 7 + n);
    memcpy(m->rtcp, (uint8_t[]){ 0x80, 200, (uint8_t)((size + 7) / 4 >> 8),
                                 (uint8_t)((size + 7) / 4) }, 4);
    memcpy(m->rtcp + 4, digest + 28, 4);
    memcpy(m->rtcp + 8, m->payload, size);
}

static void packets_of_another_implementation(void **state)
{
    (void)state;
    for (unsigned n = 0; n < COUNT(vectors); n++) {
        struct srtp_out *out;
        struct made m;
        uint8_t to[ROOM];
        size_t size;

        make(&m, n);
        assert_ok(srtp_out_new(&out, &m.keys));
        assert_true(srtp_out_source(out, be_get32(m.head + 8), 1));
        size = srtp_protect(out, to, m.head, m.head_size, m.payload, vectors[n].size,
                            vectors[n].index);
        assert_true(size <= m.head_size + vectors[n].size + SRTP_TAIL);
        assert_digest(to, size, vectors[n].rtp);
        memcpy(to, m.head, m.head_size); /* in place it is the same, and a second time, too */
        memcpy(to + m.head_size, m.payload, vectors[n].size);
        size = srtp_protect(out, to, to, m.head_size, to + m.head_size, vectors[n].size,
                            vectors[n].index);
        assert_digest(to, size, vectors[n].rtp);
        size = srtcp_protect(out, to, m.rtcp, 8 + vectors[n].size);
        assert_true(size <= 8 + vectors[n].size + SRTCP_TAIL);
        assert_digest(to, size, vectors[n].rtcp);
        srtp_out_free(out);
    }
}

static void every_size_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        struct pair p = pair_of(profiles[i]);
        uint8_t head[12], plain[ROOM], data[ROOM];

        for (size_t n = 0; n < sizeof(plain); n++)
            plain[n] = (uint8_t)(n * 31);
        for (size_t n = 0; n < 1500; n++) {
            size_t size;

            put_header(head, (uint16_t)n, 7);
            size = srtp_protect(p.out, data, head, 12, plain, n, n);
            assert_true(srtp_unprotect(p.in, data, &size));
            assert_int_equal(size, 12 + n);
            assert_memory_equal(data, head, 12);
            assert_memory_equal(data + 12, plain, n);
            plain[0] = 0x81;
            size = srtcp_protect(p.out, data, plain, 8 + n);
            assert_true(srtcp_unprotect(p.in, data, &size));
            assert_int_equal(size, 8 + n);
            assert_memory_equal(data, plain, 8 + n);
        }
        assert_int_equal(srtp_in_stat(p.in)->forged + srtp_in_stat(p.in)->replayed, 0);
        pair_end(&p);
    }
}

/* ---- packets that may not be sent */

static size_t sealed(struct pair *p, uint32_t ssrc, uint64_t index, const char *text, uint8_t out[ROOM])
{
    uint8_t head[12];

    put_header(head, (uint16_t)index, ssrc);
    return srtp_protect(p->out, out, head, sizeof(head), (const uint8_t *)text, strlen(text), index);
}

/* RFC 7714, section 8.1 */
static void no_number_has_two_packets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        struct pair p = pair_of(profiles[i]);
        uint8_t first[ROOM], again[ROOM];
        size_t size = sealed(&p, 7, 70000, "first", first);

        assert_int_equal(sealed(&p, 7, 70000, "first", again), size); /* repeats are identical */
        assert_memory_equal(first, again, size);
        assert_int_equal(sealed(&p, 7, 70000, "other", again), 0);
        assert_int_equal(sealed(&p, 7, 70000, "first and more", again), 0);
        assert_int_equal(sealed(&p, 7, 70000, "first", again), size); /* it changed nothing */
        assert_int_not_equal(sealed(&p, 7, 70000 + 65536, "other", again), 0);
        assert_int_equal(sealed(&p, 7, 70000, "first", again), 0); /* too far behind by now */
        assert_int_not_equal(sealed(&p, 8, 70000, "other", again), 0); /* another source */
        assert_int_equal(srtp_out_refused(p.out), 3);
        pair_end(&p);
    }
}

static void numbers_that_were_left_out_come_late(void **state)
{
    struct pair p = pair_of(SRTP_AEAD_AES_128_GCM);
    uint8_t out[ROOM];

    (void)state;
    for (uint64_t lap = 0; lap < 3; lap++) { /* the ring is used again */
        uint64_t at = 1000 + lap * 4096;

        assert_int_not_equal(sealed(&p, 7, at, "a", out), 0);
        assert_int_not_equal(sealed(&p, 7, at + 4095, "b", out), 0);
        assert_int_not_equal(sealed(&p, 7, at + 5, lap ? "c" : "d", out), 0);
        assert_int_equal(sealed(&p, 7, at + 5, "e", out), 0);
        assert_int_equal(sealed(&p, 7, at, "e", out), 0);
    }
    assert_int_equal(srtp_out_refused(p.out), 6);
    pair_end(&p);
}

/* Unannounced indexes only increase; the number of sources is limited, each counts once. */
static void sources_that_send(void **state)
{
    struct pair p = pair_of(SRTP_AEAD_AES_128_GCM);
    uint8_t out[ROOM];

    (void)state;
    assert_false(srtp_out_source(p.out, 7, 16));
    assert_int_not_equal(sealed(&p, 9, 5, "a", out), 0);
    assert_int_equal(sealed(&p, 9, 5, "a", out), 0);
    assert_int_equal(sealed(&p, 9, 4, "a", out), 0);
    assert_int_not_equal(sealed(&p, 9, 6, "a", out), 0);
    assert_false(srtp_out_source(p.out, 9, 16));
    for (uint32_t ssrc = 100; ssrc < 100 + SRTP_SENT_SOURCES - 2; ssrc++)
        assert_true(srtp_out_source(p.out, ssrc, 0));
    assert_false(srtp_out_source(p.out, 1000, 0));
    assert_int_equal(sealed(&p, 1000, 1, "a", out), 0);
    pair_end(&p);
}

/* ---- packets not from the peer */

/* A copy on the heap, whose end a sanitizer checks. */
static bool taken(struct srtp_in *in, const uint8_t *data, size_t size, bool rtcp)
{
    uint8_t *part = malloc(size + !size);
    bool done;

    memcpy(part, data, size);
    done = rtcp ? srtcp_unprotect(in, part, &size) : srtp_unprotect(in, part, &size);
    free(part);
    return done;
}

static void cut_or_changed_it_is_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(profiles); i++) {
        struct pair p = pair_of(profiles[i / 2]);
        bool rtcp = i % 2;
        uint8_t data[ROOM];
        size_t size = rtcp ? report(&p, 7, data) : packet(&p, 7, 5, data);

        for (size_t cut = 0; cut < size; cut++)
            assert_false(taken(p.in, data, cut, rtcp));
        for (size_t bit = 0; bit < 8 * size; bit++) {
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_false(taken(p.in, data, size, rtcp));
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_false(taken(p.in, data, size + 1, rtcp));
        assert_false(taken(p.in, data, size, !rtcp));
        assert_int_equal(srtp_in_stat(p.in)->forged, 9 * size + 2);
        assert_int_equal(srtp_in_stat(p.in)->replayed, 0); /* none of them changed the state */
        assert_true(taken(p.in, data, size, rtcp));
        assert_false(taken(p.in, data, size, rtcp));
        assert_int_equal(srtp_in_stat(p.in)->replayed, 1);
        pair_end(&p);
    }
}

static void lengths_of_headers_are_checked(void **state)
{
    static const struct {
        uint8_t first, words;
        bool fine;
    } rows[] = {
        { 0x80, 0, true }, { 0x82, 0, true }, { 0x8f, 0, false }, { 0x90, 0, true },
        { 0x90, 1, true }, { 0x90, 9, false }, { 0x92, 0, false }, { 0x9f, 255, false },
        { 0x40, 0, false }, { 0x00, 0, false }, { 0xc0, 0, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair p = pair_of(SRTP_AEAD_AES_128_GCM);
        uint8_t data[64] = { rows[i].first, 96, 0, (uint8_t)i };
        size_t size;

        data[15] = rows[i].words; /* an extension in place of the sources */
        size = srtp_protect(p.out, data, data, rows[i].first & 0x10 ? 16u + 4u * (rows[i].words & 7)
                                               : rows[i].first & 2   ? 20 : 12,
                            data + 40, 4, i);
        assert_int_equal(srtp_unprotect(p.in, data, &size), rows[i].fine);
        pair_end(&p);
    }
}

static void reports_in_the_clear_are_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        struct srtp_keys k = some_keys(profiles[i], 1);
        struct pair p = pair_of(profiles[i]);
        uint8_t data[40] = { 0x80, 201, 0, 1, 0, 0, 0, 7 }, tag[SRTP_AUTH];
        struct srtp_crypt rtp = { .gcm = false }, c = rtp;

        assert_ok(srtp_crypt_both(&rtp, &c, &k, true));
        if (!c.gcm) { /* a valid tag, from an owner of the key */
            srtp_cm_tag(&c, data, 12, NULL, 0, tag);
            memcpy(data + 12, tag, SRTP_TAG_CM);
        }
        assert_false(taken(p.in, data, c.gcm ? 28 : 22, true));
        srtp_crypt_fini(&rtp);
        srtp_crypt_fini(&c);
        pair_end(&p);
    }
}

/* ---- numbers */

static void numbers_roll_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        struct pair p = pair_of(profiles[i]);

        assert_true(comes(&p, 7, 65000));
        assert_true(comes(&p, 7, 65534));
        assert_true(comes(&p, 7, 65537)); /* 65535 and 65536 late */
        assert_true(comes(&p, 7, 65535));
        assert_true(comes(&p, 7, 65536));
        assert_false(comes(&p, 7, 65535));
        assert_false(comes(&p, 7, 65537));
        for (uint64_t at = 65536 + 20000; at < 5 * 65536; at += 20000) /* as much as can be lost */
            assert_true(comes(&p, 7, at));
        assert_int_equal(srtp_in_stat(p.in)->forged, 0);
        assert_false(comes(&p, 7, 9 * 65536)); /* and more: it is taken for another */
        pair_end(&p);
    }
}

static void lossy_and_reordered_around_the_wrap(void **state)
{
    struct pair p = pair_of(SRTP_AES128_CM_SHA1_80);
    uint32_t seed = 1;
    unsigned in = 0, sent = 0;

    (void)state;
    assert_true(comes(&p, 7, 60000));
    for (uint64_t at = 60001; at < 75000; at += 16) { /* 16 at a time, shuffled, 1 of 8 lost */
        uint8_t order[16];

        for (uint8_t i = 0; i < 16; i++)
            order[i] = i;
        for (unsigned i = 15; i > 0; i--) {
            unsigned other = (seed = seed * 1103515245 + 12345) >> 16 & 15;
            uint8_t was = order[i];

            order[i] = order[other];
            order[other] = was;
        }
        for (unsigned i = 0; i < 16; i++) {
            if (((seed = seed * 1103515245 + 12345) >> 16 & 7) == 0)
                continue;
            sent++;
            in += comes(&p, 7, at + order[i]);
        }
    }
    assert_true(sent > 10000);
    assert_int_equal(in, sent);
    pair_end(&p);
}

static void nothing_is_before_the_first(void **state)
{
    struct pair p = pair_of(SRTP_AEAD_AES_128_GCM);

    (void)state;
    assert_true(comes(&p, 7, 3));
    assert_true(comes(&p, 7, 0));
    assert_false(comes(&p, 7, 65535)); /* not -1 */
    assert_int_equal(srtp_in_stat(p.in)->replayed, 1);
    pair_end(&p);
}

static void window_of_rtp(void **state)
{
    struct pair p = pair_of(SRTP_AEAD_AES_128_GCM);

    (void)state;
    assert_true(comes(&p, 7, 5000));
    for (uint64_t i = 1; i < 1024; i++) {
        assert_true(comes(&p, 7, 5000 - i));
        assert_false(comes(&p, 7, 5000 - i));
    }
    assert_false(comes(&p, 7, 5000 - 1024));
    assert_true(comes(&p, 7, 5512)); /* half of them are outside; the other half arrived */
    assert_false(comes(&p, 7, 5512 - 1024));
    assert_false(comes(&p, 7, 5000));
    for (uint64_t i = 5001; i < 5512; i++)
        assert_true(comes(&p, 7, i));
    assert_true(comes(&p, 7, 9000)); /* all of them are */
    for (uint64_t i = 9000 - 1023; i < 9000; i++)
        assert_true(comes(&p, 7, i));
    assert_int_equal(srtp_in_stat(p.in)->replayed, 1023 + 1 + 2);
    pair_end(&p);
}

static void window_of_rtcp(void **state)
{
    struct pair p = pair_of(SRTP_AES128_CM_SHA1_80);
    uint8_t (*data)[ROOM] = malloc(300 * sizeof(*data));
    size_t size = 0;

    (void)state;
    for (size_t i = 0; i < 300; i++)
        size = report(&p, 7, data[i]);
    assert_true(taken(p.in, data[200], size, true));
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(taken(p.in, data[i], size, true), i > 200 - 128);
    for (size_t i = 299; i > 200; i--)
        assert_true(taken(p.in, data[i], size, true));
    for (size_t i = 0; i < 300; i++)
        assert_false(taken(p.in, data[i], size, true));
    assert_int_equal(srtp_in_stat(p.in)->replayed, 73 + 300);
    free(data);
    pair_end(&p);
}

static void sources_are_apart_and_few(void **state)
{
    struct pair p = pair_of(SRTP_AEAD_AES_128_GCM);
    uint8_t data[ROOM];
    size_t size;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) { /* from a sender without a key */
        size = packet(&p, SRTP_SOURCES + 1, i, data);
        (void)be_put32(data + 8, i);
        data[size - 1] ^= 1;
        assert_false(taken(p.in, data, size, false));
    }
    for (uint32_t ssrc = 0; ssrc < SRTP_SOURCES; ssrc++) {
        assert_int_equal(srtp_out_source(p.out, ssrc, 16), ssrc != 7);
        assert_true(comes(&p, ssrc, 100 * ssrc));
    }
    assert_false(comes(&p, SRTP_SOURCES, 1));
    size = report(&p, SRTP_SOURCES, data);
    assert_false(taken(p.in, data, size, true));
    assert_int_equal(srtp_in_stat(p.in)->sources, 2);
    for (uint32_t ssrc = 0; ssrc < SRTP_SOURCES; ssrc++) {
        assert_false(comes(&p, ssrc, 100 * ssrc));
        assert_true(comes(&p, ssrc, 100 * ssrc + 1));
        size = report(&p, ssrc, data);
        assert_true(taken(p.in, data, size, true));
    }
    pair_end(&p);
}

static void no_more_than_there_are_numbers(void **state)
{
    struct srtp_keys k = some_keys(SRTP_AES128_CM_SHA1_80, 1), other;
    uint8_t data[ROOM], rtcp[8] = { 0x80, 201 };
    struct pair p = pair_of(SRTP_AES128_CM_SHA1_80);

    (void)state;
    assert_int_equal(srtcp_protect(p.out, data, rtcp, 7), 0); /* no RTCP */
    assert_int_not_equal(srtcp_protect(p.out, data, rtcp, 8), 0);
    other = k;
    srtp_keys_wipe(&other);
    for (size_t i = 0; i < sizeof(other); i++)
        assert_int_equal(((const uint8_t *)&other)[i], 0);
    srtp_out_free(NULL);
    srtp_in_free(NULL);
    pair_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_of_rfc_3711),
        TEST(key_stream_of_rfc_3711),
        TEST(packets_of_rfc_7714),
        TEST(packets_of_another_implementation),
        TEST(every_size_comes_back),
        TEST(no_number_has_two_packets),
        TEST(numbers_that_were_left_out_come_late),
        TEST(sources_that_send),
        TEST(cut_or_changed_it_is_dropped),
        TEST(lengths_of_headers_are_checked),
        TEST(reports_in_the_clear_are_dropped),
        TEST(numbers_roll_over),
        TEST(lossy_and_reordered_around_the_wrap),
        TEST(nothing_is_before_the_first),
        TEST(window_of_rtp),
        TEST(window_of_rtcp),
        TEST(sources_are_apart_and_few),
        TEST(no_more_than_there_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
