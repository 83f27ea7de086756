/* SPDX-License-Identifier: MIT */
/* text.h - parameters of a=fmtp: "key=value; key2=value2", in place. */
#ifndef FORMAT_RTP_TEXT_H
#define FORMAT_RTP_TEXT_H

#include "base/span.h"

#include <stdint.h>

/* The value of a key in any case, without the spaces around it. False: it is not there. */
bool rtp_text_value(const struct span *fmtp, const char *key, struct span *value);
/* The same as a number; `none` if it is not there or is none. */
uint32_t rtp_text_number(const struct span *fmtp, const char *key, uint32_t none);
/* The next of a list with commas. False: no more. */
bool rtp_text_item(struct span *list, struct span *item);
/* Hex digits to bytes. 0: they are none, or more than there is room for. */
size_t rtp_text_hex(const struct span *text, uint8_t *out, size_t room);

#endif
