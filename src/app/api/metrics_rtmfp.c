/* SPDX-License-Identifier: MIT */
/* metrics_rtmfp.c - figures of RTMFP, for Prometheus: sums over all sessions. */
#include "app/api/metrics_impl.h"
#include "proto/rtmfp/session.h"

#include <stdio.h>

/* ---- by one label */

struct by_word {
    const char *word;
    uint64_t value;
};

static void put_by(struct wr *w, const char *name, const char *label, const struct by_word *v,
                   size_t n)
{
    char text[48];

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(text, sizeof(text), "%s=\"%s\"", label, v[i].word);
        prom_value(w, name, text, (double)v[i].value);
    }
}

#define PUT_BY(w, name, label, rows) put_by(w, name, label, rows, sizeof(rows) / sizeof((rows)[0]))

static void put_ended(struct wr *w, const struct rtmfp_service_stat *s)
{
    const struct by_word rows[] = {
        { "here", s->ended[RTMFP_ENDED_HERE] }, { "there", s->ended[RTMFP_ENDED_THERE] },
        { "silent", s->ended[RTMFP_ENDED_SILENT] },
        { "unanswered", s->ended[RTMFP_ENDED_UNANSWERED] },
        { "hostile", s->ended[RTMFP_ENDED_HOSTILE] },
    };

    prom_family(w, "srs_rtmfp_ended_total", "counter", "Sessions that ended, by why.");
    PUT_BY(w, "srs_rtmfp_ended_total", "reason", rows);
}

/* In the order of enum rtmfp_drop; the names are those of doc/api.md. */
static const char *const drop_words[] = {
    "packet", "chunk", "unselected", "foreign", "expired", "other_peer", "keying", "answered",
    "certificate", "component", "public_key", "policy", "limit", "piece", "small",
};

_Static_assert(sizeof(drop_words) / sizeof(drop_words[0]) == RTMFP_DROP_KINDS, "each has a word");

static void put_dropped(struct wr *w, const struct rtmfp_service_stat *s)
{
    const struct by_word more[] = { { "rate", s->startup_limited }, { "keys", s->key_refused } };
    struct by_word rows[RTMFP_DROP_KINDS];

    for (unsigned i = 0; i < RTMFP_DROP_KINDS; i++) {
        rows[i] = (struct by_word){ drop_words[i], s->drops[i] };
        if (i == RTMFP_DROP_LIMIT) /* of which these are others */
            rows[i].value -= s->key_refused < s->drops[i] ? s->key_refused : s->drops[i];
    }
    prom_family(w, "srs_rtmfp_startup_dropped_total", "counter",
                "Packets of handshakes that were not answered, by why.");
    PUT_BY(w, "srs_rtmfp_startup_dropped_total", "reason", rows);
    PUT_BY(w, "srs_rtmfp_startup_dropped_total", "reason", more);
}

static void put_bad(struct wr *w, const struct rtmfp_service_stat *s)
{
    const struct by_word rows[] = {
        { "size", s->bad[RTMFP_BAD_SIZES] }, { "checksum", s->bad[RTMFP_BAD_SUMS] },
        { "repeated", s->bad[RTMFP_BAD_REPEATED] }, { "stranger", s->bad[RTMFP_BAD_STRANGER] },
    };

    prom_family(w, "srs_rtmfp_bad_packets_total", "counter",
                "Packets to sessions that were dropped, by why.");
    PUT_BY(w, "srs_rtmfp_bad_packets_total", "reason", rows);
}

/* ---- single ones */

static void put_now(struct wr *w, const struct rtmfp_service_stat *s)
{
    const struct by_word modes[] = { { "publish", s->publishers }, { "play", s->players } };
    const struct {
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        { "srs_rtmfp_sessions", "Sessions that are open.", s->sessions },
        { "srs_rtmfp_connected", "Those that said connect.", s->connected },
        { "srs_rtmfp_keying", "Handshakes that wait for their keys.", s->keying },
        { "srs_rtmfp_groups", "Groups of peers.", s->groups },
        { "srs_rtmfp_group_members", "Members of all of them.", s->group_members },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prom_family(w, rows[i].name, "gauge", rows[i].help);
        prom_value(w, rows[i].name, "", (double)rows[i].value);
    }
    prom_family(w, "srs_rtmfp_streams", "gauge", "Streams of sessions, by what they do.");
    PUT_BY(w, "srs_rtmfp_streams", "mode", modes);
}

