/* SPDX-License-Identifier: MIT */
/* test_vod_store.c - files on demand: names, opening, parts that are made and shared. */
#include "vod_groups.h"

#include "base/region.h"
#include "live/impl.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Opens files of vod_groups.h. */
enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why)
{
    return fake_open(out, in, limits, why);
}

/* ---- names */

static void which_are_files(void **state)
{
    static const struct {
        const char *app, *name, *path; /* NULL: invalid */
    } rows[] = {
        { "vod", "a.mp4", "a.mp4" },          { "vod", "a.MP4", "a.MP4" },
        { "vod", "a.m4v", "a.m4v" },          { "vod", "a.mov", "a.mov" },
        { "vod", "a.flv", "a.flv" },          { "vod", "a.FmP4", "a.FmP4" },
        { "vod/b/c", "a.mp4", "b/c/a.mp4" },  { "vod/", "a.mp4", "a.mp4" },
        { "vod", "b/a.mp4", "b/a.mp4" },      { "vod//b", "c//a.mp4", "b/c/a.mp4" },
        { "vod", "mp4:a", "a.mp4" },          { "vod", "mp4:a.mp4", "a.mp4" },
        { "vod", "mp4:b/a.mov", "b/a.mov" },  { "vod", "flv:a", "a.flv" },
        { "vod", "MP4:a.b", "a.b.mp4" },      { "vod", "a b.mp4", "a b.mp4" },
        { "vod", "..a.mp4", "..a.mp4" },      { "vod", "\xc3\xa4.mp4", "\xc3\xa4.mp4" },
        { "vod", "a", NULL },                 { "vod", "a.ts", NULL },
        { "vod", "a.mp4.txt", NULL },         { "vod", "", NULL },
        { "vod", ".mp4", NULL },              { "vod", "b/.mp4", NULL },
        { "vod", "mp4:", NULL },              { "vod", "mp4:/", NULL },
        { "live", "a.mp4", NULL },            { "vodx", "a.mp4", NULL },
        { "vo", "a.mp4", NULL },              { "", "a.mp4", NULL },
        { "vod", "../a.mp4", NULL },          { "vod", "b/../a.mp4", NULL },
        { "vod/..", "a.mp4", NULL },          { "vod/../x", "a.mp4", NULL },
        { "vod", "./a.mp4", NULL },           { "vod", "b/..", NULL },
        { "vod", "mp4:../a", NULL },          { "vod", "/etc/a.mp4", NULL },
        { "vod", "mp4:/etc/a", NULL },        { "vod", "%2e%2e/a.mp4", NULL },
        { "vod", "a%00.mp4", NULL },          { "vod", "a%.mp4", NULL },
        { "vod", "..\\a.mp4", NULL },         { "vod", "a\n.mp4", NULL },
        { "vod", "a\x7f.mp4", NULL },         { "vod/a\t", "a.mp4", NULL },
    };
    char path[VOD_PATH_MAX], name[2 * VOD_PATH_MAX];

    (void)state;
    (void)store_begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool is = vod_is_file(store_vhost, rows[i].app, rows[i].name, path);

        print_message("  %s %s\n", rows[i].app, rows[i].name);
        assert_int_equal(is, rows[i].path != NULL);
        if (is)
            assert_string_equal(path, rows[i].path);
    }
    memset(name, 'a', sizeof(name));
    for (size_t n = 250; n < sizeof(name); n += n < 260 ? 1 : 100) {
        (void)snprintf(name + n - 5, 6, ".mp4");
        assert_int_equal(vod_is_file(store_vhost, "vod", name, path), n - 1 <= 255);
        name[n - 1] = name[n - 2] = name[n - 3] = name[n - 4] = name[n - 5] = 'a';
    }
    for (size_t n = 0; n + 1 < sizeof(name); n++)
        name[n] = n % 2 ? '/' : 'a';
    for (size_t n = 1000; n < 1040; n++) {
        (void)snprintf(name + n, 7, "/b.mp4");
        (void)vod_is_file(store_vhost, "vod", name, path); /* a sanitizer checks its end */
        (void)snprintf(name + n, 7, "a/a/a/");
    }
    store_vhost->vod.enabled = false;
    assert_false(vod_is_file(store_vhost, "vod", "a.mp4", path));
    store_end();
}

