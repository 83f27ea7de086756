/* SPDX-License-Identifier: MIT */
/* test_rtmfp_older.c - packets of clients since Flash Player, and what they need in the answer:
 * the bytes on the wire, and the positions where they look for something.
 */
#include "rtmfp_ends.h"

static const struct rtmfp_policies off, offer = { RTMFP_OFFER, RTMFP_OFFER };

static struct ends e;
static struct udp_addr client;

/* The plain answer to a plain packet, both unencrypted; NULL: none. Its size in n. */
static const uint8_t *answer_to(const uint8_t *plain, size_t size, size_t *n)
{
    static uint8_t out[RTMFP_DATAGRAM_MAX];
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct rtmfp_opener in = e.startup.in;
    struct rtmfp_bytes got;

    client = ends_address(2, 5000);
    size = ends_seal(&e, rtmfp_bytes(plain, size), datagram);
    if (!ends_hear(&e, datagram, size, &client, CO_SECONDS(2)))
        return NULL;
    assert_int_equal(rtmfp_open(e.startup.cipher, &in, e.out.datagram, e.out.size, out, &got),
                     RTMFP_OPENED);
    *n = got.n;
    return got.p;
}

static const uint8_t *answer_to_hex(const char *hex, size_t *n)
{
    struct rtmfp_hex h = rtmfp_hex(hex);

    return answer_to(h.data, h.size, n);
}

static void begin(const struct rtmfp_policies *p)
{
    ends_init(&e, p, &off);
}

#define TAG "000102030405060708090a0b0c0d0e0f"
/* In Flash's form: the URI as ancillary data, and a tag of 16 bytes. */
#define HELLO "0b 1234 30 0026 15 14 0a 72746d66703a2f2f686f73742f6c6976652f78 " TAG

/* The cookie, with room for the rest of an IIKeying in front of it. */
static void cookie_of(uint8_t cookie[RTMFP_COOKIE])
{
    size_t n;
    const uint8_t *p = answer_to_hex(HELLO, &n);

    assert_non_null(p);
    memcpy(cookie, p + 3 + 3 + 17 + 1, RTMFP_COOKIE);
}

/* IIKeying with a static key of 128 bytes and this rest of SKIC, in Flash's order. */
static const uint8_t *asked_with(const char *rest, size_t *n)
{
    struct rtmfp_hex more = rtmfp_hex(rest);
    uint8_t plain[RTMFP_PLAIN_MAX], skic[128], *at = plain;
    struct wr w = rtmfp_wr(skic, sizeof(skic)), p = rtmfp_wr(at, sizeof(plain));
    uint8_t cookie[RTMFP_COOKIE], key[128];
    size_t begin;

    cookie_of(cookie);
    memset(key, 0x35, sizeof(key));
    wr_bytes(&w, "\x02\x1d\x02\x41\x0e", 5);
    for (int i = 0; i < 64; i++)
        wr_u8(&w, (uint8_t)i);
    wr_bytes(&w, more.data, more.size);
    wr_bytes(&p, "\x0b\x12\x34", 3);
    begin = rtmfp_chunk_begin(&p, RTMFP_IIKEYING);
    wr_u32(&p, 0x02000000);
    rtmfp_bytes_write(&p, rtmfp_bytes(cookie, sizeof(cookie)));
    wr_bytes(&p, "\x81\x04\x81\x02\x1d\x02", 6); /* the certificate */
    wr_bytes(&p, key, sizeof(key));
    rtmfp_bytes_write(&p, rtmfp_bytes(skic, w.len));
    wr_u8(&p, 0x58);
    assert_true(rtmfp_chunk_end(&p, begin));
    return answer_to(plain, p.len, n);
}

/* ---- 1: tag and cookie */

static void assert_rhello(const char *hello, const uint8_t *certificate, size_t size)
{
    size_t n;
    const uint8_t *p = answer_to_hex(hello, &n);

    assert_non_null(p);
    assert_hex(p + 3, 1, "70");
    assert_int_equal(p[4] << 8 | p[5], 17 + 65 + size);
    assert_hex(p + 6, 17, "10 " TAG);
    assert_int_equal(p[23], RTMFP_COOKIE);
    assert_memory_equal(p + 24 + 64, certificate, size);
}