static void put_rows(struct wr *w, const struct rtmfp_service_stat *s)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        { "srs_rtmfp_opened_total", "Sessions that were opened.", s->opened },
        { "srs_rtmfp_startup_packets_total", "Packets of handshakes.", s->startup },
        { "srs_rtmfp_hellos_total", "Those that say hello.", s->hellos },
        { "srs_rtmfp_keyings_total", "Those that bring a key.", s->keyings },
        { "srs_rtmfp_repeats_total", "Those of them that were answered again.", s->repeats },
        { "srs_rtmfp_cookie_changes_total", "Clients that moved while they said hello.",
          s->changes },
        { "srs_rtmfp_key_jobs_total", "Handshakes that were given keys.", s->key_jobs },
        { "srs_rtmfp_pairs_made_total", "Pairs of keys that were made ahead.", s->pairs_made },
        { "srs_rtmfp_pairs_missed_total", "Pairs that were not there when one was needed.",
          s->pairs_missed },
        { "srs_rtmfp_pings_lost_total", "Pings that were not answered.", s->pings_lost },
        { "srs_rtmfp_bad_chunks_total", "Chunks in packets of sessions that made no sense.",
          s->bad_chunks },
        { "srs_rtmfp_moves_total", "Clients that went to another address.", s->moves },
        { "srs_rtmfp_fragments_lost_total", "Fragments of messages that did not arrive.", s->lost },
        { "srs_rtmfp_fragments_again_total", "Fragments of messages that were sent again.",
          s->again },
        { "srs_rtmfp_messages_abandoned_total", "Messages that were too late, and given up.",
          s->abandoned },
        { "srs_rtmfp_skips_total", "Players that went on at a key frame.", s->skips },
        { "srs_rtmfp_introductions_total", "Peers that were told of each other.",
          s->introductions },
        { "srs_rtmfp_introductions_limited_total", "Those asked for too often by an address.",
          s->introductions_limited },
        { "srs_rtmfp_unknown_peers_total", "Peers that were asked for, and are not here.",
          s->unknown_peers },
        { "srs_rtmfp_redirects_total", "Clients that were sent to other servers.",
          s->redirects },
        { "srs_rtmfp_datagrams_in_total", "Datagrams that came.", s->sockets.in },
        { "srs_rtmfp_calls_in_total", "System calls that gave them.", s->sockets.in_calls },
        { "srs_rtmfp_datagrams_out_total", "Datagrams that went.", s->sockets.out },
        { "srs_rtmfp_calls_out_total", "System calls that sent them.", s->sockets.out_calls },
        { "srs_rtmfp_datagrams_passed_total", "Datagrams that one worker got for another.",
          s->passed },
        { "srs_rtmfp_datagrams_overflow_total", "Datagrams lost for want of room in the socket.",
          s->sockets.overflow },
        { "srs_rtmfp_datagrams_dropped_total", "Datagrams that the system had no room to send.",
          s->sockets.drops },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prom_family(w, rows[i].name, "counter", rows[i].help);
        prom_value(w, rows[i].name, "", (double)rows[i].value);
    }
    prom_family(w, "srs_rtmfp_key_seconds_total", "counter",
                "What handshakes waited for their keys, together.");
    prom_value(w, "srs_rtmfp_key_seconds_total", "", (double)s->key_time / 1e6);
}

void metrics_put_rtmfp(struct wr *w, const struct rtmfp_service_stat *s)
{
    put_now(w, s);
    put_ended(w, s);
    put_dropped(w, s);
    put_bad(w, s);
    put_rows(w, s);
}
