/* SPDX-License-Identifier: MIT */
/* test_rtsp_reader.c - messages and frames read from memory, whole and cut at every byte. */
#include "base/text.h"
#include "base/wr.h"
#include "io_mem.h"
#include "proto/rtp/header.h"
#include "proto/rtsp/reader.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct rtsp_limits limits = {
    .max_line = 100, .max_head = 1000, .max_fields = 8, .max_body = 5000,
    .idle_time = CO_FOREVER, .message_time = CO_FOREVER,
};

/* How a row is read. */
enum { PLAIN = 0, FRAMES = 1, FORGIVING = 2, SHARED = 4 };

static void describe_message(struct wr *w, const struct rtsp_message *m)
{
    if (m->is_request)
        wr_printf(w, "%s %s", m->method == RTSP_OTHER ? m->verb : rtsp_method_name(m->method),
                  m->url);
    else
        wr_printf(w, "=%d %s", m->status, m->reason);
    wr_printf(w, " #%lld", (long long)m->cseq);
    if (m->version == RTSP_V_HTTP)
        wr_text(w, " http");
    if (m->wrong)
        wr_printf(w, " !%d", m->wrong);
    for (unsigned i = 0; i < m->n_fields; i++) {
        const char *name = m->head + m->fields[i].name;

        if (strcmp(name, "CSeq") != 0)
            wr_printf(w, " %s=%s,", name, m->head + m->fields[i].value);
    }
    if (m->size)
        wr_printf(w, " {%.*s}", (int)m->size, (const char *)m->body);
    wr_text(w, "|");
}

static void describe(struct wr *w, const struct rtsp_item *i)
{
    if (i->kind == RTSP_ITEM_MESSAGE)
        describe_message(w, i->message);
    else
        wr_printf(w, "$%d:%.*s|", i->channel, (int)i->size, (const char *)i->data);
}

struct run {
    struct wr text;
    int status;
    int64_t cseq;
    uint64_t skipped;
};

static void set_up(struct rtsp_reader *r, struct io *io, unsigned how)
{
    rtsp_reader_init(r, io, &limits);
    r->frames = how & (FRAMES | FORGIVING);
    r->forgiving = how & FORGIVING;
    rtsp_reader_add_channel(r, 0);
    rtsp_reader_add_channel(r, 1);
}

static void end(struct rtsp_reader *r, struct run *run)
{
    run->status = r->status;
    run->cseq = r->cseq;
    run->skipped = r->skipped;
    rtsp_reader_fini(r);
    wr_u8(&run->text, 0);
}

static err_t read_waiting(const void *bytes, size_t size, size_t piece, unsigned how,
                          struct run *run)
{
    struct rtsp_reader r;
    struct rtsp_item item;
    struct io_mem m;
    err_t err;

    wr_init(&run->text, 1 << 20);
    io_mem_init(&m, bytes, size);
    m.piece = piece;
    set_up(&r, &m.io, how);
    while (!(err = rtsp_reader_next(&r, &item)))
        describe(&run->text, &item);
    end(&r, run);
    return err;
}

static void on_frame(void *arg, uint8_t channel, const uint8_t *data, size_t size)
{
    describe(arg, &(struct rtsp_item){ .kind = RTSP_ITEM_FRAME, .channel = channel, .data = data,
                                       .size = size });
}

/* As a player's coroutine does, or a publisher's. */
static err_t read_now(const void *bytes, size_t size, size_t piece, unsigned how, struct run *run)
{
    struct rtsp_reader r;
    struct rtsp_item item;
    struct io_mem m;
    err_t err;
    size_t n;

    wr_init(&run->text, 16 << 20);
    io_mem_init(&m, bytes, size);
    m.piece = piece;
    set_up(&r, &m.io, how);
    do {
        if (how & SHARED)
            err = rtsp_reader_frames(&r, false, on_frame, &run->text, &n);
        else
            err = rtsp_reader_fill(&r, false, &n);
        do {
            if (!err)
                err = rtsp_reader_take(&r, &item);
            if (!err && item.kind != RTSP_ITEM_NONE)
                describe(&run->text, &item);
        } while (!err && item.kind != RTSP_ITEM_NONE);
        rtsp_reader_trim(&r);
    } while (!err);
    end(&r, run);
    return err;
}

