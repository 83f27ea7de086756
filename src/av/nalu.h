/* SPDX-License-Identifier: MIT */
/* nalu.h - NAL units of H.264 and H.265 in the two ways they are packed.
 *
 * Annex B: each after a start code 00 00 01 or 00 00 00 01. Length-prefixed ("avcC"): each after
 * its size in 1, 2 or 4 bytes. Nothing is copied: a unit points into the frame.
 */
#ifndef AV_NALU_H
#define AV_NALU_H

#include "base/err.h"
#include "base/wr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame with more units is refused: a unit of a few bytes costs as much as one of many. */
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

/* What a frame is packed as: Annex B if it begins with a start code of 4 bytes, else
 * length-prefixed if the lengths (of `length` bytes: 1, 2, 4) of at most NALU_UNITS_MAX units add
 * up to exactly `size`, else Annex B with a start code of 3, else unknown. */
enum nalu_format nalu_detect(const uint8_t *frame, size_t size, unsigned length);

/* Walk over the units of a frame. ERR_CODEC when it is not packed so. */
err_t nalu_begin(struct nalu_reader *r, enum nalu_format format, unsigned length,
                 const uint8_t *frame, size_t size) __attribute__((warn_unused_result));
/* The next unit, or n->data NULL at the end. ERR_CODEC when a size is more than is left, and for a
 * unit beyond NALU_UNITS_MAX. */
err_t nalu_next(struct nalu_reader *r, struct nalu *n) __attribute__((warn_unused_result));

/* Where codecs that are made of NAL units differ, for code that handles units of any of them. */
typedef void (*nalu_each)(void *arg, const uint8_t *unit, size_t size);

struct nalu_codec {
    uint8_t aud[3], aud_size; /* an access unit delimiter that allows slices of all types */
    uint8_t sei[2], sei_size; /* the header of an SEI that goes before the picture */
    uint8_t (*type)(const uint8_t *unit); /* of one that is not empty */
    uint8_t type_aud, type_sps;
    /* The parameter sets of a decoder configuration, and the bytes of the length of units. */
    err_t (*sets)(const uint8_t *config, size_t size, unsigned *nalu_length, nalu_each each,
                  void *arg);
    /* The other way: a configuration of these, lengths of 4 bytes. False: one is missing, or says
     * nothing that can be read. */
    bool (*record)(struct wr *w, const struct nalu *sets, unsigned n);
};

#endif
