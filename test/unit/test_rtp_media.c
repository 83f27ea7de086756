/* SPDX-License-Identifier: MIT */
/* test_rtp_media.c - frames of each codec go into RTP packets and come out unchanged. */
#include "rtp_frames.h"

enum { FRAMES = 43 };

static const size_t mtus[] = { 64, 65, 100, 576, 1200, 1400, 1460, 9000, 60000 };

static size_t size_of(size_t row, unsigned i)
{
    if (rows[row].size == 160)
        return 160; /* each byte lasts */
    return i == 7 ? rows[row].size + 1 : 1 + (rows[row].size * (i * 37 % 100 + 5)) / 100;
}

static void pack_all(size_t row, size_t mtu, int64_t span, struct media_packets *k)
{
    const struct rtp_packer_opts opts = { .codec = rows[row].codec, .mtu = mtu, .sets = true,
                                          .span = span };
    struct frame config = media_config_of(rows[row].codec);
    struct rtp_packer p;

    media_packets_init(k, 16);
    assert_true(rtp_packer_init(&p, &opts));
    if (config.config)
        assert_ok(rtp_pack(&p, &config, &k->sink));
    assert_int_equal(k->n, 0);
    for (k->frame = 0; k->frame < FRAMES; k->frame++) {
        struct frame f = media_make(rows[row].codec, k->frame, size_of(row, k->frame), media_frame_buf);

        assert_ok(rtp_pack(&p, &f, &k->sink));
    }
    k->frame--;
    media_flush(&p);
    assert_false(k->bytes.bad);
    rtp_packer_fini(&p);
}

static void open_unpacker(size_t row, struct rtp_unpacker *u)
{
    struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(rows[row].codec), .channels = 1,
                                      .fmtp = { rows[row].fmtp, strlen(rows[row].fmtp) } };

    if (rows[row].codec == AV_AAC)
        opts.clock = 48000;
    assert_ok(rtp_unpacker_init(u, &opts));
}

/* No packet exceeds the limit; all fragments of a frame except the last have one size. */
static void check_packets(const struct media_packets *k, size_t mtu, bool video)
{
    for (unsigned i = 0; i < k->n; i++) {
        bool last = i + 1 == k->n || k->v[i + 1].frame != k->v[i].frame;

        assert_in_range(k->v[i].size, 1, mtu < RTP_MTU_MIN ? RTP_MTU_MIN : mtu);
        if (video)
            assert_int_equal(k->v[i].marker, last);
    }
}

/* Equals the packer's input, or is equivalent. */
static void check_config(enum av_codec codec, const struct rtp_frame *f)
{
    struct frame given = media_config_of(codec);
    struct av_info a, b;

    assert_ok(av_info_parse(&a, codec, given.data, given.size));
    assert_ok(av_info_parse(&b, codec, f->data, f->size));
    assert_memory_equal(&a.width, &b.width, sizeof(a) - offsetof(struct av_info, width));
    assert_string_equal(a.profile, b.profile);
    if (codec == AV_H264 || codec == AV_VP9) /* High has more fields; a level derived from the size */
        return;
    assert_int_equal(f->size, given.size);
    assert_memory_equal(f->data, given.data, given.size);
}

static void test_both_ways(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        bool video = av_codec_row(rows[row].codec)->kind == AV_VIDEO;
        bool cut_up = rows[row].codec == AV_G711A || rows[row].codec == AV_G711U;

        for (size_t m = 0; m < COUNT(mtus); m++) {
            struct media_packets k;
            struct rtp_unpacker u;
            struct rtp_frame f;
            unsigned got = 0, configs = 0;
            size_t at = 0;

            if (rows[row].codec == AV_OPUS && mtus[m] < 1200)
                continue; /* has no pieces */
            pack_all(row, mtus[m], 0, &k);
            check_packets(&k, mtus[m], video);
            open_unpacker(row, &u);
            for (unsigned i = 0; i < k.n; i++) {
                struct rtp_payload p = media_payload(&k, i);

                rtp_unpack_put(&u, &p);
                while (rtp_unpack_next(&u, &f)) {
                    struct frame want = media_make(rows[row].codec, got, size_of(row, got),
                                                   media_frame_buf);

                    if (f.config) {
                        check_config(rows[row].codec, &f);
                        configs++;
                        continue;
                    }
                    assert_in_range(f.size, 1, want.size - at);
                    assert_memory_equal(f.data, want.data + at, f.size);
                    assert_int_equal(f.key, want.key);
                    assert_int_equal(f.ticks, (video ? want.pts : want.pts * u.clock / 90000) +
                                              (int64_t)at);
                    at = f.size + at < want.size && cut_up ? at + f.size : 0;
                    assert_true(at > 0 || cut_up || f.size == want.size);
                    got += at == 0;
                }
            }
            assert_int_equal(configs, rows[row].codec == AV_MP3 || cut_up ? 0 : 1);
            assert_int_equal(got, FRAMES);
            assert_true(u.stats.broken == 0 && u.stats.waiting == 0 && u.stats.odd == 0);
            rtp_unpacker_fini(&u);
            media_packets_free(&k);
        }
    }
}

