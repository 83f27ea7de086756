/* SPDX-License-Identifier: MIT */
/* test_demux_mp4_made.c - MP4 files as other programs may write them: tables, edits, descriptions. */
#include "mp4_files.h"

/* ------------------------------------------------------------ generated files */

struct run {
    uint32_t n, value;
};

/* A track of a file: samples of `size` bytes in chunks of `chunk`, one media after the other. */
struct made {
    const char *entry, *box;     /* in stsd */
    const char *config;
    size_t config_size, before;  /* bytes of the entry */
    bool audio, co64, no_media;
    int size_bits;               /* for stz2; 0: stsz; 1: stsz with one common size */
    uint32_t scale, n, size, chunk, rows; /* rows that tables claim; 0: the actual number */
    struct run times[4], offsets[4];
    uint32_t keys[4];            /* up to a 0 */
    bool has_keys;
    int64_t edits[3][2];         /* durations, start numbers; up to a 0, 0 */
    uint32_t other_entry;        /* the second half of chunks uses this description */
    uint64_t hole;               /* missing bytes in front of the media */
};

static size_t begin_table(struct wr *w, const char *type, const struct made *m, uint32_t n)
{
    size_t at = mp4_full_box(w, type, 0, 0);

    wr_u32(w, m->rows ? m->rows : n);
    return at;
}

static void put_runs(struct wr *w, const char *type, const struct made *m, const struct run *v)
{
    uint32_t n = 0;
    size_t at;

    while (n < 4 && v[n].n)
        n++;
    at = begin_table(w, type, m, n);
    for (uint32_t i = 0; i < n; i++) {
        wr_u32(w, v[i].n);
        wr_u32(w, v[i].value);
    }
    mp4_end(w, at);
}

static void put_sizes(struct wr *w, const struct made *m)
{
    size_t at = mp4_full_box(w, m->size_bits > 1 ? "stz2" : "stsz", 0, 0);

    wr_u32(w, (uint32_t)(m->size_bits == 1 ? (int)m->size : m->size_bits));
    wr_u32(w, m->rows ? m->rows : m->n);
    for (uint32_t i = 0; m->size_bits != 1 && i < m->n; i++) {
        if (m->size_bits == 4 && i % 2 == 0)
            wr_u8(w, (uint8_t)(m->size << 4 | m->size));
        else if (m->size_bits != 4)
            wr_be(w, m->size, m->size_bits ? (size_t)m->size_bits / 8 : 4);
    }
    mp4_end(w, at);
}

static void put_chunks(struct wr *w, const struct made *m, uint64_t media)
{
    uint32_t n = (m->n + m->chunk - 1) / m->chunk;
    size_t at = begin_table(w, "stsc", m, m->other_entry ? 2 : 1);

    wr_u32(w, 1);
    wr_u32(w, m->chunk);
    wr_u32(w, 1);
    if (m->other_entry) {
        wr_u32(w, n / 2 + 1);
        wr_u32(w, m->chunk);
        wr_u32(w, m->other_entry);
    }
    mp4_end(w, at);
    at = begin_table(w, m->co64 ? "co64" : "stco", m, n);
    for (uint32_t i = 0; i < n; i++)
        wr_be(w, media + (uint64_t)i * m->chunk * m->size, m->co64 ? 8 : 4);
    mp4_end(w, at);
}

static void put_stsd(struct wr *w, const struct made *m)
{
    size_t stsd = mp4_full_box(w, "stsd", 0, 0), entry, config;

    wr_u32(w, m->other_entry ? 2 : 1);
    entry = mp4_box(w, m->entry);
    mp4_zeros(w, m->before);
    config = mp4_box(w, m->box);
    wr_bytes(w, m->config, m->config_size);
    mp4_end(w, config);
    mp4_end(w, entry);
    mp4_end(w, stsd);
}

static void put_edits(struct wr *w, const struct made *m)
{
    size_t edts, elst;
    uint32_t n = 0;

    while (n < 3 && m->edits[n][0])
        n++;
    if (n == 0)
        return;
    edts = mp4_box(w, "edts");
    elst = mp4_full_box(w, "elst", 1, 0);
    wr_u32(w, n);
    for (uint32_t i = 0; i < n; i++) {
        wr_be(w, (uint64_t)m->edits[i][0], 8);
        wr_be(w, (uint64_t)m->edits[i][1], 8);
        wr_u32(w, 0x10000);
    }
    mp4_end(w, elst);
    mp4_end(w, edts);
}

