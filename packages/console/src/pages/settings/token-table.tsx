/** A table of tokens: kind, maker, last use and end of each. */
import { Ago, Badge, Copyable } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { LastUsed } from './last-used.tsx';
import { Revoke } from './revoking.tsx';
import { nameOfActor, nameOfToken, stateOf, type Token } from './token-list.ts';

const tones = { browser: 'plain', viewer: 'good', editor: 'open', server: 'open' } as const;

const State = ({ token }: { readonly token: Token }) => {
  const { expiresTime, revokedTime } = token;
  if (revokedTime !== undefined)
    return (
      <>
        <Badge tone="bad">revoked</Badge> <Ago time={revokedTime} />
      </>
    );
  if (expiresTime === undefined) return <span class="soft">never</span>;
  return (
    <>
      {stateOf(token, Date.now()) === 'expired' && <Badge tone="bad">expired</Badge>} <Ago time={expiresTime} />
    </>
  );
};

interface TokenTableProps {
  readonly label: string;
  /** The head of the column that says when they end. */
  readonly end: 'Expires' | 'Ended';
  readonly tokens: readonly Token[];
  /** All tokens of the account: one of them made these. */
  readonly all: readonly Token[];
}

export const TokenTable = ({ label, end, tokens, all }: TokenTableProps) => (
  <Table
    label={label}
    heads={['Name', 'Kind', 'Made', 'Last used', end, '']}
    rows={tokens.map((token) => {
      const { tokenID, tokenKind, tokenUUID, createdTime, createdBy } = token;
      return {
        key: tokenID,
        cells: [
          <span key="name">
            {nameOfToken(token)}
            <small>{tokenUUID === undefined ? <Copyable text={tokenID} /> : <Copyable text={tokenUUID} />}</small>
          </span>,
          <Badge key="kind" tone={tones[tokenKind]}>
            {tokenKind}
          </Badge>,
          <span key="made">
            <Ago time={createdTime} />
            <small class="soft by">by {nameOfActor(createdBy, all)}</small>
          </span>,
          <LastUsed key="used" of={token} />,
          <State key="state" token={token} />,
          stateOf(token, Date.now()) === 'live' && <Revoke key="revoke" token={token} all={all} />,
        ],
      };
    })}
  />
);
