/* SPDX-License-Identifier: MIT */
/* test_wire_rtp.c - what players get of a live stream as interleaved RTP, and are told before. */
#include "wire/rtp.h"

#include "proto/rtp/rtcp.h"
#include "publisher.h"
#include "wire/rtp_impl.h"

#include <stdio.h>

enum { FRAMES = 33, SEED = 0x1234abcd, ITEMS_MAX = 8192, BOTH = RTP_WIRE_VIDEO | RTP_WIRE_AUDIO };

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};
static uint8_t frame_buf[MEDIA_FRAME_MAX];

static struct live_source *begin(void)
{
    return live_begin(&settings);
}

/* ---- a player, and what it hears */

struct item {
    unsigned track;
    bool report, bye; /* and that one says that the track ends */
    struct rtp_packet rtp;
    struct rtcp_sr sr; /* of a report */
    uint32_t ssrc;
    const char *cname;
    size_t cname_size;
};

struct ear {
    struct live_consumer c;
    struct wr bytes;
    struct item *v;
    unsigned n;
};

static void listen_to(struct ear *e, struct live_source *src, uint32_t tracks, uint32_t mtu)
{
    const uint32_t param[LIVE_PARAMS] = { [RTP_WIRE_TRACKS] = tracks, [RTP_WIRE_MTU] = mtu,
                                          [RTP_WIRE_SEED] = SEED };

    *e = (struct ear){ .n = 0 };
    wr_init(&e->bytes, 64 << 20);
    e->v = calloc(ITEMS_MAX, sizeof(e->v[0]));
    assert_non_null(e->v);
    live_consumer_open(&e->c, src, &rtp_wire, param);
}

static void read_report(struct item *it, const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;

    rtcp_begin(&r, data, size);
    assert_true(rtcp_next(&r, &p));
    assert_true(p.type == RTCP_SR || p.type == RTCP_RR);
    it->bye = p.type == RTCP_RR;
    it->sr = p.sr;
    it->ssrc = p.ssrc;
    assert_true(rtcp_next(&r, &p));
    assert_int_equal(p.type, RTCP_SDES);
    assert_int_equal(p.ssrc, it->ssrc);
    it->cname = rtcp_cname(&p, &it->cname_size);
    assert_non_null(it->cname);
    if (it->bye) {
        assert_true(rtcp_next(&r, &p));
        assert_true(p.type == RTCP_BYE && p.ssrc == it->ssrc);
    }
    assert_false(rtcp_next(&r, &p));
}

/* Take all that there is, and apart. */
static void hear(struct ear *e)
{
    struct rd r;

    for (;;) {
        struct iovec iov[16];
        int n = live_consumer_ranges(&e->c, iov, 16, false);
        size_t sent = 0;

        if (n == 0 && live_consumer_pending(&e->c) == 0)
            break;
        for (int i = 0; i < n; i++) {
            wr_bytes(&e->bytes, iov[i].iov_base, iov[i].iov_len);
            sent += iov[i].iov_len;
        }
        if (n > 0)
            live_consumer_advance(&e->c, sent);
    }
    r = rd_init(e->bytes.buf, e->bytes.len);
    for (e->n = 0; rd_left(&r) > 0; e->n++) {
        struct item *it = &e->v[e->n];
        const uint8_t *head = rd_take(&r, RTP_INTERLEAVED), *data;
        uint8_t channel;
        uint16_t size;

        assert_true(e->n < ITEMS_MAX && head);
        assert_true(rtp_interleaved_parse(head, &channel, &size));
        data = rd_take(&r, size);
        assert_true(data && channel < 4);
        *it = (struct item){ .track = channel / 2, .report = channel % 2 };
        if (it->report)
            read_report(it, data, size);
        else
            assert_true(rtp_parse(&it->rtp, data, size));
    }
}

static void leave(struct ear *e)
{
    live_consumer_close(&e->c);
    wr_free(&e->bytes);
    free(e->v);
}

