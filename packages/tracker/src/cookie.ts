import { userCookieName } from '@firsthand/contract/identifiers';
import Cookies from 'js-cookie';
import { nanoid } from 'nanoid';

/** Every domain a cookie of this host could have, widest first; the last, '', is the host alone. */
const domains = (): string[] => {
  const labels = location.hostname.split('.');
  return labels.map((_, index) => labels.slice(-1 - index).join('.')).concat('');
};

/**
 * The widest domain that this browser lets us set. Which suffixes are public (co.uk, github.io) is known only to the
 * browser, and js-cookie says yes when the browser said no, so a cookie of a random name is set and read back.
 */
const findWidestDomain = (): string => {
  const probe = nanoid();
  for (const domain of domains()) {
    Cookies.set(probe, '1', { domain });
    if (Cookies.get(probe)) {
      Cookies.remove(probe, { domain });
      return domain;
    }
  }
  return '';
};

let widestDomain: string | undefined;

/** The cookie's value, or undefined when there is none or it can't be read (a sandboxed frame throws). */
export const readCookie = (): string | undefined => {
  try {
    return Cookies.get(userCookieName);
  } catch {}
};

/** Writes the cookie, or renews it, for 400 days (the longest that browsers grant). Where it can't, it does nothing. */
export const writeCookie = (userUUID: string): void => {
  try {
    if (widestDomain === undefined) widestDomain = findWidestDomain();
    const set = () =>
      Cookies.set(userCookieName, userUUID, {
        domain: widestDomain,
        expires: 400,
        sameSite: 'Lax',
        secure: location.protocol === 'https:',
      });
    set();
    // Two cookies of this name: a narrower one would hide every later write, since the older one is read first
    // (RFC 6265, 5.4). All are removed, the right one is set again.
    if (document.cookie.split(`${userCookieName}=`).length > 2) {
      for (const domain of domains()) Cookies.remove(userCookieName, { domain });
      set();
    }
  } catch {}
};
