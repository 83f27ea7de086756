/* SPDX-License-Identifier: MIT */
/* player.c - the player side of a session. */
#include "session/player.h"

#include "base/log.h"
#include "base/text.h"
#include "co/net/io_tcp.h"
#include "session/bandwidth.h"
#include "session/address_slot.h"
#include "session/tokens.h"
#include "session/workers.h"

#include <stdio.h>

/* Logs a line if the send window is full for longer. */
#define STALLS CO_SECONDS(3)

/* A file is sent a second ahead, so write merging adds no delay. */
#define FILE_TURNS CO_MS(350)
#define FILE_TURNS_LEAST CO_MS(100)

enum { STATE_SIZE = 128 };

/* ---- admission and end */

bool session_play_is_asked(const struct conf_vhost *vhost)
{
    const struct conf_http_hooks *hooks = &vhost->http_hooks;

    return conf_security_restricts(&vhost->security, CONF_PLAY) ||
           (hooks->enabled && hooks->on_play.n > 0);
}

/* Checks what is known immediately (address, page, token, bandwidth of the vhost), then asks the
 * backend. */
static err_t ask_play(struct session_env *env, struct hooks_line **line,
                              const struct conf_vhost *vhost, const struct hooks_event *event,
                              int64_t *ends)
{
    const struct session_stream *names = event->names;
    err_t err = conf_security_check(&vhost->security, CONF_PLAY, names->ip);

    if (!err)
        err = conf_refer_check(&vhost->refer, CONF_PLAY, names->page_url);
    if (!err)
        err = tokens_check(env, vhost, CONF_PLAY, names, event->bearer, ends);
    if (!err)
        err = session_bandwidth_out(env, vhost, names);
    return err ? err : hooks_authorize(env, line, vhost, HOOKS_PLAY, event);
}

err_t session_play_begin(struct session *s, enum clients_type type, const char *bearer)
{
    struct hooks_event event;
    err_t err;

    session_source(s);
    session_wait(s, type);
    event = session_event(s);
    event.bearer = bearer;
    err = ask_play(s->env, &s->line, s->vhost, &event, &s->ends);
    if (err) {
        session_leave(s, err);
        return err;
    }
    s->env->players++;
    workers_note(s->env);
    session_enter(s);
    if (!s->on_demand) /* any client may request files that do not exist */
        session_log_as_client(s->env, s->names.ip);
    if (!s->on_demand && !live_source_publishing(s->src)) {
        /* these poll instead of waiting */
        if (type != CLIENTS_HLS_PLAY && type != CLIENTS_DASH_PLAY)
            missing_stream_begin(s);
        if (s->env->on_wanted)
            (void)s->env->on_wanted(s->env->arg, &s->names);
    }
    return NULL;
}

void session_play_end(struct session *s, err_t why)
{
    s->env->players--;
    s->playing = NULL;
    s->seen = (struct session_seen){ 0 };
    workers_note(s->env);
    session_notify(s, HOOKS_STOP);
    session_leave(s, why);
}

/* Records how long it has been in its state, with a resolution of a second. */
static void note_state(struct session *s, co_usec now)
{
    struct session_seen *seen = &s->seen;
    struct live_sender_stat stat = { 0 };

    s->playing(s, &stat);
    if (seen->at && stat.state == seen->state)
        return;
    if (seen->at && seen->state == LIVE_WINDOW_FULL)
        seen->full += now - seen->at;
    seen->state = stat.state;
    seen->at = now;
}

err_t session_play_check(struct session *s, bool *changed)
{
    *changed = false;
    if (s->playing)
        note_state(s, co_now());
    return session_has_expired(s->ends) ? session_expiry_error() : session_apply(s, changed);
}

/* ---- Opus */

void session_play_log_no_opus(const struct session *s, const char *why)
{
    log_warn("the player gets the video of %.100s/%.150s without its Opus audio: %s; %s AAC for "
             "such players", text_or_empty(s->names.app), text_or_empty(s->names.name), why,
             s->on_demand ? "convert the file to" : "publish");
}