static const struct item *nth_packet(const struct ear *e, unsigned track, unsigned n)
{
    for (unsigned i = 0; i < e->n; i++) {
        if (e->v[i].track == track && !e->v[i].report && n-- == 0)
            return &e->v[i];
    }
    return NULL;
}

static unsigned packets_of(const struct ear *e, unsigned track)
{
    unsigned n = 0;

    while (nth_packet(e, track, n))
        n++;
    return n;
}

static unsigned reports_of(const struct ear *e, unsigned track)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->n; i++)
        n += e->v[i].track == track && e->v[i].report && !e->v[i].bye;
    return n;
}

static unsigned byes_of(const struct ear *e)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->n; i++)
        n += e->v[i].bye;
    return n;
}

/* What holds of each player: numbers go up one by one, all is of the stream's sources, counts are
 * right, reports of one moment say one time, which goes on; nothing is in front of its report. */
static void check_all(const struct ear *e)
{
    uint32_t packets[RTP_WIRE_N] = { 0 }, bytes[RTP_WIRE_N] = { 0 };
    uint16_t seq[RTP_WIRE_N] = { 0 };
    bool told[RTP_WIRE_N] = { false };
    uint64_t ntp = 0;

    for (unsigned i = 0; i < e->n; i++) {
        const struct item *it = &e->v[i];
        unsigned t = it->track;

        if (it->report) {
            assert_int_equal(it->ssrc, rtp_wire_ssrc(SEED, t));
            if (it->bye)
                continue;
            assert_true(it->sr.ntp >= ntp);
            assert_int_equal(it->sr.packets, packets[t]);
            assert_int_equal(it->sr.bytes, bytes[t]);
            assert_int_equal(it->cname_size, e->v[0].cname_size);
            assert_memory_equal(it->cname, e->v[0].cname, it->cname_size);
            ntp = it->sr.ntp;
            told[t] = true;
            continue;
        }
        assert_true(told[t]);
        assert_int_equal(it->rtp.ssrc, rtp_wire_ssrc(SEED, t));
        if (packets[t] > 0)
            assert_int_equal(it->rtp.seq, (uint16_t)(seq[t] + 1));
        seq[t] = it->rtp.seq;
        packets[t]++;
        bytes[t] += (uint32_t)it->rtp.payload_size;
    }
}

/* ---- each codec: frames go in, the same frames come out */

static const struct {
    enum av_codec codec;
    size_t size; /* of a frame, about */
    const char *fmtp;
    uint8_t type;
} rows[] = {
    { AV_H264, 6000, "packetization-mode=1", 96 }, { AV_H265, 6000, "", 98 },
    { AV_AV1, 6000, "", 99 }, { AV_VP9, 6000, "", 100 }, { AV_AAC, 300, "config=1190", 97 },
    { AV_MP3, 0, "", 14 }, { AV_OPUS, 200, "sprop-stereo=1", 101 }, { AV_G711A, 160, "", 8 },
    { AV_G711U, 160, "", 0 },
};

static size_t size_of(size_t row, unsigned i)
{
    return rows[row].size == 160 ? 160 : 1 + rows[row].size * (i * 37 % 100 + 5) / 100;
}

