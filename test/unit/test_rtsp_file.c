/* SPDX-License-Identifier: MIT */
/* test_rtsp_file.c - RTSP sessions that play files: requests, responses, start and end of the
 * media.
 *
 * The test provides the files: 200 s with a key frame every 10 s. Each packet advances their clock.
 */
#include "base/container_of.h"
#include "base/iov.h"
#include "base/log.h"
#include "co/net/io.h"
#include "env.h"
#include "media_configs.h"
#include "serve/rtsp/rtsp.h"
#include "session/clients.h"
#include "unit.h"
#include "format/demux/impl.h"
#include "vod/store.h"
#include "vod/wires.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CONF "listen 1935; vhost __defaultVhost__ { rtsp { enabled on; } vod { enabled on; } }"
#define ID "0000000000000000" /* placeholder for the session id */

#define SECOND INT64_C(90000)
enum { LENGTH = 200, GROUP = 10 };

/* ---- files */

static struct demux_index demux;
static struct vod_shared create_index = { .fd = -1, .demux = &demux };
static struct vod_file file = { .index = &create_index };
static unsigned packets; /* sent in one playback, until it ends */
static bool fails;
static struct {
    unsigned opened, placed, used;
    int scale;
    int64_t from, to;
    uint32_t tracks;
    bool loop;
} did;

err_t vod_file_open(struct vod_file **out, struct vod *vod, const struct conf_vhost *vhost,
                    const char *path)
{
    static const struct {
        const char *path;
        enum err_code code;
    } rows[] = { { "gone.mp4", ERR_NO_FILE }, { "bad.mp4", ERR_UNSUPPORTED },
                 { "many.mp4", ERR_TOO_MANY }, { "slow.mp4", ERR_IO_TIMEOUT } };
    static char name[32];

    assert_non_null(vod);
    assert_true(vhost->vod.enabled);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].path, path) == 0)
            return err_new(rows[i].code, "%s", path);
    }
    demux.info = (struct demux_info){ .format = "mp4", .kbps = 800, .duration = LENGTH * SECOND,
        .tracks = { { AV_H264, MEDIA_BYTES(CONFIG_H264), .duration = LENGTH * SECOND },
                    { AV_AAC, MEDIA_BYTES(CONFIG_AAC), .duration = LENGTH * SECOND } } };
    (void)snprintf(name, sizeof(name), "%s", path);
    file = (struct vod_file){ .index = &create_index, .name = name, .refs = 1 };
    if (strcmp(path, "sound.mp4") == 0)
        demux.info.tracks[DEMUX_VIDEO].codec = AV_CODEC_NONE;
    if (strcmp(path, "speex.mp4") == 0)
        demux.info.tracks[0].codec = demux.info.tracks[1].codec = AV_SPEEX;
    packets = strcmp(path, "short.mp4") == 0 ? 1 : 1000000;
    fails = strcmp(path, "torn.mp4") == 0;
    did.opened++;
    *out = &file;
    return NULL;
}

struct vod_file *vod_file_unref(struct vod_file *f)
{
    if (f)
        f->refs--;
    return NULL;
}

/* ---- a fake feed: one packet per turn, each one second long */


static struct vod_feed *feed_of(const struct live_feed *f)
{
    return container_of((struct live_feed *)(uintptr_t)f, struct vod_feed, feed);
}

static bool ready(const struct live_feed *f)
{
    (void)f;
    return true;
}

static const uint8_t packet[] = "$\0\0\x0e............";

static int ranges(struct live_feed *f, struct iovec *iov, int max)
{
    struct vod_feed *v = feed_of(f);

    assert_true(max > 0);
    assert_false(v->paused_at);
    v->failed = fails;
    if (v->failed || v->offset >= packets || v->waits) {
        v->ended = v->offset >= packets;
        v->waits = false;
        return 0;
    }
    iov[0] = (struct iovec){ (uint8_t *)(uintptr_t)packet, sizeof(packet) - 1 };
    return 1;
}

static void advance(struct live_feed *f, size_t sent)
{
    struct vod_feed *v = feed_of(f);

    assert_int_equal(sent, sizeof(packet) - 1);
    v->offset++;
    v->clock_dts += SECOND;
    v->waits = true; /* until the next turn */
}

