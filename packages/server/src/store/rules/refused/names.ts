/** Finds the contacts that a refused request names, so that the request is erased with them. */
import { domainToUnicode } from 'node:url';
import type { NewRefusedRequest } from '../../store.ts';

/** Matches possible contactUUIDs and handles in a request that could not be parsed. */
const identifierInText = /[\w-]{8,64}/g;

/** Returns the identifiers by which a request names contacts; from a request that could not be parsed, all that may be some. */
export const contactsNamedBy = ({ input }: NewRefusedRequest): string[] => {
  if (typeof input === 'string') return input.match(identifierInText) ?? [];
  const entries: readonly unknown[] = Array.isArray(input.event) ? input.event : [];
  return [input, ...entries]
    .map((fields) => (fields as { contactUUID?: unknown } | null)?.contactUUID)
    .filter((name) => typeof name === 'string');
};

/** Combining marks in sequence. No name that is searched for has more. */
const mostMarks = 256;

/** Returns text in NFC. Longer runs of marks are cut to `mostMarks`: sorting n marks takes time that grows with the square of n. */
const normalized = (text: string): string =>
  // ASCII has no marks, and looking for them takes most of the time of a search.
  Buffer.byteLength(text) === text.length
    ? text
    : text.replace(/\p{M}+/gu, (marks) => marks.slice(0, mostMarks)).normalize('NFC');

/** Returns text as it is searched: in lower case and normalized, and, for a request that could not be parsed, without escapes. */
const folded = (inputText: string): string => {
  const text = inputText.startsWith('"')
    ? (JSON.parse(inputText) as string)
        .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
        .replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString())
    : inputText;
  // Remaining escapes become spaces, because they are no part of a word.
  return normalized(text.replace(/\\(?:u[\da-f]{4}|.)/gi, ' ')).toLowerCase();
};

/** Returns the forms of an address that people write: its domain in ASCII and in Unicode. */
const formsOf = (address: string): string[] => {
  const at = address.lastIndexOf('@') + 1;
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))];
};

/** The names by which refused requests may refer to a person. */
export interface PersonNames {
  /** Canonical. Like contactUUIDs, they are found anywhere in a text. */
  readonly addresses: readonly string[];
  /** Found as the value of a contactExternalID; long ones, like contactUUIDs, anywhere. Others may be words of other requests. */
  readonly externalIDs: readonly string[];
  readonly contactUUIDs: readonly string[];
  /** userUUIDs and handles, of which there may be many; found only as whole words. */
  readonly others: readonly string[];
}

/** A request on a token's list; `input` is JSON. */
export interface ListedText {
  readonly input: string;
  readonly message: string;
  readonly address: string | null;
}

/** From this length on an external ID is searched for anywhere. */
const longID = 8;

/**
 * Matches a contactExternalID, or otherContactExternalID, in JSON, with or without quotes, and in a form. After an ID of more than
 * 255 characters, which is never valid, the search goes on.
 */
const externalIDsInText = /contactexternalid\W{0,8}?[:=]\s{0,8}(?:"([^"]{1,255})"|([^"&,}\s][^&,}\n]{0,254}))/g;

/** Returns the external IDs in a text in folded form, folded. */
const externalIDsIn = (text: string): string[] =>
  [...text.matchAll(externalIDsInText)].map(([, quoted, bare = '']) => (quoted ?? bare).trim());

/** Up to this many words are searched for one by one, which is faster than looking up each word of the text. */
const fewWords = 10;
const charactersPerPart = 64 * 1024;

/** Splits a text into parts of about `charactersPerPart`, each of which ends at the end of a word. */
function* partsOf(text: string): Generator<string> {
  const betweenWords = /[^\w-]|$/g;
  for (let start = 0; start < text.length; start = betweenWords.lastIndex) {
    betweenWords.lastIndex = start + charactersPerPart;
    const end = betweenWords.exec(text)?.index ?? text.length;
    yield text.slice(start, end);
    betweenWords.lastIndex = end;
  }
}

/** Searches listed requests for a person who may have many names, in texts that may be long. */
export const createPersonSearch = () => {
  const addresses = new Set<string>();
  const needles = new Set<string>();
  const words = new Set<string>();
  const externalIDs = new Set<string>();
  const fold = (name: string) => normalized(name).toLowerCase();

  /**
   * Returns whether a request names the person. Before each part of the search, yields its cost: the number of characters whose
   * words could be looked up in the same time.
   */
  function* search({ input, message, address }: ListedText): Generator<number, boolean> {
    if (address !== null && addresses.has(address)) return true;
    yield input.length / 6;
    const text = `${folded(input)}\n${fold(message)}`;
    const costOfNeedle = text.length / 20;
    if (externalIDs.size > 0) {
      yield costOfNeedle;
      if (externalIDsIn(text).some((externalID) => externalIDs.has(externalID))) return true;
    }
    for (const needle of needles) {
      yield costOfNeedle;
      if (text.includes(needle)) return true;
    }
    if (words.size <= fewWords) {
      yield words.size * costOfNeedle;
      if (![...words].some((word) => text.includes(word))) return false;
    }
    for (const part of partsOf(text)) {
      yield part.length;
      if (part.match(/[\w-]+/g)?.some((word) => words.has(word))) return true;
    }
    return false;
  }

  return {
    add(names: PersonNames): void {
      for (const address of names.addresses) {
        addresses.add(address);
        for (const form of formsOf(address)) needles.add(fold(form));
      }
      for (const externalID of names.externalIDs) {
        // As `folded` leaves it.
        const asJSON = fold(
          JSON.stringify(externalID)
            .slice(1, -1)
            .replace(/\\(?:u[\da-f]{4}|.)/gi, ' '),
        ).trim();
        externalIDs.add(asJSON);
        externalIDs.add(fold(externalID));
        if (externalID.length >= longID) needles.add(asJSON);
      }
      for (const contactUUID of names.contactUUIDs) needles.add(fold(contactUUID));
      for (const name of names.others) words.add(fold(name));
    },
    search,
    /** Runs a whole `search` at once. */
    isNamedIn(request: ListedText): boolean {
      const parts = search(request);
      for (;;) {
        const { done, value } = parts.next();
        if (done) return value;
      }
    },
  };
};