#define Q(method, url, n) method " " url " RTSP/1.0\r\nCSeq: " n "\r\n"

#define IN(text) text, sizeof(text) - 1

static const struct {
    const char *name, *in;
    size_t size; /* frames have bytes of value 0 */
    const char *out;
    unsigned how;
} good[] = {
    { "a request", IN(Q("OPTIONS", "*", "1") "\r\n"), "OPTIONS * #1|", PLAIN },
    { "bare line feeds", IN("OPTIONS * RTSP/1.0\nCSeq: 1\n\n"), "OPTIONS * #1|", PLAIN },
    { "line ends are mixed", IN("OPTIONS * RTSP/1.0\nCSeq: 1\r\nA: b\n\r\n"), "OPTIONS * #1 A=b,|",
      PLAIN },
    { "no spaces", IN("OPTIONS * RTSP/1.0\r\ncseq:1\r\nA:b\r\n\r\n"), "OPTIONS * #1 cseq=1, A=b,|",
      PLAIN },
    { "many spaces", IN("OPTIONS  *  RTSP/1.0 \r\nCSeq  :\t 1 \r\nA : b c \t\r\n\r\n"),
      "OPTIONS * #1 A=b c,|", PLAIN },
    { "an empty value", IN(Q("OPTIONS", "*", "1") "A:\r\nB: \r\n\r\n"), "OPTIONS * #1 A=, B=,|",
      PLAIN },
    { "a value with colons", IN(Q("PLAY", "rtsp://h:554/a/b?c=d:e", "2") "A: b: c\r\n\r\n"),
      "PLAY rtsp://h:554/a/b?c=d:e #2 A=b: c,|", PLAIN },
    { "a space in the url", IN("DESCRIBE rtsp://h/a b RTSP/1.0\r\nCSeq: 2\r\n\r\n"),
      "DESCRIBE rtsp://h/a b #2|", PLAIN },
    { "a value in two lines",
      IN(Q("SETUP", "/a", "3") "Transport: RTP/AVP,\r\n RTP/AVP/TCP\r\n\r\n"),
      "SETUP /a #3 Transport=RTP/AVP,   RTP/AVP/TCP,|", PLAIN },
    { "empty lines before", IN("\r\n\n\r\n" Q("OPTIONS", "*", "1") "\r\n"), "OPTIONS * #1|",
      PLAIN },
    { "Latin-1", IN(Q("OPTIONS", "/caf\xe9", "1") "\r\n"), "OPTIONS /caf\xe9 #1|", PLAIN },
    { "a body", IN(Q("ANNOUNCE", "/a", "2") "Content-Length: 5\r\n\r\nv=0\r\n"),
      "ANNOUNCE /a #2 Content-Length=5, {v=0\r\n}|", PLAIN },
    { "a length of nothing", IN(Q("GET_PARAMETER", "/a", "2") "Content-Length: 0\r\n\r\n"),
      "GET_PARAMETER /a #2 Content-Length=0,|", PLAIN },
    { "the same length twice",
      IN(Q("ANNOUNCE", "/a", "2") "Content-Length: 1\r\ncontent-length:1\r\n\r\nx"),
      "ANNOUNCE /a #2 Content-Length=1, content-length=1, {x}|", PLAIN },
    { "several in one piece", IN(Q("OPTIONS", "*", "1") "\r\n" Q("ANNOUNCE", "/a", "2")
      "Content-Length: 3\r\n\r\nabc\r\n" Q("PLAY", "/a", "3") "\r\n"),
      "OPTIONS * #1|ANNOUNCE /a #2 Content-Length=3, {abc}|PLAY /a #3|", PLAIN },
    { "another method", IN(Q("REGISTER", "/a", "1") "\r\n"), "REGISTER /a #1|", PLAIN },
    { "the case of a method counts", IN(Q("play", "/a", "1") "\r\n"), "play /a #1|", PLAIN },
    { "an answer", IN("RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n"), "=200 OK #1|", PLAIN },
    { "an answer without a reason", IN("RTSP/1.0 404\r\nCSeq: 1\r\n\r\n"), "=404  #1|", PLAIN },
    { "an answer of no number", IN("RTSP/1.0 OK\r\nCSeq: 1\r\n\r\n"), "=0 OK #1 !400|", PLAIN },
    { "an answer without CSeq", IN("RTSP/1.0 200 OK\r\n\r\n"), "=200 OK #-1|", PLAIN },
    { "frames", IN("$\1" "\0\3abc" "$\xff" "\0\1" "d"), "$1:abc|$255:d|", FRAMES },
    { "requests between frames", IN("$\1" "\0\3abc" Q("PLAY", "/a", "3") "\r\n$" "\2\0\1d\r\n"
      Q("TEARDOWN", "/a", "4") "\r\n"), "$1:abc|PLAY /a #3|$2:d|TEARDOWN /a #4|", FRAMES },
    { "answers between frames", IN("$\1" "\0\3abc" "RTSP/1.0 200 OK\r\nCSeq: 9\r\n\r\n$" "\2\0\1d"),
      "$1:abc|=200 OK #9|$2:d|", FRAMES },
    /* rejected, and the connection continues */
    { "no CSeq", IN("PLAY /a RTSP/1.0\r\n\r\n" Q("PLAY", "/b", "4") "\r\n"),
      "PLAY /a #-1 !400|PLAY /b #4|", PLAIN },
    { "CSeq of nothing", IN("PLAY /a RTSP/1.0\r\nCSeq:\r\n\r\n"), "PLAY /a #-1 !400|", PLAIN },
    { "a huge CSeq", IN(Q("PLAY", "/a", "4294967295") "\r\n" Q("PLAY", "/a", "4294967296") "\r\n"),
      "PLAY /a #4294967295|PLAY /a #-1 !400|", PLAIN },
    { "a CSeq that is none", IN(Q("PLAY", "/a", "-1") "\r\n" Q("PLAY", "/a", "1x") "\r\n"),
      "PLAY /a #-1 !400|PLAY /a #-1 !400|", PLAIN },
    { "RTSP/2.0", IN("PLAY /a RTSP/2.0\r\nCSeq: 1\r\n\r\n"), "PLAY /a #1 !505|", PLAIN },
    { "a word", IN("PLAY\r\nCSeq: 1\r\n\r\n" Q("PLAY", "/b", "4") "\r\n"),
      "PLAY  #1 !400|PLAY /b #4|", PLAIN },
    { "two words", IN("PLAY RTSP/1.0\r\nCSeq: 1\r\n\r\n"), "PLAY  #1 !400|", PLAIN },
    { "no version", IN("PLAY /a /b\r\nCSeq: 1\r\n\r\n"), "PLAY /a #1 !400|", PLAIN },
    { "a line without a colon", IN(Q("PLAY", "/a", "1") "hello\r\nA: b\r\n\r\n"),
      "PLAY /a #1 !400 A=b,|", PLAIN },
    { "a field without a name", IN(Q("PLAY", "/a", "1") ": b\r\n\r\n"), "PLAY /a #1 !400|", PLAIN },
    { "a name with a space", IN(Q("PLAY", "/a", "1") "A b: c\r\n\r\n"), "PLAY /a #1 !400|", PLAIN },
    { "a byte that has no place", IN(Q("PLAY", "/a", "1") "A: b\rc\x01" "d\r\n\r\n"),
      "PLAY /a #1 !400 A=b c d,|", PLAIN },
    /* a tunnel */
    { "GET", IN("GET /a HTTP/1.0\r\nx-sessioncookie: 1\r\n\r\n"),
      "GET /a #-1 http x-sessioncookie=1,|", PLAIN },
    /* cameras */
    { "garbage between frames", IN("$\1" "\0\4abcd" "xy$\7" "\0\4abcd$$" "\0\0\4efgh"),
      "$1:abcd|$0:efgh|", FORGIVING },
    { "a short Content-Length", IN("RTSP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nv=0\r\na=b\r\n"
      "RTSP/1.0 200 OK\r\nCSeq: 2\r\n\r\n"), "=200 OK #-1 Content-Length=3, {v=0}|=200 OK #2|",
      FORGIVING },
    { "a length that is none", IN("RTSP/1.0 200 OK\r\nContent-Length: -3\r\n\r\n$" "\0\0\1x"),
      "=200 OK #-1 Content-Length=-3,|$0:x|", FORGIVING },
    { "a line that is no field", IN("RTSP/1.0 200 OK\r\nfoo\r\nCSeq: 7\r\n\r\n"), "=200 OK #7|",
      FORGIVING },
    { "another version", IN("RTSP/1.1 200 OK\r\nCSeq: 7\r\n\r\n"), "=200 OK #7|", FORGIVING },
    { "a word that begins as a method", IN("PLAYS x\r\n$" "\0\0\4abcd"), "$0:abcd|", FORGIVING },
    { "a server that asks", IN(Q("OPTIONS", "*", "5") "\r\n"), "OPTIONS * #5|", FORGIVING },
};

