# SPDX-License-Identifier: GPL-2.0
# Included by the Makefiles, which set TOP: `make ARCH=aarch64` builds for such a
# machine on one of another kind, into build/aarch64, with Debian's cross compiler
# and libraries. When they aren't installed, scripts/foreign fetches them. MACHINE
# is empty otherwise.

ifeq ($(origin ARCH),command line)
MACHINE := $(filter-out $(shell uname -m),$(ARCH))
endif

ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
ifneq ($(MACHINE),)
CROSS	:= $(MACHINE)-linux-gnu-
foreign	= $(or $(shell $(TOP)/scripts/foreign $(1) $(MACHINE)),\
	  $(error nothing to build for $(MACHINE) with: see scripts/foreign -h))
ifeq ($(shell command -v $(CROSS)gcc),)
CROSS	:= $(call foreign,compiler)/$(CROSS)
endif
ifeq ($(origin CC),default)
CC	:= $(CROSS)gcc
endif
ifeq ($(origin CXX),default)
CXX	:= $(CROSS)g++
endif
ifeq ($(origin AR),default)
AR	:= $(CROSS)ar
endif
STRIP	:= $(CROSS)strip
CLANG	?= clang --target=$(MACHINE)-linux-gnu
LIBRARIES := $(call foreign,libraries)/usr
CPPFLAGS += -isystem $(LIBRARIES)/include
LDFLAGS += -L$(LIBRARIES)/lib/$(MACHINE)-linux-gnu \
	-Wl,-rpath-link,$(LIBRARIES)/lib/$(MACHINE)-linux-gnu \
	-Wl,-rpath-link,$(LIBRARIES)/../lib/$(MACHINE)-linux-gnu
endif
endif
STRIP	?= strip
