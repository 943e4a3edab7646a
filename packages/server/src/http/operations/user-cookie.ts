/**
 * Renews the userUUID cookie. Safari keeps a cookie that a script set for 7 days only (WebKit, "Intelligent Tracking Prevention
 * 2.1"), and one that the site's own server set until it expires. So if the site proxies a path of its own origin to this service,
 * the response to logEvents sets the cookie again. This needs no further request. The tracker sends the domain on which it has set
 * the cookie, so that it is the same cookie.
 */
import { userCookieName } from '@firsthand/contract/identifiers';

/** 400 days, the longest that browsers allow (RFC 6265bis, 5.5). */
const maxAgeSeconds = 400 * 24 * 60 * 60;
const domainPattern = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i;

const carries = (cookies: string | null, userUUID: string): boolean =>
  (cookies ?? '').split(';').some((cookie) => cookie.trim() === `${userCookieName}=${userUUID}`);

/**
 * The Set-Cookie header. Undefined unless the request comes from the same origin and has this cookie, and the domain is the host's
 * own or a parent of it, so that the browser never has two cookies of the name.
 */
export const userCookie = (
  headers: Headers,
  userUUID: string | undefined,
  cookieDomain: string | undefined,
): string | undefined => {
  const origin = headers.get('origin');
  if (headers.get('sec-fetch-site') !== 'same-origin' || userUUID === undefined || origin === null) return undefined;
  if (!URL.canParse(origin) || !carries(headers.get('cookie'), userUUID)) return undefined;
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
