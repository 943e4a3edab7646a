/** Parses e-mail addresses into their canonical form. */
import { domainToASCII, domainToUnicode } from 'node:url';

/** RFC 5321 section 4.5.3.1.1, in octets; since RFC 6531 section 3.3, octets of UTF-8. */
const maxLocalBytes = 64;

/** RFC 5321 section 4.5.3.1.3: a path has at most 256 octets, two of which are its angle brackets. */
const maxAddressBytes = 254;

/**
 * RFC 5322 section 3.2.3, dot-atom: no quotes, spaces, controls or specials, and dots only between other characters.
 * RFC 6531 section 3.3 adds everything outside ASCII. Invisible characters are refused (separators, and format controls such as
 * zero-width and bidirectional ones), because two addresses that look the same would be two contacts. Surrogates are refused
 * (category Cs matches only lone ones), because UTF-8 cannot encode them.
 */
const localPart = /^[^\p{Z}\p{Cc}\p{Cf}\p{Cs}<>()[\],;:\\"@.]+(?:\.[^\p{Z}\p{Cc}\p{Cf}\p{Cs}<>()[\],;:\\"@.]+)*$/u;

/**
 * The characters that may reach the URL parser: ASCII letters, digits, hyphens and dots, and anything outside ASCII. This refuses
 * all else that the URL parser accepts: ports, paths, userinfo, percent-escapes, [::1], and tabs, which it removes.
 */
const domainBeforeMapping = /^[A-Za-z0-9.\u0080-\u{10ffff}-]+$/u;

/**
 * RFC 5321 section 4.1.2, Domain: labels of letters, digits and inner hyphens; RFC 1035 section 2.3.4: 63 octets each.
 * At least two labels, since mail needs a fully qualified name (RFC 5321 section 2.3.5). The last label must not be all digits
 * (RFC 3696 section 2), which also refuses the IPv4 address that the URL parser makes of `1` or `0x7f.1`.
 */
const domainAfterMapping = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Longer texts are refused: normalizing a text, and mapping a domain, take time that grows with the square of its length. */
const maxTextLength = 1_024;

const parseLocalPart = (text: string): string | undefined => {
  // NFC comes last because some letters with a mark have a composed form only in lower case (ǰ).
  const local = text.toLowerCase().normalize('NFC');
  return localPart.test(local) ? local : undefined;
};

/** Returns the domain in the form that DNS uses: lower case, IDNA, `xn--` (UTS 46, as in the URL Standard's "domain to ASCII"). */
const parseDomain = (text: string): string | undefined => {
  // UTS 46 maps capital sharp s to ss up to Unicode 15.0 and to ß since, so Node 20 and Node 24 would differ.
  const url = `http://${text.replaceAll('ẞ', 'ß')}`;
  if (!domainBeforeMapping.test(text) || !URL.canParse(url)) return undefined;
  const domain = new URL(url).hostname;
  return domainAfterMapping.test(domain) && domain.split('.').every(isLabel) ? domain : undefined;
};

/** Whether a label is valid: one that begins with `xn--` must equal the mapping of its Unicode form. Node 24 accepts others too. */
const isLabel = (label: string): boolean => {
  if (!label.startsWith('xn--')) return true;
  const unicode = domainToUnicode(label);
  // Node 24 leaves a label unchanged that it can't decode.
  return unicode !== label && domainToASCII(unicode) === label;
};

/**
 * Returns the canonical form of an e-mail address, by which a contact is found: trimmed, NFC, lower case, the domain in ASCII.
 * Dots and plus are kept: only the receiving host knows what they mean (RFC 5321 section 2.3.11). Returns undefined when the text
 * isn't the address of a mailbox on the Internet; quoted local parts, comments, display names and address literals are not
 * accepted. The canonical form parses to itself.
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
