/* SPDX-License-Identifier: MIT */
/* rtmfp_again.c - chunks read and written again: the same bytes must come out. */
#include "rtmfp_again.h"

static bool redirect_again(struct wr *w, struct rtmfp_bytes body)
{
    struct rtmfp_address list[24];
    struct rtmfp_redirect c;
    struct rd r;
    size_t n = 0;

    if (!rtmfp_redirect_read(&c, body))
        return false;
    for (r = rtmfp_rd(c.addresses); rd_left(&r) > 0 && n < 24; n++)
        rtmfp_address_read(&r, &list[n]);
    return rtmfp_redirect_write(w, c.tag, list, n);
}

static bool session_chunk_again(struct wr *w, const struct rtmfp_chunk *c,
                                       struct rtmfp_user_data *last)
{
    struct rtmfp_ack ack;
    struct rtmfp_exception exception;
    uint64_t flow;

    switch (c->type) {
    case RTMFP_USER_DATA:
        return rtmfp_user_data_read(last, c->body) && rtmfp_user_data_write(w, last);
    case RTMFP_NEXT_USER_DATA:
        return last->seq != 0 && rtmfp_user_data_read_next(last, c->body) &&
               rtmfp_user_data_write(w, last);
    case RTMFP_ACK_BITMAP:
    case RTMFP_ACK_RANGES:
        return rtmfp_ack_read(&ack, c->body, c->type == RTMFP_ACK_BITMAP) &&
               rtmfp_ack_write(w, &ack);
    case RTMFP_BUFFER_PROBE:
        return rtmfp_probe_read(&flow, c->body) && rtmfp_probe_write(w, flow);
    case RTMFP_FLOW_EXCEPTION:
        return rtmfp_exception_read(&exception, c->body) && rtmfp_exception_write(w, &exception);
    default:
        return rtmfp_plain_write(w, (enum rtmfp_type)c->type, c->body);
    }
}

bool chunk_again(struct wr *w, const struct rtmfp_chunk *c,
                               struct rtmfp_user_data *last)
{
    union {
        struct rtmfp_ihello ihello;
        struct rtmfp_rhello rhello;
        struct rtmfp_iikeying iikeying;
        struct rtmfp_rikeying rikeying;
        struct rtmfp_cookie_change change;
        struct rtmfp_forwarded forwarded;
        struct rtmfp_piece piece;
    } u;

    switch (c->type) {
    case RTMFP_IHELLO:
        return rtmfp_ihello_read(&u.ihello, c->body) && rtmfp_ihello_write(w, &u.ihello);
    case RTMFP_RHELLO:
        return rtmfp_rhello_read(&u.rhello, c->body) && rtmfp_rhello_write(w, &u.rhello);
    case RTMFP_REDIRECT:
        return redirect_again(w, c->body);
    case RTMFP_IIKEYING:
        return rtmfp_iikeying_read(&u.iikeying, c->body) && rtmfp_iikeying_write(w, &u.iikeying);
    case RTMFP_RIKEYING:
        return rtmfp_rikeying_read(&u.rikeying, c->body) && rtmfp_rikeying_write(w, &u.rikeying);
    case RTMFP_COOKIE_CHANGE:
        return rtmfp_cookie_change_read(&u.change, c->body) &&
               rtmfp_cookie_change_write(w, &u.change);
    case RTMFP_FORWARDED_IHELLO:
        return rtmfp_forwarded_read(&u.forwarded, c->body) &&
               rtmfp_forwarded_write(w, &u.forwarded);
    case RTMFP_FRAGMENT:
        return rtmfp_piece_read(&u.piece, c->body) && rtmfp_piece_write(w, &u.piece);
    default:
        return session_chunk_again(w, c, last);
    }
}
