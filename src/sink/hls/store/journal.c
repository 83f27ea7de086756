/* SPDX-License-Identifier: MIT */
/* journal.c - the journal of a stream's files on disk. */
#include "sink/hls/store/journal.h"

#include "base/must.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 16, PATH_SIZE = 1024, CLOCK_BITS = 46, TICKS_BITS = 36, TIME_BITS = 56 };

static const char WORD[] = "hls-journal";
/* characters of codec names, [RFC6381] */
static const char CODECS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-";

/* ------------------------------------------------------------ writing */

/* Counts characters that need no escape. */
static size_t plain(const char *text)
{
    size_t n = 0;

    while (text[n] > ' ' && text[n] < 0x7f && text[n] != '%')
        n++;
    return n;
}

static void put_text(struct wr *w, const char *text)
{
    if (!*text || strcmp(text, "-") == 0 || strcmp(text, ".") == 0) {
        wr_text(w, *text == '-' ? " %2D" : *text ? " %2E" : " -");
        return;
    }
    wr_text(w, " ");
    while (*text) {
        size_t n = plain(text);

        wr_bytes(w, text, n);
        text += n;
        if (*text)
            wr_printf(w, "%%%02X", (unsigned char)*text++);
    }
}

static void put_number(struct wr *w, uint64_t n)
{
    wr_printf(w, " %llu", (unsigned long long)n);
}

static void put_end(struct wr *w)
{
    wr_text(w, " .\n");
}

void journal_put_names(struct wr *w, const struct journal_names *names)
{
    wr_text(w, WORD);
    put_number(w, JOURNAL_VERSION);
    put_text(w, names->kind);
    put_text(w, names->vhost);
    put_text(w, names->app);
    put_text(w, names->stream);
    put_end(w);
}

static void put_track(struct wr *w, const struct mpd_track *t)
{
    put_number(w, t->video);
    put_number(w, t->timescale);
    put_text(w, t->codecs);
    put_number(w, t->width);
    put_number(w, t->height);
    put_number(w, (uint64_t)(t->fps * 1000 + 0.5));
    put_number(w, t->rate);
    put_number(w, t->channels);
}

static void put_segment(struct wr *w, const struct journal_file *f)
{
    wr_printf(w, " %llu %lld %lld %d %llu %llu %llu ", (unsigned long long)f->seq,
              (long long)f->duration, (long long)f->wall, f->discontinuity,
              (unsigned long long)f->bytes, (unsigned long long)f->init,
              (unsigned long long)f->key);
    for (size_t i = 0; f->key > 0 && i < sizeof(f->iv); i++)
        wr_printf(w, "%02x", f->iv[i]);
    wr_printf(w, "%s %lld %llu %llu", f->key > 0 ? "" : "-", (long long)f->period,
              (unsigned long long)f->begin, (unsigned long long)f->lasts);
}

void journal_put_file(struct wr *w, const struct journal_file *f)
{
    static const char *const words[] = { [JOURNAL_INIT] = "init", [JOURNAL_KEY] = "key",
                                         [JOURNAL_SEGMENT] = "segment" };

    wr_text(w, words[f->what]);
    put_number(w, f->id);
    put_text(w, f->path);
    if (f->what == JOURNAL_INIT)
        put_track(w, &f->track);
    else if (f->what == JOURNAL_SEGMENT)
        put_segment(w, f);
    put_end(w);
}

void journal_put_list(struct wr *w, const struct journal_list *list)
{
    wr_text(w, "list");
    wr_printf(w, " %llu %llu %u %lld %lld", (unsigned long long)list->first,
              (unsigned long long)list->discontinuities, list->target,
              (long long)list->available, (long long)list->now);
    put_end(w);
}

void journal_put_forget(struct wr *w, uint64_t id)
{
    wr_text(w, "forget");
    put_number(w, id);
    put_end(w);
}

/* ------------------------------------------------------------ a line */

struct field {
    const char *p;
    size_t n;
};

struct line {
    struct field v[FIELDS_MAX];
    size_t n, at; /* number of fields, index of the next one */
    bool bad;
};

