/* SPDX-License-Identifier: MIT */
/* test_vod_feed.c - one who plays a file: its clock, its place, its own numbers. */
#include "vod/feed.h"

#include "base/iov.h"
#include "format/flv/flv.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/sender.h"
#include "vod_fake.h"
#include "wire/flv.h"
#include "wire/rtmp.h"

enum { SEED = 0x5a17c0de, ITEMS_MAX = 60000, BOTH = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO };

/* ---- somebody who plays, and takes so much at a time */

struct someone {
    struct vod_feed f;
    struct wr got;
    unsigned more; /* how often it was called */
};

static void on_more(struct live_feed *feed, void *arg)
{
    struct someone *p = arg;

    (void)feed;
    p->more++;
}

static void open_use(struct someone *p, const struct vod_wire_use *use, bool loop)
{
    memset(p, 0, sizeof(*p));
    vod_feed_open(&p->f, &fake, &(struct vod_feed_setup){ .use = *use, .loop = loop });
    p->f.feed.on_more = on_more;
    p->f.feed.arg = p;
    wr_init(&p->got, 64 << 20);
}

static struct vod_wire_use use_of(const struct vod_wire *wire)
{
    struct vod_wire_use use = { .wire = wire, .tracks = BOTH };

    if (wire == &vod_wire_rtp) {
        use.param[RTP_WIRE_TRACKS] = BOTH;
        use.param[RTP_WIRE_MTU] = 1400;
        use.param[RTP_WIRE_SEED] = SEED;
    } else if (wire == &vod_wire_rtmp) {
        use.param[RTMP_WIRE_CHUNK_SIZE] = 60000;
        use.param[RTMP_WIRE_STREAM_ID] = 1;
    }
    return use;
}

static void open_as(struct someone *p, const struct vod_wire *wire)
{
    struct vod_wire_use use = use_of(wire);

    open_use(p, &use, false);
}

static void leave(struct someone *p)
{
    vod_feed_close(&p->f);
    wr_free(&p->got);
}

/* The file is there anew, and played from that place; and the end of it. */
static void begin_play(struct someone *p, const struct vod_wire *wire, int64_t from)
{
    fake_begin();
    open_as(p, wire);
    vod_feed_play(&p->f, from, INT64_MAX, VOD_SCALE_1);
}

static void finish(struct someone *p)
{
    leave(p);
    fake_end();
}

/* One call: at most so many bytes are taken. */
static size_t take(struct someone *p, size_t most)
{
    struct live_feed *feed = &p->f.feed;
    struct iovec iov[16];
    int n = feed->kind->ranges(feed, iov, 16);
    size_t sent = 0;

    for (int i = 0; i < n && sent < most; i++) {
        size_t size = iov[i].iov_len < most - sent ? iov[i].iov_len : most - sent;

        assert_true(iov[i].iov_len > 0);
        wr_bytes(&p->got, iov[i].iov_base, size);
        sent += size;
    }
    if (n > 0)
        feed->kind->advance(feed, sent);
    assert_int_equal(p->got.bad, ERR_OK);
    return sent;
}

/* A turn: all that is due. */
static void turn(struct someone *p)
{
    while (take(p, SIZE_MAX) > 0)
        ;
    assert_int_equal(fake.held, 0);
}

static void pass(co_usec us)
{
    st_switched_at += (unsigned long long)us;
}

static void play_for(struct someone *p, co_usec us)
{
    for (co_usec done = 0; done < us; done += CO_MS(350)) {
        turn(p);
        pass(CO_MS(350));
    }
}

static void play_out(struct someone *p)
{
    for (int i = 0; i < 100 && !p->f.feed.kind->ended(&p->f.feed); i++)
        play_for(p, CO_MS(350));
    assert_true(p->f.feed.kind->ended(&p->f.feed));
}

/* ---- FLV that came */

struct tags {
    unsigned n, pictures;
    int64_t first, last;   /* ms */
    uint8_t types[ITEMS_MAX];
    int64_t times[ITEMS_MAX];
    size_t at[ITEMS_MAX];  /* of the body */
    uint32_t sizes[ITEMS_MAX];
};

static struct tags tags;

static void read_tags(const struct wr *got)
{
    struct rd r = rd_init(got->buf, got->len);
    struct flv_tag tag;

    memset(&tags, 0, sizeof(tags));
    while (rd_left(&r) > 0) {
        assert_true(tags.n < ITEMS_MAX);
        assert_ok(flv_tag_parse(&tag, &r));
        tags.at[tags.n] = (size_t)(r.p - got->buf);
        assert_non_null(rd_take(&r, tag.size));
        assert_int_equal(rd_u32(&r), tag.size + FLV_TAG_HEADER);
        tags.types[tags.n] = tag.type;
        tags.sizes[tags.n] = tag.size;
        tags.pictures += tag.type == FLV_VIDEO;
        tags.times[tags.n++] = tag.time;
        tags.last = tag.time;
    }
    tags.first = tags.n ? tags.times[0] : -1;
}