/* Audio of several frames in one packet. */
static void test_shared_packets(void **state)
{
    struct media_packets alone, shared;
    struct rtp_unpacker u;
    struct rtp_frame f;
    unsigned got = 0;

    (void)state;
    pack_all(4, 1400, 0, &alone);
    pack_all(4, 1400, AV_MS(200), &shared);
    assert_int_equal(alone.n, FRAMES);
    assert_in_range(shared.n, 4, FRAMES / 3);
    open_unpacker(4, &u);
    for (unsigned i = 0; i < shared.n; i++) {
        struct rtp_payload p = media_payload(&shared, i);

        assert_true(p.marker);
        rtp_unpack_put(&u, &p);
        while (rtp_unpack_next(&u, &f)) {
            struct frame want = media_make(AV_AAC, got, size_of(4, got), media_frame_buf);

            if (f.config)
                continue;
            assert_int_equal(f.size, want.size);
            assert_memory_equal(f.data, want.data, f.size);
            assert_int_equal(f.ticks, got * 1024);
            got++;
        }
    }
    assert_int_equal(got, FRAMES);
    rtp_unpacker_fini(&u);
    media_packets_free(&alone);
    media_packets_free(&shared);
}

/* ---- a network that loses */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Frames that arrived complete, and of these the usable ones: for video, not before the next key frame. */
static void expect(size_t row, const struct media_packets *k, const bool *lost, bool *want)
{
    bool video = av_codec_row(rows[row].codec)->kind == AV_VIDEO, wait = video;

    for (unsigned i = 0; i < FRAMES; i++)
        want[i] = true;
    for (unsigned i = 0; i < k->n; i++)
        want[k->v[i].frame] &= !lost[i];
    for (unsigned i = 0; video && i < FRAMES; i++) {
        if (!want[i])
            wait = true;
        else if (i % 10 == 0)
            wait = false;
        want[i] &= !wait;
    }
}

/* Every output frame equals an input frame; only the first one after a gap may be missing, if nothing marks
 * its start. */
static void lose_by_seed(size_t row, uint32_t seed)
{
    struct media_packets k;
    struct rtp_unpacker u;
    struct rtp_frame f;
    static bool lost[MEDIA_PACKETS_MAX];
    bool want[FRAMES];
    unsigned wanted = 0, got = 0, at = 0;
    uint64_t hole = 0;

    pack_all(row, 576, 0, &k);
    for (unsigned i = 1; i < k.n; i++)
        lost[i] = next_random(&seed) % 40 == 0;
    expect(row, &k, lost, want);
    open_unpacker(row, &u);
    for (unsigned i = 0; i < k.n; i++) {
        struct rtp_payload p = media_payload(&k, i);

        if (lost[i]) {
            hole++;
            continue;
        }
        p.lost = hole;
        hole = 0;
        rtp_unpack_put(&u, &p);
        while (rtp_unpack_next(&u, &f)) {
            struct frame is;

            if (f.config)
                continue;
            for (;; at++) { /* which one it is */
                assert_true(at < FRAMES);
                is = media_make(rows[row].codec, at, size_of(row, at), media_frame_buf);
                if (is.size == f.size && memcmp(is.data, f.data, f.size) == 0)
                    break;
            }
            assert_true(want[at]);
            at++;
            got++;
        }
    }
    for (unsigned i = 0; i < FRAMES; i++)
        wanted += want[i];
    assert_true(got <= wanted && got + 12 >= wanted);
    rtp_unpacker_fini(&u);
    media_packets_free(&k);
}

static void test_losses(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        for (uint32_t seed = 1; seed <= 40 && rows[row].size != 160; seed++)
            lose_by_seed(row, seed);
    }
}