static void unpack_all(size_t row, const struct ear *e)
{
    struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(rows[row].codec), .channels = 1,
                                      .fmtp = { rows[row].fmtp, strlen(rows[row].fmtp) } };
    bool video = av_codec_row(rows[row].codec)->kind == AV_VIDEO;
    uint32_t base = rtp_wire_base(SEED, video ? 0 : 1);
    struct rtp_unpacker u;
    struct rtp_frame f;
    unsigned got = 0;

    opts.clock = rows[row].codec == AV_AAC ? 48000 : 0;
    assert_ok(rtp_unpacker_init(&u, &opts));
    for (unsigned i = 0; i < e->n; i++) {
        const struct rtp_packet *p = &e->v[i].rtp;
        struct rtp_payload in = { .data = p->payload, .size = p->payload_size,
                                  .ticks = (int32_t)(p->time - base), .marker = p->marker };

        if (e->v[i].report)
            continue;
        assert_int_equal(p->type, rows[row].type);
        rtp_unpack_put(&u, &in);
        while (rtp_unpack_next(&u, &f)) {
            struct frame want = media_make(rows[row].codec, got, size_of(row, got), frame_buf);

            if (f.config)
                continue;
            assert_int_equal(f.size, want.size);
            assert_memory_equal(f.data, want.data, f.size);
            assert_int_equal(f.key, want.key);
            assert_int_equal(f.ticks, video ? want.pts : want.pts * u.clock / 90000);
            got++;
        }
    }
    assert_int_equal(got, FRAMES);
    rtp_unpacker_fini(&u);
}

/* Of the pieces of a frame all but the last are equally large: the kernel cuts it so. */
static void check_sizes(const struct ear *e, uint32_t mtu, bool one_unit)
{
    size_t first = 0;

    for (unsigned i = 0; i < e->n; i++) {
        const struct item *it = &e->v[i], *next = i + 1 < e->n ? it + 1 : NULL;
        bool last = !next || next->report || next->rtp.time != it->rtp.time;

        if (it->report) {
            first = 0;
            continue;
        }
        assert_in_range(it->rtp.payload_size, 1, mtu);
        if (first == 0)
            first = it->rtp.payload_size;
        if (one_unit && !last)
            assert_int_equal(it->rtp.payload_size, first);
        if (last)
            first = 0;
    }
}

static void test_codecs(void **state)
{
    static const uint32_t mtus[] = { 300, 1400, 9000, 64000 };

    (void)state;
    for (size_t row = 0; row < COUNT(rows) * COUNT(mtus); row++) {
        size_t r = row % COUNT(rows);
        uint32_t mtu = mtus[row / COUNT(rows)];
        struct live_source *src = begin();
        struct ear e;

        listen_to(&e, src, BOTH, mtu);
        push_config(src, rows[r].codec);
        for (unsigned i = 0; i < FRAMES; i++) {
            struct frame f = media_make(rows[r].codec, i, size_of(r, i), frame_buf);

            push(src, &f);
        }
        hear(&e);
        assert_true(e.v[0].report);
        check_all(&e);
        check_sizes(&e, mtu, rows[r].codec == AV_VP9);
        unpack_all(r, &e);
        leave(&e);
        live_end(src);
    }
}

/* ---- sound and picture together */

static void test_reports(void **state)
{
    struct live_source *src = begin();
    struct ear e;
    unsigned pairs = 0;

    (void)state;
    push_configs(src);
    listen_to(&e, src, BOTH, 1400);
    push_av(src, 0, 100, 25, 160);
    hear(&e);
    check_all(&e);
    for (unsigned i = 0; i + 2 < e.n; i++) {
        const struct item *a = &e.v[i], *b = a + 1, *first = a + 2;
        int64_t moment = pairs * AV_MS(1000);

        if (!a->report || a->track != 0)
            continue;
        assert_true(b->report && b->track == 1);
        assert_true(!first->report && first->track == 0);
        assert_true(a->sr.ntp == b->sr.ntp);
        assert_int_equal(a->sr.time, rtp_wire_base(SEED, 0) + (uint32_t)moment);
        assert_int_equal(b->sr.time, rtp_wire_base(SEED, 1) + (uint32_t)(moment * 8 / 15));
        assert_int_equal(first->rtp.time, a->sr.time);
        pairs++;
    }
    assert_int_equal(pairs, 4);
    assert_int_equal(reports_of(&e, 0) + reports_of(&e, 1), 8);
    leave(&e);
    live_end(src);
}

