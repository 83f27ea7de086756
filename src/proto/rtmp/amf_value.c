/* SPDX-License-Identifier: MIT */
/* amf_value.c - the tree of AMF values and its memory. */
#include "proto/rtmp/amf0.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 1000,     /* most commands fit in one block */
    INDEX_FROM = 16,  /* number of members from which an object gets an index */
    BUCKETS = 128,
    COMPARED = 64,    /* bytes of two keys that one unit of the budget compares */
};

struct amf_index {
    struct amf_member *bucket[BUCKETS];
};

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
    a->used = a->spent = 0;
    a->no_memory = false;
}

static void *new_block(struct amf *a, size_t size)
{
    size_t cap = size > BLOCK / 4 ? size : BLOCK;
    struct amf_block *b = malloc(sizeof(*b) + cap);

    if (!b) {
        a->no_memory = true;
        return NULL;
    }
    b->size = cap;
    b->used = size;
    if (a->blocks && cap == size) { /* A large value gets a block of its own; the last block may
                                     * still have free space. */
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
    size = (size + 7) & ~(size_t)7; /* keeps the next allocation aligned */
    if (size + a->used > a->limit)
        return NULL;
    a->used += size;
    if (!b || size > b->size - b->used)
        return new_block(a, size);
    b->used += size;
    return b->bytes + b->used - size;
}

err_t amf_full(const struct amf *a, const char *what, size_t size)
{
    if (a->no_memory)
        return err_new(ERR_NO_MEMORY, "%s of %zu bytes", what, size);
    return err_new(ERR_TOO_LARGE, "%s of %zu bytes, %zu of %zu are used", what, size, a->used,
                   a->limit);
}

err_t amf_spend(struct amf *a, size_t cost)
{
    a->spent += cost;
    if (a->spent > AMF_BUDGET)
        return err_new(ERR_TOO_MANY, "AMF costs more than %d units of work", AMF_BUDGET);
    return NULL;
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

/* Hashes eight bytes at a time, for speed. A peer that sends colliding keys pays for each step of
 * the search from its budget. */
uint32_t amf_hash(const char *bytes, size_t size)
{
    uint64_t h = size, word;

    for (; size > 0; bytes += sizeof(word)) {
        size_t n = size < sizeof(word) ? size : sizeof(word);

        word = 0;
        memcpy(&word, bytes, n);
        h = (h ^ word) * 0x9e3779b97f4a7c15;
        h ^= h >> 32;
        size -= n;
    }
    return (uint32_t)h;
}

static struct amf_member *first_of(const struct amf_value *object, uint32_t hash)
{
    if (object->type == AMF_STRICT_ARRAY) /* no keys */
        return NULL;
    return object->index ? object->index->bucket[hash % BUCKETS] : object->first;
}

/* Returns the member with this key, or NULL; adds the cost of the search to *cost. */
static struct amf_member *find(const struct amf_value *object, const struct amf_key *key,
                               size_t *cost)
{
    struct amf_member *m = first_of(object, key->hash);

    for (; m; m = object->index ? m->same : m->next) {
        ++*cost;
        if (m->key_hash != key->hash || m->key_size != key->size)
            continue;
        if (m->key == key->text)
            return m;
        *cost += key->size / COMPARED;
        if (memcmp(m->key, key->text, key->size) == 0)
            return m;
    }
    return NULL;
}

static void enter(struct amf_index *index, struct amf_member *m)
{
    struct amf_member **bucket = &index->bucket[m->key_hash % BUCKETS];

    m->same = *bucket;
    *bucket = m;
}

static err_t make_index(struct amf *a, struct amf_value *object)
{
    struct amf_index *index = amf_alloc(a, sizeof(*index));

    if (!index)
        return amf_full(a, "index", sizeof(*index));
    memset(index, 0, sizeof(*index));
    for (struct amf_member *m = object->first; m; m = m->next)
        enter(index, m);
    object->index = index;
    return NULL;
}

static err_t add(struct amf *a, struct amf_value *object, const struct amf_key *key,
                 const struct amf_value *value)
{
    struct amf_member *m = amf_alloc(a, sizeof(*m));

    if (!m)
        return amf_full(a, "member", sizeof(*m));
    *m = (struct amf_member){ .key = key->text, .key_size = key->size, .key_hash = key->hash,
                              .value = *value };
    if (object->last)
        object->last->next = m;
    else
        object->first = m;
    object->last = m;
    object->size++;
    if (object->index)
        enter(object->index, m);
    return NULL;
}

/* Overwrites the value if the key exists and sets *done; otherwise checks the limit and builds the
 * index if the object needs one. */
static err_t set(struct amf *a, struct amf_value *object, const struct amf_key *key,
                 const struct amf_value *value, bool *done)
{
    size_t cost = 0;
    struct amf_member *m = find(object, key, &cost);
    err_t err = amf_spend(a, cost);

    *done = m != NULL;
    if (err)
        return err;
    if (m) {
        m->value = *value;
        return NULL;
    }
    if (object->size >= AMF_KEYS)
        return err_new(ERR_TOO_MANY, "over %d keys in an object", AMF_KEYS);
    return object->size == INDEX_FROM && !object->index ? make_index(a, object) : NULL;
}

err_t amf_set_shared(struct amf *a, struct amf_value *object, const struct amf_key *key,
                     const struct amf_value *value)
{
    bool done;
    err_t err = set(a, object, key, value, &done);

    return err || done ? err : add(a, object, key, value);
}

err_t amf_set(struct amf *a, struct amf_value *object, const char *key, size_t key_size,
              const struct amf_value *value)
{
    struct amf_key k = { key, (uint32_t)key_size, amf_hash(key, key_size) };
    bool done;
    err_t err = set(a, object, &k, value, &done);

    if (err || done)
        return err;
    k.text = amf_copy(a, key, key_size);
    return k.text ? add(a, object, &k, value) : amf_full(a, "key", key_size);
}

err_t amf_append(struct amf *a, struct amf_value *array, const struct amf_value *value)
{
    return add(a, array, &(struct amf_key){ .text = "" }, value);
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
    struct amf_key k = { .text = key, .size = (uint32_t)strlen(key) };
    struct amf_member *m;
    size_t cost = 0;

    if (!amf_has_members(object))
        return NULL;
    k.hash = amf_hash(key, k.size);
    m = find(object, &k, &cost);
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
