import { userCookieName } from '@firsthand/contract/identifiers';
import Cookies from 'js-cookie';

/** On which domain the cookie was written; '' for the host alone, or nowhere yet. */
export let cookieDomain = '';

/** The cookie's value, or undefined when there is none or it can't be read (a sandboxed frame throws). */
export const readCookie = (): string | undefined => {
  try {
    return Cookies.get(userCookieName);
  } catch {}
};

/**
 * Sets the cookie on every domain that this host could have, widest first and the host alone ('') last, until it can be read
 * back. Which suffixes are public (co.uk, github.io) is known only to the browser, and js-cookie says yes when the browser
 * said no.
 */
const setOnWidest = (value: string, maxAge: string): string | undefined => {
  const labels = location.hostname.split(/\.(?!.*\d$)/);
  // `~index` is -1, -2, …: so many labels from the end.
  return labels
    .map((_, index) => labels.slice(~index).join('.'))
    .concat('')
    .find((domain) => {
      Cookies.set(userCookieName, value, {
        path: '/',
        domain,
        'max-age': maxAge,
        sameSite: 'Lax',
        secure: location.protocol[5] as unknown as boolean,
      });
      // What has expired can't be read back: this goes through every domain, and needn't look.
      return value && Cookies.get(userCookieName) === value;
    });
};

/**
 * Writes the cookie, or renews it, for 400 days (the longest that browsers grant); '' removes it. Where it can't, it does
 * nothing. Of two cookies of one name the older is read (RFC 6265, 5.4), so that a narrower one would hide every later
 * write: before, all are removed.
 */
export const writeCookie = (userUUID: string): void => {
  try {
    setOnWidest('', '0');
    if (userUUID) cookieDomain = setOnWidest(userUUID, '34560000') || '';
  } catch {}
};
