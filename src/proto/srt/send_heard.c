/* SPDX-License-Identifier: MIT */
/* send_heard.c - what the peer of a sender says: what it has, and what it misses.
 *
 * draft-sharabayko-srt, "Acknowledgement and Lost Packet Handling". A receiver names a packet again
 * and again until it has it, about twice in the time that a repeat needs. So it is known of the
 * last packets that were repeated when that was.
 */
#include "proto/srt/send_impl.h"

#include <string.h>

#define RTT_MIN CO_MS(5)
#define RTT_MAX CO_SECONDS(5)

enum { WORK_MAX = 1024 }; /* packets that one NAK makes us look at */

void srt_sender_give_up(struct srt_sender *s, uint64_t from, uint64_t end)
{
    if (end > s->told) {
        s->stat.dropped += end - (from > s->told ? from : s->told);
        s->told = end;
    }
    if (s->drop_end) {
        from = from < s->drop ? from : s->drop;
        end = end > s->drop_end ? end : s->drop_end;
    }
    s->drop = from;
    s->drop_end = end;
}

/* ---- ACK */

static co_usec bounded(uint32_t t, co_usec least)
{
    return t < least ? least : t > RTT_MAX ? RTT_MAX : t;
}

/* What is due to be repeated and was acknowledged meanwhile: numbers of 16 bits must not be behind
 * what they are told from. */
static void forget_repeats(struct srt_sender *s)
{
    struct srt_repeat *r = s->repeats;
    unsigned i, kept = 0;

    for (i = 0; i < s->n_repeats; i++) {
        int behind = (int16_t)((uint16_t)s->acked - r[i].first);

        if (behind >= r[i].count)
            continue;
        r[kept] = r[i];
        if (behind > 0) {
            r[kept].first = (uint16_t)s->acked;
            r[kept].count = (uint16_t)(r[i].count - behind);
        }
        kept++;
    }
    s->n_repeats = kept;
}

bool srt_sender_ack(struct srt_sender *s, const struct srt_ack *a, co_usec now)
{
    int64_t more = srt_seq_distance(srt_seq_add(s->set.first_seq, (int64_t)s->acked), a->next);

    if (more > (int64_t)(s->high - s->acked))
        return false;
    if (a->words >= 4) {
        s->rtt = bounded(a->rtt, RTT_MIN);
        s->variance = bounded(a->variance, 0);
        if (more >= 0)
            s->room = a->room < s->set.window ? a->room : s->set.window;
    }
    if (more > 0) {
        s->acked += (uint64_t)more;
        s->next = s->next > s->acked ? s->next : s->acked;
        s->progress_at = now;
        forget_repeats(s);
    }
    if (s->stalled)
        srt_sender_return(s, now);
    s->stat.in_flight = (unsigned)(s->next - srt_sender_unacked(s));
    return true;
}

/* Numbers that come again are of a receiver that did not hear our answer. */
bool srt_sender_wants_ackack(struct srt_sender *s, uint32_t number, co_usec now)
{
    bool before = s->ackacks && (int32_t)(number - s->ack_number) <= 0;

    if (number == 0) /* a light one */
        return false;
    if (!before)
        s->ack_number = number;
    if (s->ackacks < 10)
        s->ackacks++;
    else if (!before && now - s->ackack_at < CO_MS(100))
        return false;
    s->ackack_at = now;
    return true;
}

/* ---- NAK */

/* False: as many are under way as can be kept, the next NAK will name it again. */
static bool queue(struct srt_sender *s, uint16_t packet)
{
    struct srt_repeat *last = &s->repeats[s->n_repeats - (s->n_repeats ? 1 : 0)];

    if (s->n_repeats && packet == (uint16_t)(last->first + last->count)) {
        last->count++;
        return true;
    }
    if (s->n_repeats == SRT_REPEATS)
        return false;
    s->repeats[s->n_repeats++] = (struct srt_repeat){ packet, 1 };
    return true;
}

/* What is known of a packet's last repeat, or the place for that: of two, the older. */
static struct srt_recent *recent_of(struct srt_sender *s, uint16_t packet, uint16_t at)
{
    struct srt_recent *a = &s->recent[packet % SRT_RECENT];
    struct srt_recent *b = &s->recent[(packet ^ SRT_RECENT / 2) % SRT_RECENT];

    if (a->packet == packet || b->packet == packet)
        return a->packet == packet ? a : b;
    return (uint16_t)(at - a->at) >= (uint16_t)(at - b->at) ? a : b;
}

/* Once in the time in which it could have come: a round trip, and how much that varies. */
static void repeat(struct srt_sender *s, uint16_t packet, co_usec now)
{
    uint16_t at = (uint16_t)(now >> 10);
    struct srt_recent *recent = recent_of(s, packet, at);
    bool known = recent->packet == packet;
    co_usec vary = s->variance < s->rtt / 2 ? s->variance : s->rtt / 2;

    if (known && (co_usec)(uint16_t)(at - recent->at) << 10 < s->rtt + vary)
        return;
    if (!queue(s, packet))
        return;
    if (!known)
        s->stat.lost++;
    *recent = (struct srt_recent){ packet, at };
}

/* For longer nobody waits for it over there. Time counts from when it was first sent, and for who
 * was behind all came at once. */
static bool is_stale(const struct srt_sender *s, co_usec due, co_usec now)
{
    co_usec most = s->set.latency + s->set.latency / 4;

    return now - (due > s->fresh_at ? due : s->fresh_at)
           > (most > CO_SECONDS(1) ? most : CO_SECONDS(1));
}

static void missing(struct srt_sender *s, uint64_t first, uint64_t last, unsigned *work,
                    co_usec now)
{
    struct srt_log_entry e;
    uint64_t packet = first;

    if (packet < s->floor) {
        packet = last < s->floor ? last + 1 : s->floor;
        srt_sender_give_up(s, first, packet);
    }
    for (; packet <= last && *work < WORK_MAX; packet++, ++*work) {
        if (!srt_sender_find(s, packet, &e) || is_stale(s, e.due, now))
            srt_sender_give_up(s, packet, packet + 1);
        else
            repeat(s, (uint16_t)packet, now);
    }
}

bool srt_sender_nak(struct srt_sender *s, const uint8_t *body, size_t size, co_usec now)
{
    uint32_t acked = srt_seq_add(s->set.first_seq, (int64_t)s->acked);
    struct srt_nak_reader reader;
    struct srt_range r;
    unsigned work = 0;

    if (s->stalled)
        srt_sender_return(s, now);
    srt_nak_begin(&reader, body, size);
    while (work < WORK_MAX && srt_nak_next(&reader, &r)) {
        int64_t first = srt_seq_distance(acked, r.first), last = srt_seq_distance(acked, r.last);

        if (last < first || last >= (int64_t)(s->high - s->acked))
            return false;
        if (last >= 0)
            missing(s, s->acked + (uint64_t)(first > 0 ? first : 0), s->acked + (uint64_t)last,
                    &work, now);
    }
    if (s->n_repeats || s->drop_end)
        s->again_at = 0;
    return true;
}
