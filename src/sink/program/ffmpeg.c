/* SPDX-License-Identifier: MIT */
/* ffmpeg.c - builds the command line of ffmpeg for a configured engine. */
#include "sink/program/ffmpeg.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

static void add_pairs(struct job_spec *w, const struct conf_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++)
        job_spec_add_option(w, pairs->v[i].name, pairs->v[i].value);
}

/* Adds option `name` with a number, unless it is 0. */
static void add_number(struct job_spec *w, const char *name, double value, int decimals)
{
    char text[32];

    if (value <= 0)
        return;
    (void)snprintf(text, sizeof(text), "%.*f", decimals, value);
    job_spec_add_option(w, name, text);
}

static void add_text(struct job_spec *w, const char *name, const char *value)
{
    if (*value)
        job_spec_add_option(w, name, value);
}

static bool has(const struct conf_pairs *pairs, const char *name)
{
    size_t i = 0;

    while (i < pairs->n && !is(pairs->v[i].name, name))
        i++;
    return i < pairs->n;
}

static void add_size(struct job_spec *w, const struct conf_engine *e)
{
    char text[32];

    if (e->vwidth <= 0 || e->vheight <= 0)
        return;
    (void)snprintf(text, sizeof(text), "%dx%d", e->vwidth, e->vheight);
    job_spec_add_option(w, "s", text);
    (void)snprintf(text, sizeof(text), "%d:%d", e->vwidth, e->vheight);
    job_spec_add_option(w, "aspect", text);
}

/* Copies the video if no encoder is configured. */
static void add_video(struct job_spec *w, const struct conf_engine *e, bool copy)
{
    if (!copy && is(e->vcodec, "vn")) {
        job_spec_add_option(w, "vn", "");
        return;
    }
    if (copy || !*e->vcodec || is(e->vcodec, "copy")) {
        job_spec_add_option(w, "vcodec", "copy");
    } else {
        job_spec_add_option(w, "vcodec", e->vcodec);
        if (!is(e->vcodec, "png")) {
            add_number(w, "b:v", e->vbitrate * 1000.0, 0);
            add_number(w, "r", e->vfps, 2);
            add_size(w, e);
            add_number(w, "threads", e->vthreads, 0);
            add_text(w, "profile:v", e->vprofile);
            add_text(w, "preset:v", e->vpreset);
        }
    }
    if (!copy)
        add_pairs(w, &e->vparams);
}

/* FFmpeg 7.1 marks no audio packet from RTSP as a key frame, and then copies none of them. */
static void add_audio_copy(struct job_spec *w, const struct conf_engine *e, const char *input)
{
    job_spec_add_option(w, "acodec", "copy");
    if (!strncasecmp(input, "rtsp", 4) && !has(&e->aparams, "copyinkf:a"))
        job_spec_add_option(w, "copyinkf:a", "");
}

static void add_audio(struct job_spec *w, const struct conf_engine *e, bool copy,
                      const char *input)
{
    if (!copy && is(e->acodec, "an")) {
        job_spec_add_option(w, "an", "");
        return;
    }
    if (copy || !*e->acodec || is(e->acodec, "copy")) {
        add_audio_copy(w, e, input);
    } else {
        job_spec_add_option(w, "acodec", e->acodec);
        add_number(w, "b:a", e->abitrate * 1000.0, 0);
        add_number(w, "ar", e->asample_rate, 0);
        add_number(w, "ac", e->achannels, 0);
    }
    if (!copy)
        add_pairs(w, &e->aparams);
}

void ffmpeg_line(struct job_spec *w, const struct ffmpeg_job *j)
{
    const struct conf_engine *e = j->engine;

    job_spec_add(w, *j->program ? j->program : "ffmpeg");
    if (*j->log_level)
        job_spec_add_free_option(w, "loglevel", j->log_level);
    if (j->pace && !has(&e->perfile, "re") && !has(&e->perfile, "readrate"))
        job_spec_add_option(w, "re", "");
    add_pairs(w, &e->perfile);
    if (!j->copy && *e->iformat && !is(e->iformat, "off"))
        job_spec_add_option(w, "f", e->iformat);
    job_spec_add(w, "-i");
    job_spec_add(w, j->input);
    if (!j->copy)
        add_pairs(w, &e->vfilter);
    add_video(w, e, j->copy);
    add_audio(w, e, j->copy, j->input);
    if (*e->oformat && !is(e->oformat, "off"))
        job_spec_add_option(w, "f", e->oformat);
    job_spec_add(w, "-y");
    job_spec_add_template(w, e->output);
}

/* ---- addresses of this server */

static bool is_any(const char *host)
{
    return !*host || is(host, "0.0.0.0") || is(host, "::");
}

void ffmpeg_here(const struct conf *c, char *buf, size_t size)
{
    const struct conf_endpoint *e = c->rtmp.listen.n ? &c->rtmp.listen.v[0] : NULL;
    const char *host = !e || is_any(e->host) ? "127.0.0.1" : e->host;
    bool v6 = strchr(host, ':') != NULL;

    (void)snprintf(buf, size, "%s%s%s:%d", v6 ? "[" : "", host, v6 ? "]" : "",
                   e ? e->port : 1935);
}

char *ffmpeg_url(const struct conf *c, const char *vhost, const char *app, const char *stream,
                 const char *param)
{
    bool named = !is(vhost, "__defaultVhost__");
    char here[300];

    ffmpeg_here(c, here, sizeof(here));
    return must_print("rtmp://%s/%s/%s%s%s%s", here, app, stream, param,
                      !named ? "" : *param ? "&vhost=" : "?vhost=", named ? vhost : "");
}
