/* SPDX-License-Identifier: MIT */
/* test_srt_handshake.c - SRT handshakes: byte for byte as libsrt 1.5.1
 * sends them, and rejections. */
#include "hex.h"
#include "proto/srt/handshake.h"

#include <stdlib.h>

static const uint8_t key[SRT_COOKIE_KEY] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

#define ADDRESS "0100007f 00000000 00000000 00000000 "
#define INDUCTION "80000000 00000000 0000007b 00000000 " \
    "00000004 0000 0002 49b11605 000005dc 00002000 00000001 1682c2a2 00000000 " ADDRESS
/* Header, and the body up to the cookie; encryption and extension field between. */
#define CONCLUSION(fields) "80000000 00000000 00000126 00000000 " \
    "00000005 " fields " 49b11605 000005dc 00002000 ffffffff 1682c2a2 c0ffee11 " ADDRESS
#define HSREQ "0001 0003 00010501 000000bf 00c8 00c8 "
#define SID_ABCDE "0005 0002 64636261 00000065 "
#define SID_PUBLISH "0005 0006 3a3a2123 696c3d72 782f6576 703d6d2c 696c6275 00006873 "
#define SALT "f5609850 807e9fe1 f7bc77d5 1fd6e3d3 "
#define KM24 "12202901 00000000 02000200 00000406 " SALT \
    "0c62aac5e380fa37ab71273a33c081fafa5c8336d2e14d27aa0fdbde8b05494f"

/* A datagram of exactly that size on the heap, so that reads after its end are noticed. */
struct datagram {
    uint8_t *bytes;
    size_t size;
    struct srt_packet p;
};

static struct datagram datagram_of(const uint8_t *bytes, size_t size)
{
    struct datagram d = { .bytes = malloc(size + !size), .size = size };

    assert_non_null(d.bytes);
    memcpy(d.bytes, bytes, size);
    (void)srt_packet_read(&d.p, d.bytes, size);
    return d;
}

static struct datagram datagram(const char *hex)
{
    uint8_t bytes[2048];

    return datagram_of(bytes, hex_bytes(hex, bytes, sizeof(bytes)));
}

static struct udp_addr owner(uint16_t port)
{
    struct udp_addr a;

    assert_ok(udp_addr_parse(&a, "127.0.0.1", port));
    return a;
}

/* ---- cookies */

/* Also computed by a SipHash in Python that passed the paper's vector. */
static void cookies_are_siphash(void **state)
{
    struct udp_addr at = owner(5000), other;

    (void)state;
    assert_int_equal(srt_cookie(key, &at, 1000), 0x7ca08e38);
    assert_int_equal(srt_cookie(key, &at, 1001), 0x5e58974c);
    at = owner(5001);
    assert_int_equal(srt_cookie(key, &at, 1000), 0x6c7eb0b3);
    assert_ok(udp_addr_parse(&other, "2001:db8::1", 65535));
    assert_int_equal(srt_cookie(key, &other, -1), 0x19bdecf9);
}

static void cookies_are_valid_for_two_minutes(void **state)
{
    struct udp_addr at = owner(5000), other = owner(5001);
    uint32_t cookie = srt_cookie(key, &at, 1000);

    (void)state;
    assert_true(srt_cookie_is_valid(key, &at, 1000, cookie));
    assert_true(srt_cookie_is_valid(key, &at, 1001, cookie));
    assert_false(srt_cookie_is_valid(key, &at, 1002, cookie));
    assert_false(srt_cookie_is_valid(key, &at, 999, cookie));
    assert_false(srt_cookie_is_valid(key, &other, 1000, cookie));
    assert_false(srt_cookie_is_valid(key, &at, 1000, 0));
}

/* ---- induction */

static void an_induction_is_answered(void **state)
{
    struct datagram d = datagram(INDUCTION);
    struct udp_addr from = owner(5000);
    uint8_t out[SRT_HANDSHAKE_MAX];
    size_t n;

    (void)state;
    n = srt_respond_induction(&d.p, key, &from, 1000, 0, 0x11, out);
    assert_hex(out, n, "80000000 00000000 00000011 1682c2a2 "
               "00000005 0000 4a17 49b11605 000005dc 00002000 00000001 1682c2a2 7ca08e38 " ADDRESS);
    assert_true(n <= d.size);
    n = srt_respond_induction(&d.p, key, &from, 1000, 24, 0x11, out);
    assert_hex(out + 20, 2, "0003");
    for (size_t cut = 0; cut < d.size; cut++) {
        struct datagram part = datagram_of(d.bytes, cut);

        if (cut >= SRT_HEADER)
            assert_int_equal(srt_respond_induction(&part.p, key, &from, 1, 0, 0, out), 0);
        free(part.bytes);
    }
    free(d.bytes);
}

