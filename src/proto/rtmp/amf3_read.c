/* SPDX-License-Identifier: MIT */
/* amf3_read.c - reads the AMF3 values that clients put into commands, into the same tree [AMF3].
 * Reference tables exist only for strings and traits, which encoders use for each repeated key. A
 * reference to an object becomes undefined, so a tree never contains a cycle.
 */
#include "proto/rtmp/amf0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STRINGS = 256, MAX_TRAITS = 32, MAX_SEALED = 256 };

enum marker { /* [AMF3] 3.1 */
    UNDEFINED, NULL_, FALSE_, TRUE_, INTEGER, DOUBLE, STRING, XML_DOC, DATE, ARRAY, OBJECT, XML,
    BYTE_ARRAY,
};

struct traits {
    const char *class_name;
    struct amf_key *keys;
    uint32_t count;
    bool dynamic;
};

struct amf3 {
    struct amf *amf;
    struct rd *r;
    uint32_t string_count, traits_count;
    struct amf_key strings[MAX_STRINGS];
    struct traits traits[MAX_TRAITS];
};

static err_t read_value(struct amf3 *c, int depth, struct amf_value *out);

/* [AMF3] 1.3.1: 7 bits per byte, 8 bits in the fourth. */
static uint32_t read_u29(struct rd *r)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++) {
        uint8_t b = rd_u8(r);

        if (i == 3)
            return v << 8 | b;
        v = v << 7 | (b & 0x7f);
        if (!(b & 0x80))
            break;
    }
    return v;
}

