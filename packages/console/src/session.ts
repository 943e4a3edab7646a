/**
 * All of this browser's console sessions, and the current session. Credentials are sent once and not stored in the
 * browser: an HttpOnly cookie holds the sessions.
 */
import { computed, signal } from '@preact/signals';
import { query, root } from './address.ts';

interface Session {
  readonly accountUUID: string;
  readonly accountName: string;
  /** `viewer` can read, `editor` can also edit contacts, the catalogue and segments, `server` can do everything. */
  readonly kind: 'viewer' | 'editor' | 'server';
  /** The session's tokenID. */
  readonly sessionID: string;
}

/** The credentials to sign in with. */
export type SignInCredentials =
  | { readonly tokenUUID: string }
  | { readonly code: string }
  | { readonly emailaddress: string; readonly password: string }
  | { readonly passkey: unknown };

/** The current session. null: signed out; undefined: not loaded yet. */
export const session = signal<Session | null | undefined>(undefined);
/** All of the browser's sessions, one for each account. */
export const sessions = signal<readonly Session[]>([]);
/** The reason shown in the sign-in form; '' if there is none. */
export const signedOutReason = signal('');
/** The account whose session has ended. */
let endedAccount: string | undefined;
/** Whether the user is signing in to an additional account. */
export const isAdding = signal(false);

/** Undefined except on a trial server. `accountUUID` is '' if the browser is not signed in to the sample shop. */
const sampleShop = signal<{ readonly accountUUID: string; readonly exists: boolean } | undefined>(undefined);
/** Whether the server offers a sample shop. */
export const offersSampleShop = computed(() => sampleShop.value !== undefined);
/** Whether the sample shop exists, but this browser is not signed in to it. */
export const hasClosedSampleShop = computed(
  () => sampleShop.value?.exists === true && sampleShop.value.accountUUID === '',
);
/** Whether the current account is the sample shop. */
export const isSampleShop = computed(
  () => session.value != null && sampleShop.value?.accountUUID === session.value.accountUUID,
);

/**
 * The header that authorizes a request to use the cookie. It identifies this page's session: another tab may have
 * signed in to another account in the meantime, which changes the cookie for both tabs.
 */
export const consoleHeader = (): Readonly<Record<string, string>> => ({
  'X-Firsthand-Console': session.peek()?.sessionID ?? '1',
});

