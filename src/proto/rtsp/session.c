/* SPDX-License-Identifier: MIT */
/* session.c - parses the field Session. */
#include "proto/rtsp/session.h"

#include <string.h>
#include <strings.h>

static int seconds(const char *p)
{
    enum { DAY = 24 * 3600 };
    int v = 0;

    for (p += strspn(p, " \t"); *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (*p - '0');
        if (v > DAY)
            return DAY;
    }
    return v;
}

bool rtsp_session_parse(const char *value, char id[RTSP_SESSION_ID_MAX + 1], int *timeout)
{
    size_t n = strcspn(value, ";"), size = n;

    *timeout = 0;
    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        size--;
    if (size == 0 || size > RTSP_SESSION_ID_MAX)
        return false;
    memcpy(id, value, size);
    id[size] = '\0';
    for (value += n; *value == ';'; value += strcspn(value, ";")) {
        value++;
        value += strspn(value, " \t");
        if (strncasecmp(value, "timeout", 7) != 0)
            continue;
        value += 7 + strspn(value + 7, " \t");
        if (*value == '=')
            *timeout = seconds(value + 1);
    }
    return true;
}
