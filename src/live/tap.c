/* SPDX-License-Identifier: MIT */
/* tap.c - carries the packets of a source to its replica on another worker.
 *
 * No wakeup is lost: the reader stores `wake_at` and then loads `head`; the owner stores `head` and
 * then loads `wake_at`. All are sequentially consistent, so one of them sees the other's store. A
 * `wake_at` that is too early costs an unnecessary wakeup; if the owner clears it, a wakeup is in
 * progress, after which the reader sets it again.
 */
#include "live/tap.h"

#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "live/impl.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Some slots stay free for events that must not be lost: a publisher began or ended. */
enum { SLOTS_MIN = 4096, SLOTS_MAX = 65536, SPARE = 8, LINE = 64 };
/* Bytes copied at a time, before other coroutines run. */
enum { PULL_BYTES = 4 << 20 };
/* A tap is polled at least twice a second: packets that wait for less than this are not late. */
#define PATIENCE CO_SECONDS(2)

/* Contents of a slot: a pointer or a number, with its type in the lowest bits. */
enum what {
    PACKET,
    /* configuration in force that the reader may know: its packet was not sent over the tap */
    CONFIG,
    BEGIN,
    END,
    LOST,   /* a number of packets that are missing here */
    WHATS = 8,
};

struct live_tap {
    /* used by the owner */
    struct live_source *owner;
    struct live_tap *next; /* next tap of the owner */
    void (*raise)(void *arg);
    void *arg;
    uint64_t put, released; /* slots filled so far; slots whose packets are released */
    size_t bytes;        /* bytes of the packets between the two */
    struct live_ages ages;
    uint64_t lost;
    bool announced;  /* the reader knows that there is a publisher */
    bool skips; /* it was full: skips packets until it is empty and a key frame arrives */
    bool due;

    /* used by the reader */
    _Alignas(LINE) uint64_t taken;
    uint64_t polled_at, released_at;
    uint64_t left_out; /* packets lost because memory was short */

    /* shared, each in its own cache line */
    _Alignas(LINE) _Atomic uint64_t head; /* written by the owner: slots filled so far */
    _Alignas(LINE) _Atomic uint64_t tail; /* written by the reader: slots taken */
    _Alignas(LINE) _Atomic uint64_t wake_at; /* wake the reader when head reaches it */
    atomic_bool raised;                      /* the reader was woken and has not polled yet */

    _Alignas(LINE) uint32_t cap; /* a power of two */
    uintptr_t slots[];
};

static size_t size_of(uint32_t cap)
{
    size_t size = sizeof(struct live_tap) + cap * sizeof(uintptr_t);

    return (size + LINE - 1) / LINE * LINE;
}

static uintptr_t *slot(struct live_tap *tap, uint64_t at)
{
    return &tap->slots[at & (tap->cap - 1)];
}

static enum what what_of(uintptr_t slot)
{
    return (enum what)(slot % WHATS);
}

static const struct av_packet *packet_of(uintptr_t slot)
{
    return what_of(slot) <= CONFIG ? (const struct av_packet *)(slot - slot % WHATS) : NULL;
}

/* ---- owner */

static co_usec patience(const struct live_tap *tap)
{
    co_usec most = tap->owner->set.queue_length;

    return most > PATIENCE ? most : PATIENCE;
}

/* Fills a slot. Publishes the new head, then checks whether the reader wants a wakeup. */
static void put(struct live_tap *tap, uintptr_t value, enum what what)
{
    *slot(tap, tap->put) = value | what;
    atomic_store(&tap->head, ++tap->put);
}

static void put_packet(struct live_tap *tap, const struct av_packet *pkt, enum what what,
                       co_usec now)
{
    live_ages_mark(&tap->ages, tap->put, now, patience(tap));
    tap->bytes += live_packet_cost(pkt);
    put(tap, (uintptr_t)av_packet_ref(pkt), what);
}

static void give_back(struct live_tap *tap, uint64_t to)
{
    for (; tap->released != to; tap->released++) {
        const struct av_packet *pkt = packet_of(*slot(tap, tap->released));

        if (pkt)
            tap->bytes -= live_packet_cost(pkt);
        (void)av_packet_unref(pkt);
    }
}

static void release_taken(struct live_tap *tap)
{
    give_back(tap, atomic_load_explicit(&tap->tail, memory_order_acquire));
}

static bool is_full(const struct live_tap *tap, size_t more, co_usec now)
{
    if (tap->released == tap->put)
        return false;
    return tap->put - tap->released >= tap->cap - SPARE ||
           tap->bytes + more > tap->owner->set.max_bytes ||
           tap->released < live_ages_young(&tap->ages, now, patience(tap));
}

/* Returns true if so much waits that the reader should poll, even if no cursor is parked. */
static bool is_half_full(const struct live_tap *tap)
{
    return tap->put - tap->released > tap->cap / 2 || tap->bytes > tap->owner->set.max_bytes / 2;
}

