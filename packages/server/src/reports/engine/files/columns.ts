/**
 * The columns of events. An attribute has a column `a<number>` for its values and, when one of them is a decimal number, a column
 * `n<number>` for these as DOUBLE. The numbers are those of a list of attrIDs, so that no name from outside is ever part of SQL, and
 * because attrIDs are case-sensitive and the names of columns are not.
 */
import { decimalNumber } from '../../questions.ts';
import type { Values } from '../values.ts';

/**
 * Attributes beyond these have no column: their values are in the maps `rest` and `restNumbers`, by attrID. Writing a file takes 256 KB of
 * memory for each column.
 */
const mostColumns = 50;

export const fixedColumns = {
  sequence: 'BIGINT',
  user: 'BIGINT',
  contact: 'BIGINT',
  eventID: 'INTEGER',
  eventTime: 'BIGINT',
  robot: 'BOOLEAN',
  /** NULL: of a robot, or of an irregular visitor (visits.ts). */
  session: 'BIGINT',
  /** Whether no event before it is of its session. TRUE for all events without a session. */
  begins: 'BOOLEAN',
} as const;

const typeOf = (name: string): string => {
  if (Object.hasOwn(fixedColumns, name)) return fixedColumns[name as keyof typeof fixedColumns];
  if (name === 'rest') return 'MAP(VARCHAR, VARCHAR)';
  if (name === 'restNumbers') return 'MAP(VARCHAR, DOUBLE)';
  return name.startsWith('a') ? 'VARCHAR' : 'DOUBLE';
};
/** The definition of a column in CREATE TABLE. */
export const definition = (name: string): string => `"${name}" ${typeOf(name)}`;
/** A column that has no value in any row. */
export const absent = (name: string): string => `NULL::${typeOf(name)} AS "${name}"`;

/** The number of an attribute's value, or null. Values beyond the range of a double don't count. */
export const toNumber = (value: string): number | null => {
  if (!decimalNumber.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
};

/** `attributes`: the attrIDs with columns, by their numbers; grows while events are appended. */
export const createColumns = (attributes: string[]) => {
  const numbers = new Map(attributes.map((attrID, number) => [attrID, number]));
  return {
    attributes,
    /** The number of an attribute's column, which is made if there is room; undefined: it is one of the rest. */
    numberFor(attrID: string): number | undefined {
      const known = numbers.get(attrID);
      if (known !== undefined || attributes.length >= mostColumns) return known;
      numbers.set(attrID, attributes.length);
      attributes.push(attrID);
      return attributes.length - 1;
    },
    /** The columns that hold an attribute's value and number, and how to read them. */
    text(attrID: string, values: Values): { readonly column: string; readonly sql: string } {
      const number = numbers.get(attrID);
      if (number !== undefined) return { column: `a${number}`, sql: `a${number}` };
      return { column: 'rest', sql: `map_extract_value(rest, ${values.text(attrID)})` };
    },
    number(attrID: string, values: Values): { readonly column: string; readonly sql: string } {
      const number = numbers.get(attrID);
      if (number !== undefined) return { column: `n${number}`, sql: `n${number}` };
      return { column: 'restNumbers', sql: `map_extract_value("restNumbers", ${values.text(attrID)})` };
    },
  };
};
export type Columns = ReturnType<typeof createColumns>;
