/* SPDX-License-Identifier: MIT */
/* player.h - the player side of a session: authorization, registration, sending, end.
 *
 * It is independent of the protocol, which handles all messages around the media. A player without
 * its own connection (HLS) needs only session_play_begin() and session_play_end().
 */
#ifndef SESSION_PLAYER_H
#define SESSION_PLAYER_H

#include "live/sender.h"
#include "session/session.h"

/* Returns true if players of this vhost need authorization. Then clients that guess the names of
 * files must not get them. */
bool session_play_is_asked(const struct conf_vhost *vhost);

/* Authorizes the player (security rules, tokens, on_play) and registers it as a client; it plays
 * until session_play_end(). On error it is not registered. `bearer` is the Authorization header of
 * its request, or NULL. Yields. */
err_t session_play_begin(struct session *s, enum clients_type type, const char *bearer)
    __attribute__((warn_unused_result));
void session_play_end(struct session *s, err_t why);
/* Periodic check for players without a coroutine: returns an error if the token expired or the
 * configuration no longer allows it. *changed: the configuration changed since the last call. */
err_t session_play_check(struct session *s, bool *changed) __attribute__((warn_unused_result));

/* The reason why a player of FLV messages gets no Opus. */
#define SESSION_PLAY_NO_OPUS "it did not announce Opus in the fourCcList of its connect"
/* Logs that Opus audio is omitted for a player, with the reason `why`. */
void session_play_log_no_opus(const struct session *s, const char *why);
/* The same for a live stream, once its audio codec is known. Returns false if it is not known yet:
 * call again. */
bool session_play_log_no_opus_once(const struct session *s, const char *why);

struct session_player;

struct session_player_kind {
    enum clients_type type;
    const char *what;          /* for the log: "player" */
    enum sampled_kind sampled; /* kind of its sample lines */
    /* The socket is readable (data or EOF). It may set sender.done or .paused, or reopen. */
    err_t (*on_readable)(struct session_player *p);
    void (*log_sample)(const struct session_player *p, co_usec now);
    void (*on_turn)(struct session_player *p); /* called at each send; or NULL */
};

struct session_player {
    struct session *s;
    const struct session_player_kind *kind;
    struct live_sender sender;
    uint64_t dropped; /* dropped packets already logged */
    bool stalls;      /* the stall was logged */
};

/* session_play_begin() for a player with a connection, s->io. It is stopped when its token expires.
 * */
err_t session_player_begin(struct session_player *p, struct session *s,
                           const struct session_player_kind *kind, const char *bearer)
    __attribute__((warn_unused_result));
/* The same without authorization, for a forward. Limits of players do not apply. */
void session_player_join(struct session_player *p, struct session *s,
                         const struct session_player_kind *kind, struct live_source *src);
void session_player_part(struct session_player *p, err_t why);
/* Sets the format to send, from the newest key frame on; also replaces another one. */
void session_player_open(struct session_player *p, const struct live_format *format,
                         const uint32_t param[LIVE_PARAMS]);
/* The same, but keeps its position if that is later: live_consumer_reopen(). */
void session_player_reopen(struct session_player *p, const struct live_format *format,
                           const uint32_t param[LIVE_PARAMS]);
/* Returns the write merging time of players of the vhost: live_sender_settings.mw_latency. RTSP has
 * its own. */
co_usec session_player_merge(const struct conf_vhost *vhost, bool rtsp);
/* Sends a feed (a file), which the caller owns, with a merge time for files. */
void session_player_open_feed(struct session_player *p, struct live_feed *feed);
/* Sends the stream until sender.done, or returns the error that ended it. Yields. */
err_t session_player_send(struct session_player *p) __attribute__((warn_unused_result));
/* Logs the sample line; `kind` follows its name, such as " rtsp". */
void session_player_log_sample(const struct session_player *p, const char *kind, co_usec time);
/* Ends playing; `why` is borrowed. */
void session_player_end(struct session_player *p, err_t why);

#endif
