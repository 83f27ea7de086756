/* SPDX-License-Identifier: MIT */
/* play.h - shared by players of live streams and players of files; used only inside serve/rtmp. */
#ifndef SERVE_RTMP_PLAY_H
#define SERVE_RTMP_PLAY_H

#include "serve/rtmp/session.h"
#include "session/player.h"

/* Reads messages from the player and passes each command to on_command() until sender.done; the
 * rest stays queued. Does not wait for incomplete messages. on_command() may give a message back to
 * the connection and then clears its payload. */
typedef err_t rtmp_play_command(struct session_player *p, const struct rtmp_command *c,
                                struct rtmp_msg *msg);
err_t rtmp_play_read(struct session_player *p, struct rtmp_session *s,
                     rtmp_play_command *on_command) __attribute__((warn_unused_result));
err_t rtmp_play_message(struct session_player *p, struct rtmp_session *s, struct rtmp_msg *msg,
                        rtmp_play_command *on_command) __attribute__((warn_unused_result));

/* Authorizes the player and runs play(), for a live stream or a file, until it ends. */
err_t rtmp_play_run(struct session_player *p, struct rtmp_session *s,
                    const struct session_player_kind *kind, err_t (*play)(struct session_player *))
    __attribute__((warn_unused_result));
/* Sends the messages that a player expects before its media. */
err_t rtmp_play_started(struct rtmp_session *s, bool recorded) __attribute__((warn_unused_result));
err_t rtmp_play_pause(struct session_player *p, struct rtmp_session *s, bool paused)
    __attribute__((warn_unused_result));
/* Sends an error status to the player. Returns `why`. */
err_t rtmp_play_reject(struct rtmp_session *s, enum rtmp_status status, const char *text, err_t why)
    __attribute__((warn_unused_result));
void rtmp_play_log_sample(const struct session_player *p, co_usec now);

#endif
