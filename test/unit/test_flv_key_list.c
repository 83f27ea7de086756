/* SPDX-License-Identifier: MIT */
/* test_flv_key_list.c - lists of key frames in an FLV file's metadata, written in place. */
#include "demux_file.h"

#include "flv_file.h"
#include "format/flv/key_list.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 22, HEAD = 13 };

static void fill(struct flv_key_list *l, size_t max, unsigned n, unsigned apart)
{
    flv_key_list_init(l, max);
    for (unsigned i = 0; i < n; i++)
        flv_key_list_add(l, &(struct flv_key){ .at = 1000 + i, .ms = i * apart });
}

/* ---- kept key frames */

static const struct {
    const char *name;
    size_t max;
    unsigned n, apart; /* number of key frames, and ms between them */
    size_t kept;
    unsigned each;     /* one of n is kept */
} rows[] = {
    { "none", 10, 0, 1000, 0, 1 },
    { "one", 10, 1, 1000, 1, 1 },
    { "as many as there may be", 10, 10, 1000, 10, 1 },
    { "one more", 10, 11, 1000, 6, 2 },
    { "two more", 10, 12, 1000, 6, 2 },
    { "twice as many", 10, 20, 1000, 10, 2 },
    { "more than that", 10, 21, 1000, 6, 4 },
    { "an odd number", 9, 10, 1000, 5, 2 },
    { "many of an odd number", 9, 1000, 1000, 8, 128 },
    { "many", 7200, 100000, 1000, 6250, 16 },
    { "near to each other", 10, 20, 250, 10, 2 },
    { "of room for two", 2, 9, 1000, 2, 8 },
    { "of room for one", 1, 9, 1000, 0, 1 },
    { "of no room", 0, 9, 1000, 0, 1 },
};

static void the_rest_is_spread_evenly(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(rows); i++) {
        struct flv_key_list l;

        fill(&l, rows[i].max, rows[i].n, rows[i].apart);
        if (l.n != rows[i].kept)
            fail_msg("%s: %zu are kept", rows[i].name, l.n);
        for (size_t k = 0; k < l.n; k++) {
            if (l.v[k].at != 1000 + k * rows[i].each ||
                l.v[k].ms != k * rows[i].each * rows[i].apart)
                fail_msg("%s: number %zu is of %u ms", rows[i].name, k, l.v[k].ms);
        }
        flv_key_list_free(&l);
        assert_null(l.v);
        assert_int_equal(l.n, 0);
    }
}

static void times_do_not_fall(void **state)
{
    static const uint32_t ms[] = { 0, 1000, 200, 1499, 1500, UINT32_MAX, 5, UINT32_MAX };
    static const uint32_t kept[] = { 0, 1000, 1500, UINT32_MAX };
    struct flv_key_list l;

    (void)state;
    flv_key_list_init(&l, 10);
    for (unsigned i = 0; i < COUNT(ms); i++)
        flv_key_list_add(&l, &(struct flv_key){ .at = i, .ms = ms[i] });
    assert_int_equal(l.n, COUNT(kept));
    for (unsigned i = 0; i < COUNT(kept); i++)
        assert_int_equal(l.v[i].ms, kept[i]);
    flv_key_list_free(&l);
}

/* ---- its bytes */

static void as_large_as_was_said(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 7, FLV_KEYS_MAX };

    (void)state;
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        size_t room = flv_key_list_room(sizes[i]) + FLV_KEYS_SWITCH;
        struct flv_key_list l;
        struct wr w;

        fill(&l, sizes[i], (unsigned)sizes[i], 1000);
        wr_init(&w, room);
        assert_int_equal(flv_key_list_write(&l, &w), sizes[i] >= 2);
        assert_int_equal(w.len, sizes[i] >= 2 ? room : 0);
        assert_int_equal(flv_key_list_room(sizes[i]) % 9, 0);
        wr_free(&w);
        wr_init(&w, room - 1);
        assert_false(flv_key_list_write(&l, &w));
        wr_free(&w);
        flv_key_list_free(&l);
    }
}