/* So often, where no key frame comes. */
static void test_reports_go_on(void **state)
{
    struct live_source *src = begin();
    struct ear e;
    uint32_t last = rtp_wire_base(SEED, 0);

    (void)state;
    push_configs(src);
    listen_to(&e, src, BOTH, 1400);
    push_av(src, 0, 550, 1000, 160);
    hear(&e);
    check_all(&e);
    assert_int_equal(reports_of(&e, 0), 5);
    for (unsigned i = 0; i < e.n; i++) {
        if (!e.v[i].report || e.v[i].track != 0)
            continue;
        assert_in_range(e.v[i].sr.time - last, 0, AV_MS(5100));
        last = e.v[i].sr.time;
    }
    leave(&e);
    live_end(src);
}

/* Of a wire without picture, who joins does so at a picture all the same. */
static void test_unwanted_tracks(void **state)
{
    (void)state;
    for (unsigned only = 0; only < 2; only++) {
        struct live_source *src = begin();
        struct rtp_wire_start start[RTP_WIRE_N];
        struct ear e;

        push_configs(src);
        push_av(src, 0, 60, 25, 160);
        listen_to(&e, src, 1u << only, 1400);
        rtp_wire_start(&e.c, 3, start);
        hear(&e);
        check_all(&e);
        assert_true(e.v[0].report && e.v[0].track == only);
        assert_true(packets_of(&e, only) > 0);
        assert_int_equal(packets_of(&e, 1 - only) + reports_of(&e, 1 - only), 0);
        assert_true(start[only].has_time && start[only].has_seq && !start[1 - only].has_time);
        assert_int_equal(start[only].seq, nth_packet(&e, only, 0)->rtp.seq);
        leave(&e);
        live_end(src);
    }
}

/* Sound that begins later is told of before it is heard; so is one whose clock changes. */
static void test_late_sound(void **state)
{
    struct frame other = media_config(AV_AAC, MEDIA_BYTES("\x12\x10")); /* 44.1 kHz */
    struct live_source *src = begin();
    struct ear e;

    (void)state;
    push_config(src, AV_H264);
    listen_to(&e, src, BOTH, 1400);
    for (unsigned i = 0; i < 50; i++)
        push_at(src, AV_H264, i == 0, i * 40, 160);
    hear(&e);
    assert_int_equal(reports_of(&e, 1), 0);
    push_config(src, AV_AAC);
    push_at(src, AV_AAC, false, 2000, 160);
    hear(&e);
    assert_int_equal(reports_of(&e, 1), 1);
    push(src, &other);
    push_at(src, AV_AAC, false, 2020, 160);
    hear(&e);
    assert_int_equal(reports_of(&e, 1), 2);
    assert_int_equal(byes_of(&e), 2); /* it is not what they were told */
    assert_int_equal(nth_packet(&e, 1, 1)->rtp.time,
                     rtp_wire_base(SEED, 1) + (uint32_t)(AV_MS(2020) * 441 / 900));
    check_all(&e);
    leave(&e);
    live_end(src);
}

/* Pictures shown in another order than they are decoded in. */
static void test_reordered_pictures(void **state)
{
    static const int cts[] = { 80, 160, 40, 0, 40 };
    struct live_source *src = begin();
    struct ear e;

    (void)state;
    push_config(src, AV_H264);
    listen_to(&e, src, BOTH, 1400);
    for (unsigned i = 0; i < COUNT(cts); i++) {
        struct frame f = media_make(AV_H264, i == 0 ? 0 : 1, 160, frame_buf);

        f.dts = i * AV_MS(40);
        f.pts = f.dts + AV_MS(cts[i]);
        push(src, &f);
    }
    hear(&e);
    assert_int_equal(e.v[0].sr.time, rtp_wire_base(SEED, 0) + (uint32_t)AV_MS(cts[0]));
    for (unsigned i = 0, packet = 0; i < COUNT(cts); i++) {
        const struct item *it;

        do {
            it = nth_packet(&e, 0, packet++);
            assert_int_equal(it->rtp.time,
                             rtp_wire_base(SEED, 0) + (uint32_t)AV_MS((int)i * 40 + cts[i]));
        } while (!it->rtp.marker);
    }
    leave(&e);
    live_end(src);
}

