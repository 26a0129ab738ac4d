#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A random program prints its variables at many places. Tracepoints there record
the same variables: what is recorded must be what was printed, or be marked.

    random_values.py SEED LANGUAGE SITE COMPILER OPTION...

LANGUAGE is c or c++, SITE as in trcust --site. Runs in the current directory,
prints each difference, then a line with sums; exits with 1 after a difference,
2 when the compiler can't do it, 3 when nothing can be armed.
"""
import json
import os
import random
import re
import subprocess
import sys

FUNCTIONS = 30
CALLS = 12                      # of each function
INTEGERS = ['signed char', 'short', 'int', 'long', 'long long',
            'unsigned char', 'unsigned short', 'unsigned', 'unsigned long',
            'unsigned long long', 'bool']
FLOATS = ['float', 'double']
HEAD = '''
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
struct in { short q; unsigned b : 3; int c : 7; long long w; };
struct s {
	int i;
	struct in in;
	unsigned char arr[5];
	struct s *next;
	unsigned long u;
	short sh[3];
};
struct sm { int a; short b; };
struct md { long a; int b; char c; };
union un { int n; unsigned char bytes[8]; long long w; };
enum color { RED, GREEN = 5, BLUE = -3 };
static struct s S[4];
long total;
static int hidden[4];
FILE *out;
NOINLINE static long mix(long a, long b)
{
	hidden[a & 3] += b;
	return (a * 31) ^ (b + 7) ^ (total++);
}
NOINLINE static void touch(void *p, int n)
{
	unsigned char *q = (unsigned char *)p;

	for (int i = 0; i < n; i++)
		q[i] += i + 1;
	asm volatile("" ::: "memory");
}
NOINLINE static int sum(int n, ...)
{
	va_list list;
	int all = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		all += va_arg(list, int);
	va_end(list);
	return all;
}
static void fill(struct s *s, int k)
{
	memset(s, 0, sizeof(*s));
	s->i = k * 1000 - 7;
	s->in.q = -k * 3;
	s->in.b = k + 2;
	s->in.c = -k * 5;
	for (int j = 0; j < 5; j++)
		s->arr[j] = k * 50 + j * 9;
	s->u = 0x1234567 * (unsigned long)k;
	for (int j = 0; j < 3; j++)
		s->sh[j] = k * 7 - j * 300;
	s->next = &S[(k + 1) & 3];
}
'''
HEAD_CXX = '''
namespace ns { static long count; namespace deep { int level = 3; } }
struct base { int kept; virtual long act(int a) { return kept + a; } };
struct side { short extra; };
struct derived : base, side {
	int own;
	long act(int a) override;
};
'''
METHOD = '''
NOINLINE long derived::act(int a)
{
	long r = mix(own, a) + kept;
	ns::count += r & 7;
%s	return r;
}
'''


class Program:
    """The text, and what is printed where: (function, point) -> (line or
    None, expressions)."""

    def __init__(self, seed, language):
        self.random = random.Random(seed)
        self.cxx = language == 'c++'
        self.lines = []
        self.points = {}
        self.returns = {}
        self.functions = []

    def add(self, text):
        self.lines += text.strip('\n').split('\n')
        return len(self.lines)

    def chance(self, share):
        return self.random.random() < share

    def show(self, function, point, values, indent='\t'):
        """Print the values: (expression, is a float) each."""
        form = ''.join(' %.9g' if real else ' %lld' for _, real in values)
        args = ''.join(', %s(%s)' % ('(double)' if real else '(long long)', e)
                       for e, real in values)
        line = self.add('%sfprintf(out, "%s %s%s\\n"%s);' %
                        (indent, function, point, form, args))
        self.points[function, point] = (line, [e for e, _ in values])

    def expression(self, names, depth=0):
        # gcc's locations of what was computed from a bit-field take all of
        # its byte
        names = [n for n in names if n[-5:] not in ('.in.b', '>in.b', '.in.c',
                                                    '>in.c')]
        pick = self.random.random()
        if depth > 2 or pick < .35:
            if names and pick < .28:
                return self.random.choice(names)
            return str(self.random.randint(-50, 300))
        one = self.expression(names, depth + 1)
        two = self.expression(names, depth + 1)
        if pick < .8:
            return '(%s %s %s)' % (one, self.random.choice('+-*^|&'), two)
        if pick < .88:
            return 'mix(%s, %s)' % (one, two)
        if pick < .91:
            return 'sum(3, (int)(%s), 4, (int)(%s))' % (one, two)
        return '(%s > %s ? %s : 1)' % (
            self.random.choice(names) if names else 3, one, two)

    def parameter(self, k):
        kinds = [(.56, self.random.choice(INTEGERS), 'a'),
                 (.62, self.random.choice(FLOATS), 'g'),
                 (.77, 'struct s *', 'p'), (.83, 'struct sm', 'm'),
                 (.88, 'struct md', 'd'), (.91, 'union un', 'u'),
                 (.94, 'enum color', 'e'), (1, 'struct s', 'v')]
        if self.cxx:
            kinds.insert(3, (.80, 'struct s &', 'r'))
            kinds.insert(3, (.785, 'const int &', 'c'))
        pick = self.random.random()
        for limit, kind, letter in kinds:
            if pick < limit:
                return kind, letter + str(k)
        return 'int', 'a%d' % k

    def leaves(self, kind, name):
        """What of a parameter is logged: integers, or one float."""
        dot = '->' if kind.endswith('*') else '.'
        if kind in ('struct s *', 'struct s &', 'struct s'):
            fields = ['i', 'in.q', 'in.b', 'in.c', 'next->u', 'next->i',
                      'arr[%d]' % self.random.randint(0, 4),
                      'sh[%d]' % self.random.randint(0, 2)]
            return [name + dot + f for f in fields]
        fields = {'struct sm': ['a', 'b'], 'struct md': ['a', 'b', 'c'],
                  'union un': ['n', 'bytes[2]']}.get(kind)
        return [name + '.' + f for f in fields] if fields else [name]

    def local(self, k, names, known):
        """Declare a local variable."""
        pick = self.random.random()
        value = self.expression(names)
        if pick < .65:
            self.add('\t%s x%d = %s;' %
                     (self.random.choice(INTEGERS), k, value))
            known.append('x%d' % k)
        elif pick < .8:
            self.add('\tint y%d[4] = { (int)(%s), 2, 3, 4 };' % (k, value))
            self.add('\ttouch(y%d, 8);' % k)
            known += ['y%d[0]' % k, 'y%d[3]' % k]
        elif pick < .9:
            self.add('\tstruct sm z%d = { (int)(%s), 7 };' % (k, value))
            if self.chance(.5):
                self.add('\ttouch(&z%d, 2);' % k)
            known += ['z%d.a' % k, 'z%d.b' % k]
        elif self.cxx:
            self.add('\tint w%d = %s;' % (k, value))
            self.add('\tauto l%d = [&](int n) { return mix(n, w%d) ^ 255; };' %
                     (k, k))
            self.add('\tint x%d = l%d(%s);' % (k, k, self.expression(names)))
            known += ['w%d' % k, 'x%d' % k]
        else:
            self.add('\tenum color e_%d = (%s) & 1 ? RED : GREEN;' %
                     (k, value))
            known.append('e_%d' % k)

    def loop(self, function, names, known):
        numbers = [x for x in known if x[0] == 'x']
        self.add('\tfor (int k = 0; k < (int)((%s) & 3); k++) {' % known[0])
        if numbers:
            self.add('\t\t%s += %s;' % (self.random.choice(numbers),
                                        self.expression(names + ['k'])))
        if self.chance(.6):
            self.show(function, 'loop', self.sample(names + ['k'], []), '\t\t')
        self.add('\t}')

    def branch(self, function, names, known, floats):
        numbers = [x for x in known if x[0] == 'x']
        self.add('\tif ((%s) & 1) {' % self.expression(names))
        if numbers:
            self.add('\t\t%s = %s;' % (self.random.choice(numbers),
                                       self.expression(names)))
        self.show(function, 'branch', self.sample(names, floats), '\t\t')
        self.add('\t\treturn 1;\n\t}')

    def sample(self, names, floats):
        values = [(n, False) for n in names] + [(f, True) for f in floats]
        self.random.shuffle(values)
        return values[:self.random.randint(1, 8)] or [('total', False)]

    def function(self, number):
        name = 'f%d' % number
        parameters = [self.parameter(k)
                      for k in range(self.random.randint(0, 8))]
        out_of_line = self.chance(.7)
        local = not out_of_line or self.chance(.4)
        result = self.random.choice(INTEGERS)
        floats = [n for t, n in parameters if t in FLOATS]
        known = []
        names = [leaf for t, n in parameters if t not in FLOATS
                 for leaf in self.leaves(t, n)]

        self.add('%s%s%s %s(%s)\n{' % (
            'NOINLINE ' if out_of_line else 'inline ',
            'static ' if local else '', result, name,
            ', '.join(t + ' ' + n for t, n in parameters) or 'void'))
        for k in range(self.random.randint(1, 5)):
            self.local(k, names + known, known)
            if self.chance(.15) and parameters:
                kind, own = self.random.choice(parameters)
                if kind in INTEGERS:
                    self.add('\t%s = %s;' % (own, self.expression(names)))
        names += known
        if self.chance(.7):
            self.show(name, 'first', self.sample(names, floats))
        if self.chance(.5) and known:
            self.loop(name, names, known)
        if self.chance(.4) and known:
            self.branch(name, names, known, floats)
        if self.chance(.6):
            self.show(name, 'last', self.sample(names, floats))
        self.add('\t%s res = %s;' % (result, self.expression(names)))
        self.add('\tfprintf(out, "%s result %%lld\\n", (long long)res);' % name)
        self.add('\treturn res;\n}')
        # how a static function returns is the compiler's own business
        if not local:
            kind = 'unsigned char' if result == 'bool' else result
            self.returns[name] = '(%s)$RAX' % kind
        self.functions.append((name, parameters, out_of_line))

    def argument(self, kind, name):
        pick = self.random.randint
        if kind in INTEGERS or kind == 'const int &':
            return '%s = (%s)(it * %dLL + %d)' % (
                name, 'int' if '&' in kind else kind, pick(-9 * 10**10, 9 * 10**10),
                pick(-300, 70000))
        if kind in FLOATS:
            return '%s = it * %d / 4.0 - %d' % (name, pick(-99, 99),
                                                pick(0, 40))
        shared = 'S[(it + %d) & 3]' % pick(0, 3)
        return name + ' = ' + {
            'struct s *': '&' + shared, 'struct s &': shared,
            'struct s': shared,
            'struct sm': '{ it * 77 - 5, (short)(it * -9) }',
            'struct md': '{ it * 7700000L - 5, it * -9, (char)it }',
            'union un': '{ it * 1234567 - 8 }',
            'enum color': 'it & 1 ? GREEN : BLUE'}[kind]

    def call(self, name, parameters, out_of_line):
        values = []

        self.add('\t\t{')
        for kind, own in parameters:
            if kind == 'const int &':
                self.add('\t\t\tint %s;' % self.argument(kind, own))
                # compilers leave out a store that the callee doesn't read
                self.add('\t\t\tasm volatile("" : : "r"(&%s) : "memory");' %
                         own)
            else:
                self.add('\t\t\t%s %s;' % (kind, self.argument(kind, own)))
            values += [(leaf, kind in FLOATS)
                       for leaf in self.leaves(kind, own)[:3]]
        if values:
            self.show(name, 'entry', values, '\t\t\t')
            if not out_of_line:
                del self.points[name, 'entry']
        self.add('\t\t\ttotal ^= (long)%s(%s);\n\t\t}' % (
            name, ', '.join(n for _, n in parameters)))

    def main(self):
        self.add('int main(int argc, char **argv)\n{')
        self.add('\tout = fopen("printed", "w");')
        self.add('\tfor (int k = 0; k < 4; k++)\n\t\tfill(&S[k], k + argc);')
        self.add('\tfor (int it = 0; it < %d; it++) {' % CALLS)
        if self.cxx:
            self.add('\t\tderived d;\n\t\tbase *b = &d;')
            self.add('\t\td.kept = it; d.extra = 3 - it; d.own = it * 9;')
            self.add('\t\tasm volatile("" : "+r"(b));\n\t\tb->act(it - 4);')
        for function in self.functions:
            self.call(*function)
        self.add('\t}\n\treturn fclose(out);\n}')

    def method(self):
        start = METHOD.index('%s')
        self.add(METHOD[:start])
        self.show('act', 'first', [(e, False) for e in (
            'own', 'kept', 'this->extra', 'a', 'r', 'ns::count',
            'ns::deep::level', 'total')])
        self.add(METHOD[start + 2:])

    def make(self):
        self.add(HEAD)
        if self.cxx:
            self.add(HEAD_CXX)
            self.method()
        for number in range(FUNCTIONS):
            self.function(number)
        self.main()
        return '\n'.join(self.lines) + '\n'


class Tracepoint:
    def __init__(self, place, expressions, printed, columns):
        self.place = place
        self.expressions = expressions
        self.printed = printed          # (function, point)
        self.columns = columns          # of the values that were printed
        self.reported = False               # trcust has a message about its hits

    def text(self, minor):
        return 'TRACE MINOR=%d,TP=%s,VARS=(%s)' % (
            minor, self.place, ','.join(self.expressions))

    def drop(self, column):
        """The expression at a column of the text is not to be had. False:
        none is there."""
        at = column - self.text(0).index('VARS=(') - 7
        for k, expression in enumerate(self.expressions):
            if 0 <= at <= len(expression):
                del self.expressions[k], self.columns[k]
                return True
            at -= len(expression) + 1
        return False


def tracepoints(program, source):
    result = []
    for (function, point), (line, values) in program.points.items():
        place = '@%s,%d' % (source, line)
        if point == 'entry':
            offset = '' if program.cxx else program.random.choice(['', '+0'])
            place = '.%s%s' % (function, offset)
        result.append(Tracepoint(place, list(values), (function, point),
                                 list(range(len(values)))))
    for function, value in program.returns.items():
        result.append(Tracepoint('.%s,RETEP' % function, [value],
                                 (function, 'result'), [0]))
    return result


def compile_points(points, site):
    """With trcust, leaving out what it refuses. How many values that are."""
    dropped = 0
    while points:
        lines = ['MODNAME="./random"', 'MAJOR=1', 'MAXDATALENGTH=512']
        minors = range(1, len(points) + 1)
        lines += [p.text(m) for p, m in zip(points, minors)]
        with open('random.tsf', 'w') as out:
            out.write('\n'.join(lines) + '\n')
        for name in ('random.tdf', 'TRC0001.TFF'):
            if os.path.exists(name):
                os.unlink(name)
        run = subprocess.run(['trcust', '--site=' + site, 'random.tsf'],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if run.returncode not in (0, 1):
            sys.exit('trcust: %d' % run.returncode)
        refused, again = set(), {}
        for number, column, kind, text in re.findall(
                r'^random\.tsf:(\d+):(\d+): (\w+): (.*)$',
                run.stderr.decode(), re.M):
            point = points[max(int(number) - 4, 0)]
            if kind == 'warning':
                point.reported |= 'TRCERR_SLOWSITE' not in text
            else:
                refused.add(point)
                columns = again.setdefault(point, set())
                columns.add(int(column))
        if not refused:
            return points, dropped
        for point, columns in again.items():
            minor = points.index(point) + 1
            shift = len(str(minor)) - 1
            before = len(point.expressions)
            if not all(point.drop(c - shift)
                       for c in sorted(columns, reverse=True)):
                point.expressions = []
            dropped += before - len(point.expressions)
        points = [p for p in points if p.expressions]
    return points, dropped


def read_printed():
    printed = {}
    with open('printed') as lines:
        for line in lines:
            word = line.split()
            printed.setdefault((word[0], word[1]), []).append(word[2:])
    return printed


def read_recorded():
    recorded = {}
    with open('events', errors='replace') as lines:
        for line in lines:
            line = line.strip().rstrip(',')
            if line.startswith('{') and '"minor"' in line:
                event = json.loads(line)
                recorded.setdefault(event['minor'], []).append(
                    list(event['fields'].values()))
    return recorded


ENUMERATORS = {'RED': 0, 'GREEN': 5, 'BLUE': -3}


def is_same(printed, value):
    """None: it is marked, or its text isn't a number."""
    if value is None:
        return None
    if isinstance(value, str):
        if value in ENUMERATORS:
            return int(printed) == ENUMERATORS[value]
        if value == '' or len(value) == 1 and value != '\ufffd':
            return int(printed) & 255 == ord(value or '\0')
        return None
    if isinstance(value, float) or '.' in printed or 'e' in printed:
        return abs(float(printed) - value) <= abs(value) * 1e-6
    if not isinstance(value, int):
        return None
    return (int(printed) - int(value)) & (2 ** 64 - 1) == 0