/* How many samples begin before that time? */
static unsigned samples_until(int64_t from, int64_t dts)
{
    struct fake_sample v[FAKE_SAMPLES];
    unsigned count = 0;

    for (uint64_t place = 0; place < FAKE_GROUPS; place++) {
        unsigned n = fake_group(place, v);

        for (unsigned i = 0; i < n; i++)
            count += v[i].dts >= from && v[i].dts <= dts;
    }
    return count;
}

/* So many samples are those up to that time, and at most the rest of a part. */
static void assert_until(unsigned n, int64_t from, int64_t dts)
{
    assert_in_range(n, samples_until(from, dts),
                    samples_until(from, dts + av_from_us(VOD_TURN_MOST)));
}

static void paces_by_the_clock(void **state)
{
    struct someone p;

    (void)state;
    fake_begin();
    open_as(&p, &vod_wire_flv);
    assert_false(p.f.feed.kind->ready(&p.f.feed));
    assert_int_equal(take(&p, SIZE_MAX), 0);
    assert_int_equal(vod_feed_play(&p.f, 0, INT64_MAX, VOD_SCALE_1), 0);
    assert_true(p.f.feed.kind->ready(&p.f.feed));
    for (int i = 0; i < 20; i++) {
        turn(&p);
        read_tags(&p.got);
        assert_until(tags.n, 0, FAKE_SECOND + i * (int64_t)AV_MS(350));
        assert_int_equal(p.f.feed.kind->lag(&p.f.feed), 0);
        assert_int_equal(p.f.offset, 0); /* between two parts */
        pass(CO_MS(350));
        assert_in_range(p.f.feed.kind->lag(&p.f.feed), 0, CO_MS(350));
        assert_in_range(p.f.feed.kind->pending(&p.f.feed), 0, 40);
        assert_in_range(vod_feed_position(&p.f), (i + 1) * AV_MS(350) - 1,
                        (i + 1) * AV_MS(350) + 1);
    }
    finish(&p);
}

static void stands_still_while_paused(void **state)
{
    struct someone p;
    unsigned n;

    (void)state;
    begin_play(&p, &vod_wire_flv, 0);
    turn(&p);
    pass(CO_MS(500));
    p.f.feed.kind->paused(&p.f.feed, true);
    pass(CO_SECONDS(100));
    assert_int_equal(vod_feed_position(&p.f), AV_MS(500));
    p.f.feed.kind->paused(&p.f.feed, false);
    turn(&p);
    read_tags(&p.got);
    n = tags.n;
    assert_until(n, 0, FAKE_SECOND + AV_MS(500));
    /* a new place while paused: it stays there */
    p.f.feed.kind->paused(&p.f.feed, true);
    assert_int_equal(vod_feed_play(&p.f, AV_MS(5200), INT64_MAX, VOD_SCALE_1), AV_MS(5000));
    pass(CO_SECONDS(100));
    assert_int_equal(vod_feed_position(&p.f), AV_MS(5000));
    p.f.feed.kind->paused(&p.f.feed, false);
    turn(&p);
    read_tags(&p.got);
    assert_int_equal(tags.times[n], 5000);
    assert_until(tags.n - n, AV_MS(5000), AV_MS(6000));
    finish(&p);
}

static void catches_up_unless_too_late(void **state)
{
    struct someone p;

    (void)state;
    begin_play(&p, &vod_wire_flv, 0);
    turn(&p);
    pass(CO_SECONDS(4));
    assert_in_range(p.f.feed.kind->lag(&p.f.feed), CO_MS(3600), CO_MS(4000));
    turn(&p);
    read_tags(&p.got);
    assert_until(tags.n, 0, AV_MS(5000));
    pass(CO_SECONDS(30));
    turn(&p);
    read_tags(&p.got);
    assert_in_range(tags.last, 5900, 6750);
    assert_false(p.f.feed.kind->ended(&p.f.feed));
    finish(&p);
}

/* Take all that is due in pieces of that size; small ones in the begin, where packets of all kinds
 * are. What it does not hold may leave the store meanwhile. */
static void take_pieces(struct someone *p, size_t size)
{
    unsigned n = 0;

    while (take(p, n < 5000 || size > 1000 ? size : 997) > 0) {
        if (n++ % 64 == 0)
            fake_evict();
    }
}

static void assert_same(const struct someone *p, const struct someone *whole)
{
    assert_int_equal(p->got.len, whole->got.len);
    assert_memory_equal(p->got.buf, whole->got.buf, p->got.len);
}

static const struct vod_wire *const wires[] = { &vod_wire_flv, &vod_wire_flv_ws, &vod_wire_rtmp,
                                                &vod_wire_rtp };

static void goes_on_wherever_it_was_cut(void **state)
{
    static const size_t sizes[] = { 1, 7, 1399, 4096, 70001 };

    (void)state;
    for (unsigned w = 0; w < COUNT(wires); w++) {
        struct someone whole;

        begin_play(&whole, wires[w], 0);
        turn(&whole);
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            struct someone p;

            open_as(&p, wires[w]);
            vod_feed_play(&p.f, 0, INT64_MAX, VOD_SCALE_1);
            take_pieces(&p, sizes[i]);
            assert_same(&p, &whole);
            leave(&p);
        }
        finish(&whole);
    }
}

