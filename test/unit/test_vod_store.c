/* SPDX-License-Identifier: MIT */
/* test_vod_store.c - files on demand: names, what is opened, parts that are made and shared, who
 * waits for a disk; over a demuxer of the test's own. */
#include "av/packet.h"
#include "base/must.h"
#include "base/region.h"
#include "live/impl.h"
#include "session/env.h"
#include "unit.h"
#include "vod/store.h"
#include "vod_idle.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a demuxer: a head, then groups of samples, every third of sound */

enum { HEAD = 4096, ZERO = 90 };

struct fake_head {
    char magic[4]; /* "FAKE", "HUGE": over its limit */
    uint32_t groups, samples, size;
};

struct demux_index {
    struct fake_head head;
    struct demux_info info;
};

static atomic_int opened, grouped; /* by helper threads */
static atomic_bool cold;           /* groups are not in memory */
static atomic_bool gate;           /* closed: helper threads stand in front of it */
static atomic_int at_gate;
static pthread_t ours;

static void pass_gate(void)
{
    atomic_fetch_add(&at_gate, 1);
    for (int i = 0; i < 20000 && atomic_load(&gate); i++)
        (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    atomic_fetch_sub(&at_gate, 1);
}

enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why)
{
    struct demux_index *x = must(calloc(1, sizeof(*x)));
    ssize_t n = in->read(in, 0, &x->head, sizeof(x->head));

    *out = NULL;
    assert_false(pthread_equal(pthread_self(), ours));
    atomic_fetch_add(&opened, 1);
    pass_gate();
    x->info = (struct demux_info){
        .format = "fake", .zero = ZERO, .duration = 90000, .kbps = 100, .memory = 1000,
        .tracks = { { .codec = AV_H264 }, { .codec = AV_AAC } },
    };
    if (n == sizeof(x->head) && memcmp(x->head.magic, "FAKE", 4) == 0 &&
        limits->index_max >= x->info.memory) {
        *out = x;
        return DEMUX_OK;
    }
    *why = "it is not what it seems";
    n = n == sizeof(x->head) && memcmp(x->head.magic, "BAD ", 4) != 0;
    free(x);
    return n ? DEMUX_TOO_LARGE : DEMUX_BROKEN;
}

void demux_close(struct demux_index *index)
{
    free(index);
}

const struct demux_info *demux_info(const struct demux_index *index)
{
    return &index->info;
}

demux_place demux_seek(const struct demux_index *index, int64_t time)
{
    (void)index;
    (void)time;
    return 0;
}

int64_t demux_place_time(const struct demux_index *index, demux_place place, int64_t *pts)
{
    return *pts = (int64_t)place * index->head.samples * 900;
}

static int64_t byte_of(const struct fake_head *h, demux_place g, unsigned i)
{
    return HEAD + ((int64_t)g * h->samples + i) * h->size;
}

enum demux_status demux_group(struct demux_group **out, const struct demux_index *x,
                              const struct demux_input *in, demux_place place, const char **why)
{
    struct demux_group *g;
    uint8_t c;

    *why = "the group is broken";
    if (pthread_equal(pthread_self(), ours) && atomic_load(&cold))
        return DEMUX_AGAIN;
    if (!pthread_equal(pthread_self(), ours)) {
        atomic_fetch_add(&grouped, 1);
        pass_gate();
    }
    if (place >= x->head.groups)
        return DEMUX_END;
    switch (x->head.samples ? in->read(in, byte_of(&x->head, place, 0), &c, 1) : 1) {
    case 1:
        break;
    case -1:
        return DEMUX_AGAIN;
    default:
        return DEMUX_BROKEN;
    }
    g = must(calloc(1, sizeof(*g) + x->head.samples * sizeof(g->v[0])));
    g->place = place;
    g->next = place + 1;
    g->last = place + 1 == x->head.groups;
    g->starts = place % 2 == 0;
    g->n = x->head.samples;
    for (unsigned i = 0; i < g->n; i++)
        g->v[i] = (struct demux_sample){ .at = byte_of(&x->head, place, i), .size = x->head.size,
                                         .track = i % 3 == 2, .key = i == 0, .config = i == 1,
                                         .dts = ((int64_t)place * g->n + i) * 900 };
    *out = g;
    return DEMUX_OK;
}

bool demux_packet(const struct demux_index *index, const struct demux_sample *s,
                  struct av_packet *pkt)
{
    (void)index;
    pkt->dts = s->dts;
    pkt->kind = s->track == DEMUX_VIDEO ? AV_VIDEO : AV_AUDIO;
    pkt->key = s->key;
    pkt->config = s->config;
    return true;
}

