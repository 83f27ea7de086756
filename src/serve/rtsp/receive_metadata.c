/* SPDX-License-Identifier: MIT */
/* receive_metadata.c - what players of RTMP and FLV are told of a stream that came by RTP. */
#include "serve/rtsp/receive_impl.h"
#include "session/metadata.h"

struct av_packet *rtsp_receive_metadata(const struct rtsp_receive *r)
{
    struct session_medium media[RECEIVE_TRACKS];
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_tracks; i++) {
        const struct receive_track *t = &r->tracks[i];

        if (!t->open)
            continue;
        media[n++] = (struct session_medium){
            .kind = t->kind, .codec = t->codec, .info = &t->info, .channels = t->channels,
            /* a clock that is not the codec's own counts samples */
            .rate = av_codec_row(t->codec)->rtp.clock == 0 ? t->unpack.clock : 0,
        };
    }
    return session_metadata(media, n, r->opts.signature);
}
