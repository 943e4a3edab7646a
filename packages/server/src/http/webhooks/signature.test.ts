import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { formatSecret, previousSecretUntil, signMessage, toMessageID } from './signature.ts';

const key = new Uint8Array(32).fill(7);
const hour = 3_600_000;
const time = Date.now();
const body = '{"type":"contact.merged","data":{"contactUUID":"ö"}}';
const webhook = { webhookID: 'w1', secretTime: time - hour, previousSecretTime: null };
const sign = (changes: Partial<Parameters<typeof signMessage>[1]> = {}, at = time) =>
  signMessage(key, { ...webhook, ...changes }, { messageID: 'msg_1', body, time: at });
const verify = (secretTime: number, headers: Record<string, string>, text = body) =>
  new Webhook(formatSecret(key, { webhookID: 'w1', secretTime })).verify(text, headers);

describe('signatures', () => {
  it('are accepted by the Standard Webhooks verifier', () => {
    expect(verify(webhook.secretTime, sign())).toEqual(JSON.parse(body));
    expect(() => verify(webhook.secretTime, sign(), `${body} `)).toThrow('No matching signature found');
    expect(() => verify(webhook.secretTime + 1, sign())).toThrow('No matching signature found');
  });

  it('are made with both secrets for 24 hours after a rotation', () => {
    const rotated = { secretTime: time, previousSecretTime: time - hour };
    const duringRotation = sign(rotated);
    expect(verify(time, duringRotation)).toEqual(JSON.parse(body));
    expect(verify(time - hour, duringRotation)).toEqual(JSON.parse(body));
    expect(previousSecretUntil(rotated, time)).toBe(time + 24 * hour);
    const secretTime = time - 24 * hour;
    const afterwards = sign({ secretTime, previousSecretTime: secretTime - hour });
    expect(verify(secretTime, afterwards)).toEqual(JSON.parse(body));
    expect(() => verify(secretTime - hour, afterwards)).toThrow('No matching signature found');
  });

  it('contain the attempt’s time in whole seconds', () => {
    expect(sign({}, 1_700_000_000_999)).toMatchObject({
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
    });
  });

  it('use 32-byte secrets, which differ between webhooks and rotations', () => {
    const secrets = [
      formatSecret(key, { webhookID: 'w1', secretTime: 1 }),
      formatSecret(key, { webhookID: 'w1', secretTime: 2 }),
      formatSecret(key, { webhookID: 'w2', secretTime: 1 }),
      formatSecret(new Uint8Array(32), { webhookID: 'w1', secretTime: 1 }),
    ];
    expect(new Set(secrets).size).toBe(4);
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  });
});

describe('a message’s ID', () => {
  it('depends on the webhook, the sequence number and the event or statement', () => {
    const ids = [
      toMessageID('w1', 1, 'event-0001'),
      toMessageID('w2', 1, 'event-0001'),
      toMessageID('w1', 2, 'event-0001'),
      toMessageID('w1', 1, 'event-0002'),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe(toMessageID('w1', 1, 'event-0001'));
    for (const id of ids) expect(id).toMatch(/^msg_[\w-]{24}$/);
  });
});
