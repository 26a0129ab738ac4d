# SPDX-License-Identifier: GPL-2.0
# Included by each subject's Makefile; the variables are kselftest's, so that
# the folder drops into a kernel tree:
#
#	TEST_PROGS	shell tests		TEST_GEN_PROGS	C tests
#	TEST_GEN_FILES	programs that tests use, built but not run
#	TEST_FILES	data			OUTPUT		where to build
#
# By default a subject's test_*.sh and live_*.sh, test_*.c and live_*.c, and
# every other .c (target-specific CFLAGS say how to compile one of these).

TOP	:= $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
SUBJECT	:= $(notdir $(CURDIR))
OUTPUT	?= $(TOP)/build/selftests/$(SUBJECT)
CC	?= gcc
CFLAGS	?= -O2 -g

TEST_SRC := $(wildcard test_*.c live_*.c)
TEST_PROGS ?= $(wildcard test_*.sh live_*.sh)
TEST_GEN_PROGS ?= $(TEST_SRC:.c=)
TEST_GEN_FILES ?= $(patsubst %.c,%,$(filter-out $(TEST_SRC),$(wildcard *.c)))

B	:= $(TOP)/build
ARCHIVES := $(B)/trcust.a $(B)/trace.a $(B)/tracefmt.a $(B)/lib.a
TEST_LIBS = -Wl,--start-group $(wildcard $(ARCHIVES)) -Wl,--end-group \
	    -Wl,--as-needed -lbpf -lelf -lz -ldw -lZydis -liberty -llzma -lzstd \
	    -pthread
override CPPFLAGS += -D_GNU_SOURCE -DRASTRACE_VERSION='"test"' -MMD -MP \
		     -I$(TOP)/include -I$(TOP) -I$(TOP)/selftests
override CFLAGS += -Wall -Wextra -Wno-unused-parameter \
		   -Wno-missing-field-initializers

ifeq ($(V),)
  Q	:= @
  say	= @printf '  %-7s %s\n' $(1) $(2:$(TOP)/%=%)
endif

all: $(addprefix $(OUTPUT)/,$(TEST_GEN_PROGS) $(TEST_GEN_FILES))
	@:

$(addprefix $(OUTPUT)/,$(TEST_GEN_PROGS)): $(OUTPUT)/%: %.c \
		$(wildcard $(ARCHIVES))
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(TEST_LIBS) $(LDLIBS)

$(addprefix $(OUTPUT)/,$(TEST_GEN_FILES)): $(OUTPUT)/%: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LDLIBS) -pthread

run_tests: all
	@$(TOP)/selftests/run.sh -t '$(SUBJECT)/*'

clean:
	rm -rf $(OUTPUT)

.DEFAULT_GOAL := all
.PHONY: all run_tests clean
-include $(wildcard $(OUTPUT)/*.d)
