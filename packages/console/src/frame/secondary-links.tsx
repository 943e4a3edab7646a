/** Links and actions that aren't pages: in the account menu in narrow windows, otherwise under the navigation. */
import { messageOf } from '../api.ts';
import { show } from '../parts/notices.tsx';
import { signOut } from '../session.ts';
import { overlay } from './keys.ts';

export const SecondaryLinks = () => (
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
