/* SPDX-License-Identifier: MIT */
/* vp9.c - what a VP9 decoder configuration says. */
#include "av/vp9.h"

#include "base/rd.h"

#include <stdio.h>
#include <string.h>

err_t vp9_config_parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct rd r = rd_init(config, size);
    uint8_t profile, level, depth;

    /* Senders put it with or without the version and flags of its MP4 box before it; without, a
     * first byte of 1 (profile) is never followed by three zeros, as the bit depth is not 0. */
    if (size >= 4 && memcmp(config, "\x01\x00\x00\x00", 4) == 0)
        (void)rd_take(&r, 4);
    profile = rd_u8(&r);
    level = rd_u8(&r);
    depth = rd_u8(&r) >> 4;
    (void)rd_take(&r, 3);           /* colour primaries, transfer, matrix */
    (void)rd_take(&r, rd_u16(&r));  /* codec initialization data */
    if (r.bad)
        return err_new(ERR_CODEC, "vpcC ends too early");
    if (profile > 3 || depth < 8)
        return err_new(ERR_CODEC, "vpcC with profile %d and %d bits", profile, depth);
    snprintf(info->profile, sizeof(info->profile), "Profile %d", profile);
    if (level > 0)
        snprintf(info->level, sizeof(info->level), "%d.%d", level / 10, level % 10);
    return NULL;
}