static void put_trak(struct wr *w, const struct made *m, uint32_t id, uint64_t media)
{
    size_t trak = mp4_box(w, "trak"), at = mp4_full_box(w, "tkhd", 0, 1), mdia, minf, stbl;

    mp4_zeros(w, 8);
    wr_u32(w, id);
    mp4_zeros(w, 68);
    mp4_end(w, at);
    put_edits(w, m);
    mdia = mp4_box(w, "mdia");
    at = mp4_full_box(w, "mdhd", 0, 0);
    mp4_zeros(w, 8);
    wr_u32(w, m->scale);
    mp4_zeros(w, 8);
    mp4_end(w, at);
    at = mp4_full_box(w, "hdlr", 0, 0);
    wr_u32(w, 0);
    wr_bytes(w, m->audio ? "soun" : "vide", 4);
    mp4_zeros(w, 13);
    mp4_end(w, at);
    minf = mp4_box(w, "minf");
    stbl = mp4_box(w, "stbl");
    put_stsd(w, m);
    put_runs(w, "stts", m, m->times);
    if (m->offsets[0].n)
        put_runs(w, "ctts", m, m->offsets);
    if (m->has_keys) {
        uint32_t n = 0;

        while (n < 4 && m->keys[n])
            n++;
        at = begin_table(w, "stss", m, n);
        for (uint32_t i = 0; i < n; i++)
            wr_u32(w, m->keys[i]);
        mp4_end(w, at);
    }
    put_sizes(w, m);
    put_chunks(w, m, media);
    mp4_end(w, stbl);
    mp4_end(w, minf);
    mp4_end(w, mdia);
    mp4_end(w, trak);
}

/* ftyp, mdat, moov. */
static void mp4_make(struct wr *w, const struct made *tracks, unsigned n)
{
    uint64_t media[4];
    size_t moov, at;

    wr_init(w, LIMIT);
    wr_bytes(w, "\0\0\0\x10" "ftypisom\0\0\0\0", 16);
    at = mp4_box(w, "mdat");
    for (unsigned i = 0; i < n; i++) {
        media[i] = w->len + tracks[i].hole;
        mp4_zeros(w, tracks[i].no_media ? 0 : (size_t)tracks[i].n * tracks[i].size);
    }
    mp4_end(w, at);
    moov = mp4_box(w, "moov");
    at = mp4_full_box(w, "mvhd", 0, 0);
    mp4_zeros(w, 8);
    wr_u32(w, 1000);
    mp4_zeros(w, 84);
    mp4_end(w, at);
    for (unsigned i = 0; i < n; i++)
        put_trak(w, &tracks[i], i + 1, media[i]);
    mp4_end(w, moov);
    assert_false(w->bad);
}

#define ESDS(object, special)                                                    \
    "\0\0\0\0\x03\x80\x80\x80\x1a\0\1\0\x04\x80\x80\x80\x12" object              \
    "\x15\0\0\0\0\0\0\0\0\0\0\0" special

#define VIDEO .entry = "avc1", .box = "avcC", .config = CONFIG_H264,             \
    .config_size = sizeof(CONFIG_H264) - 1, .before = 78

#define AUDIO .entry = "mp4a", .box = "esds", .config = ESDS("\x40", "\x05\2\x11\x90"), \
    .config_size = sizeof(ESDS("\x40", "\x05\2\x11\x90")) - 1, .before = 28, .audio = true

/* Opens a generated film and walks through it. */
struct walked {
    struct wr file;
    struct file f;
    struct demux_index *x;
    struct walk_all all;
};

static void walk_made(struct walked *w, const struct made *tracks, unsigned n)
{
    mp4_make(&w->file, tracks, n);
    file_init(&w->f, w->file.buf, w->file.len);
    w->x = file_open(&w->f);
    walk_all(&w->all, w->x, &w->f);
}

static void walked_end(struct walked *w)
{
    demux_close(w->x);
    wr_free(&w->file);
}

