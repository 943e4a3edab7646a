/** The reason why nothing on a page can be changed, in a session of a viewer token. */
import { mayChange } from '../reading/account.ts';

export const ReadOnly = () =>
  mayChange.value ? null : (
    <p class="hint">
      You are signed in with a viewer token, which only reads. To change this page, sign in with a server token.
    </p>
  );
