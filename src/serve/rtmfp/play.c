/* SPDX-License-Identifier: MIT */
/* play.c - a player, from its admission to its end. It has no coroutine.
 *
 * Each turn adds references to new messages to its flows. Messages the network does not take wait
 * there: video until the next key frame makes it obsolete, audio and configurations until they are
 * sent. A player over a limit skips to a key frame.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "proto/rtmfp/rtmp.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/reply.h"
#include "serve/rtmfp/peer.h"
#include "wire/rtmfp.h"

#define LATE CO_MS(200) /* video that waits longer is abandoned at the next key frame */
#define AUDIO_KEPT CO_SECONDS(10) /* minimum, even with a shorter queue limit */

enum {
    WAITING_MOST = 4 << 20, /* bytes queued for one player */
};

/* ---- one message */

static struct rtmfp_flow_out *flow_of(const struct rtmfp_netstream *n, enum rtmfp_wire_kind kind)
{
    if (kind == RTMFP_WIRE_DATA)
        return n->control;
    return kind == RTMFP_WIRE_AUDIO ? n->audio : n->video;
}

static bool is_wanted(const struct rtmfp_play *play, const struct rtmfp_wire_entry *e)
{
    if (e->player != RTMFP_WIRE_ALL && (e->player == RTMFP_WIRE_OPUS) == play->no_opus)
        return false;
    return e->kind == RTMFP_WIRE_DATA || (e->kind == RTMFP_WIRE_AUDIO ? !play->no_audio
                                                                      : !play->no_video);
}

/* Returns false if the flow is full. */
static bool put(struct rtmfp_netstream *n, const struct rtmfp_wire_entry *e)
{
    struct rtmfp_flow_out *f = flow_of(n, (enum rtmfp_wire_kind)e->kind);

    if (!f || f->rejected || f->closing) /* the client rejected this kind */
        return true;
    if (!rtmfp_flow_out_write(f, e->message, e->keep))
        return false;
    n->play.sent++;
    n->base.session.out += e->message->size;
    return true;
}

static unsigned give_up(struct rtmfp_flow_out *f, co_usec created_before)
{
    return f ? rtmfp_flow_out_abandon(f, created_before) : 0;
}

/* ---- positions to start at */

/* Writes the configurations of that kind in force at its position; RTMFP_WIRE_DATA: all kinds. */
static bool put_configs(struct rtmfp_netstream *n, enum rtmfp_wire_kind kind)
{
    struct rtmfp_play *play = &n->play;
    struct rtmfp_wire_entry v[LIVE_CONFIGS];
    size_t count = rtmfp_wire_configs(rtmfp_stream_wire(n->base.stream), play->at, v, LIVE_CONFIGS);
    bool all = kind == RTMFP_WIRE_DATA, sent = true;

    for (size_t i = 0; i < count && sent; i++) {
        if (is_wanted(play, &v[i]) && (all || v[i].kind == kind))
            sent = put(n, &v[i]);
    }
    return sent;
}

/* Moves to the newest key frame, or waits for the next one. */
static void find_begin(struct rtmfp_netstream *n, co_usec now)
{
    struct rtmfp_play *play = &n->play;

    (void)rtmfp_wire_join(rtmfp_stream_wire(n->base.stream), &play->at);
    play->waits = play->audio_waits = true;
    play->since = now;
}

/* ---- players that are too slow */

/* Returns whether the queue is too long. Messages that were old when it began count from that
 * time. */
static bool is_behind(const struct rtmfp_netstream *n, const struct rtmfp_flow_out *f, co_usec most,
                      co_usec now)
{
    co_usec oldest = f ? rtmfp_flow_out_oldest(f) : INT64_MAX;

    if (oldest == INT64_MAX)
        return false;
    oldest = oldest > n->play.since ? oldest : n->play.since;
    return now - oldest > most;
}

static bool video_is_behind(const struct rtmfp_netstream *n, co_usec now)
{
    return is_behind(n, n->video, live_source_set(n->base.session.src).queue_length, now);
}

