/** What is not a page of the console: in the menu of the account in narrow windows, else at the foot of the navigation. */
import { messageOf } from '../api.ts';
import { show } from '../parts/notices.tsx';
import { signOut } from '../session.ts';
import { overlay } from './keys.ts';

export const Further = () => (
  <>
    <a href="../docs/">Docs</a>
    <button type="button" class="quiet" onClick={() => (overlay.value = 'keys')}>
      Shortcuts
    </button>
    <button
      type="button"
      class="quiet"
      onClick={() => signOut().catch((error) => show({ text: messageOf(error), isProblem: true }))}
    >
      Sign out
    </button>
  </>
);
