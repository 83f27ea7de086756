/* SPDX-License-Identifier: MIT */
/* utf8.h - is it UTF-8? Texts of peers go to readers who insist on it. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* stands for a byte that is none: U+FFFD */

/* How many bytes the character has that begins here and takes more than one: 0 if it is none. At
 * least one byte is there. RFC 3629 */
size_t utf8_size(const unsigned char *p, size_t left);

#endif
