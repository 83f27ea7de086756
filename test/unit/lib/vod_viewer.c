/* SPDX-License-Identifier: MIT */
/* vod_viewer.c - a player of the file of vod_made.h that takes a limited number of bytes at a time, and a reader of its FLV. */
#include "vod_viewer.h"

#include "base/iov.h"
#include "format/flv/flv.h"
#include "wire/flv.h"
#include "wire/rtmp.h"

static void on_more(struct live_feed *feed, void *arg)
{
    struct viewer *p = arg;

    (void)feed;
    p->more++;
}

void viewer_open_use(struct viewer *p, const struct vod_wire_use *use, bool loop)
{
    memset(p, 0, sizeof(*p));
    vod_feed_open(&p->f, made, &(struct vod_feed_setup){ .use = *use, .loop = loop });
    p->f.feed.on_more = on_more;
    p->f.feed.arg = p;
    wr_init(&p->got, 64 << 20);
}

struct vod_wire_use viewer_use(const struct vod_wire *wire)
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

void viewer_open(struct viewer *p, const struct vod_wire *wire)
{
    struct vod_wire_use use = viewer_use(wire);

    viewer_open_use(p, &use, false);
}

void viewer_leave(struct viewer *p)
{
    vod_feed_close(&p->f);
    wr_free(&p->got);
}

void viewer_begin(struct viewer *p, const struct vod_wire *wire, int64_t from)
{
    made_begin();
    viewer_open(p, wire);
    vod_feed_play(&p->f, from, INT64_MAX, VOD_SCALE_1);
}

void viewer_finish(struct viewer *p)
{
    viewer_leave(p);
    made_end();
}

size_t viewer_take(struct viewer *p, size_t most)
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

void viewer_turn(struct viewer *p)
{
    while (viewer_take(p, SIZE_MAX) > 0)
        ;
    assert_int_equal(made_in_use(p->f.cut), 0);
}

void viewer_go_on(struct viewer *p, co_usec us)
{
    for (co_usec done = 0; done < us; done += CO_MS(350)) {
        viewer_turn(p);
        made_pass(CO_MS(350));
    }
}

void viewer_go_to_end(struct viewer *p)
{
    for (int i = 0; i < 100 && !p->f.feed.kind->ended(&p->f.feed); i++)
        viewer_go_on(p, CO_MS(350));
    assert_true(p->f.feed.kind->ended(&p->f.feed));
}

struct viewer_tags tags;

void viewer_read_tags(const struct wr *got)
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

void viewer_take_pieces(struct viewer *p, size_t size)
{
    unsigned n = 0;

    while (viewer_take(p, n < 5000 || size > 1000 ? size : 997) > 0) {
        if (n++ % 64 == 0)
            made_evict();
    }
}

void viewer_assert_same(const struct viewer *p, const struct viewer *whole)
{
    assert_int_equal(p->got.len, whole->got.len);
    assert_memory_equal(p->got.buf, whole->got.buf, p->got.len);
}
