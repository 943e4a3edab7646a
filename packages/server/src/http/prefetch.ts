interface RequestHeaders {
  get(name: string): string | null;
}

/** A page that the browser fetches in case it is visited (Sec-Purpose, Fetch Standard; Purpose, before that). */
const isPrefetch = (headers: RequestHeaders): boolean =>
  /\bprefetch\b/.test(`${headers.get('sec-purpose')} ${headers.get('purpose')}`);

/** HEAD, and a prefetch of a GET, ask what would be answered: they log nothing. */
export const logsNothing = ({ method, headers }: Request): boolean =>
  method === 'HEAD' || (method === 'GET' && isPrefetch(headers));
