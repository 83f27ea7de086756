/* SPDX-License-Identifier: MIT */
/* vod_made.c - a generated file on demand for tests of feeds: a format of its own in the real store. */
#include "vod_made.h"

#include "base/must.h"
#include "flv_film.h"
#include "format/demux/impl.h"
#include "session/env.h"
#include "vod_idle.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

extern _Thread_local unsigned long long st_switched_at;

struct vod_file *made;

static struct {
    struct demux_index base;  /* first */
    int64_t at[MADE_GROUPS][MADE_SAMPLES]; /* in the file */
    uint32_t size[MADE_GROUPS][MADE_SAMPLES];
} made_index;

static atomic_bool waits, fails;
static pthread_t ours;

/* ---- its content */

static bool made_sample_before(const struct made_sample *a, const struct made_sample *b)
{
    return a->dts < b->dts || (a->dts == b->dts && !a->audio && b->audio);
}

unsigned made_group(uint64_t place, struct made_sample v[MADE_SAMPLES])
{
    int64_t begin = (int64_t)place * MADE_SECOND, end = begin + MADE_SECOND, at;
    unsigned n = 0;

    for (unsigned i = 0; i < MADE_FRAMES; i++)
        v[n++] = (struct made_sample){ .dts = begin + i * MADE_FRAME, .key = i == 0,
            .cts = i == 0 ? 2 * MADE_FRAME : i % 2 ? 3 * MADE_FRAME : MADE_FRAME,
            .size = i == 0 ? 40000 : i % 2 ? 9000 : 3000 };
    at = (begin - MADE_ZERO + MADE_AUDIO - 1) / MADE_AUDIO * MADE_AUDIO + MADE_ZERO;
    for (at = place == 0 ? MADE_ZERO : at; at < end; at += MADE_AUDIO)
        v[n++] = (struct made_sample){ .dts = at, .audio = true, .size = 200 };
    for (unsigned i = 1; i < n; i++) {
        for (unsigned k = i; k > 0 && made_sample_before(&v[k], &v[k - 1]); k--) {
            struct made_sample s = v[k];

            v[k] = v[k - 1];
            v[k - 1] = s;
        }
    }
    return n;
}


static struct frame frame_of(const struct made_sample *s)
{
    static uint8_t bytes[MEDIA_FRAME_MAX];
    struct frame f = media_make(s->audio ? AV_AAC : AV_H264, s->key ? 0 : 1, s->size, bytes);

    /* its time tells it from other frames */
    for (unsigned i = 0; i < 8; i++)
        bytes[f.size - 1 - i] = (uint8_t)(0x10 + (s->dts / 120 >> 4 * i & 15));
    return f;
}

/* Its descriptor; sets *size to the file's size. */
static int write_file(const char *path, int64_t *size)
{
    int fd = open(path, O_CREAT | O_RDWR, 0644);

    assert_true(fd >= 0);
    *size = 0;
    for (uint64_t place = 0; place < MADE_GROUPS; place++) {
        struct made_sample v[MADE_SAMPLES];
        unsigned n = made_group(place, v);

        for (unsigned i = 0; i < n; i++) {
            struct frame f = frame_of(&v[i]);

            made_index.at[place][i] = *size;
            made_index.size[place][i] = (uint32_t)f.size;
            assert_int_equal(write(fd, f.data, f.size), f.size);
            *size += (int64_t)f.size;
        }
    }
    return fd;
}

/* ---- its format */

static void close_index(struct demux_index *index)
{
    assert_ptr_equal(index, &made_index.base);
}

static demux_position seek(const struct demux_index *index, int64_t time)
{
    int64_t place = (time - 2 * MADE_FRAME) / MADE_SECOND;

    (void)index;
    return place < 0 ? 0 : place >= MADE_GROUPS ? MADE_GROUPS - 1 : (demux_position)place;
}

static int64_t place_time(const struct demux_index *index, demux_position place, int64_t *pts)
{
    (void)index;
    *pts = (int64_t)place * MADE_SECOND + 2 * MADE_FRAME;
    return (int64_t)place * MADE_SECOND;
}

static enum demux_status read_group(struct demux_group **out, const struct demux_index *index,
                                    const struct demux_input *in, demux_position place, const char **why)
{
    struct made_sample v[MADE_SAMPLES];
    struct demux_group *g;

    (void)index, (void)in;
    assert_true(place < MADE_GROUPS);
    *why = "it is to fail";
    if (atomic_load(&waits) && pthread_equal(pthread_self(), ours))
        return DEMUX_AGAIN;
    if (atomic_load(&fails))
        return DEMUX_BROKEN;
    g = must(calloc(1, sizeof(*g) + MADE_SAMPLES * sizeof(g->v[0])));
    *g = (struct demux_group){ .place = place, .next = place + 1, .last = place == MADE_GROUPS - 1,
                               .starts = true, .n = made_group(place, v) };
    for (unsigned i = 0; i < g->n; i++)
        g->v[i] = (struct demux_sample){
            .at = made_index.at[place][i], .size = made_index.size[place][i],
            .track = v[i].audio ? DEMUX_AUDIO : DEMUX_VIDEO, .key = v[i].key, .dts = v[i].dts,
            .cts = v[i].cts };
    *out = g;
    return DEMUX_OK;
}

