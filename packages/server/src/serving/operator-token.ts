import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import { BadConfiguration } from '../config/config.ts';
import { hashToken, newToken } from '../ingest/token.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Store } from '../store/store.ts';

/**
 * Stores the hash of OPERATOR_TOKEN unless it is already stored. Logs the tokenID, which is needed to revoke the token:
 * unsetting the variable does not revoke it. Throws BadConfiguration for a revoked token.
 */
export const registerOperatorToken = async (
  store: Pick<Store, 'findAccess' | 'createToken'>,
  text: string,
  { log, time }: { log: Logger; time: number },
): Promise<void> => {
  if (await store.findAccess(hashToken(text))) return;
  const token = newToken('operator', { text, tokenID: nanoid(), tokenName: 'OPERATOR_TOKEN', time });
  await store.createToken({ ...token, account: null }).catch((cause: unknown) => {
    if (!(cause instanceof Refusal)) throw cause;
    throw new BadConfiguration('OPERATOR_TOKEN is a token that was revoked: choose another', { cause });
  });
  log.info({ tokenID: token.tokenID }, 'OPERATOR_TOKEN registered');
};
