/* SPDX-License-Identifier: MIT */
/* lib.c - loads the audio libraries, once per process. */
#include "audio/fit/fit.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(59, 24, 100)
#error "libavcodec 59.24 or later"
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define AVUTIL "libavutil.so." TEXT(LIBAVUTIL_VERSION_MAJOR)
#define AVCODEC "libavcodec.so." TEXT(LIBAVCODEC_VERSION_MAJOR)
#define SWRESAMPLE "libswresample.so." TEXT(LIBSWRESAMPLE_VERSION_MAJOR)
#define OPUS "libopus.so.0"
#define PACKAGES "libavcodec" TEXT(LIBAVCODEC_VERSION_MAJOR) " libswresample" \
    TEXT(LIBSWRESAMPLE_VERSION_MAJOR) " libopus0"

enum { NOT_TRIED, LOADED, FAILED };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fit functions;
static atomic_int state;
static char lacks[400];

/* Finds a symbol and stores it as a function pointer; ISO C has no cast for that. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static bool find_all(struct fit *f)
{
    void *util = dlopen(AVUTIL, RTLD_NOW | RTLD_LOCAL);
    void *codec = util ? dlopen(AVCODEC, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *resample = codec ? dlopen(SWRESAMPLE, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *opus = resample ? dlopen(OPUS, RTLD_NOW | RTLD_LOCAL) : NULL;
    bool all = opus != NULL;

#define X(name) all = all && find(from, #name, &f->name);
    void *from = util;
    FIT_AVUTIL(X)
    from = codec;
    FIT_AVCODEC(X)
    from = resample;
    FIT_SWRESAMPLE(X)
    from = opus;
    FIT_OPUS(X)
#undef X
    return all;
}

/* Releases the pages of read-only segments: the kernel reads them again from the file when they are
 * used. */
static int drop_pages(struct dl_phdr_info *info, size_t size, void *none)
{
    const uintptr_t page = (uintptr_t)getpagesize() - 1;

    (void)size, (void)none;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t begin = (info->dlpi_addr + h->p_vaddr + page) & ~page;
        uintptr_t end = (info->dlpi_addr + h->p_vaddr + h->p_memsz) & ~page;

        if (h->p_type == PT_LOAD && !(h->p_flags & PF_W) && begin < end)
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

/* Linking a hundred files touches 10 MB of pages. A conversion uses few of them, so they are
 * released to keep an idle server small. */
static bool load_small(void)
{
    bool found = find_all(&functions);

    (void)dl_iterate_phdr(drop_pages, NULL);
    return found;
}

static void load(void)
{
    if (load_small()) {
        functions.av_log_set_level(AV_LOG_QUIET); /* invalid frames are counted instead */
        atomic_store(&state, LOADED);
        return;
    }
    (void)snprintf(lacks, sizeof(lacks), "audio libraries cannot be loaded (%.200s): "
                   "apt-get install " PACKAGES, dlerror());
    atomic_store(&state, FAILED);
}

const struct fit *fit(void)
{
    return audio_lib_ready() ? &functions : NULL;
}

bool audio_lib_load(void)
{
    (void)pthread_once(&once, load);
    return audio_lib_ready();
}

bool audio_lib_ready(void)
{
    return atomic_load(&state) == LOADED;
}

const char *audio_lib_lacks(void)
{
    return atomic_load(&state) == FAILED ? lacks : NULL;
}

const char *audio_lib_text(void)
{
    return AVCODEC " " SWRESAMPLE " " OPUS;
}