/* ---- publishers come and go */

static void test_publisher_comes_back(void **state)
{
    static struct live_publisher other = { .ip = "127.0.0.2" };
    struct live_source *src = begin();
    struct ear e;
    unsigned before;
    uint32_t last;

    (void)state;
    push_configs(src);
    listen_to(&e, src, BOTH, 1400);
    push_av(src, AV_MS(700000), 30, 25, 160);
    hear(&e);
    before = packets_of(&e, 0);
    last = nth_packet(&e, 0, before - 1)->rtp.time;
    live_source_end(src, &me);
    assert_ok(live_source_begin(src, &other, &rule));
    push_configs(src);
    push_av(src, 0, 30, 25, 160);
    hear(&e);
    check_all(&e);
    assert_int_equal(byes_of(&e), 0);
    assert_in_range(nth_packet(&e, 0, before)->rtp.time - last, 1, AV_MS(1000));
    live_source_end(src, &other);
    leave(&e);
    live_end(src);
}

/* Who plays on takes no frame of the other codec for one of its own, and is told that all tracks
 * end. */
static void test_another_codec(void **state)
{
    struct live_source *src = begin();
    unsigned before, after;
    struct ear e, late;

    (void)state;
    push_configs(src);
    listen_to(&e, src, BOTH, 1400);
    push_av(src, 0, 5, 25, 160);
    hear(&e);
    before = packets_of(&e, 0);
    live_source_end(src, &me);
    assert_ok(live_source_begin(src, &me, &rule));
    push_config(src, AV_H265);
    push_config(src, AV_AAC);
    push_at(src, AV_H265, true, 40, 160);
    listen_to(&late, src, BOTH, 1400);
    hear(&e);
    hear(&late);
    check_all(&e);
    assert_int_equal(byes_of(&e), 2);
    assert_int_equal(byes_of(&late), 0);
    after = packets_of(&e, 0);
    assert_true(after > before);
    for (unsigned i = 0; i < after; i++)
        assert_int_equal(nth_packet(&e, 0, i)->rtp.type, i < before ? 96 : 98);
    leave(&late);
    leave(&e);
    live_end(src);
}

/* The sets of a new configuration go in front of the next key frame. */
static void test_another_configuration(void **state)
{
    static const char config[] = "\x01\x42\xc0\x1e\xff\xe1\x00\x04\x67\x42\xc0\x1e\x01\x00\x02\x68\x77";
    struct frame f = media_config(AV_H264, MEDIA_BYTES(config));
    struct live_source *src = begin();
    const struct item *sets;
    unsigned before;
    struct ear e;

    (void)state;
    push_config(src, AV_H264);
    listen_to(&e, src, BOTH, 1400);
    push_at(src, AV_H264, true, 0, 160);
    hear(&e);
    before = packets_of(&e, 0);
    push(src, &f);
    push_at(src, AV_H264, true, 40, 160);
    hear(&e);
    sets = nth_packet(&e, 0, before);
    assert_true(sets->rtp.payload_size > 5);
    assert_memory_equal(sets->rtp.payload + 1, "\x00\x04\x67\x42\xc0\x1e", 6);
    leave(&e);
    live_end(src);
}

/* ---- what cannot go out */