/* Audio is small, and listeners notice its loss first. */
static bool audio_is_behind(const struct rtmfp_netstream *n, co_usec now)
{
    co_usec most = live_source_set(n->base.session.src).queue_length;

    return is_behind(n, n->audio, most > AUDIO_KEPT ? most : AUDIO_KEPT, now) ||
           (n->audio && n->audio->waiting_bytes > WAITING_MOST / 2);
}

static size_t waiting(const struct rtmfp_netstream *n)
{
    return (n->audio ? n->audio->waiting_bytes : 0) + (n->video ? n->video->waiting_bytes : 0) +
           (n->control ? n->control->waiting_bytes : 0);
}

/* Abandons all queued video and continues at the next key frame: the flow did not even take frames
 * of the newest one. Abandons audio only if audio is late. */
static void skip(struct rtmfp_netstream *n, co_usec now)
{
    struct rtmfp_play *play = &n->play;
    bool sound = audio_is_behind(n, now);
    unsigned lost = give_up(n->video, INT64_MAX);

    if (sound)
        lost += give_up(n->audio, INT64_MAX);
    if (lost == 0 && play->waits) /* only reliable messages are left */
        return;
    play->abandoned += lost;
    play->waits = true;
    play->since = now;
    play->skips++;
    n->peer->service->stat.skips++;
}

static bool is_over(const struct rtmfp_netstream *n, co_usec now)
{
    return waiting(n) > WAITING_MOST || video_is_behind(n, now) || audio_is_behind(n, now);
}

/* The wire dropped messages before they were sent; they may have been configurations. */
static void catch_up(struct rtmfp_netstream *n, co_usec now)
{
    uint64_t at = n->play.at;

    find_begin(n, now);
    n->play.audio_waits = false;
    if (n->play.at < at)
        n->play.at = at;
    (void)put_configs(n, RTMFP_WIRE_DATA);
    n->play.skips++;
    n->peer->service->stat.skips++;
}

/* ---- turns */

/* At a key frame: abandons late video first. */
static bool pass_key(struct rtmfp_netstream *n, const struct rtmfp_wire_entry *e, co_usec now)
{
    struct rtmfp_play *play = &n->play;
    bool begins = play->waits && play->audio_waits;

    if (begins && !put_configs(n, RTMFP_WIRE_DATA))
        return false;
    play->audio_waits = false;
    if (e->kind != RTMFP_WIRE_VIDEO || play->no_video)
        return true;
    if (n->video && rtmfp_flow_out_oldest(n->video) < now - LATE)
        play->abandoned += give_up(n->video, e->message->created_at);
    if (play->waits && !begins && !put_configs(n, RTMFP_WIRE_VIDEO))
        return false;
    play->waits = false;
    return true;
}

static bool pass(struct rtmfp_netstream *n, const struct rtmfp_wire_entry *e, co_usec now)
{
    struct rtmfp_play *play = &n->play;

    if (e->key && !pass_key(n, e, now))
        return false;
    if (!is_wanted(play, e))
        return true;
    if ((e->kind == RTMFP_WIRE_VIDEO && play->waits) ||
        (e->kind == RTMFP_WIRE_AUDIO && play->audio_waits))
        return true; /* configurations are written at the start position */
    return put(n, e);
}

/* Even its reserve is full: the client reads nothing. Closes it. */
static void refuse(struct rtmfp_netstream *n)
{
    datagram_client_close(&n->base,
                          err_new(ERR_RTMFP_TIMEOUT, "a player of %s reads nothing of what "
                                  "the server sends", n->base.session.names.name));
}

/* Returns false if a flow was full and the player is closing. */
static bool pass_all(struct rtmfp_netstream *n, co_usec now)
{
    struct rtmfp_play *play = &n->play;
    struct rtmfp_wire *w = rtmfp_stream_wire(n->base.stream);
    bool skipped = false;

    while (play->at < rtmfp_wire_head(w)) {
        if (pass(n, rtmfp_wire_at(w, play->at), now)) {
            play->at++;
            continue;
        }
        if (skipped)
            return false;
        skip(n, now);
        skipped = true;
    }
    return true;
}

