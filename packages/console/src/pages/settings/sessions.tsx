/** The open sessions of the console. A session is a token that a cookie holds. */
import { api } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { Ago, Badge } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { readAccount } from '../../reading/account.ts';
import { nameOfMember } from '../../reading/member-names.ts';
import { signOut } from '../../session.ts';
import { LastUsed } from './last-used.tsx';
import { isThisSession } from './this-session.ts';
import { nameOfActor, type Token } from './token-list.ts';

interface SessionsProps {
  readonly sessions: readonly Token[];
  readonly all: readonly Token[];
}

const rightsOf: Readonly<Record<Token['tokenKind'], string>> = {
  browser: '',
  viewer: 'reads',
  editor: 'reads and edits',
  server: 'reads and changes everything',
};

const end = ({ tokenID }: Token) =>
  act(() => api.revokeToken({ tokenID }), { done: 'The session has ended.', after: readAccount });

export const Sessions = ({ sessions, all }: SessionsProps) => {
  const startedBy = ({ memberID, createdBy }: Token) =>
    memberID !== undefined
      ? (nameOfMember(memberID) ?? 'a person')
      : createdBy === ''
        ? 'the link that the server printed'
        : nameOfActor(createdBy, all);
  return (
    <Card title={`Sessions of the console · ${sessions.length}`} class="list">
      <Table
        label="Sessions of the console"
        heads={['Who', 'Rights', 'Started', 'Last used', 'Ends', '']}
        rows={sessions.map((token) => ({
          key: token.tokenID,
          cells: [
            <span key="by">
              {startedBy(token)} {isThisSession(token) && <Badge tone="good">this session</Badge>}
            </span>,
            rightsOf[token.tokenKind],
            <Ago key="started" time={token.createdTime} />,
            <LastUsed key="used" of={token} isInUse={isThisSession(token)} />,
            token.expiresTime && <Ago key="ends" time={token.expiresTime} />,
            <button
              key="end"
              type="button"
              class="quiet"
              aria-label={isThisSession(token) ? 'Sign out' : `End the session of ${startedBy(token)}`}
              onClick={() => (isThisSession(token) ? act(signOut, { done: 'Signed out.' }) : end(token))}
            >
              {isThisSession(token) ? 'Sign out' : 'End'}
            </button>,
          ],
        }))}
      />
    </Card>
  );
};
