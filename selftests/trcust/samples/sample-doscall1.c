// SPDX-License-Identifier: GPL-2.0
/* A substitute for doscall1.dll. */
char FileName[128];
static int handles;

#line 20 "dosopen1.c"
int DosOpen(const char *name)
{
	int handle = handles;
	int i = 0;

	while (i < 127 && (FileName[i] = name[i]))
		i++;
	handle++;
	handles = handle;
	return handle;
}

int DosOpenC(const char *name)
{
	struct {
		short kind, bytes;
		int handle;
	} var_struct = { 1, sizeof(var_struct), 0 };
	int retcode;

	var_struct.handle = DosOpen(name);
	retcode = var_struct.handle < 0;
	return retcode;
}