/* A seek at any byte: the rest of the packet comes first, then what was put, then the new place. */
static void seeks_at_every_byte(void **state)
{
    static const uint8_t head[] = { 9, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 'h', 0, 0, 0, 12 };

    (void)state;
    for (size_t at = 1; at < 90000; at += at < 300 ? 1 : 997) {
        struct someone p;

        begin_play(&p, &vod_wire_flv, 0);
        assert_int_equal(take(&p, at), at);
        vod_feed_play(&p.f, AV_MS(3000), INT64_MAX, VOD_SCALE_1);
        vod_feed_put_head(&p.f, head, sizeof(head)); /* is forgotten */
        vod_feed_play(&p.f, AV_MS(7000), INT64_MAX, VOD_SCALE_1);
        vod_feed_put_head(&p.f, head, 5);
        vod_feed_put_head(&p.f, head + 5, sizeof(head) - 5);
        fake_evict();
        (void)take(&p, 3);
        turn(&p);
        read_tags(&p.got);
        for (unsigned i = 0, heads = 0; i < tags.n; i++) {
            heads += tags.sizes[i] == 1;
            assert_true(heads <= 1 && tags.times[i] < (heads ? 8351 : 1351));
            assert_true(!heads || tags.times[i] >= 7000 || tags.sizes[i] == 1);
            assert_true(heads || i < tags.n - 1);
        }
        assert_in_range(tags.last, 8000, 8350);
        finish(&p);
    }
}

/* ---- RTP that came */

struct items {
    unsigned n, reports, byes;
    struct item {
        unsigned track;
        bool report, bye;
        struct rtp_packet rtp;
        struct rtcp_sr sr;
        uint32_t sent, sent_bytes; /* of its track before it */
    } v[ITEMS_MAX];
};

static struct items items, others;

static void read_rtcp(struct items *x, struct item *it, const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;

    rtcp_begin(&r, data, size);
    assert_true(rtcp_next(&r, &p));
    assert_int_equal(p.ssrc, rtp_wire_ssrc(SEED, it->track));
    it->report = p.type == RTCP_SR;
    it->sr = p.sr;
    x->reports += it->report;
    while (rtcp_next(&r, &p))
        it->bye |= p.type == RTCP_BYE;
    x->byes += it->bye;
}

/* Take the bytes apart: numbers follow each other, reports count what was sent. */
static void read_items(struct items *x, const struct wr *got)
{
    struct rd r = rd_init(got->buf, got->len);
    uint32_t sent[2] = { 0 }, bytes[2] = { 0 };
    uint16_t seq[2] = { 0 };

    memset(x, 0, sizeof(*x));
    while (rd_left(&r) > 0) {
        struct item *it = &x->v[x->n++];
        const uint8_t *head = rd_take(&r, RTP_INTERLEAVED), *data;
        uint8_t channel = 0;
        uint16_t size = 0;

        assert_non_null(head);
        assert_true(x->n < ITEMS_MAX && rtp_interleaved_parse(head, &channel, &size));
        data = rd_take(&r, size);
        assert_true(data && channel < 4);
        it->track = channel / 2;
        it->sent = sent[it->track];
        it->sent_bytes = bytes[it->track];
        if (channel % 2) {
            read_rtcp(x, it, data, size);
            continue;
        }
        assert_true(rtp_parse(&it->rtp, data, size));
        assert_int_equal(it->rtp.ssrc, rtp_wire_ssrc(SEED, it->track));
        if (sent[it->track])
            assert_int_equal(it->rtp.seq, (uint16_t)(seq[it->track] + 1));
        seq[it->track] = it->rtp.seq;
        sent[it->track]++;
        bytes[it->track] += (uint32_t)it->rtp.payload_size;
    }
}

static uint32_t clock_of(const struct item *it)
{
    return it->track == 0 ? 90000 : 48000;
}

/* All reports of a player lie on one line: so much wall clock is so many ticks; and their counts
 * are of what it got, but for where they began. */
static void assert_reports(const struct items *x)
{
    const struct item *first[2] = { NULL, NULL };

    for (unsigned i = 0; i < x->n; i++) {
        const struct item *it = &x->v[i], *one = first[it->track];
        int64_t us, ticks;

        if (!it->report)
            continue;
        if (!one) {
            first[it->track] = it;
            continue;
        }
        us = rtcp_unix_us(it->sr.ntp) - rtcp_unix_us(one->sr.ntp);
        ticks = (int32_t)(it->sr.time - one->sr.time);
        assert_in_range(us * clock_of(it) / 1000000 - ticks + 3, 0, 6);
        assert_int_equal(it->sr.packets - one->sr.packets, it->sent - one->sent);
        assert_int_equal(it->sr.bytes - one->sr.bytes, it->sent_bytes - one->sent_bytes);
    }
    assert_true(first[0] != NULL);
    if (first[1]) /* of one moment */
        assert_true(first[0]->sr.ntp == first[1]->sr.ntp);
}

/* Times of a track never go back by more than pictures are out of order. */
static void assert_times(const struct items *x, int64_t back)
{
    int64_t last[2] = { -1, -1 };

    for (unsigned i = 0; i < x->n; i++) {
        const struct item *it = &x->v[i];
        int64_t time;

        if (it->report || it->bye)
            continue;
        time = last[it->track] < 0 ? it->rtp.time : rtp_unwrap32(last[it->track], it->rtp.time);
        if (last[it->track] >= 0)
            assert_true(time >= last[it->track] - (it->track == 0 ? back : 0));
        if (time > last[it->track])
            last[it->track] = time;
    }
}

