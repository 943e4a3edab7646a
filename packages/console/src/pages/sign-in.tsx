/** The sign-in form: e-mail address and password, passkey, or token. */
import { useEffect, useState } from 'preact/hooks';
import { Logo } from '../parts/logo.tsx';
import { hasPasskeys, requestPasskey } from '../passkeys.ts';
import { hrefOfAccount, isAdding, type SignInCredentials, sessions, signedOutReason, signIn } from '../session.ts';

const WithPassword = () => (
  <>
    <label for="emailaddress">E-mail address</label>
    <input id="emailaddress" name="emailaddress" type="email" autocomplete="username" spellcheck={false} required />
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required />
  </>
);

/**
 * Focuses the field on mount, because it replaces the fields before the button that had focus. Defined outside the
 * component, so that it does not run again on each render.
 */
const focus = (input: HTMLInputElement | null) => input?.focus();

const WithToken = () => (
  <>
    <label for="token">Server token or viewer token</label>
    <input
      ref={focus}
      id="token"
      name="tokenUUID"
      type="password"
      autocomplete="off"
      spellcheck={false}
      placeholder="viewer_… or server_…"
      aria-describedby="token-help"
      required
    />
    <p id="token-help" class="soft">
      The token is sent to this server once and is not stored in the browser. A viewer token can only read; an editor
      token can also change contacts and the catalogue.
    </p>
  </>
);

const Help = ({ byPassword }: { readonly byPassword: boolean }) =>
  byPassword ? (
    <details>
      <summary>I can’t sign in</summary>
      <p>
        An owner of the account can send you a new invitation from Settings › Team. Or run this command on the server:
      </p>
      <pre>
        <code>npx firsthand user invite you@shop.example --role owner</code>
      </pre>
    </details>
  ) : (
    <details>
      <summary>Where do I get a token?</summary>
      <p>
        <code>npm start</code> prints a one-time sign-in link and the first server token. To create a viewer token, run:
      </p>
      <pre>
        <code>npx firsthand token create --kind viewer</code>
      </pre>
    </details>
  );

/** After a session has ended, links to the accounts that the browser is still signed in to. */
const OpenAccounts = () => {
  if (isAdding.value || sessions.value.length === 0) return null;
  return (
    <p>
      You are signed in to{' '}
      {sessions.value.map((each, nth) => (
        <span key={each.accountUUID}>
          {nth > 0 && ', '}
          <a href={hrefOfAccount(each)} target="_self">
            {each.accountName || each.accountUUID}
          </a>
        </span>
      ))}
      .
    </p>
  );
};

export const SignIn = () => {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [byPassword, setByPassword] = useState(true);
  useEffect(() => {
    document.title = 'Sign in · Firsthand';
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const textOf = (name: string) => String(form.get(name) ?? '');
    const credentials: SignInCredentials = byPassword
      ? { emailaddress: textOf('emailaddress'), password: textOf('password') }
      : { tokenUUID: textOf('tokenUUID').trim() };
    setBusy(true);
    setProblem(await signIn(credentials));
    setBusy(false);
  };
  const withPasskey = async () => {
    setBusy(true);
    const { problem, passkey } = await requestPasskey();
    setProblem(problem || (await signIn({ passkey })));
    setBusy(false);
  };
  const change = () => {
    setByPassword(!byPassword);
    setProblem('');
  };
  return (
    <main class="sign-in" id="content">
      <form onSubmit={submit} aria-busy={isBusy}>
        <Logo />
        <h1>{isAdding.value ? 'Sign in to another account' : 'Sign in to Firsthand'}</h1>
        {signedOutReason.value && (
          <p class="sign-in-why" role="alert">
            {signedOutReason.value}
          </p>
        )}
        {byPassword ? <WithPassword /> : <WithToken />}
        {problem && (
          <p class="sign-in-problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="main" disabled={isBusy}>
          Sign in
        </button>
        {hasPasskeys && (
          <button type="button" disabled={isBusy} onClick={withPasskey}>
            Sign in with a passkey
          </button>
        )}
        <button type="button" class="quiet" onClick={change}>
          {byPassword ? 'Use a token instead' : 'Use a password instead'}
        </button>
        <OpenAccounts />
        {isAdding.value && (
          <button type="button" class="quiet" onClick={() => (isAdding.value = false)}>
            Back
          </button>
        )}
        <Help byPassword={byPassword} />
      </form>
    </main>
  );
};
