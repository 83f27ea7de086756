/* SPDX-License-Identifier: MIT */
/* live_players.c - a format, packets with numbers, and players who check what they receive. */
#include "live_players.h"

const struct live_takeover takeover_off = { LIVE_TAKEOVER_OFF, 0, 0 };

const struct live_takeover takeover_stale = { LIVE_TAKEOVER_STALE, CO_SECONDS(2), CO_MS(500) };

static bool left_out(uint32_t what, const struct av_packet *pkt)
{
    return what == ALL_OUT ||
           (pkt->config && (what == 1 || (what == 2 && pkt->kind == AV_VIDEO)));
}

static size_t plain_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts)
{
    (void)dts;
    return left_out(param[0], pkt) ? 0 : pkt->size;
}

static void plain_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts, uint8_t *out)
{
    (void)dts;
    assert_false(left_out(param[0], pkt)); /* empty output has no buffer */
    memcpy(out, pkt->data, pkt->size);
}

const struct live_format plain_format = { .name = "plain", .size = plain_size,
                                          .render = plain_render };

void *counting_open(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    (void)param;
    (void)src;
    return calloc(1, sizeof(struct counting));
}

static void counting_make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct counting *c = state;

    if (pkt->config) {
        c->config_size = (uint8_t)pkt->size;
        return;
    }
    wr_u8(out, c->made++);
    wr_u8(out, pkt->key ? c->config_size : 0);
}

const struct live_format counting_format = { .name = "counting", .open = counting_open,
                                             .close = free, .make = counting_make };

const uint32_t no_param[LIVE_PARAMS] = { 0 };

const struct live_settings live_defaults = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .gop_cache_max_frames = 2500,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};

struct live_publisher the_publisher = { .ip = "127.0.0.1" };

/* A packet of `size` bytes (at least 8) that begins with its number; the rest follows from it. */
static struct av_packet *numbered(enum av_kind kind, bool key, bool config, uint32_t number,
                                  uint32_t size)
{
    struct av_packet *pkt = av_packet_new(size);

    pkt->kind = (uint8_t)kind;
    pkt->origin = kind == AV_VIDEO ? 9 : kind == AV_AUDIO ? 8 : 18;
    pkt->key = key;
    pkt->config = config;
    for (uint32_t i = 0; i < size; i++)
        pkt->data[i] = (uint8_t)(number + i * 7);
    memcpy(pkt->data, &number, 4);
    memcpy(pkt->data + 4, &size, 4);
    return pkt;
}

void push_numbered(struct live_source *src, enum av_kind kind, bool key, bool config,
                 uint32_t number, uint32_t size, uint32_t ms)
{
    struct av_packet *pkt = numbered(kind, key, config, number, size);

    live_source_push(src, pkt, AV_MS(ms));
    (void)av_packet_unref(pkt);
}

struct live_source *source_begin(const struct live_settings *set)
{
    struct live_source *src = live_source_new("v/a/s", set);

    assert_ok(live_source_begin(src, &the_publisher, &takeover_stale));
    return src;
}

struct live_source *source_registered(struct live_registry *r, const char *name)
{
    struct live_source *src = live_registry_get(r, name, &live_defaults);

    assert_ok(live_source_begin(src, &the_publisher, &takeover_stale));
    return src;
}

void source_end(struct live_source *src)
{
    live_source_end(src, &the_publisher);
    (void)live_source_unref(src);
    live_deferred_free_flush();
    assert_int_equal(live_source_live(), 0);
}

static void take_packets(struct player *p)
{
    size_t at = 0;

    while (p->size - at >= 8) {
        uint32_t number, size;

        memcpy(&number, p->buf + at, 4);
        memcpy(&size, p->buf + at + 4, 4);
        if (p->size - at < size)
            break;
        for (uint32_t i = 8; i < size; i++)
            assert_int_equal(p->buf[at + i], (uint8_t)(number + i * 7));
        assert_true(p->n < 8192);
        p->got[p->n++] = number;
        at += size;
    }
    memmove(p->buf, p->buf + at, p->size - at);
    p->size -= at;
}

static void receive(struct player *p, const void *bytes, size_t size)
{
    if (p->size + size > p->cap) {
        p->cap = (p->size + size) * 2;
        p->buf = realloc(p->buf, p->cap);
        assert_non_null(p->buf);
    }
    memcpy(p->buf + p->size, bytes, size);
    p->size += size;
    take_packets(p);
}

size_t player_take(struct player *p, size_t most, bool one)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct iovec iov[4];
    size_t sent = 0, n_configs;
    int64_t dts;
    int n = live_consumer_ranges(&p->c, iov, 4, one);

    n_configs = live_consumer_config(&p->c, configs, LIVE_CONFIGS, &dts);
    for (size_t i = 0; i < n_configs; i++)
        receive(p, configs[i]->data, configs[i]->size);
    for (int i = 0; i < n && sent < most; i++) {
        size_t take = iov[i].iov_len < most - sent ? iov[i].iov_len : most - sent;

        receive(p, iov[i].iov_base, take);
        sent += take;
    }
    if (sent > 0)
        live_consumer_advance(&p->c, sent);
    return sent;
}

struct player *player_join(struct live_source *src)
{
    struct player *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    live_consumer_open(&p->c, src, &plain_format, no_param);
    return p;
}

void player_leave(struct player *p)
{
    live_consumer_close(&p->c);
    free(p->buf);
    free(p);
}

void player_take_all(struct player *p)
{
    while (player_take(p, SIZE_MAX, false) > 0)
        continue;
}

void assert_got(const struct player *p, unsigned n, const uint32_t *want)
{
    assert_int_equal(p->n, n);
    assert_memory_equal(p->got, want, n * sizeof(want[0]));
}
