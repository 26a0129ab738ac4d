# SPDX-License-Identifier: GPL-2.0
# rastrace: trcust, trace, tracefmt. `make help` lists the targets.

CC	?= gcc
CLANG	?= clang
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow \
	   -Wno-unused-parameter -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -Iinclude
B	:= build
VERSION := 0.1
CPPFLAGS += -DRASTRACE_VERSION='"$(VERSION)"'

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
MANDIR	?= $(PREFIX)/share/man
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
INSTALL	?= install

PROGRAMS := trcust trace tracefmt
trcust_LIBS   := -ldw -lelf -lZydis -liberty
trace_LIBS    := -lelf
tracefmt_LIBS :=

# make V=1 shows the commands
ifeq ($(V),)
  Q	:= @
  say	= @printf '  %-7s %s\n' $(1) $(2)
endif
# the longer targets use all processors unless told otherwise
JOBS	= $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

LIB	:= $(B)/librastrace.a
LIB_SRC	:= $(wildcard usr/lib/*.c bpf/*.c)
objs	= $(patsubst %.c,$(B)/obj/%.o,$(1))
# a program's source but its main.c, which tests link too
parts	= $(filter-out usr/$(1)/main.c,$(wildcard usr/$(1)/*.c usr/$(1)/*/*.c))

all: $(PROGRAMS:%=$(B)/bin/%)
	@:

$(LIB): $(call objs,$(LIB_SRC))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

define program
$(B)/$(1).a: $(call objs,$(call parts,$(1)))
	$$(call say,AR,$$@)
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^

$(B)/bin/$(1): $(B)/obj/usr/$(1)/main.o $(B)/$(1).a $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$($(1)_LIBS) -pthread

$(B)/static/$(1): $(B)/obj/usr/$(1)/main.o $(B)/$(1).a $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -static -o $$@ $$^ $$($(1)_LIBS) \
		$$(if $$(filter -lelf,$$($(1)_LIBS)),-lz) -pthread
	$$(Q)strip $$@
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

$(B)/obj/%.o: %.c | $(B)/headers
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

# Once per tree: is everything there to build with?
$(B)/headers:
	@CC="$(CC)" scripts/setup --headers
	@mkdir -p $(@D) && touch $@

# The second half runs in a make of its own: it reads the tree again after
# setup has installed what was missing.
demo: setup
	@$(MAKE) --no-print-directory $(JOBS) all $(B)/demo/app
	@scripts/demo

check: setup-check
	@$(MAKE) --no-print-directory $(JOBS) all selftests
	@selftests/run.sh

setup:
	@scripts/setup build

setup-check:
	@scripts/setup build check

$(B)/demo/app: demo/app.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -O2 -g -o $@ $<

selftests: all
	@$(MAKE) --no-print-directory -C selftests

# A longer search with clang's libFuzzer; FUZZ_SECONDS=60 for each.
fuzz: all
	@$(MAKE) --no-print-directory $(JOBS) -C selftests/fuzz fuzz \
		CLANG=$(CLANG)

bench: all
	@scripts/bench
	@echo
	@scripts/bench_compile

# For targets without our libraries: the two programs needed there.
static: $(B)/static/trace $(B)/static/tracefmt
	@stat -c '%n %s bytes' $^

install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(PROGRAMS:%=$(B)/bin/%) $(DESTDIR)$(BINDIR)
	@for page in usr/man/*.[1-8]; do \
		dir=$(DESTDIR)$(MANDIR)/man$${page##*.}; \
		$(INSTALL) -d $$dir; \
		$(INSTALL) -m 644 -v $$page $$dir || exit 1; \
	done
	$(INSTALL) -d $(DESTDIR)$(BASHDIR)
	@for p in $(PROGRAMS); do \
		$(INSTALL) -m 644 -v usr/completion/rastrace.bash \
			$(DESTDIR)$(BASHDIR)/$$p || exit 1; \
	done

uninstall:
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%)
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BASHDIR)/%)
	@for page in usr/man/*.[1-8]; do \
		rm -fv $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; \
	done

clean:
	rm -rf $(B)

help:
	@echo 'make            build trcust, trace and tracefmt into $(B)/bin'
	@echo 'make demo       show the main job on two programs (root)'
	@echo 'make check      run every test (root; without it, what needs none)'
	@echo 'make fuzz       longer fuzzing with clang, FUZZ_SECONDS=60 each'
	@echo 'make bench      what a hit (root) and compiling cost here, beside other tools'
	@echo 'make static     trace and tracefmt without shared libraries'
	@echo 'make install    into PREFIX=$(PREFIX), below DESTDIR; make uninstall'
	@echo 'make clean      remove $(B)'
	@echo 'make V=1 ...    shows the commands'
	@echo 'make setup      install what building needs; setup-check: testing, too'

.PHONY: all bench check clean demo fuzz help install selftests setup \
	setup-check static uninstall
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
