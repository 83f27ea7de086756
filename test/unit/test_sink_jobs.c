/* SPDX-License-Identifier: MIT */
/* test_sink_jobs.c - the programs of a configuration, and their command lines. */
#include "conf_mem.h"
#include "pull/ingest/source.h"
#include "pull/ingest/source.h"
#include "sink/program/exec.h"
#include "sink/program/ffmpeg.h"
#include "sink/program/transcode.h"

#define NO_TIME ((int64_t)-1)

static struct conf *load(const char *text)
{
    struct mem m = { .main = text };
    struct conf_source src = { .path = "main", .read = mem_read, .getenv = mem_getenv, .arg = &m };
    struct conf *c = NULL;

    assert_ok(conf_load(&c, &src, NULL));
    return c;
}

static char *line_of(const struct job_spec *w, int64_t msec)
{
    static char text[8192];
    char **argv = NULL;

    assert_ok(job_spec_argv(w, msec, true, &argv));
    text[0] = '\0';
    for (char **a = argv; *a; a++) {
        (void)strncat(text, a == argv ? "" : " ", sizeof(text) - strlen(text) - 1);
        (void)strncat(text, **a ? *a : "''", sizeof(text) - strlen(text) - 1);
    }
    job_spec_argv_free(argv);
    return text;
}

/* ---- ingest */

static const struct {
    const char *name, *block, *line; /* line NULL: nothing runs */
} ingests[] = {
    { "a file, copied",
      "ingest i { enabled on; input { type file; url ./doc/source.avi; } ffmpeg /usr/bin/ffmpeg;"
      " engine { enabled off; output rtmp://127.0.0.1:[port]/live?vhost=[vhost]/s; } }",
      "/usr/bin/ffmpeg -loglevel info -re -i ./doc/source.avi -vcodec copy -acodec copy -f flv -y "
      "rtmp://127.0.0.1:1936/live?vhost=__defaultVhost__/s" },
    { "off", "ingest i { enabled off; input { url x; } engine { output rtmp://h/a/s; } }", NULL },
    { "no input", "ingest i { enabled on; engine { output rtmp://h/a/s; } }", NULL },
    { "no engine", "ingest i { enabled on; input { url x; } }", NULL },
    { "no output", "ingest i { enabled on; input { url x; } engine { enabled on; } }", NULL },
    { "a stream is read as it comes",
      "ingest i { enabled on; input { type stream; url rtsp://cam; }"
      " engine { output rtmp://h/a/s; } }",
      "ffmpeg -loglevel info -i rtsp://cam -vcodec copy -acodec copy -copyinkf:a -f flv -y "
      "rtmp://h/a/s" },
    { "options of the input, and its pace is said",
      "ingest i { enabled on; input { url x; } engine { perfile { re; stream_loop -1; }"
      " output rtmp://h/a/s; } }",
      "ffmpeg -loglevel info -re -stream_loop -1 -i x -vcodec copy -acodec copy -f flv -y "
      "rtmp://h/a/s" },
    { "encoders, one of which is not named: a copy",
      "ingest i { enabled on; input { url x; } engine { enabled on; vcodec libx264;"
      " output rtmp://h/a/s; } }",
      "ffmpeg -loglevel info -re -i x -vcodec copy -acodec copy -f flv -y rtmp://h/a/s" },
    { "encoders",
      "ingest i { enabled on; input { url x; } engine { enabled on; vcodec libx264; acodec an;"
      " iformat off; vbitrate 500; vfps 25; output rtmp://h/a/s; } }",
      "ffmpeg -loglevel info -re -i x -vcodec libx264 -b:v 500000 -r 25.00 -threads 1 -an -f flv "
      "-y rtmp://h/a/s" },
};

static void ingest_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ingests); i++) {
        struct job_specs all = { 0 };
        struct conf *c;
        char text[2048];

        (void)snprintf(text, sizeof(text), "listen 1936; vhost __defaultVhost__ { %s }",
                       ingests[i].block);
        c = load(text);
        ingest_programs(c, &all);
        if (all.n != (ingests[i].line != NULL))
            fail_msg("%s: %zu programs", ingests[i].name, all.n);
        if (all.n)
            assert_string_equal(line_of(all.v[0], NO_TIME), ingests[i].line);
        job_specs_free(&all);
        conf_unref(c);
    }
}

