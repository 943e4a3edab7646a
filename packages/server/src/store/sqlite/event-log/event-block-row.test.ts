import { expect, test } from 'vitest';
import { toBlock } from './event-block.ts';
import { isWhole, readBlock, toBlockRow } from './event-block-row.ts';

const block = toBlock([
  {
    sequence: 7,
    day: 3,
    account: 1,
    user: 1,
    contact: null,
    eventID: 4,
    eventUUID: 'event-7',
    eventTime: 1_000,
    receivedTime: 1_000,
    timeReplaced: 0,
    server: 0,
    attributes: [['päth', '/\ud800']],
  },
]);
const row = toBlockRow(7, block);

test('reads a block, even if it was written before there were checksums', () => {
  expect(readBlock(row)).toEqual(block);
  expect(readBlock({ ...row, checksum: null })).toEqual(block);
});

test('rejects a changed but well-formed block', () => {
  const changed = { ...row, events: row.events.replace('event-7', 'event-6') };
  expect(isWhole(changed)).toBe(false);
  expect(() => readBlock(changed)).toThrow('the events up to sequence 7 are damaged');
});

test('rejects a block that was moved to another row', () => {
  expect(isWhole({ ...row, through: 8 })).toBe(false);
  const far = toBlockRow(2 ** 40 + 7, block);
  expect(isWhole(far)).toBe(true);
});
