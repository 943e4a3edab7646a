/**
 * The menu with the current account, the other accounts that this browser is signed in to, and a link to sign in to
 * another account.
 */
import { messageOf } from '../api.ts';
import { show } from '../parts/notices.tsx';
import { OpenSampleShop } from '../parts/sample-shop.tsx';
import { hasClosedSampleShop, hrefOfAccount, isAdding, session, sessions, signOut } from '../session.ts';
import { SecondaryLinks } from './secondary-links.tsx';

export const AccountMenu = () => {
  const { accountUUID, accountName } = session.value ?? { accountUUID: '', accountName: '' };
  const others = sessions.value.filter((each) => each.accountUUID !== accountUUID);
  const leaveAll = () => signOut({ all: true }).catch((error) => show({ text: messageOf(error), isProblem: true }));
  return (
    <details class="menu account-menu">
      <summary title={accountName}>
        <span class="unseen">Account: </span>
        <span>{accountName || accountUUID}</span>
      </summary>
      <ul>
        {others.map((other) => (
          <li key={other.accountUUID}>
            {/* `target` forces a page load: the console holds one account's state. */}
            <a href={hrefOfAccount(other)} target="_self">
              {other.accountName || other.accountUUID}
            </a>
          </li>
        ))}
        {hasClosedSampleShop.value && (
          <li>
            <OpenSampleShop />
          </li>
        )}
        <li>
          <button type="button" class="quiet" onClick={() => (isAdding.value = true)}>
            Sign in to another account…
          </button>
        </li>
        {others.length > 0 && (
          <li>
            <button type="button" class="quiet" onClick={leaveAll}>
              Sign out of all accounts
            </button>
          </li>
        )}
        <li class="narrow-only">
          <SecondaryLinks />
        </li>
      </ul>
    </details>
  );
};
