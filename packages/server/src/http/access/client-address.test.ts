import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { createAddressHasher, createClientAddress } from './client-address.ts';

describe('the client’s address', () => {
  it.each<[string, string[], string, string | null, string]>([
    ['is the connection’s', [], '192.0.2.1', null, '192.0.2.1'],
    ['ignores X-Forwarded-For without a trusted proxy', [], '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['ignores X-Forwarded-For from an unknown proxy', ['10.0.0.1'], '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['comes from a trusted proxy’s X-Forwarded-For', ['10.0.0.1'], '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['is the last entry from a trusted proxy', ['10.0.0.1'], '10.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
    [
      'is the last entry before trusted proxies',
      ['10.0.0.0/8'],
      '10.1.2.3',
      '203.0.113.9, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    ['is the proxy’s own without X-Forwarded-For', ['10.0.0.1'], '10.0.0.1', null, '10.0.0.1'],
    ['is the proxy’s own if X-Forwarded-For is invalid', ['10.0.0.1'], '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['is the first proxy’s if all are trusted', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['is IPv4 if it is IPv4-mapped', ['10.0.0.1'], '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['is IPv6', ['2001:db8:1::/48'], '2001:db8:1::5', '2001:db8:2::1', '2001:db8:2::1'],
    ['has no port', ['10.0.0.1'], '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['has no brackets or port', ['10.0.0.1'], '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['is empty without a connection', [], '', null, ''],
  ])('%s', (_, trusted, connected, forwardedFor, expected) => {
    expect(createClientAddress(trusted)(connected, forwardedFor)).toBe(expected);
  });
});

describe('an address hash', () => {
  const hashes = (clock?: () => number) => {
    const addressOf = createAddressHasher([], { clock });
    const app = new Hono().get('/', (c) => c.text(addressOf(c)));
    return async (remoteAddress: string) => {
      const response = await app.request('/', {}, { incoming: { socket: { remoteAddress } } });
      return response.text();
    };
  };

  it('is stable for one address, and differs between addresses and keys', async () => {
    const hash = hashes();
    expect(await hash('192.0.2.1')).toBe(await hash('192.0.2.1'));
    expect(await hash('192.0.2.1')).toBe(await hash('::ffff:192.0.2.1'));
    expect(await hash('192.0.2.1')).not.toBe(await hash('192.0.2.2'));
    expect(await hash('192.0.2.1')).not.toBe(await hashes()('192.0.2.1'));
  });

  it.each([
    ['2001:db8:0:1::1', '2001:0DB8::1:ffff:0:0:1', true],
    ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['fe80::1%eth0', 'fe80::2', true],
    ['::1', '::2', true],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::', true],
  ])('depends only on the /64 of an IPv6 address: %s and %s', async (one, other, same) => {
    const hash = hashes();
    expect((await hash(one)) === (await hash(other))).toBe(same);
  });

  it('changes after a day', async () => {
    let now = 0;
    const hash = hashes(() => now);
    const before = await hash('192.0.2.1');
    now += 86_400_000;
    expect(await hash('192.0.2.1')).toBe(before);
    now += 1;
    expect(await hash('192.0.2.1')).not.toBe(before);
  });
});
