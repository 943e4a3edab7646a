/** Finds the people that a refused request names, so that the request is erased with them. */
import { domainToUnicode } from 'node:url';
import type { NewRefusedRequest } from '../../store.ts';
import { externalIDsIn, fieldNames, normalized, searchedOf, withoutEscapes } from './searched-text.ts';

/** Matches possible contactUUIDs and handles in an unparsable request. */
const identifierInText = /[\w-]{8,64}/g;

/** Returns the contactUUIDs and handles in a request; from an unparsable request, every candidate. */
export const findNamedContacts = ({ input }: NewRefusedRequest): string[] => {
  if (typeof input === 'string') return input.match(identifierInText) ?? [];
  const entries: readonly unknown[] = Array.isArray(input.event) ? input.event : [];
  return [input, ...entries]
    .map((fields) => (fields as { contactUUID?: unknown } | null)?.contactUUID)
    .filter((name) => typeof name === 'string');
};

/** Returns both notations of an address: with the domain in ASCII and in Unicode. */
const formsOf = (address: string): string[] => {
  const at = address.lastIndexOf('@') + 1;
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))];
};

/**
 * Returns the notations of an external ID in text: verbatim, with JSON escapes replaced by spaces, and form-encoded.
 */
const formsInText = (externalID: string): string[] => [
  externalID,
  withoutEscapes(JSON.stringify(externalID).slice(1, -1)).trim(),
  externalID.replaceAll(' ', '+'),
];

/** The names that identify a person in refused requests. There can be many of each kind. */
export interface PersonNames {
  /** Canonical addresses. Searched for anywhere, as a whole. */
  readonly addresses: readonly string[];
  /** External IDs from server tokens. IDs of at least `longID` characters are searched for like addresses. */
  readonly externalIDs: readonly string[];
  /**
   * External IDs of claims, unless they are another contact's key. Searched for in contactExternalID only: a page chose
   * them, and elsewhere they might be ordinary words.
   */
  readonly claimedIDs: readonly string[];
  /** Searched for anywhere, because they are random. */
  readonly contactUUIDs: readonly string[];
  /** Looked up word by word, because there may be thousands of handles. */
  readonly handles: readonly string[];
  /**
   * Searched for only in userUUID and unknown fields and, in an unparsable request, as words, because a page might have
   * chosen them.
   */
  readonly userUUIDs: readonly string[];
}

/** Fills in the missing kinds of names. */
export const personNames = (some: Partial<PersonNames>): PersonNames => ({
  addresses: [],
  externalIDs: [],
  claimedIDs: [],
  contactUUIDs: [],
  handles: [],
  userUUIDs: [],
  ...some,
});

/** A request on a token's list; `input` is JSON. */
export interface ListedText {
  readonly input: string;
  readonly message: string;
  readonly address: string | null;
}

/** The minimum length of external IDs that are searched for anywhere. Shorter IDs occur in many requests by chance. */
const longID = 8;

/**
 * Match text before and after a name that makes the name part of a longer one: a letter or digit, possibly with one
 * punctuation character in between that IDs and addresses contain. Caseless letters, such as Japanese, don't count,
 * because no spaces separate their words.
 */
const continuedBefore = /[\p{LC}\p{N}][._%+-]?$/u;
const continuedAfter = /^[._%+-]?[\p{LC}\p{N}]/u;
/** The maximum length of such text in UTF-16 code units: two characters, one of them possibly a surrogate pair. */
const maxAdjacentUnits = 3;

/** Whether text contains a name that is not part of a longer one. */
const includesWhole = (text: string, name: string): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const isPart =
      continuedBefore.test(text.slice(Math.max(0, at - maxAdjacentUnits), at)) ||
      continuedAfter.test(text.slice(end, end + maxAdjacentUnits));
    if (!isPart) return true;
  }
  return false;
};

/** The number of words up to which searching for each is faster than looking up every word of the text. */
const fewWords = 10;
/** The cost of reading an external ID from text, in the unit that `search` yields. */
const costOfValue = 300;
const charactersPerPart = 64 * 1024;

