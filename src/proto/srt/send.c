/* SPDX-License-Identifier: MIT */
/* send.c - SRT sender: retransmissions first, then new packets; nothing to a silent peer.
 *
 * draft-sharabayko-srt, "Acknowledgement and Lost Packet Handling". A packet is looked up in the
 * log each time it is sent.
 */
#include "proto/srt/send.h"

#include <string.h>

/* How long a peer may acknowledge nothing, or be behind. */
static co_usec srt_sender_patience(const struct srt_sender *s)
{
    return 4 * s->set.latency > CO_SECONDS(1) ? 4 * s->set.latency : CO_SECONDS(1);
}

/* Returns the oldest packet that the peer may lack and that we can still send. */
static uint64_t srt_sender_unacked(const struct srt_sender *s)
{
    return s->acked > s->floor ? s->acked : s->floor;
}

static void srt_sender_give_up(struct srt_sender *s, uint64_t from, uint64_t end);

#define BACKLOG  CO_MS(100) /* packets older than this are sent at a limited pace */
#define PACE_MAX CO_MS(10)  /* the longest time per burst in this case */
#define PROBE    CO_MS(100)

enum { WINDOW_MIN = 16, WINDOW_MAX = 16384, MESSAGES = (1 << 26) - 1, TOKENS = 64 << 10 };

/* Continues at another position of the log. Packets sent before can no longer be looked up; a peer
 * that misses one gets a drop request. */
static void go_on_at(struct srt_sender *s, uint64_t from, bool lead)
{
    s->lead = lead ? s->set.log->lead : 0;
    s->lead_at = s->high;
    s->base = from - s->high - (s->lead ? 1 : 0);
    s->next = s->floor = s->high;
    s->n_retransmits = 0;
    s->skip_due = false;
    s->wake_at = 0;
}

void srt_sender_init(struct srt_sender *s, const struct srt_sender_opts *opts)
{
    unsigned i;

    memset(s, 0, sizeof(*s));
    s->set = *opts;
    s->set.window = opts->window < WINDOW_MIN   ? WINDOW_MIN
                    : opts->window > WINDOW_MAX ? WINDOW_MAX
                                                : opts->window;
    s->room = s->set.window;
    if (opts->cipher)
        s->key = srt_cipher_has(opts->cipher, SRT_EVEN) ? SRT_EVEN : SRT_ODD;
    s->rtt = CO_MS(100);
    s->variance = CO_MS(50);
    s->fresh_at = s->tokens_at = opts->zero;
    s->tokens = INT64_MAX / 2; /* a full bucket */
    s->wake_at = CO_FOREVER;
    for (i = 0; i < SRT_RECENT; i++)
        s->recent[i].packet = (uint16_t)(i + 1); /* never matches a packet of this index */
    go_on_at(s, opts->from, opts->lead);
}

/* Looks up a packet in the log. Tables become due together with the packet after them. */
static bool srt_sender_find(struct srt_sender *s, uint64_t packet, struct srt_log_entry *e)
{
    struct srt_log_entry first;

    if (!s->lead || packet != s->lead_at)
        return srt_log_get(s->set.log, packet + s->base, e);
    if (packet >= s->high) {
        if (!srt_log_get(s->set.log, packet + 1 + s->base, &first))
            return false;
        s->lead_due = first.due;
    }
    if (!srt_log_lead_get(s->set.log, s->lead, e))
        return false;
    e->due = s->lead_due;
    return true;
}

/* ---- bursts */

static void begin(struct srt_burst *b)
{
    b->packets = 0;
    b->pieces = 0;
    b->segment = b->bytes = 0;
}

/* The kernel splits a burst: all packets have the same size, but the last may be shorter. */
static bool fits(struct srt_burst *b, size_t size)
{
    if (b->packets == 0) {
        b->segment = SRT_HEADER + size;
        return true;
    }
    return b->packets < SRT_BURST && SRT_HEADER + size <= b->segment
           && b->bytes == b->packets * b->segment;
}

static void piece(struct srt_burst *b, const void *data, size_t size)
{
    b->iov[b->pieces++] = (struct iovec){ (void *)(uintptr_t)data, size };
    b->bytes += size;
}