/* ---- a wire: each sample as its size and its bytes */

static void *plain_open(const struct vod_wire_use *use, const struct demux_info *info, bool starts,
                        const struct vod_numbers *from)
{
    struct vod_numbers *state = must(malloc(sizeof(*state)));

    (void)use;
    (void)starts;
    assert_int_equal(info->zero, ZERO);
    *state = *from;
    return state;
}

static void plain_make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct vod_numbers *n = state;

    n->tracks[pkt->kind == AV_AUDIO].seq++;
    wr_u32(out, pkt->size);
    wr_bytes(out, pkt->data, pkt->size);
}

static void plain_close(void *state, struct vod_numbers *to)
{
    *to = *(struct vod_numbers *)state;
    free(state);
}

static const struct vod_wire plain = { "plain", plain_open, plain_make, plain_close };

enum { BOTH = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO };

static const struct vod_wire_use both = { .wire = &plain, .tracks = BOTH };
static const struct vod_numbers none;

/* ---- a server with nothing else */

static struct conf_vhost vhost;
static struct conf conf;
static struct session_env env;

static struct vod *begin(void)
{
    vhost = (struct conf_vhost){ .vod = { .enabled = true, .app = "vod", .dir = dir,
                                          .cache = 64 << 20, .index_max = 1 << 20,
                                          .readers = 4 } };
    conf.vhost = (struct conf_vhosts){ &vhost, 1 };
    env = (struct session_env){ .conf = &conf, .streams = live_registry_new() };
    ours = pthread_self();
    atomic_store(&gate, false);
    atomic_store(&cold, false);
    atomic_store(&opened, 0);
    atomic_store(&grouped, 0);
    return env.vod = vod_new(env.streams, env.conf, 1);
}

static void end(void)
{
    vod_end_idle(env.vod);
    assert_int_equal(live_registry_memory(env.streams)->used, 0);
    live_registry_free(env.streams);
}