/* The value of %s is the file, the options, the output. */
static const struct {
    const char *name, *input, *engine, *output, *to; /* to NULL: ffmpeg does it */
} files[] = {
    { "a file of FLV", "url a.flv;", "", "rtmp://127.0.0.1:[port]/live/s",
      "__defaultVhost__/live/s" },
    { "of MP4, to a vhost", "url /b/a.MP4;", "", "rtmp://localhost:1936/live?vhost=[vhost]/s",
      "__defaultVhost__/live/s" },
    { "again and again, as fast as it plays", "url a.mov;", "perfile { re; stream_loop -1; }",
      "rtmp://[::1]:1936/live/s?token=x", "__defaultVhost__/live/s" },
    { "to another vhost", "url a.flv;", "", "rtmp://127.0.0.1:1936/live/s?vhost=b.c", "b.c/live/s" },
    { "other options", "url a.flv;", "perfile { ss 5; }", "rtmp://127.0.0.1:1936/live/s", NULL },
    { "another port", "url a.flv;", "", "rtmp://127.0.0.1:1935/live/s", NULL },
    { "another server", "url a.flv;", "", "rtmp://a.b:1936/live/s", NULL },
    { "another protocol", "url a.flv;", "", "srt://127.0.0.1:1936/live/s", NULL },
    { "encoders", "url a.flv;", "enabled on;", "rtmp://127.0.0.1:1936/live/s", NULL },
    { "a stream", "type stream; url a.flv;", "", "rtmp://127.0.0.1:1936/live/s", NULL },
    { "over the network", "url http://a/a.flv;", "", "rtmp://127.0.0.1:1936/live/s", NULL },
    { "another kind of file", "url a.mkv;", "", "rtmp://127.0.0.1:1936/live/s", NULL },
    { "one name alone", "url a.flv;", "", "rtmp://127.0.0.1:1936/s",
      "__defaultVhost__/__defaultApp__/s" },
    { "a name with the time", "url a.flv;", "", "rtmp://127.0.0.1:1936/live/s-[2006]", NULL },
};

static void ingest_of_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct job_specs all = { 0 };
        struct ingest_source file;
        const struct conf_vhost *v;
        struct conf *c;
        char text[1024];
        bool ours;

        (void)snprintf(text, sizeof(text),
                       "listen 1936; vhost __defaultVhost__ { ingest i { enabled on; input { %s }"
                       " engine { %s output %s; } } } vhost b.c { }",
                       files[i].input, files[i].engine, files[i].output);
        c = load(text);
        v = conf_vhost_find(c, "__defaultVhost__");
        ours = ingest_source_of(&file, c, v, &v->ingest.v[0], 0);
        if (ours != (files[i].to != NULL))
            fail_msg("%s: %s", files[i].name, ours ? file.to->path : "ffmpeg");
        if (ours)
            assert_string_equal(file.to->path, files[i].to);
        ingest_programs(c, &all);
        assert_int_equal(all.n, !ours);
        job_specs_free(&all);
        ingest_source_free(&file);
        conf_unref(c);
    }
}

static void ingest_of_vhosts_and_engines(void **state)
{
    struct conf *c = load("listen 127.0.0.2:1936; vhost a.b { ingest i { enabled on; input { url x; }"
                          " engine one { output rtmp://[port]/[engine]-[2006]; }"
                          " engine { output o; } } }"
                          "vhost off { enabled off; ingest i { enabled on; input { url x; }"
                          " engine { output o; } } }");
    struct job_specs all = { 0 };

    (void)state;
    ingest_programs(c, &all);
    assert_int_equal(all.n, 2);
    assert_string_equal(all.v[0]->name, "i-one");
    assert_string_equal(all.v[0]->vhost, "a.b");
    assert_string_equal(all.v[0]->log, "./objs/ffmpeg-ingest-a.b-i-one.log");
    assert_non_null(strstr(line_of(all.v[0], 0), "rtmp://1936/one-1970"));
    assert_non_null(strstr(line_of(all.v[0], NO_TIME), "rtmp://1936/one-[2006]"));
    assert_string_equal(all.v[1]->name, "i-2");
    job_specs_free(&all);
    conf_unref(c);
}

/* ---- transcode */

static const struct session_stream live_s = {
    .vhost = "__defaultVhost__", .app = "live", .name = "s", .param = "?t=1",
    .tc_url = "rtmp://host/live", .page_url = "http://page", .ip = "1.2.3.4",
    .swf_url = "http://p.swf",
};

