/* SPDX-License-Identifier: MIT */
/* conf_markdown.c - the reference page of all directives, made from the tables. */
#include "conf_doc.h"
#include "conf/legacy.h"
#include "conf/table.h"
#include "conf/value.h"

#include <stdio.h>

#define AS_GOOD_AS_NONE 1e8 /* a limit above which nobody wants to read of it */

#define XX(ID, id) ", [" #id "_server](#" #id "_server)"

static const char intro[] =
"# Configuration\n"
"\n"
"Every directive with its default, its environment variable and what a reload does. Start with\n"
"`conf/srs.conf`, where all protocols are on, and change what you need.\n"
"\n"
"| You want to | Directives |\n"
"|---|---|\n"
"| use all cores | [`workers auto;`](#outside-of-any-block) |\n"
"| change ports | `listen` of [rtmp](#rtmp), [http_server](#http_server), [http_api](#http_api)"
PROTOCOL_SERVER_LIST(XX) " |\n"
"| turn TLS on | [rtmps](#rtmps), [http_server.https](#http_serverhttps), "
"[http_api.https](#http_apihttps), [rtsp_server.https](#rtsp_serverhttps) |\n"
"| set a password for console and API | [http_api.auth](#http_apiauth) |\n"
"| decide who publishes and plays | [security](#vhostsecurity), [tokens](#vhostsecuritytoken), "
"[http_hooks](#vhosthttp_hooks) |\n"
"| lower the delay, or the cost per player | [play](#vhostplay) |\n"
"| let an encoder take over its own stream | [publish](#vhostpublish) |\n"
"| serve HLS, DASH | [hls](#vhosthls), [dash](#vhostdash) |\n"
"| record | [dvr](#vhostdvr) |\n"
"| play files | [vod](#vhostvod) |\n"
"| fetch cameras and other streams | [rtsp.pull](#vhostrtsppull), [ingest](#vhostingest) |\n"
"| send streams to other servers | [forward](#vhostforward) |\n"
"| transcode, run a program | [transcode](#vhosttranscode), [exec](#vhostexec) |\n"
"| convert between RTMP and WebRTC | [rtc](#vhostrtc) |\n"
"| bound what clients may use | [limits](#limits), [bandwidth](#vhostbandwidth) |\n"
"| export metrics | [exporter](#exporter), [heartbeat](#heartbeat) |\n"
"| write the log elsewhere | [`srs_log_tank`, `srs_log_file`](#outside-of-any-block) |\n"
"\n"
"This page is generated from the tables of the program, as is `conf/full.conf`:\n"
"`REGENERATE=1 objs/test/test_conf_generated`.\n"
"\n";

static const char reading[] =
"## How a file is read\n"
"\n"
"- `name word word;` or `name word { ... }`, each on one line as far as the `;` or the `{`.\n"
"- `#` begins a comment where a word could begin. `'a b'` and `\"a b\"` are one word; there are\n"
"  no escapes, and a space, `;` or `{` must follow the closing quote.\n"
"- `include a.conf b.conf;` may stand in any block. Paths are relative to the folder that the\n"
"  server is started in.\n"
"- A name that is not known where it stands is an error, with its line and the nearest known\n"
"  name. Of a directive that is there twice the first counts, and a warning says so.\n"
"- A switch is `on`, `yes`, `true` or `1`; or `off`, `no`, `false` or `0`. Others are the\n"
"  default side, with a warning. A directive without a word has its default. Sizes may be\n"
"  written as `64k`, `16m`, `1g`.\n"
"- `objs/srs -t -c FILE` checks a file. Lines that do nothing are warnings with file and line,\n"
"  also at the start and by a reload: a block without `enabled on`, two protocols on one port, a\n"
"  callback without `http://`, a program that is missing, an unknown `SRS_...`.\n"
"- A vhost is found by its exact name, else it is `__defaultVhost__`; without that one, access\n"
"  is denied.\n"
"\n"
"## Environment\n"
"\n"
"A variable wins over the file; an empty one counts as not set. Its name is `SRS_` and the path\n"
"of the directive in capitals, without the name of the vhost: `SRS_VHOST_PLAY_GOP_CACHE` is for\n"
"every vhost. Lists have spaces between their words. Where the column says none, the file alone\n"
"counts. With `-e`, or `SRS_ENV_ONLY=on`, there is no file: the server stays in the foreground,\n"
"logs to the console and has a `__defaultVhost__`; `SRS_LISTEN=1935 objs/srs -e` is enough.\n"
"`SRS_CONFIG_FILE` is the same as `-c`.\n"
"\n"
"## Reload\n"
"\n"
"After SIGHUP the file is read, checked and compared with what runs. With any error all stays as\n"
"it is. Else each difference is told in the log. The column says what becomes of it: `at once`,\n"
"for those who come later; `applied`, the server acts on it; `restart`, the old value stays until\n"
"then.\n"
"\n"
"## Variables in paths and urls\n"
"\n"
"`[vhost] [app] [stream]`, the time as `[2006] [01] [02] [15] [04] [05] [999]` (year, month, day,\n"
"hour, minute, second, millisecond), `[timestamp]` (milliseconds since 1970), and where it makes\n"
"sense `[seq] [duration] [port] [engine] [param] [url] [tcUrl] [swfUrl] [pageUrl] [server_id]\n"
"[service_id] [ts_url]`.\n"
"\n";

