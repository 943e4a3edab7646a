/** Finds the known name that a misspelt one probably means. */

/** Longer names are not compared: the comparison costs the product of both lengths. */
const maxLength = 64;
/** At most this many unknown names of a request are compared. */
const maxCompared = 20;

/** Whether a text looks like a field name. Other text is not quoted in an error message, because messages may be stored. */
const isName = (text: string): boolean => text.length <= maxLength && /^[\w .-]+$/.test(text);

/** The name without case and separators, which clients get wrong most often: `event_id` for `eventID`. */
const bare = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');

/** The number of letters that may be wrong: a third of them, at most two. */
const maxEdits = (name: string): number => Math.min(2, Math.floor(name.length / 3));

/** The edit distance of two texts: the letters to insert, delete, replace or swap with their neighbour. */
const edits = (from: string, to: string): number => {
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

/** A shorter part of a name fits too many names by chance. */
const minPartLength = 5;

/** The only known name that contains a name without its noun: `contactTelephone` for `phone` and `contactPhone`. */
const containingName = (given: string, known: readonly string[]): string | undefined => {
  const part = given.replace(/^(?:contact|event)/, '');
  if (part.length < minPartLength) return undefined;
  const [only, other] = known.filter((candidate) => bare(candidate).includes(part));
  return other === undefined ? only : undefined;
};

/** For each field, the bare names that other trackers' APIs have for it. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  eventName: ['name', 'event'],
  eventAttrArray: ['attr', 'attrs', 'attributes', 'eventattr', 'eventattrs', 'data', 'properties', 'props'],
  contactAttr: ['attr', 'attrs', 'attributes', 'properties', 'traits'],
  eventTime: ['time', 'timestamp'],
};

/** The known name that is nearest to a name; undefined if none is near enough. */
export const nearestName = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > maxLength) return undefined;
  const given = bare(name);
  const meant = known.find((field) => synonyms[field]?.includes(given));
  if (meant !== undefined) return meant;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const wanted = bare(candidate);
    const most = Math.min(maxEdits(wanted), least - 1);
    if (Math.abs(wanted.length - given.length) > most) continue;
    const count = edits(given, wanted);
    if (count > most) continue;
    nearest = candidate;
    least = count;
  }
  return nearest ?? containingName(given, known);
};

const isSameButForCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** The message for a field `name` that the operation does not know. */
export const unknownName = (name: string, operation: string, known: readonly string[]): string => {
  const unknown = `\`${name.slice(0, maxLength)}\` is not a parameter of ${operation}`;
  const nearest = nearestName(name, known);
  if (nearest === undefined) return `${unknown}, which takes ${known.join(', ')}.`;
  const meant = `${unknown}. Did you mean \`${nearest}\`?`;
  return isSameButForCase(name, nearest) ? `${meant} Parameter names are case-sensitive.` : meant;
};

const email = 'contactEmailaddress';

/**
 * A sentence about a name in the request that probably misspells the missing field or another absent one, or that names a contact in
 * a way that the operation does not know; "" if there is none. `given` are the request's names, `known` those that it may have, and
 * `alternatives` the names in the message about the missing field.
 */
export const misspelt = (
  missing: string,
  given: readonly string[],
  known: readonly string[],
  alternatives: readonly string[] = [],
): string => {
  if (alternatives.includes('contactUUID') && given.includes(email) && !known.includes(email))
    return `An event does not take \`${email}\`; createContacts returns the contactUUID.`;
  const unknown = given.filter((name) => !known.includes(name) && isName(name)).slice(0, maxCompared);
  const absent = known.filter((name) => name !== missing && !given.includes(name));
  for (const candidates of [[missing], absent]) {
    for (const name of unknown) {
      const nearest = nearestName(name, candidates);
      if (nearest === undefined) continue;
      const isCase = nearest === missing && isSameButForCase(name, nearest);
      const likely = isCase ? 'field names are case-sensitive.' : `did you mean \`${nearest}\`?`;
      const isSameMistake = nearest === missing || alternatives.includes(nearest);
      return `${isSameMistake ? 'The request has' : 'Another mistake: the request has'} \`${name}\`; ${likely}`;
    }
  }
  return '';
};
