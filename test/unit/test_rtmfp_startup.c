/* SPDX-License-Identifier: MIT */
/* test_rtmfp_startup.c - certificates, discriminators, keying components, cookies, and fragmented
 * startup packets. */
#include "proto/rtmfp/cookie.h"
#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/fragment.h"
#include "proto/rtmfp/keying.h"
#include "rtmfp_bytes.h"

static const bool all_groups[RTMFP_GROUPS] = { true, true, true };

/* ---- certificates */

static void our_certificate(void **state)
{
    uint8_t extra[RTMFP_EXTRA], out[256], want[RTMFP_HASH], id[RTMFP_PEER_ID];
    struct wr w = rtmfp_wr(out, sizeof(out));
    struct rtmfp_certificate c;

    (void)state;
    memset(extra, 0xab, sizeof(extra));
    rtmfp_certificate_write(&w, true, rtmfp_bytes(extra, sizeof(extra)), all_groups);
    assert_int_equal(w.len, 2 + 66 + 9);
    assert_hex(out, 5, "01 0a 41 0e ab");
    assert_hex(out + 67, 10, "ab 02 15 02 02 15 05 02 15 0e");
    assert_true(rtmfp_certificate_read(&c, rtmfp_bytes(out, w.len)));
    assert_true(c.accepts_ancillary && c.is_ephemeral && !c.is_static && !c.has_hostname);
    assert_true(c.ephemeral[0] && c.ephemeral[1] && c.ephemeral[2]);
    rtmfp_certificate_id(&c, id);
    rtmfp_sha256(rtmfp_bytes(out, w.len), want);
    assert_memory_equal(id, want, sizeof(id));
}

static void certificate_of_flash(void **state)
{
    uint8_t key[128], out[256];

    (void)state;
    memset(key, 0x77, sizeof(key));
    for (size_t n = 126; n <= 128; n++) { /* keys may be 1 or 2 bytes shorter */
        struct wr w = rtmfp_wr(out, sizeof(out));
        struct rtmfp_certificate c;

        rtmfp_certificate_write_static(&w, false, RTMFP_GROUP_2, rtmfp_bytes(key, n));
        assert_int_equal(w.len, n + 4);
        assert_hex(out, 4, n == 128 ? "81 02 1d 02" : n == 127 ? "81 01 1d 02" : "81 00 1d 02");
        assert_true(rtmfp_certificate_read(&c, rtmfp_bytes(out, w.len)));
        assert_true(c.is_static && !c.is_ephemeral && !c.accepts_ancillary);
        assert_true(rtmfp_bytes_same(c.key[RTMFP_GROUP_2], rtmfp_bytes(key, n)));
        assert_int_equal(c.key[RTMFP_GROUP_5].n, 0);
    }
}

static void certificates(void **state)
{
    static const struct {
        const char *hex, *canonical; /* NULL: invalid */
        bool accepts, ephemeral, fixed;
        const char *hostname;
    } rows[] = {
        { "", "", false, false, false, NULL },
        { "01 0a", "01 0a", true, false, false, NULL },
        { "00", "", false, false, false, NULL },
        { "00 01 0a", "", false, false, false, NULL }, /* counts only before the marker */
        { "01 0a 00 02 15 02 03 1d 02 aa", "01 0a", true, false, false, NULL },
        { "01 0a 00 00 00", "01 0a", true, false, false, NULL },
        { "03 00 6162", "03 00 6162", false, false, false, "ab" },
        { "01 00", "01 00", false, false, false, "" },
        { "02 15 02 02 15 10", "02 15 02 02 15 10", false, true, false, NULL },
        { "02 15 02 03 1d 05 aa", NULL, false, false, false, NULL }, /* both kinds of keys */
        { "02 15 02 03 1d 99 aa", NULL, false, false, false, NULL },
        { "03 1d 02 aa 04 1d 05 bbcc", "03 1d 02 aa 04 1d 05 bbcc", false, false, true, NULL },
        { "02 99 00 05 ffff ff7f 01", "02 99 00 05 ffff ff7f 01", false, false, false, NULL },
        { "01 15", NULL, false, false, false, NULL }, /* no group */
        { "03 15 02 02", NULL, false, false, false, NULL },
        { "01 1d", NULL, false, false, false, NULL }, { "02 1d", NULL, false, false, false, NULL },
        { "01 0a 02", NULL, false, false, false, NULL },
        { "01 0a 00 02", NULL, false, false, false, NULL }, /* after the marker, too */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);
        uint8_t *data = exact(h.data, h.size);
        struct rtmfp_certificate c;

        if (rtmfp_certificate_read(&c, rtmfp_bytes(data, h.size)) != (rows[i].canonical != NULL))
            fail_msg("row %zu", i);
        if (rows[i].canonical) {
            assert_bytes(c.canonical, rows[i].canonical);
            assert_int_equal(c.accepts_ancillary, rows[i].accepts);
            assert_int_equal(c.is_ephemeral, rows[i].ephemeral);
            assert_int_equal(c.is_static, rows[i].fixed);
            assert_int_equal(c.has_hostname, rows[i].hostname != NULL);
            assert_true(!c.has_hostname ||
                        rtmfp_bytes_same(c.hostname, text_bytes(rows[i].hostname)));
        }
        free(data);
    }
}

