/* SPDX-License-Identifier: MIT */
/* amf0.h - AMF0 values [AMF0]: from bytes to a small tree, from a tree or from calls to bytes.
 *
 * A tree lives in a struct amf, the memory that all its values share and that is freed at once.
 * What a peer can make of it is bounded: AMF_DEPTH levels, AMF_KEYS keys in one object, a limit in
 * bytes for the whole, and a budget of work: values cost, and so does the search for their keys,
 * also when they come by reference or again. Keys keep their order; a key that comes again
 * overwrites its value.
 * Values that AMF0 switches to AMF3 for (marker 0x11) are read into the same tree.
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
    int16_t zone;  /* of a date, as sent */
    uint32_t size; /* bytes of a string or xml; members of an object or array */
    union {
        double number;            /* number, boolean (0 or 1), date (ms), reference (index) */
        const char *string;       /* string, xml: zero-terminated, may have zeros inside */
        struct amf_member *first; /* object, arrays */
    };
    struct amf_member *last;
    struct amf_index *index; /* of the keys of a large object, or NULL */
    const char *class_name;  /* of a typed object, or NULL */
};

struct amf_member {
    struct amf_member *next, *same; /* of the object, of its bucket in the index */
    const char *key;                /* zero-terminated; "" in a strict array */
    uint32_t key_size, key_hash;
    struct amf_value value;
};

struct amf {
    struct amf_block *blocks;
    size_t used, limit; /* bytes */
    size_t spent;       /* of AMF_BUDGET */
    bool no_memory;     /* the system had no more, however little was used */
};

void amf_init(struct amf *a, size_t limit); /* limit 0: AMF_MEMORY */
void amf_free(struct amf *a);               /* every value of it is gone; a can be used again */

/* Memory for trees. NULL when the limit is reached, or the system has no more: amf_full() is the
 * error that says which, `what` being the part there is no room for. */
void *amf_alloc(struct amf *a, size_t size);
err_t amf_full(const struct amf *a, const char *what, size_t size)
    __attribute__((warn_unused_result));
/* A zero-terminated copy, or NULL. */
char *amf_copy(struct amf *a, const void *bytes, size_t size);
/* So much of the budget is used. ERR_TOO_MANY when that was more than there is. */
err_t amf_spend(struct amf *a, size_t cost) __attribute__((warn_unused_result));

/* A key that lives in memory of the tree, with its hash: objects may share it. */
struct amf_key {
    const char *text; /* zero-terminated */
    uint32_t size, hash;
};
uint32_t amf_hash(const char *bytes, size_t size);

/* One value. ERR_TRUNCATED when bytes are missing, ERR_AMF0 for what is no AMF0,
 * ERR_TOO_LARGE and ERR_TOO_MANY over the limits, ERR_NO_MEMORY. */
err_t amf0_read(struct amf *a, struct rd *r, struct amf_value *out)
    __attribute__((warn_unused_result));
/* One AMF3 value [AMF3] without a marker before it. References to objects become undefined;
 * externalizable objects, vectors and dictionaries are ERR_UNSUPPORTED. */
err_t amf3_read(struct amf *a, struct rd *r, int depth, struct amf_value *out)
    __attribute__((warn_unused_result));

/* Put a member at the end, or overwrite the one of that key. The key is copied, what the value
 * points to is not. ERR_TOO_MANY, ERR_TOO_LARGE, ERR_NO_MEMORY. */
err_t amf_set(struct amf *a, struct amf_value *object, const char *key, size_t key_size,
              const struct amf_value *value) __attribute__((warn_unused_result));
/* The same for a key that is not copied. */
err_t amf_set_shared(struct amf *a, struct amf_value *object, const struct amf_key *key,
                     const struct amf_value *value) __attribute__((warn_unused_result));
err_t amf_append(struct amf *a, struct amf_value *array, const struct amf_value *value)
    __attribute__((warn_unused_result));

/* Values to set. amf_text borrows the string. */
struct amf_value amf_number(double number);
struct amf_value amf_boolean(bool boolean);
struct amf_value amf_text(const char *string);
struct amf_value amf_object(void);

static inline bool amf_is(const struct amf_value *v, enum amf_type type)
{
    return v && v->type == type;
}
bool amf_has_members(const struct amf_value *v); /* an object or array; v may be NULL */
/* The value of this key, or NULL; object may be NULL or of any type. */
const struct amf_value *amf_get(const struct amf_value *object, const char *key);
/* What the value says, or `otherwise` when it is NULL or of another type. */
const char *amf_get_string(const struct amf_value *object, const char *key, const char *otherwise);
double amf_get_number(const struct amf_value *object, const char *key, double otherwise);

/* Bytes from a tree. */
void amf0_write(struct wr *w, const struct amf_value *v);

/* Bytes from calls. */
void amf0_number(struct wr *w, double number);
void amf0_boolean(struct wr *w, bool boolean);
void amf0_string(struct wr *w, const char *string);
void amf0_null(struct wr *w);
void amf0_undefined(struct wr *w);
void amf0_object_begin(struct wr *w);
void amf0_ecma_begin(struct wr *w, uint32_t count);
void amf0_strict_begin(struct wr *w, uint32_t count); /* then count values, no end */
void amf0_key(struct wr *w, const char *key);         /* then a value */
void amf0_end(struct wr *w);                          /* of an object or ecma array */
void amf0_set_number(struct wr *w, const char *key, double number);
void amf0_set_boolean(struct wr *w, const char *key, bool boolean);
void amf0_set_string(struct wr *w, const char *key, const char *string);

#endif
