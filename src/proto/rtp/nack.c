/* SPDX-License-Identifier: MIT */
/* nack.c - which packets of a source are missing, and when to request their retransmission. */
#include "proto/rtp/nack.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

struct rtp_hole {
    int64_t seq;
    co_usec since, requested_at; /* when it was detected, and last requested */
    unsigned tries;
};

void rtp_nack_fini(struct rtp_nack *n)
{
    free(n->holes);
    n->holes = NULL;
    n->n = 0;
}

void rtp_nack_restart(struct rtp_nack *n)
{
    n->given_up += n->n;
    n->n = 0;
    n->started = false;
}

static void forget(struct rtp_nack *n, unsigned i, unsigned count)
{
    memmove(&n->holes[i], &n->holes[i + count], (n->n - i - count) * sizeof(n->holes[0]));
    n->n -= count;
}

/* Index of the first missing packet with a number of at least seq. */
static unsigned find(const struct rtp_nack *n, int64_t seq)
{
    unsigned low = 0, high = n->n;

    while (low < high) {
        unsigned mid = (low + high) / 2;

        if (n->holes[mid].seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void fill(struct rtp_nack *n, int64_t seq, co_usec now)
{
    unsigned i = find(n, seq);

    if (i == n->n || n->holes[i].seq != seq)
        return;
    n->recovered += n->holes[i].tries > 0;
    if (n->holes[i].tries == 1)
        n->recovery_time = now - n->holes[i].requested_at;
    forget(n, i, 1);
}

/* Marks all packets before seq as missing. Drops the oldest ones if there are too many. */
static void open_gap(struct rtp_nack *n, int64_t seq, co_usec now)
{
    unsigned gap = (unsigned)(seq - n->next);

    if (!n->holes)
        n->holes = must(calloc(RTP_NACK_HOLES, sizeof(n->holes[0])));
    if (n->n + gap > RTP_NACK_HOLES) {
        unsigned most = n->n + gap - RTP_NACK_HOLES;

        n->given_up += most;
        forget(n, 0, most);
    }
    for (; n->next < seq; n->next++)
        n->holes[n->n++] = (struct rtp_hole){ .seq = n->next, .since = now };
}

bool rtp_nack_put(struct rtp_nack *n, int64_t seq, co_usec now)
{
    bool fine = true;

    if (!n->started) {
        n->started = true;
        n->next = seq + 1;
        return true;
    }
    if (seq < n->next) {
        fill(n, seq, now);
        return true;
    }
    if (seq - n->next > RTP_NACK_GAP) {
        n->given_up += n->n + (uint64_t)(seq - n->next);
        n->n = 0;
        fine = false;
    } else if (seq > n->next) {
        open_gap(n, seq, now);
    }
    n->next = seq + 1;
    return fine;
}

static bool is_over(const struct rtp_hole *h, co_usec now)
{
    return now - h->since >= RTP_NACK_GIVE_UP;
}

static co_usec hole_due(const struct rtp_hole *h, co_usec rtt)
{
    co_usec again = rtt > RTP_NACK_AGAIN ? rtt : RTP_NACK_AGAIN, over = h->since + RTP_NACK_GIVE_UP;
    co_usec at = h->tries == 0 ? h->since + RTP_NACK_GRACE : h->requested_at + again;

    return at < over ? at : over;
}

unsigned rtp_nack_request(struct rtp_nack *n, co_usec now, co_usec rtt, uint16_t *seqs,
                          unsigned room)
{
    unsigned kept = 0, count = 0;

    for (unsigned i = 0; i < n->n; i++) {
        struct rtp_hole h = n->holes[i];
        bool due = count < room && hole_due(&h, rtt) <= now;

        if (is_over(&h, now) || (due && h.tries == RTP_NACK_TRIES)) {
            n->given_up++;
            continue;
        }
        if (due) {
            seqs[count++] = (uint16_t)(uint64_t)h.seq;
            h.tries++;
            h.requested_at = now;
        }
        n->holes[kept++] = h;
    }
    n->n = kept;
    n->requested += count;
    return count;
}

co_usec rtp_nack_due(const struct rtp_nack *n, co_usec rtt)
{
    co_usec due = CO_FOREVER;

    for (unsigned i = 0; i < n->n; i++) {
        co_usec at = hole_due(&n->holes[i], rtt);

        if (due == CO_FOREVER || at < due)
            due = at;
    }
    return due;
}
