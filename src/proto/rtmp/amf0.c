/* SPDX-License-Identifier: MIT */
/* amf0.c - reads and writes AMF0 values [AMF0]. */
#include "proto/rtmp/amf0.h"

#include <string.h>

enum amf0_marker {
    AMF0_NUMBER = 0x00, AMF0_BOOLEAN = 0x01, AMF0_STRING = 0x02, AMF0_OBJECT = 0x03,
    AMF0_NULL = 0x05, AMF0_UNDEFINED = 0x06, AMF0_REFERENCE = 0x07, AMF0_ECMA_ARRAY = 0x08,
    AMF0_OBJECT_END = 0x09, AMF0_STRICT_ARRAY = 0x0a, AMF0_DATE = 0x0b, AMF0_LONG_STRING = 0x0c,
    AMF0_UNSUPPORTED = 0x0d, AMF0_XML = 0x0f, AMF0_TYPED_OBJECT = 0x10, AMF0_AVMPLUS = 0x11,
};

/* ---- reading AMF0 bytes into a tree */

static err_t read_value(struct amf *a, struct rd *r, int depth, struct amf_value *out);

static double read_double(struct rd *r)
{
    uint64_t bits = rd_u64(r);
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

static err_t read_string(struct amf *a, struct rd *r, size_t size, struct amf_value *out)
{
    const uint8_t *p = rd_take(r, size);

    if (!p)
        return rd_err(r, "amf0 string");
    out->size = (uint32_t)size;
    out->string = amf_copy(a, p, size);
    return out->string ? NULL : amf_full(a, "amf0 string", size);
}

/* Reads keys and values up to an empty key with the end marker, [AMF0] 2.5. */
static err_t read_members(struct amf *a, struct rd *r, int depth, struct amf_value *out)
{
    for (;;) {
        size_t size = rd_u16(r);
        const uint8_t *key = rd_take(r, size);
        struct amf_value value;
        err_t err;

        if (key && size == 0 && rd_left(r) > 0 && *r->p == AMF0_OBJECT_END) {
            rd_u8(r);
            return NULL;
        }
        if (r->bad)
            return rd_err(r, "amf0 object");
        err = read_value(a, r, depth + 1, &value);
        if (!err)
            err = amf_set(a, out, (const char *)key, size, &value);
        if (err)
            return err;
    }
}

static err_t read_strict(struct amf *a, struct rd *r, int depth, struct amf_value *out)
{
    uint32_t count = rd_u32(r);

    if (!r->bad && count > rd_left(r)) /* each value has at least a marker */
        return err_new(ERR_TRUNCATED, "amf0 array says %u values in %zu bytes", count, rd_left(r));
    for (uint32_t i = 0; i < count && !r->bad; i++) {
        struct amf_value value;
        err_t err = read_value(a, r, depth + 1, &value);

        if (!err)
            err = amf_append(a, out, &value);
        if (err)
            return err;
    }
    return rd_err(r, "amf0 array");
}

static err_t read_typed(struct amf *a, struct rd *r, int depth, struct amf_value *out)
{
    struct amf_value name;
    err_t err = read_string(a, r, rd_u16(r), &name);

    if (err)
        return err;
    out->class_name = name.string;
    return read_members(a, r, depth, out);
}

static err_t read_scalar(struct rd *r, uint8_t marker, struct amf_value *out)
{
    switch (marker) {
    case AMF0_NUMBER:
        *out = amf_number(read_double(r));
        break;
    case AMF0_BOOLEAN:
        *out = amf_boolean(rd_u8(r) != 0);
        break;
    case AMF0_NULL:
        out->type = AMF_NULL;
        break;
    case AMF0_UNDEFINED:
        out->type = AMF_UNDEFINED;
        break;
    case AMF0_REFERENCE:
        out->type = AMF_REFERENCE;
        out->number = rd_u16(r);
        break;
    case AMF0_DATE:
        out->type = AMF_DATE;
        out->number = read_double(r);
        out->zone = (int16_t)rd_u16(r);
        break;
    case AMF0_UNSUPPORTED:
        out->type = AMF_UNSUPPORTED;
        break;
    default:
        return err_new(ERR_AMF0, "marker 0x%02x", marker);
    }
    return rd_err(r, "amf0 value");
}

static err_t read_value(struct amf *a, struct rd *r, int depth, struct amf_value *out)
{
    uint8_t marker = rd_u8(r);
    err_t err = amf_spend(a, 1);

    *out = (struct amf_value){ .type = AMF_NULL };
    if (err)
        return err;
    if (r->bad)
        return rd_err(r, "amf0 marker");
    if (depth >= AMF_DEPTH)
        return err_new(ERR_AMF0, "nested deeper than %d", AMF_DEPTH);
    switch (marker) {
    case AMF0_STRING:
        out->type = AMF_STRING;
        return read_string(a, r, rd_u16(r), out);
    case AMF0_LONG_STRING:
        out->type = AMF_STRING;
        return read_string(a, r, rd_u32(r), out);
    case AMF0_XML:
        out->type = AMF_XML;
        return read_string(a, r, rd_u32(r), out);
    case AMF0_ECMA_ARRAY:
        out->type = AMF_ECMA_ARRAY;
        (void)rd_u32(r); /* a count that many encoders get wrong; the end marker decides */
        return read_members(a, r, depth, out);
    case AMF0_OBJECT:
        out->type = AMF_OBJECT;
        return read_members(a, r, depth, out);
    case AMF0_TYPED_OBJECT:
        out->type = AMF_TYPED_OBJECT;
        return read_typed(a, r, depth, out);
    case AMF0_STRICT_ARRAY:
        out->type = AMF_STRICT_ARRAY;
        return read_strict(a, r, depth, out);
    case AMF0_AVMPLUS:
        return amf3_read(a, r, depth, out);
    default:
        return read_scalar(r, marker, out);
    }
}

err_t amf0_read(struct amf *a, struct rd *r, struct amf_value *out)
{
    return read_value(a, r, 0, out);
}

/* ---- writing AMF0 bytes */

static void put_double(struct wr *w, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    wr_be(w, bits, 8);
}

static void put_key(struct wr *w, const char *key, size_t size)
{
    size = size < 0xffff ? size : 0xffff;
    wr_u16(w, (uint16_t)size);
    wr_bytes(w, key, size);
}

void amf0_number(struct wr *w, double number)
{
    wr_u8(w, AMF0_NUMBER);
    put_double(w, number);
}

void amf0_boolean(struct wr *w, bool boolean)
{
    wr_u8(w, AMF0_BOOLEAN);
    wr_u8(w, boolean);
}

static void amf0_string_n(struct wr *w, const void *bytes, size_t size)
{
    bool is_long = size > 0xffff;

    wr_u8(w, is_long ? AMF0_LONG_STRING : AMF0_STRING);
    wr_be(w, size, is_long ? 4 : 2);
    wr_bytes(w, bytes, size);
}

void amf0_string(struct wr *w, const char *string)
{
    amf0_string_n(w, string, strlen(string));
}

void amf0_null(struct wr *w)
{
    wr_u8(w, AMF0_NULL);
}

void amf0_undefined(struct wr *w)
{
    wr_u8(w, AMF0_UNDEFINED);
}

void amf0_object_begin(struct wr *w)
{
    wr_u8(w, AMF0_OBJECT);
}

void amf0_ecma_begin(struct wr *w, uint32_t count)
{
    wr_u8(w, AMF0_ECMA_ARRAY);
    wr_u32(w, count);
}

void amf0_strict_begin(struct wr *w, uint32_t count)
{
    wr_u8(w, AMF0_STRICT_ARRAY);
    wr_u32(w, count);
}

void amf0_key(struct wr *w, const char *key)
{
    put_key(w, key, strlen(key));
}

void amf0_end(struct wr *w)
{
    wr_u16(w, 0);
    wr_u8(w, AMF0_OBJECT_END);
}

void amf0_set_number(struct wr *w, const char *key, double number)
{
    amf0_key(w, key);
    amf0_number(w, number);
}

void amf0_set_boolean(struct wr *w, const char *key, bool boolean)
{
    amf0_key(w, key);
    amf0_boolean(w, boolean);
}

void amf0_set_string(struct wr *w, const char *key, const char *string)
{
    amf0_key(w, key);
    amf0_string(w, string);
}

/* The recursion is bounded: a tree is at most AMF_DEPTH deep when it was read, and flat when it was
 * built here. */
static void put_members(struct wr *w, const struct amf_value *v)
{
    for (const struct amf_member *m = v->first; m; m = m->next) {
        if (v->type != AMF_STRICT_ARRAY)
            put_key(w, m->key, m->key_size);
        amf0_write(w, &m->value);
    }
    if (v->type != AMF_STRICT_ARRAY)
        amf0_end(w);
}

static void put_object(struct wr *w, const struct amf_value *v)
{
    if (v->type == AMF_ECMA_ARRAY) {
        amf0_ecma_begin(w, v->size);
    } else if (v->type == AMF_STRICT_ARRAY) {
        amf0_strict_begin(w, v->size);
    } else if (v->class_name) {
        wr_u8(w, AMF0_TYPED_OBJECT);
        amf0_key(w, v->class_name);
    } else {
        amf0_object_begin(w);
    }
    put_members(w, v);
}

void amf0_write(struct wr *w, const struct amf_value *v)
{
    switch (v->type) {
    case AMF_NUMBER:
        amf0_number(w, v->number);
        break;
    case AMF_BOOLEAN:
        amf0_boolean(w, v->number != 0);
        break;
    case AMF_STRING:
        amf0_string_n(w, v->string, v->size);
        break;
    case AMF_XML:
        wr_u8(w, AMF0_XML);
        wr_u32(w, v->size);
        wr_bytes(w, v->string, v->size);
        break;
    case AMF_DATE:
        wr_u8(w, AMF0_DATE);
        put_double(w, v->number);
        wr_u16(w, (uint16_t)v->zone);
        break;
    case AMF_REFERENCE:
        wr_u8(w, AMF0_REFERENCE);
        wr_u16(w, (uint16_t)v->number);
        break;
    case AMF_OBJECT:
    case AMF_TYPED_OBJECT:
    case AMF_ECMA_ARRAY:
    case AMF_STRICT_ARRAY:
        put_object(w, v);
        break;
    case AMF_NULL:
        amf0_null(w);
        break;
    default:
        wr_u8(w, v->type == AMF_UNSUPPORTED ? AMF0_UNSUPPORTED : AMF0_UNDEFINED);
    }
}