static double read_double(struct rd *r)
{
    uint64_t bits = rd_u64(r);
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static err_t read_bytes(struct amf3 *c, uint32_t size, struct amf_key *out)
{
    const uint8_t *p = rd_take(c->r, size);

    if (!p)
        return rd_err(c->r, "amf3 string");
    out->size = size;
    out->text = amf_copy(c->amf, p, size);
    return out->text ? NULL : amf_full(c->amf, "amf3 string", size);
}

/* Computes the hash once, even if the string is later used as a key by reference many times. */
static err_t read_text(struct amf3 *c, struct amf_key *out)
{
    uint32_t u = read_u29(c->r);
    err_t err;

    *out = (struct amf_key){ .text = "" };
    if (c->r->bad)
        return rd_err(c->r, "amf3 string");
    if (!(u & 1)) {
        if (u >> 1 >= c->string_count)
            return err_new(ERR_AMF0, "amf3 string reference %u of %u", u >> 1, c->string_count);
        *out = c->strings[u >> 1];
        return NULL;
    }
    if (u >> 1 == 0) /* the empty string is never sent by reference */
        return NULL;
    err = read_bytes(c, u >> 1, out);
    if (err)
        return err;
    out->hash = amf_hash(out->text, out->size);
    if (c->string_count < MAX_STRINGS)
        c->strings[c->string_count++] = *out;
    return NULL;
}

static err_t read_member(struct amf3 *c, int depth, const struct amf_key *key,
                         struct amf_value *out)
{
    struct amf_value value;
    err_t err = read_value(c, depth + 1, &value);

    if (err)
        return err;
    return amf_set_shared(c->amf, out, key, &value);
}

/* Reads keys and values up to an empty key. */
static err_t read_members(struct amf3 *c, int depth, struct amf_value *out)
{
    for (;;) {
        struct amf_key key;
        err_t err = read_text(c, &key);

        if (err || key.size == 0)
            return err;
        err = read_member(c, depth, &key, out);
        if (err)
            return err;
    }
}

/* Reads an indexed value of an array that also has named keys; its key is the index in decimal. */
static err_t read_numbered(struct amf3 *c, uint32_t i, int depth, struct amf_value *out)
{
    struct amf_value value;
    char index[16];
    size_t size = (size_t)snprintf(index, sizeof(index), "%u", i);
    err_t err = read_value(c, depth + 1, &value);

    return err ? err : amf_set(c->amf, out, index, size, &value);
}

static err_t read_array(struct amf3 *c, uint32_t count, int depth, struct amf_value *out)
{
    err_t err;

    out->type = AMF_ECMA_ARRAY;
    err = read_members(c, depth, out);
    if (!err && count > rd_left(c->r))
        err = err_new(ERR_TRUNCATED, "amf3 array of %u values", count);
    if (out->size == 0)
        out->type = AMF_STRICT_ARRAY;
    for (uint32_t i = 0; !err && i < count; i++) {
        struct amf_value value;

        if (out->type == AMF_ECMA_ARRAY) {
            err = read_numbered(c, i, depth, out);
        } else {
            err = read_value(c, depth + 1, &value);
            if (!err)
                err = amf_append(c->amf, out, &value);
        }
    }
    return err;
}

/* [AMF3] 3.12: u holds the bits of U29O-traits. */
static err_t read_traits(struct amf3 *c, uint32_t u, struct traits *out)
{
    struct amf_key name;
    err_t err;

    if (!(u & 2)) {
        if (u >> 2 >= c->traits_count)
            return err_new(ERR_AMF0, "amf3 traits reference %u of %u", u >> 2, c->traits_count);
        *out = c->traits[u >> 2];
        return NULL;
    }
    if (u & 4)
        return err_new(ERR_UNSUPPORTED, "amf3 externalizable object");
    *out = (struct traits){ .dynamic = u & 8, .count = u >> 4 };
    if (out->count > MAX_SEALED)
        return err_new(ERR_TOO_MANY, "amf3 class of %u members", out->count);
    err = read_text(c, &name);
    if (err)
        return err;
    out->class_name = name.size ? name.text : NULL;
    out->keys = amf_alloc(c->amf, out->count * sizeof(*out->keys));
    if (!out->keys)
        return amf_full(c->amf, "amf3 class", out->count * sizeof(*out->keys));
    for (uint32_t i = 0; i < out->count; i++) {
        err = read_text(c, &out->keys[i]);
        if (err)
            return err;
    }
    if (c->traits_count < MAX_TRAITS)
        c->traits[c->traits_count++] = *out;
    return NULL;
}

static err_t read_object(struct amf3 *c, uint32_t u, int depth, struct amf_value *out)
{
    struct traits t;
    err_t err = read_traits(c, u, &t);

    if (err)
        return err;
    out->type = t.class_name ? AMF_TYPED_OBJECT : AMF_OBJECT;
    out->class_name = t.class_name;
    for (uint32_t i = 0; i < t.count; i++) {
        err = read_member(c, depth, &t.keys[i], out);
        if (err)
            return err;
    }
    return t.dynamic ? read_members(c, depth, out) : NULL;
}

/* Reads the types that start with a U29 whose low bit tells whether the value follows or is a
 * reference. */
static err_t read_complex(struct amf3 *c, uint8_t marker, int depth, struct amf_value *out)
{
    uint32_t u = read_u29(c->r);
    struct amf_key text;
    err_t err;

    if (c->r->bad)
        return rd_err(c->r, "amf3 value");
    if (!(u & 1)) {
        out->type = AMF_UNDEFINED;
        return NULL;
    }
    switch (marker) {
    case DATE:
        out->type = AMF_DATE;
        out->number = read_double(c->r);
        return rd_err(c->r, "amf3 date");
    case ARRAY:
        return read_array(c, u >> 1, depth, out);
    case OBJECT:
        return read_object(c, u, depth, out);
    case XML_DOC:
    case XML:
    case BYTE_ARRAY:
        err = read_bytes(c, u >> 1, &text);
        out->type = marker == BYTE_ARRAY ? AMF_STRING : AMF_XML;
        out->string = text.text;
        out->size = text.size;
        return err;
    default:
        return err_new(ERR_UNSUPPORTED, "amf3 marker 0x%02x", marker);
    }
}

static err_t read_value(struct amf3 *c, int depth, struct amf_value *out)
{
    uint8_t marker = rd_u8(c->r);
    struct amf_key text;
    err_t err = amf_spend(c->amf, 1);

    *out = (struct amf_value){ .type = AMF_NULL };
    if (err)
        return err;
    if (c->r->bad)
        return rd_err(c->r, "amf3 marker");
    if (depth >= AMF_DEPTH)
        return err_new(ERR_AMF0, "nested deeper than %d", AMF_DEPTH);
    switch (marker) {
    case UNDEFINED:
        out->type = AMF_UNDEFINED;
        return NULL;
    case NULL_:
        return NULL;
    case FALSE_:
    case TRUE_:
        *out = amf_boolean(marker == TRUE_);
        return NULL;
    case INTEGER: /* 29 bits, signed */
        *out = amf_number((int32_t)(read_u29(c->r) << 3) / 8);
        return rd_err(c->r, "amf3 integer");
    case DOUBLE:
        *out = amf_number(read_double(c->r));
        return rd_err(c->r, "amf3 double");
    case STRING:
        err = read_text(c, &text);
        out->type = AMF_STRING;
        out->string = text.text;
        out->size = text.size;
        return err;
    default:
        return read_complex(c, marker, depth, out);
    }
}

err_t amf3_read(struct amf *a, struct rd *r, int depth, struct amf_value *out)
{
    struct amf3 *c = malloc(sizeof(*c)); /* 5 KB is too much for a coroutine's stack */
    err_t err;

    if (!c)
        return err_new(ERR_NO_MEMORY, "amf3 tables");
    c->amf = a;
    c->r = r;
    c->string_count = c->traits_count = 0;
    err = read_value(c, depth, out);
    free(c);
    return err;
}
