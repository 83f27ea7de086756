/* SPDX-License-Identifier: MIT */
/* text.c - parses parameters of a=fmtp. */
#include "format/rtp/text.h"

#include "base/text.h"

#define SPACES " \t\r\n"

bool rtp_text_value(const struct span *fmtp, const char *key, struct span *value)
{
    struct span rest = *fmtp;

    while (rest.n > 0) {
        struct span one = span_cut(&rest, ";"), name = span_trim(span_cut(&one, "="), SPACES);

        if (span_is_word(name, key)) {
            *value = span_trim(one, SPACES);
            return true;
        }
    }
    return false;
}

uint32_t rtp_text_number(const struct span *fmtp, const char *key, uint32_t none)
{
    struct span t;
    int64_t v = rtp_text_value(fmtp, key, &t) && t.n <= 9 ? text_number(t.p, t.n, INT32_MAX) : -1;

    return v < 0 ? none : (uint32_t)v;
}

bool rtp_text_item(struct span *list, struct span *item)
{
    if (list->n == 0)
        return false;
    *item = span_trim(span_cut(list, ","), SPACES);
    return true;
}

size_t rtp_text_hex(const struct span *text, uint8_t *out, size_t room)
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
