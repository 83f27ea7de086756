/* SPDX-License-Identifier: MIT */
/* rtmp.h - from a publisher's messages to packets of a live source, without a copy. */
#ifndef INTAKE_RTMP_H
#define INTAKE_RTMP_H

#include "live/source.h"
#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/time.h"

/* Memory of messages that can become packets: for struct rtmp_in_setup. */
uint8_t *rtmp_intake_alloc(void *stream, size_t size); /* of live_source_packets(), or NULL */
uint8_t *rtmp_intake_grow(uint8_t *payload, size_t size);
void     rtmp_intake_release(uint8_t *payload);

struct rtmp_intake {
    struct live_source *src;
    const char *signature; /* for the metadata's "server" */
    bool skip_sps;         /* `parse_sps off`: do not look into decoder configurations */
    bool atc_auto;         /* a publisher whose metadata say "bravo_atc" sends absolute times */
    uint32_t bad;          /* messages left out, because their bytes were not what they said */
    unsigned logged;       /* configurations that the log has a line of */
    bool atc;              /* it said so: leave its times as they are */
    struct rtmp_time times[AV_KINDS];
};

/* Push an audio, video or data message; others are left alone. Takes the payload over. Streams
 * go on over a broken message: it is counted and left out. */
void rtmp_intake_push(struct rtmp_intake *m, struct rtmp_msg *msg);

#endif