/* ---- opening */

static void what_opens(void **state)
{
    static const struct {
        const char *path;
        enum err_code code;
    } rows[] = {
        { "a.mp4", ERR_OK },         { "d/b.mp4", ERR_OK },       { "link.mp4", ERR_OK },
        { "nix.mp4", ERR_NO_FILE },  { "d.mp4", ERR_NO_FILE },    { "pipe.mp4", ERR_NO_FILE },
        { "zero.mp4", ERR_NO_FILE }, { "out.mp4", ERR_NO_FILE },  { "up/passwd", ERR_NO_FILE },
        { "bad.mp4", ERR_UNSUPPORTED }, { "empty.mp4", ERR_UNSUPPORTED },
        { "huge.mp4", ERR_TOO_MANY },   { "grows.mp4", ERR_OK },
    };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    store_put("bad.mp4", "BAD ", small);
    store_put("grows.mp4.tmp", "FAKE", small);
    store_put("huge.mp4", "HUGE", small);
    assert_int_equal(mkdir(store_path("d"), 0755), 0);
    assert_int_equal(mkdir(store_path("d.mp4"), 0755), 0);
    store_put("d/b.mp4", "FAKE", small);
    assert_int_equal(symlink("d/b.mp4", store_path("link.mp4")), 0);
    assert_int_equal(symlink("/etc/passwd", store_path("out.mp4")), 0);
    assert_int_equal(symlink("/etc", store_path("up")), 0);
    assert_int_equal(symlink("/dev/zero", store_path("zero.mp4")), 0);
    assert_int_equal(mkfifo(store_path("pipe.mp4"), 0644), 0);
    assert_int_equal(fclose(fopen(store_path("empty.mp4"), "wb")), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].path);
        assert_err(vod_file_open(&f, store_env->vod, store_vhost, rows[i].path), rows[i].code);
        assert_int_equal(f != NULL, rows[i].code == ERR_OK);
        f = vod_file_unref(f);
    }
    assert_int_equal(atomic_load(&store_opened), 6); /* link.mp4 was open already */
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.files, 0);
    assert_int_equal(s.failed, 3);
    assert_true(s.index_bytes >= 2000);
    store_end();
}

/* The content decides, not the name; a changed file is another one. */
static void who_shares(void **state)
{
    struct vod_file *a, *b;
    struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    assert_int_equal(link(store_path("a.mp4"), "/nix/nix"), -1);
    a = open_file("a.mp4");
    b = open_file("a.mp4");
    assert_ptr_equal(a, b);
    assert_string_equal(vod_file_name(a), "a.mp4");
    assert_int_equal(vod_file_info(a)->duration, 90000);
    (void)vod_file_unref(b);
    (void)vod_file_unref(a);
    b = open_file("a.mp4"); /* its index is still there */
    assert_ptr_equal(a, b);
    assert_int_equal(atomic_load(&store_opened), 1);
    assert_int_equal(utimensat(AT_FDCWD, store_path("a.mp4"), times, 0), 0);
    a = open_file("a.mp4");
    assert_ptr_not_equal(a, b);
    assert_int_equal(atomic_load(&store_opened), 2);
    (void)vod_file_unref(a);
    (void)vod_file_unref(b);
    store_end();
}

struct opener {
    const char *name;
    struct vod_file *file;
    enum err_code code;
    bool done;
};

static err_t open_aside(void *arg)
{
    struct opener *o = arg;
    err_t err = vod_file_open(&o->file, store_env->vod, store_vhost, o->name);

    o->code = err_code(err);
    o->done = true;
    err_free(&err);
    o->file = vod_file_unref(o->file);
    return NULL;
}

