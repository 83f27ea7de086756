/* SPDX-License-Identifier: MIT */
/* test_rtmp_command.c - commands, data, events as they come in, and what a server says to them. */
#include "proto/rtmp/command.h"
#include "proto/rtmp/reply.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct rtmp_msg message(uint8_t type, const struct wr *w)
{
    return (struct rtmp_msg){ .type = type, .size = (uint32_t)w->len, .payload = w->buf };
}

/* connect as an encoder sends it. */
static void build_connect(struct wr *w)
{
    wr_init(w, 4096);
    amf0_string(w, "connect");
    amf0_number(w, 1);
    amf0_object_begin(w);
    amf0_set_string(w, "app", "live");
    amf0_set_string(w, "tcUrl", "rtmp://ip/live");
    amf0_set_string(w, "pageUrl", "http://a/b");
    amf0_set_number(w, "objectEncoding", 3);
    amf0_key(w, "fourCcList");
    amf0_strict_begin(w, 1);
    amf0_string(w, "hvc1");
    amf0_set_number(w, "capsEx", 14);
    amf0_end(w);
    amf0_object_begin(w);
    amf0_set_string(w, "srs_id", "abc");
    amf0_end(w);
}

static void check_connect(const struct rtmp_command *c)
{
    struct rtmp_connect k;

    assert_int_equal(c->id, RTMP_CMD_CONNECT);
    assert_true(c->transaction == 1);
    assert_ok(rtmp_connect_parse(&k, c));
    assert_string_equal(k.app, "live");
    assert_string_equal(k.tc_url, "rtmp://ip/live");
    assert_string_equal(k.page_url, "http://a/b");
    assert_string_equal(k.swf_url, "");
    assert_true(k.object_encoding == 3);
    assert_true(k.enhanced);
    assert_int_equal(k.caps_ex, 14);
    assert_string_equal(amf_get_string(k.extra, "srs_id", ""), "abc");
}

static void test_connect(void **state)
{
    struct rtmp_command c;
    struct rtmp_msg msg;
    struct wr w;

    (void)state;
    build_connect(&w);
    msg = message(RTMP_COMMAND, &w);
    assert_ok(rtmp_command_parse(&c, &msg));
    check_connect(&c);
    rtmp_command_free(&c);
    rtmp_command_free(&c);
    wr_free(&w);
}

/* connect whose object has one member more, which put() writes. */
static bool takes_opus(void (*put)(struct wr *w))
{
    struct rtmp_command c;
    struct rtmp_connect k;
    struct rtmp_msg msg;
    struct wr w;
    bool opus;

    wr_init(&w, 4096);
    amf0_string(&w, "connect");
    amf0_number(&w, 1);
    amf0_object_begin(&w);
    amf0_set_string(&w, "tcUrl", "rtmp://ip/live");
    put(&w);
    msg = message(RTMP_COMMAND, &w);
    assert_ok(rtmp_command_parse(&c, &msg));
    assert_ok(rtmp_connect_parse(&k, &c));
    opus = k.opus;
    rtmp_command_free(&c);
    wr_free(&w);
    return opus;
}

static void put_list(struct wr *w, const char *code)
{
    amf0_key(w, "fourCcList");
    amf0_strict_begin(w, 3);
    amf0_string(w, "hvc1");
    amf0_number(w, 1);
    amf0_string(w, code);
    amf0_end(w);
}

static void put_map(struct wr *w, const char *map, const char *code, double can)
{
    amf0_key(w, map);
    amf0_object_begin(w);
    amf0_set_number(w, code, can);
    amf0_end(w);
    amf0_end(w);
}

