/** Runs the reports of notifications, with the rights of a viewer. */
import { check } from '@firsthand/contract/checking';
import type { MailedOperation } from '@firsthand/contract/notification';
import { type OutputOf, operations } from '@firsthand/contract/operations';
import type { DueNotification } from '../../store/store.ts';
import { type Caller, type Handlers, withoutAccountSettings } from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';

export type ReportAccount = Pick<DueNotification, 'account' | 'accountOrigin' | 'accountTimezone'>;

interface Run {
  readonly account: ReportAccount;
  readonly time: number;
  readonly signal: AbortSignal;
}

/** A report is one of a share link to the engine, because nobody waits for it. */
const callerOf = ({ account: { account, accountOrigin, accountTimezone }, time, signal }: Run): Caller => ({
  access: {
    ...withoutAccountSettings,
    ...{ token: -1, tokenID: '', kind: 'viewer', account, accountOrigin, accountTimezone },
  },
  tokenUUID: '',
  time,
  isShared: true,
  signalOf: () => signal,
});

export type RunReport = <Name extends MailedOperation>(
  operation: Name,
  fields: Readonly<Record<string, unknown>>,
  run: Run,
) => Promise<OutputOf<Name>>;

/** Returns a function that runs a report. It rejects with Refusal if the fields are no longer valid. */
export const createRunReport =
  (handlers: Handlers<MailedOperation>): RunReport =>
  async (operation, fields, run) => {
    const checked = check<unknown>(operations[operation].input, fields);
    if (!checked.ok) throw refusalOf(checked.problem);
    // Safe: the input was checked with the schema of the operation.
    return (handlers[operation] as (input: unknown, caller: Caller) => Promise<never>)(checked.value, callerOf(run));
  };
