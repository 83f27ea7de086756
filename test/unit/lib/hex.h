/* SPDX-License-Identifier: MIT */
/* hex.h - bytes written as text: "64 63 6261". */
#ifndef HEX_H
#define HEX_H

#include "unit.h"

#include <stdio.h>
#include <string.h>

size_t hex_bytes(const char *text, uint8_t *out, size_t room);
void assert_hex(const uint8_t *data, size_t size, const char *want);

#endif
