/* SPDX-License-Identifier: MIT */
/* protocols.c - the table of all protocols, built from PROTOCOL_LIST. */
#include "app/protocols.h"

const struct protocol *const protocols[PROTOCOLS] = {
#define XX(ID, id) [PROTOCOL_##ID] = &protocol_##id,
    PROTOCOL_LIST(XX)
#undef XX
};
