/* SPDX-License-Identifier: MIT */
/* play.h - what players of live streams and of files have in common; for serve/rtmp alone. */
#ifndef SERVE_RTMP_PLAY_H
#define SERVE_RTMP_PLAY_H

#include "serve/rtmp/session.h"
#include "session/player.h"

/* Take what the player said: each command is given to on_command() until the sender is done; what
 * is left then waits. Messages are complete or not yet; nobody waits for the rest. on_command() may
 * give one back to the connection: then it has no payload any more. */
typedef err_t rtmp_play_command(struct session_player *p, const struct rtmp_command *c,
                                struct rtmp_msg *msg);
err_t rtmp_play_listen(struct session_player *p, struct rtmp_session *s,
                       rtmp_play_command *on_command) __attribute__((warn_unused_result));
err_t rtmp_play_message(struct session_player *p, struct rtmp_session *s, struct rtmp_msg *msg,
                        rtmp_play_command *on_command) __attribute__((warn_unused_result));

/* Let in, it plays by `play` to its end: of a live stream or of a file. */
err_t rtmp_play_run(struct session_player *p, struct rtmp_session *s,
                    const struct session_player_kind *kind, err_t (*play)(struct session_player *))
    __attribute__((warn_unused_result));
/* It plays: what it is told before its media. */
err_t rtmp_play_started(struct rtmp_session *s, bool recorded) __attribute__((warn_unused_result));
err_t rtmp_play_pause(struct session_player *p, struct rtmp_session *s, bool paused)
    __attribute__((warn_unused_result));
/* It is told that it cannot play; gives `why`. */
err_t rtmp_play_refuse(struct rtmp_session *s, enum rtmp_status status, const char *text, err_t why)
    __attribute__((warn_unused_result));
void rtmp_play_log_sample(const struct session_player *p, co_usec now);

#endif
