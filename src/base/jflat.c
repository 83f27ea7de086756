/* SPDX-License-Identifier: MIT */
/* jflat.c - is JSON flat enough to be parsed on a small stack? */
#include "base/jflat.h"

bool jflat_is(const char *text, size_t size, int depth)
{
    bool string = false;
    int at = 0;

    for (size_t i = 0; i < size; i++) {
        if (string) {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                string = false;
        } else if (text[i] == '"') {
            string = true;
        } else if ((text[i] == '{' || text[i] == '[') && ++at > depth) {
            return false;
        } else if (text[i] == '}' || text[i] == ']') {
            at--;
        }
    }
    return true;
}
