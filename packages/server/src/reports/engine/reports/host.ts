/** Finds the host of a referrer, as SQL. */
import type { OwnSites } from '../../queries.ts';
import { type SQL, sql, texts } from '../sql.ts';

/** Matches the host of a URL. RE2 (https://github.com/google/re2/wiki/Syntax) runs it in linear time. */
const pattern = '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\\[[0-9A-Fa-f:.]+\\]|[^/?#:@[\\]]+)';

/**
 * Returns the host in a URL, in lower case (RFC 3986 section 6.2.2.1); NULL if there is none, or if the host is one of
 * the account's sites.
 */
export const referrerHostOf = (url: SQL, { hosts, suffixes }: OwnSites): SQL => {
  const host = sql`nullif(lower(regexp_extract(${url}, ${pattern}, 1)), '')`;
  if (hosts.length + suffixes.length === 0) return host;
  return sql`list_transform([${host}], lambda host: CASE WHEN list_contains(${texts(hosts)}, host)
    OR len(list_filter(${texts(suffixes)}, lambda suffix: ends_with(host, suffix))) > 0 THEN NULL ELSE host END)[1]`;
};
