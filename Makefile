# SPDX-License-Identifier: MIT
# Makefile - builds everything below $(OBJS). `make help` lists the targets, ./configure writes the settings.
OBJS ?= objs

# These targets install packages or need no build, so they work without the settings of ./configure.
PLAIN := run test test-asan test-tsan test-long test-profile bench bench-quick clean distclean help player \
    install-deps layers protocols banned style cross-arm64 test-arm64 check coverage
ifneq ($(filter-out $(PLAIN),$(or $(MAKECMDGOALS),all)),)
include $(OBJS)/config.mk
MAKEFLAGS += -j$(JOBS)
endif

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

# V=1 shows the commands.
Q = $(if $(V),,@echo '  $(1) $@';)

# "CC 3 of 710": the first compilation counts the compilations with a dry run of the same goals. In the dry run
# config.h must look older than config.mk, which is written together with it.
CC_Q = $(eval CC_DONE += x)$(call Q,CC $(words $(CC_DONE)) of $(CC_ALL))
CC_ALL = $(eval CC_ALL := $(shell MAKEFLAGS= '$(MAKE)' -n -o $(OBJS)/config.h $(MAKEOVERRIDES) V= CC_ALL=1 \
    $(filter-out $(PLAIN),$(or $(MAKECMDGOALS),all)) 2> /dev/null | grep -c "^echo '  CC "))$(CC_ALL)

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes \
    -Wformat=2 -Wundef -Wframe-larger-than=8192 -Werror
