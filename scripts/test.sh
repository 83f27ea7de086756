#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh - installs missing packages, builds, and runs all tests.
# test.sh OBJS PART... - runs these parts of the tests with the programs in OBJS.
#
# Needs only a shell and the package manager. All parts run even if some fail. The last line is "N passed,
# N failed" for all parts, the line before it "N retried". The exit status is not 0 if a test failed or none
# ran.
set -u
cd "$(dirname "$0")/.."

if [ $# = 0 ]; then
    3rdparty/install.sh build test || exit 1
    set -- "${OBJS:-objs}" build beside e2e unit e2e-workers
fi
objs=$1
shift
passed=0 failed=0 notes= retried= beside= together=
retries=6 # maximum number of tests that may run again alone, after they failed in parallel with others
mkdir -p "$objs/log"

count() { # passed, failed
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# Succeeds if this many further tests may run again.
may_retry() { # number
    [ "$(($(printf %s "$retried" | grep -c .) + $1))" -le $retries ]
}

finish() {
    [ -z "$notes" ] || echo "${notes#, }"
    [ -z "$retried" ] || printf 'failed in parallel with others and ran again alone:\n%s' "$retried"
    echo "$(printf %s "$retried" | grep -c .) retried"
    echo "$passed passed, $failed failed"
    [ $failed = 0 ] && [ $passed != 0 ]
}

one() { # name, command...: one test
    name=$1
    shift
    if "$@" > "$objs/log/$name" 2>&1; then
        echo "ok      $name"
        count 1 0
    else
        echo "FAILED  $name"
        sed 's/^/    /' "$objs/log/$name"
        count 0 1
    fi
}

# Sets rc, p (passed) and f (failed).
unit_counts() { # log, status
    rc=$2
    p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$1" | tail -n 1)
    f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$1" | tail -n 1)
    if [ "$rc" != 0 ] && [ "${f:-0}" = 0 ]; then
        f=1
    fi
}

# Runs a program and sets the same. EMULATOR="program and its options" runs programs of another architecture.
# It is slow, so tests that measure time get three tries, and incomplete, so programs in test/unit/EMULATED
# may fail.
unit_run() { # program, log
    for try in 1 2 3; do
        # shellcheck disable=SC2086
        timeout "$((120 * slow))" ${EMULATOR:-} "$1" > "$2" 2>&1
        unit_counts "$2" $?
        [ -n "${EMULATOR:-}" ] && [ $rc != 0 ] || return 0
        if [ $rc -lt 120 ]; then # the number of failed tests
            f=$(sed -n 's/^\[  \(FAILED\|ERROR \)  *\] \([A-Za-z_][A-Za-z0-9_]*\)$/\2/p' "$2" |
                sort -u | grep -cvxF -f test/unit/EMULATED)
            [ "$f" != 0 ] || { rc=0; return 0; }
        fi
    done
}

unit_programs() {
    for t in "$objs"/test/test_*; do
        [ -x "$t" ] && [ -f "test/unit/${t##*/}.c" ] || continue
        [ -z "${EMULATOR:-}" ] || ! grep -qxF "${t##*/}" test/unit/EMULATED || continue
        echo "$t"
    done
}

# Runs several programs in parallel, each with its log. A program that passes leaves LOG.ok.
unit_together() {
    rm -f "$objs"/log/test_*.ok
    unit_programs | OBJS=$objs SECONDS_MOST=$((120 * slow)) xargs -P "$UNIT_JOBS" -I '{}' sh -c '
        log=$OBJS/log/${1##*/}
        timeout "$SECONDS_MOST" "$1" > "$log" 2>&1 && : > "$log.ok"' sh '{}'
}

# cmocka prints "[  PASSED  ] 3 test(s)." and "[  FAILED  ] 1 test(s), ...". A program that crashed or was
# stopped counts as one more failure. A program that fails in parallel with others may pass alone.
unit() {
    [ -n "${EMULATOR:-}" ] || [ "$together" = done ] || unit_together
    for t in $(unit_programs); do
        log=$objs/log/${t##*/}
        if [ -e "$log.ok" ]; then
            rm -f "$log.ok"
            unit_counts "$log" 0
        elif [ -n "${EMULATOR:-}" ]; then
            unit_run "$t" "$log"
        elif may_retry 1; then
            retried="$retried${t##*/}
"
            unit_run "$t" "$log"
        else
            unit_counts "$log" 1
        fi
        count "${p:-0}" "${f:-0}"
        if [ $rc = 0 ]; then
            echo "ok      ${t##*/}: ${p:-0}"
        else
            echo "FAILED  ${t##*/}: ${f:-0} of $((${p:-0} + ${f:-0})), status $rc"
            grep -v '^\[ RUN  \|^\[       OK' "$log" | sed 's/^/    /' | tail -n 100
        fi
    done
}

fuzz_names() {
    for t in test/fuzz/fuzz_*.c; do
        t=${t##*/fuzz_}
        [ "$t" = main.c ] || echo "${t%.c}"
    done
}

# Replays the inputs of all fuzz targets with the program of the normal build.
replay() {
    for t in $(fuzz_names); do
        one "replay-$t" timeout $((60 * slow)) "$objs/test/seeds" test/fuzz/corpus "$t"
    done
}

# Fuzz targets built with sanitizers and coverage.
fuzz_targets() {
    for t in $(fuzz_names); do
        [ -x "$objs/fuzz/$t" ] && [ "${FUZZ:-$t}" = "$t" ] && echo "$t"
    done
}

fuzz_seeds() {
    for t in $(fuzz_targets); do
        one "seeds-$t" timeout 300 "$objs/fuzz/$t" -r "test/fuzz/corpus/$t"
    done
}

fuzz() {
    for t in $(fuzz_targets); do
        echo "fuzzing $t for ${FUZZ_SECONDS:-60} s"
        mkdir -p "$objs/fuzz/found"
        one "fuzz-$t" env FUZZ_FOUND="$objs/fuzz/found/$t-" timeout $((${FUZZ_SECONDS:-60} + 120)) \
            "$objs/fuzz/$t" -t "${FUZZ_SECONDS:-60}" "test/fuzz/corpus/$t"
        tail -n 1 "$objs/log/fuzz-$t"
    done
}

# The first Python with pytest and pytest-xdist; otherwise any with pytest, without parallel tests.
find_python() {
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import pytest, xdist' 2> /dev/null && side_by_side="-n $E2E_JOBS" && return
    done
    python=python3 side_by_side=
}

# The counts come from pytest's report, not from its output.
run_pytest() { # name, arguments of pytest...
    xml=$objs/log/$1.xml
    what=$1
    shift
    rm -f "$xml"
    SRS_BINARY=$objs/srs E2E_SLOW=$slow E2E_KEEP=$objs/e2e PYTHONPYCACHEPREFIX=$cache \
        "$python" -m pytest -q -rs -p no:cacheprovider --junitxml="$xml" "$@"
    ended=$? # 1: tests failed, 5: no tests; others: it did not run all tests
    if ! [ -s "$xml" ] || { [ $ended -gt 1 ] && [ $ended != 5 ]; }; then
        echo "FAILED  $what: pytest ended with $ended"
        count 0 1
        return
    fi
    # shellcheck disable=SC2046
    set -- $(python3 -c '
import sys, xml.etree.ElementTree as e
s = list(e.parse(sys.argv[1]).getroot().iter("testsuite"))
n = lambda k: sum(int(x.get(k, 0)) for x in s)
bad = n("failures") + n("errors")
print(n("tests") - bad - n("skipped"), bad, n("skipped"))' "$xml")
    count "$1" "$2"
    [ "$3" = 0 ] || notes="$notes, $3 $what tests left out (see above)"
}

failed_tests() { # report of a run: prints one test per line
    python3 -c '
import sys, xml.etree.ElementTree as e
for t in sorted({x.get("classname").replace(".", "/") + ".py::" + x.get("name")
                 for x in e.parse(sys.argv[1]).getroot().iter("testcase")
                 if x.find("failure") is not None or x.find("error") is not None}):
    print(t)' "$1"
}

# Names of tests may contain spaces, so each is on a line.
again() { # names
    ifs=$IFS
    IFS='
'
    set -f
    # shellcheck disable=SC2086
    set -- $1
    set +f
    IFS=$ifs
    run_pytest end-to-end-again $quick "$@"
}

# Tests disturb each other, so a test that fails in parallel with others runs again alone.
# Tests that measure time or need the whole machine run last, one by one.
e2e() {
    quick=--quick before=$failed
    [ -z "${E2E_LONG:-}" ] || quick=
    # shellcheck disable=SC2086
    if [ -n "$side_by_side" ]; then
        run_pytest end-to-end $quick $side_by_side -m 'not alone' ${E2E_ARGS:-} test/e2e
        again=$(failed_tests "$objs/log/end-to-end.xml")
        if [ -n "$again" ] && may_retry "$(echo "$again" | wc -l)"; then
            failed=$before retried="$retried$again
"
        else
            again=
        fi
        beside_ends
        [ -z "$again" ] || again "$again"
        run_pytest end-to-end-alone $quick -m alone ${E2E_ARGS:-} test/e2e
    else
        beside_ends
        run_pytest end-to-end $quick ${E2E_ARGS:-} test/e2e
    fi
}

# A selection of end-to-end tests with this many workers. To run all: e2e with E2E_WORKERS=4.
e2e_workers() {
    set --
    for name in publish_play takeover http_flv hooks reload; do
        set -- "$@" "test/e2e/test_$name.py"
    done
    # shellcheck disable=SC2086
    E2E_WORKERS=4 run_pytest end-to-end-workers --quick $side_by_side "$@"
}

# Tests each profiler and checker in its own variant below $objs, and tools that inspect a running server.
profile() {
    # shellcheck disable=SC2086
    OBJS=$objs run_pytest profile --durations=5 ${PROFILE_ARGS:-} test/profile
}

make_all() { # targets
    [ -f "$objs/config.mk" ] || ./configure --objs="$objs" --ffmpeg-fit=on > /dev/null || exit 1
    "${MAKE:-make}" --no-print-directory OBJS="$objs" "$@" || {
        echo "FAILED  build of $*"
        count 0 1
        finish
        exit 1
    }
}

# Python compiles the tests during the build.
collect() {
    PYTHONPYCACHEPREFIX=$cache nice -n 19 "$python" -m pytest -q -p no:cacheprovider --collect-only test/e2e \
        > "$objs/log/collect" 2>&1 &
}

# End-to-end tests mostly wait, so all other tests run in parallel and use the remaining CPU time. They have
# a session of their own, because Linux divides CPU time among sessions first (autogroups), and applies nice
# values only within a session.
beside() {
    rm -f "$objs"/log/test_*.ok
    together=done
    # shellcheck disable=SC2016
    setsid sh -c 'echo 19 > /proc/self/autogroup; exec nice -n 19 "$@"' sh scripts/test.sh "$objs" \
        units unit-together replay layers symbols banned style > "$objs/log/beside" 2>&1 &
    beside=$!
    trap 'kill -s TERM -- "-$beside"' EXIT
    trap 'exit 1' HUP INT TERM
}

beside_ends() {
    [ -n "$beside" ] || return 0
    wait "$beside"
    beside=
    trap - EXIT
    grep -v '^  [A-Z]* \|^[0-9]* passed, \|^[0-9]* retried$' "$objs/log/beside"
    # shellcheck disable=SC2046
    count $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$objs/log/beside" | grep . || echo 0 1)
}

slow=1
if grep -qs 'BUILD_SANITIZER 1\|BUILD_VALGRIND 1\|BUILD_GCOV 1' "$objs/config.h"; then
    slow=4
fi
: "${E2E_JOBS:=2}" "${UNIT_JOBS:=4}" # unit tests mostly wait
find_python
# Keeps Python's compiled tests outside the tree. Compiling them takes longer than collecting all tests.
case $objs in
/*) cache=$objs/pycache ;;
*) cache=$PWD/$objs/pycache ;;
esac
unset PYTHONDONTWRITEBYTECODE
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-print_suppressions=0}"

for part; do
    case $part in
    build) collect; make_all all ;;
    units | seeds | fuzzers) make_all "$part" ;;
    beside) beside ;;
    unit) unit ;;
    unit-together) unit_together ;;
    replay) replay ;;
    fuzz-seeds) fuzz_seeds ;;
    fuzz) fuzz ;;
    layers | banned) one "$part" scripts/check_$part.py src ;;
    symbols)
        one symbols scripts/check_symbols.py src "$objs"
        one unused scripts/check_unused.py src "$objs" test
        one circles scripts/check_circles.py src "$objs"
        one fakes scripts/check_fakes.py test/unit "$objs"
        ;;
    style)
        one style scripts/check_size.py src test/lib test/unit test/fuzz
        one contributing scripts/check_contributing.py
        one english scripts/check_english.py
        ;;
    e2e) e2e ;;
    e2e-workers) e2e_workers ;;
    profile) profile ;;
    *) echo "test.sh: no part $part" >&2; exit 1 ;;
    esac
done
beside_ends
finish