/** Splits text at word ends into parts of about `charactersPerPart`. */
function* partsOf(text: string): Generator<string> {
  const betweenWords = /[^\w-]|$/g;
  for (let start = 0; start < text.length; start = betweenWords.lastIndex) {
    betweenWords.lastIndex = start + charactersPerPart;
    const end = betweenWords.exec(text)?.index ?? text.length;
    yield text.slice(start, end);
    betweenWords.lastIndex = end;
  }
}

/** Searches refused requests, which can be long, for a person, who can have many names. */
export const createPersonSearch = () => {
  const addresses = new Set<string>();
  /** In lower case. */
  const addressForms = new Set<string>();
  const contactUUIDs = new Set<string>();
  const handles = new Set<string>();
  /** Case-sensitive. */
  const longIDs = new Set<string>();
  const externalIDs = new Set<string>();
  const externalIDsInText = new Set<string>();
  const userUUIDs = new Set<string>();
  const wordsOfUsers = new Set<string>();

  /** Returns whether the text contains one of the words. Yields costs like `search`. */
  function* hasWord(text: string, words: ReadonlySet<string>): Generator<number, boolean> {
    if (words.size <= fewWords) {
      yield (words.size * text.length) / 20;
      if (![...words].some((word) => text.includes(word))) return false;
    }
    for (const part of partsOf(text)) {
      yield part.length;
      if (part.match(/[\w-]+/g)?.some((word) => words.has(word))) return true;
    }
    return false;
  }

  /**
   * Returns whether a request names the person. Before each step, yields the step's cost: the number of characters
   * whose words could be looked up in the same time.
   */
  function* search({ input, message, address }: ListedText): Generator<number, boolean> {
    if (address !== null && addresses.has(address)) return true;
    yield input.length / 2;
    const searched = searchedOf(input);
    if (
      searched.externalIDs.some((externalID) => externalIDs.has(externalID)) ||
      searched.userUUIDs.some((userUUID) => userUUIDs.has(userUUID))
    ) {
      return true;
    }
    if (externalIDsInText.size > 0) {
      yield searched.text.length / 20;
      for (const values of externalIDsIn(searched.text)) {
        yield costOfValue;
        if (values.some((value) => externalIDsInText.has(value))) return true;
      }
    }
    const text = `${searched.text}\n${normalized(message)}`;
    const folded = text.toLowerCase();
    const costOfName = text.length / 20;
    for (const form of addressForms) {
      yield costOfName;
      if (includesWhole(folded, form)) return true;
    }
    for (const contactUUID of contactUUIDs) {
      yield costOfName;
      if (folded.includes(contactUUID)) return true;
    }
    for (const externalID of longIDs) {
      yield costOfName;
      if (includesWhole(text, externalID)) return true;
    }
    if (yield* hasWord(folded, handles)) return true;
    return !searched.isParsed && (yield* hasWord(searched.text, wordsOfUsers));
  }

  return {
    add(names: PersonNames): void {
      for (const address of names.addresses) {
        addresses.add(address);
        for (const form of formsOf(address)) addressForms.add(normalized(form).toLowerCase());
      }
      for (const externalID of [...names.externalIDs, ...names.claimedIDs]) {
        externalIDs.add(externalID);
        for (const form of formsInText(externalID)) externalIDsInText.add(form);
      }
      for (const externalID of names.externalIDs) {
        if (externalID.length < longID || fieldNames.has(externalID)) continue;
        for (const form of formsInText(externalID)) longIDs.add(form);
      }
      for (const contactUUID of names.contactUUIDs) contactUUIDs.add(contactUUID.toLowerCase());
      for (const handle of names.handles) handles.add(handle.toLowerCase());
      for (const userUUID of names.userUUIDs) {
        userUUIDs.add(userUUID);
        if (!fieldNames.has(userUUID)) wordsOfUsers.add(userUUID);
      }
    },
    search,
    /** Runs `search` without pausing. */
    isNamedIn(request: ListedText): boolean {
      const parts = search(request);
      for (;;) {
        const { done, value } = parts.next();
        if (done) return value;
      }
    },
  };
};
