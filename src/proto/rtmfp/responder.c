/* SPDX-License-Identifier: MIT */
/* responder.c - the responding side of the handshake, [RTMFP] 3.5.1. */
#include "proto/rtmfp/responder.h"

#include <assert.h>
#include <openssl/crypto.h>

static const uint8_t signature[] = { 0x58 }; /* "X": no signature, [PROFILE] 4.3.5 */

const char *rtmfp_drop_text(enum rtmfp_drop why)
{
    static const char *const texts[RTMFP_DROP_KINDS] = {
#define XX(name, text) text,
        RTMFP_DROPS(XX)
#undef XX
    };

    return texts[why];
}

bool rtmfp_responder_init(struct rtmfp_responder *r, const uint8_t master[RTMFP_MASTER])
{
    rtmfp_cookies_init(&r->cookies, master);
    r->fragments = rtmfp_fragments_new();
    r->dh = rtmfp_dh_new();
    return rtmfp_startup_init(&r->startup);
}

void rtmfp_responder_fini(struct rtmfp_responder *r)
{
    rtmfp_startup_fini(&r->startup);
    rtmfp_fragments_free(r->fragments);
    rtmfp_dh_free(r->dh);
    OPENSSL_cleanse(&r->cookies, sizeof(r->cookies));
}

/* A received packet. */
struct request {
    struct rtmfp_responder *r;
    size_t size; /* size of the datagram */
    const struct udp_addr *from;
    co_usec now;
    struct rtmfp_response *out;
};

static enum rtmfp_responded drop(struct request *c, enum rtmfp_drop why)
{
    c->out->why = why;
    return RTMFP_DROPPED;
}

static enum rtmfp_responded seal(struct request *c, uint32_t id, struct wr *w)
{
    c->out->size = rtmfp_startup_seal(&c->r->startup, id, w);
    return RTMFP_ANSWERED;
}

/* ---- IHello, [RTMFP] 3.5.1.1.1 */

static bool write_rhello(struct request *c, struct rtmfp_bytes cookie,
                         struct rtmfp_bytes certificate, struct wr *w)
{
    const struct rtmfp_rhello answer = { c->out->hello.tag, cookie, certificate };

    *w = rtmfp_startup_begin_within(&c->r->startup, c->out->datagram,
                                    c->size * RTMFP_ANSWER_TIMES, c->now);
    return rtmfp_rhello_write(w, &answer);
}

/* Responds with the longest certificate that the hello selects and that fits. */
static enum rtmfp_responded send_rhello(struct request *c)
{
    const struct rtmfp_identity *me = c->r->me;
    const struct rtmfp_epd *epd = &c->out->epd;
    uint8_t bytes[RTMFP_COOKIE];
    struct rtmfp_bytes cookie = { bytes, sizeof(bytes) };
    struct wr w;

    rtmfp_cookie_make(&c->r->cookies, bytes, RTMFP_COOKIE_HELLO, c->from, c->now);
    if (rtmfp_epd_selects(epd, &me->parsed, me->id) &&
        write_rhello(c, cookie, rtmfp_identity_certificate(me), &w))
        return seal(c, 0, &w);
    for (int i = 0; i < RTMFP_SHORTER && me->shorter[i].size > 0; i++) {
        const struct rtmfp_shorter *s = &me->shorter[i];

        if (rtmfp_epd_selects(epd, &me->parsed, s->id) &&
            write_rhello(c, cookie, rtmfp_bytes(s->certificate, s->size), &w))
            return seal(c, 0, &w);
    }
    return drop(c, RTMFP_DROP_SMALL);
}

static bool selects_us(const struct rtmfp_identity *me, const struct rtmfp_epd *epd)
{
    bool selects = rtmfp_epd_selects(epd, &me->parsed, me->id);

    for (int i = 0; i < RTMFP_SHORTER && me->shorter[i].size > 0; i++)
        selects |= rtmfp_epd_selects(epd, &me->parsed, me->shorter[i].id);
    return selects;
}

static enum rtmfp_responded on_hello(struct request *c, struct rtmfp_bytes body)
{
    struct rtmfp_ihello *hello = &c->out->hello;
    struct rtmfp_epd *epd = &c->out->epd;

    c->r->hellos++;
    if (!rtmfp_ihello_read(hello, body) || !rtmfp_epd_read(epd, hello->epd))
        return drop(c, RTMFP_DROP_CHUNK);
    if (selects_us(c->r->me, epd)) {
        if (c->r->redirects && !epd->has_fingerprint && epd->has_ancillary)
            return RTMFP_REDIRECTED;
        return send_rhello(c);
    }
    c->out->peer = rtmfp_epd_peer(epd);
    return c->out->peer ? RTMFP_INTRODUCE : drop(c, RTMFP_DROP_UNSELECTED);
}

/* ---- IIKeying, [RTMFP] 3.5.1.1.2 */