static bool rests(struct rtmfp_netstream *n, co_usec now)
{
    struct rtmfp_play *play = &n->play;

    if (play->paused) {
        play->was_paused = true;
        play->at = rtmfp_wire_head(rtmfp_stream_wire(n->base.stream));
        return true;
    }
    if (play->was_paused)
        find_begin(n, now);
    play->was_paused = false;
    return false;
}

bool rtmfp_play_turn(struct rtmfp_netstream *n, co_usec now)
{
    struct rtmfp_play *play = &n->play;
    struct rtmfp_wire *w = rtmfp_stream_wire(n->base.stream);

    if (rests(n, now) || play->at == rtmfp_wire_head(w))
        return false;
    if (is_over(n, now))
        skip(n, now);
    if (play->at < rtmfp_wire_first(w))
        catch_up(n, now);
    if (!pass_all(n, now) || waiting(n) > 2 * WAITING_MOST)
        refuse(n);
    return true;
}

/* ---- requests of the client */

void rtmfp_play_apply(struct rtmfp_netstream *n)
{
    struct rtmfp_play *play = &n->play;

    if (!datagram_stream_has(&n->base.player))
        return;
    if (play->paused || play->no_video) {
        play->waits = true;
        give_up(n->video, INT64_MAX); /* the client asked for that, so it is no loss */
    }
    if (play->paused || play->no_audio) {
        play->audio_waits = true;
        give_up(n->audio, INT64_MAX);
    } else if (play->audio_waits && !play->was_paused) {
        play->audio_waits = !put_configs(n, RTMFP_WIRE_AUDIO);
    }
    rtmfp_peer_touch(n->peer);
}

/* ---- state */

static co_usec lag_of(const struct rtmfp_flow_out *f, co_usec now)
{
    co_usec oldest = f ? rtmfp_flow_out_oldest(f) : INT64_MAX;

    return oldest < now ? now - oldest : 0;
}

/* Messages the network does not take wait in its flows. */
static void playing(const struct session *s, struct live_sender_stat *out)
{
    const struct rtmfp_netstream *n = container_of(s, const struct rtmfp_netstream, base.session);
    co_usec audio = lag_of(n->audio, co_now()), video = lag_of(n->video, co_now());

    out->dropped = n->play.abandoned;
    out->lag = audio > video ? audio : video;
    if (n->play.paused)
        out->state = LIVE_PAUSED;
    else if (n->play.waits && !n->play.no_video)
        out->state = LIVE_WAIT_KEY;
    else
        out->state = out->lag > LATE ? LIVE_WINDOW_FULL : LIVE_COLLECT;
}

static struct rtmfp_flow_out *open_flow(struct rtmfp_netstream *n, enum rtmfp_order order)
{
    uint8_t meta[RTMFP_FLOW_METADATA_MAX];
    size_t size = rtmfp_flow_metadata_build(n->number, meta);
    struct rtmfp_flow_out *f = rtmfp_flow_open(&n->peer->session, rtmfp_bytes(meta, size),
                                               n->from, order);

    if (f)
        f->user = n;
    return f;
}

static void close_flow(struct rtmfp_flow_out **flow)
{
    struct rtmfp_flow_out *f = *flow;

    *flow = NULL;
    if (!f)
        return;
    f->user = NULL;
    (void)rtmfp_flow_out_abandon(f, INT64_MAX);
    rtmfp_flow_out_close(f);
}

/* The connection may have closed during authorization. */
static err_t open_flows(struct rtmfp_netstream *n)
{
    if (n->peer->session.state != RTMFP_OPEN || !n->from || !n->control)
        return err_new(ERR_RTMFP, "the player disconnected before it was admitted");
    n->audio = open_flow(n, RTMFP_AUDIO);
    n->video = open_flow(n, RTMFP_VIDEO);
    if (n->audio && n->video)
        return NULL;
    close_flow(&n->audio);
    close_flow(&n->video);
    return err_new(ERR_TOO_MANY, "the RTMFP session has too many flows");
}