/* Every payload cut at every byte: no read past its end, with any output. */
static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct media_packets k;
        struct rtp_unpacker u;
        struct rtp_frame f;

        pack_all(row, 1200, AV_MS(200), &k);
        for (unsigned i = 0; i < 12 && i < k.n; i++) {
            for (size_t cut = 0; cut <= k.v[i].size; cut += 1 + cut / 40) {
                open_unpacker(row, &u);
                for (unsigned j = 0; j < 12 && j < k.n; j++) {
                    struct rtp_payload p = media_payload(&k, j);
                    uint8_t *copy = malloc(p.size);

                    assert_non_null(copy);
                    memcpy(copy, p.data, p.size);
                    p.data = copy;
                    if (j == i)
                        p.size = cut;
                    copy = realloc(copy, p.size ? p.size : 1); /* so that ASan sees its end */
                    p.data = copy;
                    rtp_unpack_put(&u, &p);
                    while (rtp_unpack_next(&u, &f))
                        assert_true(f.size > 0);
                    free(copy);
                }
                rtp_unpacker_fini(&u);
            }
        }
        media_packets_free(&k);
    }
}

/* ---- packets as in the specifications, and as cameras send them */

struct step {
    const char *bytes; /* in hex; NULL: no more */
    int64_t ticks;
    bool marker;
    unsigned lost;
};

struct scene {
    const char *name;
    const char *format; /* as in a=rtpmap */
    enum av_kind kind;
    const char *fmtp;
    const char *want; /* frames in hex: "K" key, "-" other, "C" a configuration */
    unsigned broken, odd;
    struct step steps[8];
};

