/* SPDX-License-Identifier: MIT */
/* probe.c - checks whether a peer receives at an address, before media go there or an address
 * changes from one session to another: only the peer itself can answer our check, even with a
 * forged source.
 *
 * An answer does not name its session, so pending checks are kept here: a few, newest first per
 * slot.
 */
#include "serve/rtc/impl.h"

#include "base/must.h"

#include <openssl/rand.h>
#include <string.h>

static struct rtc_requested *place_of(struct rtc_service *s, const uint8_t id[STUN_ID])
{
    return &s->asked[id[1] % RTC_ASKED];
}

void rtc_probe(struct rtc_endpoint *e, struct rtc_peer *p, const struct udp_in *in, co_usec now)
{
    struct rtc_service *s = e->service;
    const struct ice_path way = { .path = in->path, .link = e };
    uint8_t id[STUN_ID], out[STUN_MAX];
    struct rtc_requested *a;
    size_t size;

    must_be(RAND_bytes(id, sizeof(id)) == 1);
    id[0] = (uint8_t)s->base.env->worker; /* the answer may arrive at any worker */
    size = ice_write_check(&p->ice, &way, id, p->agreed.peer_pwd, now, out);
    if (size == 0)
        return;
    memcpy(id, out + STUN_HEADER - STUN_ID, STUN_ID);
    a = place_of(s, id);
    a->peer = p;
    memcpy(a->id, id, STUN_ID);
    p->base.session.out += size;
    rtc_peer_send_on(&way, out, size);
}

struct rtc_peer *rtc_probed(struct rtc_service *s, const uint8_t id[STUN_ID])
{
    const struct rtc_requested *a = place_of(s, id);

    return a->peer && memcmp(a->id, id, STUN_ID) == 0 ? a->peer : NULL;
}

void rtc_probe_forget(struct rtc_peer *p)
{
    struct rtc_requested *a = p->service->asked;

    for (unsigned i = 0; i < RTC_ASKED; i++) {
        if (a[i].peer == p)
            a[i].peer = NULL;
    }
}
