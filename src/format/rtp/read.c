/* SPDX-License-Identifier: MIT */
/* read.c - parses the a=fmtp of received tracks. */
#include "av/opus.h"
#include "base/base64.h"
#include "format/rtp/unpack_impl.h"

#include <string.h>
#include <strings.h>

enum { ASC_MAX = 64 };

/* Reads comma-separated parameter sets in base64. Skips invalid and empty ones, such as the one
 * after a final comma; they will be in the stream. */
static void read_sets(struct rtp_unpacker *u, const struct span *fmtp, const char *key)
{
    uint8_t set[BASE64_ROOM(NAL_SET_SIZE)];
    struct span list, item;
    size_t n;

    if (!rtp_text_value(fmtp, key, &list))
        return;
    while (rtp_text_item(&list, &item)) {
        if (item.n > 0 && item.n <= NAL_SET_SIZE && base64_decode(item.p, item.n, set, &n))
            rtp_nal_keep_set(u, set, n);
    }
}

/* [H264] 8.1 */
err_t rtp_h264_read(struct rtp_unpacker *u, const struct span *fmtp)
{
    if (rtp_text_number(fmtp, "packetization-mode", 0) > 1)
        return err_new(ERR_UNSUPPORTED, "H.264 in an order of its own");
    read_sets(u, fmtp, "sprop-parameter-sets");
    rtp_nal_configuration(u);
    return NULL;
}

/* [HEVC] 7.1 */
err_t rtp_h265_read(struct rtp_unpacker *u, const struct span *fmtp)
{
    if (rtp_text_number(fmtp, "sprop-max-don-diff", 0) > 0)
        return err_new(ERR_UNSUPPORTED, "HEVC in an order of its own");
    read_sets(u, fmtp, "sprop-vps");
    read_sets(u, fmtp, "sprop-sps");
    read_sets(u, fmtp, "sprop-pps");
    rtp_nal_configuration(u);
    return NULL;
}

/* True if unit headers have additional fields that are not supported. */
static bool has_more_fields(const struct span *fmtp)
{
    static const char *const keys[] = { "constantsize", "CTSDeltaLength",
                                        "DTSDeltaLength", "randomAccessIndication",
                                        "streamStateIndication", "auxiliaryDataSizeLength" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (rtp_text_number(fmtp, keys[i], 0) > 0)
            return true;
    }
    return false;
}

/* [AAC] 4.1 */
err_t rtp_aac_read(struct rtp_unpacker *u, const struct span *fmtp)
{
    struct span mode = { "AAC-hbr", 7 }, hex;
    uint8_t asc[ASC_MAX];
    bool low;
    size_t n;

    (void)rtp_text_value(fmtp, "mode", &mode);
    low = span_is_word(mode, "AAC-lbr");
    u->size_bits = rtp_text_number(fmtp, "sizelength", low ? 6 : 13);
    u->index_bits = rtp_text_number(fmtp, "indexlength", low ? 2 : 3);
    u->delta_bits = rtp_text_number(fmtp, "indexdeltalength", u->index_bits);
    if (u->size_bits < 1 || u->size_bits > 16 || u->index_bits > 8 || u->delta_bits > 8 ||
        has_more_fields(fmtp))
        return err_new(ERR_UNSUPPORTED, "AAC with units of %u, %u, %u bits", u->size_bits,
                       u->index_bits, u->delta_bits);
    if (!rtp_text_value(fmtp, "config", &hex))
        return err_new(ERR_CODEC, "AAC without a configuration");
    n = rtp_text_hex(&hex, asc, sizeof(asc));
    if (n < 2)
        return err_new(ERR_CODEC, "AAC with a configuration of %zu characters", hex.n);
    rtp_unpack_configure(u, asc, n);
    return NULL;
}

/* [Opus] 6.1, 7: always two channels, because a decoder with two channels can play mono too. */
err_t rtp_opus_read(struct rtp_unpacker *u, const struct span *fmtp)
{
    uint8_t head[OPUS_HEAD];
    bool mono = rtp_text_number(fmtp, "sprop-stereo", 1) == 0;

    opus_head_build(head, mono ? 1 : 2);
    rtp_unpack_configure(u, head, sizeof(head));
    return NULL;
}

/* Packets of the log cannot express another rate or two channels. */
err_t rtp_g711_read(struct rtp_unpacker *u, const struct span *fmtp)
{
    (void)fmtp;
    if (u->clock != 8000 || u->channels > 1)
        return err_new(ERR_UNSUPPORTED, "G.711 of %u Hz, %u channels", u->clock, u->channels);
    return NULL;
}
