/**
 * The columns of events. An attribute has a column `a<number>` for its values and, when one of them is a decimal number, a column
 * `n<number>` for these as DOUBLE. The numbers are those of a list of attrIDs, so that no name from outside is ever part of SQL, and
 * because attrIDs are case-sensitive and the names of columns are not.
 */
import { decimalNumber, numberLimit } from '../../questions.ts';
import { clause, name as column, type SQL, sql } from '../sql.ts';

/**
 * Attributes beyond these have no column: their values are in the maps `rest` and `restNumbers`, by attrID. Writing a file takes 256 KB of
 * memory for each column.
 */
const maxColumns = 50;

export const fixedColumns = {
  sequence: clause`BIGINT`,
  user: clause`BIGINT`,
  contact: clause`BIGINT`,
  eventID: clause`INTEGER`,
  eventTime: clause`BIGINT`,
  robot: clause`BOOLEAN`,
  /** NULL: of a robot, or of an irregular visitor (visits.ts). */
  session: clause`BIGINT`,
  /** Whether no event before it is of its session. TRUE for all events without a session. */
  begins: clause`BOOLEAN`,
};

const typeOf = (name: string): SQL => {
  if (Object.hasOwn(fixedColumns, name)) return fixedColumns[name as keyof typeof fixedColumns];
  if (name === 'rest') return clause`MAP(VARCHAR, VARCHAR)`;
  if (name === 'restNumbers') return clause`MAP(VARCHAR, DOUBLE)`;
  return name.startsWith('a') ? clause`VARCHAR` : clause`DOUBLE`;
};
/** The definition of a column in CREATE TABLE. */
export const definition = (name: string): SQL => clause`${column(name)} ${typeOf(name)}`;
/** A column that has no value in any row. */
export const absent = (name: string): SQL => clause`NULL::${typeOf(name)} AS ${column(name)}`;

/** The number of an attribute's value, or null. */
export const toNumber = (value: string): number | null => {
  if (!decimalNumber.test(value)) return null;
  const number = Number(value);
  return Math.abs(number) < numberLimit ? number : null;
};

/** `attributes`: the attrIDs with columns, by their numbers; grows while events are appended. */
export const createColumns = (attributes: string[]) => {
  const numbers = new Map(attributes.map((attrID, number) => [attrID, number]));
  return {
    attributes,
    /** The number of an attribute's column, which is made if there is room; undefined: it is one of the rest. */
    numberFor(attrID: string): number | undefined {
      const known = numbers.get(attrID);
      if (known !== undefined || attributes.length >= maxColumns) return known;
      numbers.set(attrID, attributes.length);
      attributes.push(attrID);
      return attributes.length - 1;
    },
    /** The columns that hold an attribute's value and number, and how to read them. */
    text(attrID: string): { readonly column: string; readonly sql: SQL } {
      const number = numbers.get(attrID);
      if (number !== undefined) return { column: `a${number}`, sql: column(`a${number}`) };
      return { column: 'rest', sql: sql`map_extract_value(rest, ${attrID})` };
    },
    number(attrID: string): { readonly column: string; readonly sql: SQL } {
      const number = numbers.get(attrID);
      if (number !== undefined) return { column: `n${number}`, sql: column(`n${number}`) };
      return { column: 'restNumbers', sql: sql`map_extract_value("restNumbers", ${attrID})` };
    },
  };
};
export type Columns = ReturnType<typeof createColumns>;
