/* SPDX-License-Identifier: MIT */
/* template.c - matches the path of a file with the templates of a vhost. */
#include "serve/hls/template.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ templates */

/* Length of "live/s" for "live/s.mpd". A name with another extension is the whole folder. */
static int without_mpd(const char *text)
{
    size_t n = strlen(text);

    return (int)(n > 4 && strcmp(text + n - 4, ".mpd") == 0 ? n - 4 : n);
}

static bool fits(struct hls_template *out, int n)
{
    return n > 0 && n < (int)sizeof(out->text);
}

static bool of_dash(const struct conf_dash *dash, unsigned i, struct hls_template *out)
{
    static const char *const media[] = { "video-init-[seq].mp4", "audio-init-[seq].mp4",
                                         "video-[seq]-[seq].m4s", "audio-[seq]-[seq].m4s" };

    if (!dash->enabled)
        return false;
    out->folder = dash->path;
    out->sort = i == 0 ? HLS_MPD : HLS_DASH_MEDIA;
    if (i == 0)
        return fits(out, snprintf(out->text, sizeof(out->text), "%s", dash->mpd_file));
    return fits(out, snprintf(out->text, sizeof(out->text), "%.*s/%s",
                              without_mpd(dash->mpd_file), dash->mpd_file, media[i - 1]));
}

/* Template of the init segments of later publishers: "init.mp4" becomes "init-5.mp4". */
static bool other_init(const char *text, struct hls_template *out)
{
    const char *dot = strrchr(text, '.');
    int n = dot ? (int)(dot - text) : (int)strlen(text);

    return fits(out, snprintf(out->text, sizeof(out->text), "%.*s-[seq]%s", n, text, text + n));
}

bool hls_template(const struct conf_vhost *v, unsigned i, struct hls_template *out)
{
    const struct conf_hls *hls = &v->hls;
    const struct {
        const char *text;
        enum hls_sort sort;
    } rows[] = { { hls->m3u8_file, HLS_LIST }, { hls->ts_file, HLS_MEDIA },
                 { hls->fmp4_file, HLS_MEDIA }, { hls->init_file, HLS_MEDIA },
                 { hls->key_file, HLS_KEY }, { hls->init_file, HLS_MEDIA } };
    const unsigned n = sizeof(rows) / sizeof(rows[0]);

    if (i >= n)
        return i < HLS_TEMPLATES && of_dash(&v->dash, i - n, out);
    if (!hls->enabled)
        return false;
    out->sort = rows[i].sort;
    out->folder = out->sort == HLS_KEY ? hls->key_file_path : hls->path;
    if (i == n - 1)
        return other_init(rows[i].text, out);
    return fits(out, snprintf(out->text, sizeof(out->text), "%s", rows[i].text));
}

enum hls_sort hls_sort_by_end(const char *path)
{
    static const struct {
        const char *end;
        enum hls_sort sort;
    } rows[] = { { ".m3u8", HLS_LIST }, { ".mpd", HLS_MPD }, { ".ts", HLS_MEDIA },
                 { ".m4s", HLS_MEDIA }, { ".key", HLS_KEY } };
    size_t size = strlen(path);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].end);

        if (size >= n && strcmp(path + size - n, rows[i].end) == 0)
            return rows[i].sort;
    }
    return HLS_FOREIGN;
}

/* ------------------------------------------------------------ matching */

struct piece { /* the text of one name; p is NULL until it is known */
    const char *p;
    size_t n;
};

struct match {
    struct piece vhost, app, name;
    bool slashes; /* unknown names may contain slashes */
};

/* Parses the first token of a template and returns its size. *name: where its name is stored.
 * *digits: it is a number or a time. If neither is set, the token is one literal character. */
