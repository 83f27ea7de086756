/* SPDX-License-Identifier: MIT */
/* test_vod_feed_rtp.c - a player of a file over RTP: its sequence numbers, speeds, stops, slow disks. */
#include "vod_viewer.h"

#include "format/flv/flv.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/sender.h"

/* ---- received RTP */

struct items {
    unsigned n, reports, byes;
    struct item {
        unsigned track;
        bool report, bye;
        struct rtp_packet rtp;
        struct rtcp_sr sr;
        uint32_t sent, sent_bytes; /* the previous one of its track */
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

/* Parses the bytes: numbers are continuous, reports count the sent packets. */
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

/* All reports of a player lie on one line: the same wall clock interval is the same number of ticks; and
 * their counts match what it received, relative to the start. */
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
    if (first[1]) /* at one moment */
        assert_true(first[0]->sr.ntp == first[1]->sr.ntp);
}

/* Times of a track never decrease by more than the reordering of frames. */
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

/* The file's time of a packet without any shift, in ticks. */
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
    struct viewer a, b;
    struct rtp_wire_start start[RTP_WIRE_N];
    uint64_t parts;
    unsigned at;

    (void)state;
    viewer_begin(&a, &vod_wire_rtp, 0);
    vod_rtp_start(&a.f, start);
    viewer_go_to_end(&a);
    read_items(&items, &a.got);
    assert_reports(&items);
    assert_times(&items, 2 * MADE_FRAME);
    assert_int_equal(items.byes, 2);
    assert_true(items.v[items.n - 1].bye && items.v[items.n - 2].bye);
    assert_true(items.v[0].report && items.v[1].report);
    assert_int_equal(items.v[2].rtp.seq, start[0].seq);
    assert_int_equal(items.v[2].rtp.time, start[0].time);
    /* another one in the middle gets the same, with the current numbers */
    parts = made_parts();
    viewer_open(&b, &vod_wire_rtp);
    assert_int_equal(vod_feed_play(&b.f, AV_MS(4999), INT64_MAX, VOD_SCALE_1), AV_MS(4000));
    vod_rtp_start(&b.f, start);
    viewer_turn(&b);
    assert_non_null(memmem(a.got.buf, a.got.len, b.got.buf, b.got.len));
    assert_int_equal(made_parts(), parts);
    /* and has its own after a seek */
    vod_feed_play(&b.f, AV_MS(1500), INT64_MAX, VOD_SCALE_1);
    at = (unsigned)b.got.len;
    vod_rtp_start(&b.f, start);
    viewer_go_to_end(&b);
    assert_int_equal(made_parts(), parts);
    read_items(&others, &b.got);
    assert_reports(&others);
    assert_times(&others, 2 * MADE_FRAME);
    for (unsigned i = 0; i < others.n; i++) {
        const struct item *it = &others.v[i];

        if (it->report || it->track || (size_t)(it->rtp.payload - b.got.buf) < at)
            continue;
        assert_int_equal(it->rtp.seq, start[0].seq);
        assert_int_equal(it->rtp.time, start[0].time);
        assert_same_payloads(&items, find_ticks(&items, MADE_SECOND + MADE_ZERO), &others, i - 2);
        break;
    }
    viewer_leave(&a);
    viewer_finish(&b);
}

/* The same player with a seek, its bytes read whole or in pieces. */
static void own_numbers_go_on_wherever_it_was_cut(void **state)
{
    static const size_t sizes[] = { 1, 13, 1000, 5001 };
    struct viewer whole, p;

    (void)state;
    viewer_begin(&whole, &vod_wire_rtp, AV_MS(2000));
    viewer_turn(&whole);
    vod_feed_play(&whole.f, AV_MS(5000), INT64_MAX, VOD_SCALE_1);
    viewer_turn(&whole);
    read_items(&items, &whole.got);
    assert_reports(&items);
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        viewer_open(&p, &vod_wire_rtp);
        vod_feed_play(&p.f, AV_MS(2000), INT64_MAX, VOD_SCALE_1);
        viewer_turn(&p);
        vod_feed_play(&p.f, AV_MS(5000), INT64_MAX, VOD_SCALE_1);
        viewer_take_pieces(&p, sizes[i]);
        viewer_assert_same(&p, &whole);
        viewer_leave(&p);
    }
    viewer_finish(&whole);
}

