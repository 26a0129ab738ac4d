# SPDX-License-Identifier: GPL-2.0
# rastrace: trcust, trace, tracefmt, heapmon. `make help` lists the targets.

TOP	:= .
include scripts/cross.mk
CC	?= gcc
CLANG	?= clang
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow \
	   -Wno-unused-parameter -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -Iinclude -iquote usr -iquote .
B	:= build$(MACHINE:%=/%)
VERSION := 0.1
CPPFLAGS += -DRASTRACE_VERSION='"$(VERSION)"'

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
MANDIR	?= $(PREFIX)/share/man
LIBDIR	?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
UNITDIR	?= $(PREFIX)/lib/systemd/system
UDEVDIR	?= $(PREFIX)/lib/udev/rules.d
DOCDIR	?= $(PREFIX)/share/doc/rastrace
EDITORS	:= $(shell find usr/editors -type f)
INSTALL	?= install

PROGRAMS := trcust trace tracefmt heapmon
trcust_LIBS   := -lbpf -ldw -lelf -lZydis -lcapstone -liberty -llzma -lzstd -lz
trace_LIBS    := -lbpf -lelf -lz
tracefmt_LIBS := -lbpf -lelf -lz
heapmon_LIBS  := -lbpf -ldw -lelf -lz -lm

# make V=1 shows the commands
ifeq ($(V),)
  Q	:= @
  say	= @printf '  %-7s %s\n' $(1) $(2)
endif
# the longer targets use all processors unless -j is given
JOBS	= $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

LIB	:= $(B)/lib.a
LIB_SRC	:= $(filter-out usr/lib/static/%,$(wildcard bpf/*.c bpf/*/*.c usr/lib/*.c \
	   usr/lib/*/*.c usr/lib/*/*/*.c))
# what replaces functions of dynamic programs
STATIC	= $(call objs,$(wildcard usr/lib/static/*.c))
objs	= $(patsubst %.c,$(B)/obj/%.o,$(1))
# a program's source but its main.c, which tests link too
parts	= $(filter-out usr/$(1)/main.c usr/$(1)/portable/%, \
	  $(wildcard usr/$(1)/*.c usr/$(1)/*/*.c))
sources	= $(if $(filter lib,$(1)),$(LIB_SRC),$(call parts,$(1)))

LIBRARY	:= librastrace.so.0 librastrace.so librastrace.a

all: $(PROGRAMS:%=$(B)/bin/%) $(LIBRARY:%=$(B)/lib/%)
	@:

$(LIB): $(call objs,$(LIB_SRC)) $(B)/lib.list
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