static void whole_and_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        size_t size = good[i].size;

        for (size_t piece = 0; piece < 9; piece++) {
            struct run a, b, c;

            assert_err(read_waiting(good[i].in, size, piece, good[i].how, &a), ERR_IO_CLOSED);
            assert_err(read_now(good[i].in, size, piece, good[i].how, &b), ERR_IO_CLOSED);
            assert_err(read_now(good[i].in, size, piece, good[i].how | SHARED, &c), ERR_IO_CLOSED);
            if (strcmp((char *)a.text.buf, good[i].out) != 0)
                print_error("%s, in pieces of %zu\n", good[i].name, piece);
            assert_string_equal((char *)a.text.buf, good[i].out);
            assert_string_equal((char *)b.text.buf, good[i].out);
            assert_string_equal((char *)c.text.buf, good[i].out);
            assert_int_equal(a.status, 0);
            wr_free(&a.text);
            wr_free(&b.text);
            wr_free(&c.text);
        }
    }
}

/* Frames of all sizes, and now and then a message or an empty line, in pieces of all sizes. */
static void many_frames(void **state)
{
    static const size_t pieces[] = { 0, 1400, 16384, 4097, 701 };
    uint32_t dice = 7;
    struct wr in;

    (void)state;
    wr_init(&in, 8 << 20);
    for (unsigned i = 0; i < 600; i++) {
        uint8_t *p, head[RTP_INTERLEAVED];
        size_t size;

        dice = dice * 1664525 + 1013904223;
        size = dice >> (i % 8 == 3 ? 16 : 21);
        rtp_interleaved_build(head, (uint8_t)(i % 4), (uint16_t)size);
        wr_bytes(&in, head, sizeof(head));
        p = wr_reserve(&in, size);
        assert_non_null(p);
        memset(p, 'a' + (int)(i % 26), size);
        in.len += size;
        if (i % 50 == 3)
            wr_text(&in, "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 3\r\n\r\n$$$\r\n");
    }
    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct run a, b;

        assert_err(read_now(in.buf, in.len, pieces[i], FRAMES, &a), ERR_IO_CLOSED);
        assert_err(read_now(in.buf, in.len, pieces[i], FRAMES | SHARED, &b), ERR_IO_CLOSED);
        assert_true(a.text.len > in.len - in.len / 8);
        assert_int_equal(a.text.len, b.text.len);
        assert_memory_equal(a.text.buf, b.text.buf, a.text.len);
        wr_free(&a.text);
        wr_free(&b.text);
    }
    wr_free(&in);
}

