/* SPDX-License-Identifier: MIT */
/* fuzz_codec.c - any decoder configuration of any codec. The first byte of the input says which. */
#include "av/aac.h"
#include "av/codec.h"
#include "av/h265.h"
#include "av/mp3.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_sets(const uint8_t *data, size_t size)
{
    struct h265_config c;
    const uint8_t *unit;
    size_t n;
    err_t err = h265_record_parse(&c, data, size);

    while (!err && h265_sets_next(&c.sets, &unit, &n))
        assert(unit >= data && unit + n <= data + size);
    err_free(&err);
}

static void adts(const uint8_t *data, size_t size)
{
    uint8_t head[AAC_ADTS_HEADER];
    struct aac_config c;
    err_t err;

    err = aac_asc_parse(&c, data, size);
    if (!err)
        err = aac_adts_build(head, &c, size);
    if (!err) /* the size of the frame, 13 bits */
        assert(((head[3] & 3u) << 11 | head[4] << 3 | head[5] >> 5) == size + AAC_ADTS_HEADER);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct av_info info;
    err_t err;

    if (size == 0)
        return 0;
    err = av_info_parse(&info, (enum av_codec)(data[0] % AV_CODECS), data + 1, size - 1);
    if (!err) {
        assert(info.width <= 65536 && info.height <= 65536 * 2 && info.fps >= 0);
        assert(memchr(info.profile, 0, sizeof(info.profile)));
        assert(memchr(info.level, 0, sizeof(info.level)));
    }
    err_free(&err);
    walk_sets(data + 1, size - 1);
    adts(data + 1, size - 1);
    assert(err_live() == 0);
    return 0;
}
