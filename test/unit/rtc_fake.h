/* SPDX-License-Identifier: MIT */
/* rtc_fake.h - what a session of WebRTC is made of, in short: descriptions, DTLS, SRTP and media
 * that are a few bytes, so that tests of sessions see nothing but sessions.
 *
 * An offer is "ufrag" of the peer. DTLS is done when "\x16hi" came, closed by "\x16bye", failed by
 * "\x16no"; it answers "\x16ok". A packet of SRTP is right if its last byte is 'k'.
 */
#ifndef RTC_FAKE_H
#define RTC_FAKE_H

#include "base/must.h"
#include "serve/rtc/impl.h"
#include "session/publisher.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_uint fake_rtp, fake_rtcp, fake_connected, fake_ended, fake_dtls_live;

/* ---- descriptions */

err_t sdp_offer_parse(struct sdp_offer *o, const char *text, size_t size)
{
    if (size < 4)
        return err_new(ERR_MALFORMED, "no offer");
    o->memory = must_ndup(text, size);
    return NULL;
}

void sdp_offer_free(struct sdp_offer *o)
{
    free(o->memory);
    o->memory = NULL;
}

err_t sdp_agree(struct sdp_agreed *out, const struct sdp_offer *o, const struct sdp_wish *wish)
{
    if (strcmp(o->memory, "nothing in common") == 0)
        return err_new(ERR_RTC_NEGOTIATE, "nothing in common");
    *out = (struct sdp_agreed){ .publish = wish->publish };
    out->tracks[AV_VIDEO] = (struct sdp_track){ .on = true, .codec = AV_H264, .rtx_type = 97 };
    (void)snprintf(out->peer_ufrag, sizeof(out->peer_ufrag), "%s", (const char *)o->memory);
    (void)snprintf(out->peer_pwd, sizeof(out->peer_pwd), "password of a guest");
    return NULL;
}

void sdp_answer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours)
{
    wr_printf(w, "%s %s %s %u", ours->ufrag, ours->pwd, a->peer_ufrag, ours->n_candidates);
}

void sdp_fragment_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours)
{
    (void)a;
    wr_printf(w, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\n", ours->ufrag, ours->pwd);
}

unsigned rtc_candidates(struct rtc_service *s, const struct rtc_ask *ask,
                        struct sdp_candidate out[SDP_CANDIDATES_MAX])
{
    (void)s, (void)ask;
    out[0] = (struct sdp_candidate){ .ip = "127.0.0.1", .port = 8000 };
    return 1;
}

/* ---- DTLS */

static struct dtls_identity_opts fake_identity; /* the last one that was made */
static unsigned fake_identities;

struct dtls_identity {
    unsigned refs;
};

struct dtls {
    struct dtls_identity *id;
    enum dtls_state state;
    bool client;
    unsigned says;
};

struct dtls_identity *dtls_identity_make(const struct dtls_identity_opts *opts,
                                         char why[DTLS_IDENTITY_WHY])
{
    struct dtls_identity *id = must(calloc(1, sizeof(*id)));

    (void)why;
    fake_identity = *opts;
    fake_identities++;
    id->refs = 1;
    return id;
}

struct dtls_identity *dtls_identity_ref(struct dtls_identity *id)
{
    id->refs++;
    return id;
}

void dtls_identity_unref(struct dtls_identity *id)
{
    if (id && --id->refs == 0)
        free(id);
}

const char *dtls_identity_fingerprint(const struct dtls_identity *id)
{
    (void)id;
    return "AB:CD";
}

int64_t dtls_identity_ends(const struct dtls_identity *id)
{
    (void)id;
    return INT64_MAX;
}

err_t dtls_new(struct dtls **out, struct dtls_identity *id, const struct dtls_opts *opts)
{
    *out = must(calloc(1, sizeof(**out)));
    (*out)->id = dtls_identity_ref(id);
    (*out)->client = opts->client;
    fake_dtls_live++;
    return NULL;
}

void dtls_free(struct dtls *d)
{
    if (!d)
        return;
    dtls_identity_unref(d->id);
    free(d);
    fake_dtls_live--;
}

enum dtls_state dtls_state(const struct dtls *d)
{
    return d->state;
}

const char *dtls_why(const struct dtls *d)
{
    return d->state == DTLS_FAILED ? "it said no" : "";
}

void dtls_start(struct dtls *d, co_usec now)
{
    (void)now;
    d->says += d->client;
}

void dtls_input(struct dtls *d, const uint8_t *data, size_t size, co_usec now)
{
    (void)now;
    if (size == 3 && memcmp(data, "\x16hi", 3) == 0 && d->state < DTLS_DONE)
        d->state = DTLS_DONE;
    else if (size == 4 && memcmp(data, "\x16" "bye", 4) == 0)
        d->state = DTLS_CLOSED;
    else if (size == 3 && memcmp(data, "\x16no", 3) == 0)
        d->state = DTLS_FAILED;
    d->says++;
}

bool dtls_output(struct dtls *d, const uint8_t **data, size_t *size)
{
    if (d->says == 0)
        return false;
    d->says--;
    *data = (const uint8_t *)"\x16ok";
    *size = 3;
    return true;
}

co_usec dtls_deadline(const struct dtls *d)
{
    (void)d;
    return CO_FOREVER;
}

void dtls_tick(struct dtls *d, co_usec now)
{
    (void)d, (void)now;
}

bool dtls_keys(struct dtls *d, struct srtp_keys *send, struct srtp_keys *receive)
{
    (void)d;
    *send = *receive = (struct srtp_keys){ .profile = SRTP_AEAD_AES_128_GCM };
    return true;
}

const char *dtls_cipher(const struct dtls *d)
{
    (void)d;
    return "none";
}

void dtls_close(struct dtls *d)
{
    d->says++;
}

/* ---- SRTP */

struct srtp_out {
    int unused;
};

struct srtp_in {
    struct srtp_in_stat stat;
};

void srtp_keys_wipe(struct srtp_keys *k)
{
    memset(k, 0, sizeof(*k));
}

err_t srtp_out_new(struct srtp_out **out, const struct srtp_keys *keys)
{
    (void)keys;
    *out = must(calloc(1, sizeof(**out)));
    return NULL;
}

void srtp_out_free(struct srtp_out *s)
{
    free(s);
}

bool srtp_out_source(struct srtp_out *s, uint32_t ssrc, uint32_t kept)
{
    (void)s, (void)ssrc, (void)kept;
    return true;
}

uint64_t srtp_out_refused(const struct srtp_out *s)
{
    (void)s;
    return 0;
}

size_t srtp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *head, size_t head_size,
                    const uint8_t *payload, size_t size, uint64_t index)
{
    (void)s, (void)index;
    memcpy(to, head, head_size);
    memcpy(to + head_size, payload, size);
    return head_size + size;
}

