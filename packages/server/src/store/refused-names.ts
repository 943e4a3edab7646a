/** By what a refused request names people: so that it goes with a contact that is erased. */
import { domainToUnicode } from 'node:url';
import type { NewRefusedRequest } from './store.ts';

/** What may be a contactUUID or a handle, in text that could not be read. */
const identifierInText = /[\w-]{8,64}/g;

/** The identifiers by which a request names contacts. */
export const contactsNamedBy = ({ input }: NewRefusedRequest): string[] => {
  if (typeof input === 'string') return input.match(identifierInText) ?? [];
  const entries: readonly unknown[] = Array.isArray(input.event) ? input.event : [];
  return [input, ...entries]
    .map((fields) => (fields as { contactUUID?: unknown } | null)?.contactUUID)
    .filter((name) => typeof name === 'string');
};

/** No name that is searched for has more marks in one place. */
const mostMarks = 256;

/** NFC; of a longer run of marks only the beginning is kept, because sorting the marks takes the square of their number. */
const normalized = (text: string): string =>
  // ASCII has no marks; to look for them takes most of the time of a search.
  Buffer.byteLength(text) === text.length
    ? text
    : text.replace(/\p{M}+/gu, (marks) => marks.slice(0, mostMarks)).normalize('NFC');

/** As it is searched: whatever the case; of text that could not be read, whatever the escapes. */
const folded = (inputText: string): string => {
  const text = inputText.startsWith('"')
    ? (JSON.parse(inputText) as string)
        .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
        .replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString())
    : inputText;
  // What is left of escapes is no part of a word.
  return normalized(text.replace(/\\(?:u[\da-f]{4}|.)/gi, ' ')).toLowerCase();
};

/** An address as people write it: the domain in ASCII, or not. */
const formsOf = (address: string): string[] => {
  const at = address.lastIndexOf('@') + 1;
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))];
};

/** By what refused requests may name a person. */
export interface PersonNames {
  /** Canonical. Few; found wherever they stand. */
  readonly addresses: ReadonlySet<string>;
  readonly contactUUIDs: ReadonlySet<string>;
  /** userUUIDs and handles, however many; found where they stand by themselves. */
  readonly others: ReadonlySet<string>;
}

/** A request as it is listed; `input` is JSON. */
interface ListedText {
  readonly input: string;
  readonly message: string;
  readonly address: string | null;
}

/** Answers whether a listed request names the person. */
export const createPersonMatcher = ({ addresses, contactUUIDs, others }: PersonNames) => {
  const fold = (name: string) => normalized(name).toLowerCase();
  const needles = [...[...addresses].flatMap(formsOf), ...contactUUIDs].map(fold);
  const words = new Set([...others].map(fold));
  /** Cheaper to ask first, while they are few. */
  const mayHoldWord = (text: string) => words.size > 20 || [...words].some((word) => text.includes(word));
  return ({ input, message, address }: ListedText): boolean => {
    const text = `${folded(input)}\n${fold(message)}`;
    return (
      (address !== null && addresses.has(address)) ||
      needles.some((needle) => text.includes(needle)) ||
      (mayHoldWord(text) && (text.match(/[\w-]+/g)?.some((word) => words.has(word)) ?? false))
    );
  };
};
