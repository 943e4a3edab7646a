import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createIdempotencyKeys, toBytes, toUUID } from './idempotency-keys.ts';

test.each([
  ['as long as a database’s', 32],
  ['empty', 0],
  ['as long as a hash block', 64],
  ['longer than a hash block', 200],
])('computes the same HMAC-SHA-256 as createHmac with a secret that is %s', (_, length) => {
  const secret = Buffer.alloc(length, 'secret');
  const expected = (text: string) => createHmac('sha256', secret).update(text).digest().subarray(0, 16);
  const { eventKey, requestKey } = createIdempotencyKeys(secret);
  const sent = ['event-of-seven-eight', 'x'.repeat(64), 'ä'.repeat(400), '🙂'.repeat(300), 'event-of-seven-eight'];
  for (const uuid of sent) {
    // Tests the format from before token kinds were distinguished.
    expect(toBytes(eventKey(-17, uuid, null))).toEqual(expected(`event\n-17\n${uuid}`));
    expect(toBytes(eventKey(-17, uuid, 0))).toEqual(expected(`event of a browser\n-17\n${uuid}`));
    expect(toBytes(eventKey(-17, uuid, 1))).toEqual(expected(`event of a server\n-17\n${uuid}`));
    const request = requestKey({ requestUUID: uuid, token: 5 });
    expect(Buffer.from(request.replaceAll('-', ''), 'hex')).toEqual(expected(`request\n5\n${uuid}`));
  }
});

test('formats a key like a PostgreSQL UUID', () => {
  const key = Buffer.from('00112233445566778899aabbccddeeff', 'hex').toString('latin1');
  expect(toUUID(key)).toBe('00112233-4455-6677-8899-aabbccddeeff');
});