static void put_none(struct wr *w) { amf0_end(w); }
static void put_video_list(struct wr *w) { put_list(w, "av01"); }
static void put_opus_list(struct wr *w) { put_list(w, "Opus"); }
static void put_star_list(struct wr *w) { put_list(w, "*"); }
static void put_text_list(struct wr *w) { amf0_set_string(w, "fourCcList", "Opus"); amf0_end(w); }
static void put_decodes(struct wr *w) { put_map(w, "audioFourCcInfoMap", "Opus", 1); }
static void put_encodes(struct wr *w) { put_map(w, "audioFourCcInfoMap", "Opus", 2); }
static void put_forwards(struct wr *w) { put_map(w, "audioFourCcInfoMap", "*", 4); }
static void put_video_map(struct wr *w) { put_map(w, "videoFourCcInfoMap", "*", 5); }
static void put_edge(struct wr *w)
{
    amf0_end(w);
    amf0_object_begin(w);
    amf0_set_string(w, "srs_version", "6.0.166");
    amf0_end(w);
}

static void test_who_takes_opus(void **state)
{
    (void)state;
    assert_false(takes_opus(put_none));
    assert_false(takes_opus(put_video_list));
    assert_false(takes_opus(put_text_list));
    assert_false(takes_opus(put_encodes));
    assert_false(takes_opus(put_video_map));
    assert_true(takes_opus(put_opus_list));
    assert_true(takes_opus(put_star_list));
    assert_true(takes_opus(put_decodes));
    assert_true(takes_opus(put_forwards));
    assert_true(takes_opus(put_edge)); /* an edge of SRS passes on what it gets */
}

static void test_amf3_types_begin_with_a_byte(void **state)
{
    struct rtmp_command c;
    struct rtmp_msg msg;
    struct wr w, amf3;

    (void)state;
    build_connect(&w);
    for (int first = -1; first <= 3; first++) { /* -1: left out */
        wr_init(&amf3, 4096);
        if (first >= 0)
            wr_u8(&amf3, (uint8_t)first);
        wr_bytes(&amf3, w.buf, w.len);
        msg = message(RTMP_COMMAND_AMF3, &amf3);
        if (first == 1 || first == 2) {
            assert_err(rtmp_command_parse(&c, &msg), first == 1 ? ERR_AMF0 : ERR_TRUNCATED);
        } else {
            assert_ok(rtmp_command_parse(&c, &msg));
            check_connect(&c);
            rtmp_command_free(&c);
        }
        wr_free(&amf3);
    }
    wr_free(&w);
}

static void test_commands_cut_everywhere(void **state)
{
    struct wr w;

    (void)state;
    build_connect(&w);
    for (size_t cut = 0; cut < w.len; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1);
        struct rtmp_msg msg = { .type = RTMP_COMMAND, .size = (uint32_t)cut, .payload = exact };
        struct rtmp_command c;
        err_t err;

        memcpy(exact, w.buf, cut);
        err = rtmp_command_parse(&c, &msg);
        if (!err) { /* a cut between two values */
            assert_true(cut == 10 || cut == 19 || c.count == 1);
            rtmp_command_free(&c);
        }
        assert_true(!err || err_code(err) == ERR_TRUNCATED);
        err_free(&err);
        free(exact);
    }
    wr_free(&w);
}

static void test_arguments(void **state)
{
    struct rtmp_command c;
    struct rtmp_play p;
    struct rtmp_msg msg;
    struct wr w;

    (void)state;
    wr_init(&w, 4096);
    amf0_string(&w, "play");
    amf0_number(&w, 4);
    amf0_null(&w);
    amf0_string(&w, "key");
    amf0_number(&w, -1000);
    msg = message(RTMP_COMMAND, &w);
    assert_ok(rtmp_command_parse(&c, &msg));
    assert_int_equal(c.id, RTMP_CMD_PLAY);
    rtmp_play_parse(&p, &c);
    assert_string_equal(p.name, "key");
    assert_true(p.start == -1000 && p.duration == -1 && p.reset);
    assert_string_equal(rtmp_command_string(&c, 2, "-"), "-");
    assert_string_equal(rtmp_command_string(&c, 9, "-"), "-");
    rtmp_command_free(&c);
    amf0_number(&w, 10);
    amf0_boolean(&w, false);
    for (int i = 0; i < 100; i++) /* more than we want to know */
        amf0_null(&w);
    msg = message(RTMP_COMMAND, &w);
    assert_ok(rtmp_command_parse(&c, &msg));
    assert_int_equal(c.count, RTMP_COMMAND_ARGS);
    rtmp_play_parse(&p, &c);
    assert_true(p.duration == 10 && !p.reset);
    rtmp_command_free(&c);
    wr_free(&w);
}

