/* SPDX-License-Identifier: MIT */
/* certificate.c - certificates, [PROFILE] 4.3. */
#include "proto/rtmfp/certificate.h"

enum { HOSTNAME = 0x00, ANCILLARY = 0x0a, EXTRA = 0x0e, EPHEMERAL = 0x15, STATIC = 0x1d };

static bool note_ephemeral(struct rtmfp_certificate *c, struct rtmfp_bytes value)
{
    struct rd r = rtmfp_rd(value);
    enum rtmfp_group group = rtmfp_group_of(rtmfp_vlu_read(&r));

    c->is_ephemeral = true;
    if (!r.bad && group < RTMFP_GROUPS)
        c->ephemeral[group] = true;
    return !r.bad && rd_left(&r) == 0;
}

static bool note_static(struct rtmfp_certificate *c, struct rtmfp_bytes value)
{
    struct rd r = rtmfp_rd(value);
    enum rtmfp_group group = rtmfp_group_of(rtmfp_vlu_read(&r));

    c->is_static = true;
    if (!r.bad && group < RTMFP_GROUPS)
        c->key[group] = rtmfp_rest(&r);
    return !r.bad;
}

static bool note(struct rtmfp_certificate *c, const struct rtmfp_option *o)
{
    switch (o->type) {
    case HOSTNAME:
        c->has_hostname = true;
        c->hostname = o->value;
        return true;
    case ANCILLARY:
        c->accepts_ancillary = true;
        return true;
    case EPHEMERAL:
        return note_ephemeral(c, o->value);
    case STATIC:
        return note_static(c, o->value);
    default:
        return true;
    }
}

bool rtmfp_certificate_read(struct rtmfp_certificate *c, struct rtmfp_bytes data)
{
    struct rtmfp_options list = rtmfp_options_of(data);
    struct rtmfp_option o;
    const uint8_t *at = data.p;
    bool fine = data.n <= RTMFP_CERTIFICATE_MAX, marked = false;

    *c = (struct rtmfp_certificate){ .canonical = data };
    for (; fine && rtmfp_option_next(&list, &o); at = list.r.p) {
        if (o.marker && !marked)
            c->canonical.n = (size_t)(at - data.p);
        marked |= o.marker;
        fine = marked || note(c, &o);
    }
    return fine && !rtmfp_options_bad(&list) && !(c->is_ephemeral && c->is_static);
}

void rtmfp_certificate_id(const struct rtmfp_certificate *c, uint8_t id[RTMFP_PEER_ID])
{
    rtmfp_sha256(c->canonical, id);
}

void rtmfp_certificate_write(struct wr *w, bool server, struct rtmfp_bytes extra,
                             const bool groups[RTMFP_GROUPS])
{
    if (server)
        rtmfp_option_write(w, ANCILLARY, rtmfp_bytes(NULL, 0));
    if (extra.n > 0)
        rtmfp_option_write(w, EXTRA, extra);
    for (int i = 0; i < RTMFP_GROUPS; i++)
        if (groups[i])
            rtmfp_option_write_vlu(w, EPHEMERAL, rtmfp_group_id((enum rtmfp_group)i));
}

void rtmfp_certificate_write_static(struct wr *w, bool server, enum rtmfp_group group,
                                    struct rtmfp_bytes key)
{
    if (server)
        rtmfp_option_write(w, ANCILLARY, rtmfp_bytes(NULL, 0));
    rtmfp_group_write_key(w, STATIC, group, key);
}