static const char *at(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static uint8_t byte_at(int64_t i)
{
    return (uint8_t)(i * 7 + (i >> 13));
}

static void put(const char *name, const char *magic, struct fake_head head)
{
    FILE *f = fopen(at(name), "wb");

    assert_non_null(f);
    memcpy(head.magic, magic, 4);
    assert_int_equal(fwrite(&head, sizeof(head), 1, f), 1);
    for (int64_t i = sizeof(head); i < byte_of(&head, head.groups, 0); i++)
        (void)fputc(byte_at(i), f);
    assert_int_equal(fclose(f), 0);
}

static struct vod_file *open_file(const char *name)
{
    struct vod_file *f = NULL;

    assert_ok(vod_file_open(&f, env.vod, &vhost, name));
    assert_non_null(f);
    f->players = 2; /* so what one of them has is kept */
    return f;
}

/* ---- one that plays */

struct player {
    struct vod_wait wait;
    int calls;
};

static void on_part(struct vod_wait *w)
{
    ((struct player *)w)->calls++;
}

static struct player new_player(void)
{
    return (struct player){ .wait.on_part = on_part };
}

static void wait_for(const atomic_int *what, int n)
{
    for (int i = 0; i < 10000 && atomic_load(what) < n; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_true(atomic_load(what) >= n);
}

static void wait_called(const struct player *p, int n)
{
    for (int i = 0; i < 10000 && p->calls < n; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(p->calls, n);
}

static const struct vod_part *get(struct vod_file *f, const struct vod_wire_use *use,
                                  struct vod_at place, struct player *p)
{
    const struct vod_part *part = NULL;
    enum vod_got got = vod_part_get(f, use, &place, &none, &p->wait, &part);

    if (got == VOD_WAIT) {
        wait_called(p, p->calls + 1);
        got = vod_part_get(f, use, &place, &none, &p->wait, &part);
    }
    assert_int_equal(got, VOD_READY);
    assert_non_null(part);
    return part;
}

static void give(struct vod_file *f, const struct vod_part *part)
{
    vod_part_put(f, part, false);
}

/* ---- names */

static void which_are_files(void **state)
{
    static const struct {
        const char *app, *name, *path; /* NULL: it is none */
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
    (void)begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool is = vod_is_file(&vhost, rows[i].app, rows[i].name, path);

        print_message("  %s %s\n", rows[i].app, rows[i].name);
        assert_int_equal(is, rows[i].path != NULL);
        if (is)
            assert_string_equal(path, rows[i].path);
    }
    memset(name, 'a', sizeof(name));
    for (size_t n = 250; n < sizeof(name); n += n < 260 ? 1 : 100) {
        (void)snprintf(name + n - 5, 6, ".mp4");
        assert_int_equal(vod_is_file(&vhost, "vod", name, path), n - 1 <= 255);
        name[n - 1] = name[n - 2] = name[n - 3] = name[n - 4] = name[n - 5] = 'a';
    }
    for (size_t n = 0; n + 1 < sizeof(name); n++)
        name[n] = n % 2 ? '/' : 'a';
    for (size_t n = 1000; n < 1040; n++) {
        (void)snprintf(name + n, 7, "/b.mp4");
        (void)vod_is_file(&vhost, "vod", name, path); /* a sanitizer looks at its end */
        (void)snprintf(name + n, 7, "a/a/a/");
    }
    vhost.vod.enabled = false;
    assert_false(vod_is_file(&vhost, "vod", "a.mp4", path));
    end();
}

/* ---- opening */

static const struct fake_head small = { .groups = 2, .samples = 10, .size = 100 };

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
    (void)begin();
    put("a.mp4", "FAKE", small);
    put("bad.mp4", "BAD ", small);
    put("grows.mp4.tmp", "FAKE", small);
    put("huge.mp4", "HUGE", small);
    assert_int_equal(mkdir(at("d"), 0755), 0);
    assert_int_equal(mkdir(at("d.mp4"), 0755), 0);
    put("d/b.mp4", "FAKE", small);
    assert_int_equal(symlink("d/b.mp4", at("link.mp4")), 0);
    assert_int_equal(symlink("/etc/passwd", at("out.mp4")), 0);
    assert_int_equal(symlink("/etc", at("up")), 0);
    assert_int_equal(symlink("/dev/zero", at("zero.mp4")), 0);
    assert_int_equal(mkfifo(at("pipe.mp4"), 0644), 0);
    assert_int_equal(fclose(fopen(at("empty.mp4"), "wb")), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].path);
        assert_err(vod_file_open(&f, env.vod, &vhost, rows[i].path), rows[i].code);
        assert_int_equal(f != NULL, rows[i].code == ERR_OK);
        f = vod_file_unref(f);
    }
    assert_int_equal(atomic_load(&opened), 6); /* link.mp4 was open already */
    vod_stat(env.vod, &s);
    assert_int_equal(s.files, 0);
    assert_int_equal(s.failed, 3);
    assert_true(s.index_bytes >= 2000);
    end();
}

/* A file is what it is, not its name; one that has changed is another. */
static void who_shares(void **state)
{
    struct vod_file *a, *b;
    struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", small);
    assert_int_equal(link(at("a.mp4"), "/nix/nix"), -1);
    a = open_file("a.mp4");
    b = open_file("a.mp4");
    assert_ptr_equal(a, b);
    assert_string_equal(vod_file_name(a), "a.mp4");
    assert_int_equal(vod_file_info(a)->duration, 90000);
    (void)vod_file_unref(b);
    (void)vod_file_unref(a);
    b = open_file("a.mp4"); /* its index is still there */
    assert_ptr_equal(a, b);
    assert_int_equal(atomic_load(&opened), 1);
    assert_int_equal(utimensat(AT_FDCWD, at("a.mp4"), times, 0), 0);
    a = open_file("a.mp4");
    assert_ptr_not_equal(a, b);
    assert_int_equal(atomic_load(&opened), 2);
    (void)vod_file_unref(a);
    (void)vod_file_unref(b);
    end();
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
    err_t err = vod_file_open(&o->file, env.vod, &vhost, o->name);

    o->code = err_code(err);
    o->done = true;
    err_free(&err);
    o->file = vod_file_unref(o->file);
    return NULL;
}

