/* SPDX-License-Identifier: MIT */
/* test_rtmfp_live.c - a player of a live stream over a simulated link that loses, repeats, reorders and
 * delays, from a seed, with its own clock: all audio arrives, video arrives in time, and a link that
 * recovers is used again.
 */
#include "proto/rtmfp/chunks.h"
#include "proto/rtmp/msg.h"
#include "rtmfp_player.h"
#include "rtp_media.h"

enum {
    UNDER_WAY = 4096, FRAME_MS = 40, AUDIO_MS = 23, GROUP = 50, /* video frames */
    KEY_SIZE = 20000, PICTURE_SIZE = 3800, AUDIO_SIZE = 380, CONFIG_SIZE = 50,
    BEFORE = 20, /* video frames before it joins */
    FRAMES = 2000, SEEDS = 50,
};

/* ---- random numbers */

static uint64_t dice;

static unsigned chance(unsigned n)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % n;
}

/* ---- the link */

struct flying {
    co_usec at;
    bool to_player;
    uint16_t size;
    uint8_t data[RTMFP_PLAIN_MAX];
};

static struct flying flying[UNDER_WAY];
static unsigned n_flying;
static co_usec now;
static struct link { unsigned loss, twice, late, one_way; } way; /* percent; ms */

static void fly(const struct wr *w, bool to_player)
{
    unsigned copies = chance(100) < way.twice ? 2 : 1;

    if (chance(100) < way.loss)
        return;
    while (copies-- > 0 && n_flying < UNDER_WAY) {
        struct flying *f = &flying[n_flying++];

        f->at = now + CO_MS(way.one_way) +
                (chance(100) < way.late ? (co_usec)chance(15000) : 0);
        f->to_player = to_player;
        f->size = (uint16_t)w->len;
        memcpy(f->data, w->buf, w->len);
    }
}

/* ---- received messages */

/* Audio and video messages are numbered by their time. */
static co_usec made[2][FRAMES], came[2][FRAMES];
static uint32_t count[2], last[2];
static co_usec begun, joined;

static bool on_opened(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                      struct rtmfp_bytes metadata, struct rtmfp_flow_out *answers)
{
    (void)s;
    (void)f;
    (void)answers;
    assert_true(metadata.n > 0);
    return true;
}

static bool on_message(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                       size_t size)
{
    uint32_t time, number;
    int kind;

    (void)s;
    (void)f;
    assert_true(size > RTMFP_MESSAGE_HEAD + 1);
    if (data[0] == RTMP_DATA || data[RTMFP_MESSAGE_HEAD + 1] == 0) /* a configuration */
        return true;
    assert_true(data[0] == RTMP_VIDEO || data[0] == RTMP_AUDIO);
    kind = data[0] == RTMP_VIDEO;
    time = (uint32_t)data[1] << 24 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 8 | data[4];
    number = time / (kind ? FRAME_MS : AUDIO_MS);
    assert_true(time == number * (kind ? FRAME_MS : AUDIO_MS) && number < count[kind]);
    if (last[kind] != UINT32_MAX)
        assert_true(number > last[kind]);
    last[kind] = number;
    came[kind][number] = now;
    return true;
}

static void on_done(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected)
{
    (void)s;
    (void)f;
    assert_false(rejected);
}

static const struct rtmfp_session_ops ops = { .opened = on_opened, .message = on_message,
                                              .done = on_done };

/* ---- both ends */

static struct rtmfp_session_set here = { .ops = &ops, .mode = RTMFP_RESPONDER,
                                         .ping = CO_SECONDS(20), .timeout = CO_SECONDS(60),
                                         .message_max = 1 << 20 };
static struct rtmfp_session_set there;
static struct rtmfp_player p;     /* as the server has it, */
static struct rtmfp_session player; /* and the player itself */
static bool gathers; /* the player reads all that arrived before it acknowledges */