static const char *reload_text(const struct conf_row *row)
{
    static const char *const texts[] = {
        [CONF_NEVER] = "restart", [CONF_AT_ONCE] = "at once", [CONF_HANDLER] = "applied",
    };

    return texts[row->reload];
}

static const char *kind_text(const struct conf_row *row)
{
    switch (row->kind) {
    case CONF_KIND_SECONDS:   return " s";
    case CONF_KIND_MSEC:
    case CONF_KIND_MSEC_AUTO: return " ms";
    case CONF_KIND_RULES:
    case CONF_KIND_COMMANDS:  return ", repeatable";
    default:                  return "";
    }
}

static void default_text(struct wr *w, const struct conf_row *row)
{
    if (row->def_note)
        conf_text(w, "%s", row->def_note);
    else if (row->def)
        conf_text(w, "`%s`%s", row->def, kind_text(row));
    else
        conf_text(w, "none%s", kind_text(row));
}

static void row_text(struct wr *w, const struct conf_row *row, const char *path, bool no_env)
{
    char buf[128];
    const char *env = no_env ? "" : conf_row_env(row, path, buf, sizeof(buf));

    conf_text(w, "| `%s` | ", row->name);
    default_text(w, row);
    conf_text(w, " | ");
    for (const char *p = env; *p; ) {
        size_t n = 0;

        while (p[n] && p[n] != ' ')
            n++;
        conf_text(w, "%s`%.*s`", p == env ? "" : " ", (int)n, p);
        p += n + (p[n] == ' ');
    }
    conf_text(w, "%s | %s | %s", *env ? "" : "none", reload_text(row), row->help);
    if (row->min < row->max && row->max < AS_GOOD_AS_NONE)
        conf_text(w, " (%.10g to %.10g)", row->min, row->max);
    else if (row->min > 0)
        conf_text(w, " (at least %.10g)", row->min);
    conf_text(w, "%s |\n", row->flags & CONF_NOT_APPLIED ? " *Not yet there.*" : "");
}

/* The block's own rows, then the blocks in it, each as a chapter. */
static void chapter(struct wr *w, const struct conf_block *block, const char *path, bool no_env)
{
    bool relics = false;

    conf_text(w, "| directive | default | environment | reload | meaning |\n"
                 "|---|---|---|---|---|\n");
    for (size_t i = 0; i < block->n; i++) {
        const struct conf_row *row = &block->rows[i];

        if (!row->block && row->kind != CONF_KIND_RELIC)
            row_text(w, row, path, no_env);
    }
    for (size_t i = 0; i < block->n; i++) {
        if (block->rows[i].kind != CONF_KIND_RELIC)
            continue;
        conf_text(w, "%s`%s`", relics ? ", " : "\nAccepted without effect: ", block->rows[i].name);
        relics = true;
    }
    conf_text(w, "%s", relics ? ".\n\n" : "\n");
    for (size_t i = 0; i < block->n; i++) {
        const struct conf_row *row = &block->rows[i];
        char inner[128];

        if (!row->block)
            continue;
        (void)snprintf(inner, sizeof(inner), "%s%s%s", path, *path ? "." : "", row->name);
        conf_text(w, "## %s\n\n%s%s%s\n\n", inner, row->block->help,
                  row->kind == CONF_KIND_BLOCKS ? " Repeatable." : "",
                  row->flags & CONF_NOT_APPLIED ? " *Not yet there: accepted without effect.*" : "");
        chapter(w, row->block, inner, no_env || (row->flags & CONF_NO_ENV));
    }
}

static void old_spellings(struct wr *w)
{
    conf_text(w, "## Old spellings\n\nThey are rewritten before the check.\n\n"
                 "| in | old | new |\n|---|---|---|\n");
    for (size_t i = 0; i < conf_legacy_count; i++) {
        const struct conf_legacy *row = &conf_legacy_rows[i];

        conf_text(w, "| %s | `%s` | `%s`", *row->in ? row->in : "the file", row->from, row->to);
        for (size_t k = 0; row->words && row->words[k]; k += 2)
            conf_text(w, "%s %s becomes %s", k ? "," : ":", row->words[k], row->words[k + 1]);
        conf_text(w, "%s |\n", row->enable ? ", with `enabled on`" : "");
    }
}

void conf_doc_markdown(struct wr *w)
{
    wr_bytes(w, intro, sizeof(intro) - 1);
    wr_bytes(w, reading, sizeof(reading) - 1);
    conf_text(w, "## Outside of any block\n\n");
    chapter(w, &conf_table_root, "", false);
    old_spellings(w);
}
