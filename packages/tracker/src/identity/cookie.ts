import { userCookieName } from '@firsthand/contract/identifiers';
import Cookies from 'js-cookie';
import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';

/** The domain on which the cookie was written; '' if on the host alone, or not yet. */
export let cookieDomain = '';

/** The cookie's value; undefined if there is none or it can't be read (a sandboxed frame throws). */
export const readCookie = guard((): string | undefined => Cookies.get(userCookieName));

/**
 * Writes or renews the cookie for 400 days (the longest that browsers allow); '' removes it. Does nothing if cookies are refused.
 *
 * It is written on the widest domain that includes this host and on which a cookie of another name can be read back: only the
 * browser knows which suffixes are public (co.uk, github.io), and js-cookie does not report a refusal. Then all other cookies of the
 * name are removed, because one with a longer path, or an older one, would be read instead of the new one (RFC 6265, 5.4): those on
 * the default path ('') and on `/`, then, while there are others, those on each longer path that this page's path begins with. The
 * one that is written is never removed: a tab that looks just then and finds no cookie could make another user.
 */
export const writeCookie = guard((userUUID: string): void => {
  /** Sets the cookie on these domains, for so many seconds, until it can be read; with 0 removes it from all. Returns the domain. */
  const setOn = (domains: readonly string[], name: string, path: string, seconds: number): string | undefined => {
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
  // The widest has two labels; on '' the cookie is the host's alone.
  for (let count = 2; labels[count - 1]; count++) domains.push(labels.slice(-count).join('.'));
  domains.push('');
  // Its own name for each page, because several may try at the same time.
  const trial = userCookieName + Math.random();
  const widest = userUUID ? setOn(domains, trial, '/', 9) : null;
  setOn(domains, trial, '/', 0);
  cookieDomain = widest || '';
  const write = () => userUUID && setOn([cookieDomain], userCookieName, '/', 34560000);
  write();
  let path = '';
  // No trial can be read where a script of the page lets only some names pass: then nothing is removed.
  for (const part of location.pathname.split(/(\/)/)) {
    path += part;
    for (const domain of domains)
      if (widest !== undefined && (path[1] || domain !== widest)) setOn([domain], userCookieName, path, 0);
    // A cookie whose name ends in this one counts too: then more paths are tried.
    if (path && !safeDocument.cookie.split(`${userCookieName}=`)[userUUID ? 2 : 1]) break;
  }
  // Again, because a public suffix is one with its host.
  write();
});
