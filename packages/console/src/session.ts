/** The sessions of this browser, and the one whose account is shown. What signs in is sent once and stored nowhere in the browser; a cookie that no script reads stands for it. */
import { computed, signal } from '@preact/signals';
import { query, root } from './address.ts';

interface Session {
  readonly accountUUID: string;
  readonly accountName: string;
  /** `viewer` reads, `editor` also changes contacts, the catalogue and segments, `server` does everything. */
  readonly kind: 'viewer' | 'editor' | 'server';
  /** The tokenID of the session. */
  readonly sessionID: string;
}

/** Proves who signs in. */
export type Proof =
  | { readonly tokenUUID: string }
  | { readonly code: string }
  | { readonly emailaddress: string; readonly password: string }
  | { readonly passkey: unknown };

/** null: nobody is signed in; undefined: not known yet. */
export const session = signal<Session | null | undefined>(undefined);
/** All sessions of the browser, one for each account. */
export const sessions = signal<readonly Session[]>([]);
/** Why the page asks to sign in again, where there is a reason. */
export const signedOutBecause = signal('');
/** The account of the session that has ended. */
let endedAccount: string | undefined;
/** Whether somebody who is signed in wants to sign in to another account as well. */
export const isAdding = signal(false);

/** Of a server that somebody tries out: the account of the sample shop, '' if the browser is not signed in to it. */
const sampleShop = signal<{ readonly accountUUID: string; readonly exists: boolean } | undefined>(undefined);
/** Whether the server offers a sample shop to look around in. */
export const offersSampleShop = computed(() => sampleShop.value !== undefined);
/** Whether the sample shop is there, and this browser is not signed in to it. */
export const hasClosedSampleShop = computed(
  () => sampleShop.value?.exists === true && sampleShop.value.accountUUID === '',
);
/** Whether the account that is shown is the sample shop. */
export const isSampleShop = computed(
  () => session.value != null && sampleShop.value?.accountUUID === session.value.accountUUID,
);

/**
 * The header that lets a request use the cookie. It names the session that this page was loaded with: another tab may have signed in to
 * another account since, which changes the cookie of both.
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
  const answer = await response.json().catch(() => ({}));
  return { isOK: response.ok, status: response.status, answer };
};

interface Told {
  readonly session: Session;
  readonly invitation: Invitation;
  /** What the browser is to make or find a passkey with. */
  readonly options: never;
}

/** Sends a request. `problem` is why it failed, or '' if it worked. */
export const attempt = async (
  path: string,
  body: object,
): Promise<{ readonly problem: string; readonly answer: Told }> => {
  const { isOK, status, answer } = await send(path, 'POST', body).catch(() => ({
    isOK: false,
    status: 0,
    answer: { error: { message: 'The server can’t be reached.' } },
  }));
  return { answer, problem: isOK ? '' : (answer.error?.message ?? `The server answered ${status}.`) };
};

/** The account that the address names; with one account there is no need to. */
const named = () => query.peek().get('account');

/** Finds out who is signed in. Rejects when the server can't be reached. */
export const findSession = async (): Promise<void> => {
  const { isOK, status, answer } = await send('session', 'GET');
  if (!isOK) throw new Error(answer.error?.message ?? `The server answered ${status}.`);
  sessions.value = answer.sessions;
  sampleShop.value = answer.sampleShop;
  const wanted = named();
  const found = answer.sessions.find(({ accountUUID }: Session) => accountUUID === wanted);
  if (wanted !== null && !found && answer.session)
    signedOutBecause.value = 'This address belongs to an account that you are not signed in to.';
  session.value = wanted === null ? answer.session : (found ?? null);
};

/** Takes the code of a one-time link out of the address, so that nobody reads it there later. */
export const takeCode = (): string | undefined => {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
};

/** The address of the console with another account. */
export const hrefOfAccount = ({ accountUUID }: Pick<Session, 'accountUUID'>): string =>
  `${root}/console/?account=${encodeURIComponent(accountUUID)}`;

