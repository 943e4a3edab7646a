/**
 * Entries of accountOrigin: an origin (`https://shop.example`) or all of a domain's hosts (`https://*.example.com`).
 */

/**
 * `https://*.`, a host of 253 characters (RFC 1035 section 2.3.4) and a port. The URL parser takes time quadratic in
 * the host's length.
 */
const maxLength = 272;

/** An entry's canonical form, for comparison by RFC 6454 section 4; undefined if it is invalid. */
export const parseOrigin = (entry: string): string | undefined => {
  if (entry.length > maxLength) return undefined;
  const wildcard = /^(https?:\/\/)\*\.([^*]+)$/i.exec(entry.trim());
  const plain = wildcard ? `${wildcard[1]}${wildcard[2]}` : entry.trim();
  if (!/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(plain) || !URL.canParse(plain)) return undefined;
  const { origin } = new URL(plain);
  if (!wildcard) return origin;
  const [scheme, host] = origin.split('//') as [string, string];
  // A wildcard for a whole top-level domain or for an IP address is a mistake.
  return /^[^.]+\..*[^.\d]/.test(host) ? `${scheme}//*.${host}` : undefined;
};

/** Whether the entries allow a request's Origin header. An empty list allows any origin. */
export const isOriginAllowed = (entries: readonly string[], origin: string): boolean => {
  if (entries.length === 0) return true;
  const canonical = parseOrigin(origin);
  if (canonical === undefined || canonical.includes('*')) return false;
  return entries.some((entry) => {
    const star = entry.indexOf('*');
    if (star < 0) return entry === canonical;
    const scheme = entry.slice(0, star);
    const suffix = entry.slice(star + 1);
    return (
      canonical.startsWith(scheme) && canonical.endsWith(suffix) && canonical.length > scheme.length + suffix.length
    );
  });
};

/** The hosts of plain entries, and the host suffixes (`.example.com`) of wildcard entries. */
export const listOriginHosts = (entries: readonly string[]): { hosts: string[]; suffixes: string[] } => {
  const hosts = entries.map((entry) => new URL(entry.replace('*.', '')).hostname);
  return {
    hosts: hosts.filter((_, index) => !entries[index]?.includes('*')),
    suffixes: hosts.filter((_, index) => entries[index]?.includes('*')).map((host) => `.${host}`),
  };
};