static const struct scene scenes[] = {
    { "units alone, sets of SDP", "H264", AV_VIDEO, SPROP264, "C K0000000365880b -00000003419a0c",
      0, 0, { { "65880b", 0, true, 0 }, { "419a0c", 9, true, 0 }, { "419a0d", 18, false, 0 } } },
    { "sets of SDP with start codes, a comma too much", "H264", AV_VIDEO,
      "sprop-parameter-sets=AAAAAWdkAAys2UFBn58BbIAAAAMAgAAAGQeKFMs=,AAABaOvjyyLA,;x", "C K0000000365880b",
      0, 0, { { "65880b", 0, true, 0 }, { "419a0c", 9, false, 0 } } },
    { "sets in the stream, each with a marker", "H264", AV_VIDEO, "sprop-parameter-sets=Z2QA",
      "C K0000000365880b -00000003419a0c", 0, 0,
      { { SPS264, 0, true, 0 }, { PPS264, 0, true, 0 }, { "65880b", 0, true, 0 },
        { "419a0c", 9, true, 0 }, { "419a0d", 18, false, 0 } } },
    { "no sets at all", "H264", AV_VIDEO, "", "", 0, 0,
      { { "65880b", 0, true, 0 }, { "419a0c", 9, true, 0 }, { "65880d", 18, true, 0 } } },
    { "STAP-A", "H264", AV_VIDEO, "", "C K0000000365880b", 0, 0,
      { { "780019" SPS264 "0006" PPS264 "000365880b", 0, true, 0 }, { "419a0c", 9, false, 0 } } },
    { "STAP-A with a last length that is wrong", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 0, 0,
      { { "78000365880b0009419a", 0, true, 0 }, { "419a0c", 9, false, 0 } } },
    { "FU-A", "H264", AV_VIDEO, SPROP264, "C K0000000765880102030405", 0, 0,
      { { "7c85880102", 0, false, 0 }, { "7c0503", 0, false, 0 }, { "7c450405", 0, true, 0 },
        { "419a0c", 9, false, 0 } } },
    { "FU-A that begins and ends at once", "H264", AV_VIDEO, SPROP264, "C K00000004658801ff", 0, 0,
      { { "7cc58801ff", 0, true, 0 }, { "419a0c", 9, false, 0 } } },
    { "FU-A without a begin", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 1, 0,
      { { "7c0503", 0, false, 0 }, { "7c450405", 0, true, 0 }, { "65880b", 9, true, 0 },
        { "419a0c", 18, false, 0 } } },
    { "FU-A without an end", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 1, 0,
      { { "7c85880102", 0, false, 0 }, { "7c0503", 0, true, 0 }, { "65880b", 9, true, 0 },
        { "419a0c", 18, false, 0 } } },
    { "FU-A that begins twice", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 1, 0,
      { { "7c85880102", 0, false, 0 }, { "7c85880102", 0, true, 0 }, { "65880b", 9, true, 0 },
        { "419a0c", 18, false, 0 } } },
    { "FU-A of several units with start codes", "H264", AV_VIDEO, "", "C K0000000365880b", 0, 0,
      { { "7c87" "64000cacd941419f9f016c800000030080000019078a14cb00000001" PPS264, 0, false, 0 },
        { "7c4700000165880b", 0, true, 0 }, { "419a0c", 9, false, 0 } } },
    { "Annex B in a packet", "H264", AV_VIDEO, "", "C K0000000365880b", 0, 0,
      { { "00000001" SPS264 "000001" PPS264 "00000165880b", 0, true, 0 },
        { "419a0c", 9, false, 0 } } },
    { "no markers", "H264", AV_VIDEO, SPROP264, "C K0000000365880b00000003654402 -00000003419a0c", 0, 0,
      { { "65880b", 0, false, 0 }, { "654402", 0, false, 0 }, { "419a0c", 9, false, 0 },
        { "419a0d", 18, false, 0 } } },
    { "a marker on each unit", "H264", AV_VIDEO, SPROP264,
      "C K0000000365880b00000003654402 -00000003419a0c00000003414a0d", 0, 0,
      { { "65880b", 0, true, 0 }, { "654402", 0, true, 0 }, { "419a0c", 9, true, 0 },
        { "414a0d", 9, true, 0 }, { "419a0e", 18, false, 0 } } },
    { "no marker, no other time, but a delimiter", "H264", AV_VIDEO, SPROP264,
      "C K0000000365880b -00000003419a0c", 0, 0,
      { { "65880b", 0, false, 0 }, { "09f0", 0, false, 0 }, { "419a0c", 0, false, 0 },
        { "09f0", 0, false, 0 } } },
    { "delimiter and filler are left out", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 0, 0,
      { { "09f0", 0, false, 0 }, { "65880b", 0, false, 0 }, { "0cffff", 0, true, 0 },
        { "419a0c", 9, false, 0 } } },
    { "STAP-B, MTAP16, MTAP24, FU-B are refused", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 4, 4,
      { { "79000100036588", 0, true, 0 }, { "7a0001", 9, true, 0 }, { "7b0001", 18, true, 0 },
        { "7d85000188", 27, true, 0 }, { "65880b", 36, true, 0 }, { "419a0c", 45, false, 0 } } },
    { "types that mean nothing", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 0, 2,
      { { "1eff", 0, false, 0 }, { "65880b", 0, false, 0 }, { "1fff", 0, true, 0 },
        { "419a0c", 9, false, 0 } } },
    { "packets inside of a packet", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 0, 2,
      { { "78" "00057800026588" "00047c858801" "000365880b", 0, true, 0 },
        { "419a0c", 9, false, 0 } } },
    { "forbidden_zero_bit", "H264", AV_VIDEO, SPROP264, "C K0000000365880b", 1, 0,
      { { "e5880b", 0, true, 0 }, { "65880b", 9, true, 0 }, { "419a0c", 18, false, 0 } } },
    { "sets that change", "H264", AV_VIDEO, SPROP264, "C K0000000365880b C K0000000365880d", 0, 0,
      { { "65880b", 0, true, 0 }, { "6742c01e95a014016c80", 9, false, 0 }, { "65880d", 9, true, 0 },
        { "419a0c", 18, false, 0 } } },
    { "a hole ends at a key frame", "H264", AV_VIDEO, SPROP264,
      "C K0000000365880b -00000003419a0c K0000000365880f", 0, 0,
      { { "65880b", 0, true, 0 }, { "419a0c", 9, true, 0 }, { "419a0d", 27, true, 1 },
        { "419a0e", 36, true, 0 }, { "65880f", 45, true, 0 }, { "419a0c", 54, false, 0 } } },
    { "a hole before the parameters of a frame", "H264", AV_VIDEO, SPROP264,
      "C K0000000365880b K0000000365880f", 0, 0,
      { { "65880b", 0, true, 0 }, { SPS264, 9, false, 3 }, { "65880f", 9, true, 0 },
        { "419a0c", 18, false, 0 } } },
    { "start frames that are no IDR", "H264", AV_VIDEO, "", "C K0000000341880b", 0, 0,
      { { SPS264, 0, false, 0 }, { PPS264, 0, false, 0 }, { "41880b", 0, true, 0 },
        { "419a0c", 9, false, 0 } } },
    { "AP and FU", "H265", AV_VIDEO,
      "sprop-vps=QAEMAf//AWAAAAMAkAAAAwAAAwA8lZgJ; sprop-sps=QgEBAWAAAAMAkAAAAwAAAwA8oApIC5yVllZpJMrw"
      "FoCAAAADAIAAAAyE;sprop-pps=RAHBcrRiQA==", "C K000000042601af0b -000000060201d0010203", 0, 0,
      { { "60010004" "2601af0b", 0, true, 0 }, { "620181d001", 9, false, 0 },
        { "6201410203", 9, true, 0 }, { "0201d00e", 18, false, 0 } } },
    { "PACI is refused", "H265", AV_VIDEO, "", "", 1, 1,
      { { "640104000000", 0, true, 0 }, { "0201d00e", 9, false, 0 } } },
    { "two units of AAC", "mpeg4-generic", AV_AUDIO, "config=1190;sizelength=13;indexlength=3;indexdeltalength=3",
      "C -0102 -030405", 0, 0, { { "0020" "0010" "0018" "0102030405", 0, true, 0 } } },
    { "AAC in pieces", "MPEG4-GENERIC", AV_AUDIO, "config=1190", "C -0102030405", 0, 0,
      { { "0010" "0028" "0102", 0, false, 0 }, { "0010" "0028" "030405", 0, true, 0 } } },
    { "AAC of which a piece is lost", "MPEG4-GENERIC", AV_AUDIO, "config=1190", "C -0a", 1, 0,
      { { "0010" "0028" "0102", 0, false, 0 }, { "0010" "0028" "05", 0, true, 1 },
        { "0010" "0008" "0a", 1024, true, 0 } } },
    { "AAC with headers past the end", "MPEG4-GENERIC", AV_AUDIO, "config=1190", "", 1, 0,
      { { "0020" "0010", 0, true, 0 } } },
    { "AAC with data past the end", "MPEG4-GENERIC", AV_AUDIO, "config=1190", "C -01", 1, 0,
      { { "0020" "0008" "0010" "0102", 0, true, 0 } } },
    { "LATM, two frames in an element", "MP4A-LATM", AV_AUDIO, "cpresent=0;config=410023203FC0",
      "C -0102 -030405", 0, 0, { { "0201020303" "0405", 0, true, 0 } } },
    { "LATM in two packets", "MP4A-LATM", AV_AUDIO, "cpresent=0; config=400023203fc0", "C -010203", 0, 0,
      { { "0301", 0, false, 0 }, { "0203", 0, true, 0 } } },
    { "LATM that is cut", "MP4A-LATM", AV_AUDIO, "cpresent=0;config=400023203FC0", "C -01", 1, 0,
      { { "0301", 0, true, 0 }, { "0101", 1024, true, 0 } } },
    { "MP3 that is none", "MPA", AV_AUDIO, "", "", 0, 1, { { "000000000102030405", 0, true, 0 } } },
    { "VP9 of two layers: the lower", "VP9", AV_VIDEO, "", "C K82498342200013f00b3001", 0, 1,
      { { "ac800100" "00" "82498342200013f00b3001", 0, false, 0 },
        { "ac800102" "00" "8649", 0, true, 0 }, { "8c8002", 9, false, 0 } } },
    { "AV1, each with a length", "AV1", AV_VIDEO, "", "C K0a0b000000043d06d402f8004032021001", 0, 0,
      { { "08" "0c08000000043d06d402f80040" "03301001", 0, true, 0 }, { "00020c00", 9, false, 0 } } },
};

