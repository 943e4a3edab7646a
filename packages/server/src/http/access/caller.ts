/** The caller of an operation: its token, its account, and the time of its request. */
import type { InputOf, OperationName, OutputOf } from '@firsthand/contract/operations';
import { Refusal } from '../../shared/refusal.ts';
import type { Access, Store, StoreCaller } from '../../store/store.ts';
import type { Agent } from '../request/agents.ts';

/** The caller of an operation: a valid token, and the time of the request. */
export interface Caller {
  readonly access: Access;
  readonly tokenUUID: string;
  /** When the request was received, in milliseconds since 1970. */
  readonly time: number;
  /** Returns the sender's number for today: 24 bits of a keyed hash of its network. Absent for CLI commands. */
  readonly senderOf?: () => number;
  /** Returns the keyed hash of the sender's network (IPv4 address or IPv6 /48). Absent for CLI commands. */
  readonly networkOf?: () => string;
  /** Returns the user agent and the labels to add to its events. Absent for CLI commands, except a replay. */
  readonly agent?: () => Agent;
  /**
   * The visitor's user agent for each event in a batch, if the request states it. It replaces `agent` when those events
   * are labeled.
   */
  readonly visitors?: readonly (Agent | undefined)[];
  /** The maximum age of a browser token's events, in days; default: limits.eventAgeDays. */
  readonly eventAgeDays?: number;
  /** Returns a signal that is aborted when the client disconnects before the response. Absent for CLI commands. */
  readonly signalOf?: () => AbortSignal;
  /** Whether the request comes from a share link. */
  readonly isShared?: boolean;
  /** When a replayed refused request was first received: event times are computed relative to this. */
  readonly refusedTime?: number;
}

/** Runs an operation on validated input. Rejects with a Refusal. */
export type Handler<Name extends OperationName> = (input: InputOf<Name>, caller: Caller) => Promise<OutputOf<Name>>;

export type Handlers<Names extends OperationName> = { readonly [Name in Names]: Handler<Name> };

/** Returns when the request was first received: earlier than `time` for a replayed refused request. */
export const receivedTimeOf = ({ time, refusedTime }: Caller): number => refusedTime ?? time;

/**
 * Returns the account of the caller's token. Throws Refusal('token_kind') for an operator token, which has no account.
 */
export const accountOf = ({ access }: Caller): number => {
  if (access.account === null) throw new Refusal('token_kind');
  return access.account;
};

/** For callers to which no account settings apply. */
export const withoutAccountSettings: Omit<Access, 'token' | 'tokenID' | 'kind' | 'account'> = {
  accountOrigin: [],
  accountTimezone: 'UTC',
  enrich: false,
  defaultProfileID: '',
  userIDIsEmailaddress: false,
};

/** The token number of the command line, which opens the database directly. */
export const commandLine = 0;

/** Returns the number of the caller's token; null for the command line. */
export const actorOf = ({ access }: Caller): number | null => (access.token === commandLine ? null : access.token);

/** Returns the account, actor and time for audited writes. Throws like `accountOf`. */
export const auditFieldsOf = (caller: Caller) => ({
  account: accountOf(caller),
  by: actorOf(caller),
  time: caller.time,
});

/** Returns the caller as the store expects it. Throws like `accountOf`. */
export const toStoreCaller = (caller: Caller): StoreCaller => ({
  account: accountOf(caller),
  token: caller.access.token,
  browser: caller.access.kind === 'browser',
});

/**
 * Returns a request's account: the token's own or, for an operator, the one in accountUUID. Throws Refusal if an
 * operator sends no accountUUID, or if the accountUUID is unknown or belongs to another account.
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
