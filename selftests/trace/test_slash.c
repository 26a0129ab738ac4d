// SPDX-License-Identifier: GPL-2.0
/* OS/2's command lines, and what they are turned into. */
#include <unistd.h>
#include "tap.h"
#include "trace/commands.h"
#include "trace/slash.h"

static char seen[512];
static int fails_at, runs;

static int run_note(int argc, char **argv)
{
	size_t used = strlen(seen);

	if (used)
		used += sprintf(seen + used, "; ");
	for (int i = 1; i < argc; i++)
		used += sprintf(seen + used, "%s%s", i > 1 ? " " : "", argv[i]);
	return argv[argc] || ++runs == fails_at ? COMMAND_FAILED :
						  COMMAND_DONE;
}

/* Split at blanks; what is run, "-" when it isn't OS/2's form, "!" misuse. */
static const char *line_text(const char *line)
{
	char copy[256], *rest = copy, *argv[32] = { NULL };
	int argc = 0, status;

	seen[0] = '\0';
	runs = 0;
	snprintf(copy, sizeof(copy), "trace %s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	if (!slash_used(argc, argv))
		return "-";
	status = slash_run(argc, argv, run_note);
	return status == COMMAND_MISUSE ? "!" : seen;
}

static const struct {
	const char *line, *expected;
} rows[] = {
	{ "on app.tdf", "-" },
	{ "query", "-" },
	{ "on /tmp/app.tdf /X:1 /app.tdf", "-" },
	{ "on /srv/app.tdf /proc/app.tdf /bin/x /Sx/app.tdf /P1/x", "-" },
	{ "on /proc /sys /root", "-" },		/* which are there */
	{ "on --context /docker app", "-" },
	{ "on app --pid-ns /s5", "-" },
	{ "on /P:xyz", "!" },
	{ "on app /P:", "!" },
	{ "on app /P:1,,2", "!" },
	{ "on app /P:1,", "!" },
	{ "on app /P:/1", "!" },
	{ "on app /p", "!" },
	{ "on app /p1", "!" },
	{ "on app /p=1", "!" },
	{ "on app /D:", "!" },
	{ "on app /D", "!" },
	{ "on app /B:1M", "!" },
	{ "on app /b:1,2", "!" },
	{ "on app /B:", "!" },
	{ "on app /Sx", "!" },
	{ "on app /s1", "!" },
	{ "on app /S:1", "!" },
	{ "on app /rest.tdf", "!" },
	{ "/Query", "!" },
	{ "/S5", "!" },
	{ "ON app /C /Q7", "!" },
	{ "run app.tdf -- /Q", "-" },
	{ "", "-" },
	{ "ON app.tdf", "on app.tdf" },
	{ "OFF app", "off app" },
	{ "/Q", "query" },
	{ "/S /R", "suspend; resume" },
	{ "/C ON app /Q", "clear; on app; query" },
	{ "on app.tdf /P:1f,FF", "on app.tdf --pid=31 --pid=255" },
	{ "on app.tdf /B:512", "on app.tdf --buffer=512K" },
	{ "on /B:64 app /x", "on --buffer=64K app /x" },
	{ "on app /D:PROCNAME,TID,CGROUP", "on app --context=comm --context=CGROUP" },
	{ "on app.tdf /p:1f,fF /b:7 /d:tid,procname",
	  "on app.tdf --pid=31 --pid=255 --buffer=7K --context=comm" },
	{ "/s /r /c /q", "suspend; resume; clear; query" },
	{ "ON /s", "on; suspend" },
	{ "/P:1 ON 5,7", "on --pid=1 5,7" },
	{ "off app /C", "off app; clear" },
	{ "off app /P:1", "!" },
	{ "/P:1", "!" },
	{ "/S query", "!" },
};

int main(void)
{
	/* what is misuse is reported there */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = line_text(rows[i].line);

		if (!tap_ok(!strcmp(text, rows[i].expected), "trace %s",
			    rows[i].line))
			tap_diag("got '%s', expected '%s'", text,
				 rows[i].expected);
	}
	fails_at = 1;
	tap_ok(!strcmp(line_text("ON app /C"), "on app"),
	       "the first that fails is the last");
	return tap_done();
}