static void numbers_go_on_over_seeks_anywhere(void **state)
{
    struct viewer p;

    (void)state;
    made_begin();
    viewer_open(&p, &vod_wire_rtp);
    for (unsigned i = 0; i < 300; i++) {
        int scale = i % 7 == 3 ? 2000 : i % 11 == 5 ? 500 : i % 13 == 4 ? 4000 : VOD_SCALE_1;

        vod_feed_play(&p.f, AV_MS(i * 1777 % 9500), INT64_MAX, scale);
        for (unsigned k = 0; k < i % 4; k++)
            (void)viewer_take(&p, 1 + i * 331 % 60000);
        made_pass(CO_MS(i % 3 * 500));
        if (i % 5 == 0)
            made_evict();
    }
    viewer_turn(&p);
    read_items(&items, &p.got);
    assert_true(items.n > 1000);
    assert_reports(&items);
    assert_times(&items, 6 * MADE_FRAME); /* at half the speed they are twice as far apart */
    viewer_finish(&p);
}

static void changes_how_it_is_used(void **state)
{
    struct vod_wire_use use = viewer_use(&vod_wire_rtp);
    struct rtp_wire_start start[RTP_WIRE_N];
    struct viewer p;

    (void)state;
    viewer_begin(&p, &vod_wire_rtp, 0);
    viewer_turn(&p);
    use.tracks = use.param[RTP_WIRE_TRACKS] = VOD_TRACKS_AUDIO;
    vod_feed_use(&p.f, &use);
    assert_false(p.f.feed.kind->ready(&p.f.feed));
    viewer_turn(&p);
    read_items(&items, &p.got);
    vod_feed_play(&p.f, AV_MS(4000), INT64_MAX, VOD_SCALE_1);
    vod_rtp_start(&p.f, start);
    assert_false(start[0].has_seq);
    viewer_turn(&p);
    read_items(&others, &p.got);
    for (unsigned i = items.n; i < others.n; i++)
        assert_int_equal(others.v[i].track, 1);
    assert_true(others.v[items.n].report && others.n > items.n + 40);
    assert_int_equal(others.v[items.n + 1].rtp.seq, start[1].seq);
    assert_times(&others, 2 * MADE_FRAME);
    viewer_finish(&p);
}

/* RTP-Info of a player that continues after a pause. */
static void says_where_it_goes_on(void **state)
{
    struct rtp_wire_start start[RTP_WIRE_N];
    struct viewer p;
    unsigned n;

    (void)state;
    viewer_begin(&p, &vod_wire_rtp, AV_MS(3500));
    viewer_go_on(&p, CO_MS(1050));
    p.f.feed.kind->paused(&p.f.feed, true);
    made_pass(CO_SECONDS(5));
    read_items(&items, &p.got);
    n = items.n;
    vod_rtp_start(&p.f, start);
    assert_in_range(vod_feed_position(&p.f), AV_MS(4049), AV_MS(4051));
    assert_in_range(start[0].time - rtp_wire_base(SEED, 0), AV_MS(4049) + MADE_ZERO,
                    AV_MS(4051) + MADE_ZERO);
    p.f.feed.kind->paused(&p.f.feed, false);
    viewer_go_on(&p, CO_MS(1050));
    read_items(&items, &p.got);
    for (unsigned i = n, seen = 0; i < items.n; i++) {
        const struct item *it = &items.v[i];

        if (!it->report && !(seen >> it->track & 1))
            assert_int_equal(it->rtp.seq, start[it->track].seq);
        seen |= it->report ? 0 : 1u << it->track;
    }
    viewer_finish(&p);
}

