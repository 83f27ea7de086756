/* SPDX-License-Identifier: MIT */
/* play_file.c - sends a file to a player, with seeking.
 *
 * At the end of the file the player gets a status; it may then seek back, play another file or
 * close.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "serve/rtmp/play.h"
#include "vod/wires.h"
#include "wire/rtmp.h"

#include <stdio.h>

enum { HEAD_MAX = 256 * 1024 };

/* Shortest interval between log lines about seeks of one player. */
#define LOG_EVERY CO_SECONDS(1)

/* Upper limit for times from a peer, some thousand years: as ticks they fit into 64 bits. */
#define MAX_MS 1e14

struct playing {
    struct session_player player;
    struct rtmp_session *s;
    struct vod_feed feed;
    struct vod_wire_use use;
    int64_t to;     /* end of the range to play; INT64_MAX: end of the file */
    uint64_t began; /* bytes that the connection had sent before */
    bool past;      /* the position is behind the end: nothing to send */
    bool moved;     /* a seek changed the position */
    bool over;      /* the client ended playback */
    co_usec logged_at; /* time of the last log line about its position */
    unsigned not_logged; /* seeks not logged since then */
};

static struct playing *playing_of(struct session_player *player)
{
    return container_of(player, struct playing, player);
}

/* ---- position */

/* Converts a time from a peer to ticks. Negative values and NaN become 0. */
static int64_t ticks(double ms)
{
    if (!(ms > 0))
        return 0;
    return AV_MS(ms < MAX_MS ? (int64_t)ms : (int64_t)MAX_MS);
}

/* Sends metadata and codec configurations before the media at a new position. */
static void put_head(struct playing *p, int64_t time)
{
    struct wr head;

    wr_init(&head, HEAD_MAX);
    vod_head_put(p->s->file, &p->use, time, &head);
    if (!head.bad)
        vod_feed_put_head(&p->feed, head.buf, head.len);
    wr_free(&head);
}

static bool may_log(struct playing *p)
{
    co_usec now = co_now();

    if (p->logged_at && now - p->logged_at < LOG_EVERY) {
        p->not_logged++;
        return false;
    }
    if (p->not_logged)
        log_trace("player: %u more seeks or ends not logged", p->not_logged);
    p->logged_at = now;
    p->not_logged = 0;
    return true;
}

/* Continues at that time. A paused player stays paused. */
static void play_from(struct playing *p, int64_t from)
{
    int64_t end = vod_file_info(p->s->file)->duration;
    bool paused = p->player.sender.paused;
    int64_t start;

    if (end > p->to)
        end = p->to;
    p->moved = true;
    p->past = from > 0 && from >= end;
    p->player.sender.done |= p->past;
    if (p->past)
        return;
    live_sender_pause(&p->player.sender, false);
    start = vod_feed_play(&p->feed, from, p->to, VOD_SCALE_1);
    put_head(p, start);
    session_player_open_feed(&p->player, &p->feed.feed);
    live_sender_pause(&p->player.sender, paused);
    if (may_log(p))
        log_trace("player plays %s from %lld ms, requested %lld ms", vod_file_name(p->s->file),
                  av_to_ms(start), av_to_ms(from));
}

/* Seeks; a position behind the end means the end. The seek must not fail then: FFmpeg and librtmp
 * drop everything until the seek succeeds and would wait for ever. */
static err_t seek(struct playing *p, double ms)
{
    struct rtmp_batch b;
    char text[64];

    if (ms != ms)
        return rtmp_session_reply(p->s, RTMP_SEEK_FAILED, NULL);
    (void)snprintf(text, sizeof(text), "Seeking %lld.", av_to_ms(ticks(ms)));
    rtmp_batch_begin(&b, p->s);
    rtmp_conn_put_event(&p->s->conn, &b.out, RTMP_STREAM_BEGIN, p->s->stream_id, 0);
    rtmp_batch_put_status(&b, RTMP_SEEK_NOTIFY, text);
    play_from(p, ticks(ms));
    return rtmp_batch_send(&b);
}

