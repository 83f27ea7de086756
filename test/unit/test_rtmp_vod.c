/* SPDX-License-Identifier: MIT */
/* test_rtmp_vod.c - RTMP sessions that play files: positions, seeks, pauses, ends. */
#include "base/log.h"
#include "env.h"
#include "flv_film.h"
#include "live/impl.h"
#include "peer.h"
#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/command.h"
#include "rtmp_client_bytes.h"
#include "serve/rtmp/rtmp.h"
#include "vod_idle.h"

#include <math.h>
#include <sys/stat.h>

static struct session_env *env;
static struct script_io peer;

static void begin(const char *more)
{
    env = env_new_format("listen 1935; vhost __defaultVhost__ { chunk_size 60000; "
                         "vod { enabled on; dir %s; } %s }", dir, more);
    env->vod = vod_new(env->streams, env->conf, 1);
    script_init(&peer);
}

static void end(void)
{
    script_fini(&peer);
    vod_end_idle(env->vod);
    env_free(&env);
}

/* ---- bytes of the client */

/* name, transaction 0, null, numbers */
static void call(struct wr *out, const char *name, int n, const double *v)
{
    struct wr body;

    wr_init(&body, 4096);
    amf0_string(&body, name);
    amf0_number(&body, 0);
    amf0_null(&body);
    for (int i = 0; i < n; i++)
        amf0_number(&body, v[i]);
    client_command(out, 1, &body);
}

static void play(struct wr *out, const char *file, int n, const double *v)
{
    struct wr body;

    wr_init(&body, 4096);
    amf0_string(&body, "play");
    amf0_number(&body, 0);
    amf0_null(&body);
    amf0_string(&body, file);
    for (int i = 0; i < n; i++)
        amf0_number(&body, v[i]);
    client_command(out, 1, &body);
}

static void put_boolean(struct wr *out, const char *name, bool value)
{
    struct wr body;

    wr_init(&body, 4096);
    amf0_string(&body, name);
    amf0_number(&body, 0);
    amf0_null(&body);
    amf0_boolean(&body, value);
    amf0_number(&body, 12345);
    client_command(out, 1, &body);
}

static struct wr *hello(const char *tc_url)
{
    struct wr *out = script_put(&peer, "");

    client_handshake(out);
    client_connect(out, tc_url);
    client_call(out, 0, "createStream", 2, NULL);
    return out;
}

static err_t serve_client(void)
{
    return rtmp_session_run(env, &peer.io, "127.0.0.1");
}

/* ---- messages of the server as text */

static void describe_media(char *text, size_t size, const struct rtmp_msg *m)
{
    bool config = m->payload[1] == 0;
    char kind = m->type == RTMP_VIDEO ? 'V' : 'A';

    (void)snprintf(text, size, "%c%u%s ", kind, m->time,
                   config ? "c" : m->type == RTMP_VIDEO && m->payload[0] >> 4 == 1 ? "k" : "");
}

static void describe_command(char *text, size_t size, const struct rtmp_msg *m)
{
    struct rtmp_command c;
    const char *code;

    assert_ok(rtmp_command_parse(&c, m));
    code = c.count > 1 ? amf_get_string(&c.args[1], "code", "") : "";
    if (strncmp(code, "NetStream.", 10) == 0)
        (void)snprintf(text, size, "%s ", code + 10);
    else if (c.id == RTMP_CMD_RESULT && c.transaction == 9)
        (void)snprintf(text, size, "=%g ", rtmp_command_number(&c, 1, -1));
    rtmp_command_free(&c);
}

static void describe_data(char *text, size_t size, const struct rtmp_msg *m)
{
    struct rd r = rd_init(m->payload, m->size);
    struct amf_value name, info = amf_object();
    struct amf amf;

    amf_init(&amf, 0);
    assert_ok(amf0_read(&amf, &r, &name));
    assert_ok(amf0_read(&amf, &r, &info));
    if (strcmp(name.string, "onMetaData") == 0)
        (void)snprintf(text, size, "meta=%g ", amf_get_number(&info, "duration", -1));
    else if (strcmp(name.string, "onPlayStatus") == 0)
        (void)snprintf(text, size, "%s=%g ", amf_get_string(&info, "code", "") + 10,
                       amf_get_number(&info, "duration", -1));
    amf_free(&amf);
}