/* The file's time of a packet as nobody has moved it, in ticks. */
static uint32_t file_ticks(const struct item *it)
{
    return it->rtp.time - rtp_wire_base(SEED, it->track);
}

static void assert_same_payloads(const struct items *a, unsigned i, const struct items *b,
                                 unsigned k)
{
    for (; i < a->n && k < b->n; i++, k++) {
        const struct item *x = &a->v[i], *y = &b->v[k];

        assert_true(x->track == y->track && x->report == y->report && x->bye == y->bye);
        assert_int_equal(x->rtp.payload_size, y->rtp.payload_size);
        if (x->rtp.payload_size)
            assert_memory_equal(x->rtp.payload, y->rtp.payload, x->rtp.payload_size);
        assert_true(x->rtp.marker == y->rtp.marker && x->rtp.type == y->rtp.type);
    }
}

static unsigned find_ticks(const struct items *x, int64_t time)
{
    unsigned i = 0;

    while (i < x->n && (x->v[i].report || x->v[i].track != 0 || file_ticks(&x->v[i]) != time))
        i++;
    assert_true(i < x->n);
    while (i > 0 && x->v[i - 1].report)
        i--;
    return i;
}

static void shares_until_it_seeks(void **state)
{
    struct someone a, b;
    struct rtp_wire_start start[RTP_WIRE_N];
    unsigned made, at;

    (void)state;
    begin_play(&a, &vod_wire_rtp, 0);
    vod_rtp_start(&a.f, start);
    play_out(&a);
    read_items(&items, &a.got);
    assert_reports(&items);
    assert_times(&items, 2 * FAKE_FRAME);
    assert_int_equal(items.byes, 2);
    assert_true(items.v[items.n - 1].bye && items.v[items.n - 2].bye);
    assert_true(items.v[0].report && items.v[1].report);
    assert_int_equal(items.v[2].rtp.seq, start[0].seq);
    assert_int_equal(items.v[2].rtp.time, start[0].time);
    /* another one in the middle takes the same, and the numbers that are there */
    made = fake.made;
    open_as(&b, &vod_wire_rtp);
    assert_int_equal(vod_feed_play(&b.f, AV_MS(4999), INT64_MAX, VOD_SCALE_1), AV_MS(4000));
    vod_rtp_start(&b.f, start);
    turn(&b);
    assert_non_null(memmem(a.got.buf, a.got.len, b.got.buf, b.got.len));
    assert_int_equal(fake.made, made);
    /* and has its own after a seek */
    vod_feed_play(&b.f, AV_MS(1500), INT64_MAX, VOD_SCALE_1);
    at = (unsigned)b.got.len;
    vod_rtp_start(&b.f, start);
    play_out(&b);
    assert_int_equal(fake.made, made);
    read_items(&others, &b.got);
    assert_reports(&others);
    assert_times(&others, 2 * FAKE_FRAME);
    for (unsigned i = 0; i < others.n; i++) {
        const struct item *it = &others.v[i];

        if (it->report || it->track || (size_t)(it->rtp.payload - b.got.buf) < at)
            continue;
        assert_int_equal(it->rtp.seq, start[0].seq);
        assert_int_equal(it->rtp.time, start[0].time);
        assert_same_payloads(&items, find_ticks(&items, FAKE_SECOND + FAKE_ZERO), &others, i - 2);
        break;
    }
    leave(&a);
    finish(&b);
}

/* The same player with a seek, its bytes taken whole or in pieces. */
static void own_numbers_go_on_wherever_it_was_cut(void **state)
{
    static const size_t sizes[] = { 1, 13, 1000, 5001 };
    struct someone whole, p;

    (void)state;
    begin_play(&whole, &vod_wire_rtp, AV_MS(2000));
    turn(&whole);
    vod_feed_play(&whole.f, AV_MS(5000), INT64_MAX, VOD_SCALE_1);
    turn(&whole);
    read_items(&items, &whole.got);
    assert_reports(&items);
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        open_as(&p, &vod_wire_rtp);
        vod_feed_play(&p.f, AV_MS(2000), INT64_MAX, VOD_SCALE_1);
        turn(&p);
        vod_feed_play(&p.f, AV_MS(5000), INT64_MAX, VOD_SCALE_1);
        take_pieces(&p, sizes[i]);
        assert_same(&p, &whole);
        leave(&p);
    }
    finish(&whole);
}

static void numbers_go_on_over_seeks_anywhere(void **state)
{
    struct someone p;

    (void)state;
    fake_begin();
    open_as(&p, &vod_wire_rtp);
    for (unsigned i = 0; i < 300; i++) {
        int scale = i % 7 == 3 ? 2000 : i % 11 == 5 ? 500 : i % 13 == 4 ? 4000 : VOD_SCALE_1;

        vod_feed_play(&p.f, AV_MS(i * 1777 % 9500), INT64_MAX, scale);
        for (unsigned k = 0; k < i % 4; k++)
            (void)take(&p, 1 + i * 331 % 60000);
        pass(CO_MS(i % 3 * 500));
        if (i % 5 == 0)
            fake_evict();
    }
    turn(&p);
    read_items(&items, &p.got);
    assert_true(items.n > 1000);
    assert_reports(&items);
    assert_times(&items, 6 * FAKE_FRAME); /* at half the speed they are twice as far apart */
    finish(&p);
}

