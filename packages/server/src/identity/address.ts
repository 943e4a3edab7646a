import { decodePunycode } from './punycode.ts';

/** RFC 5321 section 4.5.3.1.1, in octets: of UTF-8 since RFC 6531 section 3.3. */
const maxLocalBytes = 64;

/** RFC 5321 section 4.5.3.1.3: a path has 256 octets at most, and two of them are its angle brackets. */
const maxAddressBytes = 254;

/**
 * RFC 5322 section 3.2.3, dot-atom: no quotes, spaces, controls or specials, and dots only between other characters.
 * RFC 6531 section 3.3 adds everything outside ASCII; of that, characters that can't be seen are refused (separators,
 * and controls of format such as zero-width and bidirectional ones), because two addresses that look the same would be
 * two people. So are surrogates (category Cs matches only lone ones), which no UTF-8 can carry.
 */
const localPart = /^[^\p{Z}\p{Cc}\p{Cf}\p{Cs}<>()[\],;:\\"@.]+(?:\.[^\p{Z}\p{Cc}\p{Cf}\p{Cs}<>()[\],;:\\"@.]+)*$/u;

/**
 * What may reach the URL parser: ASCII letters, digits, hyphens and dots, and anything outside ASCII. All else that it
 * would understand is refused here: ports, paths, userinfo, percent-escapes, [::1], tabs that it drops.
 */
const domainBeforeMapping = /^[A-Za-z0-9.\u0080-\u{10ffff}-]+$/u;

/**
 * RFC 5321 section 4.1.2, Domain: labels of letters, digits and inner hyphens; RFC 1035 section 2.3.4: 63 octets each.
 * Two at least, since mail needs a fully qualified name (RFC 5321 section 2.3.5), and the last not all digits (RFC 3696
 * section 2), which also refuses the IPv4 address that the URL parser makes of `1` or `0x7f.1`.
 */
const domainAfterMapping = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Longer texts are not looked at: normalizing one, and mapping a domain, take time that grows with the square of the length. */
const maxTextLength = 1_024;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const parseLocalPart = (text: string): string | undefined => {
  // NFC last: some letters with a mark are composed in lower case only (ǰ)
  const local = text.toLowerCase().normalize('NFC');
  return localPart.test(local) ? local : undefined;
};

/** The domain as DNS knows it: lower case, IDNA, `xn--` (UTS 46, as the URL Standard's "domain to ASCII" does it). */
const parseDomain = (text: string): string | undefined => {
  // UTS 46 maps capital sharp s to ss until Unicode 15.0 and to ß since: Node 20 and 24 would disagree
  const url = `http://${text.replaceAll('ẞ', 'ß')}`;
  if (!domainBeforeMapping.test(text) || !URL.canParse(url)) return undefined;
  const domain = new URL(url).hostname;
  return domainAfterMapping.test(domain) && domain.split('.').every(isLabel) ? domain : undefined;
};

/** A label that begins with `xn--` must be what its Unicode form is mapped to; Node 24 also takes others for labels. */
const isLabel = (label: string): boolean => {
  if (!label.startsWith('xn--')) return true;
  const url = `http://${decodePunycode(label.slice(4))}.example`;
  return URL.canParse(url) && new URL(url).hostname === `${label}.example`;
};

/**
 * The canonical form of an e-mail address, by which a contact is found: trimmed, NFC, lower case, the domain in ASCII.
 * Dots and plus are not folded: whether they mean anything is the receiving host's business (RFC 5321 section 2.3.11).
 * Undefined when the text isn't the address of a mailbox on the Internet; quoted local parts, comments, display names
 * and address literals aren't taken. The canonical form parses to itself.
 */
export const parseAddress = (text: string): string | undefined => {
  const trimmed = text.trim();
  if (trimmed.length > maxTextLength) return undefined;
  const at = trimmed.indexOf('@');
  if (at < 0) return undefined;
  const local = parseLocalPart(trimmed.slice(0, at));
  // a second @ is no character of a domain
  const domain = parseDomain(trimmed.slice(at + 1));
  if (local === undefined || domain === undefined) return undefined;
  const address = `${local}@${domain}`;
  const fits = bytesOf(local) <= maxLocalBytes && bytesOf(address) <= maxAddressBytes;
  return fits ? address : undefined;
};