static void put(struct srt_sender *s, struct srt_burst *b, uint64_t packet,
                const struct srt_log_entry *e, bool retransmitted)
{
    unsigned i = b->packets++;
    const uint8_t *data = e->data;
    co_usec time = e->due - s->set.zero;
    struct srt_packet p = {
        .time = time > 0 ? (uint32_t)time : 0, /* a negative time would be hours ahead */
        .to = s->set.peer_id,
        .seq = srt_seq_add(s->set.first_seq, (int64_t)packet),
        .message = 1 + (uint32_t)(packet % MESSAGES),
        .position = 3,
        .retransmitted = retransmitted,
        .key = (uint8_t)s->key,
    };

    srt_packet_write(&p, b->headers[i]);
    piece(b, b->headers[i], SRT_HEADER);
    if (s->set.cipher) {
        srt_cipher_run(s->set.cipher, s->key, p.seq, data, b->scratch[i], e->size);
        data = b->scratch[i];
    }
    piece(b, data, e->size);
}

/* ---- retransmissions */

static bool put_drop(struct srt_sender *s, struct srt_burst *b, co_usec now)
{
    struct srt_range r = { srt_seq_add(s->set.first_seq, (int64_t)s->drop),
                           srt_seq_add(s->set.first_seq, (int64_t)s->drop_end - 1) };
    struct srt_packet p = {
        .control = true,
        .type = SRT_DROP,
        .time = (uint32_t)(now - s->set.zero),
        .to = s->set.peer_id,
    };

    s->drop = s->drop_end = 0;
    srt_packet_write(&p, b->headers[0]);
    piece(b, b->headers[0], SRT_HEADER);
    piece(b, b->scratch[0], srt_drop_write(&r, b->scratch[0]));
    b->packets = 1;
    b->segment = b->bytes;
    return true;
}

/* Returns false if the packet no longer fits. */
static bool put_retransmit(struct srt_sender *s, struct srt_burst *b, uint64_t packet)
{
    struct srt_log_entry e;

    if (packet < s->floor || !srt_sender_find(s, packet, &e)) {
        srt_sender_give_up(s, packet, packet + 1);
        return true;
    }
    if (!fits(b, e.size))
        return false;
    put(s, b, packet, &e, true);
    s->stat.retransmitted++;
    return true;
}

static void put_retransmits(struct srt_sender *s, struct srt_burst *b)
{
    struct srt_retransmit *r = s->retransmits;
    unsigned done = 0;

    while (done < s->n_retransmits) {
        uint64_t packet = s->acked + (uint16_t)(r[done].first - (uint16_t)s->acked);

        while (r[done].count && put_retransmit(s, b, packet)) {
            packet++;
            r[done].first++;
            r[done].count--;
        }
        if (r[done].count)
            break;
        done++;
    }
    s->n_retransmits -= done;
    if (done)
        memmove(r, r + done, s->n_retransmits * sizeof(*r));
}

/* ---- new packets */

/* A player that has just joined may be behind because its GOP is about to end, not because its
 * network is slow. */
static bool has_just_joined(const struct srt_sender *s, co_usec now)
{
    return now - s->set.zero <= srt_sender_patience(s);
}

/* Skips to the newest key frame if it is after `number`, or to the next one that arrives. Packets
 * sent before keep their sequence numbers; later ones continue them. */
static bool skip(struct srt_sender *s, uint64_t number, co_usec now)
{
    const struct srt_log *log = s->set.log;

    s->skip_due = !log->has_key || log->key < number || log->key < log->first;
    if (s->skip_due)
        return false;
    if (s->high)
        s->stat.dropped += log->key - number;
    if (s->high && !has_just_joined(s, now))
        s->stat.skips++;
    go_on_at(s, log->key, true);
    s->fresh_at = now;
    return true;
}

/* Called when a silent peer acknowledges again. It skips what it missed up to the newest key frame;
 * if there is no newer key frame, it gets everything. */
static void srt_sender_return(struct srt_sender *s, co_usec now)
{
    const struct srt_log *log = s->set.log;
    uint64_t from = srt_sender_unacked(s);

    s->stalled = false;
    s->progress_at = s->fresh_at = now;
    s->n_retransmits = 0;
    s->wake_at = 0;
    if (log->has_key && log->key > from + s->base) {
        s->counted = s->high; /* counted by the skip */
        srt_sender_give_up(s, from, s->high);
        (void)skip(s, from + s->base, now);
    } else if (from + s->base >= log->first) {
        s->next = from;
    } else {
        s->skip_due = true;
    }
}

