// SPDX-License-Identifier: GPL-2.0
// What no other unit means.
namespace space { int only = 15; }
int hidden_here = 16;
