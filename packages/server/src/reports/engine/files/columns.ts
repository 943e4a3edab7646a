/**
 * The columns of events. An attribute's values are in the column `a<number>`, and the decimal numbers among them in
 * `n<number>` as DOUBLE.
 *
 * Column names contain an index instead of the attrID: SQL then contains no names from clients, and attrIDs are
 * case-sensitive, while column names are not.
 */
import { decimalNumber, numberLimit } from '../../queries.ts';
import { clause, name as column, type SQL, sql } from '../sql.ts';

/**
 * The maximum number of attributes with columns, because writing a file takes 256 KB of memory per column. The values
 * of other attributes are in the maps `rest` and `restNumbers`, by attrID.
 */
const maxColumns = 50;

export const fixedColumns = {
  sequence: clause`BIGINT`,
  user: clause`BIGINT`,
  contact: clause`BIGINT`,
  eventID: clause`INTEGER`,
  eventTime: clause`BIGINT`,
  robot: clause`BOOLEAN`,
  /** The session; NULL for events from bots and from irregular visitors (visits.ts). */
  session: clause`BIGINT`,
  /** Whether this is the first event in its session. TRUE for all events without a session. */
  begins: clause`BOOLEAN`,
};

const typeOf = (name: string): SQL => {
  if (Object.hasOwn(fixedColumns, name)) return fixedColumns[name as keyof typeof fixedColumns];
  if (name === 'rest') return clause`MAP(VARCHAR, VARCHAR)`;
  if (name === 'restNumbers') return clause`MAP(VARCHAR, DOUBLE)`;
  return name.startsWith('a') ? clause`VARCHAR` : clause`DOUBLE`;
};
/** Returns a column's definition for CREATE TABLE. */
export const defineColumn = (name: string): SQL => clause`${column(name)} ${typeOf(name)}`;
/** Returns a column that is NULL in every row. */
export const selectNull = (name: string): SQL => clause`NULL::${typeOf(name)} AS ${column(name)}`;

/** Returns the value as a number; null if it is not a decimal number. */
export const toNumber = (value: string): number | null => {
  if (!decimalNumber.test(value)) return null;
  const number = Number(value);
  return Math.abs(number) < numberLimit ? number : null;
};

/** `attributes` are the attrIDs with columns, by column number. The list grows while events are appended. */
export const createColumns = (attributes: string[]) => {
  const numbers = new Map(attributes.map((attrID, number) => [attrID, number]));
  return {
    attributes,
    /**
     * Returns the attribute's column number, assigning one if there is room; undefined if the attribute is in `rest`.
     */
    numberFor(attrID: string): number | undefined {
      const number = numbers.get(attrID);
      if (number !== undefined || attributes.length >= maxColumns) return number;
      numbers.set(attrID, attributes.length);
      attributes.push(attrID);
      return attributes.length - 1;
    },
    /** The columns that contain an attribute's value and number, and how to read them. */
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
