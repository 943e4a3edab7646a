/** The active console sessions. A session is a token stored in a cookie. */
import { api } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { Badge, RelativeTime } from '../../parts/small.tsx';
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
  agent: '',
  viewer: 'read',
  editor: 'read and edit',
  server: 'full access',
};

const end = ({ tokenID }: Token) =>
  act(() => api.revokeToken({ tokenID }), { done: 'Session ended.', refresh: readAccount });

export const Sessions = ({ sessions, all }: SessionsProps) => {
  const startedBy = ({ memberID, createdBy }: Token) =>
    memberID !== undefined
      ? (nameOfMember(memberID) ?? 'a member')
      : createdBy === ''
        ? 'one-time link'
        : nameOfActor(createdBy, all);
  return (
    <Card title={`Console sessions · ${sessions.length}`} class="list">
      <Table
        label="Console sessions"
        headers={['Started by', 'Access', 'Started', 'Last used', 'Ends', '']}
        rows={sessions.map((token) => ({
          key: token.tokenID,
          cells: [
            <span key="by">
              {startedBy(token)} {isThisSession(token) && <Badge tone="good">this session</Badge>}
            </span>,
            rightsOf[token.tokenKind],
            <RelativeTime key="started" time={token.createdTime} />,
            <LastUsed key="used" item={token} isInUse={isThisSession(token)} />,
            token.expiresTime && <RelativeTime key="ends" time={token.expiresTime} />,
            <button
              key="end"
              type="button"
              class="quiet"
              aria-label={isThisSession(token) ? 'Sign out' : `End the session: ${startedBy(token)}`}
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
