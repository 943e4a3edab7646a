import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { maxRecordBytes } from './limits.ts';
import { readRecords } from './read-records.ts';
import { type FileRecord, UnreadableFileError } from './record.ts';
import { toSource } from './source.fixture.ts';

const read = async (content: string | Uint8Array, chunkSize?: number): Promise<FileRecord[]> => {
  const all: FileRecord[] = [];
  for await (const records of readRecords(toSource(content, chunkSize))) all.push(...records);
  return all;
};

const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é', '😀', '\\', ';'), maxLength: 8 });
const chunkSize = fc.integer({ min: 1, max: 64 });
const write = (cells: readonly string[]) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(',');

describe('CSV', () => {
  it('is read as it was written, in chunks of any size', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 }), chunkSize, async (rows, size) => {
        const text = ['a,b,c', ...rows.map(write)].join('\r\n');
        const [header, ...records] = await read(text, size);
        expect(header).toEqual({ line: 1, header: ['a', 'b', 'c'] });
        expect(records.map((record) => 'row' in record && Object.values(record.row))).toEqual(rows);
      }),
    ));

  it('yields the line on which a record begins', async () => {
    expect(await read('a,b\n1,"x\ny"\n\n2,z\n')).toEqual([
      { line: 1, header: ['a', 'b'] },
      { line: 2, row: { a: '1', b: 'x\ny' } },
      { line: 5, row: { a: '2', b: 'z' } },
    ]);
  });

  it('reports a row with a different number of cells, and reads the next row', async () => {
    expect(await read('a,b\n1\n1,2,3\n4,5')).toEqual([
      { line: 1, header: ['a', 'b'] },
      { line: 2, problem: 'the row has 1 cell, but the header has 2' },
      { line: 3, problem: 'the row has 3 cells, but the header has 2' },
      { line: 4, row: { a: '4', b: '5' } },
    ]);
  });

  it('reports a quote in the middle of a cell', async () => {
    const [, record, next] = await read('a,b\n1,5" screen "x"\n"1"2,3\n');
    expect([record, next]).toEqual([
      { line: 2, problem: expect.stringContaining('a quote is not closed, and the next line is not read') },
      undefined,
    ]);
    expect(await read('a,b\n1,the "best" one\n2,z')).toEqual([
      { line: 1, header: ['a', 'b'] },
      { line: 2, problem: expect.stringContaining('a cell has a quote in the middle') },
      { line: 3, row: { a: '2', b: 'z' } },
    ]);
  });

  it('reports an unclosed quote once, with the number of lines that are not read because of it', async () => {
    const row = `${'x'.repeat(1_000)},y\n`;
    const hidden = Math.ceil(maxRecordBytes / row.length);
    const records = await read(`a,b\n"open,1\n${row.repeat(hidden + 10)}`);
    const problems = records.filter((record) => 'problem' in record);
    expect(problems).toEqual([{ line: 2, problem: expect.stringMatching(/^a quote is not closed, .* \d+ lines/) }]);
    expect(records.length).toBeGreaterThan(9);
    expect(await read('a,b\n1,"cut')).toContainEqual({ line: 2, problem: 'a quote is not closed' });
  });
});

describe('JSON', () => {
  const rows = fc.array(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 })), { maxLength: 6 });
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
  const rowsOf = (records: readonly FileRecord[]) => records.map((record) => 'row' in record && record.row);

  it('is read as it was written: lines and arrays, in chunks of any size', () =>
    fc.assert(
      fc.asyncProperty(rows, chunkSize, fc.constantFrom(undefined, 2), async (values, size, space) => {
        const lines = values.map((value) => `${JSON.stringify(value)}\n`).join('');
        expect(rowsOf(await read(lines, size))).toEqual(plain(values));
        expect(rowsOf(await read(` ${JSON.stringify(values, null, space)}\n`, size))).toEqual(plain(values));
      }),
    ));

  it('yields the line on which an element begins', async () => {
    expect(await read('[\n{"a":\n1},\n\n{"b":2}]')).toEqual([
      { line: 2, row: { a: 1 } },
      { line: 5, row: { b: 2 } },
    ]);
  });

  it('reports a line that is not an object, and reads the next line', async () => {
    const records = await read('{"a":1}\n{"a":}\n[1]\n"x"\n\n{"a":{"b":"cut\n{"a":2}\n');
    expect(records.map((record) => ('problem' in record ? `${record.line} ${record.problem}` : record.line))).toEqual([
      1,
      expect.stringMatching(/^2 the text is not JSON/),
      '3 the text is JSON, but not an object',
      '4 the text is JSON, but not an object',
      expect.stringMatching(/^6 the text/),
      7,
    ]);
  });

  it('reports the column of a syntax error if the JavaScript engine provides it', async () => {
    expect(await read('{"a":1,}')).toEqual([{ line: 1, problem: 'the text is not JSON in column 8' }]);
  });

  it('reports an element that is not JSON, and reads the next element', async () => {
    expect(await read('[{"a":}, {"a":1}]')).toEqual([
      { line: 1, problem: expect.stringMatching(/^element 1 of the array: the text is not JSON/) },
      { line: 1, row: { a: 1 } },
    ]);
  });

  it.each(['[{"a":1}, 2]', '[{"a":1}] {"a":2}', '[[{}]]'])('is unreadable after text between elements: %s', (text) =>
    expect(read(text)).rejects.toThrow(/^line 1: there is text after/),
  );

  it('reports that an array is truncated', async () => {
    expect(await read('[{"a":1},\n{"a":')).toEqual([
      { line: 1, row: { a: 1 } },
      { line: 2, problem: 'the file ends after 2 elements, before the end of its array' },
    ]);
  });

  it('reports an object that is nested too deeply', async () => {
    const nested = `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`;
    const problem = expect.stringContaining('nested more than 24 levels deep');
    expect(await read(`{"b":1}\n${nested}`)).toEqual([
      { line: 1, row: { b: 1 } },
      { line: 2, problem },
    ]);
    expect(await read(`[${nested}]`)).toEqual([{ line: 1, problem }]);
  });
});

