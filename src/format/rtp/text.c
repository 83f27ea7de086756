/* SPDX-License-Identifier: MIT */
/* text.c - parameters of a=fmtp. */
#include "format/rtp/text.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

static struct rtp_text trim(struct rtp_text t)
{
    while (t.n > 0 && is_space(t.p[0])) {
        t.p++;
        t.n--;
    }
    while (t.n > 0 && is_space(t.p[t.n - 1]))
        t.n--;
    return t;
}

/* What is up to the mark, and the list behind it. */
static struct rtp_text cut(struct rtp_text *list, char mark)
{
    const char *end = list->n > 0 ? memchr(list->p, mark, list->n) : NULL;
    struct rtp_text t = { list->p, end ? (size_t)(end - list->p) : list->n };
    size_t used = end ? t.n + 1 : t.n;

    list->p += used;
    list->n -= used;
    return t;
}

bool rtp_text_value(const struct rtp_text *fmtp, const char *key, struct rtp_text *value)
{
    struct rtp_text rest = *fmtp;

    while (rest.n > 0) {
        struct rtp_text one = cut(&rest, ';'), name = trim(cut(&one, '='));

        if (name.n == strlen(key) && strncasecmp(name.p, key, name.n) == 0) {
            *value = trim(one);
            return true;
        }
    }
    return false;
}

uint32_t rtp_text_number(const struct rtp_text *fmtp, const char *key, uint32_t none)
{
    struct rtp_text t;
    uint32_t v = 0;

    if (!rtp_text_value(fmtp, key, &t) || t.n == 0 || t.n > 9)
        return none;
    for (size_t i = 0; i < t.n; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return none;
        v = v * 10 + (uint32_t)(t.p[i] - '0');
    }
    return v;
}

bool rtp_text_item(struct rtp_text *list, struct rtp_text *item)
{
    if (list->n == 0)
        return false;
    *item = trim(cut(list, ','));
    return true;
}

size_t rtp_text_hex(const struct rtp_text *text, uint8_t *out, size_t room)
{
    if (text->n % 2 != 0 || text->n / 2 > room)
        return 0;
    for (size_t i = 0; i < text->n; i += 2) {
        int byte = text_hex_byte(text->p + i);

        if (byte < 0)
            return 0;
        out[i / 2] = (uint8_t)byte;
    }
    return text->n / 2;
}