static void changes_how_it_is_used(void **state)
{
    struct vod_wire_use use = use_of(&vod_wire_rtp);
    struct rtp_wire_start start[RTP_WIRE_N];
    struct someone p;

    (void)state;
    begin_play(&p, &vod_wire_rtp, 0);
    turn(&p);
    use.tracks = use.param[RTP_WIRE_TRACKS] = VOD_TRACKS_AUDIO;
    vod_feed_use(&p.f, &use);
    assert_false(p.f.feed.kind->ready(&p.f.feed));
    turn(&p);
    read_items(&items, &p.got);
    vod_feed_play(&p.f, AV_MS(4000), INT64_MAX, VOD_SCALE_1);
    vod_rtp_start(&p.f, start);
    assert_false(start[0].has_seq);
    turn(&p);
    read_items(&others, &p.got);
    for (unsigned i = items.n; i < others.n; i++)
        assert_int_equal(others.v[i].track, 1);
    assert_true(others.v[items.n].report && others.n > items.n + 40);
    assert_int_equal(others.v[items.n + 1].rtp.seq, start[1].seq);
    assert_times(&others, 2 * FAKE_FRAME);
    finish(&p);
}

/* What RTP-Info says of one that goes on after a pause. */
static void says_where_it_goes_on(void **state)
{
    struct rtp_wire_start start[RTP_WIRE_N];
    struct someone p;
    unsigned n;

    (void)state;
    begin_play(&p, &vod_wire_rtp, AV_MS(3500));
    play_for(&p, CO_MS(1050));
    p.f.feed.kind->paused(&p.f.feed, true);
    pass(CO_SECONDS(5));
    read_items(&items, &p.got);
    n = items.n;
    vod_rtp_start(&p.f, start);
    assert_in_range(vod_feed_position(&p.f), AV_MS(4049), AV_MS(4051));
    assert_in_range(start[0].time - rtp_wire_base(SEED, 0), AV_MS(4049) + FAKE_ZERO,
                    AV_MS(4051) + FAKE_ZERO);
    p.f.feed.kind->paused(&p.f.feed, false);
    play_for(&p, CO_MS(1050));
    read_items(&items, &p.got);
    for (unsigned i = n, seen = 0; i < items.n; i++) {
        const struct item *it = &items.v[i];

        if (!it->report && !(seen >> it->track & 1))
            assert_int_equal(it->rtp.seq, start[it->track].seq);
        seen |= it->report ? 0 : 1u << it->track;
    }
    finish(&p);
}

/* All of it comes sooner, with the times that it has. */
static void is_delivered_faster(void **state)
{
    struct someone a, b;

    (void)state;
    begin_play(&a, &vod_wire_rtp, 0);
    play_out(&a);
    open_as(&b, &vod_wire_rtp);
    vod_feed_speed(&b.f, 3000);
    vod_feed_play(&b.f, 0, INT64_MAX, VOD_SCALE_1);
    turn(&b);
    pass(CO_SECONDS(1));
    assert_in_range(vod_feed_position(&b.f), AV_MS(3000) - 90, AV_MS(3000) + 90);
    vod_feed_speed(&b.f, VOD_SCALE_1);
    pass(CO_SECONDS(1));
    turn(&b);
    assert_in_range(vod_feed_position(&b.f), AV_MS(4000) - 90, AV_MS(4000) + 90);
    read_items(&items, &a.got);
    read_items(&others, &b.got);
    assert_same_payloads(&items, 0, &others, 0);
    for (unsigned i = 0; i < others.n; i++)
        assert_int_equal(file_ticks(&items.v[i]), file_ticks(&others.v[i]));
    leave(&a);
    finish(&b);
}

static void plays_faster_and_slower(void **state)
{
    static const int scales[] = { 500, 1500, 2000 };

    (void)state;
    for (unsigned s = 0; s < COUNT(scales); s++) {
        struct someone a, b;

        begin_play(&a, &vod_wire_rtp, 0);
        play_out(&a);
        open_as(&b, &vod_wire_rtp);
        vod_feed_play(&b.f, 0, INT64_MAX, scales[s]);
        turn(&b);
        pass(CO_SECONDS(1));
        assert_in_range(vod_feed_position(&b.f), AV_MS(scales[s]) - 90, AV_MS(scales[s]) + 90);
        turn(&b);
        read_items(&items, &a.got);
        read_items(&others, &b.got);
        assert_same_payloads(&items, 0, &others, 0);
        assert_reports(&others);
        for (unsigned i = 0; i < others.n; i++) {
            int64_t file = file_ticks(&items.v[i]), own = file_ticks(&others.v[i]);

            if (!others.v[i].report)
                assert_int_equal(own, file * 1000 / scales[s]);
        }
        leave(&a);
        finish(&b);
    }
}

