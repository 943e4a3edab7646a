/** The passkeys of the member who is signed in; nothing where a token signed in. */

import { Card } from '../../../parts/card.tsx';
import { Ago, Empty } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { hasPasskeys } from '../../../passkeys.ts';
import { useAnswer } from '../../../reading/answer.ts';
import { readMembers } from '../../../reading/members.ts';
import { AddPasskey } from './adding.tsx';
import { listPasskeys } from './own.ts';
import { RemovePasskey } from './removing.tsx';

export const OwnPasskeys = () => {
  const { value: listed, again: readAgain } = useAnswer('passkeys', listPasskeys);
  /** Also their number in the list of members. */
  const again = () => {
    readAgain();
    readMembers().catch(() => {});
  };
  if (!listed || (!hasPasskeys && listed.length === 0)) return null;
  return (
    <Card title={`Your passkeys · ${listed.length}`} tools={hasPasskeys && <AddPasskey added={again} />} class="list">
      {listed.length === 0 ? (
        <Empty title="You have no passkey yet">
          <p class="soft">With a passkey, you sign in with your fingerprint, face or PIN and type nothing.</p>
        </Empty>
      ) : (
        <Table
          label="Your passkeys"
          heads={['Name', 'Added', 'Last used', '']}
          rows={listed.map((passkey) => ({
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
  );
};