static const struct {
    const char *bytes;
    size_t size;
    enum err_code code;
} bad_rows[] = {
    { "", 0, ERR_TRUNCATED },
    { "\x05", 1, ERR_AMF0 },                         /* a name that is null */
    { "\x02\x00\x04play\x02\x00\x01" "1", 11, ERR_AMF0 }, /* a transaction that is text */
    { "\x02\x00\x04play\x00", 8, ERR_TRUNCATED },
    { "\x02\x00\x04play\x04", 8, ERR_AMF0 },
};

static void test_bad_commands(void **state)
{
    struct rtmp_command c = { .name = "" };
    struct rtmp_connect k;

    (void)state;
    for (size_t i = 0; i < COUNT(bad_rows); i++) {
        struct rtmp_msg msg = { .type = RTMP_COMMAND, .size = (uint32_t)bad_rows[i].size,
                                .payload = (uint8_t *)(uintptr_t)bad_rows[i].bytes };

        assert_err(rtmp_command_parse(&c, &msg), bad_rows[i].code);
    }
    assert_err(rtmp_connect_parse(&k, &c), ERR_RTMP_CONNECT);
    c.count = 1;
    c.args[0] = amf_object();
    assert_err(rtmp_connect_parse(&k, &c), ERR_RTMP_CONNECT);
}

static const struct {
    const char *name, *bytes;
    size_t size;
    enum err_code code;
    struct rtmp_event want;
} events[] = {
    { "ping", "\x00\x06\x00\x00\x00\x01", 6, ERR_OK, { RTMP_PING_REQUEST, 1, 0 } },
    { "buffer", "\x00\x03\x00\x00\x00\x01\x00\x00\x0b\xb8", 10, ERR_OK,
      { RTMP_SET_BUFFER_LENGTH, 1, 3000 } },
    { "buffer, cut", "\x00\x03\x00\x00\x00\x01\x00\x00\x0b", 9, ERR_RTMP_MSG_SIZE, { 0, 0, 0 } },
    { "ping, cut", "\x00\x06\x00\x00\x00", 5, ERR_RTMP_MSG_SIZE, { 0, 0, 0 } },
    { "cut", "\x00", 1, ERR_RTMP_MSG_SIZE, { 0, 0, 0 } },
    { "event of one byte", "\x00\x1a\x01", 3, ERR_OK, { 26, 1, 0 } },
    { "unknown event", "\x01\x00", 2, ERR_OK, { 256, 0, 0 } },
};

static void test_events(void **state)
{
    struct rtmp_event e;

    (void)state;
    for (size_t i = 0; i < COUNT(events); i++) {
        struct rtmp_msg msg = { .size = (uint32_t)events[i].size,
                                .payload = (uint8_t *)(uintptr_t)events[i].bytes };

        assert_err(rtmp_event_parse(&e, &msg), events[i].code);
        if (events[i].code)
            continue;
        assert_int_equal(e.id, events[i].want.id);
        assert_int_equal(e.value, events[i].want.value);
        assert_int_equal(e.more, events[i].want.more);
    }
}

/* Parse what a server says. */
static void read_reply(struct wr *w, struct rtmp_command *c)
{
    struct rtmp_msg msg = message(RTMP_COMMAND, w);

    assert_ok(wr_err(w, "reply"));
    assert_ok(rtmp_command_parse(c, &msg));
    wr_free(w);
}