/* The peer leaves after any byte: complete items are there, and nothing that was not sent. */
static void cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t size = 0; size < good[i].size; size++) {
            struct run run;

            assert_err(read_waiting(good[i].in, size, 3, good[i].how, &run), ERR_IO_CLOSED);
            assert_memory_equal(run.text.buf, good[i].out, run.text.len - 1);
            wr_free(&run.text);
        }
    }
}

static void ends(void **state)
{
    static const struct {
        const char *name, *in;
        int status;
        int64_t cseq;
        enum err_code code;
        unsigned how;
    } rows[] = {
        { "TLS", "\x16\x03\x01\x02hello", 400, -1, ERR_RTSP, PLAIN },
        { "a frame before SETUP", "$\1" "\0\1a", 400, -1, ERR_RTSP, PLAIN },
        { "garbage behind a frame", "$\1" "\1\1", 0, -1, ERR_IO_CLOSED, FRAMES },
        { "a negative length", Q("ANNOUNCE", "/a", "7") "Content-Length: -1\r\n\r\n", 400, 7,
          ERR_RTSP, PLAIN },
        { "two lengths", Q("ANNOUNCE", "/a", "7") "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
          400, 7, ERR_RTSP, PLAIN },
        { "a length of no digits", Q("ANNOUNCE", "/a", "7") "Content-Length: 1 2\r\n\r\n", 400, 7,
          ERR_RTSP, PLAIN },
        { "an empty length", Q("ANNOUNCE", "/a", "7") "Content-Length:\r\n\r\n", 400, 7, ERR_RTSP,
          PLAIN },
        { "a huge length",
          Q("ANNOUNCE", "/a", "7") "Content-Length: 99999999999999999999\r\n\r\n", 400, 7,
          ERR_RTSP, PLAIN },
        { "a large body", Q("ANNOUNCE", "/a", "7") "Content-Length: 5001\r\n\r\n", 413, 7,
          ERR_TOO_LARGE, PLAIN },
        { "many fields",
          Q("PLAY", "/a", "7") "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\nG:\r\nH:\r\n\r\n", 400, -1,
          ERR_TOO_MANY, PLAIN },
        { "the last answer is another one's", Q("PLAY", "/a", "7") "\r\n$" "\1\1\1", 400, -1,
          ERR_RTSP, PLAIN },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = strchr(rows[i].in, '$') ? 5 + (size_t)(strchr(rows[i].in, '$') - rows[i].in)
                                              : strlen(rows[i].in);

        for (size_t piece = 0; piece < 4; piece++) {
            struct run run;

            print_message("  %s\n", rows[i].name);
            assert_err(read_waiting(rows[i].in, size, piece, rows[i].how, &run), rows[i].code);
            assert_int_equal(run.status, rows[i].status);
            assert_int_equal(run.cseq, rows[i].cseq);
            wr_free(&run.text);
        }
    }
}

