/* SPDX-License-Identifier: MIT */
/* certificate.c - certificates, [PROFILE] 4.3, and endpoint discriminators, 4.4. */
#include "proto/rtmfp/certificate.h"

#include "base/must.h"

#include <assert.h>
#include <openssl/rand.h>

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

/* ---- endpoint discriminators, [PROFILE] 4.4 */

enum { FINGERPRINT = 0x0f };

bool rtmfp_epd_read(struct rtmfp_epd *e, struct rtmfp_bytes data)
{
    struct rtmfp_options list = rtmfp_options_of(data);
    struct rtmfp_option o;

    *e = (struct rtmfp_epd){ .has_hostname = false };
    while (data.n <= RTMFP_EPD_MAX && rtmfp_option_next(&list, &o)) {
        if (o.marker)
            continue;
        if (o.type == HOSTNAME) {
            e->has_hostname = true;
            e->hostname = o.value;
        } else if (o.type == ANCILLARY) {
            e->has_ancillary = true;
            e->ancillary = o.value;
        } else if (o.type == FINGERPRINT) {
            e->has_fingerprint = true;
            e->fingerprint = o.value;
        }
    }
    return data.n <= RTMFP_EPD_MAX && !rtmfp_options_bad(&list);
}

bool rtmfp_epd_selects(const struct rtmfp_epd *e, const struct rtmfp_certificate *c,
                       const uint8_t id[RTMFP_PEER_ID])
{
    if (e->has_fingerprint)
        return rtmfp_bytes_same(e->fingerprint, rtmfp_bytes(id, RTMFP_PEER_ID));
    if (e->has_hostname && !(c->has_hostname && rtmfp_bytes_same(e->hostname, c->hostname)))
        return false;
    if (e->has_ancillary && !c->accepts_ancillary)
        return false;
    return e->has_hostname || e->has_ancillary;
}

const uint8_t *rtmfp_epd_peer(const struct rtmfp_epd *e)
{
    return e->has_fingerprint && e->fingerprint.n == RTMFP_PEER_ID ? e->fingerprint.p : NULL;
}

void rtmfp_epd_write_id(struct wr *w, const uint8_t id[RTMFP_PEER_ID])
{
    rtmfp_option_write(w, FINGERPRINT, rtmfp_bytes(id, RTMFP_PEER_ID));
}

void rtmfp_epd_write_uri(struct wr *w, struct rtmfp_bytes uri)
{
    rtmfp_option_write(w, ANCILLARY, uri);
}

/* ---- identities, [PROFILE] 4.3 */

static void finish(struct rtmfp_identity *me, const struct wr *w)
{
    bool fine;

    me->size = w->len;
    fine = !w->bad && rtmfp_certificate_read(&me->parsed, rtmfp_identity_certificate(me));
    assert(fine);
    (void)fine;
    rtmfp_certificate_id(&me->parsed, me->id);
}

static void write_shorter(struct rtmfp_shorter *s, bool server, struct rtmfp_bytes extra,
                          const bool groups[RTMFP_GROUPS])
{
    struct wr w = rtmfp_wr(s->certificate, sizeof(s->certificate));

    rtmfp_certificate_write(&w, server, extra, groups);
    assert(!w.bad);
    s->size = w.len;
    rtmfp_sha256(rtmfp_bytes(s->certificate, s->size), s->id); /* it has no marker */
}

/* The shortest certificate has one group and nothing that makes it unique. Old clients that send
 * only the app in their hello send 36 bytes and know group 2. */
static void write_all_shorter(struct rtmfp_identity *me, bool server, const uint8_t *extra)
{
    bool one[RTMFP_GROUPS] = { false };
    int g = 0;

    while (g < RTMFP_GROUPS - 1 && !me->groups[g])
        g++;
    one[g] = me->groups[g];
    write_shorter(&me->shorter[0], server, rtmfp_bytes(extra, RTMFP_EXTRA / 2), me->groups);
    write_shorter(&me->shorter[1], server, rtmfp_bytes(NULL, 0), one);
}

void rtmfp_identity_init(struct rtmfp_identity *me, bool server, const bool groups[RTMFP_GROUPS])
{
    struct wr w = rtmfp_wr(me->certificate, sizeof(me->certificate));
    uint8_t extra[RTMFP_EXTRA];

    *me = (struct rtmfp_identity){ .is_static = false };
    memcpy(me->groups, groups, sizeof(me->groups));
    must_be(RAND_bytes(extra, sizeof(extra)) == 1);
    rtmfp_certificate_write(&w, server, rtmfp_bytes(extra, sizeof(extra)), groups);
    finish(me, &w);
    write_all_shorter(me, server, extra);
}

void rtmfp_identity_init_static(struct rtmfp_identity *me, bool server,
                                const struct rtmfp_pair *pair)
{
    struct wr w = rtmfp_wr(me->certificate, sizeof(me->certificate));

    *me = (struct rtmfp_identity){ .is_static = true, .pair = *pair };
    me->groups[pair->group] = true;
    rtmfp_certificate_write_static(&w, server, pair->group, rtmfp_pair_public(pair));
    finish(me, &w);
}

void rtmfp_identity_fini(struct rtmfp_identity *me)
{
    rtmfp_pair_wipe(&me->pair);
}
