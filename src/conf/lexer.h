/* SPDX-License-Identifier: MIT */
/* lexer.h - the text of one configuration file as tokens.
 *
 * `name arg arg;` and `name arg { ... }`. A word ends at a space, `;` or `{`; 'so' and "so" is one
 * word, without escapes; `#` begins a comment only where a word could begin. No allocation.
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
    const char *at; /* into the text; for a quoted word without the quotes */
    size_t size;
    int line;
    bool new_line; /* a line feed stands between it and the token before */
};

struct conf_lexer {
    const char *p, *end;
    int line;
};

/* text is borrowed for as long as the lexer and its tokens are used. */
void conf_lexer_init(struct conf_lexer *lx, const char *text, size_t size);
/* The next token; CONF_TOKEN_END again and again at the end. ERR_CONF_SYNTAX without file and line:
 * the line is lx->line. */
err_t conf_lexer_next(struct conf_lexer *lx, struct conf_token *t)
    __attribute__((warn_unused_result));

#endif