/* One opening for all that come meanwhile; a player that leaves does not end it. */
static void who_waits_for_an_opening(void **state)
{
    struct opener v[5] = { { 0 } };
    struct co_group g;
    struct co *second = NULL;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    atomic_store(&store_gate, true);
    co_group_init(&g);
    for (size_t i = 0; i < COUNT(v); i++) {
        v[i].name = "a.mp4";
        assert_ok(co_go(&g, "opener", open_aside, &v[i]));
        second = i == 1 ? co_newest(&g) : second;
    }
    wait_for(&store_at_gate, 1);
    assert_ok(co_sleep(CO_MS(5)));
    co_stop(second, err_new(ERR_KICKED, "test"));
    for (int i = 0; i < 1000 && !v[1].done; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(v[1].code, ERR_KICKED);
    assert_false(v[0].done);
    atomic_store(&store_gate, false);
    assert_ok(co_group_wait(&g));
    for (size_t i = 0; i < COUNT(v); i++)
        assert_int_equal(v[i].code, i == 1 ? ERR_KICKED : ERR_OK);
    assert_int_equal(atomic_load(&store_opened), 1);
    store_end();
}

/* Unused indexes make room; those in use do not. */
static void how_many_open(void **state)
{
    struct vod_file *v[64], *more;
    char name[16];
    size_t n = 0;
    struct vod_stat s;
    err_t err = NULL;

    (void)state;
    (void)store_begin();
    store_vhost->vod.index_max = 16 * 1024;
    vod_reload(store_env->vod, store_env->conf, 1);
    for (int i = 0; i < 64; i++) {
        (void)snprintf(name, sizeof(name), "%d.mp4", i);
        store_put(name, "FAKE", (struct fake_head){ .groups = 1, .samples = 1, .size = 1 });
        (void)vod_file_unref(open_file(name));
        vod_stat(store_env->vod, &s);
        assert_true(s.index_bytes <= s.index_limit);
    }
    while (n < 64 && !err) {
        (void)snprintf(name, sizeof(name), "%zu.mp4", n);
        err = vod_file_open(&v[n], store_env->vod, store_vhost, name);
        n += !err;
    }
    assert_int_equal(err_code(err), ERR_TOO_MANY);
    err_free(&err);
    assert_true(n > 5 && n < 16);
    (void)vod_file_unref(v[--n]);
    more = open_file(name);
    (void)vod_file_unref(more);
    while (n > 0)
        (void)vod_file_unref(v[--n]);
    store_end();
}

/* ---- parts */

static bool is_wanted(unsigned i, const struct vod_wire_use *use)
{
    bool audio = i % 3 == 2;

    if (!(use->tracks & (audio ? VOD_TRACKS_AUDIO : VOD_TRACKS_VIDEO)))
        return false;
    return !use->keys_only || (!audio && i <= 1);
}

/* All parts of a file, one after the other, contain all requested samples. */
static unsigned walk(struct vod_file *f, const struct fake_head *h, const struct vod_wire_use *use)
{
    struct vod_at place = { 0 };
    struct player p = new_player();
    unsigned parts = 0, sample = 0, g = 0;
    int64_t dts = 0;
    bool last;

    do {
        const struct vod_part *part = store_get(f, use, place, &p);
        const struct vod_part *again = f->players > 1 ? store_get(f, use, place, &p) : NULL;
        size_t i = 0, mark = 0;

        if (again) {
            assert_ptr_equal(part, again);
            store_give(f, again);
        }
        assert_int_equal(part->starts, place.part == 0 && g % 2 == 0);
        while (i < part->size) {
            while (!is_wanted(sample, use))
                sample++;
            assert_int_equal(part->data[i] << 24 | part->data[i + 1] << 16 |
                             part->data[i + 2] << 8 | part->data[i + 3], h->size);
            for (size_t k = 0; k < h->size; k += k + 1000 < h->size ? 997 : 1)
                assert_int_equal(part->data[i + 4 + k],
                                 store_byte_at(store_byte_of(h, g, sample) + (int64_t)k));
            i += 4 + h->size;
            sample++;
        }
        assert_true(part->size <= VOD_PART + part->n * 8 || part->size <= 4 + h->size);
        for (; mark < part->n; mark++) {
            assert_true(part->marks[mark].dts >= dts);
            dts = part->marks[mark].dts;
        }
        assert_true(part->next_dts >= dts);
        if (part->n > 1)
            assert_true(part->next_dts - part->dts <= av_from_us(VOD_TURN_MOST) / 8 * 7);
        if (part->n > 0) {
            assert_int_equal(part->dts, part->marks[0].dts);
            assert_int_equal(part->marks[part->n - 1].end, part->size);
        }
        last = part->last;
        parts++;
        if (part->next.place != place.place) {
            while (sample < h->samples)
                assert_false(is_wanted(sample++, use));
            sample = 0;
            g++;
        }
        place = part->next;
        vod_part_put(f, part, f->players == 1);
    } while (!last);
    assert_int_equal(g, h->groups);
    return parts;
}

static void what_parts_are(void **state)
{
    const struct {
        struct fake_head h;
        struct vod_wire_use use;
        unsigned parts;
    } rows[] = {
        { { .groups = 3, .samples = 10, .size = 100 }, both, 3 },
        { { .groups = 1, .samples = 1, .size = 1 }, both, 1 },
        { { .groups = 2, .samples = 0, .size = 1 }, both, 2 },
        { { .groups = 2, .samples = 30, .size = 32 * 1024 }, both, 20 },
        { { .groups = 1, .samples = 30, .size = 32 * 1024 + 1 }, both, 15 },
        { { .groups = 1, .samples = 3, .size = 64 * 1024 }, both, 3 },
        { { .groups = 1, .samples = 3, .size = 200 * 1024 }, both, 3 },
        { { .groups = 1, .samples = 3, .size = 2000 * 1024 }, both, 3 },
        { { .groups = 2, .samples = DEMUX_GROUP_MAX, .size = 1 }, both, 138 },
        { { .groups = 1, .samples = DEMUX_GROUP_MAX, .size = 64 }, both, 69 },
        { { .groups = 2, .samples = 28, .size = 10 }, both, 2 }, /* 290 ms */
        { { .groups = 2, .samples = 31, .size = 10 }, both, 4 },
        { { .groups = 1, .samples = 30, .size = 32 * 1024 },
          { .wire = &plain, .tracks = VOD_TRACKS_VIDEO }, 10 },
        { { .groups = 1, .samples = 30, .size = 5000 },
          { .wire = &plain, .tracks = VOD_TRACKS_AUDIO }, 2 },
        { { .groups = 2, .samples = 30, .size = 32 * 1024 },
          { .wire = &plain, .tracks = BOTH, .keys_only = true }, 2 },
        { { .groups = 2, .samples = 28, .size = 100 }, { .wire = &plain }, 2 },
    };

    (void)state;
    (void)store_begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vod_file *f;
        struct vod_stat s;

        print_message("  %u of %u\n", rows[i].h.samples, rows[i].h.size);
        store_put("a.mp4", "FAKE", rows[i].h);
        f = open_file("a.mp4");
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        atomic_store(&store_cold, true); /* once more by helper threads */
        vod_cache_forget(store_env->vod, f);
        vod_stat(store_env->vod, &s);
        assert_int_equal(s.cache_bytes, 0);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        atomic_store(&store_cold, false);
        f->way = VOD_IS_ELSEWHERE; /* and over a network, for example */
        vod_cache_forget(store_env->vod, f);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        f->way = VOD_IS_MEMORY;
        vod_cache_forget(store_env->vod, f);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        f->players = 1; /* a single player */
        vod_cache_forget(store_env->vod, f);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        f->players = 2;
        assert_int_equal(region_stat().used, 0);
        (void)vod_file_unref(f);
    }
    store_end();
}

