/** Determines the caller of an operation: authenticates a request, and checks what its token may do. */
import type { Operation } from '@firsthand/contract/operations';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { Access } from '../../store/store.ts';
import { hasConsoleHeader } from '../console/cookie.ts';
import type { Agent } from '../request/agents.ts';
import type { RequestFields } from '../request/input.ts';
import { credentialsOf } from './authentication.ts';
import type { Caller } from './caller.ts';
import type { AddressOf } from './client-address.ts';
import type { RefusedPages } from './refused-pages.ts';
import { checkRight, pageOriginOf } from './rights.ts';

const otherSession = 'the browser has a different session now: reload the page';

interface CallerSources {
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly senderOf: (c: Context) => number;
  readonly networkOf: AddressOf;
  readonly agentOf: (c: Context) => Agent;
  readonly refusedPages: RefusedPages;
}

/**
 * Returns a function that determines the caller of the operation `name`. `given` are the request's fields, and `time`
 * is when it was received. Throws a Refusal if the token is missing or unknown, or is not allowed to call the operation
 * from this origin.
 */
export const createCallerAuthentication = ({
  authenticate,
  senderOf,
  networkOf,
  agentOf,
  refusedPages,
}: CallerSources) => {
  const notePage = ({ code }: Refusal, { account, tokenID }: Access, origin: string | undefined, time: number) => {
    if (account === null || origin === undefined) return;
    if (code === 'origin_not_allowed') refusedPages.origins.note(account, { origin, time });
    if (code === 'server_token_in_browser') refusedPages.leakedTokens.note(account, { origin, time, tokenID });
  };

  return async (
    name: string,
    operation: Pick<Operation, 'tokens'>,
    given: RequestFields,
    c: Context,
    time: number,
  ): Promise<Caller> => {
    const { headers } = c.req.raw;
    const { text: tokenUUID, isSession } = credentialsOf(given, headers);
    const access = await authenticate(tokenUUID, c);
    if (isSession && !hasConsoleHeader(headers, access.tokenID))
      throw new Refusal('invalid_token', { message: otherSession });
    try {
      checkRight(name, operation, access, headers, isSession);
    } catch (error) {
      if (error instanceof Refusal) notePage(error, access, pageOriginOf(headers), time);
      throw error;
    }
    return {
      access,
      tokenUUID,
      time,
      senderOf: () => senderOf(c),
      networkOf: () => networkOf(c),
      agent: () => agentOf(c),
      signalOf: () => c.req.raw.signal,
    };
  };
};
export type AuthenticateCaller = ReturnType<typeof createCallerAuthentication>;
