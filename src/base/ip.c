/* SPDX-License-Identifier: MIT */
/* ip.c - IP addresses as 16 bytes (IPv4 as ::ffff:a.b.c.d) and in a canonical text form. */
#include "base/ip.h"

#include <arpa/inet.h>
#include <string.h>

enum { V4_AT = 12, NETWORK = 8 };
static const uint8_t v4_prefix[V4_AT] = { [10] = 0xff, [11] = 0xff };

bool ip_is_v4(const uint8_t addr[IP_SIZE])
{
    return memcmp(addr, v4_prefix, V4_AT) == 0;
}

void ip_from_v4(const uint8_t v4[4], uint8_t addr[IP_SIZE])
{
    memcpy(addr, v4_prefix, V4_AT);
    memcpy(addr + V4_AT, v4, 4);
}

bool ip_parse(const char *text, size_t size, uint8_t addr[IP_SIZE])
{
    char buf[IP_TEXT];
    uint8_t v4[4];

    if (size == 0 || size >= sizeof(buf) || memchr(text, '\0', size))
        return false;
    memcpy(buf, text, size);
    buf[size] = '\0';
    if (inet_pton(AF_INET, buf, v4) != 1)
        return inet_pton(AF_INET6, buf, addr) == 1;
    ip_from_v4(v4, addr);
    return true;
}

void ip_customer(const char *text, uint8_t addr[IP_SIZE])
{
    if (!text || !ip_parse(text, strcspn(text, "%"), addr))
        memset(addr, 0, IP_SIZE);
    else if (!ip_is_v4(addr))
        memset(addr + NETWORK, 0, IP_SIZE - NETWORK);
}

const char *ip_text(const uint8_t addr[IP_SIZE], char out[IP_TEXT])
{
    bool v4 = ip_is_v4(addr);

    out[0] = '\0';
    (void)inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? addr + V4_AT : addr, out, IP_TEXT);
    return out;
}

bool ip_in_network(const uint8_t addr[IP_SIZE], const uint8_t net[IP_SIZE], int bits)
{
    int whole = bits / 8, rest = bits % 8;

    if (memcmp(addr, net, (size_t)whole) != 0)
        return false;
    return rest == 0 || ((addr[whole] ^ net[whole]) >> (8 - rest)) == 0;
}
