/* SPDX-License-Identifier: MIT */
/* file.h - an RTSP player of a file, with its own position and clock.
 *
 * It is admitted as a player of the stream that has the file's name and stays on the worker of its
 * connection. It works like any player (play.c), except for its position, its speed and its end: at
 * the end its session is ready and can be played again.
 */
#ifndef SERVE_RTSP_FILE_H
#define SERVE_RTSP_FILE_H

#include "serve/rtsp/session.h"
#include "vod/vod.h"

struct rtsp_file; /* state of a connection: rtsp_conn.file */

/* Returns true if its stream is a file, with the path below vod.dir. */
bool rtsp_file_is(const struct rtsp_conn *c, char path[VOD_PATH_MAX]);
/* Admits the player of that file. Call rtsp_conn_leave() also after an error, as it may be
 * registered. ERR_UNSUPPORTED and the errors of session_player_begin() and vod_file_open().
 * Yields. */
err_t rtsp_file_begin(struct rtsp_conn *c, const char *path) __attribute__((warn_unused_result));
void rtsp_file_end(struct rtsp_conn *c); /* does nothing if no file is played */

/* Its tracks (of RTP_WIRE_VIDEO and RTP_WIRE_AUDIO), and their description. */
void rtsp_file_tracks(const struct rtsp_file *f, struct rtp_wire_track out[RTP_WIRE_N]);
void rtsp_file_describe(const struct rtsp_conn *c, struct wr *sdp);

/* Handles PLAY: from the requested position, or on from the current one. Sends the response, or
 * sets *status. */
err_t rtsp_file_play(struct rtsp_exchange *x, int *status) __attribute__((warn_unused_result));
void rtsp_file_pause(const struct rtsp_conn *c); /* logs the pause */
void rtsp_file_tracks_changed(struct rtsp_conn *c);        /* a track was torn down */
/* The file was sent to its end, or cannot be read any further: the session is ready to be played
 * again. */
void rtsp_file_ended(struct rtsp_conn *c);
/* Answers GET_PARAMETER with a body, or sets *status. */
void rtsp_file_parameters(struct rtsp_exchange *x, int *status);
void rtsp_file_log_sample(const struct session_player *p, co_usec now);

#endif
