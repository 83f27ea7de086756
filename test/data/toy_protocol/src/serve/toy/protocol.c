/* SPDX-License-Identifier: MIT */
/* protocol.c - the row of the toy protocol. */
#include "serve/toy/toy.h"

const struct protocol protocol_toy = {
    .id = PROTOCOL_TOY, .accept = toy_accept, .datagrams = &toy_datagrams,
    .counters = &toy_counters,
};