static bool packet(const struct demux_index *index, const struct demux_sample *s, struct av_packet *pkt)
{
    const struct demux_track *t = &index->info.tracks[s->track];

    pkt->kind = s->track == DEMUX_VIDEO ? AV_VIDEO : AV_AUDIO;
    pkt->codec = (uint8_t)t->codec;
    pkt->key = s->key;
    pkt->dts = s->dts;
    pkt->cts = s->cts;
    return true;
}

static const struct demux_format made_format = {
    .close = close_index, .seek = seek, .place_time = place_time, .group = read_group, .packet = packet,
};

struct demux_info *made_info(void)
{
    return &made_index.base.info;
}

/* ---- the server, and the file in it */

static struct conf_vhost vhost;
static struct conf conf;
static struct live_registry *streams;
static struct vod *vod;

/* Opens a small film, and puts the generated file in its place. */
static void open_made(void)
{
    char path[64];
    int64_t size;
    int fd;

    film_write(dir, "made up.flv", 20, 0);
    assert_ok(vod_file_open(&made, vod, &vhost, "made up.flv"));
    (void)snprintf(path, sizeof(path), "%s/bytes", dir);
    fd = write_file(path, &size);
    assert_int_equal(dup2(fd, made->disk->fd), made->disk->fd);
    (void)close(fd);
    made_index.base.format = &made_format;
    made_index.base.info.memory = demux_info(made->index->demux)->memory;
    demux_close(made->index->demux);
    made->index->demux = &made_index.base;
    made->size = size;
    made->way = VOD_IS_MEMORY;
    made->opened = INT64_C(1700000000123456);
    made->players = 1; /* in addition to the tests' players, so that parts stay in memory */
}

int made_setup(void **state)
{
    if (vod_setup(state))
        return 1;
    ours = pthread_self();
    vhost = (struct conf_vhost){ .vod = { .enabled = true, .app = "vod", .dir = dir, .cache = 64 << 20,
                                          .index_max = 1 << 20, .readers = 4 } };
    conf.vhost = (struct conf_vhosts){ &vhost, 1 };
    streams = live_registry_new();
    vod = vod_new(streams, &conf, 1);
    open_made();
    return 0;
}

int made_teardown(void **state)
{
    made->players = 0;
    made = vod_file_unref(made);
    vod_end_idle(vod);
    assert_int_equal(live_registry_memory(streams)->used, 0);
    live_registry_free(streams);
    return vod_teardown(state);
}

void made_begin(void)
{
    made_index.base.info = (struct demux_info){ .format = "made up", .zero = MADE_ZERO, .kbps = 1500,
        .duration = MADE_GROUPS * MADE_SECOND, .memory = made_index.base.info.memory,
        .tracks = { { .codec = AV_H264, .config = (const uint8_t *)CONFIG_H264,
                      .config_size = sizeof(CONFIG_H264) - 1 },
                    { .codec = AV_AAC, .config = (const uint8_t *)CONFIG_AAC,
                      .config_size = sizeof(CONFIG_AAC) - 1 } } };
    assert_int_equal(vod_turn(1500), VOD_TURN_MOST);
    made_waits(false);
    made_fails(false);
    made_evict();
    st_switched_at = (unsigned long long)(co_clock() + CO_SECONDS(3600)); /* no disk is late */
}

void made_end(void)
{
    made_evict();
    assert_int_equal(vod->cache.bytes, 0);
    assert_int_equal(made->refs, 1);
    assert_int_equal(made->players, 1);
    assert_null(made->loads);
    st_switched_at = (unsigned long long)co_clock();
}

uint64_t made_parts(void)
{
    return vod->stat.parts_made;
}

unsigned made_in_use(const struct vod_part *cut)
{
    const struct vod_cached *held = cut ? container_of(cut, struct vod_cached, part) : NULL;
    unsigned n = held && !held->prev ? held->refs : 0;

    for (const struct vod_cached *one = made->cached; one; one = one->file_next)
        n += one->refs;
    return n;
}

void made_evict(void)
{
    vod_cache_forget(vod, made);
}

void made_pass(co_usec us)
{
    st_switched_at += (unsigned long long)us;
}

void made_waits(bool v)
{
    atomic_store(&waits, v);
}

void made_fails(bool v)
{
    atomic_store(&fails, v);
}

void made_arrives(void)
{
    unsigned long long now = st_switched_at;

    made_waits(false);
    st_switched_at = (unsigned long long)co_clock();
    for (int i = 0; i < 5000 && vod->queue.running > 0; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(vod->queue.running, 0);
    st_switched_at = now;
}