static size_t token(struct match *m, const char *text, struct piece **name, bool *digits)
{
    static const char *const numbers[] = { "[seq]", "[duration]", "[timestamp]", "[2006]", "[01]",
                                           "[02]", "[15]", "[04]", "[05]", "[999]" };
    const struct {
        const char *text;
        struct piece *piece;
    } names[] = { { "[vhost]", &m->vhost }, { "[app]", &m->app }, { "[stream]", &m->name } };

    *name = NULL;
    *digits = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(text, names[i].text, strlen(names[i].text)) == 0) {
            *name = names[i].piece;
            return strlen(names[i].text);
        }
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *digits = strncmp(text, numbers[i], strlen(numbers[i])) == 0;
        if (*digits)
            return strlen(numbers[i]);
    }
    return 1;
}

static bool match(struct match *m, const char *text, const char *path);

/* Matches an unknown name, longest first: the name may contain the text that follows it. */
static bool match_free(struct match *m, struct piece *name, const char *text, const char *path)
{
    size_t n = m->slashes ? strlen(path) : strcspn(path, "/");

    for (; n > 0; n--) {
        *name = (struct piece){ path, n };
        if (match(m, text, path + n))
            return true;
    }
    *name = (struct piece){ 0 };
    return false;
}

/* Matches digits: adjacent numbers are one run of digits. */
static bool match_digits(struct match *m, const char *text, const char *path)
{
    struct piece *name;
    bool digits = true;
    size_t n = strspn(path, "0123456789"), size;

    for (size = 0; digits && *text; text += digits ? size : 0)
        size = token(m, text, &name, &digits);
    for (; n > 0; n--) {
        if (match(m, text, path + n))
            return true;
    }
    return false;
}

/* Matches the path. The recursion depth is the number of variables in the template, which the peer
 * cannot choose. */
static bool match(struct match *m, const char *text, const char *path)
{
    while (*text) {
        struct piece *name;
        bool digits;
        size_t n = token(m, text, &name, &digits);

        if (digits)
            return match_digits(m, text, path);
        if (name && !name->p)
            return match_free(m, name, text + n, path);
        if (name ? strncmp(path, name->p, name->n) != 0 : *path != *text)
            return false;
        text += n;
        path += name ? name->n : 1;
    }
    return *path == '\0';
}

static struct piece piece_of(const char *text)
{
    return (struct piece){ text, text ? strlen(text) : 0 };
}

bool hls_match(const char *text, const struct session_stream *names, const char *path)
{
    struct match m = { piece_of(names->vhost), piece_of(names->app), piece_of(names->name), true };

    return match(&m, text, path);
}

bool hls_template_find(const struct conf_vhost *v, const struct session_stream *names,
                       const char *path, struct hls_template *out, const char **below)
{
    for (unsigned i = 0; i < HLS_TEMPLATES; i++) {
        size_t n = hls_template(v, i, out) ? strlen(out->folder) : 0;

        *below = path + n + 1;
        if (n > 0 && strncmp(path, out->folder, n) == 0 && path[n] == '/' &&
            hls_match(out->text, names, *below))
            return true;
    }
    return false;
}

/* Returns false if two names are between the same slashes: the split would be ambiguous. */
static bool is_clear(const char *text)
{
    unsigned here = 0;

    for (; *text; text++) {
        here = *text == '/' ? 0 : here + (strncmp(text, "[app]", 5) == 0) +
                                      (strncmp(text, "[stream]", 8) == 0);
        if (here > 1)
            return false;
    }
    return true;
}

static bool copy(char out[HLS_MATCH_NAME], const struct piece *p)
{
    if (!p->p || p->n >= HLS_MATCH_NAME)
        return false;
    memcpy(out, p->p, p->n);
    out[p->n] = '\0';
    return true;
}

bool hls_match_names(const char *text, const char *vhost, const char *path,
                     struct hls_matched *out)
{
    struct match m = { .vhost = piece_of(vhost) };

    return is_clear(text) && match(&m, text, path) && copy(out->app, &m.app) &&
           copy(out->name, &m.name);
}
