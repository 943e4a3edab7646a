/**
 * The cookie of the console, and which requests may use it. A session is a token of its own, whose text is in the cookie alone: no script
 * reads it, and no page of another site has a browser send it.
 */
import { isLoopbackName } from './loopback.ts';

/** Begins the text of a session, which is no kind of token that a request may name. */
export const sessionPrefix = 'session_';

/** 12 hours. */
export const sessionSeconds = 12 * 60 * 60;

/** `__Host-`: only this host can have set it, over HTTPS (RFC 6265bis, 4.1.3.2). */
const secureName = '__Host-firsthand';

/** On this machine there is no HTTPS, and cookies do not tell ports apart: each server has a name of its own. */
const localName = (host: string): string => `firsthand-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

const textForm = /^session_[\w-]{16,64}$/;

/**
 * Whether the console's own pages sent the request: a form or a page of another site can't add the header, because its preflight carries
 * no credentials; browsers say in Sec-Fetch-Site (Fetch Metadata) or Origin where a request comes from.
 */
export const isFromConsole = (headers: Headers): boolean => {
  if (headers.get('x-firsthand-console') !== '1') return false;
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

/** The text of the session that a request of the console may use. */
export const sessionOf = (headers: Headers): string | undefined => {
  if (!isFromConsole(headers)) return undefined;
  const host = headers.get('host') ?? '';
  const names = [secureName, ...(isLoopbackName(host) ? [localName(host)] : [])];
  return cookiesIn(headers).find(([name, value]) => names.includes(name) && textForm.test(value))?.[1];
};

/**
 * The Set-Cookie header for a session; an empty text ends it. Undefined where a cookie would go through the network unprotected: over
 * plain HTTP to another machine. The browser says in Origin which of the two it is, whatever proxies there are.
 */
export const sessionCookie = (headers: Headers, text: string): string | undefined => {
  const origin = headers.get('origin') ?? '';
  if (!URL.canParse(origin)) return undefined;
  const { protocol, hostname, host } = new URL(origin);
  const isSecure = protocol === 'https:';
  if (!isSecure && !isLoopbackName(hostname)) return undefined;
  const name = isSecure ? secureName : localName(host);
  const attributes = [`${name}=${text}`, 'Path=/', `Max-Age=${text === '' ? 0 : sessionSeconds}`];
  return [...attributes, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].join('; ');
};
