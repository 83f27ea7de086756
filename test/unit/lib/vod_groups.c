/* SPDX-License-Identifier: MIT */
/* vod_groups.c - files on demand for tests of their store. */
#include "vod_groups.h"

#include "base/must.h"
#include "format/demux/impl.h"

#include <pthread.h>

/* ---- a format: a header, then groups of samples, every third of audio */

struct index {
    struct demux_index base; /* first */
    struct fake_head head;
};

atomic_int store_opened, store_grouped;
atomic_bool store_cold;
atomic_bool store_gate;
atomic_int store_at_gate;
static pthread_t ours;

static const struct fake_head *head_of(const struct demux_index *index)
{
    return &((const struct index *)index)->head;
}

void store_pass_gate(void)
{
    atomic_fetch_add(&store_at_gate, 1);
    for (int i = 0; i < 20000 && atomic_load(&store_gate); i++)
        (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    atomic_fetch_sub(&store_at_gate, 1);
}

static void close_index(struct demux_index *index)
{
    free(index);
}

static demux_position seek(const struct demux_index *index, int64_t time)
{
    (void)index;
    (void)time;
    return 0;
}

static int64_t place_time(const struct demux_index *index, demux_position place, int64_t *pts)
{
    return *pts = (int64_t)place * head_of(index)->samples * 900;
}

int64_t store_byte_of(const struct fake_head *h, demux_position g, unsigned i)
{
    return HEAD + ((int64_t)g * h->samples + i) * h->size;
}

static enum demux_status read_group(struct demux_group **out, const struct demux_index *x,
                                    const struct demux_input *in, demux_position place, const char **why)
{
    const struct fake_head *h = head_of(x);
    enum demux_status st;
    struct demux_group *g;
    uint8_t c;

    *why = "the group is broken";
    if (pthread_equal(pthread_self(), ours) && atomic_load(&store_cold))
        return DEMUX_AGAIN;
    if (!pthread_equal(pthread_self(), ours)) {
        atomic_fetch_add(&store_grouped, 1);
        store_pass_gate();
    }
    if (place >= h->groups)
        return DEMUX_END;
    st = h->samples ? in->read(in, store_byte_of(h, place, 0), &c, 1) : DEMUX_OK;
    if (st != DEMUX_OK)
        return st == DEMUX_AGAIN ? st : DEMUX_BROKEN;
    g = must(calloc(1, sizeof(*g) + h->samples * sizeof(g->v[0])));
    g->place = place;
    g->next = place + 1;
    g->last = place + 1 == h->groups;
    g->starts = place % 2 == 0;
    g->n = h->samples;
    for (unsigned i = 0; i < g->n; i++)
        g->v[i] = (struct demux_sample){ .at = store_byte_of(h, place, i), .size = h->size,
                                         .track = i % 3 == 2, .key = i == 0, .config = i == 1,
                                         .dts = ((int64_t)place * g->n + i) * 900 };
    *out = g;
    return DEMUX_OK;
}

static bool packet(const struct demux_index *index, const struct demux_sample *s,
                   struct av_packet *pkt)
{
    (void)index;
    pkt->dts = s->dts;
    pkt->kind = s->track == DEMUX_VIDEO ? AV_VIDEO : AV_AUDIO;
    pkt->key = s->key;
    pkt->config = s->config;
    return true;
}

static const struct demux_format format = {
    .close = close_index, .seek = seek, .place_time = place_time, .group = read_group, .packet = packet,
};

enum demux_status fake_open(struct demux_index **out, const struct demux_input *in,
                            const struct demux_limits *limits, const char **why)
{
    struct index *x = must(calloc(1, sizeof(*x)));
    bool read = in->read(in, 0, &x->head, sizeof(x->head)) == DEMUX_OK, bad;

    *out = NULL;
    assert_false(pthread_equal(pthread_self(), ours));
    atomic_fetch_add(&store_opened, 1);
    store_pass_gate();
    x->base.format = &format;
    x->base.info = (struct demux_info){
        .format = "fake", .zero = ZERO, .duration = 90000, .kbps = 100, .memory = 1000,
        .tracks = { { .codec = AV_H264 }, { .codec = AV_AAC } },
    };
    if (read && memcmp(x->head.magic, "FAKE", 4) == 0 &&
        limits->index_max >= x->base.info.memory) {
        *out = &x->base;
        return DEMUX_OK;
    }
    *why = "it is not what it seems";
    bad = !read || memcmp(x->head.magic, "BAD ", 4) == 0;
    free(x);
    return bad ? DEMUX_BROKEN : DEMUX_TOO_LARGE;
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

const struct vod_wire plain = { "plain", plain_open, plain_make, plain_close, NULL };
const struct vod_wire other = { "other", plain_open, plain_make, plain_close, NULL };

const struct vod_wire_use both = { .wire = &plain, .tracks = BOTH };
const struct vod_numbers none;

/* ---- a minimal server */

struct session_env *store_env;
struct conf_vhost *store_vhost;

struct vod *store_begin(void)
{
    store_env = env_new_format("listen 1935; vhost __defaultVhost__ { vod { enabled on; dir %s; cache 64m; "
                               "index_max 1m; readers 4; } }", dir);
    store_vhost = (struct conf_vhost *)(uintptr_t)&store_env->conf->vhost.v[0];
    ours = pthread_self();
    atomic_store(&store_gate, false);
    atomic_store(&store_cold, false);
    atomic_store(&store_opened, 0);
    atomic_store(&store_grouped, 0);
    return store_env->vod = vod_new(store_env->streams, store_env->conf, 1);
}

void store_end(void)
{
    vod_end_idle(store_env->vod);
    env_free(&store_env);
}

const char *store_path(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

uint8_t store_byte_at(int64_t i)
{
    return (uint8_t)(i * 7 + (i >> 13));
}

void store_put(const char *name, const char *magic, struct fake_head head)
{
    FILE *f = fopen(store_path(name), "wb");

    assert_non_null(f);
    memcpy(head.magic, magic, 4);
    assert_int_equal(fwrite(&head, sizeof(head), 1, f), 1);
    for (int64_t i = sizeof(head); i < store_byte_of(&head, head.groups, 0); i++)
        (void)fputc(store_byte_at(i), f);
    assert_int_equal(fclose(f), 0);
}

struct vod_file *open_file(const char *name)
{
    struct vod_file *f = NULL;

    assert_ok(vod_file_open(&f, store_env->vod, store_vhost, name));
    assert_non_null(f);
    f->players = 2; /* so what one of them has is kept */
    return f;
}

const struct fake_head small = { .groups = 2, .samples = 10, .size = 100 };

/* ---- a player */

static void on_part(struct vod_wait *w)
{
    ((struct player *)w)->calls++;
}

struct player new_player(void)
{
    return (struct player){ .wait.on_part = on_part };
}

void wait_for(const atomic_int *what, int n)
{
    for (int i = 0; i < 10000 && atomic_load(what) < n; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_true(atomic_load(what) >= n);
}

void wait_called(const struct player *p, int n)
{
    for (int i = 0; i < 10000 && p->calls < n; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(p->calls, n);
}

const struct vod_part *store_get(struct vod_file *f, const struct vod_wire_use *use, struct vod_at place,
                           struct player *p)
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

void store_give(struct vod_file *f, const struct vod_part *part)
{
    vod_part_put(f, part, false);
}
