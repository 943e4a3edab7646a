/** The people who may sign in to the console, and those who are invited. */
import { useState } from 'preact/hooks';
import { Card } from '../../../parts/card.tsx';
import { toFile } from '../../../parts/csv.ts';
import { SaveFile } from '../../../parts/save-csv.tsx';
import { Ago, Badge, Empty, Skeleton } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { account, isOwner } from '../../../reading/account.ts';
import { type Member, members } from '../../../reading/member-names.ts';
import { OwnersOnly } from '../owners-only.tsx';
import { OwnPasskeys } from '../passkeys/passkeys.tsx';
import { isThisSession } from '../this-session.ts';
import { InvitationLink, type Invited } from './invitation-link.tsx';
import { Invite } from './inviting.tsx';
import { Remove } from './removing.tsx';
import { RoleChoice } from './role-choice.tsx';

const State = ({ member: { joinedTime, signedInTime, invitationExpiresTime } }: { readonly member: Member }) => {
  if (invitationExpiresTime !== undefined)
    return <Badge tone="open">{joinedTime ? 'new invitation' : 'invited'}</Badge>;
  if (joinedTime === undefined) return <Badge tone="bad">invitation ended</Badge>;
  return signedInTime === undefined ? <>never</> : <Ago time={signedInTime} />;
};

const fileOf = (listed: readonly Member[]) =>
  toFile(
    ['name', 'email', 'role', 'joined', 'last signed in', 'passkeys'],
    listed.map((member) => [
      member.memberName,
      member.memberEmailaddress,
      member.memberRole,
      member.joinedTime,
      member.signedInTime,
      member.passkeys,
    ]),
  );

const Team = () => {
  const [invited, setInvited] = useState<Invited | undefined>(undefined);
  if (!isOwner.value) return <OwnersOnly title="Team" what="who may sign in" />;
  const listed = members.value;
  const isOfMember = account.value?.token?.some((token) => isThisSession(token) && token.memberID !== undefined);
  return (
    <>
      {invited && <InvitationLink invited={invited} close={() => setInvited(undefined)} />}
      <Card
        title={`Team${listed ? ` · ${listed.length}` : ''}`}
        tools={
          <>
            {listed && <SaveFile title="Team" read={() => fileOf(listed)} />}
            <Invite invited={setInvited} />
          </>
        }
        class="list"
      >
        {listed === undefined && <Skeleton lines={4} />}
        {listed?.length === 0 && (
          <Empty title="No members yet">
            <p class="soft">
              {isOfMember ? '' : 'You are signed in by a link or a token, not as a person. '}
              Invite yourself and your colleagues: each gets a password or a passkey, and a role, and the audit log says
              who did what.
            </p>
          </Empty>
        )}
        {listed !== undefined && listed.length > 0 && (
          <Table
            label="People who may sign in"
            heads={['Name', 'E-mail address', 'Role', 'Last signed in', 'Passkeys', '']}
            rows={listed.map((member) => ({
              key: member.memberID,
              cells: [
                member.memberName || <span class="soft">Not joined yet</span>,
                member.memberEmailaddress,
                <RoleChoice key="role" member={member} />,
                <State key="state" member={member} />,
                member.passkeys,
                <Remove key="remove" member={member} invited={setInvited} />,
              ],
            }))}
          />
        )}
      </Card>
    </>
  );
};

export const Members = () => (
  <div class="settings">
    <Team />
    <OwnPasskeys />
  </div>
);
