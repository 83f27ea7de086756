/* SPDX-License-Identifier: MIT */
/* trace.c - walks frame pointers and looks up symbols, safe in a signal handler. */
#include "co/trace.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "config.h"

#if BUILD_VALGRIND
#include <valgrind/valgrind.h>
#else
#define VALGRIND_DISABLE_ERROR_REPORTING (void)0
#define VALGRIND_ENABLE_ERROR_REPORTING (void)0
#endif

enum { MAX_MODULES = 24, SCAN_SIZE = 4096 };

struct module {
    uintptr_t base, end;    /* its range in memory */
    char name[32];          /* file name without the path */
    const ElfW(Sym) *syms;  /* in the mapped file; NULL if it has none */
    size_t count;
    const char *strings;
    size_t strings_size;
};

/* Filled once by co_trace_init(), read-only afterwards. */
static struct module modules[MAX_MODULES];
static int module_count;
static int probe[2] = { -1, -1 }; /* a pipe: memory that the kernel can copy is readable */

struct registers {
    uintptr_t pc, sp, fp;
};

#if defined(__x86_64__)
static struct registers registers(const ucontext_t *uc)
{
    const greg_t *r = uc->uc_mcontext.gregs;

    return (struct registers){ (uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP],
                               (uintptr_t)r[REG_RBP] };
}

/* Checks whether these 8 bytes end with a direct call: e8 and 4 bytes, or ff 15 and 4 bytes. */
static bool is_call(const uint8_t before[8])
{
    return before[3] == 0xe8 || (before[2] == 0xff && before[3] == 0x15);
}

/* Checks whether they end with a call through a register: ff /2 with an offset of zero, one or four
 * bytes. */
static bool is_indirect_call(const uint8_t before[8])
{
    return (before[6] == 0xff && (before[7] & 0x38) == 0x10) ||
           (before[5] == 0xff && (before[6] & 0x38) == 0x10) ||
           (before[4] == 0xff && (before[5] & 0x38) == 0x10) ||
           (before[2] == 0xff && (before[3] & 0x38) == 0x10);
}
#elif defined(__aarch64__)
static struct registers registers(const ucontext_t *uc)
{
    return (struct registers){ uc->uc_mcontext.pc, uc->uc_mcontext.sp, uc->uc_mcontext.regs[29] };
}

static bool is_call(const uint8_t before[8])
{
    return before[7] >> 2 == 0x94 >> 2; /* bl */
}

static bool is_indirect_call(const uint8_t before[8])
{
    return before[7] == 0xd6 && before[6] == 0x3f; /* blr */
}
#endif /* 3rdparty/st/context.S supports no other machine */

/* Copies memory that may be unmapped. A register that does not hold a frame pointer may contain
 * anything, so the kernel does the reading. Uses bare system calls because sanitizers intercept
 * write(), and Valgrind would complain about uninitialized stack words. */
static bool peek(uintptr_t at, void *to, size_t size)
{
    bool ok;

    VALGRIND_DISABLE_ERROR_REPORTING;
    ok = syscall(SYS_write, probe[1], at, size) == (long)size &&
         syscall(SYS_read, probe[0], to, size) == (long)size;
    VALGRIND_ENABLE_ERROR_REPORTING;
    return ok;
}

static bool in_program(uintptr_t pc)
{
    return module_count > 0 && pc >= modules[0].base && pc < modules[0].end;
}

/* Checks whether this is the return address of a call in the program. */
static bool is_return(uintptr_t pc, bool indirect)
{
    uint8_t before[8];

    return in_program(pc) && peek(pc - sizeof(before), before, sizeof(before)) &&
           (is_call(before) || (indirect && is_indirect_call(before)));
}

static bool is_frame(uintptr_t fp, uintptr_t record[2])
{
    return fp % sizeof(fp) == 0 && peek(fp, record, 2 * sizeof(*record)) &&
           is_return(record[1], true);
}

/* Finds the caller in the program when the thread is in a library. Libraries are built without
 * frame pointers, so the frame register either still belongs to our function that called the
 * library, or was saved and reused; then only the stack knows the caller. The first stack word that
 * is an address after a call in the program is taken as the caller, the first that points to a
 * frame as its frame. */
static uintptr_t find_caller(struct registers *r)
{
    uintptr_t record[2], word, caller = 0;
    bool have_frame = r->fp >= r->sp && is_frame(r->fp, record);
    uintptr_t end = have_frame ? r->fp : r->sp + SCAN_SIZE;

    for (uintptr_t at = r->sp; at < end && peek(at, &word, sizeof(word)); at += sizeof(word)) {
        if (!caller && is_return(word, false))
            caller = word;
        if (!have_frame && word > at && word - at < SCAN_SIZE && is_frame(word, record)) {
            have_frame = true;
            r->fp = word;
        }
        if (caller && have_frame)
            break;
    }
    return caller;
}

