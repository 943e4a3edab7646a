/**
 * The cookie of the console, and which requests may use it. A session is a token of its own, whose text is in the cookie alone: no script
 * reads it, and no page of another site has a browser send it.
 */
import { isLoopbackName, namesThisMachine } from './loopback.ts';

/** Begins the text of a session, which is no kind of token that a request may name. */
export const sessionPrefix = 'session_';

/** 12 hours. */
export const sessionSeconds = 12 * 60 * 60;

/** `__Host-`: only this host can have set it, over HTTPS (RFC 6265bis, 4.1.3.2). */
const secureName = '__Host-firsthand';

/** On this machine there is no HTTPS, and cookies do not tell ports apart: each server has a name of its own. */
const localName = (host: string): string => `firsthand-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

const textForm = /^session_[\w-]{16,64}$/;

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
  return origin === null || (URL.canParse(origin) && new URL(origin).host === headers.get('host'));
};

const cookiesIn = (headers: Headers): (readonly [name: string, value: string])[] =>
  (headers.get('cookie') ?? '').split(';').map((cookie) => {
    const [name = '', value = ''] = cookie.split('=', 2);
    return [name.trim(), value.trim()];
  });

/** Whether the page that sent a request was loaded with this session: another tab may have signed in to another account since. */
export const isOfPage = (headers: Headers, tokenID: string): boolean => headers.get(consoleHeader) === tokenID;

/** The text of the session that a request of the console may use. */
export const sessionOf = (headers: Headers): string | undefined => {
  if (!isFromConsole(headers)) return undefined;
  const find = (wanted: string) =>
    cookiesIn(headers).find(([name, value]) => name === wanted && textForm.test(value))?.[1];
  return find(secureName) ?? (namesThisMachine(headers) ? find(localName(headers.get('host') ?? '')) : undefined);
};

/**
 * The Set-Cookie header for a session; an empty text ends it. Undefined for a page of any other origin than `consoleOrigin` and those of
 * this machine: a site's other pages could do what its console may. The browser says in Origin where the page is, whatever proxies there are.
 */
export const sessionCookie = (
  headers: Headers,
  text: string,
  consoleOrigin: string | undefined,
): string | undefined => {
  const origin = headers.get('origin') ?? '';
  if (!URL.canParse(origin)) return undefined;
  const { protocol, hostname, host } = new URL(origin);
  if (origin !== consoleOrigin && !isLoopbackName(hostname)) return undefined;
  const isSecure = protocol === 'https:';
  const name = isSecure ? secureName : localName(host);
  const attributes = [`${name}=${text}`, 'Path=/', `Max-Age=${text === '' ? 0 : sessionSeconds}`];
  return [...attributes, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].join('; ');
};
