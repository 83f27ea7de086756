/* SPDX-License-Identifier: MIT */
/* fuzz_codec.c - any decoder configuration or frame of any codec, through all functions of its row.
 * The first byte of the input selects it. */
#include "av/aac.h"
#include "av/codec.h"
#include "av/h265.h"
#include "av/mp3.h"
#include "av/nalu.h"

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

struct range {
    const uint8_t *data;
    size_t size, seen;
};

static void inside(void *arg, const uint8_t *unit, size_t size)
{
    struct range *r = arg;

    assert(size > 0 && unit >= r->data && unit + size <= r->data + r->size);
    r->seen += size;
    assert(r->seen <= r->size);
}

static void walk_row(enum av_codec codec, bool parsed, const uint8_t *data, size_t size)
{
    const struct av_codec_row *row = av_codec_row(codec);
    struct range range = { data, size, 0 };
    uint32_t rate = 1, width, height;
    unsigned length = 0;
    char name[32];
    err_t err = NULL;

    if (parsed)
        assert(strlen(av_codec_list_name(codec, data, size, name, sizeof(name))) < sizeof(name));
    assert(av_codec_samples(codec, data, size, &rate) <= 5760 && rate > 0 && rate < 1 << 20);
    if (row->key_size && row->key_size(data, size, &width, &height))
        assert(width > 0 && width <= 65536 && height > 0 && height <= 65536);
    if (row->nalu)
        err = row->nalu->sets(data, size, &length, inside, &range);
    assert(err || !row->nalu || length == 1 || length == 2 || length == 4);
    assert(!parsed || !err); /* one reads what the other writes */
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct av_info info;
    enum av_codec codec;
    bool parsed;
    err_t err;

    if (size == 0)
        return 0;
    codec = (enum av_codec)(data[0] % AV_CODECS);
    err = av_info_parse(&info, codec, data + 1, size - 1);
    parsed = !err;
    if (!err) {
        assert(info.coded_rate > 0 || info.sample_rate == 0);
        assert(info.width <= 65536 && info.height <= 65536 * 2 && info.fps >= 0);
        assert(memchr(info.profile, 0, sizeof(info.profile)));
        assert(memchr(info.level, 0, sizeof(info.level)));
    }
    err_free(&err);
    walk_row(codec, parsed && size > 1, data + 1, size - 1);
    walk_sets(data + 1, size - 1);
    adts(data + 1, size - 1);
    assert(err_live() == 0);
    return 0;
}