class Sums:
    def __init__(self, what):
        self.what = what
        self.same = self.wrong = self.marked = self.counts = 0

    def report(self, text):
        print('%s: %s' % (self.what, text))

    def compare(self, point, printed, recorded):
        if len(printed) != len(recorded):
            if not point.reported and point.printed[1] != 'result':
                self.counts += 1
                self.report('%s: %d times run, %d hits' % (
                    point.place, len(printed), len(recorded)))
            return
        differ = {}
        for words, values in zip(printed, recorded):
            for k, column in enumerate(point.columns):
                same = is_same(words[column], values[k]) \
                    if k < len(values) else None
                if same is None:
                    self.marked += 1
                elif same:
                    self.same += 1
                else:
                    self.wrong += 1
                    differ[point.expressions[k]] = (words[column], values[k])
        for expression, pair in differ.items():
            self.report('%s: %s is %s, recorded %r' % (
                point.place, expression, *pair))


def main():
    seed, language, site = sys.argv[1:4]
    compiler = sys.argv[4:]
    program = Program(int(seed), language)
    source = 'random.cc' if language == 'c++' else 'random.c'
    with open(source, 'w') as out:
        out.write(program.make())
    built = subprocess.run(
        compiler + ['-g', '-w', '-fwrapv', '-fno-strict-aliasing', source,
                    '-o', 'random'])
    if built.returncode:
        sys.exit(2)
    points, dropped = compile_points(tracepoints(program, source), site)
    run = subprocess.run(['trace', 'run', '-b', '16M', '-o', 'random.ras',
                          'random.tdf', '--', './random'],
                         stdout=subprocess.DEVNULL)
    if run.returncode:
        sys.exit(3)
    with open('events', 'w') as out:
        subprocess.run(['tracefmt', '-q', '--tff', '.', '--format', 'json',
                        'random.ras'], stdout=out, check=True)
    printed, recorded = read_printed(), read_recorded()
    sums = Sums('seed %s, %s, --site=%s, %s' % (seed, language, site,
                                               ' '.join(compiler)))
    for minor, point in enumerate(points, 1):
        sums.compare(point, printed.get(point.printed, []),
                     recorded.get(minor, []))
    print('%d the same, %d wrong, %d marked, %d not to be had, '
          '%d counts differ' % (sums.same, sums.wrong, sums.marked, dropped,
                                sums.counts))
    sys.exit(sums.wrong > 0 or sums.counts > 0)


if __name__ == '__main__':
    main()
