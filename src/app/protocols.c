/* SPDX-License-Identifier: MIT */
/* protocols.c - the rows of all protocols: PROTOCOL_LIST names them. */
#include "app/protocols.h"

const struct protocol *const protocols[PROTOCOLS] = {
#define XX(ID, id) [PROTOCOL_##ID] = &protocol_##id,
    PROTOCOL_LIST(XX)
#undef XX
};