export const send = async (path: string, method: 'GET' | 'POST', body?: object) => {
  const response = await fetch(`${root}/console/${path}`, {
    method,
    headers: { ...consoleHeader(), accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const data = await response.json().catch(() => ({}));
  return { isOK: response.ok, status: response.status, data };
};

interface AuthData {
  readonly session: Session;
  readonly invitation: Invitation;
  /** The WebAuthn options for creating or requesting a passkey. */
  readonly options: never;
}

/** Sends a POST request. `problem` is the error text, or '' if it succeeded. */
export const attempt = async (
  path: string,
  body: object,
): Promise<{ readonly problem: string; readonly data: AuthData }> => {
  const { isOK, status, data } = await send(path, 'POST', body).catch(() => ({
    isOK: false,
    status: 0,
    data: { error: { message: 'The server can’t be reached.' } },
  }));
  return { data, problem: isOK ? '' : (data.error?.message ?? `The server responded with status ${status}.`) };
};

/** The account in the URL, which is optional if there is only one session. */
const readAccountParameter = () => query.peek().get('account');

/** Loads the sessions. Rejects if the server can't be reached. */
export const findSession = async (): Promise<void> => {
  const { isOK, status, data } = await send('session', 'GET');
  if (!isOK) throw new Error(data.error?.message ?? `The server responded with status ${status}.`);
  sessions.value = data.sessions;
  sampleShop.value = data.sampleShop;
  const urlAccount = readAccountParameter();
  const match = data.sessions.find(({ accountUUID }: Session) => accountUUID === urlAccount);
  if (urlAccount !== null && !match && data.session)
    signedOutReason.value = 'This link belongs to an account that you are not signed in to.';
  session.value = urlAccount === null ? data.session : (match ?? null);
};

/** Returns a one-time link's code, and removes it from the URL so that it does not stay in the history. */
export const takeCode = (): string | undefined => {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
};

/** The console's URL for another account. */
export const hrefOfAccount = ({ accountUUID }: Pick<Session, 'accountUUID'>): string =>
  `${root}/console/?account=${encodeURIComponent(accountUUID)}`;

/** Shows a new session's account. Returns the error message; '' if it worked. */
const show = async (newSession: Session): Promise<string> => {
  const { accountUUID, sessionID } = newSession;
  signedOutReason.value = '';
  const urlAccount = readAccountParameter();
  // Load the page again if the console already shows an account, or if the URL contains a different one.
  if (session.peek() || (urlAccount !== null && urlAccount !== accountUUID)) {
    location.assign(hrefOfAccount(newSession));
    return '';
  }
  await findSession().catch(() => {});
  return sessions.peek().some((each) => each.sessionID === sessionID)
    ? ''
    : 'The browser did not store the session cookie. Allow cookies for this address, then try again.';
};

/** Signs in. Returns the error message; '' if it worked. */
export const signIn = async (credentials: SignInCredentials): Promise<string> => {
  // A member may have the same password in several accounts: prefer the account in the URL, or the ended session's.
  const { problem, data } = await attempt('sign-in', {
    ...credentials,
    accountUUID: readAccountParameter() ?? endedAccount,
  });
  return problem || show(data.session);
};

export interface Invitation {
  readonly accountName: string;
  readonly memberEmailaddress: string;
  readonly memberName: string;
  readonly memberRole: 'viewer' | 'editor' | 'owner';
}

/** Returns the invitation, or the error message if the code is invalid. */
export const readInvitation = async (code: string): Promise<Invitation | string> => {
  const { problem, data } = await attempt('invitation', { code });
  return problem || data.invitation;
};

/** Accepts an invitation and loads the console. Returns the error message; '' if it worked. */
export const acceptInvitation = async (
  fields: { readonly code: string; readonly memberName: string } & (
    | { readonly password: string }
    | { readonly passkey: unknown }
  ),
): Promise<string> => {
  const { problem, data } = await attempt('accept', fields);
  if (!problem) location.assign(hrefOfAccount(data.session));
  return problem;
};

/**
 * Creates the sample shop if necessary, which takes some seconds, and opens it. Returns the error message; '' if it
 * worked.
 */
export const openSampleShop = async (): Promise<string> => {
  const { problem, data } = await attempt('sample-shop', {});
  return problem || show(data.session);
};

/** The progress of creating the sample shop, from 0 to 1; undefined if unknown. */
export const sampleShopProgress = async (): Promise<number | undefined> => {
  const { data } = await send('sample-shop/progress', 'GET');
  return data.progress ? data.progress.events / data.progress.of : undefined;
};

/** Loads the console again, with another session's account if there is one. */
const leave = (): void => location.assign(`${root}/console/`);

/**
 * Closes all pages before it ends the session: otherwise their requests would get a 401 and report an expired session.
 * Reopens the page if `end` rejects.
 */
const endSession = async (end: () => Promise<void>): Promise<void> => {
  const before = session.peek();
  const ending = end();
  session.value = undefined;
  try {
    await ending;
  } catch (error) {
    session.value = before;
    throw error;
  }
};

/** Removes the sample shop and leaves it. Rejects if it could not be removed. */
export const removeSampleShop = (): Promise<void> =>
  endSession(async () => {
    const { problem } = await attempt('sample-shop/remove', {});
    if (problem) throw new Error(problem);
    leave();
  });

/** Ends this session, or all of the browser's sessions. Rejects if that fails. */
export const signOut = ({ all = false } = {}): Promise<void> => {
  const currentAccount = session.peek()?.accountUUID;
  return endSession(async () => {
    const { isOK, status, data } = await send('sign-out', 'POST', { all });
    if (!isOK && status !== 401) throw new Error(data.error?.message ?? `The server responded with status ${status}.`);
    if (!all && sessions.peek().length > 1) return leave();
    endedAccount = currentAccount;
    sessions.value = [];
    session.value = null;
  });
};

/** Called when the server no longer accepts the session. */
export const handleSignedOut = (): void => {
  const endedSession = session.peek();
  if (!endedSession) return;
  endedAccount = endedSession.accountUUID;
  sessions.value = sessions.peek().filter(({ sessionID }) => sessionID !== endedSession.sessionID);
  signedOutReason.value = 'Your session has ended. Sign in again to return to this page.';
  session.value = null;
};