/* Hellos of 68, 52 and 36 bytes: a longer hello allows a longer certificate. */
static void rhello_as_they_cut_it(void **state)
{
    static const char longer[] = "0b 1234 30 002d 1c 1b 0a 72746d66703a2f2f6578616d706c652e636f6d2f"
                                 "6c6976652f78 " TAG;

    (void)state;
    begin(&off);
    assert_hex(e.me.certificate, 4, "01 0a 41 0e");
    assert_rhello(longer, e.me.certificate, e.me.size);
    assert_int_equal(e.me.shorter[0].size, 45);
    assert_hex(e.me.shorter[0].certificate, 4, "01 0a 21 0e");
    assert_rhello(HELLO, e.me.shorter[0].certificate, 45);
    assert_int_equal(e.me.shorter[1].size, 5);
    assert_hex(e.me.shorter[1].certificate, 5, "01 0a 02 15 02");
    assert_rhello("0b 1234 30 0017 06 05 0a 6c697665 " TAG, e.me.shorter[1].certificate, 5);
    ends_fini(&e);
}

/* ---- 2: SKRC */

static void skrc_as_they_cut_it(void **state)
{
    static const struct {
        const struct rtmfp_policies *ours;
        const char *skic, *skrc; /* their components, and the first 7 bytes of ours */
    } rows[] = {
        { &off, "03 1a 02 0a 02 1e 02", "03 1a 00 00 02 1e 00" },
        { &offer, "03 1a 02 0a 02 1e 02", "03 1a 00 00 02 1e 00" },
        { &offer, "", "03 1a 00 00 02 1e 00" },
        { &offer, "03 1a 00 00 02 1e 00", "03 1a 00 00 02 1e 00" },
        { &offer, "03 1a 05 0a 02 1e 05", "03 1a 03 10 02 1e 03" },
        { &offer, "03 1a 06 0a 02 1e 02", "03 1a 03 10 02 1e 00" },
        { &offer, "03 1a 03 0a 02 1e 04", "03 1a 03 10 02 1e 03" },
        { &off, "03 1a 07 0a 02 1e 07", "03 1a 00 00 02 1e 00" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint8_t *p;
        size_t n, size = 11 + 128;

        begin(rows[i].ours);
        p = asked_with(rows[i].skic, &n);
        assert_non_null(p);
        /* 0b, time, 78, length, our id, VLU of its size, SKRC, 58 */
        assert_hex(p + 3, 1, "78");
        assert_int_equal(p[4] << 8 | p[5], 4 + 2 + size + 1);
        assert_hex(p + 10, 2, "81 0b");
        assert_hex(p + 12, 7, rows[i].skrc);
        assert_hex(p + 19, 4, "81 02 0d 02");
        assert_int_equal(p[12 + size], 0x58);
        assert_int_equal(e.sessions[0].keyed.skrc_size, size);
        /* the key is everything from byte 11 on */
        assert_true(rtmfp_public_is_valid(e.dh, RTMFP_GROUP_2, rtmfp_bytes(p + 12 + 11, 128)));
        for (size_t k = 13 + size; k < n; k++)
            assert_int_equal(p[k], 0xff);
        ends_fini(&e);
    }
}

/* To its id, with the default key: it has no other yet. */
static void rikeying_is_to_its_id(void **state)
{
    uint32_t id;
    size_t n;

    (void)state;
    begin(&off);
    assert_non_null(asked_with("03 1a 02 0a 02 1e 02", &n));
    assert_true(rtmfp_session_id(e.out.datagram, e.out.size, &id));
    assert_int_equal(id, 0x02000000);
    ends_fini(&e);
}

/* Empty or malformed signatures count as none. */
static void signatures(void **state)
{
    struct rtmfp_iikeying c;
    struct rtmfp_hex empty = rtmfp_hex("00000001 00 00 00"),
                     strange = rtmfp_hex("00000001 00 00 00 21 1d ff ff");

    (void)state;
    assert_true(rtmfp_iikeying_read(&c, bytes_of(&empty)) && c.signature.n == 0);
    assert_true(rtmfp_iikeying_read(&c, bytes_of(&strange)) && c.signature.n == 4);
}

/* ---- 3: the timestamp */

static void time_is_in_every_packet(void **state)
{
    struct rtmfp_address a = { RTMFP_OBSERVED, ends_address(3, 1) };
    uint8_t out[RTMFP_DATAGRAM_MAX], datagram[RTMFP_SEALED_MAX];
    struct rtmfp_opener in;
    struct rtmfp_bytes got;
    const uint8_t *p;
    size_t n;

    (void)state;
    begin(&off);
    p = answer_to_hex(HELLO, &n);
    assert_hex(p, 3, "0b 01f4"); /* 2 s are 500 ticks */
    p = asked_with("", &n);
    assert_hex(p, 3, "0b 01f4");
    in = e.startup.in;
    n = rtmfp_responder_redirect(&e.responder, 36, text_bytes("tag"), &a, 1, CO_SECONDS(2),
                                 datagram);
    assert_int_equal(rtmfp_open(e.startup.cipher, &in, datagram, n, out, &got), RTMFP_OPENED);
    assert_hex(got.p, 3, "0b 01f4");
    /* 4: and addresses in it have an origin */
    assert_hex(got.p + 3, 14, "71 000b 03 746167 02 0a000003 0001");
    ends_fini(&e);
}

/* ---- 8, 10: their messages */

static void hellos(void **state)
{
    static const struct {
        const char *what, *plain;
        bool answered;
    } rows[] = {
        { "the whole URI", HELLO, true },
        { "the app alone", "0b 1234 30 0017 06 05 0a 6c697665 " TAG, true },
        { "no timestamp", "03 30 0017 06 05 0a 6c697665 " TAG, true },
        { "an echo, too", "0f 1234 5678 30 0017 06 05 0a 6c697665 " TAG, true },
        { "flags that mean nothing", "3b 1234 30 0017 06 05 0a 6c697665 " TAG, true },
        { "an unknown chunk in front", "0b 1234 4d 0003 010203 "
          "30 0017 06 05 0a 6c697665 " TAG, true },
        { "padding in front", "0b 1234 00 0001 00 ff 0000 30 0017 06 05 0a 6c697665 " TAG, true },
        { "a chunk that is wrong in front", "0b 1234 30 0001 80 30 0017 06 05 0a 6c697665 " TAG,
          true },
        { "no tag, which no client sends: 20 bytes", "0b 1234 30 0007 06 05 0a 6c697665", false },
        { "as an initiator of a session", "09 1234 30 0017 06 05 0a 6c697665 " TAG, false },
        { "a hostname", "0b 1234 30 0017 06 05 00 6c697665 " TAG, false },
    };

    (void)state;
    begin(&off);
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n;

        if ((answer_to_hex(rows[i].plain, &n) != NULL) != rows[i].answered)
            fail_msg("%s", rows[i].what);
    }
    ends_fini(&e);
}