# tracefmt for files only, with a C compiler and its library and nothing else:
# without what the live buffer takes, BPF and libelf
LIVE	:= usr/tracefmt/live.c usr/lib/elf_symbols.c usr/lib/identity.c \
	   usr/lib/launch.c usr/lib/maps_line.c usr/lib/sysbpf.c \
	   $(filter-out %/picture_records.c %/ring.c, \
	   $(wildcard usr/lib/buffer/*.c))
PORTABLE_LIB := usr/lib $(addprefix usr/lib/,formats buffer dump read \
	    read/format read/match debug debug/lines debug/symbols)
PORTABLE := $(filter-out $(LIVE), $(wildcard $(PORTABLE_LIB:%=%/*.c)) \
	    $(call parts,tracefmt)) \
	    usr/tracefmt/main.c $(wildcard usr/tracefmt/portable/*.c)

# Which files an archive is made of: a new list when one comes or goes.
$(B)/%.list: FORCE
	@mkdir -p $(@D)
	@echo '$(sort $(call sources,$*))' | cmp -s - $@ || \
		echo '$(sort $(call sources,$*))' >$@

define program
$(B)/$(1).a: $(call objs,$(call parts,$(1))) $(B)/$(1).list
	$$(call say,AR,$$@)
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$(filter %.o,$$^)

$(B)/bin/$(1): $(B)/obj/usr/$(1)/main.o $(B)/$(1).a $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$($(1)_LIBS) -pthread

$(B)/static/$(1): $(B)/obj/usr/$(1)/main.o $(B)/$(1).a $(STATIC) $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -static -o $$@ $$^ $$($(1)_LIBS) \
		-pthread
	$$(Q)$$(STRIP) $$@
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

$(B)/obj/%.o: %.c | $(B)/headers
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

# which has the page's files in it
$(B)/obj/usr/tracefmt/html/html.o \
$(B)/portable/usr/tracefmt/html/html.o: \
	$(wildcard usr/tracefmt/html/page/* usr/lib/page/*)

$(B)/obj/usr/trcust/tsf/shape_file.o: $(wildcard usr/trcust/tsf/shapes/*)

$(B)/obj/usr/heapmon/report/flame.o: $(wildcard usr/heapmon/report/page/* \
	usr/lib/page/*)

$(B)/portable/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(B)/portable/tracefmt: $(PORTABLE:%.c=$(B)/portable/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread -ldl

# librastrace for the programs that are to be traced, in lib32 for 32-bit ones.
# It needs no other library, not even the C library, whatever CFLAGS say.
FREESTANDING = -ffreestanding -fno-stack-protector -fno-lto -fno-sanitize=all \
	       -U_FORTIFY_SOURCE \
	       -fPIC -fvisibility=hidden $(MACHINE_$(firstword $(subst -, ,\
	       $(shell $(CC) -dumpmachine))))
MACHINE_x86_64	:= -fcf-protection
MACHINE_i686	:= -fcf-protection
MACHINE_aarch64	:= -mno-outline-atomics -mbranch-protection=standard
define library
$(B)/$(1)/write.o: usr/librastrace/write.S
	@mkdir -p $$(@D)
	$$(call say,AS,$$@)
	$$(Q)$$(CC) $(2) $$(CFLAGS) -c -o $$@ $$<

$(B)/$(1)/nfmt.o: usr/librastrace/nfmt.c usr/librastrace/futex.h \
		include/rastrace_nfmt.h
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $(2) $$(CPPFLAGS) $$(CFLAGS) $$(WARN) $$(FREESTANDING) \
		-c -o $$@ $$<

$(B)/$(1)/librastrace.a: $(B)/$(1)/write.o $(B)/$(1)/nfmt.o
	$$(call say,AR,$$@)
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^

$(B)/$(1)/librastrace.so.0: $(B)/$(1)/write.o $(B)/$(1)/nfmt.o
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $(2) $$(CFLAGS) $$(LDFLAGS) -shared -nostdlib \
		-Wl,-soname,$$(@F),--build-id,-z,relro,-z,now -o $$@ $$^

$(B)/$(1)/librastrace.so: $(B)/$(1)/librastrace.so.0
	$$(Q)ln -sf $$(<F) $$@
endef
$(eval $(call library,lib))
$(eval $(call library,lib32,-m32))

lib32: $(LIBRARY:%=$(B)/lib32/%)
	@:

# Once per tree: is everything there to build with?
$(B)/headers:
	@CC="$(CC)" CPPFLAGS='$(CPPFLAGS)' scripts/setup --headers
	@mkdir -p $(@D) && touch $@

# The second half runs in a make of its own: it reads the tree again after
# setup has installed what was missing.
demo: setup
	@$(MAKE) --no-print-directory $(JOBS) all $(B)/demo/app $(B)/demo/shop
	@scripts/demo

# What runs here is built for here.
ifneq ($(MACHINE),)
$(foreach t,$(filter bench check% deb demo fuzz% kmod,\
	$(MAKECMDGOALS)),$(error make $(t) is of this machine, not of $(MACHINE): \
	make check-all tests that, scripts/kbuild --arch has modules))
endif

# `make check` proves each feature once, in minutes. These tests repeat what others
# show on another machine or kernel or with larger programs, need the file of the
# kernel module, or test the tools.
CHECK_ALL_ONLY := 'aarch64/*' '*/test_aarch64.sh' 'debug/*' corpus/live_pairs.sh \
	docs/test_board.sh kmod/test_lockdown.sh kmod/test_rights.sh \
	soak/test_soak.sh 'stress/*' vm/test_6.12.sh \
	vm/test_bare.sh vm/test_vm.sh

# Downloads and installing run beside the build.
check: setup
	@scripts/setup --install check & setup=$$!; \
		$(MAKE) --no-print-directory $(JOBS) all && wait $$setup
	@scripts/setup --fetch check & setup=$$!; \
		$(MAKE) --no-print-directory $(JOBS) selftests && wait $$setup
	@selftests/run.sh $(CHECK_ALL_ONLY:%=-x %)

# Every test, in its long form if it has one: this takes hours.
check-all: setup-check
	@scripts/setup all debug
	@$(MAKE) --no-print-directory $(JOBS) all selftests
	@LONG=1 selftests/run.sh

# The tests of kernel code on a kernel full of checkers, which is built first, and
# on more kernels: this takes hours.
check-debug: setup-check
	@scripts/setup all debug
	@$(MAKE) --no-print-directory $(JOBS) all selftests
	@selftests/run.sh 'debug/*'

setup:
	@scripts/setup build

setup-check:
	@scripts/setup build check

$(B)/demo/app: demo/app.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -O2 -g -o $@ $<

$(B)/demo/shop: demo/shop.cc
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) -O2 -g -o $@ $<

selftests: all
	@$(MAKE) --no-print-directory -C selftests

# Tests in user space with sanitizers and valgrind; CHECK='tracefmt/*' for some
check-sanitize check-thread check-valgrind: all
	@scripts/sanitize $(@:check-%=%) $(CHECK)

# A longer search with clang's libFuzzer; FUZZ_SECONDS=60 for each, FUZZ='ras tdf'
# for some; fuzz-corpus keeps what is worth it of what was found.
fuzz fuzz-corpus: all
	@$(MAKE) --no-print-directory $(JOBS) -C selftests/fuzz $@ \
		CLANG=$(CLANG)

# Beside other tools; PART="decode heap" for some of the parts. The scripts say
# what they measure: scripts/bench is the hit's.
BENCHES	:= hit site arm memory burst compile decode heap kmod
PART	?= $(BENCHES)
bench: all
ifneq ($(filter-out $(BENCHES),$(PART)),)
	$(error PART is of: $(BENCHES))
endif
	@scripts/setup --missing bench
	@mkdir -p $(B)/bench
	@for part in $(PART); do \
		BENCH_TABLE=$(CURDIR)/$(B)/bench/$$part.table; \
		export BENCH_TABLE; \
		: >$$BENCH_TABLE; \
		case $$part in \
		hit)	scripts/bench ;; \
		*)	scripts/bench_$$part ;; \
		esac; \
		echo; \
	done
	@scripts/bench_table $(PART:%=$(B)/bench/%.table)

# Everything at a time, in guests: half an hour on each of four kernels
soak: selftests
	@scripts/soak $(SOAK)

# For the running kernel when its headers are there, else for those of the tests:
# make kmod KERNELS="6.1 /lib/modules/6.12.9/build"
RUNNING	:= $(wildcard /lib/modules/$(shell uname -r)/build)
KERNELS	?= $(if $(RUNNING),$(RUNNING),6.1 6.12)
kmod:
	@for kernel in $(KERNELS); do scripts/kbuild $$kernel || exit; done

# For targets without our libraries: the two programs needed there.
static: $(B)/static/trace $(B)/static/tracefmt
	@stat -c '%n %s bytes' $^

# To read traces elsewhere, also on another architecture:
# make portable CC='clang --target=aarch64-linux-gnu' B=build/laptop
portable: $(B)/portable/tracefmt

install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(PROGRAMS:%=$(B)/bin/%) $(DESTDIR)$(BINDIR)
	@for page in usr/man/*.[1-8]; do \
		dir=$(DESTDIR)$(MANDIR)/man$${page##*.}; \
		$(INSTALL) -d $$dir; \
		$(INSTALL) -m 644 -v $$page $$dir || exit 1; \
	done
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL) -m 644 $(B)/lib/librastrace.so.0 $(B)/lib/librastrace.a \
		$(DESTDIR)$(LIBDIR)
	ln -sf librastrace.so.0 $(DESTDIR)$(LIBDIR)/librastrace.so
	$(INSTALL) -m 644 include/rastrace.h include/rastrace_nfmt.h \
		$(DESTDIR)$(INCLUDEDIR)
	sed -e 's,@LIBDIR@,$(LIBDIR),; s,@INCLUDEDIR@,$(INCLUDEDIR),' \
		-e 's,@VERSION@,$(VERSION),' usr/librastrace/librastrace.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/librastrace.pc
	$(INSTALL) -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(DOCDIR)
	sed 's,@BINDIR@,$(BINDIR),' etc/rastrace.service \
		>$(DESTDIR)$(UNITDIR)/rastrace.service
	$(INSTALL) -m 644 etc/rastrace.conf $(DESTDIR)$(DOCDIR)
	@for file in $(EDITORS:usr/%=%); do \
		$(INSTALL) -D -m 644 usr/$$file \
			$(DESTDIR)$(DOCDIR)/examples/$$file || exit 1; \
	done
	$(INSTALL) -d $(DESTDIR)$(UDEVDIR)
	$(INSTALL) -m 644 etc/60-rastrace.rules $(DESTDIR)$(UDEVDIR)
	$(INSTALL) -d $(DESTDIR)$(BASHDIR)
	@for p in $(PROGRAMS); do \
		$(INSTALL) -m 644 -v usr/completion/rastrace.bash \
			$(DESTDIR)$(BASHDIR)/$$p || exit 1; \
	done

# Packages of Debian's, into build/deb
deb: all
	@packaging/deb -o $(B)/deb $(VERSION)

uninstall:
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%)
	rm -f $(LIBRARY:%=$(DESTDIR)$(LIBDIR)/%) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/librastrace.pc \
		$(DESTDIR)$(INCLUDEDIR)/rastrace.h \
		$(DESTDIR)$(INCLUDEDIR)/rastrace_nfmt.h
	rm -f $(DESTDIR)$(UNITDIR)/rastrace.service \
		$(DESTDIR)$(UDEVDIR)/60-rastrace.rules \
		$(DESTDIR)$(DOCDIR)/rastrace.conf
	rm -rf $(DESTDIR)$(DOCDIR)/examples/editors
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BASHDIR)/%)
	@for page in usr/man/*.[1-8]; do \
		rm -fv $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; \
	done

clean:
	rm -rf $(B)

help:
	@echo 'make            build trcust, trace, tracefmt, heapmon ($(B)/bin), librastrace ($(B)/lib)'
	@echo 'make lib32      librastrace for 32-bit programs, into $(B)/lib32'
	@echo 'make demo       show the main job on three programs (root)'
	@echo 'make check      test every feature in 16 minutes (root; else what needs none)'
	@echo 'make check-all  all tests in their long forms, for hours: aarch64, check-debug'
	@echo 'make check-debug a kernel full of checkers, more kernels'
	@echo 'make check-sanitize, check-thread, check-valgrind: tests in user space, watched'
	@echo 'make fuzz       longer fuzzing with clang, FUZZ_SECONDS=60 each; fuzz-corpus'
	@echo 'make soak       half an hour of everything at a time on each of four kernels; SOAK="-t 60 6.1"'
	@echo 'make bench      a table of what all of it costs, beside other tools (root); PART=decode: a part'
	@echo 'make kmod       the kernel module, KERNELS="6.1 6.12" or trees, into $(B)/kmod'
	@echo 'make static     trace and tracefmt without shared libraries'
	@echo 'make portable   tracefmt without BPF and libraries, CC=... for any architecture'
	@echo 'make ARCH=aarch64 [static|selftests] for that machine, into build/aarch64'
	@echo 'make install    into PREFIX=$(PREFIX), below DESTDIR; make uninstall'
	@echo 'make deb        Debian packages, into $(B)/deb'
	@echo 'make clean      remove $(B)'
	@echo 'make V=1 ...    shows the commands'
	@echo 'make setup      install what building needs; setup-check: testing, too'

FORCE:

.PHONY: FORCE all bench check check-all check-debug check-sanitize check-thread \
	check-valgrind clean deb demo fuzz fuzz-corpus help install kmod \
	lib32 portable selftests setup setup-check soak static uninstall
-include $(shell find $(B)/obj $(B)/portable -name '*.d' 2>/dev/null)