static void test_broken_frames(void **state)
{
    struct frame broken = media_frame(AV_H264, false, AV_MS(40), MEDIA_BYTES("\x00\x00\x00\x09\x41"));
    struct frame huge = media_make(AV_AAC, 1, 9000, frame_buf);
    struct live_source *src = begin();
    struct ear e;
    unsigned before;

    (void)state;
    push_configs(src);
    listen_to(&e, src, BOTH, 1400);
    push_at(src, AV_H264, true, 0, 160);
    hear(&e);
    before = packets_of(&e, 0);
    push(src, &broken);
    huge.dts = huge.pts = AV_MS(50);
    push(src, &huge);
    hear(&e);
    assert_int_equal(packets_of(&e, 0), before);
    assert_int_equal(packets_of(&e, 1), 0);
    push_at(src, AV_H264, true, 80, 160);
    push_at(src, AV_AAC, false, 80, 160);
    hear(&e);
    check_all(&e);
    assert_true(packets_of(&e, 0) > before);
    assert_int_equal(packets_of(&e, 1), 1);
    leave(&e);
    live_end(src);
}

/* Frames before their configuration, codecs that RTP does not carry, tracks beside the first. */
static void test_others(void **state)
{
    struct live_source *src = begin();
    struct frame f;
    struct ear e;

    (void)state;
    listen_to(&e, src, BOTH, 1400);
    push_at(src, AV_AAC, false, 0, 160);
    push_at(src, AV_SPEEX, false, 10, 160);
    hear(&e);
    assert_int_equal(packets_of(&e, 1), 0);
    push_config(src, AV_AAC);
    push_at(src, AV_AAC, false, 20, 160);
    f = media_make(AV_AAC, 1, 100, frame_buf);
    f.track = 1;
    f.dts = AV_MS(30);
    push(src, &f);
    hear(&e);
    assert_int_equal(packets_of(&e, 1), 1);
    leave(&e);
    live_end(src);
}

/* ---- what PLAY answers */

static void test_start(void **state)
{
    struct live_source *src = begin();
    struct rtp_wire_start start[RTP_WIRE_N];
    struct ear e;

    (void)state;
    push_configs(src);
    listen_to(&e, src, BOTH, 1400);
    rtp_wire_start(&e.c, 3, start);
    assert_false(start[0].has_time || start[0].has_seq || start[1].has_time || start[1].has_seq);
    push_at(src, AV_H264, true, 400, 160); /* the sound of the same moment comes later */
    rtp_wire_start(&e.c, 3, start);
    assert_true(start[0].has_time && start[0].has_seq && start[1].has_time && !start[1].has_seq);
    push_at(src, AV_AAC, false, 410, 160);
    rtp_wire_start(&e.c, 3, start);
    hear(&e);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        assert_true(start[i].has_time && start[i].has_seq);
        assert_int_equal(start[i].seq, nth_packet(&e, i, 0)->rtp.seq);
        assert_int_equal(start[i].time, rtp_wire_base(SEED, i)); /* the stream's time 0 */
    }
    assert_int_equal(nth_packet(&e, 1, 0)->rtp.time - start[1].time, 480);
    rtp_wire_start(&e.c, 3, start); /* it has all that there is */
    assert_false(start[0].has_time || start[1].has_time);
    leave(&e);
    live_end(src);
}

/* Sound without a configuration is told of before a packet of it is there. */
static void test_start_of_fixed_types(void **state)
{
    static const struct {
        enum av_codec codec;
        int64_t clock;
    } sounds[] = { { AV_MP3, 90000 }, { AV_G711A, 8000 }, { AV_G711U, 8000 }, { AV_OPUS, 48000 } };

    (void)state;
    for (size_t i = 0; i < COUNT(sounds); i++) {
        struct live_source *src = begin();
        struct rtp_wire_start start[RTP_WIRE_N];
        struct ear e;

        push_config(src, AV_H264);
        push_at(src, AV_H264, true, 0, 160);
        push_at(src, sounds[i].codec, false, 10, 160);
        push_at(src, AV_H264, true, 2000, 160);
        listen_to(&e, src, BOTH, 1400);
        rtp_wire_start(&e.c, 3, start);
        assert_true(start[0].has_seq && start[1].has_time && !start[1].has_seq);
        assert_int_equal(start[1].time,
                         rtp_wire_base(SEED, 1) + (uint32_t)(sounds[i].clock * 2));
        push_at(src, sounds[i].codec, false, 2010, 160);
        hear(&e);
        check_all(&e);
        assert_int_equal(nth_packet(&e, 1, 0)->rtp.time - start[1].time, sounds[i].clock / 100);
        leave(&e);
        live_end(src);
    }
}