static bool ended(const struct live_feed *f)
{
    return feed_of(f)->ended || feed_of(f)->failed;
}

static co_usec lag(const struct live_feed *f)
{
    (void)f;
    return 0;
}

static uint64_t pending(const struct live_feed *f)
{
    (void)f;
    return 1;
}

static void set_paused(struct live_feed *f, bool paused)
{
    feed_of(f)->paused_at = paused;
}

void vod_feed_open(struct vod_feed *f, struct vod_file *of, const struct vod_feed_setup *setup)
{
    static const struct live_feed_kind kind = {
        .ready = ready, .ranges = ranges, .advance = advance, .ended = ended, .lag = lag,
        .pending = pending, .paused = set_paused,
    };

    *f = (struct vod_feed){ .feed.kind = &kind, .file = of };
    assert_ptr_equal(setup->use.wire, &vod_wire_rtp);
    of->refs++;
    did.tracks = setup->use.tracks;
    did.loop = setup->loop;
}

void vod_feed_use(struct vod_feed *f, const struct vod_wire_use *use)
{
    assert_non_null(f->file);
    did.used++;
    did.tracks = use->tracks;
}

void vod_feed_close(struct vod_feed *f)
{
    if (f->file)
        f->file->refs--;
    f->file = NULL;
}

int64_t vod_feed_play(struct vod_feed *f, int64_t from, int64_t to, int scale)
{
    int64_t begin = from - from % (GROUP * SECOND);

    did.placed++;
    did.from = from;
    did.to = to;
    did.scale = scale;
    f->clock_dts = begin;
    f->offset = 0;
    f->ended = f->failed = f->waits = false;
    return begin;
}

int64_t vod_feed_position(const struct vod_feed *f)
{
    return f->clock_dts;
}

void vod_rtp_start(struct vod_feed *f, struct rtp_wire_start out[RTP_WIRE_N])
{
    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        out[i] = (struct rtp_wire_start){ true, true, (uint16_t)(100 * (i + 1)),
                                          (uint32_t)f->clock_dts + i };
}

/* ---- a client: sends the next request after the last response and, for a step with `packets`,
 * after this many packets */

enum { STEPS = 12, REQUESTS_MAX = 1024, RESPONSES_MAX = 1 << 16 };

struct step {
    const char *method, *fields; /* for SETUP and TEARDOWN: the track */
    const char *wants[3];
    unsigned packets; /* number of packets before the request */
    const char *body; /* for SETUP: the transport, if not the default */
};

static struct session_env *env;
static max_align_t vod[8192]; /* zeroed memory instead of a struct vod, and larger than one */
static struct client_io {
    struct io io;
    const char *url;
    const struct step *steps;
    unsigned n, requested;
    char requests[REQUESTS_MAX], id[17];
    size_t size, at;
    char responses[STEPS + 1][RESPONSES_MAX / (STEPS + 1)];
    unsigned answers, packets;
    size_t piece;
    struct co *co; /* waits for requests */
} cl;

static void print_next(void)
{
    const struct step *s = &cl.steps[cl.requested++];
    bool setup = strcmp(s->method, "SETUP") == 0, down = strcmp(s->method, "TEARDOWN") == 0;
    const char *suffix = (setup || down) && s->fields ? s->fields : "";
    const char *body = s->body && !setup ? s->body : "";
    char fields[120] = "", session[40] = "";

    if (cl.id[0])
        (void)snprintf(session, sizeof(session), "Session: %s\r\n", cl.id);
    if (setup)
        (void)snprintf(fields, sizeof(fields), "Transport: %s\r\n",
                       s->body ? s->body : "RTP/AVP/TCP");
    else if (s->fields && !down)
        (void)snprintf(fields, sizeof(fields), "%s\r\n", s->fields);
    cl.size = (size_t)snprintf(cl.requests, REQUESTS_MAX, "%s %s%s RTSP/1.0\r\nCSeq: %u\r\n%s%s"
                               "Content-Length: %zu\r\n\r\n%s", s->method, cl.url,
                               suffix, cl.requested, session, fields, strlen(body),
                               body);
    cl.at = 0;
    cl.packets = 0;
    if (down && !*suffix)
        cl.id[0] = '\0';
}

