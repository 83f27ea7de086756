/* SPDX-License-Identifier: MIT */
/* tokens.h - splits a line of a session description into pieces. Modifies the line. */
#ifndef PROTO_SDP_TOKENS_H
#define PROTO_SDP_TOKENS_H

#include "proto/sdp/sdp.h"

#include <string.h>
#include <strings.h>

static inline char *sdp_skip_spaces(char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* Returns the next word, or "" at the end; moves *at past it. */
static inline char *sdp_word(char **at)
{
    char *p = sdp_skip_spaces(*at), *end = p + strcspn(p, " \t");

    *at = *end ? end + 1 : end;
    *end = '\0';
    return p;
}

/* Returns the text before a mark; moves *at past it. */
static inline char *sdp_part(char **at, char mark)
{
    char *p = *at, *end = strchr(p, mark);

    *at = end ? end + 1 : p + strlen(p);
    if (end)
        *end = '\0';
    return p;
}

/* Parses the leading digits. Returns false if there are none or the number is too large. */
static inline bool sdp_number(const char *p, uint32_t most, uint32_t *out)
{
    uint64_t v = 0;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (unsigned)(*p - '0');
        if (v > most)
            return false;
    }
    *out = (uint32_t)v;
    return true;
}

/* Returns the value of a parameter in a=fmtp, "a=1; b=2", which extends to the next ';', or
 * NULL. */
static inline const char *sdp_param(const char *fmtp, const char *name)
{
    size_t n = strlen(name);

    while (*fmtp) {
        fmtp += strspn(fmtp, " \t;");
        if (strncasecmp(fmtp, name, n) == 0 && fmtp[n] == '=')
            return fmtp + n + 1;
        fmtp += strcspn(fmtp, ";");
    }
    return NULL;
}

/* Compares names case-insensitively. Checks the first letter inline, because an offer may have
 * thousands of lines. */
static inline bool sdp_is(const char *name, const char *known)
{
    return (name[0] | 0x20) == (known[0] | 0x20) && strcasecmp(name, known) == 0;
}

/* Removes trailing white space. */
static inline void sdp_trim(char *line)
{
    size_t n = strlen(line);

    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        line[--n] = '\0';
}

/* Returns the next non-empty line, with any line end, without trailing white space, or NULL. The
 * text is zero-terminated at `end`; *size is the original size of the line. */
static inline char *sdp_line(char **at, const char *end, size_t *size)
{
    while (*at < end) {
        char *line = *at;

        *size = strcspn(line, "\r\n");
        *at = line + *size + 1;
        line[*size] = '\0';
        sdp_trim(line);
        if (line[0])
            return line;
    }
    return NULL;
}

/* Case-insensitive parsers of "video" and "sendonly". SDP_OTHER or false: unknown. */
static inline enum sdp_kind sdp_kind_of(const char *name)
{
    static const char *const names[] = { [SDP_VIDEO] = "video", [SDP_AUDIO] = "audio",
                                         [SDP_APPLICATION] = "application" };

    for (int i = 0; i < SDP_OTHER; i++) {
        if (strcasecmp(names[i], name) == 0)
            return (enum sdp_kind)i;
    }
    return SDP_OTHER;
}

static inline bool sdp_read_direction(enum sdp_direction *d, const char *name)
{
    static const char *const names[] = { [SDP_SENDRECV] = "sendrecv", [SDP_SENDONLY] = "sendonly",
                                         [SDP_RECVONLY] = "recvonly", [SDP_INACTIVE] = "inactive" };

    for (int i = SDP_SENDRECV; i <= SDP_INACTIVE; i++) {
        if (sdp_is(name, names[i])) {
            *d = (enum sdp_direction)i;
            return true;
        }
    }
    return false;
}

#endif