/* Players with another wire, tracks, round or parameter have separate parts. */
static void who_shares_parts(void **state)
{
    const struct vod_wire_use uses[] = {
        both, { .wire = &other, .tracks = BOTH }, { .wire = &plain, .tracks = VOD_TRACKS_VIDEO },
        { .wire = &plain, .tracks = BOTH, .keys_only = true },
        { .wire = &plain, .tracks = BOTH, .round = 1 },
        { .wire = &plain, .tracks = BOTH, .param = { 0, 0, 1 } },
    };
    const struct vod_part *parts[COUNT(uses)];
    struct player p = new_player();
    struct vod_numbers from = { .tracks[DEMUX_VIDEO].seq = 65535, .tracks[DEMUX_AUDIO].seq = 7 };
    const struct vod_part *part = NULL;
    struct vod_file *f;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    for (size_t i = 0; i < COUNT(uses); i++) {
        parts[i] = store_get(f, &uses[i], (struct vod_at){ 0 }, &p);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(parts[i], parts[k]);
    }
    for (size_t i = 0; i < COUNT(uses); i++) {
        assert_ptr_equal(store_get(f, &uses[i], (struct vod_at){ 0 }, &p), parts[i]);
        store_give(f, parts[i]);
        store_give(f, parts[i]);
    }
    /* A new part begins with the numbers of its requester; then all share it. */
    assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = 1 }, &from, &p.wait, &part),
                     VOD_READY);
    assert_int_equal(part->begin.tracks[DEMUX_VIDEO].seq, 65535);
    assert_int_equal(part->end.tracks[DEMUX_VIDEO].seq, 6); /* 7 of 10 */
    assert_int_equal(part->end.tracks[DEMUX_AUDIO].seq, 10);
    assert_ptr_equal(store_get(f, &both, (struct vod_at){ .place = 1 }, &p), part);
    store_give(f, part);
    store_give(f, part);
    (void)vod_file_unref(f);
    store_end();
}

