/* SPDX-License-Identifier: MIT */
/* tests.c - routes for tests of HTTP clients: an echo, an error, a redirect. */
#include "app/api/api.h"

#include <string.h>

enum { ERROR_OF_TESTS = 100 };

static bool is_first(const struct http_request *req, unsigned i)
{
    for (unsigned k = 0; k < i; k++) {
        if (strcasecmp(req->fields[k].name, req->fields[i].name) == 0)
            return false;
    }
    return true;
}

static err_t requests(struct api_call *c)
{
    const struct http_request *req = c->x->req;

    jput_open(&c->j, "data", '{');
    jput_text(&c->j, "uri", req->target);
    jput_text(&c->j, "path", req->path);
    jput_text(&c->j, "METHOD", req->method);
    jput_open(&c->j, "headers", '{');
    for (unsigned i = 0; i < req->n_fields; i++) {
        if (is_first(req, i) && strcasecmp(req->fields[i].name, "Authorization") != 0)
            jput_text(&c->j, req->fields[i].name, req->fields[i].value);
    }
    jput_close(&c->j, '}');
    jput_text(&c->j, "signature", c->of->env->signature);
    jput_text(&c->j, "version", c->of->env->version);
    jput_close(&c->j, '}');
    return NULL;
}

static err_t errors(struct api_call *c)
{
    return api_error(c, ERROR_OF_TESTS);
}

static err_t redirects(struct api_call *c)
{
    http_response_add(c->x->resp, "Location", "/api/v1/tests/errors");
    return http_response_status(c->x->resp, 301);
}

const struct api_row api_rows_tests[] = {
    { "tests/requests", "show the request info", API_ANY, requests, NULL },
    { "tests/errors", "always return an error 100", API_ANY, errors, NULL },
    { "tests/redirects", "always redirect to /api/v1/tests/errors", API_ANY, redirects, NULL },
    { .path = NULL },
};