static const struct {
    const char *name, *rules;
    size_t count;
    const char *line; /* command line of the first */
} transcodes[] = {
    { "every option in its place",
      "transcode { enabled on; ffmpeg ff; engine hd { enabled on; perfile { a 1; } iformat flv;"
      " vfilter { vf x=1; } vcodec libx264; vbitrate 1500; vfps 25; vwidth 768; vheight 320;"
      " vthreads 12; vprofile main; vpreset medium; vparams { t 100; } acodec aac; abitrate 70;"
      " asample_rate 44100; achannels 2; aparams { profile:a aac_low; }"
      " output rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]_[engine][param]; } }", 1,
      "ff -loglevel info -a 1 -f flv -i rtmp://127.0.0.1:1936/live/s?t=1 -vf x=1 -vcodec libx264 "
      "-b:v 1500000 -r 25.00 -s 768x320 -aspect 768:320 -threads 12 -profile:v main -preset:v "
      "medium -t 100 -acodec aac -b:a 70000 -ar 44100 -ac 2 -profile:a aac_low -f flv -y "
      "rtmp://127.0.0.1:1936/live?vhost=__defaultVhost__/s_hd?t=1" },
    { "a video encoder",
      "transcode live/s { enabled on; engine e { enabled on; vcodec png; acodec an; oformat image2;"
      " vparams { vframes 6; } output ./[app]/[stream].png; } }", 1,
      "ffmpeg -loglevel info -f flv -i rtmp://127.0.0.1:1936/live/s?t=1 -vcodec png -vframes 6 -an "
      "-f image2 -y ./live/s.png" },
    { "only audio, copied, no format given",
      "transcode live { enabled on; engine e { enabled on; iformat off; oformat off; vcodec vn;"
      " acodec copy; output x.aac; } }", 1,
      "ffmpeg -loglevel info -i rtmp://127.0.0.1:1936/live/s?t=1 -vn -acodec copy -y x.aac" },
    { "of others", "transcode other { enabled on; engine e { enabled on; output x; } }"
      " transcode live/s2 { enabled on; engine e { enabled on; output x; } }"
      " transcode liv { enabled on; engine e { enabled on; output x; } }", 0, NULL },
    { "all that are for it", "transcode { enabled on; engine e { enabled on; output x; } }"
      " transcode live { enabled on; engine e { enabled on; output y; } engine f { output z; } }"
      " transcode live/s { enabled on; engine g { enabled on; output z; } }", 3, NULL },
    { "off", "transcode { engine e { enabled on; output x; } }", 0, NULL },
    { "no output", "transcode { enabled on; engine e { enabled on; } }", 0, NULL },
    { "onto itself", "transcode { enabled on; engine e { enabled on;"
      " output rtmp://127.0.0.1:[port]/[app]/[stream]; } }", 0, NULL },
    { "onto itself, with the vhost", "transcode { enabled on; engine e { enabled on;"
      " output rtmp://localhost:[port]/[app]?vhost=[vhost]/[stream]; } }", 0, NULL },
    { "the same name elsewhere", "transcode { enabled on; engine e { enabled on;"
      " output rtmp://10.0.0.9/[app]/[stream]; } }", 1, NULL },
};

static void transcode_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(transcodes); i++) {
        struct job_specs all = { 0 };
        char text[2048];
        struct conf *c;

        (void)snprintf(text, sizeof(text), "listen 1936; vhost __defaultVhost__ { %s }",
                       transcodes[i].rules);
        c = load(text);
        transcode_wants(c, conf_vhost_find(c, "__defaultVhost__"), &live_s,
                        "__defaultVhost__/live/s", &all);
        if (all.n != transcodes[i].count)
            fail_msg("%s: %zu programs", transcodes[i].name, all.n);
        if (transcodes[i].line)
            assert_string_equal(line_of(all.v[0], NO_TIME), transcodes[i].line);
        job_specs_free(&all);
        conf_unref(c);
    }
}

