/* SPDX-License-Identifier: MIT */
/* head.h - the head of a message taken apart, in place; for the reader alone.
 *
 * A head with a fault whose end is known is still a message, one to be refused: the connection goes
 * on behind it. Where the end is not known there is an error, and no more messages.
 */
#ifndef RTSP_HEAD_H
#define RTSP_HEAD_H

#include "proto/rtsp/reader.h"

/* How many bytes the head has, with its empty line; 0: its end has not come. Looks at what is
 * behind *scanned, which goes on. */
size_t rtsp_head_end(const uint8_t *p, size_t size, size_t *scanned);

/* Take it apart: `*need` becomes the bytes of the message with its body. ERR_RTSP, ERR_TOO_LARGE,
 * ERR_TOO_MANY, ERR_NO_MEMORY, with the status to answer. */
err_t rtsp_head_split(struct rtsp_reader *r, char *head, size_t size, size_t *need)
    __attribute__((warn_unused_result));

/* All of it is there, and now here: its strings are of this head. */
void rtsp_head_finish(struct rtsp_message *m, char *head);

#endif