static void receive(struct playing *p, uint32_t track, bool on)
{
    uint32_t tracks = on ? p->use.tracks | track : p->use.tracks & ~track;

    if (tracks == p->use.tracks)
        return;
    p->use.tracks = tracks;
    vod_feed_tracks(&p->feed, tracks);
}

/* ---- messages from the player */

static err_t answer_length(struct playing *p, const struct rtmp_command *c)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, p->s);
    rtmp_reply_number(&b.body, c->transaction,
                      (double)vod_file_info(p->s->file)->duration / AV_CLOCK);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    return rtmp_batch_send(&b);
}

static void stop(struct playing *p)
{
    p->over = p->player.sender.done = true;
}

static err_t on_command(struct session_player *player, const struct rtmp_command *c,
                        struct rtmp_msg *msg)
{
    struct playing *p = playing_of(player);

    switch (c->id) {
    case RTMP_CMD_CLOSE_STREAM:
    case RTMP_CMD_DELETE_STREAM:
        stop(p);
        return rtmp_session_answer(p->s, c);
    case RTMP_CMD_PLAY: /* ends this playback; the command is read again afterwards */
        stop(p);
        rtmp_conn_unread(&p->s->conn, msg);
        msg->payload = NULL;
        return NULL;
    case RTMP_CMD_PAUSE: /* the position stays: the time in the command is that of the last media
                          * it received */
        return rtmp_play_pause(player, p->s, rtmp_command_boolean(c, 1, true));
    case RTMP_CMD_RECEIVE_AUDIO:
        receive(p, VOD_TRACKS_AUDIO, rtmp_command_boolean(c, 1, true));
        return NULL;
    case RTMP_CMD_RECEIVE_VIDEO:
        receive(p, VOD_TRACKS_VIDEO, rtmp_command_boolean(c, 1, true));
        return NULL;
    case RTMP_CMD_SEEK:
        return seek(p, rtmp_command_number(c, 1, 0));
    case RTMP_CMD_GET_STREAM_LENGTH:
        return answer_length(p, c);
    default:
        return rtmp_session_answer(p->s, c);
    }
}

static err_t on_readable(struct session_player *player)
{
    return rtmp_play_read(player, playing_of(player)->s, on_command);
}

/* ---- end of the file */

static err_t send_end(struct playing *p)
{
    struct rtmp_session *s = p->s;
    struct rtmp_batch b;

    if (!p->past && vod_feed_failed(&p->feed))
        return rtmp_play_reject(s, RTMP_PLAY_FAILED, "The file is damaged or was removed.",
                                err_new(ERR_STREAM_END, "%s cannot be read any further",
                                        vod_file_name(s->file)));
    if (may_log(p))
        log_trace("player was sent all of %s", vod_file_name(s->file));
    rtmp_batch_begin(&b, s);
    rtmp_reply_complete(&b.body, (double)vod_file_info(s->file)->duration / AV_CLOCK,
                        (double)(s->base.io->bytes_out - p->began));
    rtmp_batch_put(&b, RTMP_DATA, s->stream_id);
    rtmp_conn_put_event(&s->conn, &b.out, RTMP_STREAM_EOF, s->stream_id, 0);
    rtmp_batch_put_status(&b, RTMP_PLAY_STOP, NULL);
    return rtmp_batch_send(&b);
}

/* Everything is sent: waits until the player seeks back, or requests something else. */
static err_t wait_command(struct playing *p)
{
    struct rtmp_session *s = p->s;
    err_t err = NULL;

    co_deadline_set(&s->deadline, s->base.conf->limits.idle_timeout, ERR_IO_TIMEOUT,
                    "nothing played after the end of a file");
    p->moved = false;
    while (!err && !p->over && !p->moved) {
        struct rtmp_msg msg;

        err = rtmp_conn_read(&s->conn, &msg);
        if (!err)
            err = rtmp_play_message(&p->player, s, &msg, on_command);
    }
    co_deadline_cancel(&s->deadline);
    return err;
}

