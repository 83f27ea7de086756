/* SPDX-License-Identifier: MIT */
/* streamid_shown.c - a stream id as the log may have it. */
#include "proto/srt/streamid.h"

#include "base/text.h"

#include <string.h>

enum { KNOWN = 3 }; /* of the heads below */

struct shown {
    char *out;
    size_t n, room; /* the 0 included */
    bool known;     /* the form is one that is parsed: a ':' is part of a value */
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

/* "k=v", "k:v", or whatever stands between commas. */
static void put_field(struct shown *s, const char *field, size_t size)
{
    size_t n = 0;

    while (n < size && field[n] != '=' && (field[n] != ':' || s->known))
        n++;
    if (n == size || (field[n] == '=' && is_told(field, n))) {
        put(s, field, size);
        return;
    }
    put(s, field, n + 1);
    put(s, "***", 3);
}

/* Without escapes, which may hide a comma or an '='. */
static size_t decode(const char *text, char *out, size_t room)
{
    size_t n = 0;

    for (; *text && n < room; text++) {
        int byte = *text == '%' ? text_hex_byte(text + 1) : -1;

        out[n++] = byte >= 0 ? (char)byte : *text;
        text += byte >= 0 ? 2 : 0;
    }
    return n;
}

/* Up to what may be a secret: parameters, and a name and password behind the stream. */
static void put_plain(struct shown *s, const char *text, size_t size)
{
    size_t from = 0, n;

    if (strncmp(text, "publish:", 8) == 0 || strncmp(text, "read:", 5) == 0)
        from = (size_t)(strchr(text, ':') - text) + 1;
    for (n = from; n < size && text[n] != '?' && text[n] != ':'; n++)
        continue;
    put(s, text, n);
    if (n < size) {
        put(s, text + n, 1);
        put(s, "***", 3);
    }
}

/* Of one that makes no sense, too: whatever stands behind an '=' is a secret, unless it is known to
 * be none. */
static void put_fields(struct shown *s, const char *text, size_t size)
{
    while (size > 0) {
        size_t n = 0;

        while (n < size && text[n] && !strchr(",?&;{}", text[n]))
            n++;
        put_field(s, text, n);
        if (n < size)
            put(s, text + n++, 1);
        text += n;
        size -= n;
    }
}

void srt_streamid_shown(const char *text, char *out, size_t room)
{
    static const char *const heads[] = { "#!::", "%23!::", "%23%21::", "#!:", "%23!:", "%23%21:" };
    struct shown s = { .out = out, .room = room };
    char plain[SRT_STREAMID_MAX];
    bool fields = false;
    size_t size;

    out[0] = 0;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && !fields; i++) {
        fields = strncmp(text, heads[i], strlen(heads[i])) == 0;
        if (fields) {
            s.known = i < KNOWN;
            put(&s, text, strlen(heads[i]));
            text += strlen(heads[i]);
        }
    }
    size = decode(text, plain, sizeof(plain));
    if (fields || (memchr(plain, '=', size) && !memchr(plain, '?', size)))
        put_fields(&s, plain, size);
    else
        put_plain(&s, plain, size);
}