static void test_seed(void **state)
{
    char a[RTP_WIRE_CNAME], b[RTP_WIRE_CNAME];

    (void)state;
    assert_int_equal(rtp_wire_seed("v/a/s"), rtp_wire_seed("v/a/s"));
    assert_int_not_equal(rtp_wire_seed("v/a/s"), rtp_wire_seed("v/a/t"));
    for (uint32_t seed = 0; seed < 1000; seed++) {
        assert_int_not_equal(rtp_wire_ssrc(seed, 0), rtp_wire_ssrc(seed, 1));
        assert_int_not_equal(rtp_wire_ssrc(seed, 0), rtp_wire_ssrc(seed + 1, 0));
        assert_int_not_equal(rtp_wire_base(seed, 0), rtp_wire_ssrc(seed, 0));
    }
    rtp_wire_cname(1, a);
    rtp_wire_cname(2, b);
    assert_string_not_equal(a, b);
}

/* ---- the wall clock of reports */

static void test_wall(void **state)
{
    static const struct {
        const char *name;
        int64_t late, every; /* how much later than before each moment comes, microseconds */
        int moments, far;    /* by how much it is off in the end, at most, milliseconds */
    } walls[] = {
        { "steady", 0, 2000, 100, 0 },
        { "a clock that is 100 ppm slow", 200, 2000, 4000, 101 },
        { "a clock that is 100 ppm fast", -200, 2000, 4000, 101 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(walls); i++) {
        struct rtp_wire_wall w = { .known = false };
        int64_t came = INT64_C(1700000000000000), moment = AV_MS(5000), last = 0, at = came;

        for (int n = 0; n <= walls[i].moments; n++) {
            at = rtp_wire_wall_at(&w, moment, came);
            assert_true(at > last);
            last = at;
            assert_in_range(at - came + walls[i].far * 1000, 0, walls[i].far * 2000);
            moment += AV_MS(walls[i].every);
            came += walls[i].every * 1000 + walls[i].late;
        }
    }
}

/* Late for a moment is no reason; late for long is. What is early never makes it go back. */
static void test_wall_jumps(void **state)
{
    struct rtp_wire_wall w = { .known = false };
    int64_t came = INT64_C(1700000000000000), last;

    (void)state;
    assert_int_equal(rtp_wire_wall_at(&w, 0, came), came);
    assert_int_equal(rtp_wire_wall_at(&w, AV_MS(2000), came + 2050000), came + 2000000);
    assert_int_equal(rtp_wire_wall_at(&w, AV_MS(1000), came + 2060000), came + 2000000);
    last = rtp_wire_wall_at(&w, AV_MS(4000), came + 9000000);
    assert_int_equal(last, came + 4002000);
    for (int i = 0; i < 6; i++)
        last = rtp_wire_wall_at(&w, AV_MS(6000 + i * 2000), came + 11000000 + i * 2000000);
    assert_int_equal(last, came + 21000000);
    for (int i = 0; i < 60; i++) { /* an hour back */
        int64_t at = rtp_wire_wall_at(&w, AV_MS(20000 + i * 2000), came - INT64_C(3600000000));

        assert_true(at > last);
        last = at;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_codecs), TEST(test_reports), TEST(test_reports_go_on),
        TEST(test_unwanted_tracks), TEST(test_late_sound), TEST(test_reordered_pictures),
        TEST(test_publisher_comes_back), TEST(test_another_codec),
        TEST(test_another_configuration), TEST(test_broken_frames), TEST(test_others),
        TEST(test_start), TEST(test_start_of_fixed_types), TEST(test_seed), TEST(test_wall),
        TEST(test_wall_jumps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
