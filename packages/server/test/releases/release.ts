/** A release's stored files: its data file, and its responses to requests for that data. */

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

/** Fields that differ with each request or version, such as request IDs, cursors, estimates and limits. */
const volatile = new Set(['requestID', 'nextCursor', 'usage', 'limits', 'lastUsedTime']);

/** Lists whose order was undefined in the first release. */
const unordered = new Set(['link', 'claim']);
const sortList = (list: readonly unknown[]) =>
  [...list].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

/** Returns a function that calls a server. It omits fields from the response that can differ between servers. */
export const createCall =
  (url: string, token: string): Call =>
  async ({ path, method, input }) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request =
      method === 'POST'
        ? fetch(url + path, { method, headers, body: JSON.stringify(input) })
        : fetch(`${url}${path}?${new URLSearchParams(input as Record<string, string>)}`, { headers });
    const text = await (await request).text();
    return JSON.parse(text, (name, value) => {
      if (volatile.has(name)) return undefined;
      return unordered.has(name) && Array.isArray(value) ? sortList(value) : value;
    });
  };
