/** Signing in: with a token. */
import { useEffect, useState } from 'preact/hooks';
import { signedOutBecause, signIn } from '../session.ts';

export const SignIn = () => {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [token, setToken] = useState('');
  const attempt = async (tokenUUID: string) => {
    setBusy(true);
    setProblem(await signIn({ tokenUUID }));
    setBusy(false);
  };
  useEffect(() => {
    document.title = 'Sign in · Firsthand';
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const tokenUUID = token.trim();
    if (tokenUUID) attempt(tokenUUID);
    else setProblem('Enter a server token or a viewer token.');
  };
  return (
    <main class="sign-in" id="content">
      <form onSubmit={submit} aria-busy={isBusy}>
        <svg viewBox="0 0 32 32" width="44" height="44" aria-hidden="true">
          <path d="M16 29C7 25 4 17 6 6c11 0 18 5 18 14 0 4-3 8-8 9Z" fill="var(--brand)" />
        </svg>
        <h1>Sign in to Firsthand</h1>
        {signedOutBecause.value && (
          <p class="sign-in-why" role="alert">
            {signedOutBecause.value}
          </p>
        )}
        <label for="token">Server token or viewer token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="viewer_… or server_…"
          aria-describedby="token-help"
          aria-invalid={problem !== ''}
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p id="token-help" class="soft">
          The token is sent to this server once and is not stored in the browser. A viewer token only reads.
        </p>
        {problem && (
          <p class="sign-in-problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="main" disabled={isBusy}>
          Sign in
        </button>
        <details>
          <summary>Where do I get a token?</summary>
          <p>
            <code>npm start</code> prints a link that signs in once, and the first server token. This command makes a
            viewer token:
          </p>
          <pre>
            <code>npx firsthand token create --kind viewer</code>
          </pre>
        </details>
      </form>
    </main>
  );
};
