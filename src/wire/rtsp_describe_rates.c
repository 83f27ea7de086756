/* SPDX-License-Identifier: MIT */
/* rtsp_describe_rates.c - reads the bit rates of tracks from the publisher's metadata: [FLV]
 * E.5. */
#include "proto/rtmp/amf0.h"
#include "wire/rtsp_describe.h"

enum { METADATA_MAX = 64 * 1024, RATE_MAX = 10000000 };

static unsigned rate(const struct amf_value *meta, const char *key)
{
    double kbits = amf_get_number(meta, key, 0);

    return kbits >= 1 && kbits <= RATE_MAX ? (unsigned)kbits : 0;
}

/* Ignores everything except onMetaData: uses the first value that has members. */
static void read_rates(const struct av_packet *pkt, unsigned kbits[2])
{
    struct rd r = rd_init(pkt->data, pkt->size);
    struct amf_value v;
    struct amf amf;
    err_t err = NULL;

    amf_init(&amf, METADATA_MAX);
    while (!err && rd_left(&r) > 0) {
        err = amf0_read(&amf, &r, &v);
        if (err || !amf_has_members(&v))
            continue;
        kbits[0] = rate(&v, "videodatarate");
        kbits[1] = rate(&v, "audiodatarate");
        break;
    }
    err_free(&err);
    amf_free(&amf);
}

void rtsp_describe_rates(const struct live_source *src, unsigned kbits[2])
{
    const struct av_packet *pkts[LIVE_CONFIGS];
    size_t n = live_source_configs(src, pkts, LIVE_CONFIGS);

    kbits[0] = kbits[1] = 0;
    for (size_t i = 0; i < n; i++) {
        if (pkts[i]->kind == AV_DATA)
            read_rates(pkts[i], kbits);
    }
}
