/* SPDX-License-Identifier: MIT */
/* metadata.h - onMetaData of a stream whose publisher brings none: [FLV] E.5, and [ERTMP] for
 * codecs that FLV has no number for. */
#ifndef INTAKE_METADATA_H
#define INTAKE_METADATA_H

#include "av/packet.h"

struct intake_medium {
    enum av_kind kind;      /* video or audio */
    enum av_codec codec;    /* AV_CODEC_NONE: leave it out */
    const struct av_info *info;
    unsigned channels, rate; /* where the info does not say; 0: not known */
};

/* What players of RTMP and FLV are told, with one reference. `server`: who we are, or NULL. NULL:
 * there is no memory for it. */
struct av_packet *intake_metadata(const struct intake_medium *media, unsigned n,
                                   const char *server);

#endif