/** Shows the account of a session that has just begun. Returns why that is impossible; '' if it is not. */
const show = async (begun: Session): Promise<string> => {
  const { accountUUID, sessionID } = begun;
  signedOutBecause.value = '';
  const wanted = named();
  // The console is loaded anew for another account than the one that it shows, or that the address names.
  if (session.peek() || (wanted !== null && wanted !== accountUUID)) {
    location.assign(hrefOfAccount(begun));
    return '';
  }
  await findSession().catch(() => {});
  return sessions.peek().some((each) => each.sessionID === sessionID)
    ? ''
    : 'The browser did not store the session cookie. Allow cookies for this address, then try again.';
};

/** Signs in. Returns why not; '' if it worked. */
export const signIn = async (proof: Proof): Promise<string> => {
  // A password may be that of members of several accounts: the one that the page shows or showed comes first.
  const { problem, answer } = await attempt('sign-in', { ...proof, accountUUID: named() ?? endedAccount });
  return problem || show(answer.session);
};

export interface Invitation {
  readonly accountName: string;
  readonly memberEmailaddress: string;
  readonly memberName: string;
  readonly memberRole: 'viewer' | 'editor' | 'owner';
}

/** Whom an invitation is for; a text if it is none. */
export const readInvitation = async (code: string): Promise<Invitation | string> => {
  const { problem, answer } = await attempt('invitation', { code });
  return problem || answer.invitation;
};

/** Takes an invitation. Returns why not; '' if it worked: then the console is loaded anew. */
export const acceptInvitation = async (
  given: { readonly code: string; readonly memberName: string } & (
    | { readonly password: string }
    | { readonly passkey: unknown }
  ),
): Promise<string> => {
  const { problem, answer } = await attempt('accept', given);
  if (!problem) location.assign(hrefOfAccount(answer.session));
  return problem;
};

/** Fills the sample shop if need be, which takes some seconds, and shows it. Returns why not; '' if it worked. */
export const openSampleShop = async (): Promise<string> => {
  const { problem, answer } = await attempt('sample-shop', {});
  return problem || show(answer.session);
};

/** How much of the sample shop is filled, from 0 to 1; undefined if that is not known. */
export const sampleShopProgress = async (): Promise<number | undefined> => {
  const { answer } = await send('sample-shop/progress', 'GET');
  return answer.progress ? answer.progress.events / answer.progress.of : undefined;
};

/** Loads the console anew, with the account of another session, if there is one. */
const leave = (): void => location.assign(`${root}/console/`);

/**
 * Ends the session while no page is open: what a page asks meanwhile would be answered with 401, which reads as a session that has
 * expired. The page comes back if `end` rejects.
 */
const endSession = async (end: () => Promise<void>): Promise<void> => {
  const shown = session.peek();
  const ending = end();
  session.value = undefined;
  try {
    await ending;
  } catch (error) {
    session.value = shown;
    throw error;
  }
};

/** Removes the sample shop, and leaves it. Rejects when it is still there. */
export const removeSampleShop = (): Promise<void> =>
  endSession(async () => {
    const { problem } = await attempt('sample-shop/remove', {});
    if (problem) throw new Error(problem);
    leave();
  });

/** Ends this session, or all of the browser. Rejects when it goes on. */
export const signOut = ({ all = false } = {}): Promise<void> => {
  const shownAccount = session.peek()?.accountUUID;
  return endSession(async () => {
    const { isOK, status, answer } = await send('sign-out', 'POST', { all });
    if (!isOK && status !== 401) throw new Error(answer.error?.message ?? `The server answered ${status}.`);
    if (!all && sessions.peek().length > 1) return leave();
    endedAccount = shownAccount;
    sessions.value = [];
    session.value = null;
  });
};

/** The server no longer accepts the session. */
export const noteSignedOut = (): void => {
  const ended = session.peek();
  if (!ended) return;
  endedAccount = ended.accountUUID;
  sessions.value = sessions.peek().filter(({ sessionID }) => sessionID !== ended.sessionID);
  signedOutBecause.value = 'Your session has ended. Sign in again; you will come back to this page.';
  session.value = null;
};