static void has_key_frames_alone_when_fast(void **state)
{
    struct someone p;
    unsigned pictures = 0;

    (void)state;
    fake_begin();
    open_as(&p, &vod_wire_rtp);
    vod_feed_play(&p.f, 0, INT64_MAX, 4000);
    play_for(&p, CO_MS(1400));
    read_items(&items, &p.got);
    for (unsigned i = 0; i < items.n; i++) {
        assert_true(items.v[i].track == 0 || items.v[i].report);
        pictures += !items.v[i].report && items.v[i].rtp.marker;
    }
    assert_int_equal(pictures, 9); /* 4 s ahead, and those of a second */
    assert_reports(&items);
    finish(&p);
}

static int64_t shown_last(void)
{
    int64_t most = 0;

    for (unsigned i = 0; i < tags.n; i++) {
        if (tags.types[i] == FLV_VIDEO && tags.times[i] > most)
            most = tags.times[i];
    }
    return most;
}

static void stops_where_it_was_told(void **state)
{
    struct someone p;

    (void)state;
    for (int64_t to = 1000; to <= 4200; to += 40) {
        unsigned pictures = 0;

        fake_begin();
        open_as(&p, &vod_wire_rtp);
        vod_feed_play(&p.f, AV_MS(1000), AV_MS(to), VOD_SCALE_1);
        play_out(&p);
        assert_true(p.f.ended && !vod_feed_failed(&p.f));
        read_items(&items, &p.got);
        assert_int_equal(items.byes, 2);
        for (unsigned i = 0; i < items.n; i++) {
            const struct item *it = &items.v[i];

            if (it->track == 0 && !it->report && it->rtp.marker &&
                file_ticks(it) < AV_MS(to) + FAKE_ZERO)
                pictures++;
            if (it->track == 1 && !it->report && !it->bye)
                assert_true(file_ticks(it) < (AV_MS(to) + FAKE_ZERO) / 15 * 8);
        }
        assert_int_equal(pictures, (to - 1000) / 40); /* no picture is missing */
        /* and it goes on from anywhere, until it says so again */
        vod_feed_play(&p.f, AV_MS(8000), INT64_MAX, VOD_SCALE_1);
        assert_false(p.f.ended);
        play_out(&p);
        read_items(&items, &p.got);
        assert_int_equal(items.byes, 4);
        finish(&p);
    }
}

static void loops(void **state)
{
    struct vod_wire_use use = use_of(&vod_wire_rtp), flv = use_of(&vod_wire_flv);
    struct someone p, q;

    (void)state;
    fake_begin();
    open_use(&p, &use, true);
    open_use(&q, &flv, true);
    vod_feed_play(&p.f, AV_MS(8000), INT64_MAX, VOD_SCALE_1);
    vod_feed_play(&q.f, AV_MS(8000), INT64_MAX, VOD_SCALE_1);
    for (int i = 0; i < 40; i++) {
        turn(&p);
        turn(&q);
        pass(CO_MS(350));
    }
    assert_false(p.f.feed.kind->ended(&p.f.feed));
    assert_in_range(vod_feed_position(&p.f), AV_MS(1990), AV_MS(2010));
    read_items(&items, &p.got);
    assert_reports(&items);
    assert_times(&items, 2 * FAKE_FRAME);
    assert_int_equal(items.byes, 0);
    read_tags(&q.got);
    assert_int_equal(tags.first, 8000);
    for (unsigned i = 1; i < tags.n; i++)
        assert_true(tags.times[i] >= tags.times[i - 1] && tags.times[i] < tags.times[i - 1] + 41);
    assert_in_range(shown_last(), 22500, 22700);
    leave(&p);
    finish(&q);
}

static void waits_for_a_disk(void **state)
{
    struct someone p;
    struct rtp_wire_start start[RTP_WIRE_N];
    const struct live_feed_kind *kind;

    (void)state;
    fake_begin();
    fake.waits = true;
    open_as(&p, &vod_wire_rtp);
    kind = p.f.feed.kind;
    vod_feed_play(&p.f, 0, INT64_MAX, VOD_SCALE_1);
    vod_rtp_start(&p.f, start);
    assert_false(kind->ready(&p.f.feed));
    assert_int_equal(take(&p, SIZE_MAX), 0);
    vod_feed_put_head(&p.f, (const uint8_t *)"$\1\0\0", 4);
    assert_true(kind->ready(&p.f.feed));
    assert_int_equal(take(&p, SIZE_MAX), 4);
    assert_false(kind->ready(&p.f.feed));
    p.got.len = 0;
    fake_arrives();
    assert_int_equal(p.more, 1);
    assert_true(kind->ready(&p.f.feed));
    turn(&p);
    read_items(&items, &p.got);
    assert_int_equal(items.v[2].rtp.seq, start[0].seq);
    /* a seek while it waits */
    fake.waits = true;
    pass(CO_SECONDS(2));
    turn(&p);
    assert_false(kind->ready(&p.f.feed));
    vod_feed_play(&p.f, AV_MS(100), INT64_MAX, VOD_SCALE_1);
    assert_null(fake.wait);
    assert_true(kind->ready(&p.f.feed));
    turn(&p);
    /* and an end */
    pass(CO_SECONDS(2));
    turn(&p);
    assert_non_null(fake.wait);
    finish(&p);
}