static void say(struct rtmfp_session *s, bool to_player)
{
    uint8_t plain[RTMFP_PLAIN_MAX];
    struct udp_addr to;
    struct wr w = rtmfp_wr(plain, sizeof(plain));

    while (rtmfp_session_output(s, &w, &to, now)) {
        fly(&w, to_player);
        w = rtmfp_wr(plain, sizeof(plain));
    }
}

static struct rtmfp_session *end_of(bool of_player)
{
    return of_player ? &player : &p.peer.session;
}

static void arrive(void)
{
    bool any[2] = { false };

    for (unsigned i = 0; i < n_flying;) {
        struct flying f = flying[i];

        if (f.at > now) {
            i++;
            continue;
        }
        flying[i] = flying[--n_flying];
        rtmfp_session_input(end_of(f.to_player), rtmfp_bytes(f.data, f.size),
                            &end_of(f.to_player)->peer, now);
        any[f.to_player] = true;
        if (f.to_player && !gathers)
            say(&player, false);
    }
    for (int side = 0; side < 2; side++)
        if (any[side])
            say(end_of(side), !side);
}

static struct rtmfp_flow_out *open_flow(enum rtmfp_order order)
{
    uint8_t metadata[4] = { 'T', 'C', 4, 1 };

    return rtmfp_flow_open(&p.peer.session, rtmfp_bytes(metadata, 4), NULL, order);
}

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(1), .max_bytes = 64 << 20,
};

static void set_time(co_usec t)
{
    now = t;
    st_switched_at = (unsigned long long)t;
}

static void push_config(enum av_codec codec)
{
    struct frame f = media_config_of(codec);

    push(p.src, &f);
}

static void begin(unsigned seed)
{
    const struct udp_addr address = { .port = 1935 };

    dice = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    rtmfp_player_begin(&p, &settings, 64 << 20);
    set_time(CO_SECONDS(1000000));
    begun = now;
    n_flying = 0;
    memset(count, 0, sizeof(count));
    memset(last, 0xff, sizeof(last));
    memset(came, 0, sizeof(came));
    there = here;
    there.mode = RTMFP_INITIATOR;
    rtmfp_session_init(&p.peer.session, &here, &address, now);
    rtmfp_session_init(&player, &there, &address, now);
    p.n.control = open_flow(RTMFP_COMMANDS);
    p.n.audio = open_flow(RTMFP_AUDIO);
    p.n.video = open_flow(RTMFP_VIDEO);
    push_config(AV_H264);
    push_config(AV_AAC);
}

static void end(void)
{
    assert_false(rtmfp_player_is_closed(&p));
    rtmfp_session_fini(&p.peer.session);
    rtmfp_session_fini(&player);
    st_switched_at = (unsigned long long)co_clock();
    rtmfp_player_end(&p);
}

/* ---- time: steps of a millisecond, server timers on a grid of ten */

static void put(int kind, uint64_t ms, bool is_key, size_t size)
{
    static uint8_t buf[MEDIA_FRAME_MAX];
    struct frame f = media_make(kind ? AV_H264 : AV_AAC, is_key ? 0 : 1, size, buf);

    f.dts = f.pts = AV_MS((int64_t)ms);
    made[kind][count[kind]++] = now;
    push(p.src, &f);
}

static void publish(uint64_t ms)
{
    bool is_key = count[1] % GROUP == 0;

    if (ms % FRAME_MS == 0)
        put(1, ms, is_key, is_key ? KEY_SIZE : PICTURE_SIZE);
    if (ms % AUDIO_MS == 0)
        put(0, ms, false, AUDIO_SIZE);
}

static void step(uint64_t ms, bool publishes)
{
    set_time(now + CO_MS(1));
    if (publishes)
        publish(ms);
    arrive();
    if (ms % 10 == 0)
        rtmfp_wire_take(p.wire, now);
    if (ms % 10 == 0 && now >= joined && rtmfp_play_turn(&p.n, now))
        say(&p.peer.session, true);
    if (ms % 10 == 0 && rtmfp_session_deadline(&p.peer.session) <= now)
        say(&p.peer.session, true);
    if (rtmfp_session_deadline(&player) <= now)
        say(&player, false);
}

