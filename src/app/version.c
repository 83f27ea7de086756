/* SPDX-License-Identifier: MIT */
/* version.c - the version of the server. */
#include "app/version.h"

#include "config.h"

const char *version_built(void)
{
    return BUILD_DATE;
}

const char *version_configured(void)
{
    return sizeof(BUILD_CONFIGURE) > 1 ? "./configure " BUILD_CONFIGURE : "./configure";
}
