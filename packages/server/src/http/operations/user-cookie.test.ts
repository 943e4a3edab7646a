import { describe, expect, test } from 'vitest';
import { userCookie } from './user-cookie.ts';

const userUUID = 'a-visitor-of-the-shop';
const good = {
  'sec-fetch-site': 'same-origin',
  origin: 'https://www.shop.example',
  cookie: `theme=dark; userUUID=${userUUID}`,
};
const cookieFor = (headers: Partial<typeof good>, domain?: string) =>
  userCookie(new Headers(headers), userUUID, domain);

describe('the renewed userUUID cookie', () => {
  test('has the attributes of the tracker’s cookie, and lasts another 400 days', () => {
    expect(cookieFor(good, 'shop.example')).toBe(
      `userUUID=${userUUID}; Path=/; Max-Age=34560000; SameSite=Lax; Domain=shop.example; Secure`,
    );
  });

  test('has no domain if the tracker could not set one, and is not Secure on plain http', () => {
    expect(cookieFor({ ...good, origin: 'http://localhost:3000' })).toBe(
      `userUUID=${userUUID}; Path=/; Max-Age=34560000; SameSite=Lax`,
    );
  });

  test.each([
    ['from another site', { ...good, 'sec-fetch-site': 'cross-site' }, 'shop.example'],
    ['from another origin on the site', { ...good, 'sec-fetch-site': 'same-site' }, 'shop.example'],
    ['from a client without Sec-Fetch-Site', { origin: good.origin, cookie: good.cookie }, 'shop.example'],
    ['without an Origin', { 'sec-fetch-site': 'same-origin', cookie: good.cookie }, 'shop.example'],
    ['from an opaque origin', { ...good, origin: 'null' }, 'shop.example'],
    ['without the cookie', { ...good, cookie: 'theme=dark' }, 'shop.example'],
    ['without any cookie', { 'sec-fetch-site': 'same-origin', origin: good.origin }, 'shop.example'],
    ['with another user’s cookie', { ...good, cookie: 'userUUID=somebody-else-entirely' }, 'shop.example'],
    ['for a domain to which the host does not belong', good, 'other.example'],
    ['for a domain that is only a suffix of the host’s name', good, 'op.example'],
    ['for a domain that would inject something into the header', good, 'shop.example; HttpOnly'],
  ])('is not set %s', (_, headers, domain) => {
    expect(cookieFor(headers, domain)).toBeUndefined();
  });

  test('is not set for a batch without any user', () => {
    expect(userCookie(new Headers(good), undefined, 'shop.example')).toBeUndefined();
  });
});
