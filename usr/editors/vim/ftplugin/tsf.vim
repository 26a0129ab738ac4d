" SPDX-License-Identifier: GPL-2.0
" Trace source files of rastrace, tsf(5). Neovim starts the language server, trcust,
" in the file's directory: let g:trcust_command = ['trcust', '--lsp'] is its command.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal comments=s1:/*,mb:*,ex:*/,:; commentstring=;\ %s
let b:undo_ftplugin = 'setlocal comments< commentstring<'

let s:command = get(g:, 'trcust_command', ['trcust', '--lsp'])
if !has('nvim') || !executable(s:command[0])
  finish
endif
lua << END
local command = vim.g.trcust_command or { 'trcust', '--lsp' }
local config = {
  name = 'trcust',
  cmd = command,
  root_dir = vim.fn.expand('%:p:h'),
}
if vim.lsp.start then
  vim.lsp.start(config)
else -- before Neovim 0.8
  for _, client in ipairs(vim.lsp.get_active_clients()) do
    if client.name == 'trcust' then
      vim.lsp.buf_attach_client(0, client.id)
      return
    end
  end
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
end
END
setlocal omnifunc=v:lua.vim.lsp.omnifunc
let b:undo_ftplugin .= ' omnifunc<'
