/* SPDX-License-Identifier: MIT */
/* burst.c - packets for players: encrypted into one buffer, sent with few system calls. */
#include "serve/rtc/play.h"

#include <string.h>

/* Above this there is no space for another row and a packet. */
enum { FULL = 2 * RTC_ROW_BYTES };

void rtc_burst_send(struct rtc_burst *b)
{
    rtc_batch_send(&b->batch);
    b->begin = b->end = 0;
}

void rtc_burst_begin(struct rtc_burst *b, struct rtc_peer *p)
{
    b->peer = p;
    b->packets = 0;
    b->closed = false;
}

/* Ends the current row; it is sent soon. */
static void end_row(struct rtc_burst *b)
{
    size_t size = b->end - b->begin;

    if (b->packets == 0)
        return;
    rtc_batch_add(&b->batch, b->peer, b->data + b->begin, size, b->segment);
    b->peer->service->stat.sent += b->packets;
    b->peer->service->stat.sent_bytes += size;
    b->packets = 0;
    b->closed = false;
    b->begin = b->end;
    if (b->end > FULL)
        rtc_burst_send(b);
}

static size_t protect(const struct rtc_peer *p, uint8_t *to, const uint8_t *head,
                      size_t head_size, const uint8_t *payload, size_t size, uint64_t index)
{
    if (p->srtp_out)
        return srtp_protect(p->srtp_out, to, head, head_size, payload, size, index);
    if (!p->clear)
        return 0;
    memcpy(to, head, head_size);
    if (size > 0)
        memcpy(to + head_size, payload, size);
    return head_size + size;
}

size_t rtc_burst_add(struct rtc_burst *b, const uint8_t *head, size_t head_size,
                     const uint8_t *payload, size_t size, uint64_t index)
{
    size_t most = head_size + size + SRTP_TAIL, done;

    if (b->packets == RTC_ROW_PACKETS || b->end - b->begin + most > RTC_ROW_BYTES)
        end_row(b);
    done = protect(b->peer, b->data + b->end, head, head_size, payload, size, index);
    if (done == 0)
        return 0;
    if (b->packets > 0 && (b->closed || done > b->segment)) {
        size_t at = b->end;

        end_row(b);
        if (b->begin != at)
            memmove(b->data + b->begin, b->data + at, done);
    }
    if (b->packets == 0)
        b->segment = done;
    b->closed = done < b->segment;
    b->packets++;
    b->end += done;
    return done;
}

void rtc_burst_end(struct rtc_burst *b)
{
    end_row(b);
}
