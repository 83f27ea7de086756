/* SPDX-License-Identifier: MIT */
/* options.c - the command line. */
#include "app/options.h"

#include "app/version.h"

#include <stddef.h>
#include <string.h>

/* Every option: its letters, its long name, the flag it sets (-1 for -c) and its help. */
static const struct option {
    const char *letters, *word;
    int flag;
    bool last; /* ignores all that follows */
    const char *usage, *help;
} table[] = {
    { "c", NULL, -1, false, "-c FILE", "Serve with this configuration file." },
    { "t", NULL, offsetof(struct options, test), false, "-t",
      "Test the configuration file of -c and exit." },
    { "e", NULL, offsetof(struct options, env_only), false, "-e",
      "No file: all settings from the environment, SRS_LISTEN and so on." },
    { "", "doctor", offsetof(struct options, doctor), false, "--doctor",
      "Check whether this machine fits the configuration, print advice, and exit." },
    { "vV", "version", offsetof(struct options, version), true, "-v, -V, --version",
      "Print the version and exit." },
    { "gG", NULL, offsetof(struct options, signature), true, "-g, -G",
      "Print the server's signature and exit." },
    { "h?", "help", offsetof(struct options, help), true, "-h, -?, --help",
      "Print this help and exit." },
};

enum { OPTIONS = sizeof(table) / sizeof(table[0]) };

static void set(struct options *o, const struct option *row)
{
    *(bool *)((char *)o + row->flag) = true;
}

/* Parses a word of letters. Sets *last if the rest of the command line is ignored. *next is the
 * following word, if any. */
static err_t letters(struct options *o, const char *word, char ***next, bool *last)
{
    for (const char *p = word + 1; *p && !*last; p++) {
        const struct option *row = table;

        while (row < table + OPTIONS && !strchr(row->letters, *p))
            row++;
        if (row == table + OPTIONS)
            return err_new(ERR_CONF, "invalid option \"%c\" in \"%.40s\"", *p, word);
        *last = row->last;
        if (row->flag >= 0) {
            set(o, row);
            continue;
        }
        o->conf = p[1] ? p + 1 : **next;
        if (!o->conf)
            return err_new(ERR_CONF, "option -c needs a file");
        if (!p[1])
            (*next)++;
        return NULL;
    }
    return NULL;
}

static err_t long_word(struct options *o, const char *word, bool *last)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].word && strcmp(word + 2, table[i].word) == 0) {
            set(o, &table[i]);
            *last = table[i].last;
            return NULL;
        }
    }
    return err_new(ERR_CONF, "invalid option \"%.40s\"", word);
}

err_t options_parse(struct options *o, int argc, char **argv)
{
    char **next = argv + 1;
    bool last = false;
    err_t err = NULL;

    *o = (struct options){ .nothing = argc < 2 };
    while (argc > 0 && *next && !last && !err) {
        const char *word = *next++;

        if (word[0] != '-') {
            o->help = last = true;
        } else if (word[1] == '-' && word[2]) {
            err = long_word(o, word, &last);
        } else if (!word[1] || word[1] == '-') {
            err = err_new(ERR_CONF, "invalid option \"%s\"", word);
        } else {
            err = letters(o, word, &next, &last);
        }
    }
    return err;
}

void options_from_env(struct options *o, const char *(*get)(const char *name))
{
    const char *file = get("SRS_CONFIG_FILE");
    const char *only = get("SRS_ENV_ONLY");

    if (file && *file)
        o->conf = file;
    if (only && *only && strcmp(only, "off") != 0 && strcmp(only, "false") != 0 &&
        strcmp(only, "0") != 0)
        o->env_only = true;
    if (o->nothing && !o->conf && !o->env_only)
        o->help = true;
}

void options_help(FILE *to, const char *program)
{
    fprintf(to, "%s, a media server.\nUsage: %s <-h|-v|-g|-e|[-t|--doctor] -c FILE>\n",
            VERSION_SIGNATURE, program);
    for (size_t i = 0; i < OPTIONS; i++)
        fprintf(to, "    %-20s %s\n", table[i].usage, table[i].help);
    fprintf(to,
            "Signals: HUP reloads the file, USR1 reopens the log, TERM quits, QUIT quits when\n"
            "all clients have left. SRS_CONFIG_FILE replaces -c, SRS_ENV_ONLY=on replaces -e.\n"
            "For example:\n    %s -c conf/srs.conf\n"
            "    env SRS_LISTEN=1935 SRS_DAEMON=off %s -e\n"
            "    ffmpeg -re -i doc/source.flv -c copy -f flv rtmp://127.0.0.1/live/livestream\n"
            "    ffplay rtmp://127.0.0.1/live/livestream\n",
            program, program);
}
