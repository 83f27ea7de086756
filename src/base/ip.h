/* SPDX-License-Identifier: MIT */
/* ip.h - IP addresses: as 16 bytes, IPv4 as ::ffff:a.b.c.d, and as one text each. */
#ifndef BASE_IP_H
#define BASE_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IP_SIZE = 16, IP_TEXT = 46 };

/* Nothing but an address: neither port nor brackets nor zone nor spaces. */
bool ip_parse(const char *text, size_t size, uint8_t addr[IP_SIZE]);
/* The one text of it, "1.2.3.4" also for ::ffff:1.2.3.4; returns out. */
const char *ip_text(const uint8_t addr[IP_SIZE], char out[IP_TEXT]);
bool ip_is_v4(const uint8_t addr[IP_SIZE]);
/* The part of an address that counts as one customer in limits: of IPv4 all of it, of IPv6 the /64.
 * A zone ("fe80::1%eth0") does not count. All zeros: the text is NULL or not an address. */
void ip_customer(const char *text, uint8_t addr[IP_SIZE]);
void ip_from_v4(const uint8_t v4[4], uint8_t addr[IP_SIZE]);
/* Are the first `bits` the same? Those of an IPv4 address come behind 96. */
bool ip_in_network(const uint8_t addr[IP_SIZE], const uint8_t net[IP_SIZE], int bits);

#endif
