/* SPDX-License-Identifier: MIT */
/* test_rtp_recorded.c - recordings of real senders, from packets to frames; test/data/README.md. */
#include "base/text.h"
#include "proto/rtp/header.h"
#include "proto/rtp/receiver.h"
#include "rtp_media.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 64 * 1024, PACKETS = 64 };

/* `hash` is of all frames, whose decoded video was compared with the source. */
static const struct {
    const char *name;
    unsigned frames, keys;
    const char *profile;
    uint32_t width;
    uint64_t hash;
} rows[] = {
    { "h264", 25, 3, "High", 160, UINT64_C(0x921775964a55649e) },
    { "h265", 25, 3, "Main", 160, UINT64_C(0x8c97ba21afa482c9) },
    { "vp9", 25, 3, "Profile 0", 0, UINT64_C(0xaa2817d42a9a6390) },
    { "aac", 47, 0, "LC", 0, UINT64_C(0xbc20af25b728b3e4) },
    { "latm", 48, 0, "LC", 0, UINT64_C(0xf6098e45226e6ec2) },
    { "mp3", 42, 0, "", 0, UINT64_C(0x806579d7221df079) },
    { "opus", 51, 0, "", 0, UINT64_C(0xcd822df1fdc66f9b) },
};

struct recorded {
    uint8_t bytes[FILE_MAX];
    char name[32], fmtp[512];
    unsigned clock, type;
    struct rd packets;
};

static struct recorded file;

static void load(const char *name)
{
    char path[64], *line = (char *)file.bytes, *end;
    FILE *f;
    size_t n;

    (void)snprintf(path, sizeof(path), "test/data/rtp-ffmpeg-5.1-%s.rtp", name);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(file.bytes, 1, sizeof(file.bytes), f);
    (void)fclose(f);
    end = memchr(line, '\n', n);
    assert_true(end && n < sizeof(file.bytes));
    *end = '\0';
    file.fmtp[0] = '\0';
    assert_true(sscanf(line, "%31s %u %u %511[^\n]", file.name, &file.clock, &file.type,
                       file.fmtp) >= 3);
    file.packets = rd_init(end + 1, n - (size_t)(end + 1 - line));
}

static void open_track(struct rtp_receiver *rx, struct rtp_unpacker *u)
{
    struct rtp_unpacker_opts opts = { .clock = file.clock,
                                      .fmtp = { file.fmtp, strlen(file.fmtp) } };
    const struct rtp_receiver_opts track = { .type = (uint8_t)file.type, .clock = file.clock,
                                             .window = 64, .wait = CO_MS(200) };

    opts.fmt = rtp_format_named(AV_VIDEO, file.name, strlen(file.name));
    if (!opts.fmt)
        opts.fmt = rtp_format_named(AV_AUDIO, file.name, strlen(file.name));
    assert_non_null(opts.fmt);
    assert_ok(rtp_unpacker_init(u, &opts));
    rtp_receiver_init(rx, &track);
}

struct seen {
    unsigned frames, keys;
    uint64_t hash;
    struct av_info info;
};

static void take(struct rtp_receiver *rx, struct rtp_unpacker *u, co_usec now, struct seen *s)
{
    struct rtp_received got;
    struct rtp_frame f;

    while (rtp_receiver_next(rx, now, &got)) {
        struct rtp_payload p = { .data = got.payload, .size = got.size, .ticks = got.time,
                                 .marker = got.marker, .restart = got.restart, .lost = got.lost };

        rtp_unpack_put(u, &p);
        while (rtp_unpack_next(u, &f)) {
            if (f.config) {
                assert_ok(av_info_parse(&s->info, u->fmt->codec, f.data, f.size));
                continue;
            }
            s->frames++;
            s->keys += f.key;
            s->hash = text_hash_more(s->hash, (const char *)f.data, f.size);
        }
    }
}

/* The order of arrival: packets of each group of `group` reversed. */
static struct seen play(unsigned group)
{
    struct seen s = { .hash = TEXT_HASH_BEGIN };
    struct rtp_receiver rx;
    struct rtp_unpacker u;
    struct rd packet[PACKETS];
    co_usec now = 0;

    open_track(&rx, &u);
    for (struct rd r = file.packets; rd_left(&r) > 0;) {
        unsigned n = 0;

        while (n < group && rd_left(&r) > 0) {
            packet[n] = rd_sub(&r, rd_u16(&r));
            assert_false(packet[n].bad);
            n += !rtp_is_rtcp(packet[n].p, rd_left(&packet[n]));
        }
        for (now += CO_MS(1); n > 0; n--) {
            /* the first one sets the initial number */
            unsigned i = rx.started ? n - 1 : 0;

            (void)rtp_receiver_put(&rx, packet[i].p, rd_left(&packet[i]), now);
            take(&rx, &u, now, &s);
            if (i == 0 && n > 1)
                memmove(packet, packet + 1, (n - 1) * sizeof(packet[0]));
        }
    }
    take(&rx, &u, now + CO_SECONDS(1), &s);
    assert_int_equal(rtp_stats_lost(&rx.stats), 0);
    assert_true(u.stats.broken == 0 && u.stats.waiting == 0 && u.stats.odd == 0);
    rtp_receiver_fini(&rx);
    rtp_unpacker_fini(&u);
    return s;
}

static void test_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        load(rows[i].name);
        for (unsigned group = 1; group <= 5; group++) {
            struct seen s = play(group);

            print_message("  %s: %u frames, %u keys, %s, %u, 0x%llx\n", rows[i].name, s.frames,
                          s.keys, s.info.profile, s.info.width, (unsigned long long)s.hash);
            assert_int_equal(s.frames, rows[i].frames);
            assert_int_equal(s.keys, rows[i].keys);
            assert_string_equal(s.info.profile, rows[i].profile);
            assert_int_equal(s.info.width, rows[i].width);
            assert_int_equal(s.hash, rows[i].hash);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_recorded) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
