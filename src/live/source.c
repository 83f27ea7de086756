/* SPDX-License-Identifier: MIT */
/* source.c - a live stream: the log of packets. */
#include "live/source.h"

#include "base/container_of.h"
#include "base/mem.h"
#include "base/must.h"
#include "live/impl.h"
#include "live/deferred_free.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RING_MIN = 64, WAKES = 8, AHEAD = 8 };

/* Packets to drop at a time: more than arrive, so the log becomes shorter, but not all of a large
 * one at once. The largest packet has 16 MB. */
enum { DROPS = 64, DROP_BYTES = 4 << 20 };

static _Thread_local long live;

struct live_source *live_source_new(const char *name, const struct live_settings *set)
{
    struct live_source *src = must(calloc(1, sizeof(*src)));

    ref_init(&src->ref);
    src->name = must(strdup(name));
    src->parked_end = &src->parked;
    src->idle_since = co_now();
    live_source_settings(src, set);
    live_clock_init(&src->clock, set->jitter);
    live++;
    return src;
}

struct live_source *live_source_ref(struct live_source *src)
{
    ref_get(&src->ref);
    return src;
}

void live_source_charge_log(struct live_source *src)
{
    size_t bytes = src->taps ? live_taps_kept(src) : src->bytes;

    live_source_charge(src, bytes, src->charged);
    src->charged = bytes;
}

static const struct av_packet **slot_of(const struct live_source *src, uint64_t seq)
{
    return &src->ring[seq & (src->cap - 1)];
}

static void drop_first(struct live_source *src)
{
    const struct av_packet *pkt = *slot_of(src, src->first++);

    /* They are dropped GOP by GOP, and were last used seconds ago. */
    if (src->first + AHEAD < src->head)
        __builtin_prefetch(*slot_of(src, src->first + AHEAD), 1);
    src->bytes -= live_packet_cost(pkt);
    (void)av_packet_unref(pkt);
}

/* Removes the start position: no player starts in the current packets, but those in the middle
 * continue. */
static void forget_key(struct live_source *src)
{
    src->have_key = false;
    src->key_configs = live_configs_unref(src->key_configs);
    for (struct live_wire *w = src->wires; w; w = w->next)
        live_wire_forget_key(w);
}

/* Returns the oldest packet that some reader has not read, or the head. */
static uint64_t oldest_unseen(const struct live_source *src)
{
    uint64_t oldest = live_readers_oldest(src);

    for (const struct live_wire *w = src->wires; w; w = w->next) {
        if (w->head < oldest)
            oldest = w->head;
    }
    return oldest;
}

/* A log that is no longer needed. */
struct old_log {
    struct live_deferred_free deferred;
    const struct av_packet **ring;
    uint64_t first, head;
    size_t cap;
};

static bool free_packet(struct live_deferred_free *r)
{
    struct old_log *log = container_of(r, struct old_log, deferred);

    if (log->first < log->head) {
        (void)av_packet_unref(log->ring[log->first++ % log->cap]);
        return true;
    }
    free(log->ring);
    free(log);
    return false;
}

/* Frees the log in small steps, because that may take long, and empties the source. */
static void defer_free_of_log(struct live_source *src)
{
    struct old_log *log = must(malloc(sizeof(*log)));

    *log = (struct old_log){ .deferred.free_one = free_packet,
                             .ring = src->ring,
                             .first = src->first,
                             .head = src->head,
                             .cap = src->cap };
    src->bytes = 0;
    src->first = src->head;
    src->ring = NULL;
    src->cap = 0;
    live_deferred_free(&log->deferred);
}

static void forget_log(struct live_source *src)
{
    uint64_t unread = oldest_unseen(src);

    forget_key(src);
    if (src->bytes < LIVE_DEFERRED_BYTES) {
        while (src->first < unread && src->first < src->head)
            drop_first(src);
    } else if (unread >= src->head) {
        defer_free_of_log(src);
    } /* else readers read it first, and trim() follows them */
    live_source_charge_log(src);
}

static void free_ring(struct live_source *src)
{
    if (src->first != src->head)
        return;
    free(src->ring);
    src->ring = NULL;
    src->cap = 0;
}

void live_source_was_read(struct live_source *src)
{
    if (live_source_publishing(src))
        return;
    forget_log(src);
    free_ring(src);
}

