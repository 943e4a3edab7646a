/** The caller of an operation: its token, its account, and the time of its request. */
import type { AnswerOf, InputOf, OperationName } from '@firsthand/contract/operations';
import { Refusal } from '../../shared/refusal.ts';
import type { Access, Asker, Store } from '../../store/store.ts';
import type { Agent } from '../request/agents.ts';

/** The caller of an operation: a good token, and the time of the request. */
export interface Caller {
  readonly access: Access;
  readonly tokenUUID: string;
  /** When the request was received, in milliseconds since 1970. */
  readonly time: number;
  /** The number of the sender for a day: 24 bits of a keyed hash of its network. Absent for commands. */
  readonly senderOf?: () => number;
  /** The keyed hash of its network, an IPv6 /48. Absent for commands. */
  readonly networkOf?: () => string;
  /** The program that sent the request, with the labels of its events. Absent for commands, except a replay. */
  readonly agent?: () => Agent;
  /** Returns the signal that is aborted when the client leaves before the response. Absent for commands. */
  readonly signalOf?: () => AbortSignal;
  /** The request comes from a share link. */
  readonly isShared?: boolean;
  /** When a refused request that is sent again was first received. The times of its events are computed from this. */
  readonly refusedTime?: number;
}

/** An operation: takes checked input, and returns its result or throws a Refusal. */
export type Answering<Name extends OperationName> = (input: InputOf<Name>, caller: Caller) => Promise<AnswerOf<Name>>;

export type AnsweringAll<Names extends OperationName> = { readonly [Name in Names]: Answering<Name> };

/** When the request was first received: earlier than `time` for a refused request that is sent again. */
export const receivedTimeOf = ({ time, refusedTime }: Caller): number => refusedTime ?? time;

/** The account of the caller's token. Throws Refusal('token_kind') for an operator token, which belongs to none. */
export const accountOf = ({ access }: Caller): number => {
  if (access.account === null) throw new Refusal('token_kind');
  return access.account;
};

/** The token number of the command line, which works on the database itself. */
export const commandLine = 0;

/** The number of the caller's token; null for the command line. */
export const actorOf = ({ access }: Caller): number | null => (access.token === commandLine ? null : access.token);

/** For which account, by whom and when: as each write takes it that the audit log records. Throws as `accountOf` does. */
export const actOf = (caller: Caller) => ({ account: accountOf(caller), by: actorOf(caller), time: caller.time });

/** The caller in the form that the store takes. Throws as `accountOf` does. */
export const askerOf = (caller: Caller): Asker => ({
  account: accountOf(caller),
  token: caller.access.token,
  browser: caller.access.kind === 'browser',
});

/**
 * The account that a request is about: the token's own, or for an operator the one that accountUUID names. Throws Refusal if an
 * operator names none, or if accountUUID is unknown or not the token's own.
 */
export const namedAccount = async (
  store: Pick<Store, 'findAccount'>,
  { access }: Caller,
  accountUUID: string | undefined,
): Promise<number> => {
  if (accountUUID === undefined) {
    if (access.account !== null) return access.account;
    throw new Refusal('missing_field', {
      field: 'accountUUID',
      message: '`accountUUID` is required with an operator token',
    });
  }
  const account = await store.findAccount(accountUUID);
  const another = access.account !== null && account !== access.account;
  if (account === undefined || another) throw new Refusal('unknown_account', { field: 'accountUUID' });
  return account;
};
