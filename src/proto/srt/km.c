/* SPDX-License-Identifier: MIT */
/* km.c - key messages, read and written: "Key Material". Nothing here is encrypted. */
#include "proto/srt/crypt.h"

#include "base/rd.h"
#include "proto/srt/put.h"

#include <string.h>

enum {
    HEAD = 0x12, SIGNATURE = 0x2029, /* version 1, a key message; of Haivision */
    AES_CTR = 2, SRT_TS = 2,         /* cipher; what is encrypted: TS over SRT */
    WRAP = 8,                        /* RFC 3394: longer by so much */
};

static size_t wrapped_size(const struct srt_km *km)
{
    return (size_t)km->key_size * (km->which == (SRT_EVEN | SRT_ODD) ? 2 : 1) + WRAP;
}

/* What is in front of salt and keys, but for what it says of itself. */
static bool read_head(struct srt_km *km, struct rd *r)
{
    uint8_t head = rd_u8(r), salt, words;
    uint16_t signature = rd_u16(r), cipher, transport;
    uint32_t id;

    km->which = rd_u8(r);
    id = rd_u32(r);
    cipher = rd_u16(r);      /* cipher, authentication */
    transport = rd_u16(r);   /* encapsulation, reserved */
    (void)rd_u16(r);
    salt = rd_u8(r);
    words = rd_u8(r);
    km->key_size = (uint8_t)(words * 4);
    return head == HEAD && signature == SIGNATURE && id == 0 && cipher == AES_CTR << 8 &&
           transport >> 8 == SRT_TS && salt == SRT_SALT / 4 &&
           (words == 4 || words == 6 || words == 8);
}

bool srt_km_read(struct srt_km *km, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    const uint8_t *salt, *keys;

    *km = (struct srt_km){ 0 };
    if (!read_head(km, &r) || km->which < SRT_EVEN || km->which > (SRT_EVEN | SRT_ODD))
        return false;
    km->wrapped_size = wrapped_size(km);
    salt = rd_take(&r, SRT_SALT);
    keys = rd_take(&r, km->wrapped_size);
    if (r.bad || rd_left(&r) > 0)
        return false;
    memcpy(km->salt, salt, SRT_SALT);
    memcpy(km->wrapped, keys, km->wrapped_size);
    return true;
}

size_t srt_km_write(const struct srt_km *km, uint8_t out[SRT_KM_MAX])
{
    memset(out, 0, 16);
    out[0] = HEAD;
    srt_put16(out + 1, SIGNATURE);
    out[3] = km->which;
    out[8] = AES_CTR;
    out[10] = SRT_TS;
    out[14] = SRT_SALT / 4;
    out[15] = (uint8_t)(km->key_size / 4);
    memcpy(out + 16, km->salt, SRT_SALT);
    memcpy(out + 16 + SRT_SALT, km->wrapped, km->wrapped_size);
    return 16 + SRT_SALT + km->wrapped_size;
}
