/* SPDX-License-Identifier: MIT */
/* counters.c - what RTMFP counts, and the line in the log about it:
 *
 *   RTMFP: Server conns=20000,19990, streams=12,450, opens=(98,keys:99,0.42ms,wait:3),
 *   drops=(12,bad:3,room:1), again=40, abandoned=2, skips=1, pings=5, peers=(20,none:3)
 *
 * conns: sessions, and those of them that sent connect. streams: published, played. The rest is per
 * second. opens: sessions opened; handshakes that got keys, how long that took, how many wait now.
 * drops: packets of handshakes without an answer, packets that no session takes, datagrams that
 * found no room in the socket. again, abandoned: fragments retransmitted, messages that were too
 * late. skips: players that continued at a key frame. pings: those without an answer. peers:
 * introduced, and requested but unknown.
 */
#include "base/container_of.h"
#include "serve/rtmfp/peer.h"
#include "serve/rtmfp/group_ring.h"

#include <stdio.h>

#define OF(field) offsetof(struct rtmfp_service_stat, field)
#define AT(field) .at = OF(field)
#define CLIENT(field) .at = offsetof(struct rtmfp_client_stat, field)

static const char *const modes[] = { "publish", "play" };
/* In the order of enum rtmfp_end, enum rtmfp_drop, enum rtmfp_bad. */
static const char *const ends[] = { "here", "there", "silent", "unanswered", "hostile" };
static const char *const drops[] = {
    "packet", "chunk", "unselected", "foreign", "expired", "other_peer", "keying", "answered",
    "certificate", "component", "public_key", "policy", "limit", "piece", "small", "rate", "keys",
};
static const char *const bad[] = { "size", "checksum", "repeated", "stranger" };

enum { DROPS = RTMFP_DROP_KINDS + 2 };
_Static_assert(sizeof(drops) / sizeof(drops[0]) == DROPS, "each has a word");

static const struct counter_row rows[] = {
    { "srs_rtmfp_sessions", "Open sessions.", AT(sessions) },
    { "srs_rtmfp_connected", "Sessions that sent connect.", AT(connected) },
    { "srs_rtmfp_keying", "Handshakes that wait for their keys.", AT(keying) },
    { "srs_rtmfp_groups", "Groups of peers.", AT(groups) },
    { "srs_rtmfp_group_members", "Members of all groups.", AT(group_members) },
    { "srs_rtmfp_streams", "Streams of sessions, by mode.", AT(publishers), 2, "mode", modes },
    { "srs_rtmfp_ended_total", "Sessions that ended, by reason.", AT(ended[RTMFP_ENDED_HERE]), 5,
      "reason", ends },
    { "srs_rtmfp_startup_dropped_total", "Handshake packets that were not answered, by reason.",
      AT(drops), DROPS, "reason", drops },
    { "srs_rtmfp_bad_packets_total", "Packets to sessions that were dropped, by reason.", AT(bad),
      RTMFP_BAD_KINDS, "reason", bad },
    { "srs_rtmfp_opened_total", "Sessions that were opened.", AT(opened) },
    { "srs_rtmfp_startup_packets_total", "Packets of handshakes.", AT(startup) },
    { "srs_rtmfp_hellos_total", "Handshake packets with a hello.", AT(hellos) },
    { "srs_rtmfp_keyings_total", "Handshake packets with a key.", AT(keyings) },
    { "srs_rtmfp_repeats_total", "Repeated keyings that were answered again.", AT(repeats) },
    { "srs_rtmfp_cookie_changes_total", "Clients whose address changed during the handshake.",
      AT(changes) },
    { "srs_rtmfp_key_jobs_total", "Handshakes whose keys were computed.", AT(key_jobs) },
    { "srs_rtmfp_pairs_made_total", "Key pairs created in advance.", AT(pairs_made) },
    { "srs_rtmfp_pairs_missed_total", "Key pairs that were missing when needed.",
      AT(pairs_missed) },
    { "srs_rtmfp_pings_lost_total", "Pings that were not answered.", AT(pings_lost) },
    { "srs_rtmfp_bad_chunks_total", "Invalid chunks in packets of sessions.", AT(bad_chunks) },
    { "srs_rtmfp_moves_total", "Clients whose address changed.", AT(moves) },
    { "srs_rtmfp_fragments_lost_total", "Fragments of messages that did not arrive.", AT(lost) },
    { "srs_rtmfp_fragments_again_total", "Fragments of messages that were retransmitted.",
      AT(again) },
    { "srs_rtmfp_messages_abandoned_total", "Messages that were too late and abandoned.",
      AT(abandoned) },
    { "srs_rtmfp_skips_total", "Times that a player skipped to a key frame.", AT(skips) },
    { "srs_rtmfp_introductions_total", "Peers introduced to each other.", AT(introductions) },
    { "srs_rtmfp_introductions_limited_total", "Introductions over the rate limit of an address.",
      AT(introductions_limited) },
    { "srs_rtmfp_unknown_peers_total", "Requested peers that are unknown.", AT(unknown_peers) },
    { "srs_rtmfp_redirects_total", "Clients redirected to other servers.", AT(redirects) },
    DATAGRAM_COUNTERS("srs_rtmfp", OF(sockets)),
    { "srs_rtmfp_datagrams_passed_total",
      "Datagrams that reached the wrong worker and were passed on.", AT(passed) },
    { "srs_rtmfp_datagrams_overflow_total",
      "Datagrams dropped because the socket's receive buffer was full.", AT(sockets.overflow) },
    { "srs_rtmfp_datagrams_dropped_total",
      "Datagrams dropped because the socket's send buffer was full.", AT(sockets.drops) },
    { "srs_rtmfp_key_seconds_total", "Total time that handshakes waited for their keys.",
      AT(key_time), .unit = COUNTER_US },
};