size_t srtcp_protect(struct srtp_out *s, uint8_t *to, const uint8_t *rtcp, size_t size)
{
    (void)s;
    memcpy(to, rtcp, size);
    return size;
}

err_t srtp_in_new(struct srtp_in **out, const struct srtp_keys *keys)
{
    (void)keys;
    *out = must(calloc(1, sizeof(**out)));
    return NULL;
}

void srtp_in_free(struct srtp_in *s)
{
    free(s);
}

bool srtp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size)
{
    bool right = packet[*size - 1] == 'k';

    s->stat.forged += !right;
    *size -= right;
    return right;
}

bool srtcp_unprotect(struct srtp_in *s, uint8_t *packet, size_t *size)
{
    return srtp_unprotect(s, packet, size);
}

const struct srtp_in_stat *srtp_in_stat(const struct srtp_in *s)
{
    return &s->stat;
}

/* ---- media */

struct rtc_publish {
    struct session_publisher publisher;
};

err_t rtc_publish_admit(struct rtc_peer *p)
{
    err_t err;

    p->publish = must(calloc(1, sizeof(*p->publish)));
    err = session_publisher_begin(&p->publish->publisher, &p->base.session, CLIENTS_RTC_PUBLISH);
    if (err) {
        free(p->publish);
        p->publish = NULL;
    }
    return err;
}

err_t rtc_publish_run(struct rtc_peer *p)
{
    (void)p;
    (void)!co_park(CO_FOREVER);
    return co_check();
}

void rtc_publish_end(struct rtc_peer *p, err_t why)
{
    session_publisher_end(&p->publish->publisher, why);
    free(p->publish);
    p->publish = NULL;
    fake_ended++;
}

void rtc_publish_connected(struct rtc_peer *p, co_usec now)
{
    (void)p, (void)now;
    fake_connected++;
}

void rtc_publish_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    (void)p, (void)data, (void)size, (void)now;
    fake_rtp++;
}

void rtc_publish_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    (void)p, (void)data, (void)size, (void)now;
    fake_rtcp++;
}

void rtc_publish_stat(const struct rtc_peer *p, struct rtc_client_stat *out)
{
    (void)p, (void)out;
}

err_t rtc_play_admit(struct rtc_peer *p)
{
    return session_play_begin(&p->base.session, CLIENTS_RTC_PLAY, NULL);
}

void rtc_play_wish(const struct rtc_peer *p, struct sdp_wish *wish)
{
    (void)p, (void)wish;
}

uint32_t rtc_play_source(const struct rtc_peer *p, enum av_kind kind)
{
    (void)p, (void)kind;
    return 0;
}

void rtc_play_connected(struct rtc_peer *p, co_usec now)
{
    (void)p, (void)now;
    fake_connected++;
}

void rtc_play_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    (void)p, (void)data, (void)size, (void)now;
    fake_rtcp++;
}

void rtc_play_end(struct rtc_peer *p, err_t why)
{
    session_play_end(&p->base.session, why);
    fake_ended++;
}

void rtc_play_stat(const struct rtc_peer *p, struct rtc_client_stat *out)
{
    (void)p, (void)out;
}

#endif