bool session_play_log_no_opus_once(const struct session *s, const char *why)
{
    struct live_source_stat stat;

    live_source_stat(s->src, &stat);
    if (stat.audio == AV_OPUS)
        session_play_log_no_opus(s, why);
    return stat.audio != AV_CODEC_NONE;
}

/* ---- sending */

co_usec session_player_merge(const struct conf_vhost *vhost, bool rtsp)
{
    int64_t merge = rtsp ? vhost->rtsp.mw_latency : vhost->play.mw_latency;

    return merge == CONF_AUTO ? LIVE_MW_AUTO : merge;
}

static co_usec within(co_usec least, co_usec t, co_usec most)
{
    return t < least ? least : t < most ? t : most;
}

/* Returns the merge time of live streams, or one that fits the bit rate of the file: less for high
 * rates, more for low ones. */
static co_usec file_turns(const struct session_player *p)
{
    co_usec merge = session_player_merge(p->s->vhost, p->kind->type == CLIENTS_RTSP_VOD);
    const struct live_feed *feed = p->sender.feed;
    struct live_feed_info info;

    merge = merge == LIVE_MW_AUTO ? FILE_TURNS : within(FILE_TURNS_LEAST, merge, FILE_TURNS);
    if (!feed->kind->describe || !feed->kind->describe(feed, &info) || info.turn == 0)
        return merge;
    return within(FILE_TURNS_LEAST, info.turn, merge);
}

static struct live_sender_settings settings_of(const struct session_player *p)
{
    const struct conf_vhost *v = p->s->vhost;

    if (p->sender.feed)
        return (struct live_sender_settings){ .mw_latency = file_turns(p) };
    return (struct live_sender_settings){
        .mw_latency = session_player_merge(v, p->kind->type == CLIENTS_RTSP_PLAY),
        .mw_msgs = (unsigned)v->play.mw_msgs,
        .send_interval = v->play.send_min_interval,
    };
}

static bool is_called(const struct session_player *p)
{
    return p->kind->type == CLIENTS_FORWARD;
}

static void apply_settings(struct session_player *p)
{
    struct session *s = p->s;

    p->sender.turn_every = s->conf->sampled_print / 2;
    p->sender.set = settings_of(p);
    if (is_called(p))
        p->sender.set.send_interval = 0;
    else
        session_pace(s->io, s->vhost->bandwidth.play_kbps);
}

/* Returns the packets dropped since the last call. */
static uint64_t count_dropped(struct session_player *p)
{
    uint64_t more = p->sender.consumer.dropped - p->dropped;

    p->dropped += more;
    p->s->left_out += more;
    return more;
}

/* Describes the state of its sender for the log. */
static const char *describe(const struct session_player *p, char *text, size_t size)
{
    struct live_sender_stat stat;

    live_sender_stat(&p->sender, &stat);
    (void)snprintf(text, size, "state %s for %lld ms, window full for %lld ms in all, "
                   "%lld ms behind", live_sender_state_name(stat.state),
                   us_to_ms(stat.since), us_to_ms(stat.window_full), us_to_ms(stat.lag));
    return text;
}

static void log_dropped(struct session_player *p)
{
    uint64_t dropped = count_dropped(p);
    char text[STATE_SIZE];
    bool named = is_called(p);

    if (dropped == 0)
        return;
    log_warn("slow %s%s%s: %llu packets dropped, it resumes at a key frame; %s", p->kind->what,
             named ? " " : "", named ? p->s->names.tc_url : "",
             (unsigned long long)dropped, describe(p, text, sizeof(text)));
}

/* Logs a stall once, until the player has caught up. */
static void log_stalled(struct session_player *p)
{
    struct live_sender_stat stat;
    char text[STATE_SIZE];

    live_sender_stat(&p->sender, &stat);
    if (stat.state != LIVE_WINDOW_FULL) {
        p->stalls = false;
        return;
    }
    if (p->stalls || stat.since < STALLS)
        return;
    p->stalls = true;
    log_warn("%s stalls, because it or its network is slower than the stream; %s", p->kind->what,
             describe(p, text, sizeof(text)));
}

