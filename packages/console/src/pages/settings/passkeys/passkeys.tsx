/** The current member's password and passkeys. Renders nothing if the session belongs to a token. */

import { Card } from '../../../parts/card.tsx';
import { EmptyState, RelativeTime } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { hasPasskeys } from '../../../passkeys.ts';
import { readMembers } from '../../../reading/members.ts';
import { useFetch } from '../../../reading/use-fetch.ts';
import { AddPasskey } from './add-passkey.tsx';
import { ChangePassword } from './change-password.tsx';
import { readCredentials } from './credentials.ts';
import { RemovePasskey } from './remove-passkey.tsx';

export const OwnPasskeys = () => {
  const { value: own, reload: readAgain } = useFetch('passkeys', readCredentials);
  /** Also updates the passkey count in the member list. */
  const reload = () => {
    readAgain();
    readMembers().catch(() => {});
  };
  if (!own) return null;
  const { passkeys, hasPassword, memberEmailaddress } = own;
  return (
    <>
      <Card title="Your password" tools={<ChangePassword own={own} onChange={reload} />}>
        <p class="soft">
          {hasPassword
            ? `You sign in with ${memberEmailaddress} and your password.`
            : 'You have no password. You sign in with a passkey.'}
        </p>
      </Card>
      {(hasPasskeys || passkeys.length > 0) && (
        <Card
          title={`Your passkeys · ${passkeys.length}`}
          tools={hasPasskeys && <AddPasskey onAdd={reload} />}
          class="list"
        >
          {passkeys.length === 0 ? (
            <EmptyState title="No passkeys yet">
              <p class="soft">With a passkey, you sign in with your fingerprint, face or PIN instead of a password.</p>
            </EmptyState>
          ) : (
            <Table
              label="Your passkeys"
              headers={['Name', 'Added', 'Last used', '']}
              rows={passkeys.map((passkey) => ({
                key: passkey.passkeyID,
                cells: [
                  passkey.passkeyName,
                  <RelativeTime key="added" time={passkey.createdTime} />,
                  passkey.lastUsedTime ? <RelativeTime key="used" time={passkey.lastUsedTime} /> : 'never',
                  <RemovePasskey key="remove" passkey={passkey} onRemove={reload} />,
                ],
              }))}
            />
          )}
        </Card>
      )}
    </>
  );
};