/* Each limit: the maximum, and one more. */
static void limits_hold(void **state)
{
    static const struct {
        size_t line, field, body;
        int status;
    } rows[] = {
        { 100, 10, 0, 0 }, { 101, 10, 0, 414 }, { 70000, 10, 0, 414 },
        { 50, 932, 0, 0 }, { 50, 933, 0, 400 }, { 50, 70000, 0, 400 },
        { 50, 10, 5000, 0 }, { 50, 10, 5001, 413 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece = 0; piece < 3; piece++) {
            struct run run;
            struct wr w;

            wr_init(&w, 1 << 20);
            wr_text(&w, "PLAY ");
            for (size_t k = 0; k < rows[i].line - 14; k++)
                wr_u8(&w, '/');
            wr_text(&w, " RTSP/1.0\r\nCSeq: 1\r\nA: ");
            for (size_t k = 0; k < rows[i].field - (rows[i].body ? 10 : 0); k++)
                wr_u8(&w, 'x');
            if (rows[i].body)
                wr_printf(&w, "\r\nContent-Length: %zu", rows[i].body);
            wr_text(&w, "\r\n\r\n");
            for (size_t k = 0; k < rows[i].body; k++)
                wr_u8(&w, 'b');
            assert_err(read_waiting(w.buf, w.len, piece, PLAIN, &run),
                       rows[i].status ? ERR_TOO_LARGE : ERR_IO_CLOSED);
            assert_int_equal(run.status, rows[i].status);
            assert_true(rows[i].status || strncmp((char *)run.text.buf, "PLAY ", 5) == 0);
            wr_free(&run.text);
            wr_free(&w);
        }
    }
}