static void transcode_targets(void **state)
{
    static const struct {
        const char *output, *target;
    } rows[] = {
        { "rtmp://127.0.0.1:1935/live/s", "__defaultVhost__/live/s" },
        { "rtmp://1.2.3.4/live?vhost=a.b/s", "a.b/live/s" },
        { "rtmp://a.b/x/live/s?t=1", "a.b/x/live/s" },
        { "./s.png", NULL },
        { "http://h/live/s", NULL },
    };
    struct conf *c = load("listen 1935; vhost __defaultVhost__ { } vhost a.b { }");

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *target = transcode_target(c, rows[i].output);

        if (rows[i].target)
            assert_string_equal(target, rows[i].target);
        else
            assert_null(target);
        free(target);
    }
    conf_unref(c);
}

/* Destination of an output, and ffmpeg's input, for any name of a publisher. */
static void names_that_ffmpeg_does_not_get(void **state)
{
    static const struct {
        const char *output, *stream, *param;
        bool runs;
    } rows[] = {
        { "rtmp://127.0.0.1:[port]/[app]/[stream]_hd[param]", "s-1.x_y", "?t=a.b-c_d&e=%20+~", true },
        { "/x/[stream].png", "\xe7\x9b\xb4\xe6\x92\xad/1", "", true },
        { "/x/[stream].png", "a:b", "", false },
        { "/x/[stream].png", "../../etc/cron.d/x", "", false },
        { "/x/[stream].png", ".htaccess", "", false },
        { "/x/[stream].png", "a/../b", "", false },
        { "/x/[stream].png", "x%d", "", false },
        { "/x/[stream].png", "\xc2\x9b" "x", "", false },
        { "/x/[stream].png", "\xff", "", false },
        { "[stream].flv", "tcp://1.2.3.4:80/x", "", false },
        { "[stream]", "file:/etc/cron.d/x", "", false },
        { "[stream]", "-attach", "", false },
        { "[stream]", "/etc/cron.d/x", "", false },
        { "[f=flv]/x/[stream].flv|[f=flv]/y", "a.flv|/etc/x", "", false },
        { "rtmp://h/x[param]", "s", "?a='", false },
        { "rtmp://h/x", "a b=c", "", false }, /* read by ffmpeg, although not in the output */
        { "rtmp://h/x", "s", "?a=1 swfUrl=x", false },
        { "rtmp://h/x", "a\nb", "", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct session_stream s = live_s;
        struct job_specs all = { 0 };
        char text[512];
        struct conf *c;

        s.name = rows[i].stream;
        s.param = rows[i].param;
        (void)snprintf(text, sizeof(text), "listen 1936; vhost __defaultVhost__ { transcode {"
                       " enabled on; engine e { enabled on; output %s; } } }", rows[i].output);
        c = load(text);
        transcode_wants(c, conf_vhost_find(c, ""), &s, "x", &all);
        if (all.n != rows[i].runs)
            fail_msg("%s to %s", rows[i].stream, rows[i].output);
        job_specs_free(&all);
        conf_unref(c);
    }
}

/* ---- exec */

#define EVIL "s;reboot"
#define REFUSED NULL, NULL, NULL

static const struct {
    const char *name, *publish, *stream, *param;
    const char *line, *out, *err; /* line NULL: rejected */
} execs[] = {
    { "variables", "./x [vhost] [app] [stream] [tcUrl] [pageUrl] [swfUrl] [param] [port]", "s",
      "?t=1", "./x __defaultVhost__ live s rtmp://host/live http://page http://p.swf ?t=1 1936", NULL, NULL },
    { "a url to play", "./x [url]", "s", "", "./x rtmp://127.0.0.1:1936/live/s", NULL, NULL },
    { "and its parameters", "./x -i [url]", "s", "?a=1&b=2",
      "./x -i rtmp://127.0.0.1:1936/live/s?a=1&b=2", NULL, NULL },
    { "redirections", "./x a >/tmp/o 2> /tmp/[stream].e b", "s", "", "./x a b", "/tmp/o",
      "/tmp/[stream].e" },
    { "a file named by who publishes", "./x >/tmp/[stream]", "s/.ssh", "", NULL, NULL, NULL },
    { "or alone", "./x 2>[stream]", "/etc/x", "", NULL, NULL, NULL },
    { "with their number", "./x 1>o 2>&1", "s", "", "./x", "o", "o" },
    { "apart", "./x 2 >> e", "s", "", "./x", NULL, "e" },
    { "no redirections", "./x 2 a>b 1", "s", "", "./x 2 a>b 1", NULL, NULL },
    { "a shell and a plain name", "/bin/sh -c 'echo [stream]'", "s-1.x", "",
      "/bin/sh -c echo s-1.x", NULL, NULL },
    { "a shell and a plain url", "sh -c 'cat [url] > [app]/x'", "s", "?t=1",
      "sh -c cat rtmp://127.0.0.1:1936/live/s?t=1 > live/x", NULL, NULL },
    { "as an argument it does no harm", "sh -c 'echo \"$1\"' sh [stream]", "s;reboot", "",
      "sh -c echo \"$1\" sh s;reboot", NULL, NULL },
    { "nor behind an option of its own", "./x --name [stream] -n [param]", "s;reboot", "?a=$(b)",
      "./x --name s;reboot -n ?a=$(b)", NULL, NULL },
    { "a shell and a name with commands", "/bin/sh -c 'echo [stream]'", EVIL, "", REFUSED },
    { "by its letters", "bash -lc 'echo [stream]'", "$(reboot)", "", REFUSED },
    { "by env", "env sh -c 'echo [stream]'", EVIL, "", REFUSED },
    { "by env, with its variables", "env A=1 sh -c '[app] [stream]'", EVIL, "", REFUSED },
    { "by env's own words", "env -S 'echo [stream]'", "x sh -c reboot", "", REFUSED },
    { "in one word", "env '-S sh -c [stream]'", EVIL, "", REFUSED },
    { "by timeout", "timeout 5 sh -c 'echo [stream]'", EVIL, "", REFUSED },
    { "by nice", "nice sh -c 'echo [stream]'", EVIL, "", REFUSED },
    { "by setsid and nohup", "setsid nohup sh -c 'echo [stream]'", EVIL, "", REFUSED },
    { "by python", "python3 -c 'print(\"[stream]\")'", "\");reboot();(\"", "", REFUSED },
    { "by awk", "awk 'BEGIN { print \"[stream]\" }'", "\"|\"reboot", "", REFUSED },
    { "by sed", "sed s/x/[stream]/", "y/e;e reboot;s", "", REFUSED },
    { "by an unknown program", "./x 'run [stream]'", EVIL, "", REFUSED },
    { "all of the commands", "sh -c [stream]", EVIL, "", REFUSED },
    { "all of the words", "env -S [stream]", "sh -c reboot", "", REFUSED },
    { "all of them, by a long option", "./x --eval [stream]", EVIL, "", REFUSED },
    { "by the url", "sh -c 'cat [url]'", EVIL, "", REFUSED },
    { "by all of the url", "sh -c [url]", EVIL, "", REFUSED },
    { "by the parameter of the url", "sh -c 'cat [url]'", "s", "?a=1&reboot", REFUSED },
    { "by the parameter", "sh -c 'cat x[param]'", "s", "?a=`reboot`", REFUSED },
    { "by the page", "sh -c 'cat x[pageUrl]'", "s", "", REFUSED },
    { "by a new line", "./x [url]", "s\nreboot", "", REFUSED },
    { "which program runs", "[stream] x", EVIL, "", REFUSED },
    { "as an option", "./x [stream]", "-rf", "", REFUSED },
    { "as an option in a word", "./x [stream].flv", "-rf", "", REFUSED },
    { "out of the folder", "./x [stream]", "../../etc/x", "", REFUSED },
    { "out of the folder in a word", "./x /y/[stream].flv", "../../etc/x", "", REFUSED },
    { "to a hidden file", "./x /y/[stream]", ".bashrc", "", REFUSED },
    { "what ffmpeg opens", "ffmpeg -i [stream] x.flv", "concat:/etc/passwd|/x", "", REFUSED },
    { "where ffmpeg writes", "ffmpeg -i [url] [stream].flv", "tcp://1.2.3.4/", "", REFUSED },
};

static void exec_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(execs); i++) {
        struct session_stream s = live_s;
        struct job_specs all = { 0 };
        char text[2048];
        struct conf *c;

        s.name = execs[i].stream;
        s.param = execs[i].param;
        (void)snprintf(text, sizeof(text), "listen 1936; vhost __defaultVhost__ { exec {"
                       " enabled on; publish %s; } }", execs[i].publish);
        c = load(text);
        exec_wants(c, conf_vhost_find(c, ""), &s, "__defaultVhost__/live/s", &all);
        if (all.n != (execs[i].line != NULL))
            fail_msg("%s: %zu programs", execs[i].name, all.n);
        if (all.n) {
            const struct job_spec *w = all.v[0];

            assert_string_equal(line_of(w, NO_TIME), execs[i].line);
            assert_string_equal(w->out ? w->out : "", execs[i].out ? execs[i].out : "");
            assert_string_equal(w->err ? w->err : "", execs[i].err ? execs[i].err : "");
        }
        job_specs_free(&all);
        conf_unref(c);
    }
}

