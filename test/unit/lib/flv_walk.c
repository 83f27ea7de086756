/* SPDX-License-Identifier: MIT */
/* flv_walk.c - FLV films in memory, and a walk over the demuxer's output. */
#include "flv_walk.h"

void film_begin(struct wr *w)
{
    flv_begin(w, LIMIT);
}

/* GOPs of a second, with a video and an audio frame every 100 ms; records the positions of key frames. */
static void film(struct wr *w, unsigned seconds, size_t size, double *at)
{
    for (unsigned s = 0; s < seconds; s++) {
        at[s] = (double)w->len;
        for (unsigned i = 0; i < 10; i++) {
            uint32_t time = s * 1000 + i * 100;

            if (i == 0)
                flv_key(w, time, 40);
            else
                flv_inter(w, time, size);
            flv_audio(w, time + 50);
        }
    }
}

void film_file(struct wr *w, unsigned seconds, size_t size, double *at)
{
    film_begin(w);
    flv_configs(w);
    film(w, seconds, size, at);
}

static void number(struct wr *w, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    wr_u8(w, 0);
    wr_u32(w, (uint32_t)(bits >> 32));
    wr_u32(w, (uint32_t)bits);
}

void film_name(struct wr *w, const char *text)
{
    wr_u16(w, (uint16_t)strlen(text));
    wr_bytes(w, text, strlen(text));
}

static void array(struct wr *w, const char *text, const double *v, unsigned n, double scale,
                  double more)
{
    film_name(w, text);
    wr_u8(w, 10);
    wr_u32(w, n);
    for (unsigned i = 0; i < n; i++)
        number(w, (v ? v[i] : i) * scale + more);
}

void film_metadata(struct wr *out, const double *at, unsigned n, double moved)
{
    struct wr w;
    size_t size = 0;

    for (unsigned pass = 0; pass < 2; pass++) {
        wr_init(&w, LIMIT);
        wr_u8(&w, 2);
        film_name(&w, "onMetaData");
        wr_u8(&w, 8);
        wr_u32(&w, 3);
        film_name(&w, "duration");
        number(&w, n);
        film_name(&w, "audiocodecid");
        number(&w, 10);
        film_name(&w, "keyframes");
        wr_u8(&w, 3);
        array(&w, "filepositions", at, n, 1, (double)size + FLV_TAG_HEADER + 4 + moved);
        array(&w, "times", NULL, n, 1, 0);
        wr_bytes(&w, "\0\0\x09\0\0\x09", 6);
        size = w.len;
        if (pass == 1)
            flv_tag(out, FLV_DATA, 0, w.buf, w.len);
        wr_free(&w);
    }
}

void film_with_metadata(struct wr *w, unsigned seconds, size_t size, double moved)
{
    double at[600];
    struct wr plain;

    assert_true(seconds <= COUNT(at));
    film_file(&plain, seconds, size, at);
    film_begin(w);
    film_metadata(w, at, seconds, moved);
    wr_bytes(w, plain.buf + 13, plain.len - 13);
    wr_free(&plain);
}
