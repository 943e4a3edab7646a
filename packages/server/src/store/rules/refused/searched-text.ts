/** The parts of a refused request that may name a person: its values, without the names of the contract's fields. */

/** The names of the fields of kept operations. They name nobody, even if they are somebody's external ID or userUUID. */
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

/** Combining marks in sequence. No name that is searched for has more. */
const maxMarks = 256;

/** Returns text in NFC. Longer runs of marks are cut to `maxMarks`: sorting n marks takes time that grows with the square of n. */
export const normalized = (text: string): string =>
  // ASCII has no marks, and looking for them takes most of the time of a search.
  Buffer.byteLength(text) === text.length
    ? text
    : text.replace(/\p{M}+/gu, (marks) => marks.slice(0, maxMarks)).normalize('NFC');

/** Returns text with spaces for the escapes of JSON, because they are no part of a word. */
export const withoutEscapes = (text: string): string => text.replace(/\\(?:u[\da-f]{4}|.)/gi, ' ');

/** Returns text, and below it, if it has escapes of JSON or of URLs, the text that they stand for. */
const withDecoded = (text: string): string => {
  if (!/[\\%]/.test(text)) return text;
  const decoded = text
    .replace(/\\u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
  return `${text}\n${withoutEscapes(decoded)}`;
};

const isExternalID = (name: string) =>
  name === 'contactExternalID' || (!fieldNames.has(name) && /contact[\s._-]?external[\s._-]?id$/i.test(name));
/** An unknown name may be a wrong one for `userUUID`, and the reason why the request was refused. */
const isUserUUID = (name: string) => name === 'userUUID' || !fieldNames.has(name);

/**
 * Matches a contactExternalID, or otherContactExternalID, in JSON, with any quotes or none, and in a form. The value is in a
 * lookahead, because another field may begin in it. A value is read up to 255 characters; longer ones are never valid.
 */
const externalIDInText =
  /contact[\s._-]?external[\s._-]?id\W{0,8}?(?:[:=]|\n\s?\n)[\s[(]{0,8}(?=(?:"([^"]{1,255})|'([^']{1,255})|([^"'&\s][^&\n]{0,254})))/gi;
const userInText = /user[\s._-]?uuid\W{0,8}?[:=]\W{0,8}?([\w-]{16,64})(?![\w-])/gi;

/** Yields the texts that may be external IDs, those of each match by themselves, because there may be thousands of matches. */
export function* externalIDsIn(text: string): Generator<readonly string[]> {
  for (const [, quoted, single, bare = ''] of text.matchAll(externalIDInText)) {
    const found = quoted ?? single;
    // Without quotes, the ID may end before the next comma or bracket, or contain it.
    yield found === undefined ? [bare.trim(), bare.slice(0, bare.search(/[,}\])]|$/)).trim()] : [found.trim()];
  }
}

/** What is searched of a request. All of it is normalized. */
interface Searched {
  /** The whole text of a request that could not be parsed; of another one its values and unknown names, a line each. */
  readonly text: string;
  readonly isParsed: boolean;
  /** The values of contactExternalID fields, at any depth, without spaces around them. */
  readonly externalIDs: readonly string[];
  /** The values of userUUID fields and of unknown ones, at any depth, and those in text. */
  readonly userUUIDs: readonly string[];
}

interface Values {
  readonly texts: string[];
  readonly externalIDs: string[];
  readonly userUUIDs: string[];
}

/** Returns the strings and numbers of a parsed request, and those of them that are below a field that names a person. */
const valuesOf = (input: object): Values => {
  const values: Values = { texts: [], externalIDs: [], userUUIDs: [] };
  // A list of what is left, because the request decides how deep it is.
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
        // JSON that is sent as a form is one long name.
        if (!fieldNames.has(name)) values.texts.push(name);
        left.push({ value: inner, isID: isID || isExternalID(name), isUser: isUser || isUserUUID(name) });
      }
    }
  }
  return values;
};

/** Returns what is searched of a request. `inputText` is JSON: an object, or the text of a request that could not be parsed. */
export const searchedOf = (inputText: string): Searched => {
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