static void leave_registry(struct live_source *src)
{
    if (!src->registry)
        return;
    (void)table_remove(&src->registry->sources, &src->link);
    src->registry->memory.used -= src->memory;
    if (src->packets)
        bump_uncount(src->packets);
    src->registry = NULL;
}

struct live_source *live_source_unref(struct live_source *src)
{
    if (!src || !ref_put(&src->ref))
        return NULL;
    assert(!src->publisher && !src->claim && !src->wires && !src->parked && !src->readers);
    assert(!src->taps && !src->tap && !src->followed);
    co_post_cancel(&src->wake);
    if (src->user_data)
        src->user_data->free(src->user_data);
    leave_registry(src);
    while (src->mix && src->mix->count > 0)
        (void)av_packet_unref(live_mix_pop(src->mix, true));
    forget_log(src);
    live_configs_clear(&src->configs);
    src->packets = bump_close(src->packets);
    free(src->mix);
    free(src->ring);
    free(src->name);
    free(src);
    live--;
    return NULL;
}

bool live_source_is_only_ref(const struct live_source *src)
{
    return src->ref.n == 1;
}

const char *live_source_name(const struct live_source *src)
{
    return src->name;
}

void live_source_set_user_data(struct live_source *src, struct live_user_data *data)
{
    assert(!src->user_data);
    src->user_data = data;
}

struct live_user_data *live_source_user_data(const struct live_source *src)
{
    return src->user_data;
}

size_t live_source_configs(const struct live_source *src, const struct av_packet **out,
                           size_t max)
{
    size_t n = src->configs.n < max ? src->configs.n : max;

    memcpy(out, src->configs.v, n * sizeof(out[0]));
    return n;
}

void live_source_settings(struct live_source *src, const struct live_settings *set)
{
    src->set = *set;
    src->clock.mode = set->jitter;
    if (set->mix_correct && !src->mix)
        src->mix = must(calloc(1, sizeof(*src->mix)));
}

struct live_settings live_source_set(const struct live_source *src)
{
    return src->set;
}

static co_usec shown_for(const struct live_source *src)
{
    co_usec here = co_now() - src->shown_at, there;

    if (!src->shown_at)
        return -1;
    there = (src->clock.last - src->shown_dts) * 100 / 9;
    return here > there ? here : there;
}

void live_source_stat(const struct live_source *src, struct live_source_stat *out)
{
    *out = (struct live_source_stat){
        .in_packets = src->in_packets, .in_bytes = src->in_bytes, .out_bytes = src->out_bytes,
        .video_packets = src->video_packets, .audio_packets = src->audio_packets,
        .keys = src->keys, .dropped = src->dropped, .consumers = src->consumers,
        .log_packets = (size_t)(src->head - src->first), .log_bytes = src->bytes,
        .video = src->video, .audio = src->audio, .shown_for = shown_for(src),
        .key_interval = src->key_interval,
        .publishing = live_source_publishing(src), .replica = src->tap != NULL, .work = src->work,
    };
    for (const struct live_wire *w = src->wires; w; w = w->next)
        out->wire_bytes += w->bytes;
}

void live_source_prefetch(const struct live_source *src, unsigned n)
{
    co_prefetch(n, src, offsetof(struct live_source, link));
}

struct bump *live_source_packets(struct live_source *src)
{
    if (!src->packets)
        src->packets = bump_new(src->registry ? &src->registry->memory.used : NULL);
    return src->packets;
}

bool live_source_publishing(const struct live_source *src)
{
    return src->publisher || src->followed;
}

bool live_source_is_read(const struct live_source *src)
{
    return src->wires || src->readers || src->taps;
}

co_usec live_source_came(const struct live_source *src, int64_t dts)
{
    const struct live_clock *c = &src->clock;

    return c->last_at ? c->last_at - (c->last - dts) * 100 / 9 : co_now();
}

co_usec live_source_idle_since(const struct live_source *src)
{
    return src->consumers || src->taps ? 0 : src->idle_since;
}

void live_source_players(struct live_source *src, int more)
{
    src->consumers += (unsigned)more;
    src->idle_since = src->consumers ? 0 : co_now();
}

void live_source_sent(struct live_source *src, uint64_t bytes, uint64_t dropped)
{
    src->out_bytes += bytes;
    src->dropped += dropped;
}

/* Compares in constant time. */
static bool same_proof(const struct live_publisher *a, const struct live_publisher *b)
{
    unsigned differ = 0;

    for (size_t i = 0; i < LIVE_PROOF; i++)
        differ |= a->proof[i] ^ b->proof[i];
    return a->has_proof && b->has_proof && differ == 0;
}

