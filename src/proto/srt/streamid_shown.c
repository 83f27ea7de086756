/* SPDX-License-Identifier: MIT */
/* streamid_shown.c - a stream id as the log may have it. */
#include "proto/srt/streamid.h"

#include <string.h>

struct shown {
    char *out;
    size_t n, room; /* the 0 included */
};

static void put(struct shown *s, const char *text, size_t size)
{
    size_t left = s->room - 1 - s->n;

    size = size < left ? size : left;
    memcpy(s->out + s->n, text, size);
    s->n += size;
    s->out[s->n] = 0;
}

/* What a stream is called, and who wants what of it, is no secret. All else may be. */
static bool is_told(const char *key, size_t size)
{
    return size == 1 && strchr("rhmtu", *key);
}

/* "k=v", or whatever stands between commas. */
static void put_field(struct shown *s, const char *field, size_t size)
{
    const char *equals = memchr(field, '=', size);

    if (!equals || is_told(field, (size_t)(equals - field))) {
        put(s, field, size);
        return;
    }
    put(s, field, (size_t)(equals - field) + 1);
    put(s, "***", 3);
}

void srt_streamid_shown(const char *text, char *out, size_t room)
{
    static const char *const heads[] = { "#!::", "%23!::", "%23%21::" };
    struct shown s = { out, 0, room };
    bool fields = false;

    out[0] = 0;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && !fields; i++) {
        fields = strncmp(text, heads[i], strlen(heads[i])) == 0;
        if (fields) {
            put(&s, text, strlen(heads[i]));
            text += strlen(heads[i]);
        }
    }
    while (*text) {
        size_t size = strcspn(text, fields ? ",?" : "?");

        if (fields)
            put_field(&s, text, size);
        else
            put(&s, text, size);
        text += size;
        if (*text == '?' && !fields) { /* parameters */
            put(&s, "?***", 4);
            return;
        }
        if (*text)
            put(&s, text++, 1);
    }
}