/* A part with a single player is not kept after it is sent, and others in memory of their size. */
static void what_one_has_alone(void **state)
{
    struct player p = new_player();
    struct vod_at place = { 0 };
    const struct vod_part *part;
    uint8_t first[64];
    struct vod_file *f;
    struct vod_stat s;
    size_t group;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", (struct fake_head){ .groups = 1, .samples = 28, .size = 1000 });
    f = open_file("a.mp4");
    f->players = 1;
    vod_part_put(f, store_get(f, &both, place, &p), true);
    vod_stat(store_env->vod, &s);
    group = s.cache_bytes;
    assert_in_range(group, 1, 8000); /* its samples are known */
    part = store_get(f, &both, place, &p);
    memcpy(first, part->data, sizeof(first));
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.parts_made, 2);
    assert_true(s.cache_bytes > group + part->size);
    store_give(f, part); /* the peer has read some of it */
    vod_stat(store_env->vod, &s);
    assert_in_range(s.cache_bytes, group + 28000, group + 32000);
    assert_int_equal(region_stat().used, 0);
    part = store_get(f, &both, place, &p);
    assert_memory_equal(part->data, first, sizeof(first));
    assert_int_equal(part->n, 27);
    assert_int_equal(part->marks[26].end, part->size);
    f->players = 2; /* another one comes, and gets the same part */
    assert_ptr_equal(store_get(f, &both, place, &p), part);
    store_give(f, part);
    vod_part_put(f, part, true);
    assert_ptr_equal(store_get(f, &both, place, &p), part);
    store_give(f, part);
    vod_stat(store_env->vod, &s);
    assert_int_equal(s.parts_made, 2);
    assert_int_equal(s.parts_shared, 3);
    (void)vod_file_unref(f);
    store_end();
}

/* The next second of a file is in memory, or requested, and not checked with each part. */
static void what_is_ahead(void **state)
{
    enum { SECOND = 256 * 1024 }; /* at least */
    const struct vod_wire_use pictures = { .wire = &plain, .tracks = VOD_TRACKS_VIDEO };
    struct fake_head h = { .groups = 100, .samples = 30, .size = 1000 };
    struct player p = new_player();
    int64_t *there = &p.wait.there[DEMUX_VIDEO], before = 0;
    unsigned looks = 0;
    struct vod_file *f;

    (void)state;
    (void)store_begin();
    store_put("a.mp4", "FAKE", h);
    f = open_file("a.mp4");
    f->way = VOD_TELLS;
    for (unsigned i = 0; i < h.groups; i++) {
        int64_t end = store_byte_of(&h, i + 1, 0);

        store_give(f, store_get(f, &both, (struct vod_at){ .place = i }, &p));
        if (end < f->size)
            assert_in_range(*there - end, SECOND, 5 * SECOND);
        looks += *there != before;
        before = *there;
    }
    assert_in_range(looks, 3, 5);
    store_give(f, store_get(f, &pictures, (struct vod_at){ 0 }, &p)); /* back to the start */
    assert_int_equal(*there - store_byte_of(&h, 0, 29), 4 * SECOND);
    (void)vod_file_unref(f);
    store_end();
}

