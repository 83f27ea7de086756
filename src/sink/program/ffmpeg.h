/* SPDX-License-Identifier: MIT */
/* ffmpeg.h - the command line of ffmpeg for an engine of the configuration. Pure. */
#ifndef SINK_PROGRAM_FFMPEG_H
#define SINK_PROGRAM_FFMPEG_H

#include "conf/conf.h"
#include "sink/program/job_spec.h"

struct ffmpeg_job {
    const char *program;   /* as the configuration has it */
    const char *log_level; /* "": not said */
    bool pace;             /* read the input as fast as it plays: files */
    const char *input;
    const struct conf_engine *engine;
    bool copy;             /* whatever the engine's encoders are: none */
};

/* Add all arguments. The output is the last one; it and the input may have variables. */
void ffmpeg_line(struct job_spec *w, const struct ffmpeg_job *j);

/* The address at which programs on this machine reach our RTMP: "127.0.0.1:1935". */
void ffmpeg_here(const struct conf *c, char *buf, size_t size);
/* ... and how they name a stream: "rtmp://127.0.0.1:1935/app/stream?param&vhost=v". */
char *ffmpeg_url(const struct conf *c, const char *vhost, const char *app, const char *stream,
                 const char *param);

#endif
