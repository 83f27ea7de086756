/* SPDX-License-Identifier: MIT */
/* fuzz_srt_streamid.c - any bytes as an SRT stream id, and as an SRT address. */
#include "fuzz.h"
#include "proto/srt/call.h"
#include "proto/srt/streamid.h"

#include <assert.h>
#include <string.h>

static void is_clean(const char *text, size_t room)
{
    assert(memchr(text, 0, room));
    for (; *text; text++)
        assert((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static void parse_url(const uint8_t *data, size_t size)
{
    char text[2048] = "srt://";
    struct srt_url u;

    if (size >= sizeof(text) - 7)
        return;
    memcpy(text + 6, data, size);
    if (srt_url_parse(&u, text))
        assert(u.port > 0 && u.port <= UINT16_MAX && (u.host[0] || u.listener));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct srt_streamid_defaults defaults = { "live", "#!::r=live/x", false };
    struct srt_streamid s;

    parse_url(data, size);
    if (srt_streamid_parse(&s, (const char *)data, size, &defaults) != SRT_WELCOME)
        return 0;
    assert(s.app[0] && s.stream[0] && (!s.param[0] || s.param[0] == '?'));
    is_clean(s.vhost, sizeof(s.vhost));
    is_clean(s.app, sizeof(s.app));
    is_clean(s.stream, sizeof(s.stream));
    is_clean(s.param, sizeof(s.param));
    is_clean(s.user, sizeof(s.user));
    return 0;
}
