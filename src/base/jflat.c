/* SPDX-License-Identifier: MIT */
/* jflat.c - is JSON small enough to be parsed? */
#include "base/jflat.h"

bool jflat_is(const char *text, size_t size, int depth, size_t values)
{
    bool string = false;
    size_t n = 0;
    int at = 0;

    for (size_t i = 0; i < size; i++) {
        if (string) {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                string = false;
            continue;
        }
        string = text[i] == '"';
        if (text[i] == '{' || text[i] == '[') {
            n++;
            at++;
        } else if (text[i] == '}' || text[i] == ']') {
            at--;
        } else if (text[i] == ',') {
            n++;
        }
        if (at > depth || n > values)
            return false;
    }
    return true;
}