static const char *described(void)
{
    static char text[16384];
    struct rtmp_in in;
    struct rtmp_msg m;
    size_t skip = HANDSHAKE_SIZE;

    text[0] = '\0';
    if (peer.out.len < skip)
        return text;
    rtmp_in_init(&in, &rtmp_in_heap);
    assert_ok(rtmp_in_feed(&in, peer.out.buf + skip, peer.out.len - skip));
    while (rtmp_in_next(&in, &m)) {
        size_t n = strlen(text), size = sizeof(text) - n;

        if (m.type == RTMP_VIDEO || m.type == RTMP_AUDIO)
            describe_media(text + n, size, &m);
        else if (m.type == RTMP_COMMAND)
            describe_command(text + n, size, &m);
        else if (m.type == RTMP_DATA)
            describe_data(text + n, size, &m);
        else if (m.type == RTMP_USER_CONTROL)
            (void)snprintf(text + n, size, "event%u ", m.payload[1]);
        rtmp_in_heap.release(m.payload);
    }
    rtmp_in_fini(&in);
    return text;
}

#define BEGIN "event4 event0 Play.Reset Play.Start "
#define FIRST_HALF "V0k A50 V100 A150 V200 A250 V300 A350 V400 A450 "
#define FILM "meta=1.05 V0c A0c " FIRST_HALF "V500 A550 V600 A650 V700 A750 V800 A850 V900 A950 "
#define END "event1 Play.Stop "

/* ---- sessions */

/* A second of media is sent at once; then the client gets the end status and may close. */
static void from_begin_to_end(void **state)
{
    static const char *const names[][2] = {
        { "rtmp://h/vod", "a.flv" }, { "rtmp://h/vod", "flv:a" }, { "rtmp://h/vod", "a" },
        { "rtmp://h/vod", "flv:a.flv" }, { "rtmp://h/vod/b", "a.flv" },
        { "rtmp://h/vod", "b/a?x=y" }, { "rtmp://h/vod", "flv:b/a?x=y" },
        { "rtmp://h/vod/b", "FLV:c/a" }, { "rtmp://h/vod/b/c/a.flv", "" },
    };

    (void)state;
    film_write(dir, "a.flv", 10, 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        char at[64];

        (void)snprintf(at, sizeof(at), "%s/b/c", dir);
        if (i == 0) {
            at[strlen(dir) + 2] = '\0';
            assert_int_equal(mkdir(at, 0755), 0);
            film_write(at, "a.flv", 10, 0);
            at[strlen(dir) + 2] = '/';
            assert_int_equal(mkdir(at, 0755), 0);
            film_write(at, "a.flv", 10, 0);
        }
        begin("");
        play(hello(names[i][0]), names[i][1], 0, NULL);
        script_put(&peer, "NetStream.Play.Stop");
        peer.piece = i;
        assert_err(serve_client(), ERR_IO_CLOSED);
        assert_string_equal(described(), BEGIN FILM "Play.Complete=1.05 " END);
        end();
    }
}

/* The client may close after any byte that it sends. */
static void cut_at_every_byte(void **state)
{
    struct wr all;

    (void)state;
    film_write(dir, "a.flv", 10, 0);
    begin("");
    wr_init(&all, 1 << 20);
    play(hello("rtmp://h/vod"), "a.flv", 0, NULL);
    wr_bytes(&all, peer.lines[0].bytes.buf, peer.lines[0].bytes.len);
    call(&all, "seek", 1, (double[]){ 500 });
    put_boolean(&all, "pause", true);
    put_boolean(&all, "receiveAudio", false);
    put_boolean(&all, "pause", false);
    play(&all, "a", 2, (double[]){ 100, 100 });
    for (size_t size = HANDSHAKE_SIZE; size <= all.len; size++) {
        script_fini(&peer);
        script_init(&peer);
        wr_bytes(script_put(&peer, ""), all.buf, size);
        assert_err(serve_client(), ERR_IO_CLOSED);
    }
    wr_free(&all);
    end();
}

static void what_cannot_be_played(void **state)
{
    static const struct {
        const char *name, *described;
        enum err_code code;
    } rows[] = {
        { "none.flv", "Play.StreamNotFound ", ERR_NO_FILE },
        { "flv:none", "Play.StreamNotFound ", ERR_NO_FILE },
        { "mp4:a", "Play.StreamNotFound ", ERR_NO_FILE },
        { "folder.flv", "Play.StreamNotFound ", ERR_NO_FILE },
        { "text.flv", "Play.Failed ", ERR_UNSUPPORTED },
        { "text", "Play.Failed ", ERR_UNSUPPORTED },
    };
    char text[128];
    FILE *f;

    (void)state;
    (void)snprintf(text, sizeof(text), "%s/folder.flv", dir);
    assert_int_equal(mkdir(text, 0755), 0);
    (void)snprintf(text, sizeof(text), "%s/text.flv", dir);
    f = fopen(text, "w");
    assert_non_null(f);
    assert_true(fputs("It is no film.", f) > 0);
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin("");
        play(hello("rtmp://h/vod"), rows[i].name, 0, NULL);
        assert_err(serve_client(), rows[i].code);
        assert_string_equal(described(), rows[i].described);
        end();
    }
    begin("security { enabled on; deny play all; }");
    play(hello("rtmp://h/vod"), "none.flv", 0, NULL);
    assert_err(serve_client(), ERR_DENIED);
    assert_string_equal(described(), "Play.Failed ");
    end();
}

