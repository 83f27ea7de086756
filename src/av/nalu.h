/* SPDX-License-Identifier: MIT */
/* nalu.h - NAL units of H.264 and H.265 in both packings.
 *
 * Annex B: each unit follows a start code 00 00 01 or 00 00 00 01. Length-prefixed ("avcC"): each
 * unit follows its size in 1, 2 or 4 bytes. Nothing is copied: a unit points into the frame.
 */
#ifndef AV_NALU_H
#define AV_NALU_H

#include "base/err.h"
#include "base/wr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames with more units are rejected, because even a tiny unit costs as much as a large one. */
enum { NALU_UNITS_MAX = 1024 };

enum nalu_format { NALU_UNKNOWN, NALU_ANNEXB, NALU_LENGTH };

struct nalu {
    const uint8_t *data;
    size_t size; /* may be 0: skip it */
};

struct nalu_reader {
    const uint8_t *p, *end;
    enum nalu_format format;
    unsigned length; /* bytes of the size, NALU_LENGTH only */
    unsigned units;  /* so far */
};

/* Detects the packing of a frame: Annex B if it starts with a start code of 4 bytes; else
 * length-prefixed if the lengths (of `length` bytes: 1, 2, 4) of at most NALU_UNITS_MAX units add
 * up to exactly `size`; else Annex B with a start code of 3 bytes; else unknown. */
enum nalu_format nalu_detect(const uint8_t *frame, size_t size, unsigned length);

/* Starts an iteration over the units of a frame. ERR_CODEC: the frame does not have that packing.
 * */
err_t nalu_begin(struct nalu_reader *r, enum nalu_format format, unsigned length,
                 const uint8_t *frame, size_t size) __attribute__((warn_unused_result));
/* Gives the next unit; n->data is NULL at the end. ERR_CODEC: a size goes beyond the frame, or the
 * frame has more than NALU_UNITS_MAX units. */
err_t nalu_next(struct nalu_reader *r, struct nalu *n) __attribute__((warn_unused_result));

/* The differences between codecs with NAL units, for code that handles all of them. */
typedef void (*nalu_each)(void *arg, const uint8_t *unit, size_t size);

struct nalu_codec {
    uint8_t aud[3], aud_size; /* an access unit delimiter that allows slices of all types */
    uint8_t sei[2], sei_size; /* the header of an SEI before the slices */
    uint8_t (*type)(const uint8_t *unit); /* the unit must not be empty */
    uint8_t type_aud, type_sps;
    /* Calls `each` for the parameter sets of a decoder configuration, and gives the size of the
     * units' lengths in bytes. */
    err_t (*sets)(const uint8_t *config, size_t size, unsigned *nalu_length, nalu_each each,
                  void *arg);
    /* Builds a configuration from parameter sets, with lengths of 4 bytes. False: a set is missing
     * or malformed. */
    bool (*record)(struct wr *w, const struct nalu *sets, unsigned n);
};

#endif
