/** Finds the contacts that a refused request names, so that the request is erased with them. */
import { domainToUnicode } from 'node:url';
import type { NewRefusedRequest } from '../../store.ts';
import { externalIDsIn, fieldNames, normalized, searchedOf, withoutEscapes } from './searched-text.ts';

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

/** Returns the forms of an address that people write: its domain in ASCII and in Unicode. */
const formsOf = (address: string): string[] => {
  const at = address.lastIndexOf('@') + 1;
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))];
};

/** Returns an external ID as it may be written in a text: itself, with spaces for what JSON escapes, and as a form has spaces. */
const formsInText = (externalID: string): string[] => [
  externalID,
  withoutEscapes(JSON.stringify(externalID).slice(1, -1)).trim(),
  externalID.replaceAll(' ', '+'),
];

/** The names by which refused requests may refer to a person. There may be many of each. */
export interface PersonNames {
  /** Canonical. They are found anywhere in a text, whole. */
  readonly addresses: readonly string[];
  /** External IDs that a server token or the account's owner gave. From `longID` characters on, they are found like addresses. */
  readonly externalIDs: readonly string[];
  /**
   * External IDs of claims that are no other contact's key. A page chooses them, so elsewhere than in a contactExternalID they may be
   * words of other people.
   */
  readonly claimedIDs: readonly string[];
  /** Made at random, and therefore found anywhere. */
  readonly contactUUIDs: readonly string[];
  /** Found as words, because there may be thousands. */
  readonly handles: readonly string[];
  /**
   * Found as the value of a userUUID or of a field that the contract does not have, and, in a request that could not be parsed, as
   * words: a page chooses them too.
   */
  readonly userUUIDs: readonly string[];
}

/** Returns names of which only some kinds are given. */
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

/** From this length on an external ID is searched for anywhere. Shorter ones are words of many requests. */
const longID = 8;

/**
 * Matches text before and after a name that makes it part of a longer one: a letter or digit, directly or behind one character that
 * IDs and addresses have inside. Letters without case, such as those of Japanese, are none, because no space separates their words.
 */
const continuedBefore = /[\p{LC}\p{N}][._%+-]?$/u;
const continuedAfter = /^[._%+-]?[\p{LC}\p{N}]/u;
/** That text's greatest length: two characters, one of them possibly of two code units. */
const unitsBeside = 3;

/** Whether text contains a name that is not part of a longer one. */
const includesWhole = (text: string, name: string): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const isPart =
      continuedBefore.test(text.slice(Math.max(0, at - unitsBeside), at)) ||
      continuedAfter.test(text.slice(end, end + unitsBeside));
    if (!isPart) return true;
  }
  return false;
};

/** Up to this many words are searched for one by one, which is faster than looking up each word of the text. */
const fewWords = 10;
/** The cost of reading an external ID in a text, as `search` counts it. */
const costOfValue = 300;
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
  /** In lower case. */
  const addressForms = new Set<string>();
  const contactUUIDs = new Set<string>();
  const handles = new Set<string>();
  /** Case counts. */
  const longIDs = new Set<string>();
  const externalIDs = new Set<string>();
  const externalIDsInText = new Set<string>();
  const userUUIDs = new Set<string>();
  const wordsOfUsers = new Set<string>();

  /** Returns whether a text has one of the words. Yields as `search` does. */
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
   * Returns whether a request names the person. Before each part of the search, yields its cost: the number of characters whose
   * words could be looked up in the same time.
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