static void file_names_are_not_published(void **state)
{
    (void)state;
    begin("");
    client_call(hello("rtmp://h/vod"), 1, "publish", 5, "mp4:new");
    assert_err(serve_client(), ERR_DENIED);
    assert_string_equal(described(), "Publish.BadName ");
    end();
    begin("");
    client_call(hello("rtmp://h/vod"), 1, "publish", 5, "new"); /* a live stream in the same app */
    script_put(&peer, "NetStream.Publish.Start");
    assert_err(serve_client(), ERR_IO_CLOSED);
    end();
}

/* Times are milliseconds, although the specification says otherwise. */
static void starts_and_duration(void **state)
{
    static const struct {
        double v[2];
        int n;
        const char *described;
    } rows[] = {
        { { -2000 }, 1, "meta=3.05 V0c A0c V0k A50 " },
        { { -1 }, 1, "meta=3.05 V0c A0c V0k A50 " },
        { { NAN, NAN }, 2, "meta=3.05 V0c A0c V0k A50 " },
        { { 2000 }, 1, "meta=3.05 V2000c A2000c V2000k A2050 " },
        { { 2700 }, 1, "meta=3.05 V2000c A2000c V2000k A2050 " },
        { { 2000, 200 }, 2, "meta=3.05 V2000c A2000c V2000k A2050 V2100 A2150 Play.Complete" },
        { { 1000, 0 }, 2, "meta=3.05 V1000c A1000c V1000k Play.Complete" },
        { { 3050 }, 1, "Play.Complete=3.05 " END },
        { { 1e300 }, 1, "Play.Complete=3.05 " END },
        { { INFINITY, INFINITY }, 2, "Play.Complete=3.05 " END },
    };

    (void)state;
    film_write(dir, "a.flv", 30, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *at;

        begin("");
        play(hello("rtmp://h/vod"), "a.flv", rows[i].n, rows[i].v);
        script_put(&peer, strstr(rows[i].described, "Complete") ? "Play.Stop" : "\xaf\x01\xde\xad");
        assert_err(serve_client(), ERR_IO_CLOSED);
        at = strstr(described(), BEGIN);
        assert_non_null(at);
        at += strlen(BEGIN);
        if (strncmp(at, rows[i].described, strlen(rows[i].described)) != 0)
            print_message("%zu: %s\n", i, at);
        assert_memory_equal(at, rows[i].described, strlen(rows[i].described));
        end();
    }
}

/* Seeks forward, back, behind the end, and back from there; then plays another file. */
static void seeks(void **state)
{
    static const char *const wanted[] = {
        BEGIN "meta=10.05 V0c A0c V0k ", "event0 Seek.Notify meta=10.05 V9000c A9000c V9000k ",
        "V9900 ", "Play.Complete=10.05 " END, "event0 Seek.Notify Play.Complete=10.05 " END,
        "event0 Seek.Notify meta=10.05 V3000c A3000c V3000k ",
        "event0 Seek.Notify meta=10.05 V0c A0c V0k ", "Seek.Failed ",
        BEGIN "meta=1.05 V0c A0c V0k ", "Play.Complete=1.05 " END,
    };
    const char *at;

    (void)state;
    film_write(dir, "long.flv", 100, 0);
    film_write(dir, "short.flv", 10, 0);
    begin("");
    play(hello("rtmp://h/vod"), "long", 0, NULL);
    call(script_put(&peer, "\xaf\x01\xde\xad"), "seek", 1, (double[]){ 9400 });
    call(script_put(&peer, "NetStream.Play.Stop"), "seek", 1, (double[]){ 20000 });
    call(script_put(&peer, "NetStream.Play.Stop"), "seek", 1, (double[]){ 3999 });
    call(script_put(&peer, "\xaf\x01\xde\xad"), "seek", 1, (double[]){ -5 });
    call(script_put(&peer, "\xaf\x01\xde\xad"), "seek", 1, (double[]){ NAN });
    play(script_put(&peer, "NetStream.Seek.Failed"), "short", 0, NULL);
    script_put(&peer, "NetStream.Play.Stop");
    assert_err(serve_client(), ERR_IO_CLOSED);
    at = described();
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const char *found = strstr(at, wanted[i]);

        if (!found)
            fail_msg("no %s in %s", wanted[i], at);
        at = found + strlen(wanted[i]);
    }
    end();
}