describe('every kind of file', () => {
  it.each([
    ['JSON lines', '{"a":"x"}\n'],
    ['a JSON array', '[{"a":"x"}]'],
    ['CSV', 'a\nx\n'],
  ])('may be compressed, and may begin with a byte order mark: %s', async (_, text) => {
    const expected = await read(text);
    expect(expected).toContainEqual({ line: text.startsWith('a') ? 2 : 1, row: { a: 'x' } });
    expect(await read(`\uFEFF${text}`, 1)).toEqual(expected);
    expect(await read(gzipSync(`\uFEFF${text}`), 5)).toEqual(expected);
  });

  it.each([
    ['JSON lines', '{"a":"%"}\n{"a":"x"}\n'],
    ['a JSON array', '[{"a":"%"},{"a":"x"}]'],
    ['CSV', 'a\n%\nx\n'],
  ])('is read to its end despite text that is not UTF-8 or is too long, which is reported: %s', async (_, text) => {
    const latin = Buffer.from(text.replace('%', 'é'), 'latin1');
    expect((await read(latin)).slice(-2)).toEqual([
      { line: expect.any(Number), problem: expect.stringContaining('not UTF-8') },
      { line: expect.any(Number), row: { a: 'x' } },
    ]);
    expect((await read(text.replace('%', 'x'.repeat(maxRecordBytes + 1)), 65_536)).slice(-2)).toEqual([
      { line: expect.any(Number), problem: expect.stringContaining('than 4 MiB') },
      { line: expect.any(Number), row: { a: 'x' } },
    ]);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['a ZIP archive', Buffer.from('PK\x03\x04'), /ZIP archive: unpack it/],
    ['a Parquet file', Buffer.from('PAR1'), /firsthand import/],
    ['a Zstandard file', Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), /Zstandard/],
    ['UTF-16', Buffer.from('\uFEFFa,b', 'utf16le'), /save the file as UTF-8/],
    ['damaged gzip data', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]), /Is the file complete\?/],
  ])('is refused with a helpful message if it is %s', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(UnreadableFileError);
    await expect(read(content)).rejects.toThrow(message);
  });

  it('is read until its compressed data is truncated, and is then reported as unreadable', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `{"a":${index}}\n`).join('');
    const compressed = gzipSync(lines);
    const records: FileRecord[] = [];
    const readAll = async () => {
      for await (const part of readRecords(toSource(compressed.subarray(0, -1_000), 1_000))) records.push(...part);
    };
    await expect(readAll()).rejects.toThrow(/Is the file complete\?/);
    expect(records.length).toBeGreaterThan(1_000);
  });

  it('has no records if it is empty', async () => {
    expect(await read('')).toEqual([]);
    expect(await read(gzipSync(''))).toEqual([]);
  });

  it('may contain empty chunks', async () => {
    const text = '{"a":1}\n'.repeat(400);
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const character of text) {
          controller.enqueue(new Uint8Array());
          controller.enqueue(new TextEncoder().encode(character));
        }
        controller.close();
      },
    });
    let records = 0;
    for await (const part of readRecords(source)) records += [...part].length;
    expect(records).toBe(400);
  });

  it('stops the source when its reader stops', async () => {
    const cancel = vi.fn();
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('{"a":1}\n'.repeat(1_000))),
      cancel,
    });
    for await (const records of readRecords(source)) {
      expect([...records]).not.toEqual([]);
      break;
    }
    expect(cancel).toHaveBeenCalledOnce();
  });
});
