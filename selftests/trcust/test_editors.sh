#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usr/editors: the syntax files have the keywords of trcust and no others; Vim
# highlights with them; Neovim starts the language server and shows what it says.
. "$(dirname "$0")/../tap.sh"
need_tree
need cc python3
editors=$TOP/usr/editors
cd "$TMP" || exit 1

trcust --list=keywords | awk '{ print $1 }' | sort >keywords
ok "there are keywords" test -s keywords
sed -n '/^syntax \(match\|keyword\) tsf\(Header\|Trace\|Clause\|Value\) /{
	s/\\[%_<>()|s]*/ /g; s/^syntax [a-z]* tsf[A-Za-z]* //p; }' \
	"$editors/vim/syntax/tsf.vim" | grep -oE '[A-Z][A-Z0-9]+' | sort -u >vim.words
is "$(cat vim.words)" "$(sort -u keywords)" "Vim's syntax has the keywords"
python3 - "$editors/vscode" >code.words 2>code.err <<'END'
import json, os, re, sys
folder = sys.argv[1]
package = json.load(open(folder + "/package.json"))
contributes = package["contributes"]
for path in (package["main"], contributes["languages"][0]["configuration"],
             contributes["grammars"][0]["path"]):
    assert os.path.exists(os.path.join(folder, path)), path
json.load(open(folder + "/language-configuration.json"))
grammar = json.load(open(os.path.join(folder,
                                      contributes["grammars"][0]["path"])))
for pattern in grammar["patterns"]:
    if re.match("keyword|constant.language", pattern.get("name", "")):
        print("\n".join(re.findall("[A-Z][A-Z0-9]+", pattern["match"])))
END
is "$(cat code.err)" "" "the extension's files are JSON and there"
is "$(sort -u code.words)" "$(sort -u keywords)" "its grammar has the keywords"

cat >app.c <<'END'
#include <stdio.h>

__attribute__((noinline)) int greet(const char *who, int v)
{
	puts(who);
	return v;
}

int main(int argc, char **argv)
{
	return greet(argv[0], argc) < 0;
}
END
cc -O1 -g -o app app.c || bail "no program"
cat >app.tsf <<'END'
MODNAME=./app	; a comment
TRACE TP=.greet, DESC="%P\n", VARS=(who, len == 3, nosuch)
/* a comment, ; and /* another */ */ TRACE TP=.main
END

# group LINE COLUMN: of the highlighting there
cat >look.vim <<'END'
function! Group(line, column)
  return synIDattr(synID(a:line, a:column, 1), 'name')
endfunction
let s:seen = [&filetype]
for s:place in [[1, 1], [1, 9], [1, 15], [2, 1], [2, 7], [2, 25], [2, 26],
    \ [2, 31], [2, 42], [3, 5], [3, 31], [3, 38]]
  call add(s:seen, Group(s:place[0], s:place[1]))
endfor
call writefile([join(s:seen, ' ')], 'seen')
qall!
END
groups='tsf tsfHeader  tsfComment tsfTrace tsfClause tsfControl tsfEscape'
groups="$groups tsfClause  tsfBlock tsfBlock tsfTrace"
# highlights PROGRAM OPTION...
highlights() {
	rm -f seen
	"$@" --cmd "set runtimepath^=$editors/vim" \
		-c 'filetype plugin on' -c 'syntax on' -c 'edit app.tsf' \
		-c 'source look.vim' >log 2>&1 </dev/null
	is "$(cat seen 2>/dev/null)" "$groups" "$1 highlights a TSF" ||
		diag_file log
}
HOME=$TMP
export HOME
if command -v vim >/dev/null && vim --version | grep -q '+syntax'; then
	highlights vim -N -u NONE -i NONE -es
else
	skip "vim highlights a TSF" "no vim with +syntax"
fi
if command -v nvim >/dev/null; then
	highlights nvim --headless -u NONE -i NONE
	cat >ask.lua <<'END'
local out = {}
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 50)
for _, d in ipairs(vim.diagnostic.get(0)) do
  table.insert(out, d.lnum .. ':' .. d.col .. '-' .. d.end_col .. ' ' ..
    d.message:gsub('\n.*', ''))
end
local params = { textDocument = vim.lsp.util.make_text_document_params(),
  position = { line = 1, character = 37 } }
local function ask(method)
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/' .. method, params,
    20000) or {}
  for _, answer in pairs(answers) do return answer.result end
end
local hover = ask('hover')
table.insert(out, hover and (hover.contents.value:gsub('\n', '|')) or 'none')
local completion, labels = ask('completion'), {}
for _, item in ipairs(completion and completion.items or {}) do
  table.insert(labels, item.label)
end
table.insert(out, table.concat(labels, ' '))
vim.fn.writefile(out, 'answers')
vim.cmd('qall!')
END
	nvim --headless -u NONE -i NONE \
		--cmd "set runtimepath^=$editors/vim" \
		-c 'filetype plugin on' -c 'edit app.tsf' -c 'luafile ask.lua' \
		>log 2>&1 </dev/null
	like "$(cat answers)" '^1:51-57 symbol not found: nosuch$' \
		"Neovim shows a diagnostic" || diag_file log
	like "$(cat answers)" '^who: char \*\|parameter, register rdi$' \
		"hover"
	like "$(cat answers)" '^who v' "and completion"
	sleep 0.3
	is "$(pgrep -f "^trcust --lsp\$" -s 0)" "" "no server is left"
else
	skip "Neovim" "no nvim"
fi
tap_done
