/* SPDX-License-Identifier: MIT */
/* fuzz_m3u8.c - any bytes as a playlist. */
#include "format/playlist/m3u8.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct m3u8_text t, const uint8_t *data, size_t size)
{
    assert(!t.p || (t.p >= (const char *)data && t.p + t.n <= (const char *)data + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct m3u8_reader r;
    struct wr w;
    err_t err = m3u8_open(&r, (const char *)data, size);

    for (enum m3u8_item item = M3U8_SEGMENT; !err && item != M3U8_END;) {
        item = m3u8_item(&r);
        assert(item == M3U8_END || r.uri.n > 0);
        assert(r.part.duration >= 0 && r.segment.duration >= 0 && r.hold_back >= 0 && r.part_hold_back >= 0);
        inside(r.uri, data, size);
        inside(r.map, data, size);
        inside(r.key, data, size);
    }
    err_free(&err);
    wr_init(&w, size * 5 + 16);
    m3u8_add_query(&w, (const char *)data, size, "a=b", M3U8_URLS_MEDIA | M3U8_URLS_KEYS);
    assert(!w.bad && w.len >= size);
    wr_free(&w);
    assert(err_live() == 0);
    return 0;
}
