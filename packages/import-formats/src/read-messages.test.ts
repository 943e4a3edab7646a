import { describe, expect, it } from 'vitest';
import { UnreadableFileError } from './files/record.ts';
import { toSource } from './files/source.fixture.ts';
import { detectFormat, type Reading, readMessages } from './read-messages.ts';

const read = async (text: string): Promise<Reading[]> => {
  const readings: Reading[] = [];
  for await (const reading of readMessages(toSource(text), 'segment')) readings.push(reading);
  return readings;
};

describe('readMessages', () => {
  it('yields messages and problems in order, with their line numbers', async () => {
    expect(await read('{"type":"track","timestamp":"2026-11-01"}\n\n{"type":\n{"type":"page"}\n')).toEqual([
      { line: 1, message: { type: 'track', timestamp: '2026-11-01' } },
      { line: 3, problem: expect.stringContaining('the text ends within the JSON object') },
      { line: 4, message: { type: 'page' } },
    ]);
  });

  it('rejects a CSV file that lacks a column of the format', async () => {
    await expect(read('a,b\n1,2\n')).rejects.toThrow('the header has no column `type`, which files of Segment have');
  });
});

describe('detectFormat', () => {
  it.each<[string, RegExp]>([
    ['', /the file is empty/],
    ['{"type":\n', /^line 1: the text ends/],
    ['a,b\n1,2\n', /not have a format that can be imported \(.*\)\. Its fields are a, b$/],
    ['[{"a":1}]', /Its fields are a$/],
  ])('rejects %j, and explains what is wrong', async (text, message) => {
    await expect(detectFormat(toSource(text))).rejects.toThrow(UnreadableFileError);
    await expect(detectFormat(toSource(text))).rejects.toThrow(message);
  });
});