/* Everything comes sooner, with its original times. */
static void is_delivered_faster(void **state)
{
    struct viewer a, b;

    (void)state;
    viewer_begin(&a, &vod_wire_rtp, 0);
    viewer_go_to_end(&a);
    viewer_open(&b, &vod_wire_rtp);
    vod_feed_speed(&b.f, 3000);
    vod_feed_play(&b.f, 0, INT64_MAX, VOD_SCALE_1);
    viewer_turn(&b);
    made_pass(CO_SECONDS(1));
    assert_in_range(vod_feed_position(&b.f), AV_MS(3000) - 90, AV_MS(3000) + 90);
    vod_feed_speed(&b.f, VOD_SCALE_1);
    made_pass(CO_SECONDS(1));
    viewer_turn(&b);
    assert_in_range(vod_feed_position(&b.f), AV_MS(4000) - 90, AV_MS(4000) + 90);
    read_items(&items, &a.got);
    read_items(&others, &b.got);
    assert_same_payloads(&items, 0, &others, 0);
    for (unsigned i = 0; i < others.n; i++)
        assert_int_equal(file_ticks(&items.v[i]), file_ticks(&others.v[i]));
    viewer_leave(&a);
    viewer_finish(&b);
}

static void plays_faster_and_slower(void **state)
{
    static const int scales[] = { 500, 1500, 2000 };

    (void)state;
    for (unsigned s = 0; s < COUNT(scales); s++) {
        struct viewer a, b;

        viewer_begin(&a, &vod_wire_rtp, 0);
        viewer_go_to_end(&a);
        viewer_open(&b, &vod_wire_rtp);
        vod_feed_play(&b.f, 0, INT64_MAX, scales[s]);
        viewer_turn(&b);
        made_pass(CO_SECONDS(1));
        assert_in_range(vod_feed_position(&b.f), AV_MS(scales[s]) - 90, AV_MS(scales[s]) + 90);
        viewer_turn(&b);
        read_items(&items, &a.got);
        read_items(&others, &b.got);
        assert_same_payloads(&items, 0, &others, 0);
        assert_reports(&others);
        for (unsigned i = 0; i < others.n; i++) {
            int64_t file = file_ticks(&items.v[i]), own = file_ticks(&others.v[i]);

            if (!others.v[i].report)
                assert_int_equal(own, file * 1000 / scales[s]);
        }
        viewer_leave(&a);
        viewer_finish(&b);
    }
}

static void has_key_frames_alone_when_fast(void **state)
{
    struct viewer p;
    unsigned pictures = 0;

    (void)state;
    made_begin();
    viewer_open(&p, &vod_wire_rtp);
    vod_feed_play(&p.f, 0, INT64_MAX, 4000);
    viewer_go_on(&p, CO_MS(1400));
    read_items(&items, &p.got);
    for (unsigned i = 0; i < items.n; i++) {
        assert_true(items.v[i].track == 0 || items.v[i].report);
        pictures += !items.v[i].report && items.v[i].rtp.marker;
    }
    assert_int_equal(pictures, 9); /* 4 s ahead, and those of a second */
    assert_reports(&items);
    viewer_finish(&p);
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
    struct viewer p;

    (void)state;
    for (int64_t to = 1000; to <= 4200; to += 40) {
        unsigned pictures = 0;

        made_begin();
        viewer_open(&p, &vod_wire_rtp);
        vod_feed_play(&p.f, AV_MS(1000), AV_MS(to), VOD_SCALE_1);
        viewer_go_to_end(&p);
        assert_true(p.f.ended && !vod_feed_failed(&p.f));
        read_items(&items, &p.got);
        assert_int_equal(items.byes, 2);
        for (unsigned i = 0; i < items.n; i++) {
            const struct item *it = &items.v[i];

            if (it->track == 0 && !it->report && it->rtp.marker &&
                file_ticks(it) < AV_MS(to) + MADE_ZERO)
                pictures++;
            if (it->track == 1 && !it->report && !it->bye)
                assert_true(file_ticks(it) < (AV_MS(to) + MADE_ZERO) / 15 * 8);
        }
        assert_int_equal(pictures, (to - 1000) / 40); /* no frame is missing */
        /* and it continues from anywhere, until it reports again */
        vod_feed_play(&p.f, AV_MS(8000), INT64_MAX, VOD_SCALE_1);
        assert_false(p.f.ended);
        viewer_go_to_end(&p);
        read_items(&items, &p.got);
        assert_int_equal(items.byes, 4);
        viewer_finish(&p);
    }
}

