/* SPDX-License-Identifier: MIT */
/* proxy.c - the PROXY protocol, versions 1 and 2. */
#include "proto/proxy/proxy.h"

#include "base/be.h"
#include "base/text.h"

#include <string.h>

enum {
    V1_MIN = 15, /* "PROXY UNKNOWN\r\n" */
    V2_HEAD = 16,
    V2_VERSION_AT = 12, V2_FAMILY_AT = 13, V2_SIZE_AT = 14,
    V2_LOCAL = 0x20, V2_PROXY = 0x21,
    V2_UNSPEC = 0x00, V2_TCP4 = 0x11, V2_TCP6 = 0x21, V2_UNIX = 0x31,
};

static const uint8_t v1_sign[] = "PROXY ";
static const uint8_t v2_sign[] = "\r\n\r\n\0\r\nQUIT\n";

static bool begins(const uint8_t *data, size_t size, const uint8_t *sign, size_t sign_size)
{
    return memcmp(data, sign, size < sign_size ? size : sign_size) == 0;
}

/* ---- version 1: section 2.1 */

/* Returns the next word of the line, or false at its end. */
static bool word(const char **line, const char *end, const char **w, size_t *size)
{
    const char *space = memchr(*line, ' ', (size_t)(end - *line));

    *w = *line;
    *size = (size_t)((space ? space : end) - *line);
    *line = space ? space + 1 : end;
    return *size > 0;
}

static int port_of(const char *w, size_t size)
{
    return size > 1 && *w == '0' ? -1 : (int)text_number(w, size, 65535);
}

/* Parses "192.0.2.1 192.0.2.2 56324 443", where both addresses are of the same family. */
static bool addresses(const char *line, const char *end, bool v4, struct proxy_peer *out)
{
    uint8_t from[IP_SIZE], to[IP_SIZE];
    const char *w[4];
    size_t size[4];

    for (int i = 0; i < 4; i++) {
        if (!word(&line, end, &w[i], &size[i]))
            return false;
    }
    if (line != end || end[-1] == ' ' || !ip_parse(w[0], size[0], from) ||
        !ip_parse(w[1], size[1], to) || (out->port = port_of(w[2], size[2])) < 0 ||
        port_of(w[3], size[3]) < 0)
        return false;
    if (!memchr(w[0], ':', size[0]) != v4 || !memchr(w[1], ':', size[1]) != v4)
        return false;
    out->known = true;
    (void)ip_text(from, out->ip);
    return true;
}

static err_t v1_line(const char *line, const char *end, struct proxy_peer *out)
{
    const char *family;
    size_t size;

    line += sizeof(v1_sign) - 1;
    if (word(&line, end, &family, &size)) {
        if (size == 7 && memcmp(family, "UNKNOWN", size) == 0)
            return NULL; /* ignore the rest */
        if (size == 4 && memcmp(family, "TCP4", size) == 0 && addresses(line, end, true, out))
            return NULL;
        if (size == 4 && memcmp(family, "TCP6", size) == 0 && addresses(line, end, false, out))
            return NULL;
    }
    return err_new(ERR_PROXY, "invalid version 1 line");
}

static err_t v1_parse(const uint8_t *data, size_t size, struct proxy_peer *out, size_t *need)
{
    size_t n = 0, most = size < PROXY_V1_MAX ? size : PROXY_V1_MAX;

    while (n < most && data[n] >= ' ' && data[n] < 0x7f)
        n++;
    if (n < most && data[n] != '\r')
        return err_new(ERR_PROXY, "byte %u in the version 1 line", data[n]);
    if (n + 2 > PROXY_V1_MAX)
        return err_new(ERR_TOO_LARGE, "PROXY line of over %d bytes", PROXY_V1_MAX);
    *need = n + 2 > V1_MIN ? n + 2 : V1_MIN;
    if (n + 2 > size)
        return NULL;
    if (data[n + 1] != '\n')
        return err_new(ERR_PROXY, "the version 1 line has no end");
    *need = n + 2;
    return v1_line((const char *)data, (const char *)data + n, out);
}

/* ---- version 2: section 2.2 */

static err_t v2_address(const uint8_t *data, size_t size, struct proxy_peer *out)
{
    uint8_t family = data[V2_FAMILY_AT], addr[IP_SIZE];
    const uint8_t *at = data + V2_HEAD;
    size_t left = size - V2_HEAD, want = family == V2_TCP4   ? 4 + 4 + 2 + 2
                                         : family == V2_TCP6 ? 16 + 16 + 2 + 2
                                         : family == V2_UNIX ? 108 + 108
                                                             : 0;

    if (left < want)
        return err_new(ERR_PROXY, "%zu bytes are too short for addresses of family %#x", left,
                       family);
    if (family == V2_TCP4)
        ip_from_v4(at, addr);
    else if (family == V2_TCP6)
        memcpy(addr, at, IP_SIZE);
    else
        return NULL;
    at += family == V2_TCP4 ? 4 + 4 : 16 + 16;
    out->known = true;
    (void)ip_text(addr, out->ip);
    out->port = be_get16(at);
    return NULL;
}

/* Ignores the fields after the addresses. */
static err_t v2_parse(const uint8_t *data, size_t size, struct proxy_peer *out, size_t *need)
{
    *need = V2_HEAD;
    if (size < V2_HEAD)
        return NULL;
    if (data[V2_VERSION_AT] != V2_LOCAL && data[V2_VERSION_AT] != V2_PROXY)
        return err_new(ERR_PROXY, "version and command %#x", data[V2_VERSION_AT]);
    *need += (size_t)(data[V2_SIZE_AT] << 8 | data[V2_SIZE_AT + 1]);
    if (*need > PROXY_MAX)
        return err_new(ERR_TOO_LARGE, "PROXY header of %zu bytes", *need);
    if (data[V2_VERSION_AT] == V2_LOCAL)
        return NULL; /* the proxy's own check: ignore the family */
    switch (data[V2_FAMILY_AT]) {
    case V2_UNSPEC: case V2_TCP4: case V2_TCP6: case V2_UNIX:
        return size < *need ? NULL : v2_address(data, *need, out);
    default:
        return err_new(ERR_PROXY, "family and protocol %#x", data[V2_FAMILY_AT]);
    }
}

/* ---- both versions */

err_t proxy_parse(const uint8_t *data, size_t size, struct proxy_peer *out, size_t *need)
{
    *out = (struct proxy_peer){ 0 };
    *need = V1_MIN;
    if (size == 0)
        return NULL;
    if (begins(data, size, v1_sign, sizeof(v1_sign) - 1))
        return v1_parse(data, size, out, need);
    if (begins(data, size, v2_sign, sizeof(v2_sign) - 1))
        return v2_parse(data, size, out, need);
    return err_new(ERR_PROXY, "not a PROXY header");
}

err_t proxy_read(struct io *io, struct proxy_peer *out, co_usec timeout)
{
    co_usec until = co_clock() + timeout, before = io->read_timeout;
    size_t have = 0, need, n = 0;
    uint8_t data[PROXY_MAX];
    err_t err;

    for (;;) {
        err = proxy_parse(data, have, out, &need);
        if (err || have >= need)
            break;
        io->read_timeout = until - co_clock();
        if (io->read_timeout <= 0)
            err = err_new(ERR_IO_TIMEOUT, "no PROXY header in %lld ms", us_to_ms(timeout));
        else
            err = io_read(io, data + have, need - have, &n);
        if (err)
            break;
        have += n;
    }
    io->read_timeout = before;
    return err;
}
