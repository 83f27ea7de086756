/* SPDX-License-Identifier: MIT */
/* packet.c - one coded frame, shared by all players of a stream.
 *
 * Packets die in groups (of pictures) and are born one by one at the same pace, and most are larger
 * than what the C library allocates quickly. So some of the memory of dead ones is kept, by size.
 */
#include "av/packet.h"

#include "base/mem.h"
#include "base/must.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Sizes are in steps: of 64 bytes for sound, of 256 for pictures; beyond that nothing is kept. */
enum {
    FINE = 64, FINE_MAX = 1024,
    COARSE = 256, COARSE_MAX = 32 * 1024,
    CLASSES = FINE_MAX / FINE + COARSE_MAX / COARSE,
    KEPT_LEAST = 1 << 20, KEPT_SHARE = 16, /* bytes, of all classes; and one in so many more */
};

/* From here on a packet is what it says of itself; before it is how it is kept. */
#define SAYS offsetof(struct av_packet, kind)

/* A dead packet in the list of its class. */
struct dead {
    struct dead *next;
};

static _Thread_local long live;
static _Thread_local struct dead *kept[CLASSES];
static _Thread_local size_t kept_bytes, live_bytes;

/* The class of a size, and how much is allocated for it. CLASSES: none, as much as it is. */
static unsigned class_of(size_t *size)
{
    unsigned i;

    if (*size <= FINE_MAX) {
        i = (unsigned)((*size + FINE - 1) / FINE);
        *size = (size_t)i * FINE;
        return i - 1;
    }
    if (*size > COARSE_MAX)
        return CLASSES;
    i = (unsigned)((*size + COARSE - 1) / COARSE);
    *size = (size_t)i * COARSE;
    return FINE_MAX / FINE + i - 1;
}

static void *get(size_t size)
{
    unsigned class = class_of(&size);
    struct dead *d = class < CLASSES ? kept[class] : NULL;

    if (d) {
        kept[class] = d->next;
        __builtin_prefetch(d->next, 1); /* it died long ago: the next one of its size is at hand */
        kept_bytes -= size;
    } else {
        d = mem_try(size);
    }
    live_bytes += d ? size : 0;
    return d;
}

static void put(void *p, size_t size)
{
    unsigned class = class_of(&size);
    struct dead *d = p;

#if defined(__SANITIZE_ADDRESS__)
    class = CLASSES; /* the sanitizer shall see who uses it */
#endif
    live_bytes -= size;
    if (class == CLASSES || kept_bytes + size > KEPT_LEAST + live_bytes / KEPT_SHARE) {
        free(p);
        return;
    }
    d->next = kept[class];
    kept[class] = d;
    kept_bytes += size;
}

struct av_packet *av_packet_try(size_t size)
{
    struct av_packet *pkt = get(sizeof(*pkt) + size);

    if (!pkt)
        return NULL;
    memset(pkt, 0, sizeof(*pkt));
    ref_init(&pkt->ref);
    pkt->size = (uint32_t)size;
    live++;
    return pkt;
}

struct av_packet *av_packet_new(size_t size)
{
    return must(av_packet_try(size));
}

/* Between sizes of which nothing is kept the C library may move whole pages. */
static struct av_packet *stretch(struct av_packet *pkt, size_t size)
{
    struct av_packet *more = mem_try_more(pkt, sizeof(*pkt) + size);

    if (!more)
        return NULL;
    live_bytes += size - more->size;
    more->size = (uint32_t)size;
    return more;
}

struct av_packet *av_packet_grow(struct av_packet *pkt, size_t size)
{
    struct av_packet *more;

    assert(pkt->ref.n == 1 && size >= pkt->size);
    if (sizeof(*pkt) + pkt->size > COARSE_MAX)
        return stretch(pkt, size);
    more = av_packet_try(size);
    if (!more)
        return NULL;
    memcpy(more, pkt, sizeof(*pkt) + pkt->size);
    more->size = (uint32_t)size;
    (void)av_packet_unref(pkt);
    return more;
}

struct av_packet *av_packet_copy(const struct av_packet *pkt)
{
    struct av_packet *copy = av_packet_try(pkt->size);

    if (!copy)
        return NULL;
    memcpy((char *)copy + SAYS, (const char *)pkt + SAYS,
           offsetof(struct av_packet, data) - SAYS + pkt->size);
    return copy;
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
        put((void *)(uintptr_t)pkt, sizeof(*pkt) + pkt->size);
    }
    return NULL;
}

void av_packet_release_memory(void)
{
    for (unsigned i = 0; i < CLASSES; i++) {
        while (kept[i]) {
            struct dead *d = kept[i];

            kept[i] = d->next;
            free(d);
        }
    }
    kept_bytes = 0;
}

long av_packet_live(void)
{
    return live;
}
