/**
 * Counts a server's responses and compares them with its database: every 200 must be a row or a duplicate, and every
 * refused request must be listed or counted.
 */
import { type OperationName, operations } from '@firsthand/contract/operations';
import Database from '../../../src/store/sqlite/database/better-sqlite3.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ParsedResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test fails if it reads a field that is missing.
  readonly body: any;
}

export interface Counts {
  /** Events that got a 200 and were not reported as duplicates. */
  stored: number;
  duplicates: number;
  /** Writes with a valid token that were refused for their content, including single entries of batches. */
  refused: number;
}

const writeOperations: readonly OperationName[] = ['logEvent', 'logEvents', 'createContact', 'updateContact'];
const isRefusal = (status: number) => [400, 404, 409].includes(status);

export interface ResponseCounter {
  readonly counts: Counts;
  /** Sends a request, and counts the response. */
  call(
    url: string,
    operation: OperationName,
    fields: Fields,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ParsedResponse>;
  /** Sends a body that can't be parsed, with the token in a header. */
  callWithText(url: string, operation: OperationName, text: string, token: string): Promise<ParsedResponse>;
}

export const createResponseCounter = (): ResponseCounter => {
  const counts: Counts = { stored: 0, duplicates: 0, refused: 0 };

  const countEvent = ({ status, duplicate }: { status: string; duplicate?: boolean }) => {
    if (isRefusal(Number(status))) counts.refused += 1;
    else if (status === '200' && duplicate) counts.duplicates += 1;
    else if (status === '200') counts.stored += 1;
  };

  const count = (operation: OperationName, { status, body }: ParsedResponse): void => {
    if (!writeOperations.includes(operation)) return;
    if (operation === 'logEvents' && status === 200) body.event.forEach(countEvent);
    else if (operation === 'logEvent') countEvent(body);
    else if (isRefusal(status)) counts.refused += 1;
  };

  const read = async (operation: OperationName, pending: Promise<Response>): Promise<ParsedResponse> => {
    const response = await pending;
    const parsed = { status: response.status, body: await response.json() };
    count(operation, parsed);
    return parsed;
  };

  return {
    counts,
    call(url, operation, fields, headers = {}) {
      const { paths, methods } = operations[operation];
      if ((methods as readonly string[]).includes('POST')) {
        return read(operation, fetch(url + paths[0], { method: 'POST', body: JSON.stringify(fields), headers }));
      }
      const query = new URLSearchParams(
        Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
      );
      return read(operation, fetch(`${url}${paths[0]}?${query}`, { headers }));
    },
    callWithText: (url, operation, text, token) =>
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

/** The counts in a database file. Erased events count as stored. */
const readCounts = (path: string): Omit<Counts, 'duplicates'> & { listed: number } => {
  const db = new Database(path, { readonly: true });
  try {
    const query = (sql: string) => db.prepare<[], number>(sql).pluck().get() as number;
    return {
      stored: query('SELECT (SELECT count(*) FROM event) + (SELECT coalesce(sum(deletedEvents), 0) FROM erasure)'),
      refused: query('SELECT coalesce(sum(listed + evicted + erased + replayed), 0) FROM refused_count'),
      listed: query('SELECT count(*) - (SELECT coalesce(sum(listed), 0) FROM refused_count) FROM refused_request'),
    };
  } finally {
    db.close();
  }
};

/** Describes how the counts differ from a database file. Empty if they agree. */
export const findDifferences = ({ counts: { stored, refused } }: ResponseCounter, path: string): string[] => {
  const rows = readCounts(path);
  return [
    ...(rows.stored === stored ? [] : [`${stored} events with a 200, ${rows.stored} rows`]),
    ...(rows.refused === refused ? [] : [`${refused} refused, ${rows.refused} counted`]),
    ...(rows.listed === 0 ? [] : [`the list of refused requests has ${rows.listed} more rows than are counted`]),
  ];
};
