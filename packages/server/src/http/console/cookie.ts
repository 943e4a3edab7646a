/**
 * The console's cookie, and the check that a request is allowed to use it. A session is a separate token whose secret
 * is only in the cookie: scripts can't read the cookie, and other sites can't make a browser send it. One cookie
 * contains a browser's sessions in several accounts.
 */
import { nanoid } from 'nanoid';
import { isLoopbackName, namesThisMachine } from '../access/loopback.ts';

/** The prefix of a session's secret, which a request is not allowed to send as its token. */
export const sessionPrefix = 'session_';

/** 12 hours. */
export const sessionSeconds = 12 * 60 * 60;

/** The maximum number of sessions in a cookie, one for each account that the user can switch between. */
export const maxSessionsPerCookie = 5;

/** `__Host-` guarantees that this host set the cookie, over HTTPS (RFC 6265bis, 4.1.3.2). */
const secureName = '__Host-firsthand';

/** The cookie's name on localhost, without HTTPS. Cookies ignore ports, so each local server needs its own name. */
const localName = (host: string): string => `firsthand-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

/**
 * Returns the name and Set-Cookie header of a cookie for pages on this origin. Scripts can't read the cookie, and other
 * sites can't send it.
 */
export const cookieOf = ({ protocol, host }: URL, suffix = '') => {
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? secureName : localName(host)}${suffix}`;
  return {
    name,
    header: (value: string, seconds: number): string =>
      [
        ...[`${name}=${value}`, 'Path=/', `Max-Age=${seconds}`],
        ...['HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])],
      ].join('; '),
  };
};

/** Creates the secret of a session. It contains the tokenID, so that a request can find its session in the cookie. */
export const createSessionSecret = (tokenID: string): string => `${sessionPrefix}${tokenID}.${nanoid(32)}`;
const textForm = /^session_([\w-]{1,32})\.[\w-]{32}$/;
const tokenIDIn = (text: string): string | undefined => textForm.exec(text)?.[1];
const separator = '~';
const maxValueLength = maxSessionsPerCookie * 128;

/**
 * The header with the tokenID of the session that a console page was loaded with, or `1` before the page has received
 * it.
 */
export const consoleHeader = 'x-firsthand-console';

/**
 * Whether a page on this origin sent the request the way the console does. Forms can't add the header. CORS withholds
 * credentials from scripts on other origins, and Sec-Fetch-Site (Fetch Metadata) or Origin exposes their requests.
 *
 * Other pages on the same origin are indistinguishable, which is why the console needs its own origin
 * (`sessionCookie`).
 */
export const isFromConsole = (headers: Headers): boolean => {
  if (headers.get(consoleHeader) === null) return false;
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const origin = headers.get('origin');
  return origin === null || (URL.canParse(origin) && new URL(origin).host === headers.get('host')?.toLowerCase());
};

export const cookiesIn = (headers: Headers): (readonly [name: string, value: string])[] =>
  (headers.get('cookie') ?? '').split(';').map((cookie) => {
    const [name = '', value = ''] = cookie.split('=', 2);
    return [name.trim(), value.trim()];
  });

/**
 * Whether the requesting page was loaded with this session: another tab might have signed in to another account in the
 * meantime.
 */
export const hasConsoleHeader = (headers: Headers, tokenID: string): boolean => headers.get(consoleHeader) === tokenID;

/** Returns the secrets of the sessions that a console request may use, latest sign-in first. */
export const sessionsOf = (headers: Headers): readonly string[] => {
  if (!isFromConsole(headers)) return [];
  const cookies = cookiesIn(headers);
  const find = (cookieName: string): readonly string[] => {
    const value = cookies.find(([name]) => name === cookieName)?.[1] ?? '';
    if (value.length > maxValueLength) return [];
    return value.split(separator).filter((text) => tokenIDIn(text) !== undefined);
  };
  const secure = find(secureName);
  if (secure.length > 0 || !namesThisMachine(headers)) return secure;
  return find(localName(headers.get('host') ?? ''));
};

/**
 * Returns the secret of the session that the page was loaded with, or of the latest sign-in if the page hasn't received
 * its session yet.
 */
export const sessionOf = (headers: Headers): string | undefined => {
  const texts = sessionsOf(headers);
  return texts.find((text) => hasConsoleHeader(headers, tokenIDIn(text) as string)) ?? texts[0];
};

/**
 * Returns the Set-Cookie header for these sessions; an empty list deletes the cookie. Undefined for a page whose Origin
 * is neither `consoleOrigin` nor on this machine: other pages on the console's origin could act as the console.
 */
export const sessionCookie = (
  headers: Headers,
  texts: readonly string[],
  consoleOrigin: string | undefined,
): string | undefined => {
  const origin = headers.get('origin') ?? '';
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  if (origin !== consoleOrigin && !isLoopbackName(url.hostname)) return undefined;
  const value = texts.slice(0, maxSessionsPerCookie).join(separator);
  return cookieOf(url).header(value, value === '' ? 0 : sessionSeconds);
};
