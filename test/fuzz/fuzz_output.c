/* SPDX-License-Identifier: MIT */
/* fuzz_output.c - output of ffmpeg: in pieces (the first byte is their size) and at once it
 * has the same meaning, and the displayed part has no control characters. */
#include "fuzz.h"
#include "sink/program/job_log.h"

#include <assert.h>
#include <string.h>

static void check(const char *text)
{
    assert(strlen(text) < JOB_LOG_LINE);
    for (; *text; text++)
        assert((unsigned char)*text >= ' ' && *text != 0x7f);
}

static struct job_log *say(const char *text, size_t size, size_t piece)
{
    struct job_log *l = job_log_open(NULL, NULL);

    for (size_t at = 0; at < size; at += piece)
        job_log_said(l, text + at, size - at < piece ? size - at : piece);
    job_log_end(l);
    check(job_log_line(l));
    check(job_log_counter(l));
    return l;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_log *whole, *cut;

    if (size < 2)
        return 0;
    whole = say((const char *)data + 1, size - 1, size - 1);
    cut = say((const char *)data + 1, size - 1, (size_t)data[0] + 1);
    assert(strcmp(job_log_line(whole), job_log_line(cut)) == 0);
    job_log_close(whole);
    job_log_close(cut);
    return 0;
}