static void what_is_no_induction_is_not_answered(void **state)
{
    static const struct {
        size_t at;
        const char *bytes;
    } rows[] = {
        { 0, "00000001" }, { 0, "80010000" }, { 12, "00000001" }, { 36, "00000000" },
        { 36, "fffffffe" }, { 36, "ffffffff" }, { 36, "000003e9" }, { 40, "00000000" },
        { 16, "00000003" },
    };
    struct udp_addr from = owner(5000);
    uint8_t out[SRT_HANDSHAKE_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct datagram d = datagram(INDUCTION);

        (void)hex_bytes(rows[i].bytes, d.bytes + rows[i].at, 4);
        (void)srt_packet_read(&d.p, d.bytes, d.size);
        assert_int_equal(srt_respond_induction(&d.p, key, &from, 1, 0, 0, out), 0);
        free(d.bytes);
    }
}

/* ---- conclusion */

static void a_conclusion_is_read(void **state)
{
    struct datagram d = datagram(CONCLUSION("0003 0007") HSREQ SID_ABCDE "0003 0010" KM24);
    struct srt_handshake h;

    (void)state;
    assert_int_equal(srt_handshake_read(&h, &d.p), SRT_WELCOME);
    assert_true(h.version == 5 && h.encryption == 3 && h.extensions == 7);
    assert_true(h.first_seq == 0x49b11605 && h.mtu == 1500 && h.window == 8192);
    assert_true(h.kind == SRT_CONCLUSION && h.id == 0x1682c2a2 && h.cookie == 0xc0ffee11);
    assert_hex(h.address, 16, ADDRESS);
    assert_true(h.has_hs && h.srt_version == SRT_VERSION && h.flags == 0xbf);
    assert_true(h.receiver_latency == 200 && h.sender_latency == 200);
    assert_true(h.has_streamid && h.streamid_size == 5);
    assert_string_equal(h.streamid, "abcde");
    assert_true(h.has_km && h.km_size == 64 && h.km >= d.bytes && h.km + 64 <= d.bytes + d.size);
    assert_hex(h.km, h.km_size, KM24);
    assert_false(h.filter || h.group || h.congestion[0]);
    free(d.bytes);
}

/* Everything but an extension that ends at its end is rejected, and nothing is read after it. */
static void a_conclusion_is_cut(void **state)
{
    struct datagram d = datagram(CONCLUSION("0003 0007") HSREQ SID_ABCDE "0003 0010" KM24);
    struct srt_handshake h;

    (void)state;
    for (size_t cut = SRT_HEADER; cut < d.size; cut++) {
        struct datagram part = datagram_of(d.bytes, cut);
        bool whole = cut == 64 + 16 || cut == 64 + 16 + 12;

        assert_int_equal(srt_handshake_read(&h, &part.p),
                         whole ? SRT_WELCOME : SRT_REFUSED_MALFORMED);
        free(part.bytes);
    }
    free(d.bytes);
}

