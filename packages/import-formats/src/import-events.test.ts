import { describe, expect, it } from 'vitest';
import type { Message } from './formats/format.ts';
import { importEvents } from './import-events.ts';

/** Returns the number of messages in each batch. */
const sizesOf = async (messages: readonly Message[]): Promise<number[]> => {
  const sizes: number[] = [];
  const readings = async function* () {
    for (const [nth, message] of messages.entries()) yield { line: nth + 1, message };
  };
  await importEvents({
    readings: readings(),
    position: 0,
    send: async ({ position, message }) => {
      sizes.push(message.length);
      return { position: position + message.length, imported: message.length, repeated: 0, refused: 0, refusal: [] };
    },
    onRefused: expect.unreachable as never,
  });
  return sizes;
};

const messages = (count: number, messageOf: (nth: number) => Message) =>
  Array.from({ length: count }, (_, nth) => messageOf(nth));

describe('importEvents', () => {
  it('sends at most 1,000 events per batch, even if they all belong to one user', async () => {
    expect(await sizesOf(messages(1_500, () => ({ type: 'track', userId: 'u-1' })))).toEqual([1_000, 500]);
    expect(await sizesOf(messages(1_500, () => ({ type: 'track' })))).toEqual([1_000, 500]);
  });

  it.each<[string, (nth: number) => Message]>([
    ['events of different users', (nth) => ({ type: 'track', userId: nth })],
    ['identify messages', () => ({ type: 'identify' })],
    ['alias messages', () => ({ type: 'alias' })],
  ])('sends messages about at most 100 contacts per batch: %s', async (_, messageOf) => {
    expect(await sizesOf(messages(250, messageOf))).toEqual([100, 100, 50]);
  });
});
