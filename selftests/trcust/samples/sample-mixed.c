// SPDX-License-Identifier: GPL-2.0
/* A substitute for MIXCALLS.DLL. */
void MixStub(int mix_ctrl)
{
}

int FlatStub(unsigned int p_seg_info)
{
	return p_seg_info;
}
