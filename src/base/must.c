/* SPDX-License-Identifier: MIT */
/* must.c - small allocations that cannot fail. */
#include "base/must.h"

#include <stdio.h>

void must_fail(void)
{
    (void)fputs("the system has no more memory, or no random numbers, for us\n", stderr);
    abort();
}

char *must_vprint(const char *format, va_list args)
{
    char *text = NULL;

    must_be(vasprintf(&text, format, args) >= 0);
    return text;
}

char *must_print(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = must_vprint(format, args);
    va_end(args);
    return text;
}