static void certificate_sizes(void **state)
{
    uint8_t data[RTMFP_CERTIFICATE_MAX + 1] = { 0 };
    struct rtmfp_certificate c;

    (void)state;
    assert_true(rtmfp_certificate_read(&c, rtmfp_bytes(data, RTMFP_CERTIFICATE_MAX)));
    assert_false(rtmfp_certificate_read(&c, rtmfp_bytes(data, sizeof(data))));
    memset(data, 1, sizeof(data)); /* options */
    assert_true(rtmfp_certificate_read(&c, rtmfp_bytes(data, 64)));
    assert_false(rtmfp_certificate_read(&c, rtmfp_bytes(data, 66)));
}

/* ---- discriminators */

#define ID "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static void discriminators(void **state)
{
    static const struct {
        const char *epd, *certificate;
        bool fine, selects, names_peer;
    } rows[] = {
        { "", "01 0a", true, false, false },
        { "00", "01 0a", true, false, false },
        { "05 0a 6c697665", "01 0a", true, true, false },     /* older clients: only `live` */
        { "01 0a", "01 0a", true, true, false },
        { "05 0a 6c697665", "", true, false, false },         /* no server */
        { "03 00 6162", "03 00 6162", true, true, false },
        { "03 00 6162", "03 00 6163", true, false, false },
        { "03 00 6162", "01 0a", true, false, false },
        { "01 00", "01 0a", true, false, false },             /* a hostname that is empty */
        { "03 00 6162 02 0a 78", "03 00 6162 01 0a", true, true, false },
        { "03 00 6162 02 0a 78", "03 00 6162", true, false, false },
        { "03 00 6162 02 0a 78", "01 0a", true, false, false },
        { "21 0f " ID, "", true, true, true },
        { "21 0f " ID " 03 00 6162 02 0a 78", "", true, true, true }, /* decisive alone */
        { "21 0f ff" ID, "01 0a", false, false, false },
        { "22 0f ff" ID " 02 0a 78", "01 0a", true, false, false },
        { "01 0f 02 0a 78", "01 0a", true, false, false },
        { "21 0f ff000000000000000000000000000000000000000000000000000000000000ff", "01 0a", true,
          false, true },
        { "02 77 00", "01 0a", true, false, false },
        { "02 0a", "01 0a", false, false, false }, { "80", "01 0a", false, false, false },
    };
    struct rtmfp_hex id = rtmfp_hex(ID);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].epd), ch = rtmfp_hex(rows[i].certificate);
        uint8_t *data = exact(h.data, h.size);
        struct rtmfp_certificate c;
        struct rtmfp_epd e;

        assert_true(rtmfp_certificate_read(&c, bytes_of(&ch)));
        if (rtmfp_epd_read(&e, rtmfp_bytes(data, h.size)) != rows[i].fine ||
            (rows[i].fine && rtmfp_epd_selects(&e, &c, id.data) != rows[i].selects) ||
            (rows[i].fine && (rtmfp_epd_peer(&e) != NULL) != rows[i].names_peer))
            fail_msg("row %zu", i);
        free(data);
    }
}

