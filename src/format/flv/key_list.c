/* SPDX-License-Identifier: MIT */
/* key_list.c - the list of key frames of an FLV file. */
#include "format/flv/key_list.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [AMF0] 2.1 */
enum { NUMBER = 0, OBJECT = 3, NOTHING = 5, UNDEFINED = 6, OBJECT_END = 9, ARRAY = 10 };
enum { NUMBER_SIZE = 9, FEW = 64, LEAST = 2 };

/* A reader of the tag must find only complete values. Zeros are numbers, so the size of the unused
 * space, before the list is written and after it, is a multiple of a number's size. */
static_assert((1 + 2 * (2 + 1 + 4) + 13 + 5 + 2 * 3 + 1 - FLV_KEYS_SWITCH) % NUMBER_SIZE == 0,
              "the room for a list without entries");

static const char positions[] = "filepositions", times[] = "times";
const uint8_t flv_keys_undefined[FLV_KEYS_SWITCH] = { UNDEFINED, 0, 0, OBJECT_END };

void flv_key_list_init(struct flv_key_list *l, size_t max)
{
    *l = (struct flv_key_list){ .max = max, .every = 1 };
}

void flv_key_list_free(struct flv_key_list *l)
{
    free(l->v);
    flv_key_list_init(l, l->max);
}

static void thin(struct flv_key_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i += 2)
        l->v[n++] = l->v[i];
    l->skip = l->n % 2 ? l->every : 0; /* as if `every` had been larger from the start */
    l->n = n;
    l->every *= 2;
}

/* Makes room for one more entry. If the system is out of memory, the list never grows again. */
static bool grow(struct flv_key_list *l)
{
    size_t room = l->room ? l->room * 2 : FEW;
    void *v;

    if (l->n < l->room)
        return true;
    if (room > l->max)
        room = l->max;
    if (l->room == room)
        return false;
    v = mem_try_more(l->v, room * sizeof(l->v[0]));
    if (!v) {
        l->max = l->room;
        return false;
    }
    l->v = v;
    l->room = room;
    return true;
}

void flv_key_list_add(struct flv_key_list *l, const struct flv_key *key)
{
    if (l->max < LEAST ||
        (l->n > 0 && (key->ms < l->v[l->n - 1].ms || key->ms - l->v[l->n - 1].ms < FLV_KEYS_APART)))
        return;
    if (l->skip > 0) {
        l->skip--;
        return;
    }
    if (!grow(l)) {
        if (l->n < LEAST)
            return;
        thin(l);
        if (l->skip > 0) {
            l->skip--;
            return;
        }
    }
    l->v[l->n++] = *key;
    l->skip = l->every - 1;
}

size_t flv_key_list_room(size_t max)
{
    /* The object's marker; names of arrays, their markers and counts; two ends of objects; null. */
    return 1 + 2 * (2 + 1 + 4) + sizeof(positions) - 1 + sizeof(times) - 1 + 2 * 3 + 1 +
           2 * max * NUMBER_SIZE - FLV_KEYS_SWITCH;
}

static void put_number(struct wr *w, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    wr_u8(w, NUMBER);
    wr_be(w, bits, sizeof(bits));
}

/* Some players truncate the digits after the milliseconds, which must then be the right ones. */
static double seconds(uint32_t ms)
{
    double s = ms / 1000.0;

    return s * 1000 < ms ? nextafter(s, INFINITY) : s;
}

static void put_array(struct wr *w, const char *name, size_t n)
{
    wr_u16(w, (uint16_t)strlen(name));
    wr_text(w, name);
    wr_u8(w, ARRAY);
    wr_u32(w, (uint32_t)n);
}

bool flv_key_list_write(const struct flv_key_list *l, struct wr *w)
{
    if (l->n < LEAST) /* some players warn about a list with one entry */
        return false;
    wr_u8(w, OBJECT);
    put_array(w, positions, l->n);
    for (size_t i = 0; i < l->n; i++)
        put_number(w, (double)l->v[i].at);
    put_array(w, times, l->n);
    for (size_t i = 0; i < l->n; i++)
        put_number(w, seconds(l->v[i].ms));
    for (unsigned i = 0; i < 2; i++)
        wr_u24(w, OBJECT_END);
    wr_u8(w, NOTHING);
    return !w->bad;
}