/* Splits a complete line into fields, without the dot. */
static bool split(struct line *l, const char *p, const char *end)
{
    *l = (struct line){ 0 };
    while (p < end && l->n < FIELDS_MAX) {
        const char *space = memchr(p, ' ', (size_t)(end - p)), *to = space ? space : end;

        if (to == p)
            return false;
        l->v[l->n++] = (struct field){ p, (size_t)(to - p) };
        p = space ? to + 1 : end;
    }
    if (p < end || l->n < 2 || l->v[l->n - 1].n != 1 || *l->v[l->n - 1].p != '.')
        return false;
    l->n--;
    return true;
}

static struct field next(struct line *l)
{
    static const struct field none = { "", 0 };

    if (l->at < l->n)
        return l->v[l->at++];
    l->bad = true;
    return none;
}

/* Reads a number of at most `bits` bits. */
static uint64_t number(struct line *l, unsigned bits)
{
    struct field f = next(l);
    uint64_t n = 0;

    l->bad |= f.n == 0 || f.n > 19;
    for (size_t i = 0; i < f.n && !l->bad; i++) {
        l->bad = f.p[i] < '0' || f.p[i] > '9';
        n = n * 10 + (uint64_t)(f.p[i] - '0');
    }
    l->bad |= n >> bits != 0;
    return l->bad ? 0 : n;
}

static void text(struct line *l, char *to, size_t size)
{
    struct field f = next(l);
    size_t n = 0;

    for (size_t i = 0; i < f.n && !l->bad; i++) {
        int c = (unsigned char)f.p[i];

        if (c == '%') {
            c = i + 2 < f.n ? text_hex_byte(f.p + i + 1) : -1;
            i += 2;
        }
        l->bad |= c < ' ' || c == 0x7f || n + 1 >= size; /* a playlist consists of lines */
        if (!l->bad && (f.n > 1 || c != '-'))
            to[n++] = (char)c;
    }
    to[n] = '\0';
}

/* Reads `size` bytes; "-" means zeros. */
static void bytes(struct line *l, uint8_t *to, size_t size)
{
    struct field f = next(l);
    bool none = f.n == 1 && *f.p == '-';

    memset(to, 0, size);
    l->bad |= !none && f.n != size * 2;
    for (size_t i = 0; i < size && !none && !l->bad; i++) {
        int c = text_hex_byte(f.p + i * 2);

        l->bad = c < 0;
        to[i] = (uint8_t)c;
    }
}

static bool is_word(struct line *l, const char *word)
{
    return l->n > 0 && l->v[0].n == strlen(word) && memcmp(l->v[0].p, word, l->v[0].n) == 0;
}

/* Returns true if the path stays below its folder: all its parts are names. */
static bool is_safe(const char *path)
{
    for (;;) {
        size_t n = strcspn(path, "/");

        if (n == 0 || (n <= 2 && memcmp(path, "..", n) == 0))
            return false;
        if (!path[n])
            return true;
        path += n + 1;
    }
}

/* ------------------------------------------------------------ reading */

static void read_track(struct line *l, struct mpd_track *t)
{
    t->video = number(l, 1);
    t->timescale = (uint32_t)number(l, 30);
    text(l, t->codecs, sizeof(t->codecs));
    l->bad |= t->codecs[strspn(t->codecs, CODECS)] != '\0';
    t->width = (uint32_t)number(l, 20);
    t->height = (uint32_t)number(l, 20);
    t->fps = (double)number(l, 24) / 1000;
    t->rate = (uint32_t)number(l, 24);
    t->channels = (uint32_t)number(l, 8);
}

static void read_segment(struct line *l, struct journal_file *f)
{
    f->seq = number(l, TIME_BITS);
    f->duration = (int64_t)number(l, TICKS_BITS);
    f->wall = (int64_t)number(l, CLOCK_BITS);
    f->discontinuity = number(l, 1);
    f->bytes = number(l, TICKS_BITS);
    f->init = number(l, TIME_BITS);
    f->key = number(l, TIME_BITS);
    bytes(l, f->iv, sizeof(f->iv));
    f->period = (int64_t)number(l, CLOCK_BITS);
    f->begin = number(l, TIME_BITS);
    f->lasts = number(l, TICKS_BITS);
}

