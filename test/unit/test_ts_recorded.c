/* SPDX-License-Identifier: MIT */
/* test_ts_recorded.c - files of real multiplexers, read as ffprobe does; test/data/README.md.
 * However they are split, the frames are the same; if packets are missing there are fewer, and those
 * are complete. */
#include "base/text.h"
#include "base/wr.h"
#include "format/ts/demux.h"
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 1024 * 1024, FRAMES = 2048, NAME = 256, PACKET = 188, SECOND = 90000 };
static const int64_t TIME_MASK = ((int64_t)1 << 33) - 1;

struct seen {
    int64_t dts, pts;
    bool key, optional;
    size_t size;
    uint64_t hash;
    uint64_t at; /* position of its PES packet */
};

struct list {
    unsigned n[2]; /* video, audio */
    struct seen frames[2][FRAMES];
    unsigned configs[2];
    uint64_t last_at[2];
    bool open_ends; /* there are several, one after the other */
};

static const char *folder = "test/data";
static uint8_t file[FILE_MAX];
static size_t file_size;
static struct list told, got, whole;

static FILE *open_file(const char *name, const char *end)
{
    char path[2 * NAME];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s%s", folder, name, end);
    f = fopen(path, "rb");
    assert_non_null(f);
    return f;
}

/* `?v`: that may be missing; `--`: something else follows. */
static bool load_line(FILE *f)
{
    struct seen s = { 0 };
    char kind[3];
    int key;
    bool audio;

    if (fscanf(f, " %2s %ld %ld %d %zu %lx", kind, &s.dts, &s.pts, &key, &s.size, &s.hash) != 6)
        return false;
    if (kind[0] == '-') {
        told.open_ends = true;
        return true;
    }
    s.key = key;
    s.optional = kind[0] == '?';
    audio = kind[s.optional] == 'a';
    assert_true(told.n[audio] < FRAMES);
    told.frames[audio][told.n[audio]++] = s;
    return true;
}

static void load(const char *name)
{
    FILE *f = open_file(name, "");

    file_size = fread(file, 1, sizeof(file), f);
    assert_true(file_size > 0 && file_size < sizeof(file));
    (void)fclose(f);
    f = open_file(name, ".txt");
    told = (struct list){ 0 };
    while (load_line(f))
        ;
    (void)fclose(f);
}

/* ---- frames */

static void take(struct ts_demux *d)
{
    struct ts_frame f;
    uint8_t *copy;

    while (ts_demux_next(d, &f)) {
        bool audio = f.kind == AV_AUDIO;
        struct seen *s = &got.frames[audio][got.n[audio]];

        copy = malloc(f.size);
        ts_frame_copy(&f, copy);
        assert_true(f.at % PACKET == 0 || got.n[audio] == 0 || f.at >= got.last_at[audio]);
        got.last_at[audio] = f.at;
        if (f.config) {
            got.configs[audio]++;
        } else {
            assert_true(got.n[audio] < FRAMES);
            *s = (struct seen){ f.dts, f.pts, f.key, false, f.size,
                                text_hash_more(TEXT_HASH_BEGIN, (char *)copy, f.size), f.at };
            got.n[audio]++;
        }
        free(copy);
    }
}

static struct ts_demux *begin(void)
{
    for (int k = 0; k < 2; k++) /* the frames are many */
        got.n[k] = got.configs[k] = got.last_at[k] = 0;
    return ts_demux_new(&(struct ts_demux_opts){ 0 });
}

static void put(struct ts_demux *d, const uint8_t *data, size_t size)
{
    ts_demux_put(d, data, size);
    take(d);
}

static struct ts_demux_stat end(struct ts_demux *d)
{
    struct ts_demux_stat s;

    ts_demux_flush(d);
    take(d);
    ts_demux_stat(d, &s);
    ts_demux_free(d);
    return s;
}

/* ---- expected frames */

/* ffprobe restarts before the wrap; later times of one packet may be one off. */
static bool is_same_time(int64_t a, int64_t b)
{
    int64_t off = (a - b) & TIME_MASK;

    return off <= 1 || off == TIME_MASK;
}

static bool is_same(const struct seen *a, const struct seen *b)
{
    return is_same_time(a->dts, b->dts) && is_same_time(a->pts, b->pts) && a->key == b->key &&
           a->size == b->size && a->hash == b->hash;
}