static const struct {
    const char *name, *extensions;
    enum srt_refusal want;
} asked[] = {
    { "a publisher", HSREQ SID_PUBLISH, SRT_WELCOME },
    { "another order", SID_PUBLISH HSREQ, SRT_WELCOME },
    { "nothing", "", SRT_REFUSED_MALFORMED },
    { "no HSREQ", SID_PUBLISH, SRT_REFUSED_MALFORMED },
    { "HSREQ of two words", "0001 0002 00010501 000000bf", SRT_REFUSED_MALFORMED },
    { "HSREQ of four words", "0001 0004 00010501 000000bf 00000000 00000000", SRT_WELCOME },
    { "HSREQ of no words", "0001 0000", SRT_REFUSED_MALFORMED },
    { "twice the same", HSREQ HSREQ, SRT_REFUSED_MALFORMED },
    { "two stream ids", HSREQ SID_ABCDE SID_ABCDE, SRT_REFUSED_MALFORMED },
    { "two empty stream ids", HSREQ "0005 0000 0005 0000", SRT_REFUSED_MALFORMED },
    { "unknown ones", "0063 0001 ffffffff" HSREQ "ffff 0000 0000 0000", SRT_WELCOME },
    { "longer than the packet", HSREQ "0005 0002 61616161", SRT_REFUSED_MALFORMED },
    { "much longer", HSREQ "0063 ffff 61616161", SRT_REFUSED_MALFORMED },
    { "half a head", HSREQ "0005", SRT_REFUSED_MALFORMED },
    { "three bytes", HSREQ "000500", SRT_REFUSED_MALFORMED },
    { "libsrt 1.2", "0001 0003 000102ff 000000bf 00c8 00c8", SRT_REFUSED_VERSION },
    { "libsrt 1.3", "0001 0003 00010300 000000bf 00c8 00c8", SRT_WELCOME },
    { "stream mode", "0001 0003 00010501 000000e4 0000 0000 0006 0001 656c6966",
      SRT_REFUSED_STREAM_MODE },
    { "file", HSREQ "0006 0001 656c6966", SRT_REFUSED_CONGESTION },
    { "live", HSREQ "0006 0001 6576696c", SRT_WELCOME },
    { "live and more", HSREQ "0006 0002 6576696c 00000078", SRT_REFUSED_CONGESTION },
    { "of 20 bytes", HSREQ "0006 0005 6576696c 6576696c 6576696c 6576696c 6576696c",
      SRT_REFUSED_CONGESTION },
    { "filter", HSREQ "0007 0003 2c636566 736c6f63 0030313a", SRT_REFUSED_FILTER },
    { "group", HSREQ "0008 0002 00000001 00010000", SRT_REFUSED_GROUP },
    { "key", HSREQ "0003 0010" KM24, SRT_WELCOME },
    { "key, as an answer", HSREQ "0004 0010" KM24, SRT_WELCOME },
    { "no secret", HSREQ "0004 0001 00000003", SRT_WELCOME },
    { "no key at all", HSREQ "0003 0000", SRT_REFUSED_MALFORMED },
    { "two words of key", HSREQ "0003 0002 12202901 00000000", SRT_REFUSED_MALFORMED },
    { "two keys", HSREQ "0004 0001 00000003 0003 0001 00000003", SRT_REFUSED_MALFORMED },
};

static void extensions_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(asked); i++) {
        char text[1024];
        struct datagram d;
        struct srt_handshake h;

        print_message("  %s\n", asked[i].name);
        (void)snprintf(text, sizeof(text), CONCLUSION("0000 0005") "%s", asked[i].extensions);
        d = datagram(text);
        assert_int_equal(srt_handshake_read(&h, &d.p), asked[i].want);
        free(d.bytes);
    }
}

static void fields_are_checked(void **state)
{
    static const struct {
        size_t at;
        const char *bytes;
        enum srt_refusal want;
    } rows[] = {
        { 16, "00000004", SRT_REFUSED_VERSION }, { 16, "00000006", SRT_REFUSED_VERSION },
        { 20, "0001", SRT_REFUSED_MALFORMED }, { 20, "0005", SRT_REFUSED_MALFORMED },
        { 20, "0002", SRT_REFUSED_MALFORMED }, /* its key is of 24 bytes */
        { 20, "0000", SRT_WELCOME },           /* as libsrt without pbkeylen */
        { 24, "80000000", SRT_REFUSED_MALFORMED }, { 24, "7fffffff", SRT_WELCOME },
        { 28, "000000e7", SRT_REFUSED_MALFORMED }, { 28, "000000e8", SRT_WELCOME },
        { 28, "ffffffff", SRT_WELCOME },
        { 32, "00000000", SRT_REFUSED_MALFORMED }, { 32, "ffffffff", SRT_WELCOME },
        { 40, "00000000", SRT_REFUSED_MALFORMED },
        { 36, "00000000", SRT_WELCOME }, { 36, "000003f2", SRT_WELCOME }, /* another kind */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct datagram d = datagram(CONCLUSION("0003 0003") HSREQ "0003 0010" KM24);
        struct srt_handshake h;

        (void)hex_bytes(rows[i].bytes, d.bytes + rows[i].at, 4);
        assert_int_equal(srt_handshake_read(&h, &d.p), rows[i].want);
        free(d.bytes);
    }
}

/* ---- stream ids with any size, words reversed */

