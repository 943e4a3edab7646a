/** What a server has answered, counted, to be held against what its database holds: every 200 is a row or a repeat, every refusal is listed or counted. */
import { type OperationName, operations } from '@firsthand/contract/operations';
import Database from '../../../src/store/sqlite/database/better-sqlite3.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer, it has checked or will fail on.
  readonly body: any;
}

export interface Counts {
  /** Events that were answered 200 and not called a duplicate. */
  kept: number;
  duplicates: number;
  /** Writes with a good token that were refused for their content: entries of batches as well. */
  refused: number;
}

const keptOperations: readonly OperationName[] = ['logEvent', 'logEvents', 'createContact', 'updateContact'];
const isRefusal = (status: number) => [400, 404, 409].includes(status);

export interface Books {
  readonly counts: Counts;
  /** Sends a request, and counts its answer. */
  ask(
    url: string,
    operation: OperationName,
    fields: Fields,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** A body that can't be read as fields, with its token in a header. */
  askText(url: string, operation: OperationName, text: string, token: string): Promise<Answer>;
}

export const createBooks = (): Books => {
  const counts: Counts = { kept: 0, duplicates: 0, refused: 0 };

  const countEvent = ({ status, duplicate }: { status: string; duplicate?: boolean }) => {
    if (isRefusal(Number(status))) counts.refused += 1;
    else if (status === '200' && duplicate) counts.duplicates += 1;
    else if (status === '200') counts.kept += 1;
  };

  const count = (operation: OperationName, { status, body }: Answer): void => {
    if (!keptOperations.includes(operation)) return;
    if (operation === 'logEvents' && status === 200) body.event.forEach(countEvent);
    else if (operation === 'logEvent') countEvent(body);
    else if (isRefusal(status)) counts.refused += 1;
  };

  const read = async (operation: OperationName, asked: Promise<Response>): Promise<Answer> => {
    const response = await asked;
    const answer = { status: response.status, body: await response.json() };
    count(operation, answer);
    return answer;
  };

  return {
    counts,
    ask(url, operation, fields, headers = {}) {
      const { paths, methods } = operations[operation];
      if ((methods as readonly string[]).includes('POST')) {
        return read(operation, fetch(url + paths[0], { method: 'POST', body: JSON.stringify(fields), headers }));
      }
      const query = new URLSearchParams(
        Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
      );
      return read(operation, fetch(`${url}${paths[0]}?${query}`, { headers }));
    },
    askText: (url, operation, text, token) =>
      read(
        operation,
        fetch(url + operations[operation].paths[0], {
          method: 'POST',
          body: text,
          headers: { Authorization: `Bearer ${token}` },
        }),
      ),
  };
};

/** The same, as a database file has it; events that were erased are counted as kept. */
const readCounts = (path: string): Omit<Counts, 'duplicates'> & { listed: number } => {
  const db = new Database(path, { readonly: true });
  try {
    const ask = (sql: string) => db.prepare<[], number>(sql).pluck().get() as number;
    return {
      kept: ask('SELECT (SELECT count(*) FROM event) + (SELECT coalesce(sum(deletedEvents), 0) FROM erasure)'),
      refused: ask('SELECT coalesce(sum(listed + evicted + erased + replayed), 0) FROM refused_count'),
      listed: ask('SELECT count(*) - (SELECT coalesce(sum(listed), 0) FROM refused_count) FROM refused_request'),
    };
  } finally {
    db.close();
  }
};

/** How the books differ from a database file; an empty list when they agree. */
export const differences = ({ counts: { kept, refused } }: Books, path: string): string[] => {
  const held = readCounts(path);
  return [
    ...(held.kept === kept ? [] : [`${kept} events answered 200, ${held.kept} rows`]),
    ...(held.refused === refused ? [] : [`${refused} refused, ${held.refused} counted`]),
    ...(held.listed === 0 ? [] : [`the list of refused requests has ${held.listed} more rows than are counted`]),
  ];
};