static bool has_something(void)
{
    if (cl.at == cl.size && cl.requested < cl.n && cl.answers == cl.requested &&
        cl.packets >= cl.steps[cl.requested].packets)
        print_next();
    return cl.at < cl.size || (cl.requested == cl.n && cl.answers >= cl.n);
}

static bool client_readable(struct io *io)
{
    (void)io;
    return has_something();
}

static enum co_wake client_wait(struct io *io, bool out, co_usec timeout)
{
    enum co_wake w;

    (void)io;
    if (out || has_something())
        return CO_WOKEN;
    cl.co = co_self();
    w = co_park(timeout < CO_SECONDS(10) ? timeout : CO_SECONDS(10));
    cl.co = NULL;
    return w;
}

static err_t client_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    (void)io;
    *n = 0;
    if (!has_something())
        return NULL;
    if (cl.at == cl.size)
        return err_new(ERR_IO_CLOSED, "read");
    *n = cl.size - cl.at < size ? cl.size - cl.at : size;
    *n = cl.piece && *n > cl.piece ? cl.piece : *n;
    memcpy(buf, cl.requests + cl.at, *n);
    cl.at += *n;
    return NULL;
}

static err_t client_read(struct io *io, void *buf, size_t size, size_t *n)
{
    while (!has_something()) {
        if (client_wait(io, false, CO_FOREVER) == CO_TIMEOUT)
            return err_new(ERR_IO_TIMEOUT, "it says nothing");
    }
    return client_read_now(io, buf, size, n);
}

/* Responses are written in one piece. */
static err_t client_write(struct io *io, struct iovec *iov, int count)
{
    char *to = cl.responses[cl.answers++];
    const char *id;

    (void)io;
    assert_true(cl.answers <= STEPS && count == 1 && iov->iov_len < sizeof(cl.responses[0]));
    memcpy(to, iov->iov_base, iov->iov_len);
    id = strstr(to, "Session: ");
    if (id)
        memcpy(cl.id, id + 9, 16);
    return NULL;
}

static err_t client_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    (void)io;
    *n = iov_size(iov, count);
    cl.packets++;
    if (cl.co && has_something())
        co_unpark(cl.co);
    return NULL;
}

static void client_close(struct io *io)
{
    (void)io;
}

static const struct io_ops client_ops = {
    .name = "client", .read = client_read, .read_now = client_read_now, .writev = client_write,
    .send_some = client_send_some, .readable = client_readable, .wait = client_wait,
    .close = client_close,
};

static err_t run(void *unused)
{
    (void)unused;
    co_new_cid();
    return rtsp_conn_run(env, &cl.io, "127.0.0.1");
}

static void begin(const char *conf)
{
    memset(&did, 0, sizeof(did));
    memset(&file, 0, sizeof(file));
    env = env_new(conf);
    env->vod = (struct vod *)vod;
}

static void end(void)
{
    assert_int_equal(file.refs, 0);
    env_free(&env);
}

static void serve_client(const char *url, const struct step *steps, unsigned n, size_t piece)
{
    struct co_group g;
    err_t err;

    memset(&cl, 0, sizeof(cl));
    cl = (struct client_io){ .url = url, .steps = steps, .n = n, .piece = piece };
    cl.io = (struct io){ .ops = &client_ops, .read_timeout = CO_FOREVER,
                         .write_timeout = CO_FOREVER };
    co_group_init(&g);
    assert_ok(co_go(&g, "client", run, NULL));
    err = co_group_wait(&g);
    err_free(&err);
}

/* Runs all steps and compares the responses. */
static void check(const char *conf, const char *name, const struct step *steps)
{
    char url[100];
    unsigned n = 0;

    while (n < STEPS && steps[n].method)
        n++;
    begin(conf);
    (void)snprintf(url, sizeof(url), "rtsp://h/vod/%s", name);
    serve_client(url, steps, n, 0);
    if (cl.answers != n)
        fail_msg("%s: %u of %u were answered, the last with\n%s", name, cl.answers, n,
                 cl.responses[cl.answers ? cl.answers - 1 : 0]);
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < COUNT(steps[i].wants) && steps[i].wants[k]; k++) {
            const char *want = steps[i].wants[k];
            bool not = *want == '!';

            if (!strstr(cl.responses[i], want + not) == !not)
                fail_msg("%s: %s %s wants %s, got\n%s", name, steps[i].method,
                         steps[i].fields ? steps[i].fields : "", want, cl.responses[i]);
        }
    }
    end();
}

