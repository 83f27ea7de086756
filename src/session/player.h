/* SPDX-License-Identifier: MIT */
/* player.h - one that plays: is let in, is in the list of clients, is sent the stream, and leaves.
 *
 * No protocol here: what is said around the bytes, and what the player says meanwhile, is the
 * conversation's. One that comes by requests and not over a connection of its own (HLS) needs
 * session_play_begin() and session_play_end() alone.
 */
#ifndef SESSION_PLAYER_H
#define SESSION_PLAYER_H

#include "live/sender.h"
#include "session/session.h"

/* Do players of this vhost need permission? Then nothing of a stream may be had by whoever
 * guesses what its files are called. */
bool session_play_is_asked(const struct conf_vhost *vhost);

/* May it play its stream? By all that there is to ask; it is in the list of clients meanwhile, and
 * once it is let in plays until session_play_end(). An error is why not: it is in no list then.
 * `bearer` is the Authorization of its request, or NULL. Yields. */
err_t session_play_begin(struct session *s, enum clients_type type, const char *bearer)
    __attribute__((warn_unused_result));
void session_play_end(struct session *s, err_t why);
/* Now and then, of one without a coroutine: is it to end, as its token has, or by the configuration
 * of now? `changed`: there is another one than when it was asked before. */
err_t session_play_check(struct session *s, bool *changed) __attribute__((warn_unused_result));

/* Why a player of FLV messages is not sent Opus. */
#define SESSION_PLAY_NO_OPUS "it did not announce Opus in the fourCcList of its connect"
/* The log line of a player whose stream or file has Opus audio that is left out; `why` ends up in
 * it. */
void session_play_log_no_opus(const struct session *s, const char *why);
/* The same of a live stream, once its audio is known. False: it is not known yet, call again. */
bool session_play_log_no_opus_once(const struct session *s, const char *why);

struct session_player;

struct session_player_kind {
    enum clients_type type;
    const char *what;          /* in the log: "player" */
    enum sampled_kind sampled; /* of its lines there */
    /* It said something, or left: read it now. It may set sender.done or .paused, or reopen. */
    err_t (*on_readable)(struct session_player *p);
    void (*log_sample)(const struct session_player *p, co_usec now);
    void (*on_turn)(struct session_player *p); /* each time that it is sent something; or NULL */
};

struct session_player {
    struct session *s;
    const struct session_player_kind *kind;
    struct live_sender sender;
    uint64_t dropped; /* packets, as the log has it */
    bool stalls;      /* likewise */
};

/* session_play_begin() of one with a connection: s->io. It is to stop when its token ends. */
err_t session_player_begin(struct session_player *p, struct session *s,
                           const struct session_player_kind *kind, const char *bearer)
    __attribute__((warn_unused_result));
/* The same of one that nobody asks about, since we called it: a forward. Limits of players are not
 * for it. */
void session_player_join(struct session_player *p, struct session *s,
                         const struct session_player_kind *kind, struct live_source *src);
void session_player_part(struct session_player *p, err_t why);
/* What it is sent from now on, from the newest key frame on; also instead of something else. */
void session_player_open(struct session_player *p, const struct live_format *format,
                         const uint32_t param[LIVE_PARAMS]);
/* The same, but it goes on where it is if that is further: live_consumer_reopen(). */
void session_player_reopen(struct session_player *p, const struct live_format *format,
                           const uint32_t param[LIVE_PARAMS]);
/* How long players of that vhost collect what they are sent: live_sender_settings.mw_latency. Those
 * of RTSP have their own. */
co_usec session_player_merge(const struct conf_vhost *vhost, bool rtsp);
/* The same of a feed, which is the caller's: a file. Its turns are merged by what suits files. */
void session_player_open_feed(struct session_player *p, struct live_feed *feed);
/* Send the stream until sender.done, or the error by which it ends. Yields. */
err_t session_player_send(struct session_player *p) __attribute__((warn_unused_result));
/* The sample line; `kind` is behind its name: " rtsp". */
void session_player_log_sample(const struct session_player *p, const char *kind, co_usec time);
/* It plays no more; `why` is borrowed. */
void session_player_end(struct session_player *p, err_t why);

#endif
