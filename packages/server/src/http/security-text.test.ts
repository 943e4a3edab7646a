import { expect, it } from 'vitest';
import { serveHere } from '../../test/fixtures/serving.ts';

const path = '/.well-known/security.txt';

it('serves security.txt at the root of the host, in the format of RFC 9116, expiring in less than a year', async () => {
  const contact = 'mailto:security@shop.example';
  const { url } = await serveHere({ SECURITY_CONTACT: contact, BASE_PATH: '/s/' });
  const { origin } = new URL(url);
  const response = await fetch(origin + path);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const [first, second, ...rest] = (await response.text()).split('\n');
  expect([first, rest]).toEqual([`Contact: ${contact}`, ['']]);
  const [, time = ''] = /^Expires: (\d{4}-\d{2}-\d{2}T00:00:00Z)$/.exec(second ?? '') ?? [];
  const days = (Date.parse(time) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(88);
  expect(days).toBeLessThanOrEqual(90);
  expect((await fetch(url + path)).status).toBe(404);
  expect((await fetch(origin + path, { method: 'POST' })).status).toBe(405);
});

it('serves no security.txt without a contact', async () => {
  const { url } = await serveHere();
  expect((await fetch(url + path)).status).toBe(404);
});
