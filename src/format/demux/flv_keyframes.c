/* SPDX-License-Identifier: MIT */
/* flv_keyframes.c - the key frames listed in the metadata of an FLV file: an object `keyframes`
 * with the arrays `filepositions` and `times`. No specification defines it, but all writers use it.
 *
 * [AMF0] Action Message Format, AMF 0.
 */
#include "base/mem.h"
#include "format/demux/flv_impl.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER = 0, STRING = 2, OBJECT = 3, ECMA = 8, OBJECT_END = 9, ARRAY = 10, /* [AMF0] 2.1 */
       TYPED = 16, DEPTH_MAX = 16, NAME_SIZE = 24 };

struct name { /* name of a property; "" if longer than all relevant names */
    char text[NAME_SIZE];
    bool end; /* no more properties */
};

static struct name read_name(struct rd *r)
{
    struct name name = { "", false };
    uint16_t n = rd_u16(r);
    const uint8_t *p = rd_take(r, n);

    if (p && n > 0 && n < sizeof(name.text))
        memcpy(name.text, p, n);
    if (r->bad || (n == 0 && rd_left(r) > 0 && *r->p == OBJECT_END)) {
        (void)rd_u8(r);
        name.end = true;
    }
    return name;
}

static void skip(struct rd *r, unsigned depth);

static void skip_properties(struct rd *r, unsigned depth)
{
    while (!r->bad && !read_name(r).end)
        skip(r, depth);
}

/* Skips a value; a value that cannot be skipped ends the parsing. */
static void skip(struct rd *r, unsigned depth)
{
    static const uint8_t sizes[] = { [NUMBER] = 8, [1] = 1, [7] = 2, [11] = 10 };
    uint8_t type = rd_u8(r);

    if (type == STRING) {
        (void)rd_take(r, rd_u16(r));
    } else if (type == 12 || type == 15) { /* long strings, XML */
        (void)rd_take(r, rd_u32(r));
    } else if (depth < DEPTH_MAX && (type == OBJECT || type == ECMA || type == TYPED)) {
        if (type == ECMA)
            (void)rd_u32(r);
        if (type == TYPED)
            (void)rd_take(r, rd_u16(r));
        skip_properties(r, depth + 1);
    } else if (depth < DEPTH_MAX && type == ARRAY) {
        for (uint32_t n = rd_u32(r); n > 0 && !r->bad; n--)
            skip(r, depth + 1);
    } else if (type < sizeof(sizes) && (sizes[type] > 0 || type == 5 || type == 6)) {
        (void)rd_take(r, sizes[type]);
    } else if (type != 13) { /* null, undefined, unsupported have no bytes */
        (void)rd_take(r, rd_left(r) + 1);
    }
}

static double number(struct rd *r)
{
    uint64_t bits = rd_u64(r);
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

/* Reads an array of numbers; ignores arrays of other types. */
static bool read_array(struct rd *r, double **out, size_t *n)
{
    struct rd at = *r;
    uint32_t count;

    skip(r, 0);
    if (r->bad || *out || rd_u8(&at) != ARRAY)
        return true;
    count = rd_u32(&at);
    if (count > rd_left(&at) / 9 || count == 0)
        return true;
    *out = mem_try(count * sizeof(**out));
    if (!*out)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (rd_u8(&at) != NUMBER) {
            free(*out);
            *out = NULL;
            return true;
        }
        (*out)[i] = number(&at);
    }
    *n = count;
    return true;
}

static bool read_keyframes(struct flv_keyframes *k, struct rd *r)
{
    struct rd at = *r;
    size_t n_at = 0, n_time = 0;
    bool memory = true;

    skip(r, 0);
    if (r->bad || k->at || k->time || rd_u8(&at) != OBJECT)
        return true;
    while (memory && !at.bad) {
        struct name name = read_name(&at);

        if (name.end)
            break;
        if (strcmp(name.text, "filepositions") == 0)
            memory = read_array(&at, &k->at, &n_at);
        else if (strcmp(name.text, "times") == 0)
            memory = read_array(&at, &k->time, &n_time);
        else
            skip(&at, 0);
    }
    k->n = n_at < n_time ? n_at : n_time;
    return memory;
}

/* False for the number 0. */
static bool says(struct rd *r)
{
    struct rd at = *r;

    skip(r, 0);
    return rd_u8(&at) != NUMBER || number(&at) > 0;
}

bool demux_flv_keyframes(struct flv_keyframes *k, const uint8_t *body, size_t size)
{
    static const uint8_t name[] = "\x02\x00\x0aonMetaData";
    struct rd r = rd_init(body, size);
    const uint8_t *p = rd_take(&r, sizeof(name) - 1);
    uint8_t type = p && memcmp(p, name, sizeof(name) - 1) == 0 ? rd_u8(&r) : 0;
    bool memory = true;

    *k = (struct flv_keyframes){ 0 };
    if (type == ECMA)
        (void)rd_u32(&r);
    else if (type != OBJECT)
        return true;
    while (memory && !r.bad) {
        struct name property = read_name(&r);

        if (property.end)
            break;
        if (strcmp(property.text, "keyframes") == 0)
            memory = read_keyframes(k, &r);
        else if (strcmp(property.text, "audiocodecid") == 0)
            k->audio = says(&r);
        else
            skip(&r, 0);
    }
    if (!memory)
        demux_flv_keyframes_free(k);
    return memory;
}

void demux_flv_keyframes_free(struct flv_keyframes *k)
{
    free(k->at);
    free(k->time);
    *k = (struct flv_keyframes){ 0 };
}
