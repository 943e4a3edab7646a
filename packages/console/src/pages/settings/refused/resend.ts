/** Resends and discards refused requests, and allows the IDs that caused the refusals. */
import { api, messageOf } from '../../../api.ts';
import { readAccount } from '../../../reading/account.ts';
import { type Path, pathOf, valueAt, withValue } from './causes.ts';
import type { RefusedRequest } from './request.ts';

type Fix = Readonly<Record<string, unknown>>;

/** The fields to replace in a request so that the given paths have the given values. */
export const fixOf = ({ request }: RefusedRequest, values: readonly (readonly [Path, unknown])[]): Fix | undefined => {
  if (typeof request !== 'object' || values.length === 0) return undefined;
  const fixed = values.reduce<unknown>((before, [path, value]) => withValue(before, path, value), request) as Fix;
  return Object.fromEntries(values.map(([[first = '']]) => [first, fixed[first]]));
};

interface Outcome {
  readonly done: number;
  /** The reason for the first failure; '' if all succeeded. */
  readonly problem: string;
}

/** Processes the requests one after the other, oldest first, so that their events keep their order. */
const withEach = async (
  refused: readonly RefusedRequest[],
  work: (request: RefusedRequest) => Promise<string>,
): Promise<Outcome> => {
  let done = 0;
  let problem = '';
  for (const request of refused.toReversed()) {
    const failure = await work(request).catch(messageOf);
    if (failure === '') done += 1;
    else problem ||= failure;
  }
  return { done, problem };
};

export const sendAll = (
  refused: readonly RefusedRequest[],
  fix: (request: RefusedRequest) => Fix | undefined = () => undefined,
): Promise<Outcome> =>
  withEach(refused, async (request) => {
    const { replayed, problem } = await api.replayRefused({ refusedID: request.refusedID, fix: fix(request) });
    return replayed ? '' : (problem?.message ?? 'The request was refused again.');
  });

export const discardAll = (refused: readonly RefusedRequest[]): Promise<Outcome> =>
  withEach(refused, async ({ refusedID }) => {
    await api.discardRefused({ refusedID });
    return '';
  });

/** The catalogue change that lists an ID and allows pages to use it, by the field that contains the ID. */
const entryOf = {
  eventID: (id: string) => ({ event: [{ eventID: Number(id), browser: true }] }),
  contactTagID: (id: string) => ({
    tag: id.split(',').map((tagID) => ({ tagID: tagID.replace(/^-/, '').trim(), browser: true })),
  }),
  contactProfileID: (id: string) => ({ profile: [{ profileID: id, browser: true }] }),
  attrID: (id: string) => ({ attr: [{ attrID: id, browser: true }] }),
} as const;

/** The catalogue change that makes a request valid; undefined if the catalogue was not the cause. */
export const allowanceFor = ({ problem, request }: RefusedRequest) => {
  if (problem.code !== 'unknown_id' && problem.code !== 'id_not_for_browser') return undefined;
  const path = pathOf(problem.field);
  const entry = entryOf[path.at(-1) as keyof typeof entryOf];
  const value = valueAt(request, path);
  return entry === undefined || (typeof value !== 'string' && typeof value !== 'number')
    ? undefined
    : entry(String(value));
};

/** Adds the IDs used in the requests to the catalogue, then resends the requests. */
export const allowAll = async (refused: readonly RefusedRequest[]): Promise<Outcome> => {
  const allowed = new Set<string>();
  for (const request of refused) {
    const allowance = allowanceFor(request);
    const text = JSON.stringify(allowance);
    if (allowance === undefined || allowed.has(text)) continue;
    allowed.add(text);
    await api.updateAccount(allowance);
  }
  await readAccount();
  return sendAll(refused);
};
