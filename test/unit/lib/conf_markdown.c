/* SPDX-License-Identifier: MIT */
/* conf_markdown.c - the reference page of all directives, made from the tables. */
#include "conf_doc.h"
#include "conf/legacy.h"
#include "conf/table.h"
#include "conf/value.h"

#include <stdio.h>

#define NO_LIMIT 1e8 /* larger maximums are not shown */

#define XX(ID, id) ", [" #id "_server](#" #id "_server)"

static const char intro[] =
"# Configuration reference\n"
"\n"
"All directives with default, environment variables, and the effect of a reload. Start with\n"
"`conf/srs.conf`, which turns every protocol on, and change what you need.\n"
"\n"
"## Common tasks\n"
"\n"
"| You want to | Directives |\n"
"|---|---|\n"
"| Use all cores | [`workers auto;`](#outside-of-any-block) |\n"
"| Change ports | `listen` in [rtmp](#rtmp), [http_server](#http_server), [http_api](#http_api)"
PROTOCOL_SERVER_LIST(XX) " |\n"
"| Use TLS | [rtmps](#rtmps), [http_server.https](#http_serverhttps), "
"[http_api.https](#http_apihttps), [rtsp_server.https](#rtsp_serverhttps) |\n"
"| Set a password for API and console | [http_api.auth](#http_apiauth) |\n"
"| Control who publishes and plays | [security](#vhostsecurity), [tokens](#vhostsecuritytoken), "
"[http_hooks](#vhosthttp_hooks) |\n"
"| Lower the latency, or the cost per player | [play](#vhostplay) |\n"
"| Let an encoder reconnect to its own stream | [publish](#vhostpublish) |\n"
"| Serve HLS and DASH | [hls](#vhosthls), [dash](#vhostdash) |\n"
"| Record | [dvr](#vhostdvr) |\n"
"| Play files (VOD) | [vod](#vhostvod) |\n"
"| Pull cameras and other streams | [rtsp.pull](#vhostrtsppull), [ingest](#vhostingest) |\n"
"| Forward streams to other servers | [forward](#vhostforward) |\n"
"| Transcode, run a program | [transcode](#vhosttranscode), [exec](#vhostexec) |\n"
"| Convert between RTMP and WebRTC | [rtc](#vhostrtc) |\n"
"| Limit clients | [limits](#limits), [bandwidth](#vhostbandwidth) |\n"
"| Export metrics | [exporter](#exporter), [heartbeat](#heartbeat) |\n"
"| Change the log | [`srs_log_tank`, `srs_log_file`](#outside-of-any-block) |\n"
"\n"
"This page and `conf/full.conf` are generated from the program's tables:\n"
"`REGENERATE=1 objs/test/test_conf_generated`.\n"
"\n";

static const char reading[] =
"## Syntax\n"
"\n"
"- A directive is `name word word;`, a block is `name word { ... }`. Everything up to the `;` or\n"
"  `{` is on one line.\n"
"- `#` starts a comment at the beginning of a word. `'a b'` and `\"a b\"` are one word. There are\n"
"  no escapes, and a space, `;` or `{` must follow the closing quote.\n"
"- `include a.conf b.conf;` may be in any block. Paths are relative to the folder in which the\n"
"  server starts.\n"
"- An unknown name is an error; the message has its line and the most similar name. If a\n"
"  directive is repeated, the first one counts, and the server logs a warning.\n"
"- A switch is `on`, `yes`, `true` or `1`; or `off`, `no`, `false` or `0`. Any other word means\n"
"  the default, with a warning. A directive without a word has its default. Sizes may be\n"
"  written as `64k`, `16m`, `1g`.\n"
"- `objs/srs -t -c FILE` checks a file. It warns, with file and line, about directives without\n"
"  effect: a block without `enabled on`, two protocols on one port, a callback without `http://`,\n"
"  a missing program, an unknown `SRS_...`. The same warnings appear at startup and on reload.\n"
"- A vhost is selected by its exact name. Clients of all other names get `__defaultVhost__`, or\n"
"  are rejected if there is none.\n"
"\n"
"## Environment\n"
"\n"
"Environment variables override the file; an empty one counts as not set. The name is `SRS_` and\n"
"the path of the directive in capitals, without the name of the vhost:\n"
"`SRS_VHOST_PLAY_GOP_CACHE` applies to every vhost. Words of lists are separated by spaces.\n"
"Directives with `none` in the column can only be set in the file. `-e`, or `SRS_ENV_ONLY=on`,\n"
"runs the server without a file: in the foreground, with the log on the console, and with a\n"
"`__defaultVhost__`. `SRS_LISTEN=1935 objs/srs -e` is enough. `SRS_CONFIG_FILE` is the same as\n"
"`-c`.\n"
"\n"
"## Reload\n"
"\n"
"On SIGHUP the server reads and checks the file and compares it with the running configuration.\n"
"If there is any error, nothing changes. Otherwise the log lists each difference. The column\n"
"shows when a new value takes effect: `at once`, for new clients; `applied`, the server applies\n"
"it to running ones too; `restart`, after a restart.\n"
"\n"
"## Variables in paths and URLs\n"
"\n"
"`[vhost] [app] [stream]`, the time as `[2006] [01] [02] [15] [04] [05] [999]` (year, month, day,\n"
"hour, minute, second, millisecond), `[timestamp]` (milliseconds since 1970), and, depending on\n"
"the directive, `[seq] [duration] [port] [engine] [param] [url] [tcUrl] [swfUrl] [pageUrl]\n"
"[server_id] [service_id] [ts_url]`.\n"
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
    if (row->min < row->max && row->max < NO_LIMIT)
        conf_text(w, " (%.10g to %.10g)", row->min, row->max);
    else if (row->min > 0)
        conf_text(w, " (at least %.10g)", row->min);
    conf_text(w, "%s |\n", row->flags & CONF_NOT_APPLIED ? " *Not implemented yet.*" : "");
}

/* Writes the directives of a block, then each block in it as a chapter. */
static void chapter(struct wr *w, const struct conf_block *block, const char *path, bool no_env)
{
    bool relics = false;

    conf_text(w, "| Directive | Default | Environment | Reload | Meaning |\n"
                 "|---|---|---|---|---|\n");
    for (size_t i = 0; i < block->n; i++) {
        const struct conf_row *row = &block->rows[i];

        if (!row->block && row->kind != CONF_KIND_OBSOLETE)
            row_text(w, row, path, no_env);
    }
    for (size_t i = 0; i < block->n; i++) {
        if (block->rows[i].kind != CONF_KIND_OBSOLETE)
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
                  row->flags & CONF_NOT_APPLIED ? " *Not implemented yet: accepted without effect.*" : "");
        chapter(w, row->block, inner, no_env || (row->flags & CONF_NO_ENV));
    }
}

static void old_spellings(struct wr *w)
{
    conf_text(w, "## Old spellings\n\nThe server accepts these and converts them before it checks the file.\n\n"
                 "| In | Old | New |\n|---|---|---|\n");
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