#define DESCRIBE(...) { "DESCRIBE", NULL, { __VA_ARGS__ }, 0, NULL }
#define SETUP(track) { "SETUP", "/trackID=" track, { "200 OK" }, 0, NULL }
#define PLAY(fields, ...) { "PLAY", fields, { __VA_ARGS__ }, 0, NULL }
#define THEN(packets, method, fields, ...) { method, fields, { __VA_ARGS__ }, packets, NULL }
#define REQUEST(body, ...) { "GET_PARAMETER", NULL, { __VA_ARGS__ }, 0, body }

/* ---- tests */

static void test_described(void **state)
{
    static const struct {
        const char *name;
        struct step steps[3];
    } rows[] = {
        { "a.mp4", { DESCRIBE("200 OK", "a=range:npt=0-200.000\r\n", "trackID=1") } },
        { "a.mp4", { DESCRIBE("m=video 0 RTP/AVP 96\r\na=rtpmap"), DESCRIBE("200 OK") } },
        { "sound.mp4", { DESCRIBE("m=audio", "b=AS:800\r\n", "!m=video") } },
        { "gone.mp4", { DESCRIBE("RTSP/1.0 404"), DESCRIBE("RTSP/1.0 404") } },
        { "bad.mp4", { DESCRIBE("RTSP/1.0 415") } },
        { "speex.mp4", { DESCRIBE("RTSP/1.0 415") } },
        { "many.mp4", { DESCRIBE("RTSP/1.0 503") } },
        { "slow.mp4", { DESCRIBE("RTSP/1.0 503") } },
        { "sound.mp4", { { "SETUP", "", { "200 OK" }, 0, NULL } } },
        { "sound.mp4", { { "SETUP", "/trackID=0", { "404" }, 0, NULL } } },
        { "a.mp4", { { "SETUP", "/trackID=2", { "404" }, 0, NULL } } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check(CONF, rows[i].name, rows[i].steps);
}

static void test_where(void **state)
{
    static const struct {
        const char *range, *wants[3];
        int64_t from; /* milliseconds; -1: not played */
        int64_t to;   /* 0: end of the file */
    } rows[] = {
        { NULL, { "Range: npt=0.000-\r\n",
                  "RTP-Info: url=rtsp://h/vod/a.mp4/trackID=0;seq=100;rtptime=0\r\n", "!Scale" },
          0, 0 },
        { "Range: npt=0.000-", { "Range: npt=0.000-\r\n" }, 0, 0 },
        { "Range: npt=19.96-", { "Range: npt=10.000-\r\n", "rtptime=900000\r\n" }, 19960,
          0 },
        { "Range: npt=20.000-30.5", { "Range: npt=20.000-30.500\r\n" }, 20000, 30500 },
        { "Range: npt=0:01:30-", { "Range: npt=90.000-\r\n" }, 90000, 0 },
        { "Range: npt=200-", { "200 OK" }, 200000, 0 },
        { "Range: npt=150-1000", { "Range: npt=150.000-\r\n" }, 150000, 0 },
        { "Range: npt=-15", { "Range: npt=180.000-\r\n" }, 185000, 0 },
        { "Range: npt=-300", { "Range: npt=0.000-\r\n" }, 0, 0 },
        { "Range: npt=now-", { "Range: npt=0.000-\r\n" }, 0, 0 },
        { "Range: npt=now-12", { "Range: npt=0.000-12.000\r\n" }, 0, 12000 },
        { "Range: npt=200.001-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: npt=20-10", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: clock=19960213T143205Z-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: smpte=10:12:33:20-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: npt=-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: npt=nan-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: npt=-inf", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: npt=1e400-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: npt=99999999999999999999-", { "RTSP/1.0 457" }, -1, 0 },
        { "Range: ", { "RTSP/1.0 457" }, -1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct step steps[STEPS] = { SETUP("0"), PLAY(rows[i].range, rows[i].wants[0],
                                           rows[i].wants[1], rows[i].wants[2]) };

        check(CONF, "a.mp4", steps);
        assert_int_equal(did.placed, rows[i].from != -1);
        if (rows[i].from == -1)
            continue;
        /* the end of that millisecond, as positions of key frames are rounded down */
        assert_in_range(did.from - rows[i].from * 90, 0, 89);
        if (rows[i].to == 0)
            assert_true(did.to == INT64_MAX);
        else
            assert_in_range(did.to - rows[i].to * 90, 0, 89);
    }
}

static void test_how_fast(void **state)
{
    static const struct {
        const char *fields, *wants[3];
        int scale; /* 0: not played */
        const char *name;
    } rows[] = {
        { "Scale: 2", { "Scale: 2.000\r\n", "!Speed" }, 2000, "a.mp4" },
        { "Scale: 1.0", { "Scale: 1.000\r\n" }, 1000, "a.mp4" },
        { "Scale: 0.25", { "Scale: 0.500\r\n" }, 500, "a.mp4" },
        { "Scale: 0", { "Scale: 0.500\r\n" }, 500, "a.mp4" },
        { "Scale: 100", { "Scale: 4.000\r\n" }, 4000, "a.mp4" },
        { "Scale: 100", { "Scale: 2.000\r\n" }, 2000, "sound.mp4" },
        { "Scale: -2", { "Scale: 1.000\r\n" }, 1000, "a.mp4" },
        { "Speed: 1.5", { "Speed: 1.500\r\n", "!Scale" }, 1000, "a.mp4" },
        { "Scale: 2\r\nSpeed: 9", { "Speed: 4.000\r\n", "Scale: 2.000\r\n" }, 2000, "a.mp4" },
        { "Scale: nan", { "RTSP/1.0 400" }, 0, "a.mp4" },
        { "Scale: 1e400", { "RTSP/1.0 400" }, 0, "a.mp4" },
        { "Scale: -inf", { "RTSP/1.0 400" }, 0, "a.mp4" },
        { "Speed: fast", { "RTSP/1.0 400" }, 0, "a.mp4" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct step steps[STEPS] = {
            { "SETUP", "", { "200 OK" }, 0, NULL },
            PLAY(rows[i].fields, rows[i].wants[0], rows[i].wants[1], rows[i].wants[2]) };

        check(CONF, rows[i].name, steps);
        assert_int_equal(did.placed, rows[i].scale != 0);
        assert_int_equal(did.scale, rows[i].scale);
    }
}

/* PLAY during playback seeks; PLAY after PAUSE continues at the same position. */
static void test_continues(void **state)
{
    static const struct step steps[] = {
        SETUP("0"), PLAY("Range: npt=20-", "Range: npt=20.000-"),
        THEN(1, "PLAY", "Range: npt=110-", "Range: npt=110.000-\r\n", "RTP-Info"),
        THEN(1, "PAUSE", NULL, "200 OK"), REQUEST("position\r\n", "position: 11", "text/parameters"),
        PLAY(NULL, "Range: npt=11", "RTP-Info: ", "!npt=110.000"),
        PLAY(NULL, "Range: npt=11", "!RTP-Info"),
        PLAY("Scale: 2", "Range: npt=110.000-", "Scale: 2.000"),
        PLAY("Range: npt=201-", "457"),
        THEN(1, "PLAY", "Range: npt=now-", "Range: npt=110.000-", "RTP-Info"),
        THEN(1, "TEARDOWN", NULL, "200 OK"), { NULL, NULL, { NULL }, 0, NULL },
    };

    (void)state;
    check(CONF, "a.mp4", steps);
    assert_int_equal(did.placed, 4);
    assert_int_equal(did.opened, 1);
}

/* At the end of the file the session is ready and can play again. */
static void test_ends(void **state)
{
    static const struct step steps[] = {
        SETUP("1"), PLAY("Range: npt=50-", "Range: npt=50.000-"),
        THEN(1, "GET_PARAMETER", NULL, "200 OK"), PLAY(NULL, "Range: npt=0.000-", "RTP-Info"),
        THEN(1, "OPTIONS", NULL, "200 OK"), PLAY("Range: npt=30-40", "Range: npt=30.000-40.000"),
        THEN(1, "OPTIONS", NULL, "200 OK"), PLAY(NULL, "Range: npt=40.000-\r\n"),
        THEN(1, "PAUSE", NULL, "200 OK"), { "TEARDOWN", NULL, { "200 OK" }, 0, NULL },
        { NULL, NULL, { NULL }, 0, NULL },
    };

    (void)state;
    check(CONF, "short.mp4", steps);
    assert_int_equal(did.placed, 4);
}

static void test_fails(void **state)
{
    static const struct step steps[] = {
        SETUP("0"), PLAY(NULL, "200 OK"), { "OPTIONS", NULL, { "200 OK" }, 0, NULL },
        PLAY(NULL, "200 OK"), { "TEARDOWN", NULL, { "200 OK" }, 0, NULL },
        { NULL, NULL, { NULL }, 0, NULL },
    };

    (void)state;
    check(CONF, "torn.mp4", steps);
}

static void test_parameters(void **state)
{
    static const struct step steps[] = {
        DESCRIBE("200 OK"), REQUEST("position", "200 OK", "position: 0.000\r\n"),
        REQUEST("Position:\r\n", "position: 0.000\r\n"), REQUEST("\r\n", "200 OK", "!position"),
        REQUEST("position\r\nvolume\r\n", "RTSP/1.0 451"), REQUEST("positions", "RTSP/1.0 451"),
        { "SET_PARAMETER", NULL, { "451" }, 0, "position: 3" },
        { NULL, NULL, { NULL }, 0, NULL },
    };

    (void)state;
    check(CONF, "a.mp4", steps);
}

static void test_tracks(void **state)
{
    static const struct step both[] = {
        SETUP("0"), SETUP("1"), PLAY(NULL, "trackID=0;seq=100", "trackID=1;seq=200"),
        { "TEARDOWN", NULL, { "200 OK" }, 0, NULL }, SETUP("1"),
        { NULL, NULL, { NULL }, 0, NULL },
    }, less[] = {
        SETUP("0"), SETUP("1"), PLAY("Range: npt=70-", "200 OK"),
        { "TEARDOWN", "/trackID=0", { "200 OK" }, 1, NULL },
        { "OPTIONS", NULL, { "200 OK" }, 1, NULL }, { NULL, NULL, { NULL }, 0, NULL },
    }, more[] = {
        SETUP("0"), PLAY("Range: npt=70-", "200 OK"), THEN(1, "PAUSE", NULL, "200 OK"), SETUP("1"),
        PLAY(NULL, "Range: npt=70.000-", "trackID=1"), { NULL, NULL, { NULL }, 0, NULL },
    };

    (void)state;
    check(CONF, "a.mp4", both);
    assert_int_equal(did.tracks, VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO);
    check(CONF, "a.mp4", less);
    assert_int_equal(did.tracks, VOD_TRACKS_AUDIO);
    assert_int_equal(did.used, 1);
    check(CONF, "a.mp4", more);
    assert_int_equal(did.tracks, VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO);
    assert_int_equal(did.used, 1);
}

/* Each player has its own position. */
static void test_no_multicast(void **state)
{
    static const struct step steps[] = {
        { "SETUP", "/trackID=0", { "RTSP/1.0 461" }, 0, "RTP/AVP;multicast" }, SETUP("0"),
        PLAY(NULL, "200 OK"), { NULL, NULL, { NULL }, 0, NULL },
    };

    (void)state;
    check("listen 1935; rtsp_server { multicast { enabled on; } } "
          "vhost __defaultVhost__ { rtsp { enabled on; } vod { enabled on; loop on; } }", "a.mp4",
          steps);
    assert_true(did.loop);
}

/* Bytes arrive in any pieces, and the client may close at any time. */
static void test_cut(void **state)
{
    static const struct step steps[] = {
        DESCRIBE(NULL), SETUP("0"), PLAY("Range: npt=20-30", NULL), PLAY("Range: npt=50-", NULL),
        { "PAUSE", NULL, { NULL }, 0, NULL }, REQUEST("position", NULL), PLAY(NULL, NULL),
        { "TEARDOWN", NULL, { NULL }, 0, NULL },
    };

    (void)state;
    for (unsigned n = 1; n <= COUNT(steps); n++) {
        for (size_t piece = 0; piece < 20; piece += 7) {
            begin(CONF);
            serve_client("rtsp://h/vod/a.mp4", steps, n, piece);
            end();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_described), TEST(test_where), TEST(test_how_fast), TEST(test_continues),
        TEST(test_ends), TEST(test_fails), TEST(test_parameters), TEST(test_tracks),
        TEST(test_no_multicast), TEST(test_cut),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
