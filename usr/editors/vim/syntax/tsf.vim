" SPDX-License-Identifier: GPL-2.0
" Trace source files of rastrace, tsf(5). `trcust --list=keywords` has the words.
if exists('b:current_syntax')
  finish
endif
syntax case ignore
setlocal iskeyword+=$

" a keyword precedes '=': "len" may be a variable
syntax match tsfHeader "\<\%(MODNAME\|MAJOR\|MAXDATALENGTH\|MAXDATALEN\)\>\%(\_s*=\)\@="
syntax match tsfHeader "\<\%(NAME\|ID\)\>\%(\_s*=[^=]\)\@="
syntax keyword tsfHeader TYPELIST GROUPLIST
syntax keyword tsfTrace TRACE
syntax match tsfClause "\<\%(MINOR\|TP\|CALL\|OPCODE\|TYPE\|GROUP\|DESC\|FMT\|REGS\|LEN\|MEM\|MEM32\|MEM64\)\>\%(\_s*=[^=]\)\@="
syntax match tsfClause "\<\%(ASCIIZ\|ASCIIZ32\|ASCIIZ64\|VARS\|RESULT\|SUM\|MIN\|MAX\|HIST\|BY\|IF\|MAXHITS\|PASSCOUNT\|ONFAULT\)\>\%(\_s*=[^=]\)\@="
syntax keyword tsfClause RETEP COUNT STACK
syntax keyword tsfValue STATIC USDT ADDR EXIT CALLER DIRECT INDIRECT STOP CONTINUE

syntax match tsfNumber "\<\(0x\x\+\|\d\+\)\>"
syntax match tsfRegister "\$\w\+"
syntax region tsfString start=+"+ skip=+\\.+ end=+"+ oneline contains=tsfEscape,tsfControl
syntax match tsfEscape +\\\(x\x\{1,2}\|\o\{1,3}\|.\)+ contained
syntax match tsfControl +%\({[^}"]*}\|%\|[A-Za-z]\)+ contained
syntax match tsfCharacter +'\(\\.\|[^'\\]\)'+
syntax match tsfComment ";.*$" contains=@Spell
syntax region tsfBlock start="/\*" end="\*/" contains=tsfBlock,@Spell

highlight default link tsfHeader Statement
highlight default link tsfTrace Structure
highlight default link tsfClause Keyword
highlight default link tsfValue Constant
highlight default link tsfNumber Number
highlight default link tsfRegister Identifier
highlight default link tsfString String
highlight default link tsfCharacter Character
highlight default link tsfEscape SpecialChar
highlight default link tsfControl SpecialChar
highlight default link tsfComment Comment
highlight default link tsfBlock Comment
let b:current_syntax = 'tsf'
