/* SPDX-License-Identifier: MIT */
/* finish.c - turns a fragmented recording into a file with its tables at the front, in steps that
 * let other jobs run in between. Runs on helper threads.
 *
 * The fragmented file stays until the new one is complete. If that fails (a full disk, a damaged
 * file), the fragmented file is the recording; players can play it, too.
 */
#include "base/must.h"
#include "base/rd.h"
#include "sink/dvr/stream.h"
#include "sink/store/disk_room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BOX_MAX = 64 << 20,          /* largest size of moov and moof */
    FRAGMENTS_STEP = 200,
    COPY_STEP = 32 << 20,
    BUFFER = 1 << 20,
};
#define TABLES_MAX ((size_t)1 << 30)

struct dvr_finish {
    enum { SCAN, BUILD, COPY } phase;
    struct mp4_final tables;
    uint64_t at;                 /* position in the fragmented file */
    int out;
    char *name;
    size_t span;                 /* index of the span to copy next */
    uint64_t copied;             /* bytes copied of it */
};

void dvr_finish_free(struct dvr_finish *x)
{
    if (!x)
        return;
    mp4_final_fini(&x->tables);
    if (x->out >= 0)
        (void)close(x->out);
    if (x->name)
        (void)unlink(x->name);
    free(x->name);
    free(x);
}

static bool read_at(int fd, void *buf, size_t size, uint64_t at)
{
    uint8_t *p = buf;

    while (size > 0) {
        ssize_t n = pread(fd, p, size, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

struct box {
    uint64_t size; /* including the header of 8 bytes */
    char type[5];
};

static bool read_box(const struct dvr_file *f, uint64_t at, struct box *b)
{
    uint8_t head[8] = { 0 };
    struct rd r = rd_init(head, sizeof(head));

    if (at + sizeof(head) > f->good || !read_at(f->fd, head, sizeof(head), at))
        return false;
    b->size = rd_u32(&r);
    memcpy(b->type, r.p, 4);
    b->type[4] = '\0';
    return b->size >= 8 && b->size <= f->good - at;
}

static bool take_box(struct dvr_file *f, struct dvr_finish *x, const struct box *b, bool moof,
                     const struct box *mdat)
{
    uint8_t *bytes = b->size <= BOX_MAX ? malloc((size_t)b->size) : NULL;
    bool fine = bytes && read_at(f->fd, bytes, (size_t)b->size, x->at);

    if (fine && moof)
        fine = mp4_final_fragment(&x->tables, bytes, (size_t)b->size, x->at + b->size + 8,
                                  mdat->size - 8);
    else if (fine)
        fine = mp4_final_head(&x->tables, bytes + 8, (size_t)b->size - 8);
    free(bytes);
    return fine;
}

/* Scans one box, or a moof with its mdat. Returns false at the end, or if the rest is unreadable.
 * */
static bool scan_one(struct dvr_file *f, struct dvr_finish *x)
{
    struct box b, mdat = { 0 };

    if (!read_box(f, x->at, &b))
        return false;
    if (strcmp(b.type, "moof") == 0) {
        if (!read_box(f, x->at + b.size, &mdat) || strcmp(mdat.type, "mdat") != 0 ||
            !take_box(f, x, &b, true, &mdat))
            return false;
    } else if (strcmp(b.type, "moov") == 0 && !take_box(f, x, &b, false, NULL)) {
        return false;
    }
    x->at += b.size + mdat.size;
    return true;
}

static enum dvr_step scan(struct dvr_file *f, struct dvr_finish *x, struct disk_job *job)
{
    for (int i = 0; i < FRAGMENTS_STEP; i++) {
        if (scan_one(f, x))
            continue;
        x->phase = BUILD;
        if (x->tables.n_spans == 0) {
            job->what = "no fragment can be read";
            return DVR_FAILED;
        }
        break;
    }
    return DVR_MORE;
}

static enum dvr_step build(struct dvr_file *f, struct dvr_finish *x, struct disk_job *job)
{
    bool fine;
    struct wr w;

    if (!disk_has_free(f->fd, f->good, f->floor)) { /* both files exist for a while */
        job->what = "the disk has too little free space";
        return DVR_FAILED;
    }
    x->name = must_print("%s.seekable", f->tmp);
    x->out = disk_open(job, x->name, O_WRONLY | O_CREAT | O_TRUNC);
    if (x->out < 0)
        return DVR_FAILED;
    wr_init(&w, TABLES_MAX);
    fine = mp4_final_build(&x->tables, &w);
    if (!fine)
        job->what = "its tables are too large";
    else
        fine = disk_write(job, x->out, w.buf, w.len);
    wr_free(&w);
    x->phase = COPY;
    return fine ? DVR_MORE : DVR_FAILED;
}

/* Copies through memory if the kernel cannot copy between the files. */
static ssize_t copy_some(int from, uint64_t at, int to, size_t size)
{
    off_t off = (off_t)at;
    ssize_t n = copy_file_range(from, &off, to, NULL, size, 0);
    void *buf;

    if (n > 0 || (n < 0 && errno != EXDEV && errno != EINVAL && errno != ENOSYS &&
                  errno != EOPNOTSUPP && errno != EBADF))
        return n;
    size = size < BUFFER ? size : BUFFER;
    buf = malloc(size);
    if (!buf)
        return -1;
    n = pread(from, buf, size, (off_t)at);
    if (n > 0)
        n = write(to, buf, (size_t)n);
    free(buf);
    return n;
}

static enum dvr_step copy(struct dvr_file *f, struct dvr_finish *x, struct disk_job *job)
{
    size_t left = COPY_STEP;

    while (left > 0 && x->span < x->tables.n_spans) {
        const struct mp4_span *s = &x->tables.spans[x->span];
        uint64_t rest = s->size - x->copied;
        ssize_t n = 0;

        if (rest > 0) {
            n = copy_some(f->fd, s->from + x->copied, x->out, rest < left ? (size_t)rest : left);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0) {
                job->error = n < 0 ? errno : EIO;
                job->what = "copy";
                return DVR_FAILED;
            }
        }
        left -= (size_t)n;
        x->copied += (uint64_t)n;
        if (x->copied == s->size) {
            x->span++;
            x->copied = 0;
        }
    }
    return x->span < x->tables.n_spans ? DVR_MORE : DVR_DONE;
}

/* Replaces the old file by the new one. */
static void replace(struct dvr_file *f, struct dvr_finish *x)
{
    (void)close(f->fd);
    (void)unlink(f->tmp);
    free(f->tmp);
    f->fd = x->out;
    f->tmp = x->name;
    f->good = (uint64_t)lseek(f->fd, 0, SEEK_END);
    x->out = -1;
    x->name = NULL;
}

enum dvr_step dvr_finish_step(struct dvr_file *f, struct disk_job *job)
{
    struct dvr_finish *x = f->finish;
    enum dvr_step step;

    if (!x) {
        x = f->finish = must(calloc(1, sizeof(*x)));
        x->out = -1;
        mp4_final_init(&x->tables);
    }
    step = x->phase == SCAN ? scan(f, x, job) : x->phase == BUILD ? build(f, x, job)
                                                                  : copy(f, x, job);
    if (step == DVR_MORE)
        return step;
    if (step == DVR_DONE)
        replace(f, x);
    dvr_finish_free(x);
    f->finish = NULL;
    job->error = 0; /* the recording exists in either case */
    return step;
}