/* Duration of a burst at twice the log's rate; 0: unknown. */
static co_usec burst_time(const struct srt_log *log)
{
    struct srt_log_entry a, b;
    uint64_t n = log->head - log->first;

    if (n < 2 || !srt_log_get(log, log->first, &a) || !srt_log_get(log, log->head - 1, &b))
        return 0;
    return (b.due - a.due) * (SRT_BURST / 2) / (co_usec)(n - 1);
}

static co_usec pace(const struct srt_log *log)
{
    co_usec t = burst_time(log);

    return t > 0 && t < PACE_MAX ? t : PACE_MAX;
}

/* The player is behind, because it joined at the GOP cache or its network is slow. Limits the pace,
 * because bursts in a row would overflow the receiver's socket; skips to a newer key frame if there
 * is one. */
static bool may_catch_up(struct srt_sender *s, co_usec due, co_usec now)
{
    const struct srt_log *log = s->set.log;
    uint64_t number = srt_sender_number(s);

    if (due < now - srt_sender_patience(s) && log->has_key && log->key > number &&
        !has_just_joined(s, now))
        return skip(s, number, now);
    if (s->paced_at > now) {
        s->wake_at = s->paced_at;
        return false;
    }
    if (s->paced_at < now - PACE_MAX)
        s->paced_at = now - PACE_MAX;
    s->paces = true;
    s->fresh_at = now;
    return true;
}

static bool may_go_on(struct srt_sender *s, co_usec now)
{
    struct srt_log_entry e;
    uint64_t number = srt_sender_number(s);

    s->paces = false;
    if ((s->skip_due || number < s->set.log->first) && !skip(s, number, now))
        return false;
    if (!srt_sender_find(s, s->next, &e))
        return false;
    return e.due >= now - BACKLOG || may_catch_up(s, e.due, now);
}

/* Returns the end of the packets for which the peer has room, by its last ACK and by our window. */
static uint64_t limit_of(const struct srt_sender *s)
{
    uint64_t room = s->acked + (s->room > WINDOW_MIN ? s->room : WINDOW_MIN);
    uint64_t own = srt_sender_unacked(s) + s->set.window;

    return room < own ? room : own;
}

bool srt_sender_is_full(const struct srt_sender *s)
{
    return s->stalled || s->next >= limit_of(s);
}

static void put_new(struct srt_sender *s, struct srt_burst *b, co_usec now)
{
    uint64_t limit = limit_of(s), before;
    struct srt_log_entry e;

    if (s->next >= limit || !may_go_on(s, now))
        return;
    if (s->next == srt_sender_unacked(s))
        s->progress_at = now;
    before = s->next; /* changes after a skip */
    for (; s->next < limit && srt_sender_find(s, s->next, &e) && fits(b, e.size); s->next++) {
        put(s, b, s->next, &e, s->next < s->high);
        if (s->next < s->high)
            s->stat.retransmitted++;
        else
            s->stat.sent++;
    }
    if (s->paces) /* per packet, because publishers' packets differ in size, which makes bursts
                   * short */
        s->paced_at += pace(s->set.log) * (co_usec)(s->next - before) / SRT_BURST;
    if (s->next > s->high)
        s->high = s->next;
}

/* ---- output */

/* Limit in bytes per second, including retransmissions. */
static int64_t most_rate(const struct srt_sender *s)
{
    uint64_t rate = s->set.maxbw;
    co_usec t;

    if (rate == 0 && (t = burst_time(s->set.log)) > 0)
        rate = (uint64_t)SRT_PACKET_MAX * SRT_BURST / 2 * 1250000 / (uint64_t)t;
    return rate < 1 || rate > 1000000000 ? 1000000000 : (int64_t)rate;
}

/* Token bucket of 20 ms. */
static bool has_tokens(struct srt_sender *s, co_usec now)
{
    int64_t rate = most_rate(s), most = rate / 50 > TOKENS ? rate / 50 : TOKENS;
    co_usec passed = now - s->tokens_at;

    passed = passed < 0 ? 0 : passed > CO_SECONDS(1) ? CO_SECONDS(1) : passed;
    s->tokens += passed * rate / 1000000;
    if (s->tokens > most)
        s->tokens = most;
    s->tokens_at = now;
    if (s->tokens > 0)
        return true;
    s->wake_at = now + CO_MS(5);
    return false;
}

/* Handles a peer that has acknowledged nothing for long: sends one packet now and then until it
 * responds. */
