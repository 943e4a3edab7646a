/** The accounts that this browser is signed in to, and the way to a further one. */
import { root } from '../address.ts';
import { isAdding, session, sessions } from '../session.ts';

const another = 'another';

export const AccountSwitch = () => {
  const choose = (chosen: string) => {
    if (chosen === another) isAdding.value = true;
    else location.assign(`${root}/console/?account=${encodeURIComponent(chosen)}`);
  };
  return (
    <select
      class="account-switch"
      aria-label="Account"
      value={session.value?.accountUUID ?? ''}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {sessions.value.map(({ accountUUID, accountName }) => (
        <option key={accountUUID} value={accountUUID}>
          {accountName || accountUUID}
        </option>
      ))}
      <option value={another}>Another account …</option>
    </select>
  );
};
