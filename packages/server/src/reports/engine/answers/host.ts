/** The site that a referrer names, as SQL. */
import type { OwnSites } from '../../questions.ts';
import type { Values } from '../values.ts';

/** Of a URL; in the same words as in RE2 (https://github.com/google/re2/wiki/Syntax), whose time grows with the length alone. */
const host = '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\\[[0-9A-Fa-f:.]+\\]|[^/?#:@[\\]]+)';

/** The host in a URL; NULL when there is none, and when it is of an own site. */
export const referrerHostOf = (url: string, { hosts, suffixes }: OwnSites, values: Values): string => {
  const found = `nullif(regexp_extract(${url}, '${host}', 1), '')`;
  if (hosts.length + suffixes.length === 0) return found;
  return `list_transform([${found}], lambda host: CASE WHEN list_contains(${values.texts(hosts)}, host)
    OR len(list_filter(${values.texts(suffixes)}, lambda suffix: ends_with(host, suffix))) > 0 THEN NULL ELSE host END)[1]`;
};
