/**
 * Renews the userUUID cookie. Safari keeps a cookie set by a script for only 7 days (WebKit, "Intelligent Tracking
 * Prevention 2.1"), but keeps a cookie set by the site's own server until it expires. So on a site that proxies a path
 * to this service, the response to logEvents sets the cookie again.
 *
 * The tracker sends the domain on which it set the cookie, so that the renewal replaces the same cookie.
 */
import { userCookieName } from '@firsthand/contract/identifiers';

/** 400 days, the maximum in browsers (RFC 6265bis, 5.5). */
const maxAgeSeconds = 400 * 24 * 60 * 60;
const domainPattern = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i;

const hasCookie = (cookies: string | null, userUUID: string): boolean =>
  (cookies ?? '').split(';').some((cookie) => cookie.trim() === `${userCookieName}=${userUUID}`);

/**
 * Returns the Set-Cookie header. Undefined unless the request is same-origin and has this cookie, and the domain is the
 * host or a parent domain: the browser must never have two cookies with this name.
 */
export const userCookie = (
  headers: Headers,
  userUUID: string | undefined,
  cookieDomain: string | undefined,
): string | undefined => {
  const origin = headers.get('origin');
  if (headers.get('sec-fetch-site') !== 'same-origin' || userUUID === undefined || origin === null) return undefined;
  if (!URL.canParse(origin) || !hasCookie(headers.get('cookie'), userUUID)) return undefined;
  const { hostname, protocol } = new URL(origin);
  const attributes = [`${userCookieName}=${userUUID}`, 'Path=/', `Max-Age=${maxAgeSeconds}`, 'SameSite=Lax'];
  if (cookieDomain !== undefined) {
    const isOurs = hostname === cookieDomain || hostname.endsWith(`.${cookieDomain}`);
    if (!isOurs || !domainPattern.test(cookieDomain)) return undefined;
    attributes.push(`Domain=${cookieDomain}`);
  }
  if (protocol === 'https:') attributes.push('Secure');
  return attributes.join('; ');
};
