# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: GPL-2.0
# Registers in TSFs of the machine that the test runs on, by what the calling
# convention has in them: the first arguments, the result; *_32 are the lower 32
# bits. SP_32 is the stack pointer, IP where the probe is.
case ${ARCH:-$(uname -m)} in
aarch64)
	ARG1=X0 ARG1_32=W0 ARG2=X1 ARG3=X2 ARG4=X3 ARG5=X4 ARG6=X5
	RESULT=X0 RESULT_32=W0 SP_32=WSP IP=PC ;;
*)
	ARG1=RDI ARG1_32=EDI ARG2=RSI ARG3=RDX ARG4=RCX ARG5=R8 ARG6=R9
	RESULT=RAX RESULT_32=EAX SP_32=ESP IP=RIP ;;
esac