/* The initiator has moved: sends a cookie for its new address, 3.5.1.2. */
static enum rtmfp_responded send_cookie_change(struct request *c,
                                               const struct rtmfp_iikeying *keying)
{
    uint8_t cookie[RTMFP_COOKIE];
    struct rtmfp_cookie_change change = { keying->cookie, { cookie, sizeof(cookie) } };
    struct wr w = rtmfp_startup_begin_within(&c->r->startup, c->out->datagram,
                                             c->size * RTMFP_ANSWER_TIMES, c->now);

    rtmfp_cookie_make(&c->r->cookies, cookie, RTMFP_COOKIE_CHANGED, c->from, c->now);
    if (!rtmfp_cookie_change_write(&w, &change))
        return drop(c, RTMFP_DROP_CHUNK);
    c->r->changes++;
    return seal(c, keying->id, &w);
}

/* Finds the initiator's key and group, in its certificate or in its component. */
static bool choose_key(struct rtmfp_job *job, const struct rtmfp_certificate *certificate,
                       const struct rtmfp_component *component, struct rtmfp_bytes *key)
{
    if (certificate->is_static) {
        job->group = component->static_group;
        if (component->n_static != 1 || component->n_keys != 0 || job->group == RTMFP_GROUPS)
            return false;
        *key = certificate->key[job->group];
        return key->n > 0;
    }
    job->group = component->group;
    *key = component->key;
    return component->n_keys == 1 && component->n_static == 0 && job->group != RTMFP_GROUPS;
}

/* Removes leading zeros if the key is too long. */
static void keep_key(struct rtmfp_job *job, struct rtmfp_bytes key)
{
    while (key.n > sizeof(job->key) && *key.p == 0) {
        key.p++;
        key.n--;
    }
    assert(key.n <= sizeof(job->key));
    job->key_size = (uint16_t)key.n;
    memcpy(job->key, key.p, key.n);
}

static void keep_skic(struct rtmfp_job *job, struct rtmfp_bytes skic)
{
    uint8_t hash[RTMFP_HASH];

    rtmfp_sha256(skic, hash);
    memcpy(job->skic_hash, hash, sizeof(job->skic_hash));
    job->skic_size = (uint16_t)skic.n;
    memcpy(job->skic, skic.p, skic.n);
}

/* Step 3: all checks that need no exponentiation. */
static enum rtmfp_responded make_job(struct request *c, const struct rtmfp_certificate *certificate,
                                     struct rtmfp_bytes skic)
{
    struct rtmfp_responder *r = c->r;
    struct rtmfp_job *job = &c->out->job;
    struct rtmfp_component component;
    struct rtmfp_bytes key;

    if (!rtmfp_component_read(&component, skic) ||
        !choose_key(job, certificate, &component, &key) || !r->me->groups[job->group])
        return drop(c, RTMFP_DROP_COMPONENT);
    if (!rtmfp_public_is_valid(r->dh, job->group, key))
        return drop(c, RTMFP_DROP_PUBLIC_KEY);
    keep_key(job, key);
    job->we_send = job->they_send = (struct rtmfp_key){ .hmac = 0 };
    job->offer = rtmfp_offer_answer(&r->policies, &component.offer);
    if (!rtmfp_offer_agree(&r->policies, &job->offer, &component.offer, &job->we_send,
                           &job->they_send))
        return drop(c, RTMFP_DROP_POLICY);
    return RTMFP_JOB;
}

static enum rtmfp_responded repeat_response(struct request *c, const struct rtmfp_known *known)
{
    if (known->answer.n == 0)
        return drop(c, RTMFP_DROP_ANSWERED);
    c->r->repeats++;
    c->out->size = rtmfp_responder_open_with(c->r, known->answer, known->id, c->now,
                                             c->out->datagram);
    return RTMFP_ANSWERED;
}

/* Steps 1 to 3. Closes an old session only if everything else is valid, so a rejected request loses
 * nothing. */
static enum rtmfp_responded with_cookie(struct request *c, const struct rtmfp_iikeying *keying)
{
    const struct rtmfp_responder_ops *ops = c->r->ops;
    struct rtmfp_job *job = &c->out->job;
    struct rtmfp_certificate certificate;
    struct rtmfp_known known;
    bool has = ops && ops->find(c->r->arg, c->from, &known);
    enum rtmfp_responded result;

    if (keying->id == 0 || !rtmfp_certificate_read(&certificate, keying->certificate))
        return drop(c, RTMFP_DROP_CERTIFICATE);
    rtmfp_certificate_id(&certificate, job->peer);
    keep_skic(job, keying->component);
    job->from = *c->from;
    job->id = keying->id;
    if (has && memcmp(known.peer, job->peer, RTMFP_PEER_ID) != 0)
        return drop(c, RTMFP_DROP_OTHER_PEER);
    if (has && known.id == keying->id && memcmp(known.skic, job->skic_hash, RTMFP_SKIC_HASH) == 0)
        return repeat_response(c, &known);
    if (ops && ops->is_keying(c->r->arg, c->from, keying->id))
        return drop(c, RTMFP_DROP_KEYING);
    result = make_job(c, &certificate, keying->component);
    if (result != RTMFP_JOB)
        return result;
    if (has)
        ops->stale(c->r->arg, c->from);
    return !ops || ops->may_open(c->r->arg, c->from) ? RTMFP_JOB : drop(c, RTMFP_DROP_LIMIT);
}

