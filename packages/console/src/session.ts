/** The session that is signed in. The token that signs in is sent once and stored nowhere in the browser; a cookie that no script reads stands for it. */
import { signal } from '@preact/signals';
import { root } from './address.ts';

export interface Session {
  readonly accountUUID: string;
  readonly accountName: string;
  /** What the token that signed in may do: `viewer` reads, `server` changes as well. */
  readonly kind: 'viewer' | 'server';
  /** The tokenID of the session. */
  readonly sessionID: string;
}

/** null: nobody is signed in; undefined: not known yet. */
export const session = signal<Session | null | undefined>(undefined);
/** Why the page asks to sign in again, where there is a reason. */
export const signedOutBecause = signal('');

/**
 * The header that lets a request use the cookie. It names the session that this page was loaded with: another tab may have signed in to
 * another account since, which changes the cookie of both.
 */
export const consoleHeader = (): Readonly<Record<string, string>> => ({
  'X-Firsthand-Console': session.peek()?.sessionID ?? '1',
});

const send = async (path: string, method: 'GET' | 'POST', body?: object) => {
  const response = await fetch(`${root}/console/${path}`, {
    method,
    headers: { ...consoleHeader(), accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json().catch(() => ({}));
  return { isOK: response.ok, status: response.status, answer };
};

/** Finds out who is signed in. Rejects when the server can't be reached. */
export const findSession = async (): Promise<void> => {
  const { isOK, status, answer } = await send('session', 'GET');
  if (!isOK) throw new Error(answer.error?.message ?? `The server answered ${status}.`);
  session.value = answer.session;
};

/** Takes the code of a one-time link out of the address, so that nobody reads it there later. */
export const takeCode = (): string | undefined => {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
};

/** Signs in with a token or with the code of a one-time link. Returns why not; '' if it worked. */
export const signIn = async (proof: { readonly tokenUUID: string } | { readonly code: string }): Promise<string> => {
  const { isOK, status, answer } = await send('sign-in', 'POST', proof).catch(() => ({
    isOK: false,
    status: 0,
    answer: { error: { message: 'The server can’t be reached.' } },
  }));
  if (!isOK) return answer.error?.message ?? `The server answered ${status}.`;
  signedOutBecause.value = '';
  await findSession().catch(() => {});
  return session.peek()
    ? ''
    : 'The browser did not keep the cookie of the session. Allow cookies of this address, then try again.';
};

/** Rejects when the session goes on. */
export const signOut = async (): Promise<void> => {
  const { isOK, status, answer } = await send('sign-out', 'POST', {});
  if (!isOK && status !== 401) throw new Error(answer.error?.message ?? `The server answered ${status}.`);
  session.value = null;
};

/** The server no longer accepts the session. */
export const noteSignedOut = (): void => {
  if (!session.peek()) return;
  signedOutBecause.value = 'Your session has ended. Sign in again; you will come back to this page.';
  session.value = null;
};