static void raise_soon(struct live_tap *tap)
{
    tap->due = true;
    live_source_wake_soon(tap->owner);
}

static void check_parked(struct live_tap *tap)
{
    if (tap->put < atomic_load(&tap->wake_at) && !is_half_full(tap))
        return;
    if (!atomic_load_explicit(&tap->raised, memory_order_relaxed))
        raise_soon(tap);
}

void live_taps_raise(struct live_source *src)
{
    for (struct live_tap *tap = src->taps; tap; tap = tap->next) {
        if (!tap->due)
            continue;
        tap->due = false;
        atomic_store(&tap->wake_at, UINT64_MAX);
        if (!atomic_exchange(&tap->raised, true))
            tap->raise(tap->arg);
    }
}

static void announce_begin(struct live_tap *tap)
{
    if (!tap->announced)
        put(tap, 0, BEGIN);
    tap->announced = true;
}

static void put_configs(struct live_tap *tap, const struct live_configs *c, co_usec now)
{
    for (unsigned i = 0; i < c->n; i++)
        put_packet(tap, c->v[i], CONFIG, now);
}

/* Returns true if a tap that skips may continue at this packet: the reader has taken all earlier
 * ones, and may start here. */
static bool goes_on(struct live_tap *tap, const struct av_packet *pkt, co_usec now)
{
    if (tap->released != tap->put || !pkt->start)
        return false;
    tap->skips = false;
    announce_begin(tap);
    if (tap->lost > 0)
        put(tap, tap->lost * WHATS, LOST);
    tap->lost = 0;
    put_configs(tap, &tap->owner->configs, now);
    return true;
}

void live_taps_put(struct live_source *src, const struct av_packet *pkt, co_usec now)
{
    for (struct live_tap *tap = src->taps; tap; tap = tap->next) {
        release_taken(tap);
        if (!tap->skips)
            tap->skips = is_full(tap, live_packet_cost(pkt), now);
        if (!tap->skips || goes_on(tap, pkt, now))
            put_packet(tap, pkt, PACKET, now);
        else
            tap->lost++;
        check_parked(tap);
    }
}

void live_taps_begin(struct live_source *src)
{
    for (struct live_tap *tap = src->taps; tap; tap = tap->next) {
        release_taken(tap);
        tap->skips |= is_full(tap, 0, co_now());
        if (!tap->skips)
            announce_begin(tap);
        raise_soon(tap);
    }
}

/* A full tap still has a slot for this event: the next begin waits until the tap continues. */
void live_taps_end(struct live_source *src)
{
    for (struct live_tap *tap = src->taps; tap; tap = tap->next) {
        if (tap->announced)
            put(tap, 0, END);
        tap->announced = false;
        raise_soon(tap);
    }
}

/* The log and each tap, except one that skips, hold the same newest packets. */
size_t live_taps_kept(const struct live_source *src)
{
    size_t most = src->bytes, beside = 0;

    for (const struct live_tap *tap = src->taps; tap; tap = tap->next) {
        if (tap->skips)
            beside += tap->bytes;
        else if (tap->bytes > most)
            most = tap->bytes;
    }
    return most + beside;
}

/* Fills a new tap with the packets that a joining player would get. */
static void fill(struct live_tap *tap, bool cached, co_usec now)
{
    const struct live_source *owner = tap->owner;

    announce_begin(tap);
    put_configs(tap, cached ? owner->key_configs : &owner->configs, now);
    for (uint64_t at = owner->key; cached && at < owner->head; at++)
        put_packet(tap, owner->ring[at & (owner->cap - 1)], PACKET, now);
}

static uint32_t cap_for(uint64_t packets)
{
    uint32_t cap = SLOTS_MIN;

    while (cap < SLOTS_MAX && cap / 2 < packets)
        cap *= 2;
    return cap;
}

struct live_tap *live_tap_open(struct live_source *owner, void (*raise)(void *arg), void *arg)
{
    const struct live_span log = live_source_span(owner);
    uint64_t from;
    bool cached = live_policy_join(&log, owner->set.gop_cache, &from);
    uint64_t group = owner->head - from;
    uint32_t cap;
    struct live_tap *tap;

    if (group > SLOTS_MAX / 2) { /* too large: waits for the next key frame */
        cached = false;
        group = 0;
    }
    cap = cap_for(group);
    tap = must(aligned_alloc(LINE, size_of(cap)));
    *tap = (struct live_tap){ .owner = live_source_ref(owner), .next = owner->taps, .raise = raise,
                              .arg = arg, .cap = cap, .wake_at = UINT64_MAX };
    owner->taps = tap;
    live_source_charge(owner, size_of(cap), 0);
    if (live_source_publishing(owner))
        fill(tap, cached, co_now());
    return tap;
}

void live_tap_tidy(struct live_tap *tap)
{
    release_taken(tap);
    live_source_charge_log(tap->owner);
}

