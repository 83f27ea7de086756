/* SPDX-License-Identifier: MIT */
/* text.h - parses parameters of a=fmtp in place: "key=value; key2=value2". */
#ifndef FORMAT_RTP_TEXT_H
#define FORMAT_RTP_TEXT_H

#include "base/span.h"

#include <stdint.h>

/* Gives the value of a key, case-insensitive, without surrounding spaces. False: there is none. */
bool rtp_text_value(const struct span *fmtp, const char *key, struct span *value);
/* Returns the value as a number; `none` if it is missing or not a number. */
uint32_t rtp_text_number(const struct span *fmtp, const char *key, uint32_t none);
/* Gives the next item of a comma-separated list. False: no more. */
bool rtp_text_item(struct span *list, struct span *item);
/* Decodes hex digits; returns the number of bytes. 0: invalid digits, or too many. */
size_t rtp_text_hex(const struct span *text, uint8_t *out, size_t room);

#endif
