/** Live tokens, revoked or expired tokens, and console sessions. */
import { useState } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { SaveFile } from '../../parts/save-csv.tsx';
import { EmptyState } from '../../parts/small.tsx';
import { account } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { type CreatedToken, CreateToken } from './create-token.tsx';
import { NewToken } from './new-token.tsx';
import { OwnersOnly } from './owners-only.tsx';
import { Sessions } from './sessions.tsx';
import { groupTokens, nameOfActor, nameOfToken, type Token } from './token-list.ts';
import { TokenTable } from './token-table.tsx';

/** Omits tokenUUID, so that the file contains no secret. */
const fileOf = (listed: readonly Token[], all: readonly Token[]) =>
  toFile(
    ['token ID', 'name', 'kind', 'created', 'created by', 'last used', 'expires', 'revoked'],
    listed.map((token) => [
      token.tokenID,
      nameOfToken(token),
      token.tokenKind,
      token.createdTime,
      nameOfActor(token.createdBy, all),
      token.lastUsedTime,
      token.expiresTime,
      token.revokedTime,
    ]),
  );

export const Tokens = () => {
  const [createdToken, setCreatedToken] = useState<CreatedToken | undefined>(undefined);
  const tokens = account.value?.token;
  if (!tokens) return <OwnersOnly title="Tokens" subject="tokens" />;
  const { live, ended, sessions } = groupTokens(tokens, Date.now());
  return (
    <div class="settings">
      {createdToken && <NewToken token={createdToken} close={() => setCreatedToken(undefined)} />}
      <Card
        title={`Tokens · ${formatWhole(live.length)}`}
        tools={
          <>
            <SaveFile title="Tokens" read={() => fileOf([...live, ...ended], tokens)} />
            <CreateToken onCreated={setCreatedToken} />
          </>
        }
        class="list"
      >
        {live.length === 0 && (
          <EmptyState title="No active tokens">
            <p class="soft">Without a browser token, pages cannot send events.</p>
          </EmptyState>
        )}
        {live.length > 0 && <TokenTable label="Tokens" end="Expires" tokens={live} all={tokens} />}
        {ended.length > 0 && (
          <details class="ended">
            <summary>{formatWhole(ended.length)} revoked or expired</summary>
            <TokenTable label="Revoked or expired tokens" end="Ended" tokens={ended} all={tokens} />
          </details>
        )}
      </Card>
      <Sessions sessions={sessions} all={tokens} />
    </div>
  );
};