/* Returns the time until `old` gives way to `p`. A claim is silent only because we make it wait for
 * its authorization, so for it the rule for the same address does not apply. */
static co_usec rest_of(const struct live_publisher *old, const struct live_publisher *p,
                       bool is_claim, const struct live_takeover *rule)
{
    bool near = strcmp(old->ip, p->ip) == 0;
    co_usec silence = near && !is_claim ? rule->silence_near : rule->silence;
    co_usec rest = old->active_at + silence - co_now();

    if (rule->mode == LIVE_TAKEOVER_ON)
        return 0;
    if (rule->mode == LIVE_TAKEOVER_OFF)
        return CO_FOREVER;
    if (rest <= 0 || same_proof(old, p))
        return 0;
    return near ? rest : CO_FOREVER;
}

/* Finds the publisher or claim that blocks it longest, and for how long. */
static const struct live_publisher *rival(const struct live_source *src,
                                          const struct live_publisher *p,
                                          const struct live_takeover *rule, co_usec *wait)
{
    const struct live_publisher *const others[] = { src->publisher, src->claim };
    const struct live_publisher *found = NULL;

    *wait = 0;
    for (int i = 0; i < 2 && *wait != CO_FOREVER; i++) {
        co_usec rest = others[i] && others[i] != p ? rest_of(others[i], p, i == 1, rule) : 0;

        if (rest == CO_FOREVER || rest > *wait) {
            *wait = rest;
            found = others[i];
        }
    }
    return found;
}

co_usec live_source_wait(const struct live_source *src, const struct live_publisher *p,
                         const struct live_takeover *rule)
{
    co_usec wait;

    (void)rival(src, p, rule, &wait);
    return wait;
}

static void forget_stream(struct live_source *src)
{
    forget_log(src);
    live_configs_clear(&src->configs);
    live_source_charge(src, 0, src->config_bytes);
    src->config_bytes = 0;
    free_ring(src); /* it may have been large */
    src->kinds = (struct live_kinds){ 0 };
    src->video = src->audio = AV_CODEC_NONE;
    src->shown_at = 0;
    src->key_interval = 0;
    src->gop_frames = 0;
}

static void replace(const struct live_source *src, struct live_publisher *old)
{
    old->replaced = true;
    co_stop(old->co, err_new(ERR_REPLACED, "%s", src->name));
}

err_t live_source_claim(struct live_source *src, struct live_publisher *p,
                        const struct live_takeover *rule)
{
    co_usec wait;
    const struct live_publisher *other = rival(src, p, rule, &wait);

    if (src->tap)
        return err_new(ERR_STREAM_BUSY, "%s is published on its owner worker", src->name);
    if (other)
        return err_new(ERR_STREAM_BUSY, "%s is published by %s", src->name, other->ip);
    if (src->claim && src->claim != p)
        replace(src, src->claim);
    src->claim = p;
    return NULL;
}

void live_source_unclaim(struct live_source *src, struct live_publisher *p)
{
    if (src->claim == p)
        src->claim = NULL;
}

static void begun(struct live_source *src)
{
    src->idle_since = co_now();
    live_clock_restart(&src->clock);
    src->changes = (struct live_changes){ 0 };
    if (src->taps)
        live_taps_begin(src);
    live_track_events_signal(src);
}

static void ended(struct live_source *src)
{
    if (src->taps)
        live_taps_end(src);
    live_readers_end(src);
    forget_stream(src);
}

err_t live_source_begin(struct live_source *src, struct live_publisher *p,
                        const struct live_takeover *rule)
{
    struct live_publisher *old;
    err_t err;

    if (p->replaced)
        return err_new(ERR_REPLACED, "%s, before it was admitted", src->name);
    err = live_source_claim(src, p, rule);
    if (err)
        return err;
    src->claim = NULL;
    old = src->publisher;
    if (old) {
        live_source_end(src, old);
        replace(src, old);
    }
    src->publisher = p;
    begun(src);
    return NULL;
}

/* Drops the oldest packets until at most `bytes` are left. */
static void shrink_log(struct live_source *src, size_t bytes)
{
    while (src->first < src->head && src->bytes > bytes)
        drop_first(src);
    if (src->have_key && src->key < src->first)
        forget_key(src);
    live_source_charge_log(src);
}

