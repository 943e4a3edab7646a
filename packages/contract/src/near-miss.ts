/** Suggests the field name that a misspelled name was probably meant to be. */

/** Longer names are not compared: comparing takes time proportional to the product of both lengths. */
const maxLength = 64;
/** The maximum number of unknown names in a request that are compared. */
const maxCompared = 20;

/** Whether a string looks like a field name. Error messages quote no other strings, because messages may be stored. */
const isName = (text: string): boolean => text.length <= maxLength && /^[\w .-]+$/.test(text);

/** The name in lower case, without separators: most mistakes are in those, such as `event_id` for `eventID`. */
const normalize = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');

/** The number of letters that may differ: a third of the name, at most two. */
const maxEdits = (name: string): number => Math.min(2, Math.floor(name.length / 3));

/** The edit distance between two strings: insertions, deletions, replacements and swaps of adjacent letters. */
const editDistance = (from: string, to: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next.push(
        Math.min(
          (last[column] as number) + 1,
          (next[column - 1] as number) + 1,
          (last[column - 1] as number) + (isSame ? 0 : 1),
          isSwap ? (beforeLast[column - 2] as number) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = next;
  }
  return last[to.length] as number;
};

/** The minimum length of a part that is compared: shorter parts match too many names by chance. */
const minPartLength = 5;

/**
 * The only candidate that contains the name without the prefix `contact` or `event`: `contactTelephone` for `phone` and
 * `contactPhone`.
 */
const containingName = (name: string, candidates: readonly string[]): string | undefined => {
  const part = name.replace(/^(?:contact|event)/, '');
  if (part.length < minPartLength) return undefined;
  const [only, other] = candidates.filter((candidate) => normalize(candidate).includes(part));
  return other === undefined ? only : undefined;
};

/** The normalized names that other trackers' APIs use for these fields. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  eventName: ['name', 'event'],
  eventAttrArray: ['attr', 'attrs', 'attributes', 'eventattr', 'eventattrs', 'data', 'properties', 'props'],
  contactAttr: ['attr', 'attrs', 'attributes', 'properties', 'traits'],
  eventTime: ['time', 'timestamp'],
};

/** The candidate closest to a name; undefined if none is close enough. */
export const nearestName = (name: string, candidates: readonly string[]): string | undefined => {
  if (name.length > maxLength) return undefined;
  const normalized = normalize(name);
  const synonym = candidates.find((field) => synonyms[field]?.includes(normalized));
  if (synonym !== undefined) return synonym;
  let nearest: string | undefined;
  let minDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const target = normalize(candidate);
    const maxDistance = Math.min(maxEdits(target), minDistance - 1);
    if (Math.abs(target.length - normalized.length) > maxDistance) continue;
    const distance = editDistance(normalized, target);
    if (distance > maxDistance) continue;
    nearest = candidate;
    minDistance = distance;
  }
  return nearest ?? containingName(normalized, candidates);
};

const equalsIgnoringCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** The message for an unknown field `name`. */
export const describeUnknownName = (name: string, operation: string, fields: readonly string[]): string => {
  const unknown = `\`${name.slice(0, maxLength)}\` is not a parameter of ${operation}`;
  const nearest = nearestName(name, fields);
  if (nearest === undefined) return `${unknown}, which takes ${fields.join(', ')}.`;
  const message = `${unknown}. Did you mean \`${nearest}\`?`;
  return equalsIgnoringCase(name, nearest) ? `${message} Parameter names are case-sensitive.` : message;
};

const email = 'contactEmailaddress';

/**
 * A hint about a name in the request that is probably a misspelling of the missing field or another absent field, or
 * that cannot identify a contact here; "" if there is none. `alternatives` are the fields that may replace the missing
 * field.
 */
export const describeMisspelling = (
  missing: string,
  names: readonly string[],
  fields: readonly string[],
  alternatives: readonly string[] = [],
): string => {
  if (alternatives.includes('contactUUID') && names.includes(email) && !fields.includes(email))
    return `Events have no field \`${email}\`; createContacts returns the contactUUID.`;
  const unknown = names.filter((name) => !fields.includes(name) && isName(name)).slice(0, maxCompared);
  const absent = fields.filter((name) => name !== missing && !names.includes(name));
  for (const candidates of [[missing], absent]) {
    for (const name of unknown) {
      const nearest = nearestName(name, candidates);
      if (nearest === undefined) continue;
      const isCase = nearest === missing && equalsIgnoringCase(name, nearest);
      const suggestion = isCase ? 'field names are case-sensitive.' : `did you mean \`${nearest}\`?`;
      const isSameProblem = nearest === missing || alternatives.includes(nearest);
      return `${isSameProblem ? 'The request has' : 'Another mistake: the request has'} \`${name}\`; ${suggestion}`;
    }
  }
  return '';
};