static const struct counter_word words[] = {
    { "RTMFP: Server conns=", AT(sessions), COUNTER_NOW | COUNTER_ALWAYS | COUNTER_LINE },
    { ",", AT(connected), COUNTER_NOW }, { ", streams=", AT(publishers), COUNTER_NOW },
    { ",", AT(players), COUNTER_NOW },
    { NULL, AT(startup), COUNTER_GROUP | COUNTER_LINE }, { NULL, AT(sockets.in), COUNTER_LINE },
    { ", opens=(", AT(opened), COUNTER_GROUP }, { ",keys:", AT(key_jobs) },
    { ",", AT(key_time), COUNTER_MEAN, "ms", .by = OF(key_jobs) },
    { ",wait:", AT(keying), COUNTER_NOW, ")" },
    { ", drops=(", AT(drops), COUNTER_GROUP, .n = DROPS },
    { ",bad:", AT(bad), .n = RTMFP_BAD_KINDS }, { ",room:", AT(sockets.overflow), 0, ")" },
    { ", again=", AT(again), COUNTER_GROUP }, { ", abandoned=", AT(abandoned), COUNTER_GROUP },
    { ", skips=", AT(skips), COUNTER_GROUP }, { ", pings=", AT(pings_lost), COUNTER_GROUP },
    { ", peers=(", AT(introductions), COUNTER_GROUP }, { ",none:", AT(unknown_peers), 0, ")" },
};

static void count_startup(const struct rtmfp_responder *r, struct rtmfp_service_stat *out)
{
    out->hellos = r->hellos;
    out->keyings = r->keyings;
    out->repeats = r->repeats;
    out->changes = r->changes;
    for (int i = 0; i < RTMFP_DROP_KINDS; i++)
        out->drops[i] = r->drops[i];
    out->drops[RTMFP_DROP_LIMIT] -= out->key_refused; /* has its own counter */
}

/* These counters are global, so only one worker reports them. */
static void count_groups(const struct rtmfp_service *s, struct rtmfp_service_stat *out)
{
    size_t groups, members;

    if (s->base.env->worker != 0)
        return;
    rtmfp_netgroups_count(s->shared->netgroups, &groups, &members);
    out->groups = groups;
    out->group_members = members;
}

