/* SPDX-License-Identifier: MIT */
/* amf0_read.c - from AMF0 bytes to a tree [AMF0]. */
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/amf0_marker.h"

#include <string.h>

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

/* Keys and values until an empty key with the end marker, [AMF0] 2.5. */
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

    if (!r->bad && count > rd_left(r)) /* a value has at least its marker */
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
        (void)rd_u32(r); /* a hint that many get wrong; the end marker counts */
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
