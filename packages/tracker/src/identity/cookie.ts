import { userCookieName } from '@firsthand/contract/identifiers';
import Cookies from 'js-cookie';
import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';

/** The cookie's domain; '' if it belongs to the host alone or has not been written yet. */
export let cookieDomain = '';

/** Returns the cookie's value; undefined if there is none or it can't be read (a sandboxed frame throws). */
export const readCookie = guard((): string | undefined => Cookies.get(userCookieName));

/**
 * Writes or renews the cookie for 400 days, the maximum in browsers, on the widest domain that accepts it; an empty
 * userUUID removes it. Then removes other cookies with that name: browsers would read a cookie with a longer path, or
 * an older one, instead (RFC 6265, 5.4).
 */
export const writeCookie = guard((userUUID: string): void => {
  /**
   * Sets the cookie on one domain after another until it can be read, and returns that domain. If `seconds` is 0,
   * removes the cookie from all domains.
   */
  const setCookie = (domains: readonly string[], name: string, path: string, seconds: number): string | undefined => {
    for (const domain of domains) {
      Cookies.set(name, userUUID, {
        path,
        domain,
        'max-age': `${seconds}`,
        sameSite: 'Lax',
        secure: location.protocol[5] as unknown as boolean,
      });
      if (seconds && Cookies.get(name)) return domain;
    }
  };
  const labels = location.hostname.split(/\.(?!.*\d$)/);
  const domains: string[] = [];
  // The widest domain has two labels; '' means the host alone.
  for (let count = 2; labels[count - 1]; count++) domains.push(labels.slice(-count).join('.'));
  domains.push('');
  // Only the browser knows which suffixes are public (co.uk, github.io), so a probe is written and read back. Its name
  // is random, because several pages may probe at the same time.
  const probeName = userCookieName + Math.random();
  const widestDomain = userUUID ? setCookie(domains, probeName, '/', 9) : null;
  setCookie(domains, probeName, '/', 0);
  cookieDomain = widestDomain || '';
  const write = () => userUUID && setCookie([cookieDomain], userCookieName, '/', 34560000);
  write();
  let path = '';
  // The cookie just written is never removed: a tab that finds no cookie at that moment could create another user. If
  // one of the page's scripts blocks the probe, nothing is removed.
  for (const part of location.pathname.split(/(\/)/)) {
    path += part;
    for (const domain of domains)
      if (widestDomain !== undefined && (path[1] || domain !== widestDomain))
        setCookie([domain], userCookieName, path, 0);
    // Continues with longer paths only while there is another cookie with this name, or with a name that ends in it.
    if (path && !safeDocument.cookie.split(`${userCookieName}=`)[userUUID ? 2 : 1]) break;
  }
  // Writes the cookie again, because on a host that is a public suffix, the loop has removed it: '' and the host then
  // mean the same cookie.
  write();
});
