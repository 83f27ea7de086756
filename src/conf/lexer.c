/* SPDX-License-Identifier: MIT */
/* lexer.c - splits a configuration file into tokens. */
#include "conf/lexer.h"

#include <string.h>

void conf_lexer_init(struct conf_lexer *lx, const char *text, size_t size)
{
    *lx = (struct conf_lexer){ .p = text, .end = text + size, .line = 1 };
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark of some editors */
        lx->p += 3;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Skips spaces, line feeds and comments. Returns true if there was a line feed. */
static bool skip(struct conf_lexer *lx)
{
    bool new_line = false;

    while (lx->p < lx->end && (is_space(*lx->p) || *lx->p == '#')) {
        if (*lx->p == '#') {
            const char *feed = memchr(lx->p, '\n', (size_t)(lx->end - lx->p));

            lx->p = feed ? feed : lx->end;
            continue;
        }
        if (*lx->p == '\n') {
            lx->line++;
            new_line = true;
        }
        lx->p++;
    }
    return new_line;
}

static bool ends_word(char c)
{
    return is_space(c) || c == ';' || c == '{';
}

static err_t quoted(struct conf_lexer *lx, struct conf_token *t)
{
    char quote = *lx->p++;

    t->at = lx->p;
    while (lx->p < lx->end && *lx->p != quote && *lx->p != '\n' && *lx->p != '\0')
        lx->p++;
    if (lx->p == lx->end || *lx->p != quote)
        return err_new(ERR_CONF_SYNTAX, "missing closing %c on this line", quote);
    t->size = (size_t)(lx->p - t->at);
    lx->p++;
    if (lx->p < lx->end && !ends_word(*lx->p))
        return err_new(ERR_CONF_SYNTAX, "\"%c\" directly after a closing quote", *lx->p);
    return NULL;
}

static err_t bare(struct conf_lexer *lx, struct conf_token *t)
{
    t->at = lx->p;
    while (lx->p < lx->end && !ends_word(*lx->p)) {
        if (*lx->p == '\0')
            return err_new(ERR_CONF_SYNTAX, "a zero byte: this is not a text file");
        lx->p++;
    }
    t->size = (size_t)(lx->p - t->at);
    return NULL;
}

err_t conf_lexer_next(struct conf_lexer *lx, struct conf_token *t)
{
    *t = (struct conf_token){ .type = CONF_TOKEN_WORD, .new_line = skip(lx) };
    t->line = lx->line;
    t->at = lx->p;
    if (lx->p == lx->end) {
        t->type = CONF_TOKEN_END;
        return NULL;
    }
    if (*lx->p == '"' || *lx->p == '\'')
        return quoted(lx, t);
    if (*lx->p != ';' && *lx->p != '{' && *lx->p != '}')
        return bare(lx, t);
    t->type = *lx->p == ';' ? CONF_TOKEN_SEMICOLON
            : *lx->p == '{' ? CONF_TOKEN_OPEN : CONF_TOKEN_CLOSE;
    t->size = 1;
    lx->p++;
    return NULL;
}