/* Checks that its init segment and key precede it. */
static bool fits(const struct journal *j, const struct journal_file *f)
{
    const struct journal_file *init = f->init ? journal_find(j, f->init) : NULL;
    const struct journal_file *key = f->key ? journal_find(j, f->key) : NULL;

    return (!f->init || (init && init->what == JOURNAL_INIT)) &&
           (!f->key || (key && key->what == JOURNAL_KEY));
}

static void read_file(struct journal *j, struct line *l, enum journal_what what)
{
    struct journal_file f = { .what = what };
    char path[PATH_SIZE];

    f.id = number(l, TIME_BITS);
    text(l, path, sizeof(path));
    if (what == JOURNAL_INIT)
        read_track(l, &f.track);
    else if (what == JOURNAL_SEGMENT)
        read_segment(l, &f);
    if (l->bad || l->at != l->n || !is_safe(path) || j->n == JOURNAL_FILES_MAX ||
        f.id <= (j->n > 0 ? j->v[j->n - 1].id : 0) || !fits(j, &f))
        return;
    j->v = must_room(j->v, j->n, &j->cap, sizeof(j->v[0]));
    f.path = must_dup(path);
    j->v[j->n++] = f;
}

static void read_list(struct journal *j, struct line *l)
{
    struct journal_list list = { .first = number(l, TIME_BITS) };

    list.discontinuities = number(l, TIME_BITS);
    list.target = (unsigned)number(l, 20);
    list.available = (int64_t)number(l, CLOCK_BITS);
    list.now = (int64_t)number(l, CLOCK_BITS);
    if (!l->bad && l->at == l->n)
        j->list = list;
}

static void forget(struct journal *j, struct line *l)
{
    uint64_t id = number(l, TIME_BITS);
    struct journal_file *f = l->bad || l->at != l->n ? NULL : journal_find(j, id);

    if (f)
        f->forgotten = true;
}

static void read_line(struct journal *j, struct line *l)
{
    l->at = 1;
    if (is_word(l, "init"))
        read_file(j, l, JOURNAL_INIT);
    else if (is_word(l, "key"))
        read_file(j, l, JOURNAL_KEY);
    else if (is_word(l, "segment"))
        read_file(j, l, JOURNAL_SEGMENT);
    else if (is_word(l, "list"))
        read_list(j, l);
    else if (is_word(l, "forget"))
        forget(j, l);
}

static bool read_names(struct journal *j, struct line *l)
{
    char **const to[] = { &j->kind, &j->vhost, &j->app, &j->stream };
    char name[PATH_SIZE];

    l->at = 1;
    if (!is_word(l, WORD) || number(l, 8) != JOURNAL_VERSION)
        return false;
    for (size_t i = 0; i < sizeof(to) / sizeof(to[0]) && !l->bad; i++) {
        text(l, name, sizeof(name));
        *to[i] = must_dup(name);
    }
    return !l->bad && l->at == l->n;
}

bool journal_read(struct journal *j, const char *p, size_t size)
{
    const char *end = p + size, *newline;
    bool named = false;
    struct line l;

    *j = (struct journal){ 0 };
    while (p < end && (newline = memchr(p, '\n', (size_t)(end - p)))) {
        bool whole = split(&l, p, newline);

        if (!named && (!whole || !read_names(j, &l)))
            return false;
        if (named && whole)
            read_line(j, &l);
        named = true;
        p = newline + 1;
    }
    return named;
}

void journal_free(struct journal *j)
{
    for (size_t i = 0; i < j->n; i++)
        free(j->v[i].path);
    free(j->v);
    free(j->kind);
    free(j->vhost);
    free(j->app);
    free(j->stream);
    *j = (struct journal){ 0 };
}

struct journal_file *journal_find(const struct journal *j, uint64_t id)
{
    size_t from = 0, to = j->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (j->v[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < j->n && j->v[from].id == id && !j->v[from].forgotten ? &j->v[from] : NULL;
}