/* One opening for all who come meanwhile; who goes does not end it. */
static void who_waits_for_an_opening(void **state)
{
    struct opener v[5] = { { 0 } };
    struct co_group g;
    struct co *second = NULL;

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", small);
    atomic_store(&gate, true);
    co_group_init(&g);
    for (size_t i = 0; i < COUNT(v); i++) {
        v[i].name = "a.mp4";
        assert_ok(co_go(&g, "opener", open_aside, &v[i]));
        second = i == 1 ? co_newest(&g) : second;
    }
    wait_for(&at_gate, 1);
    assert_ok(co_sleep(CO_MS(5)));
    co_stop(second, err_new(ERR_KICKED, "test"));
    for (int i = 0; i < 1000 && !v[1].done; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(v[1].code, ERR_KICKED);
    assert_false(v[0].done);
    atomic_store(&gate, false);
    assert_ok(co_group_wait(&g));
    for (size_t i = 0; i < COUNT(v); i++)
        assert_int_equal(v[i].code, i == 1 ? ERR_KICKED : ERR_OK);
    assert_int_equal(atomic_load(&opened), 1);
    end();
}

/* Indexes that nobody uses make room; those in use do not. */
static void how_many_open(void **state)
{
    struct vod_file *v[64], *more;
    char name[16];
    size_t n = 0;
    struct vod_stat s;
    err_t err = NULL;

    (void)state;
    (void)begin();
    vhost.vod.index_max = 16 * 1024;
    vod_reload(env.vod, env.conf, 1);
    for (int i = 0; i < 64; i++) {
        (void)snprintf(name, sizeof(name), "%d.mp4", i);
        put(name, "FAKE", (struct fake_head){ .groups = 1, .samples = 1, .size = 1 });
        (void)vod_file_unref(open_file(name));
        vod_stat(env.vod, &s);
        assert_true(s.index_bytes <= s.index_limit);
    }
    while (n < 64 && !err) {
        (void)snprintf(name, sizeof(name), "%zu.mp4", n);
        err = vod_file_open(&v[n], env.vod, &vhost, name);
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
    end();
}

/* ---- parts */

static bool is_wanted(unsigned i, const struct vod_wire_use *use)
{
    bool audio = i % 3 == 2;

    if (!(use->tracks & (audio ? VOD_TRACKS_AUDIO : VOD_TRACKS_VIDEO)))
        return false;
    return !use->keys_only || (!audio && i <= 1);
}

/* All parts of a file, one after the other, are all of its samples that were asked for. */
static unsigned walk(struct vod_file *f, const struct fake_head *h, const struct vod_wire_use *use)
{
    struct vod_at place = { 0 };
    struct player p = new_player();
    unsigned parts = 0, sample = 0, g = 0;
    int64_t dts = 0;
    bool last;

    do {
        const struct vod_part *part = get(f, use, place, &p);
        const struct vod_part *again = f->players > 1 ? get(f, use, place, &p) : NULL;
        size_t i = 0, mark = 0;

        if (again) {
            assert_ptr_equal(part, again);
            give(f, again);
        }
        assert_int_equal(part->starts, place.part == 0 && g % 2 == 0);
        while (i < part->size) {
            while (!is_wanted(sample, use))
                sample++;
            assert_int_equal(part->data[i] << 24 | part->data[i + 1] << 16 |
                             part->data[i + 2] << 8 | part->data[i + 3], h->size);
            for (size_t k = 0; k < h->size; k += k + 1000 < h->size ? 997 : 1)
                assert_int_equal(part->data[i + 4 + k],
                                 byte_at(byte_of(h, g, sample) + (int64_t)k));
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
    static const struct {
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
    (void)begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vod_file *f;
        struct vod_stat s;

        print_message("  %u of %u\n", rows[i].h.samples, rows[i].h.size);
        put("a.mp4", "FAKE", rows[i].h);
        f = open_file("a.mp4");
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        atomic_store(&cold, true); /* once more by helpers */
        vod_cache_forget(env.vod, f);
        vod_stat(env.vod, &s);
        assert_int_equal(s.cache_bytes, 0);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        atomic_store(&cold, false);
        f->way = VOD_IS_ELSEWHERE; /* and over a network, say */
        vod_cache_forget(env.vod, f);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        f->way = VOD_IS_MEMORY;
        vod_cache_forget(env.vod, f);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        f->players = 1; /* who is alone */
        vod_cache_forget(env.vod, f);
        assert_int_equal(walk(f, &rows[i].h, &rows[i].use), rows[i].parts);
        f->players = 2;
        assert_int_equal(region_stat().used, 0);
        (void)vod_file_unref(f);
    }
    end();
}

/* Players with another wire, tracks, round or parameter have parts of their own. */
static void who_shares_parts(void **state)
{
    static const struct vod_wire other = { "other", plain_open, plain_make, plain_close };
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
    (void)begin();
    put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    for (size_t i = 0; i < COUNT(uses); i++) {
        parts[i] = get(f, &uses[i], (struct vod_at){ 0 }, &p);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(parts[i], parts[k]);
    }
    for (size_t i = 0; i < COUNT(uses); i++) {
        assert_ptr_equal(get(f, &uses[i], (struct vod_at){ 0 }, &p), parts[i]);
        give(f, parts[i]);
        give(f, parts[i]);
    }
    /* One that is made begins with the numbers of who asked; then it is for all. */
    assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = 1 }, &from, &p.wait, &part),
                     VOD_READY);
    assert_int_equal(part->begin.tracks[DEMUX_VIDEO].seq, 65535);
    assert_int_equal(part->end.tracks[DEMUX_VIDEO].seq, 6); /* 7 of 10 */
    assert_int_equal(part->end.tracks[DEMUX_AUDIO].seq, 10);
    assert_ptr_equal(get(f, &both, (struct vod_at){ .place = 1 }, &p), part);
    give(f, part);
    give(f, part);
    (void)vod_file_unref(f);
    end();
}

/* What one plays alone is not kept once it is sent, and else in memory of its size. */
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
    (void)begin();
    put("a.mp4", "FAKE", (struct fake_head){ .groups = 1, .samples = 28, .size = 1000 });
    f = open_file("a.mp4");
    f->players = 1;
    vod_part_put(f, get(f, &both, place, &p), true);
    vod_stat(env.vod, &s);
    group = s.cache_bytes;
    assert_in_range(group, 1, 8000); /* its samples are known */
    part = get(f, &both, place, &p);
    memcpy(first, part->data, sizeof(first));
    vod_stat(env.vod, &s);
    assert_int_equal(s.parts_made, 2);
    assert_true(s.cache_bytes > group + part->size);
    give(f, part); /* the peer took some of it */
    vod_stat(env.vod, &s);
    assert_in_range(s.cache_bytes, group + 28000, group + 32000);
    assert_int_equal(region_stat().used, 0);
    part = get(f, &both, place, &p);
    assert_memory_equal(part->data, first, sizeof(first));
    assert_int_equal(part->n, 27);
    assert_int_equal(part->marks[26].end, part->size);
    f->players = 2; /* another one comes, and has what the first one has */
    assert_ptr_equal(get(f, &both, place, &p), part);
    give(f, part);
    vod_part_put(f, part, true);
    assert_ptr_equal(get(f, &both, place, &p), part);
    give(f, part);
    vod_stat(env.vod, &s);
    assert_int_equal(s.parts_made, 2);
    assert_int_equal(s.parts_shared, 3);
    (void)vod_file_unref(f);
    end();
}

