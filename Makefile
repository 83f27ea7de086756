# SPDX-License-Identifier: MIT
# Makefile - builds below $(OBJS). `make help` tells the targets, ./configure makes the settings.
OBJS ?= objs
-include $(OBJS)/config.mk

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

# V=1 shows the commands.
Q = $(if $(V),,@echo '  $(1) $@';)

CC ?= cc
AR ?= ar
ST_VARIANT ?= plain
OPTIMIZE ?= -O2
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes \
    -Wformat=2 -Wundef -Wframe-larger-than=8192 -Werror
HARDEN ?= -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2
HARDEN_LINK ?= -pie -Wl,-z,relro,-z,now,-z,noexecstack
LIBS ?= -lssl -lcrypto -lpthread
CPPFLAGS_ALL = -D_GNU_SOURCE -Isrc -I$(OBJS) -isystem $(ST) $(CPPFLAGS)
CFLAGS_ALL = -std=c17 $(OPTIMIZE) -g -fno-omit-frame-pointer $(HARDEN) $(WARN) $(VARIANT_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $(HARDEN_LINK) $(VARIANT_LDFLAGS) $(LDFLAGS)

# ---- what there is

O = $(OBJS)/o
SRC := $(sort $(shell find src -name '*.c'))
MAIN := $(wildcard src/app/main.c)
BENCH_SRC := $(filter src/bench/%,$(SRC))
LIB_SRC := $(filter-out $(BENCH_SRC) $(MAIN),$(SRC))
TOOL_SRC := $(wildcard src/bench/sb_*.c)
TOOL_LIB_SRC := $(filter-out $(TOOL_SRC),$(BENCH_SRC))
UNIT_SRC := $(sort $(wildcard test/unit/test_*.c))
FUZZ_SRC := $(sort $(filter-out test/fuzz/fuzz_main.c,$(wildcard test/fuzz/fuzz_*.c)))

PROGRAM := $(if $(MAIN),$(OBJS)/srs)
TOOLS := $(TOOL_SRC:src/bench/%.c=$(OBJS)/%)
UNITS := $(UNIT_SRC:test/unit/%.c=$(OBJS)/test/%)
FUZZERS := $(FUZZ_SRC:test/fuzz/fuzz_%.c=$(OBJS)/fuzz/%)
LIB := $(OBJS)/libsrs.a

all: $(LIB) $(PROGRAM) $(TOOLS)

# ---- state-threads, one build per variant, shared by all configurations

ST_TOP = objs/st$(if $(filter-out plain,$(1)),-$(1))
ST := $(call ST_TOP,$(ST_VARIANT))
ST_INPUT := 3rdparty/build-st.sh $(wildcard 3rdparty/patches/*.patch 3rdparty/st/*)
ST_TGZ := objs/st-source/st_1.9.orig.tar.gz

$(ST_TGZ): 3rdparty/fetch-st.sh
	3rdparty/fetch-st.sh $(@D)
	@touch $@

define ST_RULE
$(call ST_TOP,$(1))/libst.a: $(ST_INPUT) $(ST_TGZ)
	3rdparty/build-st.sh $(ST_TGZ) $$(@D) $(1) '$(CC)' '$(AR)'
$(call ST_TOP,$(1))/st.h: $(call ST_TOP,$(1))/libst.a ;
endef
$(foreach v,plain asan valgrind,$(eval $(call ST_RULE,$(v))))

st: $(ST)/libst.a

# ---- objects

$(O)/%.o: %.c Makefile $(wildcard $(OBJS)/config.mk) | $(ST)/st.h
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(LIB): $(LIB_SRC:%.c=$(O)/%.o)
	$(call Q,AR)rm -f $@ && $(AR) rcs $@ $^

$(OBJS)/srs: $(O)/src/app/main.o $(LIB) $(ST)/libst.a
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

$(OBJS)/sb_%: $(O)/src/bench/sb_%.o $(TOOL_LIB_SRC:%.c=$(O)/%.o) $(LIB) $(ST)/libst.a
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

$(OBJS)/test/%: $(O)/test/unit/%.o $(LIB) $(ST)/libst.a
	@mkdir -p $(@D)
	$(call Q,LD)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $^ -lcmocka $(LIBS) -o $@

$(O)/test/unit/%.o: CPPFLAGS += -Itest/unit

# ---- fuzz targets: everything once more, under sanitizers and with coverage

FO = $(OBJS)/fuzz/o
FUZZ_ST = $(call ST_TOP,asan)
FUZZ_CPPFLAGS = -D_GNU_SOURCE -Isrc -I$(OBJS) -isystem $(FUZZ_ST) $(CPPFLAGS)
FUZZ_CFLAGS = -std=c17 -O1 -g -fno-omit-frame-pointer $(filter-out -Werror -Wframe-larger-than=%,$(WARN)) \
    -fsanitize=address,undefined -fno-sanitize-recover=undefined

$(FO)/%.o: %.c Makefile | $(FUZZ_ST)/st.h
	@mkdir -p $(@D)
	$(call Q,CC)gcc $(FUZZ_CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize-coverage=trace-pc -MMD -MP -c $< -o $@

$(FO)/test/fuzz/fuzz_main.o: test/fuzz/fuzz_main.c Makefile
	@mkdir -p $(@D)
	$(call Q,CC)gcc $(FUZZ_CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@

$(OBJS)/fuzz/libsrs.a: $(LIB_SRC:%.c=$(FO)/%.o)
	$(call Q,AR)rm -f $@ && $(AR) rcs $@ $^

$(OBJS)/fuzz/%: $(FO)/test/fuzz/fuzz_%.o $(FO)/test/fuzz/fuzz_main.o $(OBJS)/fuzz/libsrs.a $(FUZZ_ST)/libst.a
	$(call Q,LD)gcc $(FUZZ_CFLAGS) $^ $(LIBS) -o $@

# ---- checks

test-unit: $(UNITS)
	@for t in $(UNITS); do echo "== $$t"; timeout 120 $$t || exit 1; done

clean:
	rm -rf $(OBJS)

.PHONY: all st test-unit clean

-include $(shell find $(O) $(FO) -name '*.d' 2> /dev/null)
