/**
 * The userUUID cookie, repeated by the server. Safari keeps a cookie that a script set for 7 days only (WebKit, "Intelligent
 * Tracking Prevention 2.1"), one that the site's own server set for as long as it says. So where this service lies on the
 * site's own origin (a path that is proxied to it), it repeats the cookie on the answer to logEvents: no request more, and
 * the same cookie, since the tracker says on which domain it has set it.
 */
import { userCookieName } from '@firsthand/contract/identifiers';
import type { Answering } from './caller.ts';
import { type Reply, successAnswer } from './operation-route.ts';

interface RequestHeaders {
  get(name: string): string | null;
}

/** 400 days, the longest that browsers grant (RFC 6265bis, 5.5). */
const maxAgeSeconds = 400 * 24 * 60 * 60;
const domainPattern = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i;

const carries = (cookies: string | null, userUUID: string): boolean =>
  (cookies ?? '').split(';').some((cookie) => cookie.trim() === `${userCookieName}=${userUUID}`);

/**
 * The Set-Cookie header, or undefined: unless the request comes from this very origin and carries this cookie, and the
 * domain is the host's own or one that it lies under, so that the browser never holds two of the name.
 */
export const userCookie = (
  headers: RequestHeaders,
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

/** Answers a batch and, on the site's own origin, renews the cookie of whom it is by. */
export const createLogEventsReply =
  (logEvents: Answering<'logEvents'>): Reply<'logEvents'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const answer = await logEvents(input, caller);
    const cookie = userCookie(c.req.raw.headers, input.userUUID, input.cookieDomain);
    return successAnswer(exchange, answer, ignored, cookie === undefined ? undefined : { 'Set-Cookie': cookie });
  };