/* The next second of a file is in memory, or asked for, and not looked at with each part. */
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
    (void)begin();
    put("a.mp4", "FAKE", h);
    f = open_file("a.mp4");
    f->way = VOD_TELLS;
    for (unsigned i = 0; i < h.groups; i++) {
        int64_t end = byte_of(&h, i + 1, 0);

        give(f, get(f, &both, (struct vod_at){ .place = i }, &p));
        if (end < f->size)
            assert_in_range(*there - end, SECOND, 5 * SECOND);
        looks += *there != before;
        before = *there;
    }
    assert_in_range(looks, 3, 5);
    give(f, get(f, &pictures, (struct vod_at){ 0 }, &p)); /* back to the begin */
    assert_int_equal(*there - byte_of(&h, 0, 29), 4 * SECOND);
    (void)vod_file_unref(f);
    end();
}

/* ---- files that are not in the kernel's memory */

/* Old, and not in the kernel's memory. */
static struct vod_file *open_cold(const char *name, struct fake_head h)
{
    const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    struct vod_file *f;
    int fd;

    put(name, "FAKE", h);
    fd = open(at(name), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(futimens(fd, old), 0);
    f = open_file(name);
    f->players = 1;
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    assert_int_equal(close(fd), 0);
    return f;
}

/* All of it is right and is read once, from the disk as from the kernel's memory, in parts of any
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
    (void)begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vod_file *f = open_cold("a.mp4", rows[i]);
        struct vod_stat before, s;

        vod_stat(env.vod, &before);
        (void)walk(f, &rows[i], &both);
        vod_stat(env.vod, &s);
        assert_in_range(s.read_bytes - before.read_bytes, f->size - HEAD, f->size * 5 / 4);
        vod_cache_forget(env.vod, f);
        (void)walk(f, &rows[i], &both);
        (void)vod_file_unref(f);
    }
    end();
}

/* A cache without room for a part. */
static void small_caches(void **state)
{
    const struct fake_head h = { .groups = 5, .samples = 30, .size = 8000 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)begin();
    for (int64_t cache = 1; cache < 8 << 20; cache *= 100) {
        vhost.vod.cache = cache;
        vod_reload(env.vod, env.conf, 1);
        f = open_cold("a.mp4", h);
        (void)walk(f, &h, &both);
        vod_stat(env.vod, &s);
        assert_true(s.cache_bytes <= (uint64_t)cache);
        (void)vod_file_unref(f);
    }
    end();
}

/* From place to place in a cold file, with a read under way when the player, the file or the server
 * goes. */
static void cold_seeks(void **state)
{
    const struct fake_head h = { .groups = 40, .samples = 30, .size = 8000 };
    struct player p = new_player();
    const struct vod_part *part;
    struct vod_file *f;

    (void)state;
    (void)begin();
    for (unsigned way = 0; way < 4; way++) {
        f = open_cold("a.mp4", h);
        for (unsigned i = 0; i < 50; i++) {
            struct vod_at to = { .place = i * 17 % h.groups };

            part = get(f, &both, to, &p);
            assert_int_equal(part->data[4], byte_at(byte_of(&h, to.place, 0)));
            give(f, part);
        }
        vod_cache_forget(env.vod, f);
        if (vod_part_get(f, &both, &(struct vod_at){ .place = 39 }, &none, &p.wait, &part) ==
            VOD_READY)
            give(f, part);
        if (way == 1)
            assert_ok(co_sleep(CO_MS(3)));
        if (way < 2)
            give(f, get(f, &both, (struct vod_at){ .place = 39 }, &p));
        vod_wait_end(&p.wait);
        (void)vod_file_unref(f);
        if (way == 3)
            break; /* and the server ends */
        for (int i = 0; i < 5000 && f->refs > 0; i++)
            assert_ok(co_sleep(CO_MS(1)));
    }
    vod_free(env.vod);
    assert_int_equal(live_registry_memory(env.streams)->used, 0);
    live_registry_free(env.streams);
}

/* ---- waiting */

static void who_waits(void **state)
{
    struct player p[10];
    const struct vod_part *part[10] = { NULL };
    struct vod_at place = { .place = 1 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    atomic_store(&cold, true);
    atomic_store(&gate, true);
    for (size_t i = 0; i < COUNT(p); i++) {
        p[i] = new_player();
        assert_int_equal(vod_part_get(f, &both, &place, &none, &p[i].wait, &part[i]), VOD_WAIT);
        assert_int_equal(vod_part_get(f, &both, &place, &none, &p[i].wait, &part[i]), VOD_WAIT);
    }
    wait_for(&at_gate, 1);
    vod_wait_end(&p[3].wait); /* one goes */
    vod_wait_end(&p[3].wait);
    atomic_store(&gate, false);
    wait_called(&p[9], 1);
    for (size_t i = 0; i < COUNT(p); i++) {
        assert_int_equal(p[i].calls, i != 3);
        assert_int_equal(vod_part_get(f, &both, &place, &none, &p[i].wait, &part[i]), VOD_READY);
        assert_ptr_equal(part[i], part[0]);
    }
    for (size_t i = 0; i < COUNT(p); i++)
        give(f, part[i]);
    assert_int_equal(atomic_load(&grouped), 1); /* one read for all of them */
    vod_stat(env.vod, &s);
    assert_int_equal(s.waited, 10);
    assert_int_equal(s.parts_made, 1);
    (void)vod_file_unref(f);
    end();
}

/* What was read for somebody is there for him, also where nothing is kept. */
static void who_waits_without_a_cache(void **state)
{
    struct player p = new_player();
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)begin();
    vhost.vod.cache = 1;
    vod_reload(env.vod, env.conf, 1);
    put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    atomic_store(&cold, true);
    give(f, get(f, &both, (struct vod_at){ 0 }, &p));
    vod_stat(env.vod, &s);
    assert_int_equal(s.cache_bytes, 0);
    assert_int_equal(p.calls, 1);
    (void)vod_file_unref(f);
    end();
}

/* A thousand seeks of one who waits: what nobody waits for is not read. */
static void who_seeks_meanwhile(void **state)
{
    struct player p = new_player();
    const struct vod_part *part;
    struct vod_file *f;

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", (struct fake_head){ .groups = 1000, .samples = 2, .size = 10 });
    f = open_file("a.mp4");
    atomic_store(&cold, true);
    atomic_store(&gate, true);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = i }, &none, &p.wait,
                                      &part), VOD_WAIT);
        if (i % 100 == 0)
            assert_ok(co_sleep(CO_MS(1)));
    }
    atomic_store(&gate, false);
    wait_called(&p, 1);
    assert_true(atomic_load(&grouped) <= VOD_LOADERS);
    assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = 999 }, &none, &p.wait,
                                  &part), VOD_READY);
    give(f, part);
    /* And one who leaves while it is read. */
    atomic_store(&gate, true);
    assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = 501 }, &none, &p.wait,
                                  &part), VOD_WAIT);
    wait_for(&at_gate, 1);
    vod_wait_end(&p.wait);
    atomic_store(&gate, false);
    (void)vod_file_unref(f);
    end();
    assert_int_equal(p.calls, 1);
}