/* Endless bytes that never become anything. */
static void nothing_for_ever(void **state)
{
    static const struct {
        const char *unit;
        unsigned how;
        enum err_code code;
    } rows[] = {
        { "\r\n", PLAIN, ERR_RTSP },
        { "\n", FRAMES, ERR_RTSP },
        { "PLAY", PLAIN, ERR_TOO_LARGE },
        { "$\7zzzz", FORGIVING, ERR_RTSP },
        { "zzzz", FORGIVING, ERR_RTSP },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct run run;
        struct wr w;

        wr_init(&w, 4 << 20);
        wr_text(&w, i == 3 ? "z" : "");
        while (w.len < 3 << 20)
            wr_text(&w, rows[i].unit);
        assert_err(read_waiting(w.buf, w.len, 0, rows[i].how, &run), rows[i].code);
        wr_free(&run.text);
        wr_free(&w);
    }
}

/* The largest frames, many of them, between messages. */
static void large_frames(void **state)
{
    static const size_t pieces[] = { 0, 1000, 1460, 65536, 65539 };

    (void)state;
    for (size_t p = 0; p < COUNT(pieces); p++) {
        struct rtsp_reader r;
        struct rtsp_item item;
        struct io_mem m;
        struct wr w;
        size_t frames = 0;
        err_t err;

        wr_init(&w, 1 << 22);
        for (int i = 0; i < 20; i++) {
            uint8_t head[RTSP_FRAME_HEAD];

            rtp_interleaved_build(head, 1, RTSP_FRAME_MAX);
            wr_bytes(&w, head, sizeof(head));
            for (int k = 0; k < RTSP_FRAME_MAX; k++)
                wr_u8(&w, (uint8_t)(i + k));
            wr_text(&w, Q("OPTIONS", "*", "1") "\r\n");
        }
        io_mem_init(&m, w.buf, w.len);
        m.piece = pieces[p];
        set_up(&r, &m.io, FRAMES);
        while (!(err = rtsp_reader_next(&r, &item))) {
            if (item.kind != RTSP_ITEM_FRAME)
                continue;
            assert_int_equal(item.size, RTSP_FRAME_MAX);
            for (size_t k = 0; k < item.size; k++) {
                if (item.data[k] != (uint8_t)(frames + k))
                    fail();
            }
            frames++;
        }
        assert_err(err, ERR_IO_CLOSED);
        assert_int_equal(frames, 20);
        assert_true(r.cap <= 256 * 1024);
        rtsp_reader_fini(&r);
        wr_free(&w);
    }
}