static void stream_ids_of_any_size(void **state)
{
    struct srt_handshake h = { .version = 5, .mtu = 1500, .window = 1, .kind = SRT_CONCLUSION,
                               .id = 1, .has_hs = true, .srt_version = SRT_VERSION };

    (void)state;
    for (size_t n = 1; n <= SRT_STREAMID_MAX; n++) {
        uint8_t out[SRT_HANDSHAKE_MAX];
        struct srt_handshake got;
        struct srt_packet p;
        size_t size;

        h.streamid[n - 1] = (char)(n % 255 + 1);
        h.streamid_size = n;
        size = srt_handshake_write(&h, 0, 0, false, out);
        assert_int_equal(size, 64 + 16 + 4 + (n + 3) / 4 * 4);
        assert_true(srt_packet_read(&p, out, size));
        assert_int_equal(srt_handshake_read(&got, &p), SRT_WELCOME);
        assert_int_equal(got.streamid_size, n);
        assert_memory_equal(got.streamid, h.streamid, n + 1);
        assert_int_equal(got.extensions, 5);
    }
}

static void a_stream_id_is_too_long(void **state)
{
    uint8_t bytes[64 + 16 + 4 + 516] = { 0 };
    struct datagram d;
    struct srt_handshake h;
    size_t n = hex_bytes(CONCLUSION("0000 0005") HSREQ "0005 0081", bytes, sizeof(bytes));

    (void)state;
    memset(bytes + n, 'a', sizeof(bytes) - n);
    d = datagram_of(bytes, sizeof(bytes));
    assert_int_equal(srt_handshake_read(&h, &d.p), SRT_REFUSED_MALFORMED);
    free(d.bytes);
}

/* Embedded zeros are part of it. */
static void a_stream_id_has_zeros(void **state)
{
    struct datagram d = datagram(CONCLUSION("0000 0005") HSREQ "0005 0003 00000061 62000000 "
                                 "00000000");
    struct srt_handshake h;

    (void)state;
    assert_int_equal(srt_handshake_read(&h, &d.p), SRT_WELCOME);
    assert_int_equal(h.streamid_size, 8);
    assert_memory_equal(h.streamid, "a\0\0\0\0\0\0b", 9);
    free(d.bytes);
}

/* ---- our output */

static void a_caller_is_written(void **state)
{
    uint8_t km[64], out[SRT_HANDSHAKE_MAX];
    struct srt_handshake h = {
        .version = 5, .encryption = 3, .first_seq = 0x49b11605, .mtu = 1500, .window = 8192,
        .kind = SRT_CONCLUSION, .id = 0x1682c2a2, .cookie = 0xc0ffee11,
        .address = { 1, 0, 0, 127 }, .has_hs = true, .srt_version = SRT_VERSION, .flags = SRT_FLAGS,
        .receiver_latency = 120, .sender_latency = 0x1234, .has_km = true, .km = km,
        .streamid = "abcde", .streamid_size = 5, .congestion = "live",
    };

    (void)state;
    h.km_size = hex_bytes(KM24, km, sizeof(km));
    assert_hex(out, srt_handshake_write(&h, 0x126, 0, false, out),
               CONCLUSION("0003 0007") "0001 0003 00010501 0000003f 0078 1234 0003 0010" KM24
               SID_ABCDE "0006 0001 6576696c");
    h = (struct srt_handshake){ .version = 4, .extensions = 2, .first_seq = 0x49b11605,
                                .mtu = 1500, .window = 8192, .kind = SRT_INDUCTION,
                                .id = 0x1682c2a2, .address = { 1, 0, 0, 127 } };
    assert_hex(out, srt_handshake_write(&h, 0x7b, 0, false, out), INDUCTION);
}

static const struct srt_terms terms = { .mss = 1500, .window = 8192, .recv_latency = CO_MS(120) };

static void a_conclusion_is_answered(void **state)
{
    struct datagram d = datagram(CONCLUSION("0003 0003") HSREQ "0003 0010" KM24);
    struct srt_handshake h;
    struct srt_agreed a;
    uint8_t out[SRT_HANDSHAKE_MAX];
    size_t n;

    (void)state;
    assert_int_equal(srt_handshake_read(&h, &d.p), SRT_WELCOME);
    srt_agree(&a, &h, &terms, 0x77);
    n = srt_respond_conclusion(&h, &a, h.km, h.km_size, 5, out);
    assert_hex(out, n, "80000000 00000000 00000005 1682c2a2 "
               "00000005 0000 0003 49b11605 000005dc 00002000 ffffffff 00000077 c0ffee11 " ADDRESS
               "0002 0003 00010501 0000003f 00c8 00c8 0004 0010" KM24);
    n = srt_respond_conclusion(&h, &a, NULL, 0, 5, out);
    assert_int_equal(n, 64 + 16);
    assert_hex(out + 22, 2, "0001");
    n = srt_respond_refusal(&h, SRT_REFUSED_CONFLICT, 5, out);
    assert_hex(out, n, "80000000 00000000 00000005 1682c2a2 "
               "00000005 0000 0000 49b11605 000005dc 00002000 00000969 1682c2a2 c0ffee11 " ADDRESS);
    free(d.bytes);
}

