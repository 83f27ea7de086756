/* SPDX-License-Identifier: MIT */
/* ip.h - IP addresses as 16 bytes (IPv4 as ::ffff:a.b.c.d) and in a canonical text form. */
#ifndef BASE_IP_H
#define BASE_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IP_SIZE = 16, IP_TEXT = 46 };

/* Parses an address without port, brackets, zone or spaces. */
bool ip_parse(const char *text, size_t size, uint8_t addr[IP_SIZE]);
/* Writes the canonical text, "1.2.3.4" also for ::ffff:1.2.3.4; returns out. */
const char *ip_text(const uint8_t addr[IP_SIZE], char out[IP_TEXT]);
bool ip_is_v4(const uint8_t addr[IP_SIZE]);
/* Gives the part of an address that identifies a customer in limits: all of an IPv4 address, the
 * /64 of an IPv6 address. Ignores a zone ("fe80::1%eth0"). All zeros: the text is NULL or not an
 * address. */
void ip_customer(const char *text, uint8_t addr[IP_SIZE]);
void ip_from_v4(const uint8_t v4[4], uint8_t addr[IP_SIZE]);
/* True if the first `bits` bits are equal. The bits of an IPv4 address start at bit 96. */
bool ip_in_network(const uint8_t addr[IP_SIZE], const uint8_t net[IP_SIZE], int bits);

#endif