/* Media sent after "Pause.Notify" come after "Unpause.Notify", starting with the next packet. */
static void pauses(void **state)
{
    const char *text, *at;
    unsigned last = 0;

    (void)state;
    film_write(dir, "a.flv", 40, 0);
    begin("");
    play(hello("rtmp://h/vod"), "a", 0, NULL);
    put_boolean(script_put(&peer, "\xaf\x01\xde\xad"), "pause", true);
    put_boolean(script_put(&peer, "NetStream.Pause.Notify"), "pause", false);
    call(script_put(&peer, "\xaf\x01\xde\xad"), "seek", 1, (double[]){ 3000 });
    script_put(&peer, "NetStream.Play.Stop");
    assert_err(serve_client(), ERR_IO_CLOSED);
    text = described();
    at = strstr(text, "Pause.Notify event1 Unpause.Notify event0 ");
    assert_non_null(at);
    for (const char *v = strstr(text, " V"); v && v < at; v = strstr(v + 1, " V"))
        last = (unsigned)atoi(v + 2);
    at = strstr(at, " V");
    assert_non_null(at);
    assert_int_equal(atoi(at + 2), last + 100);
    end();
}

static void receives_no_audio(void **state)
{
    const char *at;

    (void)state;
    film_write(dir, "a.flv", 30, 0);
    begin("");
    play(hello("rtmp://h/vod"), "a", 1, (double[]){ 1000 });
    put_boolean(script_put(&peer, "\xaf\x01\xde\xad"), "receiveAudio", false);
    call(script_put(&peer, ""), "seek", 1, (double[]){ 2000 });
    script_put(&peer, "NetStream.Play.Stop");
    assert_err(serve_client(), ERR_IO_CLOSED);
    at = strstr(described(), "Seek.Notify ");
    assert_non_null(at);
    assert_non_null(strstr(at, "V2000k V2100 V2200 "));
    end();
}

/* Without authorization in the vhost, a client gets the length before it plays. */
static void file_length(void **state)
{
    static const struct {
        const char *conf, *name, *described;
    } rows[] = {
        { "", "a", "=3.05 " }, { "", "flv:a", "=3.05 " }, { "", "b", "=0 " }, { "", "", "=0 " },
        { "security { enabled on; allow play all; }", "a", "=0 " },
    };

    (void)state;
    film_write(dir, "a.flv", 30, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr *out;

        begin(rows[i].conf);
        out = hello("rtmp://h/vod");
        client_call(out, 0, "getStreamLength", 9, rows[i].name);
        play(out, "a", 0, NULL);
        client_call(script_put(&peer, "\xaf\x01\xde\xad"), 0, "getStreamLength", 9, "a");
        script_put(&peer, "_result");
        assert_err(serve_client(), ERR_IO_CLOSED);
        if (strncmp(described(), rows[i].described, strlen(rows[i].described)) != 0)
            print_message("%zu: %s\n", i, described());
        assert_memory_equal(described(), rows[i].described, strlen(rows[i].described));
        assert_non_null(strstr(described() + 1, "=3.05 "));
        end();
    }
}

static void make_shorter(void)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/a.flv", dir);
    assert_int_equal(truncate(path, 1000), 0);
}

static void file_is_truncated(void **state)
{
    (void)state;
    film_write(dir, "a.flv", 60, 0);
    begin("");
    play(hello("rtmp://h/vod"), "a", 0, NULL);
    call(script_put(&peer, "\xaf\x01\xde\xad"), "seek", 1, (double[]){ 5000 });
    peer.lines[1].callback = make_shorter;
    script_put(&peer, "Play.Failed");
    assert_err(serve_client(), ERR_STREAM_END);
    assert_non_null(strstr(described(), "Seek.Notify "));
    assert_non_null(strstr(described(), " Play.Failed "));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(from_begin_to_end),
        IN_DIR(cut_at_every_byte),
        IN_DIR(what_cannot_be_played),
        IN_DIR(file_names_are_not_published),
        IN_DIR(starts_and_duration),
        IN_DIR(seeks),
        IN_DIR(pauses),
        IN_DIR(receives_no_audio),
        IN_DIR(file_length),
        IN_DIR(file_is_truncated),
    };
    const struct log_setup quiet = { .min = LOG_NONE };

    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
