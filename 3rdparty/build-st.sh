#!/bin/sh
# SPDX-License-Identifier: MIT
# build-st.sh TARBALL OUT VARIANT [CC] [AR] - patches and builds state-threads: OUT/libst.a, OUT/st.h.
#
# VARIANT: plain; asan or tsan (informs that sanitizer of every switch); valgrind (registers every stack).
# The library consists of the upstream sources with patches/*.patch, in order, and the files in st/, which
# replace event.c, stk.c and md.S. io.c is not built, because src/co does the socket I/O.
set -eu

tarball=$1 out=$2 variant=$3 cc=${4:-cc} ar=${5:-ar}
here=$(cd "$(dirname "$0")" && pwd)
flags="-O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fPIC -ftls-model=local-exec -D_GNU_SOURCE -DLINUX"
case $variant in
plain) ;;
asan) flags="$flags -DST_ASAN" ;;
tsan) flags="$flags -DST_TSAN" ;;
valgrind) flags="$flags -DST_VALGRIND" ;;
*) echo "build-st: unknown variant $variant" >&2; exit 1 ;;
esac

rm -rf "$out.new"
mkdir -p "$out.new/src"
tar -xzf "$tarball" -C "$out.new/src" --strip-components 1
# Replaced by files in st/, or unused.
sed -i '/^int st_poll(/,/^}/d; /^void _st_vp_schedule(/,/^}/d' "$out.new/src/sched.c"
for p in "$here"/patches/*.patch; do
    patch -d "$out.new/src" -s -p1 < "$p"
done
cp "$here"/st/* "$out.new/src/"
mv "$out.new/src/public.h" "$out.new/st.h"
ln -s ../st.h "$out.new/src/public.h"
# Path where the debugger looks for the sources.
map="-ffile-prefix-map=$out.new/src=$out/src"
for f in sched sync key; do
    $cc $flags "$map" -Wall -Wno-unused-but-set-variable -c "$out.new/src/$f.c" -o "$out.new/$f.o"
done
for f in "$here"/st/*.c; do
    f=$(basename "$f" .c)
    $cc $flags "$map" -std=c17 -Wall -Wextra -Werror -Wno-sign-compare -Wno-cast-function-type \
        -c "$out.new/src/$f.c" -o "$out.new/$f.o"
done
$cc $flags "$map" -c "$out.new/src/context.S" -o "$out.new/context.o"
$ar rcs "$out.new/libst.a" "$out.new"/*.o
rm -f "$out.new"/*.o
rm -rf "$out"
mv "$out.new" "$out"
