/* SPDX-License-Identifier: MIT */
/* utf8.c - is it UTF-8? RFC 3629. */
#include "base/utf8.h"

size_t utf8_size(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte, and of the second */
        size_t size;
    } forms[] = {
        { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
        { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
        { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = forms[i].size;

        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        if (left < n || p[1] < forms[i].low || p[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < n; k++) {
            if (p[k] >> 6 != 2)
                return 0;
        }
        return n;
    }
    return 0;
}