static void discriminators_that_we_write(void **state)
{
    struct rtmfp_hex id = rtmfp_hex(ID);
    uint8_t out[64];
    struct wr w = rtmfp_wr(out, sizeof(out));

    (void)state;
    rtmfp_epd_write_id(&w, id.data);
    assert_hex(out, w.len, "21 0f " ID);
    w.len = 0;
    rtmfp_epd_write_uri(&w, text_bytes("rtmfp://h/a"));
    assert_hex(out, w.len, "0c 0a 72746d66703a2f2f682f61");
}

/* ---- keying components */

static void components(void **state)
{
    static const struct {
        const char *hex;
        bool fine;
        struct rtmfp_offer offer;
        unsigned n_keys, n_static;
        enum rtmfp_group group, fixed;
    } rows[] = {
        { "", true, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "02 1d 02 03 1a 02 0a 02 1e 02", true, { 2, 10, 2 }, 0, 1, RTMFP_GROUPS, RTMFP_GROUP_2 },
        { "03 1a 00 00 02 1e 00", true, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "04 0d 0e aabb", true, { 0 }, 1, 0, RTMFP_GROUP_14, RTMFP_GROUPS },
        { "04 0d 05 aabb 04 0d 02 ccdd", true, { 0 }, 2, 0, RTMFP_GROUP_5, RTMFP_GROUPS },
        { "04 0d 10 aabb", true, { 0 }, 1, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "02 1d 63", true, { 0 }, 0, 1, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 04 04", true, { 4, 4, 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 07 20", true, { 7, 32, 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 01 00", true, { 1, 0, 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 01 10", true, { 1, 16, 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 04 00", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 02 00", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 02 03", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "03 1a 02 21", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "04 1a 00 8200", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "0c 1a 04 81ffffffffffffffff7f", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "01 1a", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "02 1a 04", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "01 1e", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "01 0d", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "01 1d", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "02 0d", false, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
        { "02 99 00 00 01 7f", true, { 0 }, 0, 0, RTMFP_GROUPS, RTMFP_GROUPS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);
        uint8_t *data = exact(h.data, h.size);
        struct rtmfp_component c;

        if (rtmfp_component_read(&c, rtmfp_bytes(data, h.size)) != rows[i].fine)
            fail_msg("row %zu", i);
        if (rows[i].fine) {
            assert_memory_equal(&c.offer, &rows[i].offer, sizeof(c.offer));
            assert_int_equal(c.n_keys, rows[i].n_keys);
            assert_int_equal(c.n_static, rows[i].n_static);
            assert_int_equal(c.group, rows[i].group);
            assert_int_equal(c.static_group, rows[i].fixed);
        }
        free(data);
    }
}

/* A responder's answer, and the resulting features of packets. */
static void answers(void **state)
{
    enum { OFF = RTMFP_OFF, OFFER = RTMFP_OFFER, REQUIRE = RTMFP_REQUIRE };
    static const struct {
        int policy;
        uint8_t theirs, answer;
        bool agreed, we_send, they_send;
    } rows[] = {
        { OFF, 0, 0, true, false, false }, { OFF, 1, 0, true, false, false },
        { OFF, 2, 0, true, false, false }, { OFF, 3, 0, true, false, false },
        { OFF, 4, 0, true, false, true }, { OFF, 5, 0, true, false, true },
        { OFF, 6, 0, true, false, true }, { OFF, 7, 0, true, false, true },
        { OFFER, 0, 0, true, false, false }, { OFFER, 1, 3, true, true, false },
        { OFFER, 2, 0, true, false, false }, { OFFER, 3, 3, true, true, true },
        { OFFER, 4, 3, true, false, true }, { OFFER, 5, 3, true, true, true },
        { OFFER, 6, 3, true, false, true }, { OFFER, 7, 3, true, true, true },
        { REQUIRE, 0, 5, false, true, false }, { REQUIRE, 1, 5, false, true, false },
        { REQUIRE, 2, 5, true, true, true }, { REQUIRE, 3, 5, true, true, true },
        { REQUIRE, 4, 5, true, true, true }, { REQUIRE, 5, 5, true, true, true },
        { REQUIRE, 6, 5, true, true, true }, { REQUIRE, 7, 5, true, true, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int what = 0; what < 2; what++) { /* HMAC, numbers: the same rules */
            enum rtmfp_policy policy = (enum rtmfp_policy)rows[i].policy;
            struct rtmfp_policies p = { what == 0 ? policy : RTMFP_OFF,
                                        what == 1 ? policy : RTMFP_OFF };
            struct rtmfp_offer theirs = { .hmac_size = 10 }, ours;
            struct rtmfp_key out = { 0 }, in = { 0 };

            *(what == 0 ? &theirs.hmac : &theirs.numbers) = rows[i].theirs;
            ours = rtmfp_offer_answer(&p, &theirs);
            assert_int_equal(what == 0 ? ours.hmac : ours.numbers, rows[i].answer);
            assert_int_equal(ours.hmac_size, what == 0 && rows[i].answer ? 16 : 0);
            if (rtmfp_offer_agree(&p, &ours, &theirs, &out, &in) != rows[i].agreed)
                fail_msg("row %zu", i);
            assert_int_equal(out.hmac, what == 0 && rows[i].we_send ? 16 : 0);
            assert_int_equal(in.hmac, what == 0 && rows[i].they_send ? 10 : 0);
            assert_int_equal(out.numbered, what == 1 && rows[i].we_send);
            assert_int_equal(in.numbered, what == 1 && rows[i].they_send);
        }
    }
}

/* Two of ours: both have the same result, or the one that requires it fails. */
static void ours_with_ours(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            struct rtmfp_policies pa = { (enum rtmfp_policy)a, (enum rtmfp_policy)a };
            struct rtmfp_policies pb = { (enum rtmfp_policy)b, (enum rtmfp_policy)b };
            struct rtmfp_offer first = rtmfp_offer_first(&pa);
            struct rtmfp_offer answer = rtmfp_offer_answer(&pb, &first);
            struct rtmfp_key a_out = { 0 }, a_in = { 0 }, b_out = { 0 }, b_in = { 0 };
            bool done = rtmfp_offer_agree(&pb, &answer, &first, &b_out, &b_in) &&
                        rtmfp_offer_agree(&pa, &first, &answer, &a_out, &a_in);

            assert_int_equal(done, !(a == RTMFP_REQUIRE && b == RTMFP_OFF));
            if (!done)
                continue;
            assert_memory_equal(&a_out, &b_in, sizeof(a_out));
            assert_memory_equal(&a_in, &b_out, sizeof(a_in));
            assert_int_equal(a_out.hmac != 0, a + b >= 2 && a > 0 && b > 0 ? 1 : b == 2);
        }
    }
}

static void components_that_we_write(void **state)
{
    struct rtmfp_policies offer = { RTMFP_OFFER, RTMFP_OFFER }, off = { 0 };
    struct rtmfp_offer none = { 0 }, all = { 3, 16, 3 }, w;
    struct rtmfp_pair pair = { .group = RTMFP_GROUP_2 };
    uint8_t out[512], random[64] = { 0 };
    struct wr o = rtmfp_wr(out, sizeof(out));

    (void)state;
    memset(pair.public, 0xcc, sizeof(pair.public));
    rtmfp_skrc_write(&o, &none, &pair);
    assert_int_equal(o.len, 11 + 128);
    assert_hex(out, 12, "03 1a 00 00 02 1e 00 8102 0d 02 cc");
    pair.group = RTMFP_GROUP_14;
    o.len = 0;
    rtmfp_skrc_write(&o, &all, &pair);
    assert_int_equal(o.len, 11 + 256);
    assert_hex(out, 12, "03 1a 03 10 02 1e 03 8202 0d 0e cc");
    o.len = 0;
    w = rtmfp_offer_first(&off);
    rtmfp_skic_write_static(&o, &w, RTMFP_GROUP_2, random); /* a typical one of 76 bytes */
    assert_int_equal(o.len, 76);
    assert_hex(out, 6, "02 1d 02 41 0e 00");
    assert_hex(out + 69, 7, "03 1a 02 0a 02 1e 02");
    o.len = 0;
    w = rtmfp_offer_first(&offer);
    pair.group = RTMFP_GROUP_5;
    rtmfp_skic_write(&o, &w, &pair, random);
    assert_hex(out, 5, "8142 0d 05 cc");
    assert_hex(out + o.len - 7, 7, "03 1a 03 10 02 1e 03");
    o.len = 0;
    rtmfp_skrc_write_static(&o, &none, random);
    assert_hex(out, 10, "03 1a 00 00 02 1e 00 41 0e 00");
}

/* ---- cookies */

static const struct udp_addr here = { .ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .port = 1935 };

static void cookies(void **state)
{
    static const uint8_t master[RTMFP_MASTER] = { 1, 2, 3 };
    struct rtmfp_cookies a, b;
    uint8_t cookie[RTMFP_COOKIE];
    struct rtmfp_bytes bytes = { cookie, sizeof(cookie) };
    struct udp_addr there = here;
    co_usec now = CO_SECONDS(1000);

    (void)state;
    there.port++;
    rtmfp_cookies_init(&a, master);
    rtmfp_cookies_init(&b, master);
    rtmfp_cookie_make(&a, cookie, RTMFP_COOKIE_HELLO, &here, now);
    assert_int_equal(rtmfp_cookie_check(&a, bytes, &here, now), RTMFP_COOKIE_OURS);
    assert_int_equal(rtmfp_cookie_check(&b, bytes, &here, now), RTMFP_COOKIE_OURS);
    assert_int_equal(rtmfp_cookie_check(&b, bytes, &there, now), RTMFP_COOKIE_MOVED);
    there = here;
    there.ip[15]++;
    assert_int_equal(rtmfp_cookie_check(&b, bytes, &there, now), RTMFP_COOKIE_MOVED);
    for (size_t i = 0; i < RTMFP_COOKIE; i++) {
        cookie[i] ^= 1;
        assert_int_equal(rtmfp_cookie_check(&a, bytes, &here, now),
                         i < 32 ? RTMFP_COOKIE_FOREIGN : RTMFP_COOKIE_MOVED);
        cookie[i] ^= 1;
    }
    for (bytes.n = 0; bytes.n < RTMFP_COOKIE; bytes.n++)
        assert_int_equal(rtmfp_cookie_check(&a, bytes, &here, now), RTMFP_COOKIE_FOREIGN);
    b.master[0]++;
    b.epoch[0] = b.epoch[1] = 0;
    bytes.n = RTMFP_COOKIE;
    assert_int_equal(rtmfp_cookie_check(&b, bytes, &here, now), RTMFP_COOKIE_FOREIGN);
}

/* Valid for 120 s from any time, even if the key has changed since. */
static void cookies_expire(void **state)
{
    static const uint8_t master[RTMFP_MASTER] = { 7 };

    (void)state;
    for (co_usec made = 0; made < CO_SECONDS(1900); made += CO_SECONDS(31)) {
        struct rtmfp_cookies c;
        uint8_t cookie[RTMFP_COOKIE];
        struct rtmfp_bytes bytes = { cookie, sizeof(cookie) };
        enum rtmfp_cookie_status late;

        rtmfp_cookies_init(&c, master);
        rtmfp_cookie_make(&c, cookie, RTMFP_COOKIE_CHANGED, &here, made);
        for (int s = 0; s <= 120; s += 15)
            assert_int_equal(rtmfp_cookie_check(&c, bytes, &here, made + CO_SECONDS(s)),
                             RTMFP_COOKIE_OURS);
        late = rtmfp_cookie_check(&c, bytes, &here, made + CO_SECONDS(121));
        assert_int_equal(late, RTMFP_COOKIE_EXPIRED);
        late = rtmfp_cookie_check(&c, bytes, &here, made + CO_SECONDS(1201));
        assert_int_equal(late, RTMFP_COOKIE_FOREIGN);
        assert_int_equal(rtmfp_cookie_check(&c, bytes, &here, made + CO_SECONDS(256 * 600)),
                         RTMFP_COOKIE_FOREIGN);
    }
}

/* ---- in fragments */

static bool piece(struct rtmfp_fragments *f, uint8_t host, uint64_t packet, uint64_t index,
                  bool more, const char *text, co_usec now, const char *whole)
{
    struct rtmfp_piece p = { more, packet, index, text_bytes(text) };
    struct udp_addr from = here;
    struct rtmfp_bytes out;
    bool done;

    from.ip[14] = host;
    done = rtmfp_fragments_add(f, &from, &p, now, &out);
    assert_int_equal(done, whole != NULL);
    if (done)
        assert_true(rtmfp_bytes_same(out, text_bytes(whole)));
    return done;
}

static void pieces(void **state)
{
    struct rtmfp_fragments *f = rtmfp_fragments_new();

    (void)state;
    piece(f, 1, 7, 0, false, "alone", 0, "alone");
    piece(f, 1, 7, 0, true, "one ", 0, NULL);
    piece(f, 1, 7, 1, true, "two ", 0, NULL);
    piece(f, 1, 7, 1, true, "TWO ", 0, NULL); /* once more */
    piece(f, 2, 7, 2, false, "other", 0, NULL);
    piece(f, 1, 8, 2, false, "other", 0, NULL);
    piece(f, 1, 7, 2, false, "three", 0, "one two three");
    assert_int_equal(rtmfp_fragments_count(f), 2);
    piece(f, 2, 7, 1, true, "b", 0, NULL);    /* in any order */
    piece(f, 2, 7, 2, false, "other", 0, NULL);
    piece(f, 2, 7, 0, true, "", 0, "bother");
    assert_int_equal(rtmfp_fragments_count(f), 1);
    piece(f, 1, 8, 0, true, "a", CO_SECONDS(10), NULL); /* the rest is too old */
    piece(f, 1, 8, 1, true, "a", CO_SECONDS(10), NULL);
    assert_int_equal(rtmfp_fragments_count(f), 1);
    rtmfp_fragments_free(f);
}

static void pieces_that_make_no_sense(void **state)
{
    struct rtmfp_fragments *f = rtmfp_fragments_new();
    char large[RTMFP_WHOLE_MAX + 2];

    (void)state;
    memset(large, 'x', sizeof(large));
    large[RTMFP_WHOLE_MAX + 1] = '\0';
    piece(f, 1, 1, RTMFP_PIECES_MAX, true, "a", 0, NULL);
    piece(f, 1, 1, UINT64_MAX, false, "a", 0, NULL);
    piece(f, 1, 1, 0, false, large, 0, NULL);
    assert_int_equal(rtmfp_fragments_count(f), 0);
    piece(f, 1, 1, 3, true, "a", 0, NULL);
    piece(f, 1, 1, 2, false, "a", 0, NULL);   /* an end before another fragment */
    assert_int_equal(rtmfp_fragments_count(f), 0);
    piece(f, 1, 1, 2, false, "a", 0, NULL);
    piece(f, 1, 1, 1, false, "a", 0, NULL);   /* two ends */
    assert_int_equal(rtmfp_fragments_count(f), 0);
    piece(f, 1, 1, 2, false, "a", 0, NULL);
    piece(f, 1, 1, 3, true, "a", 0, NULL);    /* after the end */
    assert_int_equal(rtmfp_fragments_count(f), 0);
    piece(f, 1, 1, 1, true, "a", 0, NULL);
    piece(f, 1, 1, 0, true, large + 1, 0, NULL); /* together too much */
    assert_int_equal(rtmfp_fragments_count(f), 0);
    piece(f, 1, 1, 0, false, large + 1, 0, large + 1);
    rtmfp_fragments_free(f);
}

/* Fragments that never become a packet. */
static void pieces_without_end(void **state)
{
    struct rtmfp_fragments *f = rtmfp_fragments_new();

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        piece(f, 1, i, 0, true, "x", (co_usec)i, NULL);
    assert_int_equal(rtmfp_fragments_count(f), RTMFP_WHOLES_OF_ONE);
    piece(f, 1, 99, 1, false, "y", 200, "xy"); /* the oldest was dropped, not the newest */
    for (int host = 2; host < 256; host++)
        for (uint64_t i = 0; i < 2; i++)
            piece(f, (uint8_t)host, i, 0, true, "x", 200, NULL);
    assert_int_equal(rtmfp_fragments_count(f), RTMFP_WHOLES);
    piece(f, 200, 0, 0, true, "x", CO_SECONDS(11), NULL);
    assert_int_equal(rtmfp_fragments_count(f), 1);
    rtmfp_fragments_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(our_certificate), TEST(certificate_of_flash), TEST(certificates),
        TEST(certificate_sizes), TEST(discriminators), TEST(discriminators_that_we_write),
        TEST(components), TEST(answers), TEST(ours_with_ours), TEST(components_that_we_write),
        TEST(cookies), TEST(cookies_expire), TEST(pieces), TEST(pieces_that_make_no_sense),
        TEST(pieces_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