static enum rtmfp_responded on_keying(struct request *c, struct rtmfp_bytes body)
{
    struct rtmfp_iikeying keying;

    c->r->keyings++;
    if (!rtmfp_iikeying_read(&keying, body))
        return drop(c, RTMFP_DROP_CHUNK);
    switch (rtmfp_cookie_check(&c->r->cookies, keying.cookie, c->from, c->now)) {
    case RTMFP_COOKIE_OURS: return with_cookie(c, &keying);
    case RTMFP_COOKIE_MOVED: return send_cookie_change(c, &keying);
    case RTMFP_COOKIE_EXPIRED: return drop(c, RTMFP_DROP_EXPIRED);
    default: return drop(c, RTMFP_DROP_FOREIGN);
    }
}

/* ---- packets */

/* Handles chunks up to the first one that gets a response. */
static enum rtmfp_responded handle_packet(struct request *c, struct rtmfp_packet *p,
                                          struct rtmfp_bytes *piece)
{
    enum rtmfp_responded result = drop(c, RTMFP_DROP_CHUNK);
    struct rtmfp_chunk chunk;

    while (result == RTMFP_DROPPED && rtmfp_chunk_next(p, &chunk)) {
        if (chunk.type == RTMFP_IHELLO)
            result = on_hello(c, chunk.body);
        else if (chunk.type == RTMFP_IIKEYING)
            result = on_keying(c, chunk.body);
        else if (chunk.type == RTMFP_FRAGMENT && piece)
            *piece = chunk.body;
    }
    return result;
}

/* Handles the packet that this piece completes. */
static enum rtmfp_responded handle_piece(struct request *c, struct rtmfp_bytes body)
{
    struct rtmfp_piece piece;
    struct rtmfp_bytes whole;
    struct rtmfp_packet p;

    if (!rtmfp_piece_read(&piece, body))
        return drop(c, RTMFP_DROP_CHUNK);
    if (!rtmfp_fragments_add(c->r->fragments, c->from, &piece, c->now, &whole))
        return drop(c, RTMFP_DROP_PIECE);
    if (!rtmfp_packet_read(&p, whole) || p.head.mode != RTMFP_STARTUP)
        return drop(c, RTMFP_DROP_PACKET);
    return handle_packet(c, &p, NULL);
}

enum rtmfp_responded rtmfp_responder_input(struct rtmfp_responder *r, const uint8_t *datagram,
                                           size_t size, const struct udp_addr *from, co_usec now,
                                           struct rtmfp_response *out)
{
    struct request c = { r, size, from, now, out };
    struct rtmfp_bytes piece = { NULL, 0 };
    enum rtmfp_responded result = drop(&c, RTMFP_DROP_PACKET);
    struct rtmfp_packet p;

    if (rtmfp_startup_open(&r->startup, datagram, size, &p))
        result = handle_packet(&c, &p, &piece);
    if (result == RTMFP_DROPPED && piece.p)
        result = handle_piece(&c, piece);
    if (result == RTMFP_DROPPED)
        r->drops[out->why]++;
    return result;
}

size_t rtmfp_responder_redirect(struct rtmfp_responder *r, size_t came, struct rtmfp_bytes tag,
                                const struct rtmfp_address *list, size_t n, co_usec now,
                                uint8_t *datagram)
{
    struct wr w = rtmfp_startup_begin_within(&r->startup, datagram, came * RTMFP_ANSWER_TIMES,
                                             now);
    bool fits = rtmfp_redirect_write(&w, tag, list, n);

    while (!fits && n > 1)
        fits = rtmfp_redirect_write(&w, tag, list, --n);
    return fits ? rtmfp_startup_seal(&r->startup, 0, &w) : 0;
}

size_t rtmfp_rikeying_body(uint8_t out[RTMFP_RIKEYING_MAX], uint32_t id,
                           const struct rtmfp_keyed *keyed)
{
    struct wr w = rtmfp_wr(out, RTMFP_RIKEYING_MAX);

    wr_u32(&w, id);
    rtmfp_bytes_write(&w, rtmfp_bytes(keyed->skrc, keyed->skrc_size));
    wr_bytes(&w, signature, sizeof(signature));
    assert(!w.bad);
    return w.len;
}

size_t rtmfp_responder_open_with(struct rtmfp_responder *r, struct rtmfp_bytes body, uint32_t id,
                                 co_usec now, uint8_t *datagram)
{
    struct wr w = rtmfp_startup_begin(&r->startup, datagram, now);

    return rtmfp_plain_write(&w, RTMFP_RIKEYING, body) ? rtmfp_startup_seal(&r->startup, id, &w)
                                                       : 0;
}
