# SPDX-License-Identifier: GPL-2.0
# Included by each subject's Makefile; variables and targets are kselftest's, so
# that the folder drops into a kernel tree's tools/testing/selftests, under any
# name (RASTRACE=FOLDER says there where this project is):
#
#	TEST_PROGS	shell tests		TEST_GEN_PROGS	C tests
#	TEST_GEN_FILES	programs that tests use, built but not run
#	TEST_FILES	data			OUTPUT		where to build
#
#	all run_tests clean emit_tests
#	install		into INSTALL_PATH, with what subjects share beside it
#
# By default a subject's test_*.sh and live_*.sh, test_*.c and live_*.c, every
# other .c (target-specific CFLAGS say how to compile one of these), and as data
# all that is in the folder.

SHARED	:= $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
TOP	:= $(abspath $(or $(RASTRACE),$(SHARED)/..))
ifeq ($(wildcard $(TOP)/include/rastrace.h)$(filter clean,$(MAKECMDGOALS)),)
$(error RASTRACE=FOLDER has to say where rastrace is)
endif
include $(TOP)/scripts/cross.mk
B	:= $(TOP)/build$(MACHINE:%=/%)
SUBJECT	:= $(notdir $(CURDIR))
OUTPUT	?= $(B)/selftests/$(SUBJECT)
# In front of PATH where 32-bit programs don't run: compilers that make none
ifneq ($(filter-out clean,$(or $(MAKECMDGOALS),all)),)
NO_32BIT := $(shell $(SHARED)/narrow.sh $(abspath $(OUTPUT))/no-32bit)
ifneq ($(NO_32BIT),)
export PATH := $(NO_32BIT):$(PATH)
endif
endif
CC	?= gcc
CFLAGS	?= -O2 -g
# for tests that do not trace themselves: gcc takes six times as long with -O2
QUICK	?= -O0

# SANITIZE: options for what is ours, not for what is traced (scripts/sanitize).

# For other machines something else takes the place of the tests in X86_ONLY, and
# programs in there aren't built.
ifneq ($(X86_ONLY),)
ELSEWHERE := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),,$(X86_ONLY))
endif
TEST_SRC := $(wildcard test_*.c live_*.c)
TEST_PROGS ?= $(wildcard test_*.sh live_*.sh)
TEST_GEN_PROGS ?= $(TEST_SRC:.c=)
TEST_GEN_FILES ?= $(filter-out $(ELSEWHERE),\
		  $(patsubst %.c,%,$(filter-out $(TEST_SRC),$(wildcard *.c))))
TEST_FILES ?= $(filter-out Makefile config settings %.d $(TEST_PROGS) \
	      $(TEST_GEN_PROGS) $(TEST_GEN_FILES),$(wildcard *))

ARCHIVES := $(B)/trcust.a $(B)/heapmon.a $(B)/trace.a $(B)/tracefmt.a \
	    $(B)/lib.a
TEST_LIBS = -Wl,--start-group $(wildcard $(ARCHIVES)) -Wl,--end-group \
	    -Wl,--as-needed -lbpf -lelf -lz -ldw -lZydis -lcapstone -liberty \
	    -llzma -lzstd -lm -pthread
override CPPFLAGS += -D_GNU_SOURCE -DRASTRACE_VERSION='"test"' -MMD -MP \
		     -I$(TOP)/include -I$(TOP) -iquote $(TOP)/usr -I$(SHARED)
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
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(if $(filter test_%,$*),$(QUICK)) \
		$(SANITIZE) $(LDFLAGS) -o $@ $(if $(filter $*,$(ELSEWHERE)),$(SHARED)/x86_only.c,$<) \
		$(TEST_LIBS) $(LDLIBS)

$(addprefix $(OUTPUT)/,$(TEST_GEN_FILES)): $(OUTPUT)/%: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(if $(filter %.a,$(LDLIBS)),$(SANITIZE)) \
		$(LDFLAGS) -o $@ $< $(LDLIBS) -pthread

run_tests: all
	@TOP=$(TOP) BUILT=$(patsubst %/,%,$(dir $(abspath $(OUTPUT)))) \
		$(SHARED)/run.sh -t '$(SUBJECT)/*'

# With what all subjects share beside it: see install.sh
install: all
	$(if $(INSTALL_PATH),,$(error set INSTALL_PATH to use install))
	@TOP=$(TOP) $(SHARED)/install.sh $(INSTALL_PATH) $(SUBJECT) $(OUTPUT) \
		$(TEST_PROGS) $(TEST_FILES) $(wildcard config settings)

# Lines for kselftest-list.txt
emit_tests:
	@for test in $(TEST_GEN_PROGS) $(TEST_PROGS); do \
		echo "$(or $(COLLECTION),$(SUBJECT)):$$test"; \
	done

clean:
	rm -rf $(if $(filter $(CURDIR),$(abspath $(OUTPUT))),\
		$(addprefix $(OUTPUT)/,$(TEST_GEN_PROGS) $(TEST_GEN_FILES)),\
		$(OUTPUT))

.DEFAULT_GOAL := all
.PHONY: all run_tests install emit_tests clean
-include $(wildcard $(OUTPUT)/*.d)
