/* SPDX-License-Identifier: MIT */
/* protocols.h - the table of all protocols. */
#ifndef APP_PROTOCOLS_H
#define APP_PROTOCOLS_H

#include "serve/protocol.h"

extern const struct protocol *const protocols[PROTOCOLS];

#endif
