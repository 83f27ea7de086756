/* SPDX-License-Identifier: MIT */
/* version.h - the version of the server. */
#ifndef APP_VERSION_H
#define APP_VERSION_H

#define VERSION_NUMBER "1.0.0"
/* The name that SRS's clients and tools expect, for example in RTMP's onMetaData "server". */
#define VERSION_SIGNATURE "SRS/" VERSION_NUMBER

/* The SRS version that the API is compatible with; tools compare it. */
#define VERSION_OF_API "7.0.0"

/* When ./configure was run, in UTC, and its command line. */
const char *version_built(void);
const char *version_configured(void);

#endif
