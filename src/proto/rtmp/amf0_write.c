/* SPDX-License-Identifier: MIT */
/* amf0_write.c - from calls or a tree to AMF0 bytes [AMF0]. */
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/amf0_marker.h"

#include <string.h>

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

/* Trees are at most AMF_DEPTH deep when read, and flat when made here: bounded recursion. */
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