static bool read_counters(const struct session_env *env, void *out)
{
    struct rtmfp_service_stat *stat = out;
    const struct rtmfp_service *s = rtmfp_service_of(env);

    if (!s)
        return false;
    *stat = s->stat;
    stat->publishers = clients_total(env->clients, CLIENTS_RTMFP_PUBLISH)->now;
    stat->players = clients_total(env->clients, CLIENTS_RTMFP_PLAY)->now;
    stat->sessions = s->base.n_peers - s->leaving;
    count_startup(&s->responder, stat);
    stat->bad[RTMFP_BAD_STRANGER] += s->base.unreachable;
    stat->pings_lost = s->sums.pings_lost;
    stat->moves = s->sums.moves;
    stat->bad_chunks = s->sums.bad_chunks;
    stat->lost = s->sums.flows.lost;
    stat->again = s->sums.flows.retransmitted;
    stat->abandoned = s->sums.flows.abandoned;
    stat->passed = s->base.passed;
    datagram_service_count(&s->base, &stat->sockets);
    count_groups(s, stat);
    return true;
}

const struct counter_table rtmfp_counters = {
    .rows = rows, .n_rows = sizeof(rows) / sizeof(rows[0]),
    .words = words, .n_words = sizeof(words) / sizeof(words[0]),
    .size = sizeof(struct rtmfp_service_stat), .read = read_counters,
};

/* ---- one client */

const char *rtmfp_peer_id_text(const uint8_t id[RTMFP_PEER_ID])
{
    static const char digits[] = "0123456789abcdef";
    static _Thread_local char text[2 * RTMFP_PEER_ID + 1];

    for (unsigned i = 0; i < RTMFP_PEER_ID; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    return text;
}

static bool read_client(const struct session *s, void *stat)
{
    struct rtmfp_client_stat *out = stat;
    const struct rtmfp_netstream *n = container_of(s, struct rtmfp_netstream, base.session);
    const struct rtmfp_peer *p = n->peer;
    const struct rtmfp_session *session = &p->session;

    if (n->base.state != DATAGRAM_ACTIVE)
        return false;
    *out = (struct rtmfp_client_stat){
        .hmac = session->hmac, .numbered = p->numbered,
        .group = p->group, .sent = session->stat.sent, .received = session->stat.received,
        .lost = session->stat.lost, .again = session->stat.retransmitted,
        .abandoned = session->stat.abandoned,
        .pings_lost = session->stat.pings_lost, .skips = n->play.skips,
        .rtt = session->congestion.srtt, .moves = session->stat.moves,
    };
    for (const struct rtmfp_flow_out *f = session->outs; f; f = f->next) {
        out->lost += f->missed;
        out->again += f->retransmitted;
        out->abandoned += f->abandoned;
        out->waiting += f->waiting_bytes;
    }
    for (const struct rtmfp_flow_in *f = session->ins; f; f = f->next)
        out->missing += f->lost;
    (void)snprintf(out->peer_id, sizeof(out->peer_id), "%s", rtmfp_peer_id_text(p->peer_id));
    (void)udp_addr_text(&session->peer, out->remote, sizeof(out->remote));
    return true;
}

static const struct jput_field fields[] = {
    { "peer_id", CLIENT(peer_id), JPUT_CHARS }, { "remote", CLIENT(remote), JPUT_CHARS },
    { "dh_group", CLIENT(group) }, { "hmac", CLIENT(hmac), JPUT_BOOL },
    { "sequence", CLIENT(numbered), JPUT_BOOL }, { "packets_sent", CLIENT(sent) },
    { "packets_received", CLIENT(received) }, { "fragments_lost", CLIENT(lost) },
    { "fragments_again", CLIENT(again) }, { "messages_abandoned", CLIENT(abandoned) },
    { "messages_missing", CLIENT(missing) }, { "skips", CLIENT(skips) },
    { "waiting_bytes", CLIENT(waiting) }, { "rtt_ms", CLIENT(rtt), JPUT_MILLI },
    { "pings_lost", CLIENT(pings_lost) }, { "address_changes", CLIENT(moves) },
};
_Static_assert(sizeof(struct rtmfp_client_stat) <= CLIENTS_DETAIL, "there is room");

const struct clients_detail rtmfp_client_detail = {
    .name = "rtmfp", .fields = fields, .n = sizeof(fields) / sizeof(fields[0]), .read = read_client,
};
