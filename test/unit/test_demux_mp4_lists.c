/* SPDX-License-Identifier: MIT */
/* test_demux_mp4_lists.c - MP4 files of another program, and lists of fragments. */
#include "mp4_files.h"

/* ------------------------------------------------------------ compared with another program */

enum { DATA_MAX = 32 * 1024 };

static size_t load(const char *name, const char *end, uint8_t *buf)
{
    char path[96];
    FILE *f;
    size_t n;

    (void)snprintf(path, sizeof(path), "test/data/mp4-ffmpeg-5.1-%s%s", name, end);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("no %s", path);
    n = fread(buf, 1, DATA_MAX, f);
    (void)fclose(f);
    assert_true(n < DATA_MAX);
    return n;
}

static bool is_near(int64_t a, int64_t b)
{
    return a - b <= 1 && b - a <= 1;
}

/* One line of the list is this sample. Rounding of times differs. */
static bool is_sample(const char *line, const struct demux_sample *s, int64_t zero)
{
    long long at, dts, pts;
    unsigned size, key;
    char track;

    assert_int_equal(sscanf(line, "%c %lld %u %lld %lld %u", &track, &at, &size, &dts, &pts, &key),
                     6);
    if (track != (s->track == DEMUX_VIDEO ? 'v' : 'a') || at != s->at)
        return false;
    if (size != s->size || !is_near(s->dts - zero, dts) || !is_near(s->dts + s->cts - zero, pts))
        fail_msg("%s: size %u dts %lld cts %d", line, s->size, (long long)(s->dts - zero), s->cts);
    assert_int_equal(key, s->track == DEMUX_VIDEO && s->key);
    return true;
}

static unsigned compare(const struct demux_group *g, int64_t zero, char *list)
{
    unsigned found = 0;

    for (unsigned i = 0; i < g->n; i++) {
        for (char *line = list; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (*line && is_sample(line, &g->v[i], zero)) {
                found++;
                break;
            }
        }
    }
    return found;
}

/* The index matches the content at each position. */
static void expect_place_time(const struct demux_index *x, const struct demux_group *g)
{
    int64_t pts, dts = demux_position_time(x, g->place, &pts);
    unsigned i = 0;

    while (demux_info(x)->tracks[DEMUX_VIDEO].codec && g->v[i].track != DEMUX_VIDEO)
        assert_true(++i < g->n);
    assert_true(dts == g->v[i].dts && pts == dts + g->v[i].cts);
    assert_true(demux_seek(x, pts) == g->place);
}

static void test_files_of_another_program(void **state)
{
    static const struct {
        const char *name;
        unsigned begins;
    } rows[] = {
        { "end.mp4", 3 }, { "front.mp4", 3 }, { "negative.mp4", 3 }, { "quicktime.mov", 3 },
        { "hevc-opus.mp4", 3 }, { "vp9-mp3.mp4", 3 }, { "audio.m4a", 3 }, { "fragments.mp4", 3 },
        { "fragments-edits.mp4", 3 }, { "fragments-behind.mp4", 3 },
        { "fragments-frames.mp4", 3 }, { "fragments-apart.mp4", 3 }, { "fragments-sidx.mp4", 3 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static uint8_t data[DATA_MAX], list[DATA_MAX];
        size_t size = load(rows[i].name, "", data);
        unsigned found = 0, samples = 0, begins = 0, lines = 0;
        struct demux_index *x;
        struct file f;
        const char *why;
        demux_position at;

        list[load(rows[i].name, ".txt", list)] = '\0';
        for (const uint8_t *p = list; *p; p++)
            lines += *p == '\n';
        file_init(&f, data, size);
        x = file_open(&f);
        at = demux_seek(x, 0);
        for (bool last = false; !last;) {
            struct demux_group *g;

            assert_int_equal(demux_group(&g, x, &f.in, at, &why), DEMUX_OK);
            if (g->starts)
                expect_place_time(x, g);
            found += compare(g, demux_info(x)->zero, (char *)list);
            samples += g->n;
            begins += g->starts;
            last = g->last;
            at = g->next;
            free(g);
        }
        if (found != samples || samples != lines || begins != rows[i].begins)
            fail_msg("%s: %u of %u found, %u begins", rows[i].name, found, samples, begins);
        assert_true(demux_info(x)->duration >= 297 * 900 && demux_info(x)->duration < 325 * 900);
        demux_close(x);
    }
}

/* All positions of a file, whether it lists them or each fragment must be read. */
static void expect_same_places(const struct demux_index *a, const struct demux_index *b)
{
    assert_int_equal(demux_info(a)->zero, demux_info(b)->zero);
    assert_int_equal(demux_info(a)->duration, demux_info(b)->duration);
    for (int64_t t = 0; t < 4 * 90000; t += 900)
        assert_true(demux_seek(a, t) == demux_seek(b, t));
}

static void test_lists_of_fragments(void **state)
{
    static const struct {
        const char *name, *list;
    } rows[] = {
        { "fragments.mp4", "mfra" }, { "fragments-edits.mp4", "mfra" },
        { "fragments-apart.mp4", "mfra" }, { "fragments-sidx.mp4", "sidx" },
        { "fragments-frames.mp4", "mfra" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static uint8_t data[DATA_MAX], other[DATA_MAX];
        size_t size = load(rows[i].name, "", data);
        struct demux_index *x, *y;
        struct file f;
        unsigned found = 0;

        memcpy(other, data, size);
        for (size_t at = 0; at + 4 <= size; at++) {
            if (memcmp(other + at, rows[i].list, 4) == 0 || memcmp(other + at, "mfro", 4) == 0) {
                memcpy(other + at, "free", 4);
                found++;
            }
        }
        assert_true(found > 0);
        file_init(&f, data, size);
        x = file_open(&f);
        file_init(&f, other, size);
        y = file_open(&f);
        expect_same_places(x, y);
        demux_close(x);
        demux_close(y);
    }
}

/* A wrong list is not trusted: each byte of it is changed in turn. */
static void test_lists_are_wrong(void **state)
{
    static const char *const names[] = { "fragments.mp4", "fragments-sidx.mp4" };
    static uint8_t data[DATA_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t size = load(names[i], "", data), from = 0, to = size;
        struct demux_index *x, *y;
        struct file f;

        file_init(&f, data, size);
        x = file_open(&f);
        while (memcmp(data + from, i ? "sidx" : "mfra", 4) != 0)
            from++;
        if (i)
            to = from + 0x34;
        for (size_t at = from; at < to; at++) {
            data[at] ^= 0x15;
            y = file_open(&f);
            expect_same_places(x, y);
            demux_close(y);
            data[at] ^= 0x15;
        }
        demux_close(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files_of_another_program), TEST(test_lists_of_fragments),
        TEST(test_lists_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