static void test_connect_reply(void **state)
{
    const struct rtmp_reply_server us = { "me/1.2", "1.2", 7, "abcd" };
    const struct amf_value *data;
    struct rtmp_command c;
    struct wr w;

    (void)state;
    wr_init(&w, 4096);
    rtmp_reply_connect(&w, 1, 3, true, &us);
    read_reply(&w, &c);
    assert_int_equal(c.id, RTMP_CMD_RESULT);
    assert_true(c.transaction == 1);
    assert_int_equal(c.count, 2);
    assert_true(amf_get_number(&c.args[0], "capsEx", 0) == 14);
    assert_true(amf_get_number(amf_get(&c.args[0], "videoFourCcInfoMap"), "*", 0) == 4);
    assert_string_equal(amf_get_string(&c.args[1], "code", ""), "NetConnection.Connect.Success");
    assert_true(amf_get_number(&c.args[1], "objectEncoding", 0) == 3);
    data = amf_get(&c.args[1], "data");
    assert_string_equal(amf_get_string(data, "srs_sig", ""), "SRS");
    assert_string_equal(amf_get_string(data, "srs_server", ""), "me/1.2");
    assert_string_equal(amf_get_string(data, "srs_version", ""), "1.2");
    assert_string_equal(amf_get_string(data, "srs_id", ""), "abcd");
    assert_true(amf_get_number(data, "srs_pid", 0) == 7);
    rtmp_command_free(&c);

    wr_init(&w, 4096);
    rtmp_reply_connect(&w, 1, 0, false, NULL);
    read_reply(&w, &c);
    assert_null(amf_get(&c.args[0], "capsEx"));
    assert_null(amf_get(&c.args[1], "data"));
    rtmp_command_free(&c);
}

static void test_other_replies(void **state)
{
    struct rtmp_command c;
    struct wr w;

    (void)state;
    for (int s = 0; s <= RTMP_SEEK_NOTIFY; s++) {
        wr_init(&w, 4096);
        rtmp_reply_status(&w, (enum rtmp_status)s, NULL, "key");
        read_reply(&w, &c);
        assert_int_equal(c.id, RTMP_CMD_ON_STATUS);
        assert_int_equal(c.args[0].type, AMF_NULL);
        assert_memory_equal(amf_get_string(&c.args[1], "code", "    "), "Net", 3);
        assert_true(strlen(amf_get_string(&c.args[1], "level", "")) >= 5);
        assert_true(strlen(amf_get_string(&c.args[1], "description", "")) > 5);
        assert_string_equal(amf_get_string(&c.args[1], "details", ""), "key");
        rtmp_command_free(&c);
    }
    wr_init(&w, 4096);
    rtmp_reply_error(&w, 5, RTMP_CONNECT_REJECTED, "no, thanks");
    read_reply(&w, &c);
    assert_int_equal(c.id, RTMP_CMD_ERROR);
    assert_string_equal(amf_get_string(&c.args[1], "description", ""), "no, thanks");
    rtmp_command_free(&c);
    wr_init(&w, 4096);
    rtmp_reply_result(&w, 5);
    read_reply(&w, &c);
    assert_int_equal(c.args[1].type, AMF_UNDEFINED);
    rtmp_command_free(&c);
    wr_init(&w, 4096);
    rtmp_reply_number(&w, 5, 1);
    read_reply(&w, &c);
    assert_true(rtmp_command_number(&c, 1, 0) == 1);
    rtmp_command_free(&c);
    wr_init(&w, 4096);
    rtmp_reply_fc(&w, RTMP_UNPUBLISH_SUCCESS);
    read_reply(&w, &c);
    assert_int_equal(c.id, RTMP_CMD_ON_FC_UNPUBLISH);
    rtmp_command_free(&c);
    wr_init(&w, 4096);
    rtmp_reply_bw_done(&w);
    read_reply(&w, &c);
    assert_int_equal(c.id, RTMP_CMD_ON_BW_DONE);
    rtmp_command_free(&c);
}

static void test_data_replies(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, 4096);
    rtmp_reply_sample_access(&w, true, false);
    assert_memory_equal(w.buf + w.len - 4, "\x01\x01\x01\x00", 4);
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_connect), TEST(test_who_takes_opus),
        TEST(test_amf3_types_begin_with_a_byte),
        TEST(test_commands_cut_everywhere), TEST(test_arguments), TEST(test_bad_commands),
        TEST(test_events), TEST(test_connect_reply), TEST(test_other_replies),
        TEST(test_data_replies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
