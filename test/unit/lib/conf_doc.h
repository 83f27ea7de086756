/* SPDX-License-Identifier: MIT */
/* conf_doc.h - what people read about directives, made from the tables. */
#ifndef CONF_DOC_H
#define CONF_DOC_H

#include "base/wr.h"

void conf_doc_full(struct wr *w);     /* conf/full.conf */
void conf_doc_markdown(struct wr *w); /* doc/config.md */

#endif