static void expect_one(const struct seen *a, const struct seen *b, int kind, unsigned i)
{
    if (!is_same(a, b))
        print_error("%c %u: %ld %ld %d %zu, not %ld %ld %d %zu\n", kind ? 'a' : 'v', i,
                    a->dts, a->pts, a->key, a->size, b->dts, b->pts, b->key, b->size);
    assert_true(is_same(a, b));
}

static void expect_all(const struct list *want)
{
    for (int k = 0; k < 2; k++) {
        unsigned n = 0;

        for (unsigned i = 0; i < want->n[k]; i++) {
            const struct seen *b = &want->frames[k][i];

            if (b->optional && (n == got.n[k] || !is_same(&got.frames[k][n], b)))
                continue;
            assert_true(n < got.n[k]);
            expect_one(&got.frames[k][n++], b, k, i);
        }
        assert_int_equal(got.n[k], n);
    }
}

/* The frames that are there are among the expected ones, in order. Returns the number of missing ones. */
static unsigned expect_some(const struct list *want)
{
    unsigned missing = 0;

    for (int k = 0; k < 2; k++) {
        unsigned at = 0;

        for (unsigned i = 0; i < got.n[k]; i++, at++) {
            while (at < want->n[k] && !is_same(&got.frames[k][i], &want->frames[k][at]))
                at++;
            if (at == want->n[k])
                print_error("%c %u of %ld, %zu bytes\n", k ? 'a' : 'v', i, got.frames[k][i].dts,
                            got.frames[k][i].size);
            assert_true(at < want->n[k]);
        }
        missing += want->n[k] - got.n[k];
    }
    return missing;
}

/* ---- ways to split it */

/* Over the wrap, too; as far as those of the file do: GStreamer's first ones of Opus may not. */
static void expect_rising_times(void)
{
    for (int k = 0; k < 2; k++) {
        for (unsigned i = 1; i < got.n[k]; i++) {
            int64_t step = got.frames[k][i].dts - got.frames[k][i - 1].dts;
            int64_t want = (told.frames[k][i].dts - told.frames[k][i - 1].dts) & TIME_MASK;

            assert_true(want > TIME_MASK / 2 ? step > -SECOND : step > 0 && step < 10 * SECOND);
        }
    }
}

static void expect_whole(void)
{
    struct ts_demux *d = begin();
    struct ts_demux_stat s;

    put(d, file, file_size);
    s = end(d);
    expect_all(&told);
    assert_int_equal(s.packets, file_size / PACKET);
    assert_true(s.skipped == 0 && s.holes == 0);
    assert_int_equal(s.frames, got.n[0] + got.n[1]);
    if (!told.open_ends) {
        assert_true(s.broken == 0 && s.waiting == 0 && s.jumps == 0);
        expect_rising_times();
    }
    whole = got;
}

static void expect_in_messages_of(size_t n)
{
    struct ts_demux *d = begin();

    for (size_t at = 0; at < file_size; at += n) {
        uint8_t *copy = malloc(n); /* so that a read after its end is noticed */
        size_t size = n < file_size - at ? n : file_size - at;

        memcpy(copy, file + at, size);
        put(d, copy, size);
        memset(copy, 0x47, n);
        free(copy);
    }
    (void)end(d);
    expect_all(&whole);
}

static void expect_cut_at(size_t at)
{
    struct ts_demux *d = begin();

    put(d, file, at);
    put(d, file + at, file_size - at);
    (void)end(d);
    expect_all(&whole);
}

/* n packets are missing, with a report or without. */
static unsigned lose(size_t at, size_t n, bool tell)
{
    struct ts_demux *d = begin();

    put(d, file, at * PACKET);
    if (tell)
        ts_demux_hole(d);
    take(d);
    if ((at + n) * PACKET < file_size)
        put(d, file + (at + n) * PACKET, file_size - (at + n) * PACKET);
    (void)end(d);
    return expect_some(told.open_ends ? &told : &whole);
}

/* Maximum number of frames in one PES packet. */
static unsigned most_in_one(void)
{
    unsigned most = 1;

    for (int k = 0; k < 2; k++) {
        for (unsigned i = 1, n = 1; i < whole.n[k]; i++) {
            n = whole.frames[k][i].at == whole.frames[k][i - 1].at ? n + 1 : 1;
            most = n > most ? n : most;
        }
    }
    return most;
}