static bool has_env(char *const *env, const char *line)
{
    while (*env && strcmp(*env, line) != 0)
        env++;
    return *env != NULL;
}

static void programs_get_names_and_no_secrets(void **state)
{
    struct job_specs all = { 0 };
    struct conf *c = load("listen 1936; ff_env LD_LIBRARY_PATH NOT_THERE;"
                          "vhost __defaultVhost__ { exec { enabled on; publish ./x; } }");
    size_t n = 0;
    char **env;

    (void)state;
    (void)clearenv();
    (void)setenv("PATH", "/bin", 1);
    (void)setenv("TZ", "UTC", 1);
    (void)setenv("SRS_HTTP_API_AUTH_PASSWORD", "secret", 1);
    (void)setenv("SRS_STREAM", "of another", 1);
    (void)setenv("AWS_SECRET", "secret", 1);
    (void)setenv("LD_LIBRARY_PATH", "/opt/lib", 1);
    exec_wants(c, conf_vhost_find(c, ""), &live_s, "__defaultVhost__/live/s", &all);
    assert_int_equal(all.n, 1);
    env = job_spec_env(all.v[0], &c->ff_env);
    assert_true(has_env(env, "PATH=/bin"));
    assert_true(has_env(env, "TZ=UTC"));
    assert_true(has_env(env, "LD_LIBRARY_PATH=/opt/lib"));
    assert_true(has_env(env, "SRS_STREAM=s"));
    assert_true(has_env(env, "SRS_APP=live"));
    assert_true(has_env(env, "SRS_VHOST=__defaultVhost__"));
    assert_true(has_env(env, "SRS_PARAM=?t=1"));
    assert_true(has_env(env, "SRS_URL=rtmp://127.0.0.1:1936/live/s?t=1"));
    assert_true(has_env(env, "SRS_TCURL=rtmp://host/live"));
    for (char **e = env; *e; e++)
        n++;
    assert_int_equal(n, 3 + 9);
    job_spec_argv_free(env);
    job_specs_free(&all);
    conf_unref(c);
}

