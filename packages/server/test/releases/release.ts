/** What is kept of a release: its data file, and its answers to questions about it. */

export interface Question {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Release {
  readonly serverToken: string;
  readonly answers: { readonly question: Question; readonly answer: unknown }[];
}

export type Call = (question: Question) => Promise<Record<string, unknown>>;

/** Members that differ each time, or with each version: IDs of requests, cursors, estimates and limits. */
const passing = new Set(['requestID', 'nextCursor', 'usage', 'limits', 'lastUsedTime']);

/** Lists whose order the first release did not define. */
const unordered = new Set(['link', 'claim']);
const sorted = (list: readonly unknown[]) =>
  [...list].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

/** Calls a server, and leaves out of its answer what no two servers need to agree on. */
export const createCall =
  (url: string, token: string): Call =>
  async ({ path, method, input }) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const asked =
      method === 'POST'
        ? fetch(url + path, { method, headers, body: JSON.stringify(input) })
        : fetch(`${url}${path}?${new URLSearchParams(input as Record<string, string>)}`, { headers });
    const text = await (await asked).text();
    return JSON.parse(text, (name, value) => {
      if (passing.has(name)) return undefined;
      return unordered.has(name) && Array.isArray(value) ? sorted(value) : value;
    });
  };