/* ffmpeg's PIDs. A reader that does not know that another stream begins takes it for more of the last one. */
static bool has_tables(size_t at, size_t n)
{
    for (; n > 0 && (at + 1) * PACKET <= file_size; at++, n--) {
        unsigned pid = (file[at * PACKET + 1] & 0x1fu) << 8 | file[at * PACKET + 2];

        if (pid == 0 || pid == 0x1000)
            return true;
    }
    return false;
}

/* Their counters restart where another stream begins, so a gap there must be reported. */
static void expect_holes_between_tables(void)
{
    static const size_t sizes[] = { 1, 2, 7 };

    for (size_t at = 0; at < file_size / PACKET; at++) {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            if (!has_tables(at, sizes[i]))
                (void)lose(at, sizes[i], true);
        }
    }
}

/* The packet from which on frame ends are known: before it, all of the first ones may be lost with the
 * missing packets. */
static size_t learned(void)
{
    size_t at = file_size / PACKET / 2;

    for (int k = 0; k < 2; k++) {
        if (whole.n[k] > 4 && whole.frames[k][4].at / PACKET > at)
            at = whole.frames[k][4].at / PACKET;
    }
    return at;
}

static void expect_holes(void)
{
    unsigned most = 2 * most_in_one(); /* one ends where it is missing, one begins there */
    size_t packets = file_size / PACKET, from = learned();

    for (size_t at = 0; at < packets; at++) {
        unsigned told_of = lose(at, 1, true), not = lose(at, 1, false);

        /* After a reported gap it takes three packets to synchronize. */
        if (at > from && at + 8 < packets)
            assert_true(told_of <= most && not <= most);
        (void)lose(at, 7, true);
        (void)lose(at, 16, true);
        (void)lose(at, 5, false);
    }
}

/* Bytes that are not TS, in front and between. */
static void expect_noise(size_t at)
{
    static const uint8_t noise[500] = { 0x47, 1, 2, 0x47, [187] = 0x47, [200] = 0x47, [388] = 0x47 };
    struct ts_demux *d = begin();
    struct ts_demux_stat s;

    put(d, noise, sizeof(noise));
    put(d, file, at * PACKET);
    put(d, noise, sizeof(noise));
    put(d, file + at * PACKET, file_size - at * PACKET);
    s = end(d);
    assert_in_range(s.skipped, 2 * sizeof(noise) - 2 * PACKET, 2 * sizeof(noise) + 2 * PACKET);
    (void)expect_some(told.open_ends ? &told : &whole);
}

/* Each packet twice, as [TS] 2.4.3.3 allows. */
static void expect_repeats(void)
{
    struct ts_demux *d = begin();
    struct ts_demux_stat s;

    for (size_t at = 0; at < file_size; at += PACKET) {
        put(d, file + at, PACKET);
        put(d, file + at, PACKET);
    }
    s = end(d);
    assert_true(s.repeated > 0 && (s.broken == 0 || told.open_ends));
    expect_all(&whole);
}

static void read_one(const char *name)
{
    size_t packets;

    print_message("  %s\n", name);
    load(name);
    packets = file_size / PACKET;
    expect_whole();
    for (size_t n = 1; n <= 3 * PACKET; n++)
        expect_in_messages_of(n);
    expect_in_messages_of(1316);
    expect_in_messages_of(1456);
    for (size_t at = 0; at < packets; at++)
        expect_cut_at(at * PACKET + at % PACKET);
    if (told.open_ends)
        expect_holes_between_tables();
    else
        expect_holes();
    for (size_t at = 0; at < packets; at += 7)
        expect_noise(at);
    expect_repeats();
}

static int is_ts(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return strncmp(e->d_name, "ts-", 3) == 0 && strcmp(e->d_name + n - 3, ".ts") == 0;
}

static void test_recorded(void **state)
{
    struct dirent **names;
    int n = scandir(folder, &names, is_ts, alphasort);

    (void)state;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        read_one(names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

/* TS_FOLDER=DIR: files there. */
int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_recorded) };

    if (getenv("TS_FOLDER"))
        folder = getenv("TS_FOLDER");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
