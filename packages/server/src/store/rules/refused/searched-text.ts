/** Extracts the parts of a refused request that might name a person: its values, without the contract's field names. */

/** The field names of refusable operations. They never match, even if one is a person's external ID or userUUID. */
export const fieldNames: ReadonlySet<string> = new Set([
  'attrID',
  'attrValue',
  'contactAttr',
  'contactEmailaddress',
  'contactExternalID',
  'contactFirstname',
  'contactJobRole',
  'contactLastname',
  'contactMobile',
  'contactProfileID',
  'contactProof',
  'contactStatus',
  'contactTagID',
  'contactTelephone',
  'contactTitle',
  'contactUUID',
  'cookieDomain',
  'event',
  'eventAttrArray',
  'eventID',
  'eventName',
  'eventTime',
  'eventUUID',
  'import',
  'requestUUID',
  'sentTime',
  'userUUID',
]);

/** The maximum number of consecutive combining marks. No real name has more. */
const maxMarks = 256;

/** Normalizes text to NFC. Truncates runs of marks to `maxMarks`, because sorting n marks takes O(n²) time. */
export const normalized = (text: string): string =>
  // Skips ASCII text, which has no marks. Normalizing it would take most of a search's time.
  Buffer.byteLength(text) === text.length
    ? text
    : text.replace(/\p{M}+/gu, (marks) => marks.slice(0, maxMarks)).normalize('NFC');

/** Replaces JSON escapes with spaces, because they are not part of a word. */
export const withoutEscapes = (text: string): string => text.replace(/\\(?:u[\da-f]{4}|.)/gi, ' ');

/** Appends the decoded text if the text has JSON or URL escapes. */
const withDecoded = (text: string): string => {
  if (!/[\\%]/.test(text)) return text;
  const decoded = text
    .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
  return `${text}\n${withoutEscapes(decoded)}`;
};

const isExternalID = (name: string) =>
  name === 'contactExternalID' || (!fieldNames.has(name) && /contact[\s._-]?external[\s._-]?id$/i.test(name));
/**
 * Includes unknown fields: one of them might be a misspelled `userUUID`, which might be why the request was refused.
 */
const isUserUUID = (name: string) => name === 'userUUID' || !fieldNames.has(name);

/**
 * Matches contactExternalID and otherContactExternalID in forms and in JSON, with any quotes or none. Captures the
 * value in a lookahead, because another field may start inside it. Values over 255 characters are never valid.
 */
const externalIDInText =
  /contact[\s._-]?external[\s._-]?id\W{0,8}?(?:[:=]|\n\s?\n)[\s[(]{0,8}(?=(?:"([^"]{1,255})|'([^']{1,255})|([^"'&\s][^&\n]{0,254})))/gi;
const userInText = /user[\s._-]?uuid\W{0,8}?[:=]\W{0,8}?([\w-]{16,64})(?![\w-])/gi;

/** Yields the possible external IDs of each match, one match at a time, because there can be thousands. */
export function* externalIDsIn(text: string): Generator<readonly string[]> {
  for (const [, quoted, single, bare = ''] of text.matchAll(externalIDInText)) {
    const value = quoted ?? single;
    // Yields two IDs for a value without quotes, which may end before the next comma or bracket, or contain it.
    yield value === undefined ? [bare.trim(), bare.slice(0, bare.search(/[,}\])]|$/)).trim()] : [value.trim()];
  }
}

/** A request's searchable parts, normalized. */
interface SearchableRequest {
  /** The values and unknown field names, one per line; the whole text of an unparsable request. */
  readonly text: string;
  readonly isParsed: boolean;
  /** The trimmed values of contactExternalID fields, at any depth. */
  readonly externalIDs: readonly string[];
  /** The values of userUUID and unknown fields, at any depth, and those in text. */
  readonly userUUIDs: readonly string[];
}

interface Values {
  readonly texts: string[];
  readonly externalIDs: string[];
  readonly userUUIDs: string[];
}

/** Returns the strings and numbers of a parsed request and, among them, those in fields that identify a person. */
const valuesOf = (input: object): Values => {
  const values: Values = { texts: [], externalIDs: [], userUUIDs: [] };
  // Uses an explicit stack, because the request controls the depth.
  const left: { value: unknown; isID: boolean; isUser: boolean }[] = [{ value: input, isID: false, isUser: false }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, isID, isUser } = next;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      values.texts.push(text);
      if (isID) values.externalIDs.push(normalized(text).trim());
      if (isUser) values.userUUIDs.push(text.trim());
    } else if (Array.isArray(value)) {
      for (const each of value) left.push({ value: each, isID, isUser });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        // Includes unknown field names, because JSON sent as a form becomes one long field name.
        if (!fieldNames.has(name)) values.texts.push(name);
        left.push({ value: inner, isID: isID || isExternalID(name), isUser: isUser || isUserUUID(name) });
      }
    }
  }
  return values;
};

/** Extracts a request's searchable parts. `inputText` is JSON: an object, or the text of an unparsable request. */
export const searchedOf = (inputText: string): SearchableRequest => {
  const input: unknown = JSON.parse(inputText);
  const isParsed = typeof input === 'object' && input !== null;
  const values = isParsed ? valuesOf(input) : { texts: [String(input)], externalIDs: [], userUUIDs: [] };
  const text = normalized(withDecoded(values.texts.join('\n')));
  const users = [...text.matchAll(userInText)].map(([, userUUID = '']) => userUUID);
  return {
    text,
    isParsed,
    externalIDs: values.externalIDs,
    userUUIDs: [...values.userUUIDs, ...users],
  };
};
