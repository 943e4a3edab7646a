import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { printCSV, printError, printJSON, printLine, toTable } from './printing.ts';

/** C0, DEL, C1, bidirectional controls, line and paragraph separators. */
const controls = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  0x061c,
  ...[0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff],
].map((code) => String.fromCodePoint(code));

const captureOutput = () => {
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

const printers: readonly (readonly [string, (text: string) => void])[] = [
  ['a line', printLine],
  [
    'a table cell',
    (text) =>
      printLine(
        toTable([
          ['A', 'B'],
          [text, 'x'],
        ]),
      ),
  ],
  ['the first cell in a table', (text) => printLine(toTable([[text, 'x']]))],
  ['the last cell in a table', (text) => printLine(toTable([['x', text]]))],
  ['an error message', printError],
  ['a value in JSON', (text) => printJSON({ a: text })],
  ['a name in JSON', (text) => printJSON({ [text]: 1 })],
];

it.each(printers)('writes no control character in %s', (_, print) => {
  const printed = controls.filter((control) => {
    const text = captureOutput();
    print(`before${control}after`);
    vi.restoreAllMocks();
    return text().replaceAll('\n', '').includes(control);
  });
  expect(printed).toEqual([]);
});

it('prints one line per line, even if the text contains line breaks', () => {
  const text = captureOutput();
  printLine(`1: a\nREFUSED nothing`);
  printLine(toTable([['A'], ['x\ny']]));
  expect(text().split('\n')).toHaveLength(4);
});

it('prints JSON that parses to the original value', () => {
  const text = captureOutput();
  const value = Object.fromEntries(controls.map((control) => [control, `${control}\u{e0001}é`]));
  printJSON(value);
  expect(JSON.parse(text())).toEqual(value);
});

describe('printCSV', () => {
  const csv = (...cells: Parameters<typeof printCSV>[0][number]) => {
    const text = captureOutput();
    printCSV([cells]);
    vi.restoreAllMocks();
    return text();
  };

  it('quotes fields and ends lines according to RFC 4180', () => {
    expect(csv('a', 'b,c', 'd "e"', 'f\ng', '', null, 5, -0.5)).toBe('a,"b,c","d ""e""","f\ng",,,5,-0.5\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠SUM(A1)'])(
    'prefixes the text %j so that it is not a formula',
    (text) => {
      const [, field] = /^"?([\s\S]*?)"?\r\n$/.exec(csv(text)) ?? [];
      expect(field).toBe(`'${text}`);
    },
  );

  it('replaces control characters only on a terminal', () => {
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

it('is used for all command output', () => {
  const folder = new URL('..', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /(?<!\.test)\.ts$/.test(name) && !name.endsWith('printing.ts'));
  const writes = files.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/process\.std(?:out|err)\.write\(`.*/g)].map(
      ([call]) => `${name}: ${call}`,
    ),
  );
  expect(writes.filter((call) => !call.includes('toPrintable('))).toEqual([
    expect.stringContaining('copy.ts: process.stderr.write(`\\r${events'),
    expect.stringContaining('demo-data.ts: process.stderr.write(`\\r${events'),
    expect.stringContaining('demo-data.ts: process.stderr.write(`\\r${events'),
    expect.stringContaining('import.ts: process.stderr.write(`\\r${(imported'),
    expect.stringContaining('serve.ts: process.stdout.write(`${welcome('),
  ]);
});
