/* SPDX-License-Identifier: MIT */
/* amf0.h - AMF0 values [AMF0]: parses bytes into a small tree, and writes a tree or single values
 * as bytes.
 *
 * A tree lives in a struct amf, which owns the memory of all its values and frees it at once. The
 * work and memory that a peer can cause are limited: AMF_DEPTH levels, AMF_KEYS keys per object, a
 * limit in bytes, and AMF_BUDGET units of work. Each value costs a unit, and so does each step of a
 * search for a key, including repeated keys and keys sent by reference. Keys keep their order; a
 * repeated key overwrites the earlier value.
 * AMF3 values inside AMF0 (marker 0x11) are read into the same tree.
 */
#ifndef PROTO_RTMP_AMF0_H
#define PROTO_RTMP_AMF0_H

#include "base/err.h"
#include "base/rd.h"
#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum { AMF_DEPTH = 16, AMF_KEYS = 512, AMF_MEMORY = 1 << 20, AMF_BUDGET = 16384 };

enum amf_type {
    AMF_NUMBER, AMF_BOOLEAN, AMF_STRING, AMF_OBJECT, AMF_NULL, AMF_UNDEFINED, AMF_REFERENCE,
    AMF_ECMA_ARRAY, AMF_STRICT_ARRAY, AMF_DATE, AMF_UNSUPPORTED, AMF_XML, AMF_TYPED_OBJECT,
};

struct amf_member;
struct amf_index;

struct amf_value {
    uint8_t type;  /* enum amf_type */
    int16_t zone;  /* time zone of a date, as sent */
    uint32_t size; /* bytes of a string or XML; number of members of an object or array */
    union {
        double number;            /* number, boolean (0 or 1), date (ms), reference (index) */
        const char *string;       /* string, xml: zero-terminated, may have zeros inside */
        struct amf_member *first; /* object, arrays */
    };
    struct amf_member *last;
    struct amf_index *index; /* key index of a large object, or NULL */
    const char *class_name;  /* class of a typed object, or NULL */
};

struct amf_member {
    struct amf_member *next, *same; /* next in the object; next in the same bucket of the index */
    const char *key;                /* zero-terminated; "" in a strict array */
    uint32_t key_size, key_hash;
    struct amf_value value;
};

struct amf {
    struct amf_block *blocks;
    size_t used, limit; /* bytes */
    size_t spent;       /* units of AMF_BUDGET that are used */
    bool no_memory;     /* malloc failed, even below the limit */
};

void amf_init(struct amf *a, size_t limit); /* limit 0: AMF_MEMORY */
void amf_free(struct amf *a);               /* frees all values; `a` can be used again */

/* Allocates memory for the tree. Returns NULL when the limit is reached or malloc fails; amf_full()
 * then returns the matching error, where `what` names the part that did not fit. */
void *amf_alloc(struct amf *a, size_t size);
err_t amf_full(const struct amf *a, const char *what, size_t size)
    __attribute__((warn_unused_result));
/* Returns a zero-terminated copy, or NULL. */
char *amf_copy(struct amf *a, const void *bytes, size_t size);
/* Uses `cost` units of the budget. Returns ERR_TOO_MANY when the budget is exceeded. */
err_t amf_spend(struct amf *a, size_t cost) __attribute__((warn_unused_result));

/* A key in the tree's memory, with its hash. Objects may share it. */
struct amf_key {
    const char *text; /* zero-terminated */
    uint32_t size, hash;
};
uint32_t amf_hash(const char *bytes, size_t size);

/* Reads one value. Errors: ERR_TRUNCATED when bytes are missing, ERR_AMF0 for invalid AMF0,
 * ERR_TOO_LARGE and ERR_TOO_MANY over the limits, ERR_NO_MEMORY. */
err_t amf0_read(struct amf *a, struct rd *r, struct amf_value *out)
    __attribute__((warn_unused_result));
/* Reads one AMF3 value [AMF3] that has no marker before it. References to objects become undefined;
 * externalizable objects, vectors and dictionaries are ERR_UNSUPPORTED. */
err_t amf3_read(struct amf *a, struct rd *r, int depth, struct amf_value *out)
    __attribute__((warn_unused_result));

/* Appends a member, or overwrites the value of an existing key. Copies the key, but not the memory
 * that the value points to. ERR_TOO_MANY, ERR_TOO_LARGE, ERR_NO_MEMORY. */
err_t amf_set(struct amf *a, struct amf_value *object, const char *key, size_t key_size,
              const struct amf_value *value) __attribute__((warn_unused_result));
/* Same, but does not copy the key. */
err_t amf_set_shared(struct amf *a, struct amf_value *object, const struct amf_key *key,
                     const struct amf_value *value) __attribute__((warn_unused_result));
err_t amf_append(struct amf *a, struct amf_value *array, const struct amf_value *value)
    __attribute__((warn_unused_result));

/* Constructors of values. amf_text() borrows the string. */
struct amf_value amf_number(double number);
struct amf_value amf_boolean(bool boolean);
struct amf_value amf_text(const char *string);
struct amf_value amf_object(void);

static inline bool amf_is(const struct amf_value *v, enum amf_type type)
{
    return v && v->type == type;
}
bool amf_has_members(const struct amf_value *v); /* true for objects and arrays; v may be NULL */
/* Returns the value of this key, or NULL. `object` may be NULL or of any type. */
const struct amf_value *amf_get(const struct amf_value *object, const char *key);
/* Return the member's value, or `otherwise` if it is missing or has another type. */
const char *amf_get_string(const struct amf_value *object, const char *key, const char *otherwise);
double amf_get_number(const struct amf_value *object, const char *key, double otherwise);

/* Writes a tree as bytes. */
void amf0_write(struct wr *w, const struct amf_value *v);

/* Write single values as bytes. */
void amf0_number(struct wr *w, double number);
void amf0_boolean(struct wr *w, bool boolean);
void amf0_string(struct wr *w, const char *string);
void amf0_null(struct wr *w);
void amf0_undefined(struct wr *w);
void amf0_object_begin(struct wr *w);
void amf0_ecma_begin(struct wr *w, uint32_t count);
void amf0_strict_begin(struct wr *w, uint32_t count); /* followed by `count` values, without an
                                                       * end */
void amf0_key(struct wr *w, const char *key);         /* followed by a value */
void amf0_end(struct wr *w);                          /* ends an object or ECMA array */
void amf0_set_number(struct wr *w, const char *key, double number);
void amf0_set_boolean(struct wr *w, const char *key, bool boolean);
void amf0_set_string(struct wr *w, const char *key, const char *string);

#endif