static void who_waits_in_vain(void **state)
{
    struct player p = new_player(), q = new_player();
    const struct vod_part *part;
    struct vod_at beyond = { .place = 77 }, last = { .place = 1 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    assert_int_equal(vod_part_get(f, &both, &beyond, &none, &p.wait, &part), VOD_FAILED);
    assert_null(part);
    assert_int_equal(truncate(at("a.mp4"), HEAD + 1500), 0);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &p.wait, &part), VOD_WAIT);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &q.wait, &part), VOD_WAIT);
    wait_called(&p, 1);
    wait_called(&q, 1);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &p.wait, &part), VOD_FAILED);
    assert_int_equal(vod_part_get(f, &both, &last, &none, &q.wait, &part), VOD_FAILED);
    give(f, get(f, &both, (struct vod_at){ 0 }, &p)); /* what is left of it plays */
    vod_stat(env.vod, &s);
    assert_int_equal(s.failed, 2);
    (void)vod_file_unref(f);
    end();
}

/* A disk that does not answer: in the end those who wait are told so, and nothing of what a thread
 * still holds is freed. */
static void who_waits_too_long(void **state)
{
    struct player p = new_player(), q = new_player();
    const struct vod_part *part;
    struct vod_at first = { 0 }, second = { .place = 1 };
    struct vod_file *f;
    struct vod_stat s;

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", small);
    f = open_file("a.mp4");
    atomic_store(&cold, true);
    atomic_store(&gate, true);
    assert_int_equal(vod_part_get(f, &both, &first, &none, &p.wait, &part), VOD_WAIT);
    ((struct vod_task *)(void *)f->loads)->due = co_now() + CO_MS(500);
    p.wait.since -= CO_SECONDS(3);
    wait_for(&at_gate, 1);
    wait_called(&p, 1);
    assert_true(p.wait.told);
    assert_int_equal(vod_part_get(f, &both, &first, &none, &p.wait, &part), VOD_FAILED);
    assert_int_equal(vod_part_get(f, &both, &second, &none, &q.wait, &part), VOD_WAIT);
    ((struct vod_task *)(void *)f->loads)->due = co_now() - 1; /* nobody had time for it */
    wait_called(&q, 1);
    assert_int_equal(vod_part_get(f, &both, &second, &none, &q.wait, &part), VOD_FAILED);
    vod_stat(env.vod, &s);
    assert_int_equal(s.failed, 2);
    (void)vod_file_unref(f);
    end();
    atomic_store(&gate, false);
}

