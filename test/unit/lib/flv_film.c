/* SPDX-License-Identifier: MIT */
/* flv_film.c - small FLV films for tests: a GOP a second, a video and an audio frame each
 * 100 ms. */
#include "flv_film.h"

/* The frame at a time; `size` of its tag's body. */
static void film_frame(struct wr *w, uint32_t time, size_t size)
{
    uint8_t body[256] = { 0x27, 1, 0, 0, 0, 0, 0, 0, 1, 0x41 };

    assert_true(size <= sizeof(body));
    if (time % 1000 == 0) {
        body[0] = 0x17;
        body[9] = 0x65;
    }
    flv_tag(w, FLV_VIDEO, time, body, size);
    flv_audio(w, time + 50);
}

void film_write(const char *folder, const char *name, unsigned tenths, size_t cut)
{
    char path[256];
    struct wr w;
    FILE *f;

    flv_begin(&w, 1 << 22);
    flv_configs(&w);
    for (unsigned i = 0; i < tenths; i++)
        film_frame(&w, i * 100, 100);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(w.buf, 1, w.len - cut, f), w.len - cut);
    assert_int_equal(fclose(f), 0);
    wr_free(&w);
}