static void note(char *out, size_t room, const struct rtp_frame *f)
{
    size_t n = strlen(out);

    n += (size_t)snprintf(out + n, room - n, "%s%s", n ? " " : "",
                          f->config ? "C" : f->key ? "K" : "-");
    for (size_t i = 0; !f->config && i < f->size; i++)
        n += (size_t)snprintf(out + n, room - n, "%02x", f->data[i]);
}

static void test_scenes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(scenes); i++) {
        const struct scene *s = &scenes[i];
        struct rtp_unpacker_opts opts = { .fmtp = { s->fmtp, strlen(s->fmtp) }, .clock = 90000 };
        struct rtp_unpacker u;
        struct rtp_frame f;
        char out[1024] = "";

        print_message("  %s\n", s->name);
        opts.fmt = rtp_format_named(s->kind, s->format, strlen(s->format));
        assert_non_null(opts.fmt);
        assert_ok(rtp_unpacker_init(&u, &opts));
        for (size_t k = 0; k < COUNT(s->steps) && s->steps[k].bytes; k++) {
            uint8_t bytes[256];
            struct rtp_payload p = { .data = bytes, .ticks = s->steps[k].ticks,
                                     .marker = s->steps[k].marker, .lost = s->steps[k].lost };

            p.size = unhex(s->steps[k].bytes, bytes);
            rtp_unpack_put(&u, &p);
            while (rtp_unpack_next(&u, &f))
                note(out, sizeof(out), &f);
        }
        assert_string_equal(out, s->want);
        assert_int_equal(u.stats.broken, s->broken);
        assert_int_equal(u.stats.odd, s->odd);
        rtp_unpacker_fini(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_both_ways), TEST(test_shared_packets), TEST(test_losses),
        TEST(test_cut_at_every_byte), TEST(test_scenes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
