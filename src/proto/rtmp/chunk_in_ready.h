/* SPDX-License-Identifier: MIT */
/* chunk_in_ready.h - complete messages of a reader that wait to be popped; for chunk_in.c only. */
#ifndef RTMP_CHUNK_IN_READY_H
#define RTMP_CHUNK_IN_READY_H

#include "proto/rtmp/chunk_in.h"

/* Takes the payload over, also on ERR_TOO_MANY and ERR_NO_MEMORY. */
err_t rtmp_in_ready_push(struct rtmp_in *in, struct rtmp_msg *msg)
    __attribute__((warn_unused_result));
/* An aggregate; its messages are made one by one as they are popped. Takes the payload over, also
 * on ERR_RTMP_CHUNK when it is cut or lies, and on ERR_TOO_MANY. */
err_t rtmp_in_ready_aggregate(struct rtmp_in *in, struct rtmp_msg *aggregate)
    __attribute__((warn_unused_result));
/* May a message of this type be so large? ERR_TOO_LARGE. Asked of those in an aggregate, too. */
err_t rtmp_in_check_size(const struct rtmp_in *in, uint8_t type, uint32_t size)
    __attribute__((warn_unused_result));
void rtmp_in_ready_free(struct rtmp_in *in);

#endif
