/* SPDX-License-Identifier: MIT */
/* live_replica.c - a source, its replica on another worker, and players of both. */
#include "live_replica.h"

const struct live_takeover tap_takeover = { LIVE_TAKEOVER_ON, 0, 0 };

const uint32_t tap_param[LIVE_PARAMS] = { 0 };

const struct live_settings tap_settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .queue_length = CO_SECONDS(30),
    .max_bytes = 64 << 20,
};

struct live_publisher tap_publisher = { .ip = "127.0.0.1" };

void tap_say(struct wr *w, const struct av_packet *pkt, int64_t dts)
{
    wr_u8(w, pkt->kind);
    wr_u8(w, (uint8_t)(pkt->key | pkt->config << 1 | pkt->start << 2 | pkt->extra << 3));
    wr_u32(w, (uint32_t)dts);
    wr_u32(w, (uint32_t)pkt->cts);
    wr_u32(w, pkt->size);
    wr_bytes(w, pkt->data, pkt->size);
}

static size_t all_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    (void)param;
    (void)dts;
    return pkt->size + 14;
}

static void all_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                       uint8_t *out)
{
    struct wr w;

    (void)param;
    wr_init(&w, STREAM_MAX);
    tap_say(&w, pkt, dts);
    memcpy(out, w.buf, w.len);
    wr_free(&w);
}

const struct live_format format_all = { .name = "all", .size = all_size, .render = all_render };

/* A byte for each packet. */
static size_t count_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts)
{
    (void)param;
    (void)pkt;
    (void)dts;
    return 1;
}

static void count_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts, uint8_t *out)
{
    (void)param;
    (void)dts;
    *out = pkt->kind;
}

const struct live_format format_counts = { .name = "counts", .size = count_size,
                                           .render = count_render };

struct player *tap_player(struct live_source *src, const struct live_format *fmt)
{
    struct player *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    wr_init(&p->got, STREAM_MAX);
    live_consumer_open(&p->c, src, fmt, tap_param);
    return p;
}

void tap_player_leave(struct player *p)
{
    live_consumer_close(&p->c);
    wr_free(&p->got);
    free(p);
}

void tap_play(struct player *p)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct iovec iov[4];
    size_t sent, n_configs;
    int64_t dts;
    int n;

    live_source_refresh(p->c.src);
    while ((n = live_consumer_ranges(&p->c, iov, 4, false)) > 0) {
        n_configs = live_consumer_config(&p->c, configs, LIVE_CONFIGS, &dts);
        for (size_t i = 0; i < n_configs && !p->c.wire->state; i++)
            tap_say(&p->got, configs[i], dts);
        sent = 0;
        for (int i = 0; i < n; i++) {
            wr_bytes(&p->got, iov[i].iov_base, iov[i].iov_len);
            sent += iov[i].iov_len;
        }
        live_consumer_advance(&p->c, sent);
    }
    assert_false(p->got.bad);
}

static void on_raise(void *arg)
{
    struct pair *p = arg;

    assert_false(p->raised); /* not again before it was polled */
    p->raised = true;
    p->raises++;
}

void pair_follow(struct pair *p)
{
    p->tap = live_tap_open(p->owner, on_raise, p);
    live_tap_follow(p->tap, p->replica);
}

void pair_unfollow(struct pair *p)
{
    live_tap_leave(p->replica);
    p->tap = live_tap_close(p->tap);
    p->raised = false;
}

void pair_begin(struct pair *p)
{
    assert_ok(live_source_begin(p->owner, &tap_publisher, &tap_takeover));
}

struct pair pair_of(const struct live_settings *set)
{
    struct pair p = { .owner = live_source_new("v/a/s", set),
                      .replica = live_source_new("v/a/s", set) };

    return p;
}

void pair_end(struct pair *p)
{
    if (p->tap)
        pair_unfollow(p);
    live_source_end(p->owner, &tap_publisher);
    (void)live_source_unref(p->replica);
    (void)live_source_unref(p->owner);
    live_deferred_free_flush();
    assert_int_equal(live_source_live(), 0);
}

void pair_settle(struct pair *p)
{
    for (int i = 0; i < 3; i++) {
        assert_ok(co_sleep(CO_MS(1)));
        if (p->raised) {
            p->raised = false;
            live_tap_raised(p->replica);
        }
    }
}

void pair_push_sized(struct pair *p, char what, uint32_t size)
{
    struct av_packet *pkt = av_packet_try_in(live_source_packets(p->owner), size);

    assert_non_null(pkt);
    pkt->kind = what == 'a' || what == 'A' ? AV_AUDIO : what == 'D' ? AV_DATA : AV_VIDEO;
    pkt->codec = pkt->kind == AV_AUDIO ? AV_AAC : AV_H264;
    pkt->config = what == 'A' || what == 'V' || what == 'D';
    pkt->key = what == 'k';
    pkt->cts = (int32_t)(p->number % 5);
    for (uint32_t i = 0; i < size; i++)
        pkt->data[i] = (uint8_t)(p->number + i * 7);
    p->number++;
    p->ms += 10;
    live_source_push(p->owner, pkt, AV_MS(p->ms));
    (void)av_packet_unref(pkt);
}

void pair_push(struct pair *p, const char *what)
{
    for (; *what; what++)
        pair_push_sized(p, *what, FRAME);
}

void pair_push_groups(struct pair *p, unsigned packets, uint32_t size)
{
    for (unsigned i = 0; i < packets; i++)
        pair_push_sized(p, i % GROUP == 0 ? 'k' : 'v', size);
}
