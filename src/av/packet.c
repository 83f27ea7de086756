/* SPDX-License-Identifier: MIT */
/* packet.c - one coded frame, shared by all who play it. */
#include "av/packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local long live;

struct av_packet *av_packet_new(size_t size)
{
    struct av_packet *pkt = malloc(sizeof(*pkt) + size);

    if (!pkt) {
        fprintf(stderr, "out of memory: packet of %zu bytes\n", size);
        abort();
    }
    memset(pkt, 0, sizeof(*pkt));
    ref_init(&pkt->ref);
    pkt->size = (uint32_t)size;
    live++;
    return pkt;
}

struct av_packet *av_packet_of(uint8_t *data)
{
    return (struct av_packet *)(void *)(data - offsetof(struct av_packet, data));
}

const struct av_packet *av_packet_ref(const struct av_packet *pkt)
{
    /* const freezes what a packet says, not how many hold it */
    ref_get((struct ref *)(uintptr_t)&pkt->ref);
    return pkt;
}

struct av_packet *av_packet_unref(const struct av_packet *pkt)
{
    if (pkt && ref_put((struct ref *)(uintptr_t)&pkt->ref)) {
        live--;
        free((void *)(uintptr_t)pkt);
    }
    return NULL;
}

long av_packet_live(void)
{
    return live;
}
