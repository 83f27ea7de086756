/* SPDX-License-Identifier: MIT */
/* opus.c - what an Opus decoder configuration says. */
#include "av/opus.h"

#include "base/rd.h"

#include <string.h>

err_t opus_config_parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct rd r = rd_init(config, size);
    const uint8_t *magic = rd_take(&r, 8);
    uint8_t version = rd_u8(&r), channels = rd_u8(&r), mapping;

    (void)rd_take(&r, 2 + 4 + 2); /* pre-skip, input rate (for information only), gain */
    mapping = rd_u8(&r);
    if (mapping != 0)
        (void)rd_take(&r, 2 + (size_t)channels); /* RFC 7845 5.1.1 */
    if (r.bad)
        return err_new(ERR_CODEC, "OpusHead ends too early");
    if (memcmp(magic, "OpusHead", 8) != 0 || version >> 4 != 0)
        return err_new(ERR_CODEC, "no OpusHead");
    if (channels == 0 || (mapping == 0 && channels > 2))
        return err_new(ERR_CODEC, "OpusHead with %d channels, mapping %d", channels, mapping);
    info->sample_rate = 48000; /* always, whatever went in */
    info->channels = channels;
    return NULL;
}
