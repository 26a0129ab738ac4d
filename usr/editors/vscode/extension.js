// SPDX-License-Identifier: GPL-2.0
// Starts the language server of trcust for trace source files.
'use strict';

const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = function () {
	const [command, ...args] =
		workspace.getConfiguration('trcust').get('command');

	client = new LanguageClient('trcust', 'trcust', { command, args }, {
		documentSelector: [{ language: 'tsf' }],
	});
	return client.start();
};

exports.deactivate = function () {
	return client && client.stop();
};
