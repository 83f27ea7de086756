/* SPDX-License-Identifier: MIT */
/* lexer.h - splits a configuration file into tokens.
 *
 * `name arg arg;` and `name arg { ... }`. A word ends at a space, `;` or `{`. 'a b' and "a b" are
 * one word, without escapes. `#` starts a comment at the beginning of a word. No allocation.
 */
#ifndef CONF_LEXER_H
#define CONF_LEXER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum conf_token_type { CONF_TOKEN_WORD, CONF_TOKEN_SEMICOLON, CONF_TOKEN_OPEN, CONF_TOKEN_CLOSE,
                       CONF_TOKEN_END };

struct conf_token {
    enum conf_token_type type;
    const char *at; /* points into the text; quotes are excluded */
    size_t size;
    int line;
    bool new_line; /* a line feed precedes it */
};

struct conf_lexer {
    const char *p, *end;
    int line;
};

/* text must outlive the lexer and its tokens. */
void conf_lexer_init(struct conf_lexer *lx, const char *text, size_t size);
/* Reads the next token; CONF_TOKEN_END at the end, repeatedly. Returns ERR_CONF_SYNTAX without file
 * and line; the line is lx->line. */
err_t conf_lexer_next(struct conf_lexer *lx, struct conf_token *t)
    __attribute__((warn_unused_result));

#endif
