/* SPDX-License-Identifier: MIT */
/* flv.h - walk over the tags of an FLV stream without taking anything out of them.
 *
 * Each tag is seen twice: when its first bytes are there, and when its last one is; as
 * load_skim.h does with RTMP messages, and in the same words.
 */
#ifndef TOOLS_LOAD_FLV_H
#define TOOLS_LOAD_FLV_H

#include "tools/load/skim.h"

struct load_flv {
    uint32_t left;      /* bytes of what is being read */
    uint8_t part;       /* 0: file header, 1: tag header, 2: body, 3: PreviousTagSize */
    uint8_t head_size;
    uint8_t head[LOAD_MARKER_HEAD];
    struct load_skim_msg msg;
};

void  load_flv_init(struct load_flv *f);
/* ERR_MALFORMED: this is no FLV. */
err_t load_flv_feed(struct load_flv *f, const uint8_t *p, size_t size,
                    void (*media)(void *arg, const struct load_skim_msg *msg), void *arg)
    __attribute__((warn_unused_result));

#endif
