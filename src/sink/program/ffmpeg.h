/* SPDX-License-Identifier: MIT */
/* ffmpeg.h - builds the command line of ffmpeg for a configured engine. Pure. */
#ifndef SINK_PROGRAM_FFMPEG_H
#define SINK_PROGRAM_FFMPEG_H

#include "conf/conf.h"
#include "sink/program/job_spec.h"

struct ffmpeg_job {
    const char *program;   /* configured path */
    const char *log_level; /* "": the default */
    bool pace;             /* read the input in real time, for files */
    const char *input;
    const struct conf_engine *engine;
    bool copy;             /* ignore the engine's encoders and copy */
};

/* Adds all arguments. The output is the last one; input and output may contain variables. */
void ffmpeg_line(struct job_spec *w, const struct ffmpeg_job *j);

/* Writes the address at which programs on this machine reach the RTMP port: "127.0.0.1:1935". */
void ffmpeg_here(const struct conf *c, char *buf, size_t size);
/* Returns the URL of a stream there: "rtmp://127.0.0.1:1935/app/stream?param&vhost=v". */
char *ffmpeg_url(const struct conf *c, const char *vhost, const char *app, const char *stream,
                 const char *param);

#endif