static void fails_where_the_file_does(void **state)
{
    struct someone p;

    (void)state;
    begin_play(&p, &vod_wire_flv, 0);
    turn(&p);
    fake.fails = true;
    pass(CO_SECONDS(3));
    turn(&p);
    assert_true(vod_feed_failed(&p.f) && p.f.feed.kind->ended(&p.f.feed));
    read_tags(&p.got); /* whole */
    /* with something in front of what is not there */
    vod_feed_play(&p.f, AV_MS(9000), INT64_MAX, VOD_SCALE_1);
    vod_feed_put_head(&p.f, p.got.buf, tags.at[0] + tags.sizes[0] + FLV_TAG_TRAILER);
    turn(&p);
    assert_true(p.f.feed.kind->ended(&p.f.feed));
    read_tags(&p.got);
    fake.fails = false;
    vod_feed_play(&p.f, AV_MS(7000), INT64_MAX, VOD_SCALE_1);
    play_out(&p);
    assert_false(vod_feed_failed(&p.f));
    finish(&p);
}

/* A player of RTP is told so. */
static void says_bye_when_it_fails(void **state)
{
    struct someone p;

    (void)state;
    begin_play(&p, &vod_wire_rtp, 0);
    turn(&p);
    fake.fails = true;
    pass(CO_SECONDS(3));
    turn(&p);
    turn(&p);
    assert_true(vod_feed_failed(&p.f) && p.f.feed.kind->ended(&p.f.feed));
    read_items(&items, &p.got);
    assert_int_equal(items.byes, 2);
    finish(&p);
}

/* The rest of a packet, and then a BYE. */
static void fails_within_a_packet(void **state)
{
    (void)state;
    for (size_t at = 1; at < 3000; at += 3) {
        struct someone p;

        begin_play(&p, &vod_wire_rtp, 0);
        assert_int_equal(take(&p, at), at);
        fake_evict();
        fake.fails = true;
        turn(&p);
        assert_true(p.f.feed.kind->ended(&p.f.feed));
        read_items(&items, &p.got);
        assert_int_equal(items.byes, 2);
        finish(&p);
    }
}

static void changes_its_tracks(void **state)
{
    struct someone p;
    unsigned n, pictures = 0, configs = 0;

    (void)state;
    begin_play(&p, &vod_wire_flv, 0);
    turn(&p);
    vod_feed_tracks(&p.f, VOD_TRACKS_AUDIO);
    play_for(&p, CO_SECONDS(3));
    read_tags(&p.got);
    n = tags.n;
    assert_int_equal(tags.types[n - 1], FLV_AUDIO);
    assert_in_range(tags.pictures, 25, 60);
    vod_feed_tracks(&p.f, BOTH);
    play_for(&p, CO_SECONDS(3));
    read_tags(&p.got);
    for (unsigned i = n; i < tags.n; i++) {
        const uint8_t *body = p.got.buf + tags.at[i];

        if (tags.types[i] != FLV_VIDEO)
            continue;
        configs += body[1] == 0;
        if (pictures++ < 2)
            assert_int_equal(body[0], 0x17);
        assert_int_equal(body[1] == 0, pictures == 1);
    }
    assert_true(pictures > 30 && configs == 1);
    /* at a new place at once, whatever goes first there */
    vod_feed_tracks(&p.f, VOD_TRACKS_AUDIO);
    vod_feed_play(&p.f, AV_MS(3000), INT64_MAX, VOD_SCALE_1);
    vod_feed_put_head(&p.f, p.got.buf, tags.at[0] + tags.sizes[0] + FLV_TAG_TRAILER);
    n = tags.n;
    turn(&p);
    read_tags(&p.got);
    assert_true(tags.n > n + 40);
    for (unsigned i = n + 1; i < tags.n; i++)
        assert_int_equal(tags.types[i], FLV_AUDIO);
    finish(&p);
}

static void puts_heads(void **state)
{
    struct vod_wire_use use = use_of(&vod_wire_flv);
    struct wr w;

    (void)state;
    fake_begin();
    wr_init(&w, 1 << 16);
    vod_head_put(&fake, &use, AV_MS(5000), &w);
    read_tags(&w);
    assert_int_equal(tags.n, 3);
    assert_int_equal(tags.types[0], FLV_DATA);
    assert_int_equal(tags.times[0], 0);
    assert_int_equal(tags.types[1], FLV_VIDEO);
    assert_int_equal(tags.types[2], FLV_AUDIO);
    assert_int_equal(tags.times[1], 5080);
    assert_non_null(memmem(w.buf, w.len, "duration\0\x40\x24\0\0\0\0\0\0", 17)); /* 10 s */
    assert_non_null(memmem(w.buf, w.len, "width\0\x40\x74", 8));                 /* 320 */
    assert_non_null(memmem(w.buf, w.len, "videocodecid\0\x40\x1c", 15));         /* 7 */
    assert_non_null(memmem(w.buf, w.len, "audiosamplerate\0\x40\xe7\x70", 19));  /* 48000 */
    wr_free(&w);
    fake_end();
}