static err_t send_file(struct playing *p)
{
    err_t err = rtmp_play_started(p->s, true);

    while (!err && !p->over) {
        p->player.sender.done = p->past;
        err = on_readable(&p->player); /* bytes that arrived already are no longer in the socket */
        if (!err && !p->player.sender.done)
            err = session_player_send(&p->player);
        io_tcp_nodelay(p->s->base.io, true);
        if (!err && !p->over)
            err = send_end(p);
        if (!err && !p->over)
            err = wait_command(p);
    }
    return err;
}

/* ---- one player */

/* Returns RTMP_WIRE_NO_OPUS if the file has Opus and the player cannot decode it, else 0. Rendered
 * parts are cached per set of parameters, so the flag is set only for files with Opus: all other
 * files have one copy for all players. */
static uint32_t leave_out(const struct rtmp_session *s)
{
    if (s->opus || vod_file_info(s->file)->tracks[DEMUX_AUDIO].codec != AV_OPUS)
        return 0;
    session_play_log_no_opus(&s->base, SESSION_PLAY_NO_OPUS);
    return RTMP_WIRE_NO_OPUS;
}

static void begin(struct playing *p)
{
    struct rtmp_session *s = p->s;
    int64_t from = ticks(s->start);

    p->use = (struct vod_wire_use){
        .wire = &vod_wire_rtmp, .tracks = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO,
        .param = { [RTMP_WIRE_CHUNK_SIZE] = s->conn.out_chunk_size,
                   [RTMP_WIRE_STREAM_ID] = s->stream_id,
                   [RTMP_WIRE_LEAVE_OUT] = leave_out(s) },
    };
    p->began = s->base.io->bytes_out;
    p->to = INT64_MAX;
    if (s->duration >= 0)
        p->to = from + ticks(s->duration) + (s->duration == 0);
    vod_feed_open(&p->feed, s->file, &(struct vod_feed_setup){
        .use = p->use, .loop = s->base.vhost->vod.loop && p->to == INT64_MAX });
    play_from(p, from);
}

static err_t reject_file(struct rtmp_session *s, err_t why)
{
    if (err_class(why) != ERR_CLASS_STOP)
        vod_refused(s->base.env->vod, "RTMP", s->base.names.ip, why);
    switch (err_code(why)) {
    case ERR_NO_FILE:
        return rtmp_play_reject(s, RTMP_PLAY_NOT_FOUND, "No such file.", why);
    case ERR_TOO_MANY:
        return rtmp_play_reject(s, RTMP_PLAY_FAILED, "The server is full, try again later.", why);
    case ERR_IO_TIMEOUT:
        return rtmp_play_reject(s, RTMP_PLAY_FAILED, "The disk does not answer.", why);
    case ERR_UNSUPPORTED:
        return rtmp_play_reject(s, RTMP_PLAY_FAILED,
                                "The file is damaged or has no playable track.", why);
    default:
        return rtmp_play_reject(s, RTMP_PLAY_FAILED, "The file cannot be read.", why);
    }
}

static err_t play(struct session_player *player)
{
    struct playing *p = playing_of(player);
    err_t err;

    rtmp_session_suspend_deadlines(p->s);
    err = rtmp_file_open(p->s);
    rtmp_session_resume_deadlines(p->s);
    if (err)
        return reject_file(p->s, err);
    begin(p);
    return send_file(p);
}

err_t rtmp_session_play_file(struct rtmp_session *s)
{
    static const struct session_player_kind kind = {
        .type = CLIENTS_RTMP_VOD, .what = "player", .sampled = SAMPLED_PLAY,
        .on_readable = on_readable, .log_sample = rtmp_play_log_sample,
    };
    struct playing p = { .s = s };
    err_t err;

    err = rtmp_play_run(&p.player, s, &kind, play);
    vod_feed_close(&p.feed);
    rtmp_file_close(s);
    return err;
}
