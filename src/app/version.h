/* SPDX-License-Identifier: MIT */
/* version.h - who we are. */
#ifndef APP_VERSION_H
#define APP_VERSION_H

#define VERSION_NUMBER "1.0.0"
/* Where clients and tools look for a name they know, see RTMP's onMetaData "server". */
#define VERSION_SIGNATURE "SRS/" VERSION_NUMBER

/* The SRS whose API, files and environment ours are: tools compare it. */
#define VERSION_OF_API "7.0.0"

/* When ./configure was run, in UTC, and its command line. */
const char *version_built(void);
const char *version_configured(void);

#endif
