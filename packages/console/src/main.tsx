/** Starts the console: finds the session, then shows the pages or the sign-in form. */
import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { followLinks, pageName, shareSecret } from './address.ts';
import { messageOf } from './api.ts';
import { Frame } from './frame/frame.tsx';
import { closeMenus, listenForKeys } from './frame/keys.ts';
import { load } from './frame/page.tsx';
import { Join } from './pages/join.tsx';
import { SharedPage } from './pages/shared.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Problem } from './parts/small.tsx';
import { account, readAccount } from './reading/account.ts';
import { followDays } from './reading/range.ts';
import { clearFetchCache } from './reading/use-fetch.ts';
import { findSession, isAdding, session, signedOutReason, signIn, takeCode } from './session.ts';

const place = document.getElementById('console') as HTMLElement;

const Opening = () => (
  <div class="opening">
    <svg viewBox="0 0 32 32" width="40" height="40" role="img" aria-label="Loading">
      <path d="M16 29C7 25 4 17 6 6c11 0 18 5 18 14 0 4-3 8-8 9Z" fill="var(--brand)" />
    </svg>
  </div>
);

/** The open invitation's code; '' if the URL has no code. */
const invitation = signal<string | undefined>(undefined);

const Console = () => {
  if (invitation.value !== undefined) return <Join key={invitation.value} code={invitation.value} />;
  if (session.value === null || isAdding.value) return <SignIn />;
  if (!session.value || !account.value) return <Opening />;
  return <Frame key={session.value.accountUUID} />;
};

const showFailure = (error: unknown): void => {
  place.replaceChildren();
  render(
    <main class="sign-in">
      <Problem text={messageOf(error)} reload={() => location.reload()} />
    </main>,
    place,
  );
};

// Also runs when a second link is opened in the same tab, because then only the fragment of the URL changes.
const openInvitation = () => {
  invitation.value = pageName.peek() === 'join' ? (takeCode() ?? invitation.peek() ?? '') : undefined;
};

const startSession = async (): Promise<void> => {
  if (pageName.peek() === 'join') return;
  const code = takeCode();
  // A link signs in to its own account, even if the browser is signed in to another one.
  const problem = code === undefined ? '' : await signIn({ code });
  if (!session.value) await findSession();
  if (problem && !session.value) signedOutReason.value = problem;
};

const openConsole = (): void => {
  listenForKeys();
  closeMenus();
  followDays();
  // Runs again after each sign-in: the account may be a different one.
  effect(() => {
    const signedIn = session.value?.accountUUID;
    clearFetchCache();
    account.value = undefined;
    if (signedIn !== undefined) readAccount().catch(showFailure);
  });
  render(<Console />, place);
  addEventListener('hashchange', openInvitation);
  openInvitation();
  // In parallel with the session request.
  load(pageName.peek());
  startSession().catch(showFailure);
};

followLinks();
place.replaceChildren();
// A share link's page never uses a session, even if the browser has one.
if (shareSecret === undefined) openConsole();
else render(<SharedPage />, place);
