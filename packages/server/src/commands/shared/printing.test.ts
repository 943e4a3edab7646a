import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { printComplaint, printCSV, printJSON, printLine, toTable } from './printing.ts';

/** C0, DEL, C1, bidirectional marks, embeddings, overrides and isolates, separators of lines and paragraphs. */
const controls = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  0x061c,
  ...[0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff],
].map((code) => String.fromCodePoint(code));

const written = () => {
  let text = '';
  const write = (part: unknown) => {
    text += part;
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(write);
  vi.spyOn(process.stderr, 'write').mockImplementation(write);
  return () => text;
};

afterEach(() => {
  vi.restoreAllMocks();
});

const ways: readonly (readonly [string, (text: string) => void])[] = [
  ['a line', printLine],
  [
    'a cell of a table',
    (text) =>
      printLine(
        toTable([
          ['A', 'B'],
          [text, 'x'],
        ]),
      ),
  ],
  ['the first cell of a table', (text) => printLine(toTable([[text, 'x']]))],
  ['the last cell of a table', (text) => printLine(toTable([['x', text]]))],
  ['a complaint', printComplaint],
  ['a value in JSON', (text) => printJSON({ a: text })],
  ['a name in JSON', (text) => printJSON({ [text]: 1 })],
];

it.each(ways)('writes no control character in %s', (_, print) => {
  const found = controls.filter((control) => {
    const text = written();
    print(`before${control}after`);
    vi.restoreAllMocks();
    return text().replaceAll('\n', '').includes(control);
  });
  expect(found).toEqual([]);
});

it('writes a line for a line, whatever is in it', () => {
  const text = written();
  printLine(`1: a\nREFUSED nothing`);
  printLine(toTable([['A'], ['x\ny']]));
  expect(text().split('\n')).toHaveLength(4);
});

it('writes JSON that is read as the value that was given', () => {
  const text = written();
  const value = Object.fromEntries(controls.map((control) => [control, `${control}\u{e0001}é`]));
  printJSON(value);
  expect(JSON.parse(text())).toEqual(value);
});

describe('CSV', () => {
  const csv = (...cells: Parameters<typeof printCSV>[0][number]) => {
    const text = written();
    printCSV([cells]);
    vi.restoreAllMocks();
    return text();
  };

  it('quotes what RFC 4180 says, and ends lines as it says', () => {
    expect(csv('a', 'b,c', 'd "e"', 'f\ng', '', null, 5, -0.5)).toBe('a,"b,c","d ""e""","f\ng",,,5,-0.5\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠SUM(A1)'])(
    'makes no formula of the text %j',
    (text) => {
      const [, field] = /^"?([\s\S]*?)"?\r\n$/.exec(csv(text)) ?? [];
      expect(field).toBe(`'${text}`);
    },
  );

  it('leaves texts as they are, but on a terminal', () => {
    const family = '👩\u200d👧';
    expect(csv(family, '\u001b[2J')).toBe(`${family},\u001b[2J\r\n`);
    const { isTTY } = process.stdout;
    process.stdout.isTTY = true;
    onTestFinished(() => {
      process.stdout.isTTY = isTTY;
    });
    expect(csv('\u001b[2J', 'a\nb')).toBe('\ufffd[2J,"a\ufffdb"\r\n');
  });
});

it('is what every command writes by', () => {
  const folder = new URL('..', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const others = names.filter((name) => /(?<!\.test)\.ts$/.test(name) && !name.endsWith('printing.ts'));
  const writing = others.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/process\.std(?:out|err)\.write\(`.*/g)].map(
      ([call]) => `${name}: ${call}`,
    ),
  );
  expect(writing.filter((call) => !call.includes('printable('))).toEqual([
    expect.stringContaining('copy.ts: process.stderr.write(`\\r${events'),
    expect.stringContaining('demo-data.ts: process.stderr.write(`\\r${events'),
    expect.stringContaining('demo-data.ts: process.stderr.write(`\\r${events'),
    expect.stringContaining('serve.ts: process.stdout.write(`${welcome('),
  ]);
});
