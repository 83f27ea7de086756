#!/bin/sh
# SPDX-License-Identifier: MIT
# make-man.sh OBJS VERSION DATE OUT - the pages of the manual in OUT/man1, man5 and man8.
#
# What programs say of themselves is taken from their own -h, directives from conf/full.conf, which
# is made from the tables of the server: pages cannot be older than the program.
set -eu

objs=$1 version=$2 date=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/man1" "$out/man5" "$out/man8"

# As roff's text: no hyphens for minus signs, no backslashes, no requests at the start of a line.
escape() {
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
}

# "    -c FILE     What it does" -> an item with a tag.
options() {
    sed -n 's/^  *\(-[^ ]*\(,\{0,1\} [^ ][^ ]*\)*\)   *\(.*\)/\1\
\3/p' | escape | sed '1~2s/^\(.*\)$/.TP\
.B "\1"/'
}

"$objs/srs" -h | options > "$out/options"
sed -e "s/@VERSION@/$version/; s/@DATE@/$date/" -e "/^@OPTIONS@/{r $out/options
d
}" "$here/srs.8" > "$out/man8/srs.8"
rm "$out/options"

. "$here/../files.sh"
for name in $tools; do
    tool=$objs/$name
    {
        echo ".TH $(echo "$name" | tr a-z A-Z) 1 \"$date\" \"srs $version\" \"User Commands\""
        echo ".SH NAME"
        "$tool" --help | sed -n "1s/.*\($name - .*\)/\1/p" | sed 's/ - / \\- /'
        echo ".SH SYNOPSIS"
        "$tool" --help | sed -n "s/^Usage: .*\($name.*\)/\1/p" | escape
        echo ".SH DESCRIPTION"
        echo "Loads a media server as many clients would, and tells what they saw. It ends after"
        echo ".BR \\-\\-duration ,"
        echo "or when all sessions are over, or by Ctrl+C, with a summary. It is for servers of your own."
        echo ".SH OPTIONS"
        "$tool" --help | options
        echo ".SH SEE ALSO"
        echo ".BR srs (8)"
    } > "$out/man1/$name.1"
done

{
    echo ".TH SRS.CONF 5 \"$date\" \"srs $version\" \"File Formats Manual\""
    echo ".SH NAME"
    echo "srs.conf \\- configuration of the media server srs"
    echo ".SH DESCRIPTION"
    echo "A directive is a name, values and a semicolon, or a name and a block in braces; # begins a comment."
    echo "What is in a"
    echo ".B vhost"
    echo "counts for its streams, what is in"
    echo ".B vhost __defaultVhost__"
    echo "for all that have none of their own. Environment variables win over the file."
    echo ".PP"
    echo ".B srs \\-t \\-c"
    echo ".I FILE"
    echo "says whether a file is right, with line and the nearest known name if not."
    echo ".SH DIRECTIVES"
    echo ".nf"
    escape < "$here/../../conf/full.conf"
    echo ".fi"
    echo ".SH SEE ALSO"
    echo ".BR srs (8)"
} > "$out/man5/srs.conf.5"
