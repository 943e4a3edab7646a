/** The account's members, including invited ones. */
import { useState } from 'preact/hooks';
import { Card } from '../../../parts/card.tsx';
import { toFile } from '../../../parts/csv.ts';
import { SaveFile } from '../../../parts/save-csv.tsx';
import { Badge, EmptyState, RelativeTime, Skeleton } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { account, isOwner } from '../../../reading/account.ts';
import { type Member, members } from '../../../reading/member-names.ts';
import { OwnersOnly } from '../owners-only.tsx';
import { OwnPasskeys } from '../passkeys/passkeys.tsx';
import { isThisSession } from '../this-session.ts';
import { InvitationLink, type NewInvitation } from './invitation-link.tsx';
import { InviteMember } from './invite-member.tsx';
import { MemberActions } from './member-actions.tsx';
import { RoleChoice } from './role-choice.tsx';

const State = ({ member: { joinedTime, signedInTime, invitationExpiresTime } }: { readonly member: Member }) => {
  if (invitationExpiresTime !== undefined)
    return <Badge tone="open">{joinedTime ? 'new invitation' : 'invited'}</Badge>;
  if (joinedTime === undefined) return <Badge tone="bad">invitation expired</Badge>;
  return signedInTime === undefined ? <>never</> : <RelativeTime time={signedInTime} />;
};

const fileOf = (memberList: readonly Member[]) =>
  toFile(
    ['name', 'email', 'role', 'joined', 'last signed in', 'passkeys'],
    memberList.map((member) => [
      member.memberName,
      member.memberEmailaddress,
      member.memberRole,
      member.joinedTime,
      member.signedInTime,
      member.passkeys,
    ]),
  );

const Team = () => {
  const [newInvitation, setNewInvitation] = useState<NewInvitation | undefined>(undefined);
  if (!isOwner.value) return <OwnersOnly title="Team" subject="the team" />;
  const memberList = members.value;
  const isMemberSession = account.value?.token?.some((token) => isThisSession(token) && token.memberID !== undefined);
  return (
    <>
      {newInvitation && <InvitationLink invitation={newInvitation} close={() => setNewInvitation(undefined)} />}
      <Card
        title={`Team${memberList ? ` · ${memberList.length}` : ''}`}
        tools={
          <>
            {memberList && <SaveFile title="Team" read={() => fileOf(memberList)} />}
            <InviteMember onInvite={setNewInvitation} />
          </>
        }
        class="list"
      >
        {memberList === undefined && <Skeleton lines={4} />}
        {memberList?.length === 0 && (
          <EmptyState title="No members yet">
            <p class="soft">
              {isMemberSession ? '' : 'You are signed in with a link or token, not as a member. '}
              Invite yourself and your colleagues. Each member has a role and a password or passkey, and the audit log
              shows who did what.
            </p>
          </EmptyState>
        )}
        {memberList !== undefined && memberList.length > 0 && (
          <Table
            label="Members"
            headers={['Name', 'E-mail address', 'Role', 'Last signed in', 'Passkeys', '']}
            rows={memberList.map((member) => ({
              key: member.memberID,
              cells: [
                member.memberName || <span class="soft">Not joined yet</span>,
                member.memberEmailaddress,
                <RoleChoice key="role" member={member} />,
                <State key="state" member={member} />,
                member.passkeys,
                <MemberActions key="remove" member={member} onInvite={setNewInvitation} />,
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
