/* SPDX-License-Identifier: MIT */
/* jpick.c - extracts strings from untrusted JSON objects, RFC 8259. */
#include "base/jpick.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- check that JSON is small enough to be parsed */

bool jpick_is_flat(const char *text, size_t size, int depth, size_t values)
{
    bool string = false;
    size_t n = 0;
    int at = 0;

    for (size_t i = 0; i < size; i++) {
        if (string) {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                string = false;
            continue;
        }
        string = text[i] == '"';
        if (text[i] == '{' || text[i] == '[') {
            n++;
            at++;
        } else if (text[i] == '}' || text[i] == ']') {
            at--;
        } else if (text[i] == ',') {
            n++;
        }
        if (at > depth || n > values)
            return false;
    }
    return true;
}

struct scan {
    const char *at, *end;
};

/* ---- skipping */

/* Returns the next character that is not white space; 0 at the end. */
static char next(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

static bool take(struct scan *s, char c)
{
    if (next(s) != c)
        return false;
    s->at++;
    return true;
}

/* Skips from after the opening quote to after the closing one. */
static bool skip_string(struct scan *s)
{
    while (s->at < s->end) {
        char c = *s->at++;

        if (c == '"')
            return true;
        if ((unsigned char)c < ' ' || (c == '\\' && s->at == s->end))
            return false;
        s->at += c == '\\';
    }
    return false;
}

static bool skip_nested(struct scan *s)
{
    size_t depth = 0;

    while (s->at < s->end) {
        char c = *s->at++;

        if (c == '"' && !skip_string(s))
            return false;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return true;
    }
    return false;
}

static bool skip_value(struct scan *s)
{
    const char *begin;
    char c = next(s);

    if (c == '{' || c == '[')
        return skip_nested(s);
    if (c == '"') {
        s->at++;
        return skip_string(s);
    }
    for (begin = s->at; s->at < s->end; s->at++) { /* a number, true, false, null */
        c = *s->at;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' ||
              c == '.' || c == 'E'))
            break;
    }
    return s->at > begin;
}

/* ---- strings */

static bool get_hex(const char **at, const char *end, uint32_t *out)
{
    *out = 0;
    if (end - *at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int v = text_hex(*(*at)++);

        if (v < 0)
            return false;
        *out = *out << 4 | (uint32_t)v;
    }
    return true;
}

/* Reads the character after "\u": one number, or a pair of surrogates. */
static bool get_code(const char **at, const char *end, uint32_t *code)
{
    uint32_t low;

    if (!get_hex(at, end, code) || *code == 0 || *code >> 10 == 0xdc00 >> 10)
        return false;
    if (*code >> 10 != 0xd800 >> 10)
        return true;
    if (end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    *at += 2;
    if (!get_hex(at, end, &low) || low >> 10 != 0xdc00 >> 10)
        return false;
    *code = 0x10000 + ((*code & 0x3ff) << 10) + (low & 0x3ff);
    return true;
}

static char *put_code(char *out, uint32_t code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };

    *out++ = (char)(first[more] | code >> 6 * more);
    while (more-- > 0)
        *out++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return out;
}

/* Decodes the escape after a backslash. NULL: no such escape. */
static char *put_escaped(char *out, const char **at, const char *end)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = *(*at)++; /* in range: skip_string() checked it */
    const char *found = c ? strchr(names, c) : NULL;
    uint32_t code;

    if (c == 'u')
        return get_code(at, end, &code) ? put_code(out, code) : NULL;
    if (!found)
        return NULL;
    *out = values[found - names];
    return out + 1;
}

/* Copies an unescaped character. NULL: not UTF-8. */
static char *put_plain(char *out, const char **at, const char *end)
{
    bool ascii = (unsigned char)**at < 0x80;
    size_t n = ascii ? 1 : utf8_size((const unsigned char *)*at, (size_t)(end - *at));

    memcpy(out, *at, n);
    *at += n;
    return n > 0 ? out + n : NULL;
}

/* Decodes the text between the quotes. No escape is shorter than its decoded form. */
static char *unescape(const char *at, const char *end)
{
    char *text = mem_try((size_t)(end - at) + 1), *out = text;

    while (out && at < end) {
        if (*at == '\\') {
            at++;
            out = put_escaped(out, &at, end);
        } else {
            out = put_plain(out, &at, end);
        }
    }
    if (out) {
        *out = '\0';
        return text;
    }
    free(text);
    return NULL;
}

/* ---- members */

static bool pick(struct jpick *p, const struct scan *value)
{
    bool string = *value->at == '"';

    free(p->text);
    p->text = string ? unescape(value->at + 1, value->end - 1) : NULL;
    return p->text || !string;
}

static bool member(struct scan *s, struct jpick *picks, size_t n)
{
    struct scan key, value;

    if (!take(s, '"'))
        return false;
    key.at = s->at;
    if (!skip_string(s))
        return false;
    key.end = s->at - 1;
    if (!take(s, ':'))
        return false;
    (void)next(s);
    value.at = s->at;
    if (!skip_value(s))
        return false;
    value.end = s->at;
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(picks[i].key);

        if ((size_t)(key.end - key.at) == size && memcmp(key.at, picks[i].key, size) == 0 &&
            !pick(&picks[i], &value))
            return false;
    }
    return true;
}

static bool members(struct scan *s, struct jpick *picks, size_t n)
{
    if (!take(s, '{'))
        return false;
    if (!take(s, '}')) {
        do {
            if (!member(s, picks, n))
                return false;
        } while (take(s, ','));
        if (!take(s, '}'))
            return false;
    }
    (void)next(s);
    return s->at == s->end;
}

bool jpick(const char *json, size_t size, struct jpick *picks, size_t n)
{
    struct scan s = { json, json + size };
    bool fine;

    for (size_t i = 0; i < n; i++)
        picks[i].text = NULL;
    fine = members(&s, picks, n);
    for (size_t i = 0; i < n && !fine; i++) {
        free(picks[i].text);
        picks[i].text = NULL;
    }
    return fine;
}