static bool is_silent(struct srt_sender *s, struct srt_burst *b, co_usec now)
{
    if (!s->stalled) {
        if (s->next == srt_sender_unacked(s) || now - s->progress_at <= srt_sender_patience(s))
            return false;
        s->stalled = true;
        s->n_retransmits = 0;
        s->probe_at = now;
    }
    if (now >= s->probe_at) {
        s->probe_at = now + (s->rtt > PROBE ? s->rtt : PROBE);
        (void)put_retransmit(s, b, srt_sender_unacked(s));
    }
    s->wake_at = s->probe_at;
    return true;
}

bool srt_sender_output(struct srt_sender *s, struct srt_burst *out, co_usec now)
{
    begin(out);
    s->wake_at = CO_FOREVER;
    if (s->drop_end)
        (void)put_drop(s, out, now);
    else if (has_tokens(s, now) && !is_silent(s, out, now)) {
        put_retransmits(s, out);
        if (s->n_retransmits == 0)
            put_new(s, out, now);
    }
    if (out->packets == 0 && s->drop_end)
        (void)put_drop(s, out, now);
    s->stat.in_flight = (unsigned)(s->next - srt_sender_unacked(s));
    if (out->packets == 0 && s->wake_at == 0)
        s->wake_at = CO_FOREVER; /* it skipped, and there is no room for more */
    if (out->packets == 0)
        return false;
    s->wake_at = 0;
    s->tokens -= (int64_t)out->bytes;
    s->stat.bytes += out->bytes;
    return true;
}

#define RTT_MIN CO_MS(5)
#define RTT_MAX CO_SECONDS(5)

enum { WORK_MAX = 1024 }; /* most packets that one NAK can make us examine */

/* Gives up these packets and schedules a drop request for the peer. */
static void srt_sender_give_up(struct srt_sender *s, uint64_t from, uint64_t end)
{
    if (end > s->counted) {
        s->stat.dropped += end - (from > s->counted ? from : s->counted);
        s->counted = end;
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

/* Removes acknowledged packets from the retransmission queue; their 16-bit numbers must not fall
 * behind `acked`. */
static void drop_acked_retransmits(struct srt_sender *s)
{
    struct srt_retransmit *r = s->retransmits;
    unsigned i, kept = 0;

    for (i = 0; i < s->n_retransmits; i++) {
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
    s->n_retransmits = kept;
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
        drop_acked_retransmits(s);
    }
    if (s->stalled)
        srt_sender_return(s, now);
    s->stat.in_flight = (unsigned)(s->next - srt_sender_unacked(s));
    return true;
}

/* A retransmitted number comes from a receiver that did not get our ACKACK. */
bool srt_sender_wants_ackack(struct srt_sender *s, uint32_t number, co_usec now)
{
    bool before = s->ackacks && (int32_t)(number - s->ack_number) <= 0;

    if (number == 0) /* a light ACK */
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

/* ---- NAK: a receiver repeats a packet in NAKs until it arrives, about twice in the time that a
 * retransmission takes. So the time of recent retransmissions is recorded. */

/* Queues a retransmission. Returns false if the queue is full; the next NAK will repeat it. */
static bool queue(struct srt_sender *s, uint16_t packet)
{
    struct srt_retransmit *last = &s->retransmits[s->n_retransmits - (s->n_retransmits ? 1 : 0)];

    if (s->n_retransmits && packet == (uint16_t)(last->first + last->count)) {
        last->count++;
        return true;
    }
    if (s->n_retransmits == SRT_RETRANSMITS)
        return false;
    s->retransmits[s->n_retransmits++] = (struct srt_retransmit){ packet, 1 };
    return true;
}

/* Returns the record of a packet's last retransmission, or the entry to replace: the older of
 * two. */
static struct srt_recent *recent_of(struct srt_sender *s, uint16_t packet, uint16_t at)
{
    struct srt_recent *a = &s->recent[packet % SRT_RECENT];
    struct srt_recent *b = &s->recent[(packet ^ SRT_RECENT / 2) % SRT_RECENT];

    if (a->packet == packet || b->packet == packet)
        return a->packet == packet ? a : b;
    return (uint16_t)(at - a->at) >= (uint16_t)(at - b->at) ? a : b;
}

/* Retransmits a packet at most once per round trip time plus its variance. */
static void retransmit(struct srt_sender *s, uint16_t packet, co_usec now)
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

/* Whether the receiver no longer waits for the packet. Time counts from its first transmission, and
 * a player that was behind got everything at once. */
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
            retransmit(s, (uint16_t)packet, now);
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
    if (s->n_retransmits || s->drop_end)
        s->wake_at = 0;
    return true;
}
