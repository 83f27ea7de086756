/* SPDX-License-Identifier: MIT */
/* file.h - a client that plays a file: at its own place, by its own clock.
 *
 * It is let in as a player of the stream that has the file's name, and stays at the worker that it
 * came to. What is said of it is that of any player (play.c), but where it begins, how fast it
 * goes, and that it ends: then its session is ready, and may be played again.
 */
#ifndef SERVE_RTSP_FILE_H
#define SERVE_RTSP_FILE_H

#include "serve/rtsp/session.h"
#include "vod/vod.h"

struct rtsp_file; /* of a connection: rtsp_conn.file */

/* Is the stream that it has named a file? Then its path below vod.dir. */
bool rtsp_file_is(const struct rtsp_conn *c, char path[VOD_PATH_MAX]);
/* It is let in and plays that file from now on. After an error too it may be in: it leaves by
 * rtsp_conn_leave(). ERR_UNSUPPORTED, and what session_player_begin() and vod_file_open() say.
 * Yields. */
err_t rtsp_file_begin(struct rtsp_conn *c, const char *path) __attribute__((warn_unused_result));
void rtsp_file_end(struct rtsp_conn *c); /* fine if it plays none */

/* Its tracks, of RTP_WIRE_VIDEO and RTP_WIRE_AUDIO, and what is described of them. */
void rtsp_file_tracks(const struct rtsp_file *f, struct rtp_wire_track out[RTP_WIRE_N]);
void rtsp_file_describe(const struct rtsp_conn *c, struct wr *sdp);

/* PLAY: from where it says, or on from where it is. Answers, or gives the status. */
err_t rtsp_file_play(struct rtsp_asked *a, int *status) __attribute__((warn_unused_result));
void rtsp_file_pause(const struct rtsp_conn *c); /* that it was, for the log */
void rtsp_file_less(struct rtsp_conn *c);        /* a track is no longer set up */
/* It was sent to its end, or cannot be read any more: it is ready to be played again. */
void rtsp_file_ended(struct rtsp_conn *c);
/* GET_PARAMETER with a body: answers, or gives the status. */
void rtsp_file_parameters(struct rtsp_asked *a, int *status);
void rtsp_file_log_sample(const struct session_player *p, co_usec now);

#endif
