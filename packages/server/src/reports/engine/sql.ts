/**
 * SQL whose parts cannot bind to what is around them: what is interpolated is parenthesized, unless it is a clause. Texts and lists are
 * parameters, never part of the text of a statement.
 */
import { BIGINT, DOUBLE, type DuckDBType, type DuckDBValue, LIST, listValue, VARCHAR } from '@duckdb/node-api';

interface Parameter {
  readonly value: DuckDBValue;
  readonly type: DuckDBType;
}
export interface SQL {
  readonly parts: readonly (string | Parameter)[];
  /** Whether it is interpolated without parentheses. */
  readonly isClause: boolean;
}
/** A string is a parameter, never SQL. */
type Interpolated = SQL | string | number;

const toClause = (...parts: SQL['parts']): SQL => ({ parts, isClause: true });
const numeral = (value: number): string =>
  Number.isSafeInteger(value) ? String(value) : `CAST('${String(value)}' AS DOUBLE)`;

const partsOf = (value: Interpolated): SQL['parts'] => {
  if (typeof value === 'string') return [{ value, type: VARCHAR }];
  if (typeof value === 'number') return [value < 0 ? `(${numeral(value)})` : numeral(value)];
  return value.isClause ? value.parts : ['(', ...value.parts, ')'];
};
const createTag =
  (isClause: boolean) =>
  (strings: TemplateStringsArray, ...values: readonly Interpolated[]): SQL => ({
    parts: strings.flatMap((text, index) => [...(index === 0 ? [] : partsOf(values[index - 1] as Interpolated)), text]),
    isClause,
  });

/** An expression, a condition or a query: in parentheses wherever it is interpolated. */
export const sql = createTag(false);
/** A part of a statement that is no expression, such as `… AS name` or a JOIN. What is interpolated in it is parenthesized all the same. */
export const clause = createTag(true);
export const nothing = toClause();
export const name = (identifier: string): SQL => toClause(`"${identifier.replaceAll('"', '""')}"`);
/** A text where DuckDB takes no parameter, such as the path of a file. */
export const literal = (text: string): SQL => toClause(`'${text.replaceAll("'", "''")}'`);
export const list = (values: readonly Interpolated[], separator = ', '): SQL =>
  toClause(...values.flatMap((value, index) => [...(index === 0 ? [] : [separator]), ...partsOf(value)]));

export const and = (conditions: readonly SQL[]): SQL =>
  conditions.length === 0 ? sql`true` : sql`${list(conditions, ' AND ')}`;
export const or = (conditions: readonly SQL[]): SQL =>
  conditions.length === 0 ? sql`false` : sql`${list(conditions, ' OR ')}`;

/** Each of these lists is one parameter. */
export const texts = (values: readonly string[]): SQL =>
  toClause({ value: listValue([...values]), type: LIST(VARCHAR) });
export const integers = (values: readonly number[]): SQL =>
  toClause({ value: listValue(values.map(BigInt)), type: LIST(BIGINT) });
export const doubles = (values: readonly (number | null)[]): SQL =>
  toClause({ value: listValue([...values]), type: LIST(DOUBLE) });

/** The text of a statement, and its parameters: one that is there twice has one number. */
export const compile = ({ parts }: SQL): { text: string; values: DuckDBValue[]; types: DuckDBType[] } => {
  const parameters = [...new Set(parts.filter((part) => typeof part !== 'string'))];
  const numbers = new Map(parameters.map((parameter, index) => [parameter, index + 1]));
  return {
    text: parts.map((part) => (typeof part === 'string' ? part : `$${numbers.get(part)}`)).join(''),
    values: parameters.map(({ value }) => value),
    types: parameters.map(({ type }) => type),
  };
};
