/* SPDX-License-Identifier: MIT */
/* amf_value.c - the tree of AMF values and the memory it lives in. */
#include "proto/rtmp/amf0.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1000 }; /* most commands fit in one */

struct amf_block {
    struct amf_block *next;
    size_t size, used;
    alignas(max_align_t) uint8_t bytes[];
};

void amf_init(struct amf *a, size_t limit)
{
    *a = (struct amf){ .limit = limit ? limit : AMF_MEMORY };
}

void amf_free(struct amf *a)
{
    while (a->blocks) {
        struct amf_block *b = a->blocks;

        a->blocks = b->next;
        free(b);
    }
    a->used = 0;
}

static void *new_block(struct amf *a, size_t size)
{
    size_t cap = size > BLOCK / 4 ? size : BLOCK;
    struct amf_block *b = malloc(sizeof(*b) + cap);

    if (!b) {
        fprintf(stderr, "out of memory: %zu bytes of amf\n", cap);
        abort();
    }
    b->size = cap;
    b->used = size;
    if (a->blocks && cap == size) { /* a big one of its own: the last block may have room yet */
        b->next = a->blocks->next;
        a->blocks->next = b;
    } else {
        b->next = a->blocks;
        a->blocks = b;
    }
    return b->bytes;
}

void *amf_alloc(struct amf *a, size_t size)
{
    struct amf_block *b = a->blocks;

    if (size > a->limit)
        return NULL;
    size = (size + 7) & ~(size_t)7; /* what follows is aligned too */
    if (size + a->used > a->limit)
        return NULL;
    a->used += size;
    if (!b || size > b->size - b->used)
        return new_block(a, size);
    b->used += size;
    return b->bytes + b->used - size;
}

char *amf_copy(struct amf *a, const void *bytes, size_t size)
{
    char *s = amf_alloc(a, size + 1);

    if (!s)
        return NULL;
    if (size)
        memcpy(s, bytes, size);
    s[size] = '\0';
    return s;
}

bool amf_has_members(const struct amf_value *v)
{
    return amf_is(v, AMF_OBJECT) || amf_is(v, AMF_ECMA_ARRAY) || amf_is(v, AMF_STRICT_ARRAY) ||
           amf_is(v, AMF_TYPED_OBJECT);
}

static struct amf_member *find(const struct amf_value *object, const char *key, size_t size)
{
    for (struct amf_member *m = object->first; m; m = m->next) {
        if (m->key_size == size && memcmp(m->key, key, size) == 0)
            return m;
    }
    return NULL;
}

static err_t add(struct amf *a, struct amf_value *object, const char *key, size_t key_size,
                 const struct amf_value *value)
{
    struct amf_member *m = amf_alloc(a, sizeof(*m));

    if (!m || !key)
        return err_new(ERR_TOO_LARGE, "amf of over %zu bytes", a->limit);
    *m = (struct amf_member){ .key = key, .key_size = (uint32_t)key_size, .value = *value };
    if (object->last)
        object->last->next = m;
    else
        object->first = m;
    object->last = m;
    object->size++;
    return NULL;
}

err_t amf_set(struct amf *a, struct amf_value *object, const char *key, size_t key_size,
              const struct amf_value *value)
{
    struct amf_member *m = find(object, key, key_size);

    if (m) {
        m->value = *value;
        return NULL;
    }
    if (object->size >= AMF_KEYS)
        return err_new(ERR_TOO_MANY, "over %d keys in an object", AMF_KEYS);
    return add(a, object, amf_copy(a, key, key_size), key_size, value);
}

err_t amf_append(struct amf *a, struct amf_value *array, const struct amf_value *value)
{
    return add(a, array, "", 0, value);
}

struct amf_value amf_number(double number)
{
    return (struct amf_value){ .type = AMF_NUMBER, .number = number };
}

struct amf_value amf_boolean(bool boolean)
{
    return (struct amf_value){ .type = AMF_BOOLEAN, .number = boolean };
}

struct amf_value amf_text(const char *string)
{
    return (struct amf_value){ .type = AMF_STRING, .string = string,
                               .size = (uint32_t)strlen(string) };
}

struct amf_value amf_object(void)
{
    return (struct amf_value){ .type = AMF_OBJECT, .first = NULL };
}

const struct amf_value *amf_get(const struct amf_value *object, const char *key)
{
    struct amf_member *m = amf_has_members(object) ? find(object, key, strlen(key)) : NULL;

    return m ? &m->value : NULL;
}

const char *amf_get_string(const struct amf_value *object, const char *key, const char *otherwise)
{
    const struct amf_value *v = amf_get(object, key);

    return amf_is(v, AMF_STRING) ? v->string : otherwise;
}

double amf_get_number(const struct amf_value *object, const char *key, double otherwise)
{
    const struct amf_value *v = amf_get(object, key);

    return amf_is(v, AMF_NUMBER) ? v->number : otherwise;
}