static double number_at(const uint8_t *p)
{
    struct rd r = rd_init(p, 8);
    uint64_t bits = rd_u64(&r);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Rounded to milliseconds they are unchanged. */
static void milliseconds_are_whole(void **state)
{
    (void)state;
    for (uint32_t ms = 0; ms < 3600000; ms += 977) {
        struct flv_key_list l;
        struct wr w;

        flv_key_list_init(&l, 2);
        flv_key_list_add(&l, &(struct flv_key){ .at = 5, .ms = ms });
        flv_key_list_add(&l, &(struct flv_key){ .at = 7, .ms = ms + 1033 });
        wr_init(&w, LIMIT);
        assert_true(flv_key_list_write(&l, &w));
        assert_int_equal((uint32_t)(number_at(w.buf + w.len - 7 - 17) * 1000), ms);
        assert_int_equal((uint32_t)(number_at(w.buf + w.len - 7 - 8) * 1000), ms + 1033);
        wr_free(&w);
        flv_key_list_free(&l);
    }
}

/* ---- a file with such a list */

struct film {
    struct wr w;
    size_t keys_at;
    struct flv_key_list keys;
};

/* Metadata with room, and a film of some seconds, one GOP each. */
static void film_begin(struct film *f, unsigned seconds, size_t max)
{
    static const char meta[] = "\x02\x00\x0aonMetaData\x03\x00\x09keyframes\x06\x00\x00\x09";
    size_t size = sizeof(meta) - 1 + flv_key_list_room(max);
    uint8_t *body = calloc(1, size);

    assert_non_null(body);
    memcpy(body, meta, sizeof(meta) - 1);
    assert_memory_equal(body + sizeof(meta) - 1 - FLV_KEYS_SWITCH, flv_keys_undefined,
                        FLV_KEYS_SWITCH);
    flv_begin(&f->w, LIMIT);
    f->keys_at = HEAD + FLV_TAG_HEADER + sizeof(meta) - 1 - FLV_KEYS_SWITCH;
    flv_key_list_init(&f->keys, max);
    flv_tag(&f->w, FLV_DATA, 0, body, size);
    free(body);
    flv_configs(&f->w);
    for (unsigned i = 0; i < seconds * 10; i++) {
        if (i % 10 == 0) {
            flv_key_list_add(&f->keys, &(struct flv_key){ f->w.len, i * 100 });
            flv_key(&f->w, i * 100, 40);
        } else {
            flv_inter(&f->w, i * 100, 200);
        }
        flv_audio(&f->w, i * 100 + 50);
    }
}

static void film_end(struct film *f)
{
    wr_free(&f->w);
    flv_key_list_free(&f->keys);
}

/* Number of reads to open it; all samples are there, listed or not. */
static unsigned opened(const struct film *f, unsigned seconds)
{
    struct demux_index *x;
    struct walk_all all;
    struct file file;
    unsigned reads;

    file_init(&file, f->w.buf, f->w.len);
    x = file_open(&file);
    reads = file.reads;
    assert_int_equal(demux_info(x)->duration, AV_MS(seconds * 1000 + 10));
    walk_all(&all, x, &file);
    assert_int_equal(all.ended, DEMUX_OK);
    assert_int_equal(all.of[DEMUX_VIDEO], seconds * 10);
    assert_int_equal(all.of[DEMUX_AUDIO], seconds * 10);
    assert_int_equal(all.last[DEMUX_AUDIO], AV_MS(seconds * 1000 - 50));
    demux_close(x);
    return reads;
}

static void a_list_is_used(void **state)
{
    static const size_t max[] = { 600, 400, 150, 80 };

    (void)state;
    for (unsigned i = 0; i < COUNT(max); i++) {
        unsigned walked, listed;
        struct film f;
        struct wr w;

        film_begin(&f, 600, max[i]);
        walked = opened(&f, 600);
        wr_init(&w, LIMIT);
        assert_true(flv_key_list_write(&f.keys, &w));
        memcpy(f.w.buf + f.keys_at, w.buf, w.len);
        wr_free(&w);
        listed = opened(&f, 600);
        if (listed > 110 || walked < 400)
            fail_msg("list of %zu: %u reads with it, %u without", max[i], listed, walked);
        film_end(&f);
    }
}

/* If the machine stops in the middle: without the final write it is the old file. */
static void it_can_stop_at_any_byte(void **state)
{
    struct film f;
    struct wr w;

    (void)state;
    film_begin(&f, 5, 5);
    wr_init(&w, LIMIT);
    assert_true(flv_key_list_write(&f.keys, &w));
    for (size_t n = FLV_KEYS_SWITCH; n <= w.len; n++) {
        memcpy(f.w.buf + f.keys_at + FLV_KEYS_SWITCH, w.buf + FLV_KEYS_SWITCH, n - FLV_KEYS_SWITCH);
        (void)opened(&f, 5);
    }
    memcpy(f.w.buf + f.keys_at, w.buf, FLV_KEYS_SWITCH);
    (void)opened(&f, 5);
    wr_free(&w);
    film_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_spread_evenly),
        cmocka_unit_test(times_do_not_fall),
        cmocka_unit_test(as_large_as_was_said),
        cmocka_unit_test(milliseconds_are_whole),
        cmocka_unit_test(a_list_is_used),
        cmocka_unit_test(it_can_stop_at_any_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
