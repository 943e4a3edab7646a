/** Starts the console: finds out who is signed in, then shows the pages or asks to sign in. */
import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { followLinks, pageName, shareSecret } from './address.ts';
import { messageOf } from './api.ts';
import { Frame } from './frame/frame.tsx';
import { closeMenus, listenForKeys } from './frame/keys.ts';
import { load } from './frame/page.tsx';
import { Join } from './pages/join.tsx';
import { Shared } from './pages/shared.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Problem } from './parts/small.tsx';
import { account, readAccount } from './reading/account.ts';
import { forgetAnswers } from './reading/answer.ts';
import { followDays } from './reading/range.ts';
import { findSession, isAdding, session, signedOutBecause, signIn, takeCode } from './session.ts';

const place = document.getElementById('console') as HTMLElement;

const Opening = () => (
  <div class="opening">
    <svg viewBox="0 0 32 32" width="40" height="40" role="img" aria-label="Opening">
      <path d="M16 29C7 25 4 17 6 6c11 0 18 5 18 14 0 4-3 8-8 9Z" fill="var(--brand)" />
    </svg>
  </div>
);

/** The code of the invitation that was opened; '' for an address of one without its code. */
const invitation = signal<string | undefined>(undefined);

const Console = () => {
  if (invitation.value !== undefined) return <Join key={invitation.value} code={invitation.value} />;
  if (session.value === null || isAdding.value) return <SignIn />;
  if (!session.value || !account.value) return <Opening />;
  return <Frame key={session.value.accountUUID} />;
};

const fail = (error: unknown): void => {
  place.replaceChildren();
  render(
    <main class="sign-in">
      <Problem text={messageOf(error)} again={() => location.reload()} />
    </main>,
    place,
  );
};

// Also when a second link is opened in the same tab, which changes nothing but the fragment.
const openInvitation = () => {
  invitation.value = pageName.peek() === 'join' ? (takeCode() ?? invitation.peek() ?? '') : undefined;
};

const begin = async (): Promise<void> => {
  if (pageName.peek() === 'join') return;
  const code = takeCode();
  // A link signs in to its own account, even where another one is signed in.
  const problem = code === undefined ? '' : await signIn({ code });
  if (!session.value) await findSession();
  if (problem && !session.value) signedOutBecause.value = problem;
};

const openConsole = (): void => {
  listenForKeys();
  closeMenus();
  followDays();
  // After signing in too: the account may be another one.
  effect(() => {
    const signedIn = session.value?.accountUUID;
    forgetAnswers();
    account.value = undefined;
    if (signedIn !== undefined) readAccount().catch(fail);
  });
  render(<Console />, place);
  addEventListener('hashchange', openInvitation);
  openInvitation();
  // While the server says who is signed in.
  load(pageName.peek());
  begin().catch(fail);
};

followLinks();
place.replaceChildren();
// Nobody is signed in to the page of a share link, even if the browser is.
if (shareSecret === undefined) openConsole();
else render(<Shared />, place);
