/** What page views say of themselves: the attributes that reports read by name. */

/** The path of a page. */
export const pathAttrID = 'path';
/** The address of the page before. */
export const referrerAttrID = 'referrer';

/** Of a URL; in the same words as in RE2 (https://github.com/google/re2/wiki/Syntax), whose time grows with the length alone. */
const host = '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\\[[0-9A-Fa-f:.]+\\]|[^/?#:@[\\]]+)';

/** The host in a URL, as SQL; NULL when there is none. */
export const hostOf = (url: string): string => `nullif(regexp_extract(${url}, '${host}', 1), '')`;
