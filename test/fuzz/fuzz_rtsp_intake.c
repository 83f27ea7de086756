/* SPDX-License-Identifier: MIT */
/* fuzz_rtsp_intake.c - any description, then any packets for its tracks: the output
 * is a stream with advancing times. */
#include "base/rd.h"
#include "fuzz.h"
#include "intake/rtsp.h"
#include "live/source.h"

#include <assert.h>
#include <string.h>

static void drain(struct rtsp_intake *r, co_usec now)
{
    uint8_t out[RTSP_INTAKE_REPORT];
    struct rtp_intake_stat stat;
    unsigned media, n = 0;
    size_t size;

    rtsp_intake_tick(r, now);
    while (rtsp_intake_report(r, now, &media, out, &size)) {
        assert(media < rtsp_intake_count(r) && size > 8 && size <= sizeof(out));
        assert(++n <= rtsp_intake_count(r));
    }
    assert(rtsp_intake_due(r) > now);
    rtsp_intake_stat(r, &stat);
    assert(stat.packets >= stat.frames / 512 || stat.frames == 0);
    (void)rtsp_intake_over(r);
}

/* Each packet: its medium and whether it is RTCP, its size in two bytes, the time it takes. */
static void packets(struct rtsp_intake *r, struct rd *in)
{
    co_usec now = CO_SECONDS(100);

    while (rd_left(in) > 4) {
        uint8_t how = rd_u8(in);
        size_t n = rd_u16(in) & 0x7ff;
        const uint8_t *data;

        now += CO_MS(rd_u8(in)) / 4;
        n = n < rd_left(in) ? n : rd_left(in);
        data = rd_take(in, n);
        (void)rtsp_intake_put(r, how >> 1 & 7, how & 1, data, n, now);
        drain(r, now);
    }
    drain(r, now + CO_SECONDS(30));
}

/* The first byte selects options, then a description up to a 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct live_settings set = { .gop_cache = true, .queue_length = CO_SECONDS(1),
                                              .max_bytes = 1 << 20, .jitter = LIVE_JITTER_FULL };
    struct rd in = rd_init(data, size);
    uint8_t how = rd_u8(&in);
    const uint8_t *end = in.p ? memchr(in.p, 0, rd_left(&in)) : NULL;
    struct rtsp_intake_opts opts = { .track = how >> 2 & 3, .keep_broken = how & 2,
                                      .jitter = CO_MS(50), .signature = "us" };
    struct live_source *src;
    struct rtsp_intake *r;
    err_t err;

    if (in.bad || !end)
        return 0;
    err = rtsp_intake_new(&r, (const char *)in.p, (size_t)(end - in.p), &opts);
    if (err) {
        err_free(&err);
        return 0;
    }
    (void)rd_take(&in, (size_t)(end - in.p) + 1);
    src = live_source_new("v/a/s", &set);
    for (unsigned i = 0; i < rtsp_intake_count(r); i++) {
        (void)rtsp_intake_control(r, i);
        rtsp_intake_set_up(r, i, !(how & 0x10) || i > 0);
    }
    rtsp_intake_begin(r, src, how & 1, CO_SECONDS(100));
    packets(r, &in);
    rtsp_intake_free(r);
    (void)live_source_unref(src);
    assert(live_source_live() == 0 && av_packet_live() == 0 && err_live() == 0);
    return 0;
}