static void both_sides_agree(void **state)
{
    static const struct {
        const char *name;
        struct srt_terms terms;
        uint32_t mtu, window;
        uint16_t receiver, sender;
        unsigned payload, agreed_window;
        co_usec recv, send;
    } rows[] = {
        { "ours", { 1500, 8192, CO_MS(120), 0 }, 1500, 8192, 0, 0, 1456, 8192, CO_MS(120), 0 },
        { "what it wants for us", { 1500, 8192, CO_MS(120), 0 }, 1500, 8192, 0, 200, 1456, 8192,
          CO_MS(200), 0 },
        { "its own", { 1500, 8192, CO_MS(120), 0 }, 1500, 8192, 300, 0, 1456, 8192, CO_MS(120),
          CO_MS(300) },
        { "ours for it", { 1500, 8192, CO_MS(120), CO_MS(500) }, 1500, 8192, 300, 0, 1456, 8192,
          CO_MS(120), CO_MS(500) },
        { "much", { 1500, 8192, 0, 0 }, 1500, 8192, 65535, 65535, 1456, 8192, CO_MS(65535),
          CO_MS(65535) },
        { "a small packet", { 1500, 8192, 0, 0 }, 1400, 32, 0, 0, 1356, 32, 0, 0 },
        { "ours are smaller", { 1360, 100, 0, 0 }, 1500, 8192, 0, 0, 1316, 100, 0, 0 },
        { "large packets", { 9000, 100, 0, 0 }, 0xffffffff, 0xffffffff, 0, 0, 1456, 100, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct srt_handshake h = { .id = 7, .first_seq = 9, .mtu = rows[i].mtu,
                                   .window = rows[i].window, .srt_version = 0x010500,
                                   .receiver_latency = rows[i].receiver,
                                   .sender_latency = rows[i].sender };
        struct srt_agreed a;

        print_message("  %s\n", rows[i].name);
        srt_agree(&a, &h, &rows[i].terms, 3);
        assert_true(a.id == 3 && a.peer_id == 7 && a.first_seq == 9 && a.peer_version == 0x010500);
        assert_int_equal(a.payload, rows[i].payload);
        assert_int_equal(a.window, rows[i].agreed_window);
        assert_int_equal(a.recv_latency, rows[i].recv);
        assert_int_equal(a.send_latency, rows[i].send);
    }
}

static void reject_counters_have_texts(void **state)
{
    (void)state;
    assert_string_equal(srt_refusal_text(1010), "wrong passphrase");
    assert_string_equal(srt_refusal_text(2409), "the stream is already published");
    assert_string_equal(srt_refusal_text(3000), "unknown reason");
}

static void reject_counters_have_places(void **state)
{
    static const uint32_t codes[] = {
#define XX(name, number, text) SRT_REFUSED_##name,
        SRT_REFUSALS(XX)
#undef XX
    };

    (void)state;
    for (unsigned i = 0; i < SRT_REFUSAL_KINDS; i++)
        assert_int_equal(srt_refusal_index(codes[i]), i);
    assert_int_equal(srt_refusal_index(SRT_REFUSED_SYSTEM), 0);
    assert_int_equal(srt_refusal_index(SRT_REFUSED_SERVER), SRT_REFUSAL_KINDS - 1);
    assert_int_equal(srt_refusal_index(SRT_WELCOME), SRT_REFUSAL_KINDS);
    assert_int_equal(srt_refusal_index(1016u << 16), SRT_REFUSAL_KINDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cookies_are_siphash), TEST(cookies_are_valid_for_two_minutes),
        TEST(an_induction_is_answered), TEST(what_is_no_induction_is_not_answered),
        TEST(a_conclusion_is_read), TEST(a_conclusion_is_cut), TEST(extensions_are_checked),
        TEST(fields_are_checked), TEST(stream_ids_of_any_size), TEST(a_stream_id_is_too_long),
        TEST(a_stream_id_has_zeros), TEST(a_caller_is_written), TEST(a_conclusion_is_answered),
        TEST(both_sides_agree), TEST(reject_counters_have_texts), TEST(reject_counters_have_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
