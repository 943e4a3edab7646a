interface RequestHeaders {
  get(name: string): string | null;
}

/** Whether a browser prefetches in case the page is visited (Sec-Purpose in the Fetch Standard; formerly Purpose). */
const isPrefetch = (headers: RequestHeaders): boolean =>
  /\bprefetch\b/.test(`${headers.get('sec-purpose')} ${headers.get('purpose')}`);

/** Whether a request must store nothing: it is a HEAD, or the prefetch of a GET. */
export const logsNothing = ({ method, headers }: Request): boolean =>
  method === 'HEAD' || (method === 'GET' && isPrefetch(headers));