/* Configurations of an FLV file go out as they came. */
static void puts_heads_as_they_came(void **state)
{
    static const uint8_t body[] = "\x17\0\0\0\0" CONFIG_H264;
    struct vod_wire_use use = use_of(&vod_wire_rtmp);
    struct wr w;

    (void)state;
    fake_begin();
    fake.info.tracks[0].config = body + 5;
    fake.info.tracks[0].config_head = 5;
    wr_init(&w, 1 << 16);
    vod_head_put(&fake, &use, 0, &w);
    assert_non_null(memmem(w.buf, w.len, body, sizeof(body) - 1));
    wr_free(&w);
    fake_end();
}

/* What lists show of it. */
static void is_shown(void **state)
{
    struct someone p;
    struct live_feed_info info;
    const struct live_feed_kind *kind;

    (void)state;
    fake_begin();
    open_as(&p, &vod_wire_flv);
    kind = p.f.feed.kind;
    assert_true(kind->describe(&p.f.feed, &info));
    assert_int_equal(info.position, 0);
    (void)vod_feed_play(&p.f, AV_MS(4000), INT64_MAX, 2 * VOD_SCALE_1);
    assert_true(kind->describe(&p.f.feed, &info));
    assert_string_equal(info.name, "made up");
    assert_int_equal(info.position, vod_feed_position(&p.f) * 100 / 9);
    assert_in_range(info.position, CO_SECONDS(3), CO_SECONDS(4));
    assert_int_equal(info.duration, CO_SECONDS(10));
    assert_int_equal(info.scale, 2000);
    assert_int_equal(info.tracks[LIVE_FEED_VIDEO].codec, AV_H264);
    assert_int_equal(info.tracks[LIVE_FEED_AUDIO].codec, AV_AAC);
    assert_true(info.tracks[LIVE_FEED_VIDEO].config_size > 0);
    leave(&p);
    p.f.feed.kind = kind;
    assert_false(kind->describe(&p.f.feed, &info)); /* it has none any more */
    fake_end();
}

/* All that may happen to one who plays, in any order: what it gets is whole all the same. */
static void does_anything(void **state)
{
    static const int scales[] = { 1000, 1000, 1000, 500, 2000, 4000 };

    (void)state;
    for (unsigned w = 0; w < 2; w++) {
        struct vod_wire_use use = use_of(w ? &vod_wire_rtp : &vod_wire_flv);
        struct someone p;
        unsigned seed = 7;

        fake_begin();
        open_use(&p, &use, true);
        for (unsigned i = 0; i < 4000 && p.got.len < 40000000; i++) {
            unsigned dice = (seed = seed * 1103515245 + 12345) >> 8, n = dice >> 5 & 0xffff;

            switch (dice % 32) {
            case 0: vod_feed_play(&p.f, AV_MS(n % 11000), INT64_MAX, w ? scales[n % 6] : 1000); break;
            case 1: vod_feed_play(&p.f, AV_MS(n % 10000), AV_MS(n % 13000), 1000); break;
            case 2: p.f.feed.kind->paused(&p.f.feed, n % 2); break;
            case 3: vod_feed_tracks(&p.f, n % 4); break;
            case 4: fake_evict(); break;
            case 5: fake.waits = fake.n == 0 || n % 2; break;
            case 6: fake_arrives(); break;
            case 7: fake.fails = n % 8 == 0; break;
            case 8: pass(CO_MS(n % 12000)); break;
            case 9: assert_true(vod_feed_position(&p.f) <= fake.info.duration); break;
            case 10: turn(&p); break;
            default: pass(CO_MS(n % 100)); (void)take(&p, n % 3 ? n : n % 300); break;
            }
            assert_int_equal(fake.held, p.f.cut ? 1 : 0);
        }
        fake.fails = fake.waits = false;
        vod_feed_play(&p.f, 0, AV_MS(500), VOD_SCALE_1);
        p.f.feed.kind->paused(&p.f.feed, false);
        fake_arrives();
        play_out(&p);
        if (w) {
            read_items(&items, &p.got);
            assert_times(&items, 6 * FAKE_FRAME);
        } else {
            read_tags(&p.got);
            assert_true(tags.n > 2000);
        }
        finish(&p);
    }
}

static void is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct vod_feed) <= 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(paces_by_the_clock), TEST(stands_still_while_paused),
        TEST(catches_up_unless_too_late), TEST(goes_on_wherever_it_was_cut),
        TEST(seeks_at_every_byte), TEST(shares_until_it_seeks),
        TEST(own_numbers_go_on_wherever_it_was_cut), TEST(numbers_go_on_over_seeks_anywhere),
        TEST(changes_how_it_is_used),
        TEST(says_where_it_goes_on), TEST(plays_faster_and_slower), TEST(is_delivered_faster),
        TEST(has_key_frames_alone_when_fast),
        TEST(stops_where_it_was_told), TEST(loops), TEST(waits_for_a_disk),
        TEST(fails_where_the_file_does), TEST(says_bye_when_it_fails), TEST(changes_its_tracks),
        TEST(puts_heads), TEST(puts_heads_as_they_came), TEST(is_shown),
        TEST(does_anything), TEST(fails_within_a_packet), TEST(is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
