/** A table of tokens. */
import { Badge, CopyableText, RelativeTime } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { LastUsed } from './last-used.tsx';
import { RevokeToken } from './revoke-token.tsx';
import { nameOfActor, nameOfToken, stateOf, type Token } from './token-list.ts';

const tones = { browser: 'plain', agent: 'good', viewer: 'good', editor: 'open', server: 'open' } as const;

const State = ({ token }: { readonly token: Token }) => {
  const { expiresTime, revokedTime } = token;
  if (revokedTime !== undefined)
    return (
      <>
        <Badge tone="bad">revoked</Badge> <RelativeTime time={revokedTime} />
      </>
    );
  if (expiresTime === undefined) return <span class="soft">never</span>;
  return (
    <>
      {stateOf(token, Date.now()) === 'expired' && <Badge tone="bad">expired</Badge>}{' '}
      <RelativeTime time={expiresTime} />
    </>
  );
};

interface TokenTableProps {
  readonly label: string;
  /** The header of the column that shows when each token ends. */
  readonly end: 'Expires' | 'Ended';
  readonly tokens: readonly Token[];
  /** All of the account's tokens, used to look up creators' names. */
  readonly all: readonly Token[];
}

export const TokenTable = ({ label, end, tokens, all }: TokenTableProps) => (
  <Table
    label={label}
    headers={['Name', 'Kind', 'Created', 'Last used', end, '']}
    rows={tokens.map((token) => {
      const { tokenID, tokenKind, tokenUUID, createdTime, createdBy } = token;
      return {
        key: tokenID,
        cells: [
          <span key="name">
            {nameOfToken(token)}
            <small>
              {tokenUUID === undefined ? <CopyableText text={tokenID} /> : <CopyableText text={tokenUUID} />}
            </small>
          </span>,
          <Badge key="kind" tone={tones[tokenKind]}>
            {tokenKind}
          </Badge>,
          <span key="made">
            <RelativeTime time={createdTime} />
            <small class="soft by">by {nameOfActor(createdBy, all)}</small>
          </span>,
          <LastUsed key="used" item={token} />,
          <State key="state" token={token} />,
          stateOf(token, Date.now()) === 'live' && <RevokeToken key="revoke" token={token} all={all} />,
        ],
      };
    })}
  />
);
