/* SPDX-License-Identifier: MIT */
/* nalu.c - NAL units of H.264 and H.265: Annex B and length-prefixed. */
#include "av/nalu.h"

#include "base/rd.h"

/* Returns the size of the start code at p, or 0. [H.264] B.1.1: any number of zero bytes may come
 * before it. */
static size_t start_code(const uint8_t *p, const uint8_t *end)
{
    size_t zeros = 0;

    while (p + zeros < end && p[zeros] == 0)
        zeros++;
    return zeros >= 2 && p + zeros < end && p[zeros] == 1 ? zeros + 1 : 0;
}

static bool lengths_add_up(const uint8_t *frame, size_t size, unsigned length)
{
    struct rd r = rd_init(frame, size);
    unsigned units = 0;

    if (size == 0 || (length != 1 && length != 2 && length != 4))
        return false;
    while (!r.bad && rd_left(&r) > 0 && units++ < NALU_UNITS_MAX)
        (void)rd_take(&r, (size_t)rd_be(&r, length));
    return !r.bad && rd_left(&r) == 0;
}

enum nalu_format nalu_detect(const uint8_t *frame, size_t size, unsigned length)
{
    size_t code = start_code(frame, frame + size);

    if (code > 3)
        return NALU_ANNEXB;
    if (lengths_add_up(frame, size, length))
        return NALU_LENGTH; /* a length of 256 to 511 bytes also starts with 00 00 01 */
    return code ? NALU_ANNEXB : NALU_UNKNOWN;
}

err_t nalu_begin(struct nalu_reader *r, enum nalu_format format, unsigned length,
                 const uint8_t *frame, size_t size)
{
    *r = (struct nalu_reader){ frame, frame + size, format, length, 0 };
    if (format == NALU_ANNEXB && size > 0 && start_code(r->p, r->end) == 0)
        return err_new(ERR_CODEC, "no start code at the begin of a frame of %zu bytes", size);
    if (format == NALU_LENGTH && length != 1 && length != 2 && length != 4)
        return err_new(ERR_CODEC, "a NAL unit length of %u bytes", length);
    if (format == NALU_UNKNOWN)
        return err_new(ERR_CODEC, "NAL units neither in Annex B nor with lengths");
    return NULL;
}

/* A single pass over any bytes: a run of zeros is never scanned twice. */
static void next_annexb(struct nalu_reader *r, struct nalu *n)
{
    const uint8_t *p = r->p + start_code(r->p, r->end);
    const uint8_t *stop = r->end;
    const uint8_t *zeros = NULL; /* start of the run of zeros that ends at p */

    n->data = p;
    for (; p < r->end; p++) {
        if (*p == 0) {
            zeros = zeros ? zeros : p;
            continue;
        }
        if (*p == 1 && zeros && p - zeros >= 2) {
            stop = zeros;
            break;
        }
        zeros = NULL;
    }
    n->size = (size_t)(stop - n->data);
    r->p = stop;
}

err_t nalu_next(struct nalu_reader *r, struct nalu *n)
{
    struct rd rd = rd_init(r->p, (size_t)(r->end - r->p));
    size_t size;

    *n = (struct nalu){ NULL, 0 };
    if (r->p == r->end)
        return NULL;
    if (r->units++ == NALU_UNITS_MAX)
        return err_new(ERR_CODEC, "a frame of more than %d NAL units", NALU_UNITS_MAX);
    if (r->format == NALU_ANNEXB) {
        next_annexb(r, n);
        return NULL;
    }
    size = (size_t)rd_be(&rd, r->length);
    n->data = rd_take(&rd, size);
    if (!n->data)
        return err_new(ERR_CODEC, "a NAL unit of %zu bytes where %zu are left", size,
                       (size_t)(r->end - r->p));
    n->size = size;
    r->p = rd.p;
    return NULL;
}