static void loops(void **state)
{
    struct vod_wire_use use = viewer_use(&vod_wire_rtp), flv = viewer_use(&vod_wire_flv);
    struct viewer p, q;

    (void)state;
    made_begin();
    viewer_open_use(&p, &use, true);
    viewer_open_use(&q, &flv, true);
    vod_feed_play(&p.f, AV_MS(8000), INT64_MAX, VOD_SCALE_1);
    vod_feed_play(&q.f, AV_MS(8000), INT64_MAX, VOD_SCALE_1);
    for (int i = 0; i < 40; i++) {
        viewer_turn(&p);
        viewer_turn(&q);
        made_pass(CO_MS(350));
    }
    assert_false(p.f.feed.kind->ended(&p.f.feed));
    assert_in_range(vod_feed_position(&p.f), AV_MS(1990), AV_MS(2010));
    read_items(&items, &p.got);
    assert_reports(&items);
    assert_times(&items, 2 * MADE_FRAME);
    assert_int_equal(items.byes, 0);
    viewer_read_tags(&q.got);
    assert_int_equal(tags.first, 8000);
    for (unsigned i = 1; i < tags.n; i++)
        assert_true(tags.times[i] >= tags.times[i - 1] && tags.times[i] < tags.times[i - 1] + 41);
    assert_in_range(shown_last(), 22500, 23000); /* 1 s ahead, and the rest of a part */
    viewer_leave(&p);
    viewer_finish(&q);
}

static void waits_for_a_disk(void **state)
{
    struct viewer p;
    struct rtp_wire_start start[RTP_WIRE_N];
    const struct live_feed_kind *kind;

    (void)state;
    made_begin();
    made_waits(true);
    viewer_open(&p, &vod_wire_rtp);
    kind = p.f.feed.kind;
    vod_feed_play(&p.f, 0, INT64_MAX, VOD_SCALE_1);
    vod_rtp_start(&p.f, start);
    assert_false(kind->ready(&p.f.feed));
    assert_int_equal(viewer_take(&p, SIZE_MAX), 0);
    vod_feed_put_head(&p.f, (const uint8_t *)"$\1\0\0", 4);
    assert_true(kind->ready(&p.f.feed));
    assert_int_equal(viewer_take(&p, SIZE_MAX), 4);
    assert_false(kind->ready(&p.f.feed));
    p.got.len = 0;
    made_arrives();
    assert_int_equal(p.more, 1);
    assert_true(kind->ready(&p.f.feed));
    viewer_turn(&p);
    read_items(&items, &p.got);
    assert_int_equal(items.v[2].rtp.seq, start[0].seq);
    /* a seek while it waits */
    made_waits(true);
    made_pass(CO_SECONDS(2));
    viewer_turn(&p);
    assert_false(kind->ready(&p.f.feed));
    vod_feed_play(&p.f, AV_MS(100), INT64_MAX, VOD_SCALE_1);
    assert_null(p.f.wait.load);
    assert_true(kind->ready(&p.f.feed));
    viewer_turn(&p);
    /* and an end */
    made_pass(CO_SECONDS(2));
    viewer_turn(&p);
    assert_non_null(p.f.wait.load);
    viewer_finish(&p);
}