/* ---- changes by a reload */

static struct job_spec *first_of(const char *conf)
{
    struct conf *c = load(conf);
    struct job_specs all = { 0 };
    struct job_spec *w;

    ingest_programs(c, &all);
    assert_int_equal(all.n, 1);
    w = all.v[0];
    all.v[0] = NULL;
    job_specs_free(&all);
    conf_unref(c);
    return w;
}

#define INGEST(id, url, more) "vhost __defaultVhost__ { ingest " id " { enabled on; input { url " \
    url "; } engine { output o-[2006]; " more " } } }"

static void what_is_the_same(void **state)
{
    static const struct {
        const char *conf;
        bool same;
    } rows[] = {
        { "listen 1; " INGEST("i", "x", ""), true },
        { "listen 1; " INGEST("i", "x", "vbitrate 5;"), true }, /* a copy has no bit rate */
        { "listen 1; ff_log_level error; ff_log_dir /y; " INGEST("i", "x", ""), true },
        { "listen 2; " INGEST("i", "x", ""), false },
        { "listen 1; " INGEST("j", "x", ""), false },
        { "listen 1; " INGEST("i", "y", ""), false },
        { "listen 1; " INGEST("i", "x", "perfile { a 1; }"), false },
    };
    struct job_spec *a = first_of(rows[0].conf);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct job_spec *b = first_of(rows[i].conf);

        if (job_spec_same(a, b) != rows[i].same)
            fail_msg("row %zu", i);
        job_spec_free(b);
    }
    job_spec_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ingest_lines), TEST(ingest_of_files),
        TEST(ingest_of_vhosts_and_engines),
        TEST(transcode_lines),
        TEST(transcode_targets),
        TEST(names_that_ffmpeg_does_not_get),
        TEST(exec_lines),
        TEST(programs_get_names_and_no_secrets),
        TEST(what_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