static err_t on_readable(void *player)
{
    struct session_player *p = player;

    return p->kind->on_readable(p);
}

static err_t on_turn(void *player)
{
    struct session_player *p = player;
    struct session *s = p->s;
    co_usec now = co_now();
    bool changed;
    err_t err = session_apply(s, &changed);

    if (err)
        return err;
    if (changed)
        apply_settings(p);
    /* The first turn is sent right after the responses; later the vhost decides. */
    if (!is_called(p) && (changed || p->sender.turns == 1))
        io_tcp_nodelay(s->io, s->vhost->tcp_nodelay);
    log_dropped(p);
    log_stalled(p);
    if (p->kind->on_turn)
        p->kind->on_turn(p);
    if (session_sample(s, p->kind->sampled, now))
        p->kind->log_sample(p, now);
    return NULL;
}

static void init(struct session_player *p, struct session *s,
                 const struct session_player_kind *kind)
{
    *p = (struct session_player){
        .s = s, .kind = kind,
        .sender = { .io = s->io, .arg = p, .on_readable = on_readable, .on_turn = on_turn,
                    .epoch = &s->env->generation },
    };
}

err_t session_player_begin(struct session_player *p, struct session *s,
                           const struct session_player_kind *kind, const char *bearer)
{
    err_t err = session_play_begin(s, kind->type, bearer);

    init(p, s, kind);
    if (err)
        return err;
    session_expiry_begin(&s->term, s->ends);
    s->sender = &p->sender;
    return NULL;
}

void session_player_join(struct session_player *p, struct session *s,
                         const struct session_player_kind *kind, struct live_source *src)
{
    init(p, s, kind);
    s->sender = &p->sender;
    s->src = live_source_ref(src);
    session_wait(s, kind->type);
    session_enter(s);
}

void session_player_part(struct session_player *p, err_t why)
{
    p->s->sender = NULL;
    (void)count_dropped(p);
    live_consumer_close(&p->sender.consumer);
    session_leave(p->s, why);
}

void session_player_open(struct session_player *p, const struct live_format *format,
                         const uint32_t param[LIVE_PARAMS])
{
    live_consumer_close(&p->sender.consumer);
    p->sender.feed = NULL;
    p->dropped = 0;
    live_consumer_open(&p->sender.consumer, p->s->src, format, param);
}

void session_player_open_feed(struct session_player *p, struct live_feed *feed)
{
    live_consumer_close(&p->sender.consumer);
    session_log_as_client(p->s->env, p->s->names.ip);
    p->sender.feed = feed;
    p->sender.due = 0; /* after a seek the next turn starts immediately */
}

void session_player_reopen(struct session_player *p, const struct live_format *format,
                           const uint32_t param[LIVE_PARAMS])
{
    if (!live_consumer_reopen(&p->sender.consumer, p->s->src, format, param))
        p->dropped = 0;
}

err_t session_player_send(struct session_player *p)
{
    apply_settings(p);
    co_stack_trim();
    return live_sender_run(&p->sender);
}

void session_player_log_sample(const struct session_player *p, const char *kind, co_usec time)
{
    const struct session *s = p->s;

    log_always(LOG_TRACE,
               "%s%s time=%lld, msgs=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", mw=%lld/%u",
               sampled_name(p->kind->sampled), kind, (long long)time,
               (unsigned long long)live_sender_pending(&p->sender), KBPS_ARGS(&s->out_kbps),
               KBPS_ARGS(&s->in_kbps), us_to_ms(p->sender.merge), p->sender.set.mw_msgs);
}

void session_player_end(struct session_player *p, err_t why)
{
    p->s->sender = NULL;
    (void)count_dropped(p);
    live_consumer_close(&p->sender.consumer);
    session_expiry_end(&p->s->term);
    session_play_end(p->s, why);
}