/* An RTP player is notified. */
static void says_bye_when_it_fails(void **state)
{
    struct viewer p;

    (void)state;
    viewer_begin(&p, &vod_wire_rtp, 0);
    viewer_turn(&p);
    made_fails(true);
    made_pass(CO_SECONDS(3));
    viewer_turn(&p);
    viewer_turn(&p);
    assert_true(vod_feed_failed(&p.f) && p.f.feed.kind->ended(&p.f.feed));
    read_items(&items, &p.got);
    assert_int_equal(items.byes, 2);
    viewer_finish(&p);
}

/* The rest of a packet, and then a BYE. */
static void fails_within_a_packet(void **state)
{
    (void)state;
    for (size_t at = 1; at < 3000; at += 3) {
        struct viewer p;

        viewer_begin(&p, &vod_wire_rtp, 0);
        assert_int_equal(viewer_take(&p, at), at);
        made_evict();
        made_fails(true);
        viewer_turn(&p);
        assert_true(p.f.feed.kind->ended(&p.f.feed));
        read_items(&items, &p.got);
        assert_int_equal(items.byes, 2);
        viewer_finish(&p);
    }
}

/* All events of a player, in any order: its output is still valid. */
static void does_anything(void **state)
{
    static const int scales[] = { 1000, 1000, 1000, 500, 2000, 4000 };

    (void)state;
    for (unsigned w = 0; w < 2; w++) {
        struct vod_wire_use use = viewer_use(w ? &vod_wire_rtp : &vod_wire_flv);
        struct viewer p;
        unsigned seed = 7, held;

        made_begin();
        viewer_open_use(&p, &use, true);
        for (unsigned i = 0; i < 4000 && p.got.len < 40000000; i++) {
            unsigned dice = (seed = seed * 1103515245 + 12345) >> 8, n = dice >> 5 & 0xffff;

            switch (dice % 32) {
            case 0: vod_feed_play(&p.f, AV_MS(n % 11000), INT64_MAX, w ? scales[n % 6] : 1000); break;
            case 1: vod_feed_play(&p.f, AV_MS(n % 10000), AV_MS(n % 13000), 1000); break;
            case 2: p.f.feed.kind->paused(&p.f.feed, n % 2); break;
            case 3: vod_feed_tracks(&p.f, n % 4); break;
            case 4: made_evict(); break;
            case 5: made_waits(!made->cached || n % 2); break;
            case 6: made_arrives(); break;
            case 7: made_fails(n % 8 == 0); break;
            case 8: made_pass(CO_MS(n % 12000)); break;
            case 9: assert_true(vod_feed_position(&p.f) <= made_info()->duration); break;
            case 10: viewer_turn(&p); break;
            default: made_pass(CO_MS(n % 100)); (void)viewer_take(&p, n % 3 ? n : n % 300); break;
            }
            held = p.f.cut ? 1 : 0; /* and what arrived for it */
            assert_in_range(made_in_use(p.f.cut), held, held + (p.f.wait.load ? 1 : 0));
        }
        made_fails(false);
        made_waits(false);
        vod_feed_play(&p.f, 0, AV_MS(500), VOD_SCALE_1);
        p.f.feed.kind->paused(&p.f.feed, false);
        made_arrives();
        viewer_go_to_end(&p);
        if (w) {
            read_items(&items, &p.got);
            assert_times(&items, 6 * MADE_FRAME);
        } else {
            viewer_read_tags(&p.got);
            assert_true(tags.n > 2000);
        }
        viewer_finish(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shares_until_it_seeks),
        TEST(own_numbers_go_on_wherever_it_was_cut),
        TEST(numbers_go_on_over_seeks_anywhere),
        TEST(changes_how_it_is_used),
        TEST(says_where_it_goes_on),
        TEST(plays_faster_and_slower),
        TEST(is_delivered_faster),
        TEST(has_key_frames_alone_when_fast),
        TEST(stops_where_it_was_told),
        TEST(loops),
        TEST(waits_for_a_disk),
        TEST(says_bye_when_it_fails),
        TEST(does_anything),
        TEST(fails_within_a_packet),
    };

    return cmocka_run_group_tests(tests, made_setup, made_teardown);
}
