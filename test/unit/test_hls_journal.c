/* SPDX-License-Identifier: MIT */
/* test_hls_journal.c - the journal of a stream's files, written and read back. */
#include "sink/hls/store/journal.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES "hls-journal 1 HLS __defaultVhost__ live s .\n"
#define INIT "init 1 live/s/init.mp4 0 0 - 0 0 0 0 0 .\n"
#define KEY "key 2 live/s-0.key .\n"
#define IV " 000102030405060708090a0b0c0d0e0f "
#define SEGMENT "segment 3 live/s-0.m4s 7 180000 1795341590806 1 59188 1 2" IV "0 0 0 .\n"
#define LIST "list 7 1 2 0 1795341590807 .\n"

/* ------------------------------------------------------------ lines */

static const struct {
    const char *what, *line; /* after NAMES, INIT and KEY */
    size_t files;            /* then this many exist */
} rows[] = {
    { "a segment", SEGMENT, 3 },
    { "a torn one", "segment 3 live/s-0.m4s 7 180000 1795341590806 1 59188 1 2" IV "0 0 0 .", 2 },
    { "torn, and more behind it", "segment 3 live/s-0.m4s 7 18" SEGMENT, 2 },
    { "and a whole one behind that", "segment 3 live/s-0.m4s 7 18\n" SEGMENT, 3 },
    { "without its dot", "key 3 live/s-1.key\n", 2 },
    { "the dot of a torn path", "key 3 .\n", 2 },
    { "of a version to come", "thing 3 live/s-0.m4s .\n", 2 },
    { "a field too much", "key 3 live/s-1.key 5 .\n", 2 },
    { "an empty field", "key 3  .\n", 2 },
    { "an id again", "key 2 live/s-1.key .\n", 2 },
    { "no id", "key 0 live/s-1.key .\n", 2 },
    { "ids may have holes", "key 99 live/s-1.key .\n", 3 },
    { "a number that is none", "key 3x live/s-1.key .\n", 2 },
    { "a large number", "key 99999999999999999999 live/s-1.key .\n", 2 },
    { "an init that is not there", "segment 3 a.ts 7 1 1 1 1 9 0" IV "0 0 0 .\n", 2 },
    { "a key for an init", "segment 3 a.ts 7 1 1 1 1 2 0" IV "0 0 0 .\n", 2 },
    { "no vector", "segment 3 a.ts 7 1 1 1 1 0 0 - 0 0 0 .\n", 3 },
    { "half a vector", "segment 3 a.ts 7 1 1 1 1 0 0 0001 0 0 0 .\n", 2 },
    { "days in a segment", "segment 3 a.ts 7 99999999999 1 1 1 0 0" IV "0 0 0 .\n", 2 },
    { "above the folder", "key 3 ../s.key .\n", 2 },
    { "above it by the middle", "key 3 live/../../s.key .\n", 2 },
    { "above it in the end", "key 3 live/.. .\n", 2 },
    { "above it in hex", "key 3 %2E%2E/s.key .\n", 2 },
    { "from the root", "key 3 /etc/passwd .\n", 2 },
    { "the folder", "key 3 live/ .\n", 2 },
    { "a name of dots", "key 3 live/... .\n", 3 },
    { "a hidden name", "key 3 live/.s .\n", 3 },
    { "nothing", "key 3 - .\n", 2 },
    { "a byte of nothing", "key 3 a%00b .\n", 2 },
    { "a line in a name", "key 3 a%0Ab .\n", 2 },
    { "half an escape", "key 3 a%2 .\n", 2 },
    { "no escape", "key 3 a%zz .\n", 2 },
    { "codecs that end their attribute", "init 3 a.mp4 1 90000 x\"/> 0 0 0 0 0 .\n", 2 },
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct journal j;
        char text[512];
        int n = snprintf(text, sizeof(text), NAMES INIT KEY "%s", rows[i].line);

        print_message("  %s\n", rows[i].what);
        assert_true(journal_read(&j, text, (size_t)n));
        assert_int_equal(j.n, rows[i].files);
        journal_free(&j);
    }
}

