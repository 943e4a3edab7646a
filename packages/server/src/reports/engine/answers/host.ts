/** The host in a URL, as SQL. */

/** Of a URL; in the same words as in RE2 (https://github.com/google/re2/wiki/Syntax), whose time grows with the length alone. */
const host = '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\\[[0-9A-Fa-f:.]+\\]|[^/?#:@[\\]]+)';

/** NULL when there is none. */
export const hostOf = (url: string): string => `nullif(regexp_extract(${url}, '${host}', 1), '')`;