static void takes_too_long(void **state)
{
    static const struct rtsp_limits quick = { .max_line = 100, .max_head = 1000, .max_fields = 8,
                                              .max_body = 100, .idle_time = CO_FOREVER,
                                              .message_time = 1 };
    static const struct {
        const char *in;
        int status;
        bool forgiving, given;
    } rows[] = {
        { "PLAY ", 408, false, false },
        { Q("ANNOUNCE", "/a", "1") "Content-Length: 9\r\n\r\nabc", 408, false, false },
        { "$\1\1\1", 0, false, false },
        { "RTSP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nabc", 0, true, true },
        { "RTSP/1.0 200 OK\r\nContent-", 408, true, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_item item;
        struct rtsp_reader r;
        struct io_mem m;
        err_t err = NULL;
        size_t n;

        io_mem_init(&m, rows[i].in, strlen(rows[i].in));
        rtsp_reader_init(&r, &m.io, &quick);
        r.frames = true;
        r.forgiving = rows[i].forgiving;
        assert_ok(rtsp_reader_fill(&r, false, &n));
        do {
            err = rtsp_reader_take(&r, &item);
        } while (!err && item.kind == RTSP_ITEM_NONE);
        assert_int_equal(r.status, rows[i].status);
        assert_err(err, rows[i].given ? ERR_OK : ERR_IO_TIMEOUT);
        if (rows[i].given)
            assert_true(item.message->size == 3 && memcmp(item.message->body, "abc", 3) == 0);
        rtsp_reader_fini(&r);
    }
}

/* Bytes after the header of a tunnel's request belong to the tunnel. */
static void leaves(void **state)
{
    static const char in[] = "POST /a HTTP/1.0\r\nContent-Length: 32767\r\n\r\nREVTQ1JJ";
    struct rtsp_item item;
    struct rtsp_reader r;
    const uint8_t *rest;
    struct io_mem m;
    size_t n;

    (void)state;
    io_mem_init(&m, in, strlen(in));
    rtsp_reader_init(&r, &m.io, &limits);
    assert_ok(rtsp_reader_next(&r, &item));
    assert_int_equal(item.message->version, RTSP_V_HTTP);
    assert_string_equal(item.message->verb, "POST");
    rtsp_reader_detach(&r, &rest, &n);
    assert_int_equal(n, 8);
    assert_memory_equal(rest, "REVTQ1JJ", 8);
    rtsp_reader_fini(&r);
}

static void fields_and_lists(void **state)
{
    static const char in[] = Q("OPTIONS", "*", "1") "Require: a.b, onvif-replay;q=1\r\n"
                             "require: funky\r\n\r\n";
    struct rtsp_item item;
    struct rtsp_reader r;
    struct io_mem m;
    unsigned from = 0;

    (void)state;
    io_mem_init(&m, in, strlen(in));
    rtsp_reader_init(&r, &m.io, &limits);
    assert_ok(rtsp_reader_next(&r, &item));
    assert_true(text_list_has(rtsp_message_field(item.message, "Require"), "ONVIF-replay"));
    assert_false(text_list_has(rtsp_message_field(item.message, "Require"), "onvif"));
    assert_null(rtsp_message_field(item.message, "Proxy-Require"));
    assert_string_equal(rtsp_message_next(item.message, "REQUIRE", &from),
                        "a.b, onvif-replay;q=1");
    assert_string_equal(rtsp_message_next(item.message, "REQUIRE", &from), "funky");
    assert_null(rtsp_message_next(item.message, "REQUIRE", &from));
    rtsp_reader_fini(&r);
}

static void writes(void **state)
{
    static const char want[] = "DESCRIBE rtsp://h/a  b RTSP/1.0\r\nCSeq: 5\r\nA: b  c\r\nB: 7\r\n"
                               "Content-Length: 3\r\n\r\nabcRTSP/1.0 454 Session Not Found\r\n"
                               "CSeq: 6\r\n\r\nRTSP/1.0 400 Bad Request\r\nPublic: OPTIONS, PLAY"
                               "\r\n\r\nRTSP/1.0 299 Status\r\n\r\n";
    struct wr w;

    (void)state;
    wr_init(&w, 10000);
    rtsp_put_request(&w, RTSP_DESCRIBE, "rtsp://h/a\r\nb", 5);
    rtsp_put_field(&w, "A", "b\r\nc");
    rtsp_put_format(&w, "B", "%d", 7);
    rtsp_put_body(&w, "abc", 3);
    rtsp_put_status(&w, 454, 6);
    rtsp_put_body(&w, NULL, 0);
    rtsp_put_status(&w, 400, -1);
    rtsp_put_name(&w, "Public");
    rtsp_methods_put(&w, RTSP_BIT(RTSP_OPTIONS) | RTSP_BIT(RTSP_PLAY));
    rtsp_put_line_end(&w);
    rtsp_put_body(&w, NULL, 0);
    rtsp_put_status(&w, 299, -1);
    rtsp_put_body(&w, NULL, 0);
    wr_u8(&w, 0);
    assert_ok(wr_err(&w, "test"));
    assert_string_equal((char *)w.buf, want);
    wr_free(&w);
}

static void methods(void **state)
{
    static const struct {
        const char *text;
        unsigned set;
    } rows[] = {
        { "", 0 },
        { "OPTIONS", RTSP_BIT(RTSP_OPTIONS) },
        { "options,Play", RTSP_BIT(RTSP_OPTIONS) | RTSP_BIT(RTSP_PLAY) },
        { " OPTIONS ,, DESCRIBE\tFOO SETUPS", RTSP_BIT(RTSP_OPTIONS) | RTSP_BIT(RTSP_DESCRIBE) },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(rtsp_methods_parse(rows[i].text), rows[i].set);
    for (int m = 0; m < RTSP_OTHER; m++)
        assert_int_equal(rtsp_method_of(rtsp_method_name((enum rtsp_method)m)), m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_and_in_pieces), TEST(many_frames), TEST(cut_short), TEST(ends), TEST(limits_hold),
        TEST(nothing_for_ever), TEST(large_frames), TEST(takes_too_long), TEST(leaves),
        TEST(fields_and_lists), TEST(writes), TEST(methods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
