/* SPDX-License-Identifier: MIT */
/* latm.c - parses the StreamMuxConfig of AAC in LATM. */
#include "format/latm.h"

#include <string.h>

enum { ASC_ROOM = 64 };

/* LatmGetValue */
static uint32_t value(struct bits *b)
{
    unsigned bytes = bits_u(b, 2) + 1;

    return bits_u(b, 8 * bytes);
}

/* Reads the AudioSpecificConfig, which may start at any bit and has its size in it. */
static err_t read_coder(struct latm_config *c, struct bits *b, bool has_size)
{
    uint64_t size = has_size ? value(b) : 0;
    struct bits ahead = *b;
    uint8_t asc[ASC_ROOM];
    size_t n = 0;
    err_t err;

    while (n < ASC_ROOM && !ahead.bad)
        asc[n++] = (uint8_t)bits_u(&ahead, 8);
    err = aac_asc_parse(&c->aac, asc, ahead.bad ? n - 1 : n);
    if (err)
        return err_wrap(err, "StreamMuxConfig");
    if (c->aac.channel_config == 0 || c->aac.object > 30 || c->aac.bits == 0)
        return err_new(ERR_UNSUPPORTED, "LATM with channels or an object of its own");
    bits_skip(b, has_size ? size : c->aac.bits);
    c->asc_size = aac_asc_build(c->asc, &c->aac);
    return NULL;
}

static void skip_other_data(struct bits *b, bool has_size)
{
    bool more = true;

    if (!bits_flag(b)) /* otherDataPresent */
        return;
    if (has_size) {
        (void)value(b);
        return;
    }
    while (more && !b->bad) {
        more = bits_flag(b);
        bits_skip(b, 8);
    }
}

err_t latm_config_read(struct latm_config *c, struct bits *b, bool rest)
{
    bool version = bits_flag(b);
    err_t err;

    *c = (struct latm_config){ 0 };
    if (version && bits_flag(b))
        return err_new(ERR_UNSUPPORTED, "LATM of version 1A");
    if (version)
        (void)value(b); /* taraBufferFullness */
    if (!bits_flag(b))
        return err_new(ERR_UNSUPPORTED, "LATM of several times");
    c->frames = bits_u(b, 6) + 1;
    if (bits_u(b, 4) != 0 || bits_u(b, 3) != 0 || b->bad)
        return err_new(ERR_UNSUPPORTED, "LATM of several programs or layers");
    err = read_coder(c, b, version);
    if (err || !rest)
        return err;
    if (bits_u(b, 3) != 0) /* frameLengthType */
        return err_new(ERR_UNSUPPORTED, "LATM with frames of a fixed size");
    bits_skip(b, 8); /* latmBufferFullness */
    skip_other_data(b, version);
    if (bits_flag(b))
        bits_skip(b, 8); /* crcCheckSum */
    return bits_err(b, "StreamMuxConfig");
}
