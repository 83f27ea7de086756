/* SPDX-License-Identifier: MIT */
/* rtmfp_greeting.c - an initiator that opens a session with the responder of rtmfp_ends.h. */
#include "rtmfp_greeting.h"

const struct rtmfp_policies policy_off;
const struct rtmfp_policies policy_offer = { RTMFP_OFFER, RTMFP_OFFER };
const struct rtmfp_policies policy_require = { RTMFP_REQUIRE, RTMFP_REQUIRE };
struct ends the_ends;
struct rtmfp_identity initiator_identity;
struct rtmfp_initiator the_initiator;
struct udp_addr initiator_at, responder_at;
const bool all_groups[RTMFP_GROUPS] = { true, true, true };

int greeting_start(void **state)
{
    (void)state;
    initiator_at = ends_address(2, 5000);
    responder_at = ends_address(1, 1935);
    return 0;
}

void greeting_begin(const struct rtmfp_policies *responder, const struct rtmfp_policies *initiator)
{
    ends_init(&the_ends, responder, initiator);
    rtmfp_identity_init(&initiator_identity, false, all_groups);
}

void greeting_finish(void)
{
    rtmfp_initiator_wipe(&the_initiator);
    rtmfp_identity_fini(&initiator_identity);
    ends_fini(&the_ends);
}

void greeting_new(enum rtmfp_group group, co_usec now)
{
    struct rtmfp_pair pair;
    uint8_t epd[160];
    struct wr w = rtmfp_wr(epd, sizeof(epd));

    /* long enough for an answer with a static key, which is larger than those of servers */
    rtmfp_epd_write_uri(&w, text_bytes("rtmfp://example/live/0123456789012345678901234567890123456"
                                       "789012345678901234567890123456789012345678901234567890"));
    if (!initiator_identity.is_static)
        rtmfp_pair_make(the_ends.dh, &pair, group);
    assert_true(rtmfp_initiator_init(&the_initiator, &the_ends.set, &initiator_identity, initiator_identity.is_static ? NULL : &pair,
                                     rtmfp_bytes(epd, w.len), 0x77000001, &responder_at, now));
}

bool greeting_turn(co_usec now)
{
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct udp_addr to;
    size_t n = rtmfp_initiator_output(&the_initiator, datagram, &to, now);

    if (n == 0 || !ends_hear(&the_ends, datagram, n, &initiator_at, now))
        return false;
    rtmfp_initiator_input(&the_initiator, the_ends.out.datagram, the_ends.out.size, &responder_at, now);
    return true;
}

/* One opens what the other seals. */
static void assert_talk(struct rtmfp_key *out, struct rtmfp_key *in_key)
{
    struct rtmfp_sealer sealer = { .key = *out };
    struct rtmfp_opener opener = { .key = *in_key };
    uint8_t datagram[RTMFP_SEALED_MAX], plain[RTMFP_DATAGRAM_MAX];
    struct wr w = rtmfp_seal_begin(&sealer, datagram, sizeof(datagram), RTMFP_PLAIN_MAX);
    struct rtmfp_bytes got;
    size_t n;

    wr_text(&w, "hello");
    n = rtmfp_seal(the_ends.startup.cipher, &sealer, 5, &w);
    assert_int_equal(rtmfp_open(the_ends.startup.cipher, &opener, datagram, n, plain, &got),
                     RTMFP_OPENED);
    assert_memory_equal(got.p, "hello", 5);
}

/* Any of the server's certificates. */
static bool is_ours(const uint8_t id[RTMFP_PEER_ID])
{
    bool ours = memcmp(id, the_ends.me.id, RTMFP_PEER_ID) == 0;

    for (int i = 0; i < RTMFP_SHORTER; i++)
        ours |= memcmp(id, the_ends.me.shorter[i].id, RTMFP_PEER_ID) == 0;
    return ours;
}

void assert_keyed(struct ends_session *s)
{
    assert_int_equal(the_initiator.state, RTMFP_KEYED);
    assert_memory_equal(&the_initiator.send, &s->keyed.receive, sizeof(the_initiator.send));
    assert_memory_equal(&the_initiator.receive, &s->keyed.send, sizeof(the_initiator.send));
    assert_memory_equal(the_initiator.nonce, s->keyed.nonce, sizeof(the_initiator.nonce));
    assert_int_equal(s->id, the_initiator.id);
    assert_true(the_initiator.far_id >= 0x1000);
    assert_memory_equal(s->peer, initiator_identity.id, RTMFP_PEER_ID);
    assert_true(is_ours(the_initiator.peer));
    assert_talk(&the_initiator.send, &s->keyed.receive);
    assert_talk(&s->keyed.send, &the_initiator.receive);
    assert_int_equal(the_initiator.pair.secret[0] | the_initiator.pair.secret[27], 0); /* wiped */
}

size_t initiator_asked(uint8_t *datagram, co_usec now)
{
    struct udp_addr to;
    size_t n;

    assert_true(greeting_turn(now));
    assert_int_equal(the_initiator.state, RTMFP_KEYING);
    n = rtmfp_initiator_output(&the_initiator, datagram, &to, now);
    assert_true(n > 0);
    return n;
}

enum rtmfp_responded responder_input(const uint8_t *datagram, size_t n, co_usec now)
{
    return rtmfp_responder_input(&the_ends.responder, datagram, n, &initiator_at, now, &the_ends.out);
}
