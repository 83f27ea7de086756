/* SPDX-License-Identifier: MIT */
/* packet.c - one coded frame, shared by all players of a stream. */
#include "av/packet.h"

#include "base/must.h"
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The packet's fields start here; the fields before it belong to the allocation. */
#define CONTENT offsetof(struct av_packet, kind)

/* Memory checkers must see each packet as a separate allocation. */
#if defined(__SANITIZE_ADDRESS__) || BUILD_GPERF || BUILD_VALGRIND
enum { SEPARATE = true };
#else
enum { SEPARATE = false };
#endif

static _Thread_local long live;

struct av_packet *av_packet_try_in(struct bump *stream, size_t size)
{
    struct av_packet *pkt = bump_try(SEPARATE ? NULL : stream, sizeof(*pkt) + size);

    if (!pkt)
        return NULL;
    memset(pkt, 0, sizeof(*pkt));
    ref_init(&pkt->ref);
    pkt->size = (uint32_t)size;
    live++;
    return pkt;
}

struct av_packet *av_packet_try(size_t size)
{
    return av_packet_try_in(NULL, size);
}

struct av_packet *av_packet_new(size_t size)
{
    return must(av_packet_try(size));
}

struct av_packet *av_packet_grow(struct av_packet *pkt, size_t size)
{
    assert(pkt->ref.n == 1 && size >= pkt->size);
    pkt = bump_grow(pkt, sizeof(*pkt) + size);
    if (pkt)
        pkt->size = (uint32_t)size;
    return pkt;
}

struct av_packet *av_packet_copy(const struct av_packet *pkt)
{
    return av_packet_copy_in(NULL, pkt);
}

struct av_packet *av_packet_copy_in(struct bump *stream, const struct av_packet *pkt)
{
    struct av_packet *copy = av_packet_try_in(stream, pkt->size);

    if (!copy)
        return NULL;
    memcpy((char *)copy + CONTENT, (const char *)pkt + CONTENT,
           offsetof(struct av_packet, data) - CONTENT + pkt->size);
    return copy;
}

struct av_packet *av_packet_of(uint8_t *data)
{
    return (struct av_packet *)(void *)(data - offsetof(struct av_packet, data));
}

const struct av_packet *av_packet_ref(const struct av_packet *pkt)
{
    /* const freezes the packet's fields, not its reference count */
    ref_get((struct ref *)(uintptr_t)&pkt->ref);
    return pkt;
}

struct av_packet *av_packet_unref(const struct av_packet *pkt)
{
    if (pkt && ref_put((struct ref *)(uintptr_t)&pkt->ref)) {
        live--;
        bump_free((void *)(uintptr_t)pkt);
    }
    return NULL;
}

long av_packet_live(void)
{
    return live;
}