/* Sends the same messages as RTMP; see play_words.c of serve/rtmp. */
static void send_started(struct rtmfp_netstream *n)
{
    uint8_t buf[64];
    struct wr w = rtmfp_wr(buf, sizeof(buf));

    rtmfp_netstream_active(n);
    rtmfp_netstream_status(n, RTMP_PLAY_RESET, NULL);
    rtmfp_netstream_status(n, RTMP_PLAY_START, NULL);
    rtmp_reply_sample_access(&w, true, true);
    if (!w.bad)
        rtmfp_netstream_write(n, RTMP_DATA, 0, buf, w.len);
}

err_t rtmfp_play_begin(struct rtmfp_netstream *n)
{
    bool no_audio = n->play.no_audio, no_video = n->play.no_video, paused = n->play.paused;
    err_t err = session_play_begin(&n->base.session, CLIENTS_RTMFP_PLAY, NULL);

    if (err)
        return err;
    err = open_flows(n);
    if (err) {
        session_play_end(&n->base.session, err);
        return err;
    }
    n->play = (struct rtmfp_play){
        .no_audio = no_audio, .no_video = no_video, .paused = paused,
        .no_opus = n->play.no_opus, .no_opus_logged = !n->play.no_opus,
    };
    n->base.stream = rtmfp_stream_get(n->peer->service, n->base.session.src);
    n->base.session.playing = playing;
    send_started(n);
    datagram_stream_add(n->base.stream, &n->base.player);
    find_begin(n, co_clock());
    (void)rtmfp_play_turn(n, co_clock());
    rtmfp_peer_touch(n->peer);
    return NULL;
}

/* ---- once a second */

static void count(struct rtmfp_netstream *n)
{
    struct rtmfp_play *play = &n->play;

    live_source_sent(n->base.session.src, n->base.session.out - play->counted,
                     play->abandoned - play->counted_lost);
    play->counted = n->base.session.out;
    play->counted_lost = play->abandoned;
}

static void log_skips(struct rtmfp_netstream *n)
{
    struct rtmfp_play *play = &n->play;

    if (play->skips == play->logged_skips)
        return;
    log_warn("slow player: it goes on at a key frame; %u times so far, messages=%llu, "
             "abandoned=%llu", play->skips, (unsigned long long)play->sent,
             (unsigned long long)play->abandoned);
    play->logged_skips = play->skips;
}

void rtmfp_play_log_sample(const struct datagram_client *c, co_usec now)
{
    const struct rtmfp_netstream *n = container_of(c, const struct rtmfp_netstream, base);
    const struct session *s = &c->session;
    struct rtmfp_client_stat stat = { 0 };

    (void)s->detail->read(s, &stat);
    log_always(LOG_TRACE, "%s time=%lld, messages=%llu, lost=%llu, again=%llu, "
               "abandoned=%llu, waiting=%llu, rtt=%lld ms, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               sampled_name(SAMPLED_RTMFP_PLAY), us_to_ms(now - s->began_at),
               (unsigned long long)n->play.sent, (unsigned long long)stat.lost,
               (unsigned long long)stat.again,
               (unsigned long long)n->play.abandoned, (unsigned long long)stat.waiting,
               us_to_ms(stat.rtt),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

err_t rtmfp_play_changed(struct datagram_client *c)
{
    if (c->session.vhost->rtmfp.enabled)
        return NULL;
    return err_new(ERR_RTMFP_DISABLED, "the configuration changed: rtmfp of %s is off",
                   c->session.vhost->name);
}

void rtmfp_play_check(struct datagram_client *c, co_usec now)
{
    struct rtmfp_netstream *n = container_of(c, struct rtmfp_netstream, base);

    (void)now;
    count(n);
    log_skips(n);
    if (!n->play.no_opus_logged)
        n->play.no_opus_logged = session_play_log_no_opus_once(&c->session, SESSION_PLAY_NO_OPUS);
}

/* ---- end */

void rtmfp_play_end(struct rtmfp_netstream *n, err_t why)
{
    if (datagram_stream_has(&n->base.player)) {
        count(n);
        datagram_stream_remove(n->base.stream, &n->base.player);
        rtmfp_peer_media(n->peer, false);
    }
    close_flow(&n->audio);
    close_flow(&n->video);
    rtmfp_peer_touch(n->peer);
    session_play_end(&n->base.session, why);
    datagram_stream_put(n->base.stream);
    n->base.stream = NULL;
}