/* ---- files outside of the page cache */

/* Old, and outside of the page cache. */
static struct vod_file *open_cold(const char *name, struct fake_head h)
{
    const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    struct vod_file *f;
    int fd;

    store_put(name, "FAKE", h);
    fd = open(store_path(name), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(futimens(fd, old), 0);
    f = open_file(name);
    f->players = 1;
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(close(fd), 0);
    return f;
}

/* All of it is right and is read once, from the disk as from the page cache, in parts of any
 * size. */
static void cold_files(void **state)
{
    static const struct fake_head rows[] = {
        { .groups = 20, .samples = 30, .size = 8000 },
        { .groups = 3, .samples = 3, .size = 400 * 1024 },
        { .groups = 2, .samples = 3, .size = 2000 * 1024 },
        { .groups = 1, .samples = 1, .size = 1 },
    };

    (void)state;
    (void)store_begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vod_file *f = open_cold("a.mp4", rows[i]);
        struct vod_stat before, s;

        vod_stat(store_env->vod, &before);
        (void)walk(f, &rows[i], &both);
        vod_stat(store_env->vod, &s);
        assert_in_range(s.read_bytes - before.read_bytes, f->size - HEAD, f->size * 5 / 4);
        vod_cache_forget(store_env->vod, f);
        (void)walk(f, &rows[i], &both);
        (void)vod_file_unref(f);
    }
    store_end();
}

/* A cache without room for a part. */
static void small_caches(void **state)
{
    const struct fake_head h = { .groups = 5, .samples = 30, .size = 8000 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)store_begin();
    for (int64_t cache = 1; cache < 8 << 20; cache *= 100) {
        store_vhost->vod.cache = cache;
        vod_reload(store_env->vod, store_env->conf, 1);
        f = open_cold("a.mp4", h);
        (void)walk(f, &h, &both);
        vod_stat(store_env->vod, &s);
        assert_true(s.cache_bytes <= (uint64_t)cache);
        (void)vod_file_unref(f);
    }
    store_end();
}

/* From position to position in a cold file, with a pending read when the player, the file or the server
 * ends. */
static void cold_seeks(void **state)
{
    const struct fake_head h = { .groups = 40, .samples = 30, .size = 8000 };
    struct player p = new_player();
    const struct vod_part *part;
    struct vod_file *f;

    (void)state;
    (void)store_begin();
    for (unsigned way = 0; way < 4; way++) {
        f = open_cold("a.mp4", h);
        for (unsigned i = 0; i < 50; i++) {
            struct vod_at to = { .place = i * 17 % h.groups };

            part = store_get(f, &both, to, &p);
            assert_int_equal(part->data[4], store_byte_at(store_byte_of(&h, to.place, 0)));
            store_give(f, part);
        }
        vod_cache_forget(store_env->vod, f);
        if (vod_part_get(f, &both, &(struct vod_at){ .place = 39 }, &none, &p.wait, &part) ==
            VOD_READY)
            store_give(f, part);
        if (way == 1)
            assert_ok(co_sleep(CO_MS(3)));
        if (way < 2)
            store_give(f, store_get(f, &both, (struct vod_at){ .place = 39 }, &p));
        vod_wait_end(&p.wait);
        (void)vod_file_unref(f);
        if (way == 3)
            break; /* and the server ends */
        for (int i = 0; i < 5000 && f->refs > 0; i++)
            assert_ok(co_sleep(CO_MS(1)));
    }
    vod_free(store_env->vod);
    env_free(&store_env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(which_are_files),
        IN_DIR(what_opens),
        IN_DIR(who_shares),
        IN_DIR(who_waits_for_an_opening),
        IN_DIR(how_many_open),
        IN_DIR(what_parts_are),
        IN_DIR(who_shares_parts),
        IN_DIR(what_one_has_alone),
        IN_DIR(what_is_ahead),
        IN_DIR(cold_files),
        IN_DIR(small_caches),
        IN_DIR(cold_seeks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