int co_trace_from(const void *ucontext, uintptr_t *pc, int max)
{
    struct registers r = registers(ucontext);
    uintptr_t record[2], caller = 0; /* {the caller's frame, the return address} */
    int n = 0;

    if (probe[0] < 0 || !r.pc || max < 2)
        return 0;
    pc[n++] = r.pc;
    if (!in_program(r.pc))
        caller = find_caller(&r);
    if (caller)
        pc[n++] = caller - 1; /* inside the call, not after it */
    while (n < max && is_frame(r.fp, record)) {
        if (record[1] != caller)
            pc[n++] = record[1] - 1;
        if (record[0] <= r.fp)
            break; /* callers are higher up */
        r.fp = record[0];
    }
    return n;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Returns the full symbol table if the file has one, otherwise the dynamic one. */
static const ElfW(Shdr) *symbol_section(const uint8_t *map, size_t size)
{
    const ElfW(Ehdr) *head = (const void *)map;
    const ElfW(Shdr) *sections = (const void *)(map + head->e_shoff);
    const ElfW(Shdr) *found = NULL;

    if (head->e_shoff > size || (size - head->e_shoff) / sizeof(*sections) < head->e_shnum)
        return NULL;
    for (size_t i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *s = &sections[i];
        bool sane = s->sh_offset <= size && s->sh_size <= size - s->sh_offset &&
                    s->sh_link < head->e_shnum;

        if (sane && (s->sh_type == SHT_SYMTAB || (s->sh_type == SHT_DYNSYM && !found)))
            found = s;
    }
    return found;
}

static void read_symbols(struct module *m, const uint8_t *map, size_t size)
{
    const ElfW(Ehdr) *head = (const void *)map;
    const ElfW(Shdr) *syms, *strings;

    if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    syms = symbol_section(map, size);
    if (!syms)
        return;
    strings = (const ElfW(Shdr) *)(const void *)(map + head->e_shoff) + syms->sh_link;
    if (strings->sh_offset > size || strings->sh_size > size - strings->sh_offset)
        return;
    m->syms = (const void *)(map + syms->sh_offset);
    m->count = syms->sh_size / sizeof(*m->syms);
    m->strings = (const char *)map + strings->sh_offset;
    m->strings_size = strings->sh_size;
}

/* Maps the file permanently; only the pages that are read use memory. */
static void map_file(struct module *m, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *map;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED)
            read_symbols(m, map, (size_t)st.st_size);
    }
    (void)close(fd);
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *path = info->dlpi_name;
    struct module *m = &modules[module_count];

    (void)size;
    (void)arg;
    if (module_count == MAX_MODULES)
        return 1;
    if (!*path)
        path = module_count == 0 ? "/proc/self/exe" : "vdso";
    *m = (struct module){ .base = info->dlpi_addr };
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && m->base + p->p_vaddr + p->p_memsz > m->end)
            m->end = m->base + p->p_vaddr + p->p_memsz;
    }
    strncpy(m->name, module_count == 0 ? "program" : base_name(path), sizeof(m->name) - 1);
    map_file(m, path);
    module_count++;
    return 0;
}

void co_trace_init(void)
{
    if (probe[0] >= 0)
        return;
    if (pipe2(probe, O_CLOEXEC | O_NONBLOCK) < 0)
        probe[0] = probe[1] = -1;
    (void)dl_iterate_phdr(on_module, NULL);
}

void co_text_add(struct co_text *w, const char *s)
{
    while (*s && w->n + 1 < w->size)
        w->buf[w->n++] = *s++;
    if (w->size > 0)
        w->buf[w->n] = '\0';
}

void co_text_number(struct co_text *w, uintptr_t v, unsigned base)
{
    char digits[24], *p = digits + sizeof(digits) - 1;

    *p = '\0';
    do {
        *--p = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    co_text_add(w, base == 16 ? "0x" : "");
    co_text_add(w, p);
}

static const ElfW(Sym) *find_symbol(const struct module *m, uintptr_t offset)
{
    for (size_t i = 0; i < m->count; i++) {
        const ElfW(Sym) *s = &m->syms[i];

        if ((s->st_info & 15) == STT_FUNC && offset >= s->st_value &&
            offset - s->st_value < s->st_size && s->st_name < m->strings_size)
            return s;
    }
    return NULL;
}

static void add_name(struct co_text *t, uintptr_t pc)
{
    for (int i = 0; i < module_count; i++) {
        const struct module *m = &modules[i];
        const ElfW(Sym) *s;

        if (pc < m->base || pc >= m->end)
            continue;
        s = find_symbol(m, pc - m->base);
        co_text_add(t, s ? m->strings + s->st_name : m->name);
        co_text_add(t, "+");
        co_text_number(t, pc - m->base - (s ? s->st_value : 0), 16);
        return;
    }
    co_text_number(t, pc, 16);
}

size_t co_trace_text(const uintptr_t *pc, int n, char *buf, size_t size)
{
    struct co_text t = { buf, size, 0 };

    co_text_add(&t, "");
    for (int i = 0; i < n; i++) {
        if (i > 0)
            co_text_add(&t, " < ");
        add_name(&t, pc[i]);
    }
    return t.n;
}
