/** Parses e-mail addresses into their canonical form. */
import { domainToASCII, domainToUnicode } from 'node:url';

/** RFC 5321 section 4.5.3.1.1, in octets; since RFC 6531 section 3.3, octets of UTF-8. */
const maxLocalBytes = 64;

/** RFC 5321 section 4.5.3.1.3: a path has at most 256 octets, two of which are its angle brackets. */
const maxAddressBytes = 254;

/**
 * RFC 5322 section 3.2.3, dot-atom: no quotes, spaces, controls or specials, and dots only between other characters.
 * RFC 6531 section 3.3 adds everything outside ASCII. Invisible characters (separators; zero-width and bidirectional
 * controls) are refused, because two addresses that look the same would be two contacts. Lone surrogates (Cs) are
 * refused, because UTF-8 cannot encode them.
 */
const localPart = /^[^\p{Z}\p{Cc}\p{Cf}\p{Cs}<>()[\],;:\\"@.]+(?:\.[^\p{Z}\p{Cc}\p{Cf}\p{Cs}<>()[\],;:\\"@.]+)*$/u;

/**
 * The characters that are passed to the URL parser: ASCII letters, digits, hyphens and dots, and anything outside
 * ASCII. This excludes everything else that the parser accepts: ports, paths, userinfo, percent-escapes, [::1], and
 * tabs, which it removes.
 */
const domainBeforeMapping = /^[A-Za-z0-9.\u0080-\u{10ffff}-]+$/u;

/**
 * RFC 5321 section 4.1.2, Domain: labels of letters, digits and inner hyphens; RFC 1035 section 2.3.4: 63 octets each.
 * At least two labels, since mail needs a fully qualified name (RFC 5321 section 2.3.5). The last label must not be all
 * digits (RFC 3696 section 2), which also excludes the IPv4 address into which the URL parser turns `1` or `0x7f.1`.
 */
const domainAfterMapping = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Longer strings are refused, because normalizing a string and mapping a domain take quadratic time. */
const maxTextLength = 1_024;

const parseLocalPart = (text: string): string | undefined => {
  // NFC comes last because some letters with diacritics have a composed form only in lower case (ǰ).
  const local = text.toLowerCase().normalize('NFC');
  return localPart.test(local) ? local : undefined;
};

/** Returns the domain as used in DNS: lower case, IDNA, `xn--` (UTS 46, as in the URL Standard's "domain to ASCII"). */
const parseDomain = (text: string): string | undefined => {
  // UTS 46 maps capital sharp s to ss up to Unicode 15.0 and to ß since then, so Node 20 and Node 24 would differ.
  const url = `http://${text.replaceAll('ẞ', 'ß')}`;
  if (!domainBeforeMapping.test(text) || !URL.canParse(url)) return undefined;
  const domain = new URL(url).hostname;
  return domainAfterMapping.test(domain) && domain.split('.').every(isLabel) ? domain : undefined;
};

/**
 * Whether a label is valid: one that starts with `xn--` must equal the mapping of its Unicode form. Node 24 also
 * accepts labels that don't.
 */
const isLabel = (label: string): boolean => {
  if (!label.startsWith('xn--')) return true;
  const unicode = domainToUnicode(label);
  // Node 24 returns a label that it can't decode unchanged.
  return unicode !== label && domainToASCII(unicode) === label;
};

/**
 * Returns the canonical form of an e-mail address, which identifies a contact: trimmed, NFC, lower case, with the
 * domain in ASCII. Dots and plus signs stay, because only the receiving host can interpret them (RFC 5321 section
 * 2.3.11).
 *
 * Returns undefined unless the string is the address of an internet mailbox. Quoted local parts, comments, display
 * names and address literals are not accepted. The canonical form parses to itself.
 */
export const parseAddress = (text: string): string | undefined => {
  const trimmed = text.trim();
  if (trimmed.length > maxTextLength) return undefined;
  const at = trimmed.indexOf('@');
  if (at < 0) return undefined;
  const local = parseLocalPart(trimmed.slice(0, at));
  // A domain with a second @ is refused.
  const domain = parseDomain(trimmed.slice(at + 1));
  if (local === undefined || domain === undefined) return undefined;
  const address = `${local}@${domain}`;
  const fits = Buffer.byteLength(local) <= maxLocalBytes && Buffer.byteLength(address) <= maxAddressBytes;
  return fits ? address : undefined;
};
