/** The password and the passkeys of the member who is signed in; nothing where a token signed in. */

import { Card } from '../../../parts/card.tsx';
import { Ago, Empty } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { hasPasskeys } from '../../../passkeys.ts';
import { useAnswer } from '../../../reading/answer.ts';
import { readMembers } from '../../../reading/members.ts';
import { AddPasskey } from './adding.tsx';
import { ChangePassword } from './changing-password.tsx';
import { readOwn } from './own.ts';
import { RemovePasskey } from './removing.tsx';

export const OwnPasskeys = () => {
  const { value: own, again: readAgain } = useAnswer('passkeys', readOwn);
  /** Also their number in the list of members. */
  const again = () => {
    readAgain();
    readMembers().catch(() => {});
  };
  if (!own) return null;
  const { passkeys, hasPassword, memberEmailaddress } = own;
  return (
    <>
      <Card title="Your password" tools={<ChangePassword own={own} changed={again} />}>
        <p class="soft">
          {hasPassword
            ? `You sign in with ${memberEmailaddress} and your password.`
            : 'You have no password: you sign in with a passkey.'}
        </p>
      </Card>
      {(hasPasskeys || passkeys.length > 0) && (
        <Card
          title={`Your passkeys · ${passkeys.length}`}
          tools={hasPasskeys && <AddPasskey added={again} />}
          class="list"
        >
          {passkeys.length === 0 ? (
            <Empty title="You have no passkey yet">
              <p class="soft">With a passkey, you sign in with your fingerprint, face or PIN and type nothing.</p>
            </Empty>
          ) : (
            <Table
              label="Your passkeys"
              heads={['Name', 'Added', 'Last used', '']}
              rows={passkeys.map((passkey) => ({
                key: passkey.passkeyID,
                cells: [
                  passkey.passkeyName,
                  <Ago key="added" time={passkey.createdTime} />,
                  passkey.lastUsedTime ? <Ago key="used" time={passkey.lastUsedTime} /> : 'never',
                  <RemovePasskey key="remove" passkey={passkey} removed={again} />,
                ],
              }))}
            />
          )}
        </Card>
      )}
    </>
  );
};