struct live_tap *live_tap_close(struct live_tap *tap)
{
    struct live_source *owner = tap->owner;

    LIST_CUT(&owner->taps, tap);
    give_back(tap, tap->put);
    live_source_charge(owner, 0, size_of(tap->cap));
    live_source_charge_log(owner);
    free(tap);
    if (!owner->taps && !owner->consumers)
        owner->idle_since = co_now();
    (void)live_source_unref(owner);
    return NULL;
}

/* ---- reader */

static void note_lost(struct live_source *src, uint64_t packets)
{
    src->dropped += packets * src->consumers;
    log_warn("slow worker: dropped %llu packets of %s, continues at a key frame",
             (unsigned long long)packets, src->name);
}

/* Copies a packet. Returns NULL if memory is short. */
static struct av_packet *copy_of(struct live_source *src, const struct av_packet *pkt)
{
    /* A stream keeps its configuration as long as it exists: it must not pin a block of packets. */
    bool apart = pkt->config || pkt->extra;

    return av_packet_copy_in(apart ? NULL : live_source_packets(src), pkt);
}

static void take_packet(struct live_source *src, const struct av_packet *pkt, enum what what)
{
    struct live_tap *tap = src->tap;
    bool wanted = tap->left_out == 0 || pkt->start || pkt->config || pkt->extra;
    struct av_packet *copy = wanted ? copy_of(src, pkt) : NULL;

    if (!copy) {
        tap->left_out++;
        return;
    }
    if (tap->left_out > 0 && pkt->start) {
        note_lost(src, tap->left_out);
        tap->left_out = 0;
    }
    live_source_follow(src, copy, what == CONFIG);
    (void)av_packet_unref(copy);
}

static void take(struct live_source *src, uintptr_t slot)
{
    switch (what_of(slot)) {
    case BEGIN:
        live_source_follow_begin(src);
        break;
    case END:
        live_source_follow_end(src);
        break;
    case LOST:
        note_lost(src, slot / WHATS);
        break;
    default:
        take_packet(src, packet_of(slot), what_of(slot));
    }
}

static size_t bytes_of(uintptr_t slot)
{
    const struct av_packet *pkt = packet_of(slot);

    return pkt ? live_packet_cost(pkt) : 0;
}

bool live_tap_pull(struct live_source *src)
{
    struct live_tap *tap = src->tap;
    uint64_t head = atomic_load(&tap->head);
    size_t bytes = 0;

    while (tap->taken != head && bytes < PULL_BYTES) {
        uintptr_t next = *slot(tap, tap->taken);

        bytes += bytes_of(next);
        take(src, next);
        tap->taken++;
        atomic_store_explicit(&tap->tail, tap->taken, memory_order_release);
    }
    if (tap->taken == head)
        return true;
    live_source_wake_soon(src);
    return false;
}

/* Returns the head of the tap at which the first parked cursor is due; events make it slightly
 * early. */
static uint64_t wake_at(const struct live_source *src)
{
    uint64_t due = src->parked ? src->parked->wake_seq : UINT64_MAX;

    if (!src->parked)
        return UINT64_MAX;
    return src->tap->taken + (due > src->head ? due - src->head : 1);
}

void live_tap_request(struct live_source *src)
{
    struct live_tap *tap = src->tap;

    do {
        uint64_t at = wake_at(src);

        atomic_store(&tap->wake_at, at);
        if (atomic_load(&tap->head) < at)
            return;
    } while (live_tap_pull(src) && !live_source_is_due(src));
}

/* A later wake_at needs no check of head: if the owner still sees the earlier one, it only wakes
 * us. */
void live_tap_unrequest(struct live_source *src)
{
    atomic_store_explicit(&src->tap->wake_at, wake_at(src), memory_order_relaxed);
}

void live_tap_follow(struct live_tap *tap, struct live_source *src)
{
    assert(!src->tap && !src->publisher && !src->claim);
    src->tap = tap;
    live_source_wake_soon(src); /* polls the tap and checks for parked cursors */
    (void)live_tap_pull(src);
}

void live_tap_raised(struct live_source *src)
{
    struct live_tap *tap = src->tap;

    if (!tap) /* it was closed meanwhile */
        return;
    atomic_store(&tap->raised, false);
    if (live_tap_pull(src) && src->parked && !live_source_is_due(src))
        live_tap_request(src);
}

bool live_tap_poll(struct live_source *src)
{
    struct live_tap *tap = src->tap;
    bool rests;

    (void)live_tap_pull(src);
    rests = tap->taken == tap->polled_at && tap->taken != tap->released_at;
    tap->polled_at = tap->taken;
    if (rests)
        tap->released_at = tap->taken;
    return rests;
}

void live_tap_leave(struct live_source *src)
{
    src->tap = NULL;
    if (src->followed)
        live_source_follow_end(src);
}
