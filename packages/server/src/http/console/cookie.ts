/**
 * The cookie of the console, and which requests may use it. A session is a token of its own, whose text is in the cookie alone: no script
 * reads it, and no page of another site has a browser send it. The cookie holds the sessions of a browser in several accounts.
 */
import { nanoid } from 'nanoid';
import { isLoopbackName, namesThisMachine } from '../access/loopback.ts';

/** Begins the text of a session, which is no kind of token that a request may name. */
export const sessionPrefix = 'session_';

/** 12 hours. */
export const sessionSeconds = 12 * 60 * 60;

/** The most sessions in a cookie: accounts between which one may switch. */
export const maxInCookie = 5;

/** `__Host-`: only this host can have set it, over HTTPS (RFC 6265bis, 4.1.3.2). */
const secureName = '__Host-firsthand';

/** On this machine there is no HTTPS, and cookies do not tell ports apart: each server has a name of its own. */
const localName = (host: string): string => `firsthand-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

/** A cookie that a page of this origin gets: its name, and its Set-Cookie header. No script reads it, and no other site has it sent. */
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

/** The text of a session names its tokenID, so that a request finds the right one in the cookie. */
export const newSessionText = (tokenID: string): string => `${sessionPrefix}${tokenID}.${nanoid(32)}`;
const textForm = /^session_([\w-]{1,32})\.[\w-]{32}$/;
const nameIn = (text: string): string | undefined => textForm.exec(text)?.[1];
const separator = '~';
const longestValue = maxInCookie * 128;

/** Names the session that a page of the console was loaded with; `1` before it knows. */
export const consoleHeader = 'x-firsthand-console';

/**
 * Whether a page of this origin sent the request as the console does. No form can add the header. A script of another origin can, but no
 * answer allows it credentials (CORS), and browsers say in Sec-Fetch-Site (Fetch Metadata) or Origin where a request comes from. Other
 * pages of the same origin can't be told apart: that is why the console has an origin of its own (`sessionCookie`).
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

/** Whether the page that sent a request was loaded with this session: another tab may have signed in to another account since. */
export const isOfPage = (headers: Headers, tokenID: string): boolean => headers.get(consoleHeader) === tokenID;

/** The texts of the sessions that a request of the console may use, that of the last sign-in first. */
export const sessionsOf = (headers: Headers): readonly string[] => {
  if (!isFromConsole(headers)) return [];
  const cookies = cookiesIn(headers);
  const find = (wanted: string): readonly string[] => {
    const value = cookies.find(([name]) => name === wanted)?.[1] ?? '';
    if (value.length > longestValue) return [];
    return value.split(separator).filter((text) => nameIn(text) !== undefined);
  };
  const secure = find(secureName);
  if (secure.length > 0 || !namesThisMachine(headers)) return secure;
  return find(localName(headers.get('host') ?? ''));
};

/** The text of the session that the page of a request was loaded with; that of the last sign-in while the page knows of none. */
export const sessionOf = (headers: Headers): string | undefined => {
  const texts = sessionsOf(headers);
  return texts.find((text) => isOfPage(headers, nameIn(text) as string)) ?? texts[0];
};

/**
 * The Set-Cookie header for these sessions; none ends the cookie. Undefined for a page of any other origin than `consoleOrigin` and those
 * of this machine: a site's other pages could do what its console may. The browser says in Origin where the page is, whatever proxies
 * there are.
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
  const value = texts.slice(0, maxInCookie).join(separator);
  return cookieOf(url).header(value, value === '' ? 0 : sessionSeconds);
};