static void test_sizes_and_offsets_are_stored_in_many_ways(void **state)
{
    static const int bits[] = { 0, 1, 4, 8, 16 };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(bits); i++) {
        struct made m = { VIDEO, .scale = 25, .n = 9, .size = 7, .chunk = 2, .has_keys = true,
                          .times = { { 3, 1 }, { 0 } }, .keys = { 1, 5 } };
        struct walked w;

        m.times[1] = (struct run){ 6, 2 };
        m.size_bits = bits[i / 2];
        m.co64 = i % 2;
        walk_made(&w, &m, 1);
        assert_int_equal(w.all.samples, 9);
        assert_int_equal(w.all.groups, 2);
        for (unsigned n = 0; n < 9; n++) {
            assert_int_equal(w.all.v[n].at, 24 + n * 7);
            assert_int_equal(w.all.v[n].size, 7);
            assert_int_equal(w.all.v[n].key, n == 0 || n == 4);
            assert_int_equal(w.all.v[n].dts, 3600 * (n < 3 ? n : 3 + (n - 3) * 2));
        }
        assert_int_equal(demux_info(w.x)->duration, 15 * 3600);
        walked_end(&w);
    }
}

/* No sample is presented before it is decoded, and none is decoded before 0. */
static void test_times_of_edits_and_offsets(void **state)
{
    static const struct {
        const char *name;
        struct run offsets[4];
        int64_t edits[3][2];
        int64_t zero, dts, pts; /* the first frame's, from zero on */
    } rows[] = {
        { "none", { { 0 } }, { { 0 } }, 0, 0, 0 },
        { "reordered", { { 9, 2 } }, { { 0 } }, 0, 0, 7200 },
        { "and made good", { { 9, 2 } }, { { 9000, 2 } }, 7200, -7200, 0 },
        { "below 0", { { 1, 0 }, { 8, (uint32_t)-1 } }, { { 0 } }, 3600, -3600, 0 },
        { "an empty edit", { { 0 } }, { { 500, -1 }, { 9000, 0 } }, 0, HALF, HALF },
        { "both", { { 9, 2 } }, { { 500, -1 }, { 9000, 2 } }, 0, HALF - 7200, HALF },
        { "from beyond the end", { { 0 } }, { { 9000, 99 } }, 0, 0, 0 },
        { "of nothing", { { 0 } }, { { 0 } }, 0, 0, 0 },
        { "far below 0", { { 9, 0x80000000 } }, { { 0 } }, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made m = { VIDEO, .scale = 25, .n = 9, .size = 7, .chunk = 2, .has_keys = true,
                          .times = { { 9, 1 } }, .keys = { 1, 5 } };
        struct walked w;
        int64_t zero;

        memcpy(m.offsets, rows[i].offsets, sizeof(m.offsets));
        memcpy(m.edits, rows[i].edits, sizeof(m.edits));
        walk_made(&w, &m, 1);
        zero = demux_info(w.x)->zero;
        assert_int_equal(w.all.samples, 9);
        assert_int_equal(zero, rows[i].zero);
        assert_int_equal(w.all.v[0].dts - zero, rows[i].dts);
        assert_int_equal(w.all.v[0].dts + w.all.v[0].cts - zero, rows[i].pts);
        walked_end(&w);
    }
}

/* Parts cut off at the start and the end: playback begins at the required key frame. */
static void test_edits_cut(void **state)
{
    struct made m = { VIDEO, .scale = 25, .n = 100, .size = 7, .chunk = 4, .has_keys = true,
                      .times = { { 100, 1 } }, .keys = { 1, 26, 51, 76 },
                      .edits = { { 1000, 60 } } };
    struct walked w;

    (void)state;
    walk_made(&w, &m, 1);
    assert_int_equal(w.all.v[0].at, 24 + 50 * 7);
    assert_true(w.all.v[0].key);
    assert_int_equal(demux_info(w.x)->zero, 10 * 3600);
    assert_int_equal(w.all.samples, 36); /* 50 to 85 */
    walked_end(&w);
}

static void test_keys(void **state)
{
    static const struct {
        const char *name;
        bool has_keys;
        uint32_t keys[4];
        unsigned groups, first;
    } rows[] = {
        { "all are", false, { 0 }, 9, 0 },
        { "one", true, { 1 }, 1, 0 },
        { "none is said", true, { 0 }, 1, 0 },
        { "not the first", true, { 3, 7 }, 2, 2 },
        { "they do not grow", true, { 1, 5, 4, 8 }, 2, 0 },
        { "beyond the end", true, { 1, 200 }, 1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made m = { VIDEO, .scale = 25, .n = 9, .size = 7, .chunk = 2,
                          .times = { { 9, 1 } }, .has_keys = rows[i].has_keys };
        struct walked w;

        memcpy(m.keys, rows[i].keys, sizeof(m.keys));
        walk_made(&w, &m, 1);
        assert_int_equal(w.all.groups, rows[i].groups);
        assert_int_equal(w.all.v[0].at, 24 + rows[i].first * 7);
        assert_true(w.all.v[0].key);
        walked_end(&w);
    }
}

/* Playback may begin about every second in audio only, and where video has ended. */
static void test_audio_alone(void **state)
{
    struct made m[] = { { AUDIO, .scale = 1000, .n = 1000, .size = 3, .chunk = 10,
                          .times = { { 1000, 20 } } },
                        { VIDEO, .scale = 25, .n = 25, .size = 7, .chunk = 5, .has_keys = true,
                          .times = { { 25, 1 } }, .keys = { 1 } } };

    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        struct demux_group *g;
        struct walked w;
        const char *why;

        walk_made(&w, m, n);
        assert_int_equal(w.all.of[DEMUX_AUDIO], 1000);
        assert_int_equal(w.all.of[DEMUX_VIDEO], n == 2 ? 25 : 0);
        assert_int_equal(w.all.groups, 20);
        assert_int_equal(demux_group(&g, w.x, &w.f.in, demux_seek(w.x, 5 * 90000 + 99), &why),
                         DEMUX_OK);
        assert_true(g->starts);
        assert_int_equal(g->v[0].dts, 5 * 90000);
        assert_int_equal(g->n, 50);
        free(g);
        walked_end(&w);
    }
}

/* A group that is too long continues, and no new one begins in it. */
static void test_long_groups_are_divided(void **state)
{
    struct made m[] = { { VIDEO, .scale = 25, .n = 10000, .size = 1, .chunk = 7, .size_bits = 1,
                          .has_keys = true, .times = { { 10000, 1 } }, .keys = { 1 } },
                        { AUDIO, .scale = 1000, .n = 20000, .size = 1, .chunk = 10,
                          .times = { { 20000, 20 } }, .size_bits = 1 } };
    struct demux_group *g;
    struct walked w;
    demux_position at;
    const char *why;
    bool last = false;

    (void)state;
    walk_made(&w, m, 2);
    assert_int_equal(w.all.samples, 30000);
    assert_true(w.all.groups >= 30000 / DEMUX_GROUP_MAX && w.all.groups < 20);
    at = demux_seek(w.x, 300 * 90000);
    assert_true(at == demux_seek(w.x, 0));
    for (bool first = true; !last; first = false) {
        assert_int_equal(demux_group(&g, w.x, &w.f.in, at, &why), DEMUX_OK);
        assert_int_equal(g->starts, first);
        at = g->next;
        last = g->last;
        free(g);
    }
    assert_int_equal(demux_group(&g, w.x, &w.f.in, at, &why), DEMUX_END);
    assert_int_equal(demux_group(&g, w.x, &w.f.in, UINT64_MAX, &why), DEMUX_END);
    walked_end(&w);
}

/* ------------------------------------------------------------ over 4 GB */

#define HOLE (UINT64_C(5) << 30)

struct holed {
    struct demux_input in;
    const struct wr *w;
};

/* ftyp, a box of zeros larger than 32 bits, and the rest. */
static enum demux_status holed_read(const struct demux_input *in, int64_t at, void *buf,
                                    size_t size)
{
    static const uint8_t box[16] = { 0, 0, 0, 1, 'f', 'r', 'e', 'e', 0, 0, 0, 1, 0x40 };
    const struct holed *h = container_of((struct demux_input *)(uintptr_t)in, struct holed, in);
    size_t n;

    for (n = 0; n < size && at < in->size; n++, at++) {
        uint64_t i = (uint64_t)at;
        uint8_t byte = i < 16 ? h->w->buf[i] : i < 32 ? box[i - 16] : 0;

        ((uint8_t *)buf)[n] = i < 16 + HOLE ? byte : h->w->buf[i - HOLE];
    }
    return n == size ? DEMUX_OK : DEMUX_BROKEN;
}

static void test_large_files(void **state)
{
    struct made m = { VIDEO, .scale = 25, .n = 9, .size = 7, .chunk = 2, .co64 = true,
                      .times = { { 9, 1 } }, .hole = HOLE };
    const struct demux_limits limits = { .index_max = 1 << 20 };
    struct demux_index *x;
    struct demux_group *g;
    struct wr file;
    struct holed h = { .in = { .read = holed_read }, .w = &file };
    const char *why;

    (void)state;
    mp4_make(&file, &m, 1);
    h.in.size = (int64_t)(file.len + HOLE);
    assert_int_equal(demux_open(&x, &h.in, &limits, &why), DEMUX_OK);
    assert_int_equal(demux_group(&g, x, &h.in, demux_seek(x, INT64_MAX), &why), DEMUX_OK);
    assert_true(g->last && g->n == 1);
    assert_true(g->v[0].at == (int64_t)HOLE + 24 + 8 * 7);
    free(g);
    demux_close(x);
    h.in.size -= 1; /* its moov is truncated */
    assert_int_equal(demux_open(&x, &h.in, &limits, &why), DEMUX_BROKEN);
    wr_free(&file);
}

/* ------------------------------------------------------------ several descriptions */

static void test_other_descriptions_are_left_out(void **state)
{
    struct made m = { VIDEO, .scale = 25, .n = 8, .size = 7, .chunk = 2, .times = { { 8, 1 } },
                      .other_entry = 2 };
    struct walked w;

    (void)state;
    walk_made(&w, &m, 1);
    assert_int_equal(w.all.samples, 4);
    walked_end(&w);
}

/* ------------------------------------------------------------ descriptions */

#define OPUS_BOX "\0\x02\x01\x38\0\0\xbb\x80\0\0\0"
#define WAVE(esds) "\0\0\0\x0c" "frmamp4a" "\0\0\0\x2a" "esds" esds

static void test_codecs(void **state)
{
#define TEXT(s) (s), sizeof(s) - 1
    static const struct {
        const char *entry, *box, *config;
        size_t config_size, before;
        enum av_codec codec; /* NONE: it cannot be played */
        const char *out;
        size_t out_size;
    } rows[] = {
        { "avc1", "avcC", TEXT(CONFIG_H264), 78, AV_H264, TEXT(CONFIG_H264) },
        { "avc3", "avcC", TEXT(CONFIG_H264), 78, AV_H264, TEXT(CONFIG_H264) },
        { "avc3", "avcC", TEXT("\1\x64\0\x0c\xff\xe0\0"), 78, AV_CODEC_NONE, TEXT("") },
        { "avc1", "avcC", TEXT("\1\x64\0"), 78, AV_CODEC_NONE, TEXT("") },
        { "avc1", "free", TEXT(CONFIG_H264), 78, AV_CODEC_NONE, TEXT("") },
        { "hvc1", "hvcC", TEXT(CONFIG_H265), 78, AV_H265, TEXT(CONFIG_H265) },
        { "hev1", "hvcC", TEXT(CONFIG_H265), 78, AV_H265, TEXT(CONFIG_H265) },
        { "av01", "av1C", TEXT(CONFIG_AV1), 78, AV_AV1, TEXT(CONFIG_AV1) },
        { "vp09", "vpcC", TEXT(CONFIG_VP9), 78, AV_VP9, TEXT(CONFIG_VP9) },
        { "mp4v", "esds", TEXT(ESDS("\x20", "\5\2\0\0")), 78, AV_CODEC_NONE, TEXT("") },
        { "mp4a", "esds", TEXT(ESDS("\x40", "\x05\2\x11\x90")), 28, AV_AAC, TEXT(CONFIG_AAC) },
        { "mp4a", "esds", TEXT(ESDS("\x67", "\x05\x80\2\x11\x90")), 28, AV_AAC, TEXT(CONFIG_AAC) },
        { "mp4a", "esds", TEXT("\0\0\0\0\3\x16\0\1\0\4\x12\x40\x15\0\0\0\0\0\0\0\0\0\0\0\5\2\x11"
                               "\x90"), 28, AV_AAC, TEXT(CONFIG_AAC) },
        { "mp4a", "esds", TEXT(ESDS("\x40", "\x05\1\x11")), 28, AV_CODEC_NONE, TEXT("") },
        { "mp4a", "esds", TEXT(ESDS("\x6b", "")), 28, AV_MP3, TEXT("") },
        { "mp4a", "esds", TEXT(ESDS("\xa5", "")), 28, AV_CODEC_NONE, TEXT("") },
        { "mp4a", "wave", TEXT(WAVE(ESDS("\x40", "\x05\2\x11\x90"))), 28, AV_AAC,
          TEXT(CONFIG_AAC) },
        { "Opus", "dOps", TEXT(OPUS_BOX), 28, AV_OPUS, TEXT(CONFIG_OPUS) },
        { "Opus", "dOps", TEXT("\0\0\0\0\0\0\0\0\0\0\0"), 28, AV_CODEC_NONE, TEXT("") },
        /* before its blocks are version and flags, with any value */
        { "fLaC", "dfLa", TEXT(CONFIG_FLAC), 28, AV_FLAC, TEXT(CONFIG_FLAC) },
        { "fLaC", "dfLa", TEXT("\0\0\0\0\x80\0\0\x22"), 28, AV_CODEC_NONE, TEXT("") },
        { ".mp3", "free", TEXT(""), 28, AV_MP3, TEXT("") },
        { "sowt", "free", TEXT(""), 28, AV_CODEC_NONE, TEXT("") },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made m = { .entry = rows[i].entry, .box = rows[i].box, .config = rows[i].config,
                          .config_size = rows[i].config_size, .before = rows[i].before,
                          .audio = rows[i].before == 28, .scale = 1000, .n = 2, .size = 7,
                          .chunk = 1, .times = { { 2, 20 } } };
        const struct demux_limits limits = { .index_max = 1 << 20 };
        int track = m.audio ? DEMUX_AUDIO : DEMUX_VIDEO;
        struct demux_index *x;
        struct wr file;
        struct file f;
        const char *why;
        enum demux_status st;

        mp4_make(&file, &m, 1);
        file_init(&f, file.buf, file.len);
        st = demux_open(&x, &f.in, &limits, &why);
        assert_int_equal(st, rows[i].codec ? DEMUX_OK : DEMUX_UNSUPPORTED);
        if (st == DEMUX_OK) {
            const struct demux_track *t = &demux_info(x)->tracks[track];

            assert_int_equal(t->codec, rows[i].codec);
            assert_int_equal(t->config_size, rows[i].out_size);
            if (rows[i].out_size)
                assert_memory_equal(t->config, rows[i].out, rows[i].out_size);
        }
        demux_close(x);
        wr_free(&file);
    }
}

/* The first playable track of each kind; the others are counted. */
static void test_tracks_are_chosen(void **state)
{
    struct made m[] = {
        { .entry = "mp4v", .box = "esds", .config = "", .before = 78, .scale = 25, .n = 2,
          .size = 7, .chunk = 1, .times = { { 2, 1 } } },
        { VIDEO, .scale = 25, .n = 2, .size = 5, .chunk = 1, .times = { { 2, 1 } } },
        { AUDIO, .scale = 0, .n = 2, .size = 3, .chunk = 1, .times = { { 2, 1 } } },
        { AUDIO, .scale = 50, .n = 2, .size = 2, .chunk = 1, .times = { { 2, 1 } } },
    };
    struct walked w;

    (void)state;
    walk_made(&w, m, 4);
    assert_int_equal(demux_info(w.x)->left_out, 2);
    assert_true(w.all.of[DEMUX_VIDEO] == 2 && w.all.of[DEMUX_AUDIO] == 2);
    assert_true(w.all.v[0].size == 5 && w.all.v[1].size == 2);
    walked_end(&w);
}

/* ------------------------------------------------------------ hostile ones */

static void test_tables_claim_more_than_there_is(void **state)
{
    struct made rows[] = {
        { VIDEO, .scale = 25, .n = 9, .size = 7, .chunk = 2, .times = { { UINT32_MAX, 1 } },
          .rows = UINT32_MAX, .has_keys = true, .keys = { 1 }, .offsets = { { UINT32_MAX, 5 } } },
        { VIDEO, .scale = 25, .n = 9, .size = 1, .size_bits = 1, .chunk = UINT32_MAX,
          .times = { { UINT32_MAX, UINT32_MAX } }, .rows = UINT32_MAX },
        { VIDEO, .scale = 1, .n = 9, .size = 7, .chunk = 2, .times = { { 9, INT32_MAX } } },
        { VIDEO, .scale = UINT32_MAX, .n = 9, .size = 7, .chunk = 2, .times = { { 9, 1 } } },
        { VIDEO, .scale = 25, .n = 9, .size = 0, .chunk = 2, .times = { { 9, 1 } } },
        { VIDEO, .scale = 25, .n = 9, .size = 1u << 30, .chunk = 2, .times = { { 9, 1 } },
          .no_media = true },
        { VIDEO, .scale = 25, .n = 0, .size = 7, .chunk = 2, .times = { { 9, 1 } } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr file;

        mp4_make(&file, &rows[i], 1);
        (void)demux_any(file.buf, file.len);
        wr_free(&file);
    }
}

/* A row of no samples is ignored. */
static void test_rows_without_samples(void **state)
{
    struct made m = { VIDEO, .scale = 25, .n = 9, .size = 7, .chunk = 9,
                      .times = { { 4, 1 }, { 1, 9 }, { 4, 1 } } };
    struct wr file;
    uint8_t *p, *row;

    (void)state;
    mp4_make(&file, &m, 1);
    p = file.buf;
    while (memcmp(p, "stts", 4) != 0)
        p++;
    row = p + 12 + 8; /* the second of three */
    memset(row, 0, 8);
    assert_int_equal(demux_any(file.buf, file.len), 8); /* one sample less */
    memset(p + 12, 0, 8);
    memset(row + 8, 0, 8);
    assert_int_equal(demux_any(file.buf, file.len), 0);
    wr_free(&file);
}

static void test_boxes_in_boxes(void **state)
{
    static const char *const types[] = { "moov", "trak", "mdia", "minf", "stbl", "moof", "traf" };

    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        struct wr w;
        size_t at[40];

        wr_init(&w, LIMIT);
        for (size_t k = 0; k < COUNT(at); k++)
            at[k] = mp4_box(&w, k == 0 ? "moov" : types[i]);
        for (size_t k = 0; k < COUNT(at); k++)
            mp4_end(&w, at[k]);
        assert_int_equal(demux_any(w.buf, w.len), 0);
        wr_free(&w);
    }
}

static void test_what_is_no_mp4(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum demux_status st;
    } rows[] = {
        { TEXT(""), DEMUX_BROKEN },
        { TEXT("\0\0\0\x08" "mdat"), DEMUX_BROKEN },
        { TEXT("\0\0\0\0" "mdat and so on"), DEMUX_BROKEN },
        { TEXT("\0\0\0\1" "mdat\xff\xff\xff\xff\xff\xff\xff\xff"), DEMUX_BROKEN },
        { TEXT("\0\0\0\1" "mdat\0\0\0\0\0\0\0\1"), DEMUX_BROKEN },
        { TEXT("\0\0\0\x07" "moov"), DEMUX_BROKEN },
        { TEXT("\0\0\0\x08" "moov"), DEMUX_UNSUPPORTED },
        { TEXT("\0\0\0\x09" "moov"), DEMUX_BROKEN },
        { TEXT("GIF89a and no film"), DEMUX_BROKEN },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct demux_limits limits = { .index_max = 1 << 20 };
        struct demux_index *x;
        struct file f;
        const char *why;

        file_init(&f, (const uint8_t *)rows[i].bytes, rows[i].size);
        assert_int_equal(demux_open(&x, &f.in, &limits, &why), rows[i].st);
        assert_null(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sizes_and_offsets_are_stored_in_many_ways),
        TEST(test_times_of_edits_and_offsets), TEST(test_edits_cut), TEST(test_keys),
        TEST(test_audio_alone), TEST(test_long_groups_are_divided), TEST(test_large_files),
        TEST(test_other_descriptions_are_left_out), TEST(test_codecs),
        TEST(test_tracks_are_chosen), TEST(test_tables_claim_more_than_there_is),
        TEST(test_rows_without_samples), TEST(test_boxes_in_boxes),
        TEST(test_what_is_no_mp4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