/* Doubles the ring. Keeps the old one if memory is short. */
static void grow_ring(struct live_source *src)
{
    uint32_t cap = src->cap ? src->cap * 2 : RING_MIN;
    const struct av_packet **ring = mem_try(cap * sizeof(ring[0]));

    if (!ring && src->cap > 0) {
        shrink_log(src, src->bytes / 2);
        return;
    }
    must(ring);
    for (uint64_t seq = src->first; seq < src->head; seq++)
        ring[seq % cap] = src->ring[seq % src->cap];
    free(src->ring);
    src->ring = ring;
    src->cap = cap;
}

static void append(struct live_source *src, const struct av_packet *pkt)
{
    if (src->head - src->first == src->cap)
        grow_ring(src);
    *slot_of(src, src->head++) = av_packet_ref(pkt);
    src->bytes += live_packet_cost(pkt);
}

size_t live_source_droppable(const struct live_source *src)
{
    size_t bytes = src->bytes;

    for (const struct live_wire *w = src->wires; w; w = w->next)
        bytes += w->bytes;
    return bytes;
}

size_t live_source_halve(struct live_source *src)
{
    size_t before = live_source_droppable(src);

    shrink_log(src, src->bytes / 2);
    for (struct live_wire *w = src->wires; w; w = w->next)
        live_wire_shrink(w, w->bytes / 2);
    return before - live_source_droppable(src);
}

static void count_configs(struct live_source *src)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < src->configs.n; i++)
        bytes += live_packet_cost(src->configs.v[i]);
    live_source_charge(src, bytes, src->config_bytes);
    src->config_bytes = bytes;
}

static void set_key(struct live_source *src, const struct av_packet *pkt)
{
    if (!src->shown_at) {
        src->shown_at = co_now();
        src->shown_dts = pkt->dts;
        live_track_events_signal(src);
    }
    if (src->keys > 0 && src->have_key)
        src->key_interval = pkt->dts - src->key_dts;
    src->key = src->head;
    src->key_dts = pkt->dts;
    src->have_key = true;
    src->gop_frames = 0;
    src->keys++;
    if (!src->key_configs || src->configs_seq > src->key_configs_seq) {
        (void)live_configs_unref(src->key_configs);
        src->key_configs = live_configs_snapshot(&src->configs);
        src->key_configs_seq = src->head;
    }
}

static struct live_kept kept(const struct live_source *src, co_usec now)
{
    struct live_kept log = { .first = src->first, .head = src->head, .key = src->key,
                             .have_key = src->have_key, .unread = oldest_unseen(src),
                             .bytes = src->bytes, .gop_frames = src->gop_frames };

    if (log.unread < log.head)
        log.young = live_ages_young(&src->ages, now, src->set.queue_length);
    return log;
}

static void trim(struct live_source *src, co_usec now)
{
    struct live_kept log = kept(src, now);
    size_t bytes = src->bytes;

    for (int i = 0; i < DROPS && bytes - src->bytes < DROP_BYTES &&
           live_policy_drops(&log, &src->set); i++) {
        drop_first(src);
        log.first = src->first;
        log.bytes = src->bytes;
    }
    if (live_policy_forgets(&log, &src->set))
        forget_log(src);
}

/* Wakes parked cursors. Runs after all packets that arrived together, and wakes only some at a
 * time: each turn is at least one system call, so the time is checked after every few. */
static void wake_parked(struct co_task *task)
{
    struct live_source *src = container_of(task, struct live_source, wake);

    live_source_pull(src);
    if (src->taps)
        live_taps_raise(src);
    for (int i = 1; live_source_is_due(src) && (i % WAKES || !co_slice_over()); i++) {
        struct live_consumer *c = src->parked;

        __builtin_prefetch(c->next); /* thousands of them do not fit into a cache */
        live_consumer_unpark(c);
        src->work.wakes++;
        c->on_packets(c);
    }
    if (live_source_is_due(src))
        co_post(task, wake_parked);
    else if (src->tap && src->parked)
        live_tap_request(src);
}

void live_source_wake_soon(struct live_source *src)
{
    co_post(&src->wake, wake_parked);
}

void live_source_refresh(struct live_source *src)
{
    live_source_pull(src);
}

/* Signals track events if the codec was unknown or has changed. */
static void show(struct live_source *src, enum av_codec *codec, uint8_t now)
{
    *codec = now;
    live_track_events_signal(src);
}

