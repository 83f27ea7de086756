/* SPDX-License-Identifier: MIT */
/* fuzz_sdp_offer.c - any bytes as the offer of a WebRTC client: read, negotiated with a
 * spec that its first byte selects, answered; and that answer read again. */
#include "fuzz.h"
#include "proto/sdp/agree.h"

#include <assert.h>
#include <string.h>

static struct sdp_spec wish_of(uint8_t b)
{
    static const enum av_codec videos[] = { AV_CODEC_NONE, AV_H264, AV_H265, AV_VP8 };
    struct sdp_spec w = { .publish = b & 1, .nack = b & 2, .twcc = b & 4, .dtls_active = b & 8,
                          .channels = b & 16 ? 2 : 1, .none = { [AV_AUDIO] = b & 32 } };

    w.codec[AV_VIDEO] = videos[b >> 6];
    w.profile[0] = b & 8 ? 0x64 : 0;
    w.playout_delay = b & 16;
    return w;
}

static void check_agreed(const struct sdp_agreed *a)
{
    assert(a->n <= SDP_SECTIONS_MAX);
    for (unsigned i = 0; i < a->n; i++) {
        assert(strlen(a->sections[i].mid) <= SDP_MID_MAX);
        assert(!a->sections[i].taken || a->tracks[a->sections[i].track].codec != AV_CODEC_NONE);
    }
    for (int i = 0; i < SDP_TRACKS; i++)
        assert(strlen(a->tracks[i].fmtp) < SDP_FMTP_MAX && a->tracks[i].n_rids <= SDP_RIDS_MAX);
    assert(strlen(a->peer_ufrag) <= ICE_UFRAG_MAX && !strchr(a->peer_ufrag, ':'));
}

/* Our output is a description with as many sections as the offer. */
static void answer(struct sdp_agreed *a)
{
    static const struct sdp_candidate c = { "1.2.3.4", 8000, false };
    struct sdp_answer ours = { .signature = "x", .version = "1", .app = "a", .stream = "b",
                               .ufrag = "ufrag", .pwd = "0123456789012345678901",
                               .fingerprint = "AA", .cname = "c", .candidates = &c,
                               .n_candidates = 1 };
    static struct sdp_offer back;
    struct wr w;

    a->tracks[AV_VIDEO].ssrc = 1;
    a->tracks[AV_VIDEO].rtx_ssrc = 2;
    wr_init(&w, SDP_OFFER_MAX);
    sdp_answer_write(&w, a, &ours);
    if (!w.bad) {
        err_t err = sdp_offer_parse(&back, (const char *)w.buf, w.len);

        assert(!err && back.n == a->n && back.lite);
        for (unsigned i = 0; i < back.n; i++) {
            assert(strcmp(back.sections[i].mid, a->sections[i].mid) == 0);
            assert((back.sections[i].port != 0) == a->sections[i].taken);
        }
        sdp_offer_free(&back);
    }
    wr_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sdp_offer o;
    static struct sdp_agreed a;
    struct sdp_spec w = wish_of(size > 0 ? data[0] : 0);
    err_t err;

    if (size == 0)
        return 0;
    err = sdp_offer_parse(&o, (const char *)data + 1, size - 1);
    if (!err) {
        err = sdp_agree(&a, &o, &w);
        sdp_offer_free(&o);
        if (!err) {
            check_agreed(&a);
            answer(&a);
        }
    }
    err_free(&err);
    assert(err_live() == 0);
    return 0;
}