/* As after connect: the round trip time is known. */
static void greet(void)
{
    struct rtmfp_message *m = rtmfp_message_of(RTMP_DATA, 0, CONFIG_SIZE, now);

    memset(m->bytes + RTMFP_MESSAGE_HEAD, 0, CONFIG_SIZE);
    assert_true(rtmfp_flow_out_write(p.n.control, m, true));
    rtmfp_message_unref(m);
}

struct outcome {
    unsigned pictures, in_time, missing;
};

/* Counts the frames made between these two moments; in time means within a second of their making, or of
 * the player's arrival. */
static struct outcome look(int kind, co_usec from, co_usec to)
{
    struct outcome o = { 0 };

    for (uint32_t i = 0; i < count[kind]; i++) {
        co_usec since = made[kind][i] > joined ? made[kind][i] : joined, took;

        if (made[kind][i] < from || made[kind][i] >= to)
            continue;
        took = came[kind][i] - since;
        o.pictures++;
        o.missing += came[kind][i] == 0;
        o.in_time += came[kind][i] && took <= CO_SECONDS(1);
    }
    return o;
}

/* A run of 32 s of which 30 are published. The first moments, in which a client connects, have a good
 * link; then it is as specified, from 6 s to 16 s as in between. */
static void live_through(unsigned seed, const struct link *as, const struct link *between)
{
    begin(seed);
    joined = now + CO_MS(FRAME_MS * BEFORE);
    way = (struct link){ .one_way = as->one_way };
    greet();
    for (uint64_t ms = 0; ms < 32000; ms++) {
        if (ms == 600 || ms == 16000)
            way = *as;
        if (ms == 6000)
            way = *between;
        step(ms, ms < 30000);
    }
}

/* Until video arrived without delay again. */
static co_usec recovered_after(co_usec well)
{
    co_usec last_bad = well;

    for (uint32_t i = 0; i < count[1]; i++)
        if (made[1][i] > well && made[1][i] < begun + CO_SECONDS(29) &&
            (!came[1][i] || came[1][i] - made[1][i] > CO_MS(300)))
            last_bad = made[1][i];
    return last_bad - well;
}

static void on_a_bad_link_audio_is_complete_and_video_is_in_time(void **state)
{
    const struct link bad = { .loss = 5, .twice = 2, .late = 5, .one_way = 20 };
    unsigned pictures = 0, in_time = 0;

    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct outcome o;

        gathers = seed % 2;
        live_through(seed, &bad, &bad);
        o = look(1, begun, begun + CO_SECONDS(29));
        pictures += o.pictures;
        in_time += o.in_time;
        if (!gathers)
            assert_true(100 * o.in_time >= 97 * o.pictures);
        assert_int_equal(look(0, joined, begun + CO_SECONDS(29)).missing, 0);
        assert_int_equal(p.peer.session.state, RTMFP_OPEN);
        end();
    }
    assert_true(100 * in_time >= 99 * pictures);
}

static void a_way_that_gets_well_is_used_at_once(void **state)
{
    const struct link good = { .one_way = 20 }, bad = { .loss = 20, .one_way = 20 };

    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        gathers = seed % 2;
        live_through(seed, &good, &bad);
        assert_in_range(recovered_after(begun + CO_SECONDS(16)), 0, CO_SECONDS(3));
        assert_int_equal(look(0, joined, begun + CO_SECONDS(29)).missing, 0);
        assert_int_equal(look(1, begun + CO_SECONDS(19), begun + CO_SECONDS(29)).missing, 0);
        assert_int_equal(p.peer.session.state, RTMFP_OPEN);
        assert_int_equal(player.state, RTMFP_OPEN);
        end();
    }
}

static int start(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

static int stop(void **state)
{
    (void)state;
    co_fini();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(on_a_bad_link_audio_is_complete_and_video_is_in_time),
        TEST(a_way_that_gets_well_is_used_at_once),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