static void count(struct live_source *src, const struct av_packet *pkt)
{
    src->work.packets++;
    if (pkt->kind == AV_VIDEO) {
        src->video_packets++;
        if (pkt->codec && pkt->codec != src->video)
            show(src, &src->video, pkt->codec);
    } else if (pkt->kind == AV_AUDIO) {
        src->audio_packets++;
        if (pkt->codec && pkt->codec != src->audio)
            show(src, &src->audio, pkt->codec);
    }
}

/* Records a configuration. Returns false if it equals the one in force and is left out. */
static bool configure(struct live_source *src, const struct av_packet *pkt, bool keep_same)
{
    if (!live_configs_set(&src->configs, pkt, keep_same))
        return false;
    src->configs_seq = src->head + 1; /* a snapshot at head is now out of date */
    count_configs(src);
    live_track_events_signal(src);
    return true;
}

/* Adds a packet to the log, wires and taps, after it is known whether a player may start at it. */
static void take_in(struct live_source *src, const struct av_packet *pkt, co_usec now)
{
    bool key = pkt->start;

    live_ages_mark(&src->ages, src->head, now, src->set.queue_length);
    if (key)
        set_key(src, pkt);
    for (struct live_wire *w = src->wires; w; w = w->next)
        live_wire_push(w, pkt, key, now);
    append(src, pkt);
    src->gop_frames++;
    trim(src, now);
    live_source_charge_log(src);
    if (src->registry && src->registry->memory.used > src->registry->alarm)
        src->registry->squeeze(src->registry);
    if (live_source_is_due(src))
        live_source_wake_soon(src);
}

/* Returns true if the publisher changes its decoder configuration too often; it is stopped, and its
 * further packets are left out. */
static bool is_over(struct live_source *src, const struct av_packet *pkt, co_usec now)
{
    int most = src->set.config_changes;

    if (src->changes.over)
        return true;
    if (!live_changes_exceed(&src->changes, pkt, live_configs_before(&src->configs, pkt), most,
                             now))
        return false;
    live_source_kick(src, err_new(ERR_TOO_MANY, "decoder configuration changed more than %d times "
                                  "in a burst (limits.config_changes)", most));
    return true;
}

static void push(struct live_source *src, struct av_packet *pkt)
{
    co_usec now = co_now();

    if (is_over(src, pkt, now))
        return;
    count(src, pkt);
    if ((pkt->config || pkt->extra) && !configure(src, pkt, src->set.reduce_sequence_header))
        return;
    pkt->start = live_policy_starts(
        &src->kinds, pkt, src->have_key ? pkt->dts - src->key_dts : INT64_MAX, &src->set);
    take_in(src, pkt, now);
    if (src->taps)
        live_taps_put(src, pkt, now);
}

void live_source_follow(struct live_source *src, const struct av_packet *pkt, bool again)
{
    co_usec now = co_now();

    count(src, pkt);
    if ((pkt->config || pkt->extra) && !configure(src, pkt, again))
        return;
    live_clock_follow(&src->clock, pkt, now);
    take_in(src, pkt, now);
}

static void push_mixed(struct live_source *src, struct av_packet *pkt)
{
    struct av_packet *next;
    bool flush = !src->set.mix_correct; /* mix_correct was turned off */

    live_mix_push(src->mix, pkt);
    while ((next = live_mix_pop(src->mix, flush))) {
        push(src, next);
        (void)av_packet_unref(next);
    }
}

void live_source_push(struct live_source *src, struct av_packet *pkt, int64_t ticks)
{
    src->in_packets++;
    src->in_bytes += pkt->size;
    pkt->dts = live_clock_correct(&src->clock, pkt, ticks, co_now());
    if (src->mix)
        push_mixed(src, pkt);
    else
        push(src, pkt);
}

void live_source_end(struct live_source *src, struct live_publisher *p)
{
    struct av_packet *next;

    if (src->publisher != p)
        return;
    while (src->mix && (next = live_mix_pop(src->mix, true))) {
        push(src, next);
        (void)av_packet_unref(next);
    }
    src->publisher = NULL;
    ended(src);
}

void live_source_follow_begin(struct live_source *src)
{
    src->followed = true;
    begun(src);
}

void live_source_follow_end(struct live_source *src)
{
    src->followed = false;
    ended(src);
}

void live_source_kick(struct live_source *src, err_t why)
{
    if (src->publisher)
        co_stop(src->publisher->co, why);
    else
        err_free(&why);
}

long live_source_live(void)
{
    return live;
}
