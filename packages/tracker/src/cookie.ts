import { userCookieName } from '@firsthand/contract/identifiers';
import Cookies from 'js-cookie';
import { guard } from './guard.ts';

/** On which domain the cookie was written; '' for the host alone, or nowhere yet. */
export let cookieDomain = '';

/** The cookie's value, or undefined when there is none or it can't be read (a sandboxed frame throws). */
export const readCookie = guard((): string | undefined => Cookies.get(userCookieName));

/**
 * Sets the cookie on every domain that this host could have, widest first and the host alone ('') last, until it can be read
 * back. Returns that domain. Only the browser knows which suffixes are public (co.uk, github.io), and
 * js-cookie does not report a refusal.
 */
const setOnWidest = (value: string, path: string): string | undefined => {
  const labels = location.hostname.split(/\.(?!.*\d$)/);
  // `~index` is -1, -2, …: so many labels from the end.
  return labels
    .map((_, index) => labels.slice(~index).join('.'))
    .concat('')
    .find((domain) => {
      Cookies.set(userCookieName, value, {
        path,
        domain,
        'max-age': value ? '34560000' : '0',
        sameSite: 'Lax',
        secure: location.protocol[5] as unknown as boolean,
      });
      // An expired cookie can't be read back, so this goes through every domain.
      return value && readCookie() === value;
    });
};

/**
 * Writes the cookie, or renews it, for 400 days (the longest that browsers grant); '' removes it. Does nothing where
 * cookies are refused. Of two cookies of one name, the one with the longer path is read, then the older one (RFC 6265, 5.4): it
 * would hide every later write. So all are removed first: those on the default path ('') and on `/`, then, while one is left, those
 * on each longer path that this page's path begins with.
 */
export const writeCookie = guard((userUUID: string): void => {
  let path = '';
  location.pathname.split(/(\/)/).some((part) => {
    path += part;
    setOnWidest('', path);
    return !readCookie();
  });
  if (userUUID) cookieDomain = setOnWidest(userUUID, '/') || '';
});