# All objects are linked into programs, so thread-local variables have a fixed offset to a register.
TLS = -ftls-model=local-exec
CPPFLAGS_ALL = -D_GNU_SOURCE -Isrc -I$(OBJS) -isystem $(ST) $(CPPFLAGS)
CFLAGS_ALL = -std=c17 $(OPTIMIZE) $(TLS) -g -fno-omit-frame-pointer $(HARDEN) $(WARN) \
    $(VARIANT_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(HARDEN_LINK) $(VARIANT_LDFLAGS) $(LDFLAGS)

# ---- sources, found by pattern

O = $(OBJS)/o
SRC := $(filter-out $(LEFT_OUT),$(sort $(shell find src -name '*.c')))
MAIN := $(wildcard src/app/main.c)
LOAD_SRC := $(filter src/tools/load/%,$(SRC))
LIB_SRC := $(filter-out $(LOAD_SRC) $(MAIN),$(SRC))
TOOL_SRC := $(wildcard src/tools/load/sb_*.c)
TOOL_LIB_SRC := $(filter-out $(TOOL_SRC),$(LOAD_SRC))
UNIT_SRC := $(sort $(wildcard test/unit/test_*.c))
# shared by unit tests and fuzz targets
TEST_LIB_SRC := $(sort $(wildcard test/lib/*.c))
UNIT_LIB_SRC := $(sort $(wildcard test/unit/lib/*.c)) $(TEST_LIB_SRC)
# Tests that replace functions of the program (listed in test/unit/FAKES) are separate programs.
UNIT_ALONE := $(shell sed -n 's/^\(test_[a-z0-9_]*\):.*/\1/p' test/unit/FAKES | sort -u)
unit_fakes = $(shell sed -n 's/([a-z0-9_]*)//g; s/^$(1)://p' test/unit/FAKES)
FUZZ_SRC := $(sort $(filter-out test/fuzz/fuzz_main.c,$(wildcard test/fuzz/fuzz_*.c)))
FUZZ_LIB_SRC := $(filter-out test/fuzz/seeds.c test/fuzz/fuzz_%.c,$(sort $(wildcard test/fuzz/*.c)))
FUZZ_PARTS := test/fuzz/fuzz_main.c $(FUZZ_LIB_SRC)

PROGRAM := $(if $(MAIN),$(OBJS)/srs)
TOOLS := $(TOOL_SRC:src/tools/load/%.c=$(OBJS)/%)
UNITS := $(UNIT_SRC:test/unit/%.c=$(OBJS)/test/%)
FUZZERS := $(FUZZ_SRC:test/fuzz/fuzz_%.c=$(OBJS)/fuzz/%)
LIB := $(OBJS)/libsrs.a
CONSOLE := $(patsubst www/%,$(OBJS)/%,$(wildcard www/console/*))

all: server $(TOOLS)
server: $(LIB) $(PROGRAM) $(CONSOLE) players certificate
units: $(UNITS) seeds
fuzzers: $(FUZZERS)
seeds: $(OBJS)/test/seeds

# ---- settings: written by configure, which runs again with the same options after it changes

$(OBJS)/config.mk: configure
	./configure $(or $(CONFIGURE_ARGS),--objs=$(OBJS))

$(OBJS)/config.h: $(OBJS)/config.mk ;

# ---- state-threads, one build per variant and target, shared by all configurations

st_dir = objs/st$(ST_TARGET)$(if $(filter-out plain,$(1)),-$(1))
ST = $(call st_dir,$(ST_VARIANT))
ST_INPUT := 3rdparty/build-st.sh $(wildcard 3rdparty/patches/*.patch 3rdparty/st/*)
ST_TGZ := objs/st-source/st_1.9.orig.tar.gz

$(ST_TGZ): 3rdparty/fetch-st.sh
	3rdparty/fetch-st.sh $(@D)
	@touch $@

define ST_RULE
$(call st_dir,$(1))/libst.a: $(ST_INPUT) $(ST_TGZ)
	3rdparty/build-st.sh $(ST_TGZ) $$(@D) $(1) '$$(CC)' '$$(AR)'
$(call st_dir,$(1))/st.h: $(call st_dir,$(1))/libst.a ;
endef
$(foreach v,plain asan tsan valgrind,$(eval $(call ST_RULE,$(v))))

st: $(ST)/libst.a

# ---- objects and programs

$(O)/%.o: %.c Makefile $(OBJS)/config.mk $(OBJS)/config.h | $(ST)/st.h
	@mkdir -p $(@D)
	$(CC_Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# Compiles tests in half the time. The code under test is still optimized.
$(O)/test/unit/%.o: CPPFLAGS += -Itest/unit -Itest/unit/lib
$(O)/test/%.o: CPPFLAGS += -Itest/lib
$(O)/test/unit/%.o: OPTIMIZE := $(OPTIMIZE:-O2=-Og)

# The list of members is an input too, so a removed source also leaves the library.
$(OBJS)/%.list: FORCE
	@mkdir -p $(@D)
	@echo '$(LIST)' | cmp -s - $@ || echo '$(LIST)' > $@

$(OBJS)/libsrs.list: LIST = $(LIB_SRC)
$(LIB): $(LIB_SRC:%.c=$(O)/%.o) $(OBJS)/libsrs.list
	$(call Q,AR)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)

link = $(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^

$(OBJS)/srs: $(O)/src/app/main.o $(LIB) $(ST)/libst.a
	$(link) $(PROGRAM_LDFLAGS) $(LIBS) -o $@

$(OBJS)/sb_%: $(O)/src/tools/load/sb_%.o $(TOOL_LIB_SRC:%.c=$(O)/%.o) $(LIB) $(ST)/libst.a
	$(link) $(PROGRAM_LDFLAGS) $(LIBS) -o $@

# Builds the server before the first load tool.
$(LOAD_SRC:%.c=$(O)/%.o): | $(PROGRAM)

# ---- unit tests: a program per room (second word of test_ROOM_*.c); each test_* is a link to it

UNIT_SHARED := $(filter-out $(UNIT_ALONE),$(UNIT_SRC:test/unit/%.c=%))
UNIT_LIB := $(OBJS)/test/libunit.a

# test_*: rooms with a single file share the room `other`
unit_word = $(word 2,$(subst _, ,$(1)))
unit_room = $(if $(word 2,$(filter test_$(call unit_word,$(1)) test_$(call unit_word,$(1))_%,$(UNIT_SHARED))),$(call unit_word,$(1)),other)
UNIT_ROOMS := $(sort $(foreach t,$(UNIT_SHARED),$(call unit_room,$(t))))
unit_objects = $(foreach t,$(UNIT_SHARED),$(if $(filter $(1),$(call unit_room,$(t))),$(O)/test/unit/$(t).o))
# objects of the load tools are not in a library
unit_parts = $(if $(filter load test_load%,$(1)),$(TOOL_LIB_SRC:%.c=$(O)/%.o)) $(UNIT_LIB) $(LIB) $(ST)/libst.a

$(OBJS)/test/alone.list: LIST = $(UNIT_ALONE)
$(UNITS:$(OBJS)/test/%=$(O)/test/unit/%.o): $(OBJS)/test/alone.list
$(OBJS)/test/libunit.list: LIST = $(UNIT_LIB_SRC)
$(UNIT_LIB): $(UNIT_LIB_SRC:%.c=$(O)/%.o) $(OBJS)/test/libunit.list
	$(call Q,AR)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)

unit_link = $(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(filter-out %.list,$^) -lcmocka $(LIBS) -o $@

define UNIT_ROOM_RULE
$(OBJS)/test/room_$(1).list: LIST = $(2)
$(OBJS)/test/room_$(1): $(2) $(OBJS)/test/room_$(1).list $(call unit_parts,$(1))
	$$(unit_link)
endef
$(foreach r,$(UNIT_ROOMS),$(eval $(call UNIT_ROOM_RULE,$(r),$(call unit_objects,$(r)))))

define UNIT_SHARED_RULE
$(O)/test/unit/$(1).o: CPPFLAGS += -Dmain=main_$(1) -DUNIT_NAME='"$(1)"'
$(OBJS)/test/$(1): $(OBJS)/test/room_$(call unit_room,$(1))
	@ln -sf room_$(call unit_room,$(1)) $$@
endef
$(foreach t,$(UNIT_SHARED),$(eval $(call UNIT_SHARED_RULE,$(t))))

define UNIT_ALONE_RULE
$(O)/test/unit/$(1).o: CPPFLAGS += $(foreach f,$(2),-D$(f)=__wrap_$(f))
$(O)/test/unit/$(1).o: test/unit/FAKES
$(OBJS)/test/$(1): $(O)/test/unit/$(1).o $(call unit_parts,$(1))
	$$(unit_link) $(2:%=-Wl,--wrap=%)
endef
$(foreach t,$(UNIT_ALONE),$(eval $(call UNIT_ALONE_RULE,$(t),$(call unit_fakes,$(t)))))

# ---- all fuzz targets in one program of the normal build, which replays the inputs of test/fuzz/corpus

FUZZ_NAMES := $(FUZZ_SRC:test/fuzz/fuzz_%.c=%)
FUZZ_WRAP := -Wl,--wrap=clock_gettime,--wrap=syscall,--wrap=co_thread_run

define SEED_RULE
$(O)/test/fuzz/fuzz_$(1).o: CPPFLAGS += -DLLVMFuzzerTestOneInput=target_$(1) -Dfuzz_input_most=most_$(1)
endef
$(foreach n,$(FUZZ_NAMES),$(eval $(call SEED_RULE,$(n))))

$(OBJS)/test/seeds.list: LIST = $(FUZZ_NAMES)
$(O)/test/fuzz/seeds.o: CPPFLAGS += -D'FUZZ_TARGETS=$(patsubst %,X(%),$(FUZZ_NAMES))'
$(O)/test/fuzz/seeds.o: $(OBJS)/test/seeds.list
$(O)/test/fuzz/%.o: OPTIMIZE := $(OPTIMIZE:-O2=-Og)

$(OBJS)/test/seeds: $(O)/test/fuzz/seeds.o $(FUZZ_SRC:%.c=$(O)/%.o) $(FUZZ_LIB_SRC:%.c=$(O)/%.o) $(TEST_LIB_SRC:%.c=$(O)/%.o) $(LIB) $(ST)/libst.a
	$(link) $(FUZZ_WRAP) $(LIBS) -o $@

# ---- web pages, in the folder of the program

$(OBJS)/console/%: www/console/%
	@mkdir -p $(@D)
	@cp $< $@

# Optional players for FLV, HLS and DASH: `make player` downloads them from npm, other builds copy them.
# For conf/https.*.conf; keeps existing files.
certificate:
	@scripts/certificate.sh conf

players:
	@3rdparty/install-player.sh --copy $(OBJS)/player

player:
	3rdparty/install-player.sh $(OBJS)/player

# ---- fuzz targets: a second build with gcc, sanitizers and coverage (make fuzz, make test-long)

FO = $(OBJS)/fuzz/o
FUZZ_ST = $(call st_dir,asan)
FUZZ_CPPFLAGS = -D_GNU_SOURCE -Isrc -Itest/lib -I$(OBJS) -isystem $(FUZZ_ST) $(CPPFLAGS)
FUZZ_CFLAGS = -std=c17 -O1 $(TLS) -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined $(filter-out -Wframe-larger-than=%,$(WARN))

$(FO)/%.o: %.c Makefile $(OBJS)/config.h | $(FUZZ_ST)/st.h
	@mkdir -p $(@D)
	$(CC_Q)gcc $(FUZZ_CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize-coverage=trace-pc -MMD -MP -c $< -o $@

# The driver of the targets has no coverage instrumentation, which would only slow it down.
$(FUZZ_PARTS:%.c=$(FO)/%.o): FUZZ_CFLAGS := $(filter-out -fsanitize% -O1,$(FUZZ_CFLAGS)) -O2
$(FUZZ_PARTS:%.c=$(FO)/%.o): $(FO)/%.o: %.c Makefile $(OBJS)/config.h | $(FUZZ_ST)/st.h
	@mkdir -p $(@D)
	$(CC_Q)gcc $(FUZZ_CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@

$(OBJS)/fuzz/libsrs.list: LIST = $(LIB_SRC)
$(OBJS)/fuzz/libsrs.a: $(LIB_SRC:%.c=$(FO)/%.o) $(OBJS)/fuzz/libsrs.list
	$(call Q,AR)rm -f $@ && $(AR) qcs $@ $(filter %.o,$^)

$(OBJS)/fuzz/%: $(FO)/test/fuzz/fuzz_%.o $(FUZZ_PARTS:%.c=$(FO)/%.o) $(TEST_LIB_SRC:%.c=$(FO)/%.o) $(OBJS)/fuzz/libsrs.a \
    $(FUZZ_ST)/libst.a
	$(call Q,LD)gcc $(FUZZ_CFLAGS) $(FUZZ_WRAP) $^ -lhttp_parser -ljansson -lz -lssl -lcrypto -lpthread -lm -o $@

# ---- set up, build, run

install-deps:
	3rdparty/install.sh build

run:
	+@OBJS=$(OBJS) scripts/run.sh

install: all
	scripts/install.sh $(OBJS) $(DESTDIR)$(PREFIX)

uninstall:
	scripts/install.sh --remove $(DESTDIR)$(PREFIX)

# Screenshots of the console for the README, with Chromium.
screenshots: all
	3rdparty/install.sh browser
	SRS_BINARY=$(abspath $(OBJS))/srs scripts/screenshots.py

# Debian package for the release of Debian on which it is built.
deb: all
	scripts/make-deb.sh $(OBJS)

# ---- another architecture: cross compiler, with libraries of its Debian port

ARM = $(OBJS)/arm64

cross-arm64:
	3rdparty/install.sh build cross
	3rdparty/sysroot.sh arm64 $(ARM)/sysroot
	@[ -f $(ARM)/config.mk ] || ./configure --objs=$(ARM) --ar=aarch64-linux-gnu-ar \
	    --cc='aarch64-linux-gnu-gcc --sysroot=$(abspath $(ARM))/sysroot'
	+@$(MAKE) --no-print-directory OBJS=$(ARM) all

# Unit tests under an emulator of the CPU.
test-arm64: cross-arm64
	+@$(MAKE) --no-print-directory OBJS=$(ARM) units
	@EMULATOR='qemu-aarch64 -L $(ARM)/sysroot' scripts/test.sh $(ARM) unit

# ---- tests; scripts/test.sh runs the parts and ends with "N passed, N failed"

test:
	+@OBJS=$(OBJS) scripts/test.sh

test-unit: units
	@scripts/test.sh $(OBJS) unit

test-fuzz-seeds: seeds
	@scripts/test.sh $(OBJS) replay

test-e2e: all
	@scripts/test.sh $(OBJS) e2e

# All end-to-end tests with four workers.
test-workers: all
	@E2E_WORKERS=4 scripts/test.sh $(OBJS) e2e

# AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer, in a separate build.
test-asan:
	3rdparty/install.sh build test
	@./configure --objs=$(OBJS)/asan --ffmpeg-fit=on --sanitizer=on > /dev/null
	+@scripts/test.sh $(OBJS)/asan build units unit replay e2e

# ThreadSanitizer in a separate build, with four workers.
test-tsan:
	3rdparty/install.sh build test
	@./configure --objs=$(OBJS)/tsan --ffmpeg-fit=on --sanitizer=thread > /dev/null
	+@E2E_WORKERS=4 scripts/test.sh $(OBJS)/tsan build units unit e2e

# Including long tests, and some minutes of fuzzing, which starts with the inputs of the corpus.
test-long:
	3rdparty/install.sh build test long browser desktop
	-3rdparty/install-player.sh objs/player
	+@E2E_LONG=1 FUZZ_SECONDS=$(or $(FUZZ_SECONDS),30) scripts/test.sh $(OBJS) build beside e2e unit fuzzers fuzz-seeds fuzz

# gprof, gperftools, valgrind, sanitizers, perf, gdb: each in a separate build, used as a user would.
test-profile:
	3rdparty/install.sh profile
	@[ -f $(OBJS)/config.mk ] || ./configure --objs=$(OBJS) --ffmpeg-fit=on
	+@$(MAKE) --no-print-directory all
	@scripts/test.sh $(OBJS) profile

# Fuzzes each target for FUZZ_SECONDS (60). FUZZ=NAME: only one target.
fuzz: fuzzers
	@FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) scripts/test.sh $(OBJS) fuzz

layers banned:
	@scripts/check_$@.py src

layers: protocols
protocols:
	@scripts/check_$@.py src

style:
	@scripts/check_size.py src test/lib test/unit test/fuzz
	@scripts/check_contributing.py
	@scripts/check_english.py

# clang's warnings and gcc's analyzer. The analyzer takes pointers stored in a list for leaks and cannot follow
# reference counts, so two of its checks are off.
check: layers banned style
	3rdparty/install.sh build test check
	@./configure --objs=$(OBJS)/clang --ffmpeg-fit=on --cc=clang > /dev/null
	+@$(MAKE) --no-print-directory OBJS=$(OBJS)/clang all units symbols
	@./configure --objs=$(OBJS)/analyzer --ffmpeg-fit=on --cc=gcc \
	    --extra-flags='-fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-double-free' > /dev/null
	+@$(MAKE) --no-print-directory OBJS=$(OBJS)/analyzer all

# Line coverage of unit and end-to-end tests, without the load tools. The minimum is COVERAGE_MIN percent.
# Report: OBJS/coverage/report/index.html.
COVERAGE_MIN = 90
coverage:
	3rdparty/install.sh build test check
	@./configure --objs=$(OBJS)/coverage --ffmpeg-fit=on --gcov=on > /dev/null
	@find $(OBJS)/coverage -name '*.gcda' -delete
	+@$(MAKE) --no-print-directory OBJS=$(OBJS)/coverage all units
	+@scripts/test.sh $(OBJS)/coverage unit e2e || echo 'make coverage: with tests that failed'
	@mkdir -p $(OBJS)/coverage/report
	gcovr -r . -f src/ -e src/tools/ --exclude-unreachable-branches --html-details $(OBJS)/coverage/report/index.html \
	    --print-summary --fail-under-line $(COVERAGE_MIN) $(OBJS)/coverage/o

# For clangd and other tools.
compdb: $(OBJS)/config.mk
	@scripts/compdb.py $(OBJS) '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL)' $(SRC) > compile_commands.json

symbols: $(LIB) $(UNIT_LIB) $(UNIT_SRC:%.c=$(O)/%.o)
	@scripts/check_symbols.py src $(OBJS) && scripts/check_unused.py src $(OBJS) test && scripts/check_circles.py src $(OBJS) && \
	    scripts/check_fakes.py test/unit $(OBJS)

bench bench-quick:
	3rdparty/install.sh build bench
	+@$(MAKE) --no-print-directory all
	+@OBJS=$(OBJS) scripts/bench/run.sh $(if $(filter %-quick,$@),quick,full)

# Keeps downloads, which may have been copied manually. distclean removes them too.
clean:
	@[ ! -d $(OBJS) ] || find $(OBJS) -mindepth 1 -maxdepth 1 ! -name st-source ! -name player -exec rm -rf {} +

distclean:
	rm -rf $(OBJS)

help:
	@sed 's/^/  /' scripts/make-help.txt

FORCE:
.PHONY: all server certificate players player deb screenshots units seeds fuzzers st run install uninstall install-deps test test-unit test-fuzz-seeds test-e2e \
    check coverage compdb cross-arm64 test-arm64 test-asan test-tsan test-workers test-long test-profile fuzz layers protocols banned style symbols bench bench-quick clean \
    distclean help FORCE

-include $(shell find $(O) $(FO) -name '*.d' 2> /dev/null)