static void test_no_journal(void **state)
{
    static const char *const none[] = {
        "", "\n", "#EXTM3U\n", "hls-journal 1 HLS v live s .", "hls-journal 2 HLS v live s .\n",
        "hls-journal 1 HLS v live .\n", "hls-journal 1 HLS v live s t .\n", KEY NAMES,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++) {
        struct journal j;

        assert_false(journal_read(&j, none[i], strlen(none[i])));
        journal_free(&j);
    }
}

/* ------------------------------------------------------------ round trip */

static void test_round_trip(void **state)
{
    const struct journal_names names = { "DASH", "-", "", "a b%c\xc3\xa9" };
    struct journal_file init = { .what = JOURNAL_INIT, .id = 5, .path = "live/my s/init.mp4",
                                 .track = { .video = true, .codecs = "avc1.64001f",
                                            .timescale = 90000, .width = 1280, .height = 720,
                                            .fps = 29.97, .rate = 1, .channels = 2 } };
    struct journal_file key = { .what = JOURNAL_KEY, .id = 4, .path = "k" };
    struct journal_file seg = { .what = JOURNAL_SEGMENT, .id = 6, .key = 4, .path = ".../x.m4s", .seq = 12,
                                .init = 5, .duration = 180000, .wall = 1795341590806,
                                .period = 1795341590000, .discontinuity = true, .bytes = 4711,
                                .iv = { 1, 2, 255 }, .begin = 90001, .lasts = 180002 };
    const struct journal_list list = { 12, 3, 4, 1795341590000, 1795341590807 };
    const struct journal_file *f;
    struct journal j;
    struct wr w;

    (void)state;
    wr_init(&w, 1 << 16);
    journal_put_names(&w, &names);
    journal_put_file(&w, &key);
    journal_put_file(&w, &init);
    journal_put_file(&w, &seg);
    journal_put_list(&w, &list);
    assert_true(journal_read(&j, (const char *)w.buf, w.len));
    assert_string_equal(j.kind, "DASH");
    assert_string_equal(j.vhost, "-");
    assert_string_equal(j.app, "");
    assert_string_equal(j.stream, names.stream);
    assert_memory_equal(&j.list.first, &list.first, sizeof(list.first));
    assert_int_equal(j.list.now, list.now);
    f = journal_find(&j, 5);
    assert_string_equal(f->path, init.path);
    assert_string_equal(f->track.codecs, init.track.codecs);
    assert_true(f->track.fps > 29.96 && f->track.fps < 29.98);
    f = journal_find(&j, 6);
    assert_string_equal(f->path, seg.path);
    assert_memory_equal(f->iv, seg.iv, sizeof(seg.iv));
    assert_int_equal(f->period, seg.period);
    assert_int_equal(f->begin + f->lasts, seg.begin + seg.lasts);
    assert_null(journal_find(&j, 7));
    journal_free(&j);
    wr_free(&w);
}

static void test_forget(void **state)
{
    static const char text[] = NAMES INIT KEY SEGMENT "forget 2 .\nforget 9 .\nforget 3 ..\n" LIST;
    struct journal j;

    (void)state;
    assert_true(journal_read(&j, text, strlen(text)));
    assert_int_equal(j.n, 3);
    assert_true(journal_find(&j, 1) && !journal_find(&j, 2) && journal_find(&j, 3));
    assert_int_equal(j.list.first, 7);
    assert_int_equal(j.list.target, 2);
    journal_free(&j);
}

/* Killed at any byte: all complete lines count, an incomplete one does not. */
static void test_cut_at_every_byte(void **state)
{
    static const char text[] = NAMES INIT KEY SEGMENT LIST "forget 3 .\n" SEGMENT;

    (void)state;
    for (size_t n = 0; n < strlen(text); n++) {
        char *part = malloc(n ? n : 1); /* so that a read after its end is noticed */
        size_t lines = 0, files;
        struct journal j;

        memcpy(part, text, n);
        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
        files = lines < 2 ? 0 : lines < 4 ? lines - 1 : 3;
        assert_int_equal(journal_read(&j, part, n), lines > 0);
        assert_int_equal(j.n, files);
        assert_int_equal(j.list.first, lines >= 5 ? 7 : 0);
        journal_free(&j);
        free(part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines), TEST(test_no_journal), TEST(test_round_trip), TEST(test_forget),
        TEST(test_cut_at_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