/* ---- 9: the group */

static void group_2_is_offered_first(void **state)
{
    (void)state;
    begin(&off);
    assert_hex(e.me.certificate + e.me.size - 9, 9, "02 15 02 02 15 05 02 15 0e");
    assert_hex(e.me.certificate, 4, "01 0a 41 0e");
    ends_fini(&e);
}

/* A client with keys that are 1 or 2 bytes shorter. */
static void shorter_keys(void **state)
{
    (void)state;
    begin(&off);
    for (size_t size = 126; size <= 128; size++) {
        uint8_t certificate[160], key[128];
        struct wr w = rtmfp_wr(certificate, sizeof(certificate));
        struct rtmfp_certificate c;

        memset(key, 0x35, sizeof(key));
        rtmfp_certificate_write_static(&w, false, RTMFP_GROUP_2, rtmfp_bytes(key, size));
        assert_true(rtmfp_certificate_read(&c, rtmfp_bytes(certificate, w.len)));
        assert_true(rtmfp_public_is_valid(e.dh, RTMFP_GROUP_2, c.key[RTMFP_GROUP_2]));
    }
    ends_fini(&e);
}

/* ---- 10: sizes; 3.1: a whole certificate of three keys fits into one */

static void sizes(void **state)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct wr w;

    (void)state;
    begin(&off);
    w = rtmfp_startup_begin(&e.startup, datagram, 0);
    assert_int_equal(w.limit, 1192);
    ends_fini(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rhello_as_they_cut_it), TEST(skrc_as_they_cut_it), TEST(rikeying_is_to_its_id),
        TEST(signatures), TEST(time_is_in_every_packet), TEST(hellos),
        TEST(group_2_is_offered_first), TEST(shorter_keys), TEST(sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
