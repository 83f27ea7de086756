/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_lists.c - any bytes as RTMFP options: lists, certificates, discriminators,
 * keying components. */
#include "fuzz.h"
#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/keying.h"

#include <assert.h>
#include <stdlib.h>

static bool within(struct rtmfp_bytes b, struct rtmfp_bytes whole)
{
    return b.n == 0 || (b.p >= whole.p && b.n <= (size_t)(whole.p + whole.n - b.p));
}

/* The same options again when they are written. */
static void list(struct rtmfp_bytes data)
{
    struct rtmfp_options o = rtmfp_options_of(data), again;
    struct rtmfp_option v, same;
    uint8_t *out = malloc(data.n + 1);
    struct wr w = rtmfp_wr(out, data.n);

    while (rtmfp_option_next(&o, &v)) {
        assert(within(v.value, data));
        if (v.marker)
            rtmfp_marker_write(&w);
        else
            rtmfp_option_write(&w, v.type, v.value);
    }
    assert(!w.bad && w.len <= data.n && o.n <= RTMFP_OPTIONS_MAX + 1);
    o = rtmfp_options_of(data);
    again = rtmfp_options_of(rtmfp_bytes(out, w.len));
    while (rtmfp_option_next(&again, &same))
        assert(rtmfp_option_next(&o, &v) && v.type == same.type && v.marker == same.marker &&
               rtmfp_bytes_same(v.value, same.value));
    assert(!rtmfp_options_bad(&again));
    free(out);
}

static void list_in_a_chunk(struct rtmfp_bytes data)
{
    struct rd r = rtmfp_rd(data);
    struct rtmfp_bytes options = rtmfp_options_read(&r);

    assert(within(options, data));
    assert(r.bad || r.p > data.p + options.n);
}

static void certificate(struct rtmfp_bytes data)
{
    struct rtmfp_certificate c;
    struct rtmfp_epd e;
    uint8_t id[RTMFP_PEER_ID];

    if (!rtmfp_certificate_read(&c, data))
        return;
    assert(c.canonical.n <= data.n && within(c.hostname, data));
    assert(!(c.is_static && c.is_ephemeral));
    for (int g = 0; g < RTMFP_GROUPS; g++)
        assert(within(c.key[g], data) && (c.key[g].n == 0 || c.is_static));
    rtmfp_certificate_id(&c, id);
    if (rtmfp_epd_read(&e, data))
        (void)rtmfp_epd_selects(&e, &c, id);
}

static void discriminator(struct rtmfp_bytes data)
{
    struct rtmfp_epd e;

    if (!rtmfp_epd_read(&e, data))
        return;
    assert(within(e.hostname, data) && within(e.ancillary, data) && within(e.fingerprint, data));
    assert(!rtmfp_epd_peer(&e) || e.fingerprint.n == RTMFP_PEER_ID);
}

static void component(struct rtmfp_bytes data)
{
    static struct rtmfp_dh *dh;
    struct rtmfp_component c;

    if (!dh)
        dh = rtmfp_dh_new();
    if (!rtmfp_component_read(&c, data))
        return;
    assert(within(c.key, data) && within(c.random, data) && c.group <= RTMFP_GROUPS);
    assert(c.n_keys > 0 || c.key.n == 0);
    (void)rtmfp_public_is_valid(dh, c.group, c.key);
    for (int i = 0; i < 9; i++) {
        struct rtmfp_policies p = { (enum rtmfp_policy)(i % 3), (enum rtmfp_policy)(i / 3) };
        struct rtmfp_offer ours = rtmfp_offer_answer(&p, &c.offer);
        struct rtmfp_key out = { .hmac = 0 }, in = { .hmac = 0 };

        (void)rtmfp_offer_agree(&p, &ours, &c.offer, &out, &in);
        assert(out.hmac == 0 || out.hmac == 16);
        assert(in.hmac == 0 || (in.hmac >= RTMFP_MAC_MIN && in.hmac <= RTMFP_MAC_MAX));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtmfp_bytes all = { data, size };

    list(all);
    list_in_a_chunk(all);
    certificate(all);
    discriminator(all);
    component(all);
    return 0;
}
