/* SPDX-License-Identifier: MIT */
/* fuzz_mpd.c - any file as one of our MPDs. */
#include "format/playlist/mpd.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct wr w;

    wr_init(&w, size * 2 + 512);
    mpd_put_personal(&w, text, size, &(struct mpd_personal){
        .now = 1795246441224, .query = "a=b", .location = "x?a=b&c=<" });
    assert(!w.bad && w.len >= size);
    wr_free(&w);
    return 0;
}