/* ---- who waits for whom */

struct hanging {
    struct vod_task task; /* first */
    bool hangs, done;
};

static void hang(void *arg)
{
    if (*(bool *)arg)
        pass_gate();
}

static void go_hanging(struct vod_task *t)
{
    struct hanging *h = (struct hanging *)t;
    bool *hangs = must(malloc(sizeof(*hangs)));
    err_t err;

    *hangs = h->hangs;
    err = vod_task_run(t, hang, hangs, free);
    if (!err)
        free(hangs);
    err_free(&err);
    h->done = true;
}

static struct hanging new_task(uint64_t device, bool hangs)
{
    return (struct hanging){ .hangs = hangs, .task = {
        .device = device, .due = co_now() + CO_SECONDS(20), .go = go_hanging } };
}

/* However many wait for a dead disk, who reads from another goes on. */
static void who_waits_for_whom(void **state)
{
    static struct hanging dead[100], fine[100];

    (void)state;
    (void)begin();
    atomic_store(&gate, true);
    for (size_t i = 0; i < COUNT(dead); i++) {
        dead[i] = new_task(1, true);
        vod_queue_put(&env.vod->queue, &dead[i].task);
    }
    wait_for(&at_gate, 2);
    for (size_t i = 0; i < COUNT(fine); i++) {
        fine[i] = new_task(2 + i % 3, false);
        fine[i].task.ahead = i % 4 == 0;
        vod_queue_put(&env.vod->queue, &fine[i].task);
    }
    for (size_t i = 0; i < COUNT(fine); i++) {
        for (int k = 0; k < 5000 && !fine[i].done; k++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_true(fine[i].done);
    }
    assert_int_equal(atomic_load(&at_gate), 2);
    for (size_t i = 0; i < COUNT(dead); i++)
        assert_false(dead[i].done);
    vod_queue_take(&env.vod->queue, &dead[99].task); /* it was the last of them */
    vod_queue_take(&env.vod->queue, &dead[50].task);
    atomic_store(&gate, false);
    for (size_t i = 0; i < COUNT(dead); i++) { /* two at a time: in no order */
        for (int k = 0; k < 5000 && !dead[i].done && i != 99 && i != 50; k++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_int_equal(dead[i].done, i != 99 && i != 50);
    }
    end();
}

/* The server ends while a disk does not answer. */
static void what_ends_meanwhile(void **state)
{
    struct player p[40];
    const struct vod_part *part;
    struct vod_file *f;

    (void)state;
    (void)begin();
    put("a.mp4", "FAKE", (struct fake_head){ .groups = 100, .samples = 2, .size = 10 });
    f = open_file("a.mp4");
    atomic_store(&cold, true);
    atomic_store(&gate, true);
    for (unsigned i = 0; i < COUNT(p); i++) {
        p[i] = new_player();
        assert_int_equal(vod_part_get(f, &both, &(struct vod_at){ .place = i }, &none, &p[i].wait,
                                      &part), VOD_WAIT);
    }
    wait_for(&at_gate, 2);
    for (unsigned i = 0; i < COUNT(p); i++)
        vod_wait_end(&p[i].wait);
    (void)vod_file_unref(f);
    vod_free(env.vod);
    atomic_store(&gate, false);
    assert_int_equal(live_registry_memory(env.streams)->used, 0);
    live_registry_free(env.streams);
}

/* ---- bounds */

/* As many players as files, and more than there is room for. */
static void how_much_is_kept(void **state)
{
    enum { FILES = 100, LIMIT = 1 << 20 };
    struct fake_head h = { .groups = 2, .samples = 28, .size = 1000 };
    struct vod_file *f[FILES];
    const struct vod_part *held[FILES];
    struct player p = new_player();
    struct vod_stat s;
    char name[16];

    (void)state;
    (void)begin();
    vhost.vod.cache = LIMIT;
    vod_reload(env.vod, env.conf, 1);
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof(name), "%u.mp4", i);
        put(name, "FAKE", h);
        f[i] = open_file(name);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FILES; i++) {
            give(f[i], get(f[i], &both, (struct vod_at){ .place = round % 2 }, &p));
            vod_stat(env.vod, &s);
            assert_true(s.cache_bytes <= LIMIT);
            assert_true(live_registry_memory(env.streams)->used >= s.cache_bytes);
        }
    }
    assert_true(s.cache_bytes > LIMIT / 2);
    for (unsigned i = 0; i < FILES; i++) /* those in use are there for as long as that */
        held[i] = get(f[i], &both, (struct vod_at){ 0 }, &p);
    vod_stat(env.vod, &s);
    assert_true(s.cache_bytes > (size_t)FILES * 28 * 1000);
    for (unsigned i = 0; i < FILES; i++) {
        assert_int_equal(held[i]->data[4], byte_at(byte_of(&h, 0, 0)));
        give(f[i], held[i]);
    }
    vod_stat(env.vod, &s);
    assert_true(s.cache_bytes <= LIMIT);
    /* Others need memory. */
    live_registry_limit(env.streams, live_registry_memory(env.streams)->used - LIMIT / 4);
    env.streams->squeeze(env.streams);
    vod_stat(env.vod, &s);
    assert_true(s.cache_bytes <= LIMIT - LIMIT / 4);
    for (unsigned i = 0; i < FILES; i++)
        (void)vod_file_unref(f[i]);
    end();
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
        IN_DIR(who_waits),
        IN_DIR(who_waits_without_a_cache),
        IN_DIR(who_seeks_meanwhile),
        IN_DIR(who_waits_in_vain),
        IN_DIR(who_waits_too_long),
        IN_DIR(who_waits_for_whom),
        IN_DIR(what_ends_meanwhile),
        IN_DIR(how_much_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
