/* SPDX-License-Identifier: MIT */
/* rtmp.h - turns a publisher's messages into packets of a live source, without a copy. */
#ifndef INTAKE_RTMP_H
#define INTAKE_RTMP_H

#include "live/source.h"
#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/time.h"

/* Memory of messages that can become packets: for struct rtmp_in_setup. */
uint8_t *rtmp_intake_alloc(void *stream, size_t size); /* in live_source_packets(); or NULL */
uint8_t *rtmp_intake_grow(uint8_t *payload, size_t size);
void     rtmp_intake_release(uint8_t *payload);

struct rtmp_intake {
    struct live_source *src;
    const char *signature; /* for the metadata's "server" */
    bool skip_sps;         /* `parse_sps off`: do not parse decoder configurations */
    bool atc_auto;         /* a publisher whose metadata say "bravo_atc" sends absolute times */
    uint32_t bad;          /* messages left out because they are broken */
    unsigned logged;       /* number of logged configurations */
    bool atc;              /* it sends absolute times: leave them unchanged */
    struct rtmp_time times[AV_KINDS];
};

/* Pushes an audio, video or data message; ignores others. Takes ownership of the payload. Counts
 * and drops a broken message; the stream continues. */
void rtmp_intake_push(struct rtmp_intake *m, struct rtmp_msg *msg);

#endif
